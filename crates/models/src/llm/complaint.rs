//! An error response of a server: status and message, in any of the usual formats.

use reqwest::StatusCode;
use serde_json::Value;

use super::call::FailureKind;

/// Error codes and types for a question that is too long.
const TOO_LONG_CODES: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];
/// Phrases for the same error; some servers have no code for it, and some report it as a server error.
const TOO_LONG_WORDS: [&str; 7] = [
    "maximum context length",
    "context size",
    "context window",
    "context length",
    "too large to process",
    "prompt is too long",
    "input is too long",
];

/// A response with an error status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("answers {}: {words}", status.as_u16())]
pub(super) struct Complaint {
    /// The status.
    pub status: StatusCode,
    /// The server's message, or the meaning of the status.
    pub words: String,
    /// The error code or type.
    code: Option<String>,
}

impl Complaint {
    /// Parses the error from `status` and the beginning of the body.
    pub fn of(status: StatusCode, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let (message, code) = match serde_json::from_str::<Value>(text.trim()) {
            Ok(value) => (words_of(&value), code_of(&value)),
            // HTML pages of proxies are for browsers.
            Err(_) if text.trim_start().starts_with('<') => (None, None),
            Err(_) => (Some(text.trim().to_string()), None),
        };
        let meaning = || status.canonical_reason().unwrap_or("no reason given").to_string();
        Self { status, words: message.filter(|message| !message.is_empty()).unwrap_or_else(meaning), code }
    }

    /// The kind of failure.
    pub fn kind(&self) -> FailureKind {
        if self.is_too_long() {
            return FailureKind::TooLong;
        }
        match self.status {
            StatusCode::TOO_MANY_REQUESTS if !self.is_unpaid() => FailureKind::Busy,
            StatusCode::NOT_IMPLEMENTED => FailureKind::Refused,
            status if status.is_server_error() => FailureKind::ServerError,
            _ => FailureKind::Refused,
        }
    }

    /// Whether the same question may be answered later.
    pub fn is_passing(&self) -> bool {
        match self.kind() {
            FailureKind::Busy => true,
            FailureKind::ServerError => self.status != StatusCode::INSUFFICIENT_STORAGE,
            _ => self.status == StatusCode::REQUEST_TIMEOUT,
        }
    }

    /// Whether the error concerns the question itself, not the account or the model.
    pub fn is_of_the_question(&self) -> bool {
        let about = [400, 415, 422, 501].contains(&self.status.as_u16());
        about && !self.is_too_long()
    }

    fn is_too_long(&self) -> bool {
        let coded = self.code.as_deref().is_some_and(|code| TOO_LONG_CODES.contains(&code));
        let may_say_so = [400, 422, 500].contains(&self.status.as_u16());
        let words = self.words.to_lowercase();
        self.status == StatusCode::PAYLOAD_TOO_LARGE
            || coded
            || (may_say_so && TOO_LONG_WORDS.iter().any(|phrase| words.contains(phrase)))
    }

    fn is_unpaid(&self) -> bool {
        self.code.as_deref() == Some("insufficient_quota")
    }
}

/// The message in an error object: in OpenAI's format, as a plain text, or as a validator's list of errors.
pub(crate) fn words_of(value: &Value) -> Option<String> {
    let error = value.get("error").unwrap_or(value);
    let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_string);
    let message = error.as_str().map(str::to_string).or_else(|| text("message")).or_else(|| text("detail"));
    let message = message.or_else(|| {
        let listed = value.get("detail")?.as_array()?;
        let each = listed.iter().take(8).map(|wrong| {
            let place = wrong.get("loc").map(Value::to_string).unwrap_or_default();
            let what = wrong.get("msg").and_then(Value::as_str).unwrap_or_default();
            format!("{place} {what}")
        });
        Some(each.collect::<Vec<_>>().join("; "))
    })?;
    let param = text("param").filter(|param| !message.contains(param.as_str()));
    Some(param.map_or(message.clone(), |param| format!("{message} ({param})")))
}

fn code_of(value: &Value) -> Option<String> {
    let error = value.get("error").unwrap_or(value);
    ["code", "type"].iter().find_map(|name| error.get(name)?.as_str().map(str::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(status: u16, body: &str) -> (FailureKind, bool, String) {
        let complaint = Complaint::of(StatusCode::from_u16(status).unwrap(), body.as_bytes());
        (complaint.kind(), complaint.is_passing(), complaint.to_string())
    }

    #[test]
    fn the_shapes_that_servers_use_are_read() {
        let overflow = r#"{"error":{"code":400,"message":"request exceeds","type":"exceed_context_size_error"}}"#;
        assert_eq!(parsed(400, overflow), (FailureKind::TooLong, false, "answers 400: request exceeds".into()));
        let large = r#"{"error":{"code":500,"message":"input is too large to process","type":"server_error"}}"#;
        assert_eq!(parsed(500, large).0, FailureKind::TooLong);
        let quota = r#"{"error":{"message":"no money","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        assert_eq!(parsed(429, quota), (FailureKind::Refused, false, "answers 429: no money".into()));
        assert_eq!(parsed(429, ""), (FailureKind::Busy, true, "answers 429: Too Many Requests".into()));
        assert_eq!(parsed(502, "<html>x</html>").2, "answers 502: Bad Gateway");
        assert_eq!(parsed(404, r#"{"error":"model 'x' not found"}"#).2, "answers 404: model 'x' not found");
        assert_eq!(parsed(400, r#"{"detail":"no"}"#).2, "answers 400: no");
        let listed = r#"{"detail":[{"loc":["body","seed"],"msg":"not permitted","input":{"temperature":0}}]}"#;
        assert_eq!(parsed(422, listed).2, "answers 422: [\"body\",\"seed\"] not permitted");
        let named = r#"{"error":{"message":"Unsupported parameter","param":"seed"}}"#;
        assert_eq!(parsed(400, named).2, "answers 400: Unsupported parameter (seed)");
        assert_eq!(parsed(501, "[]"), (FailureKind::Refused, false, "answers 501: Not Implemented".into()));
    }
}
