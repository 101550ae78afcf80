//! Servers with the OpenAI protocol, each with its own gaps: features that a server does not support are omitted from then on.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Usage};
use super::complaint;
use super::connection::Connection;
use super::server::{Manners, Server};
use lakeward_core::error::Result;

/// How the required shape of the answer is specified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Structure {
    /// By JSON Schema.
    Schema,
    /// Only that it must be an object.
    Object,
    /// Only in the prompt.
    Prompt,
}

/// The features of a server; assumed until it reports otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dialect {
    structure: Structure,
    /// Whether the maximum answer length is called `max_tokens`; newer servers use `max_completion_tokens`.
    max_tokens: bool,
    temperature: bool,
    seed: bool,
}

impl Dialect {
    /// The dialect to try after a server refused a question with this message: without the feature that it names, or with the next weaker
    /// structure; `None` if nothing is left to omit.
    fn without(self, complaint: &str) -> Option<Self> {
        let complaint = complaint.to_lowercase();
        if self.max_tokens && complaint.contains("max_completion_tokens") {
            return Some(Self { max_tokens: false, ..self });
        }
        if self.temperature && complaint.contains("temperature") {
            return Some(Self { temperature: false, ..self });
        }
        if self.seed && complaint.contains("seed") {
            return Some(Self { seed: false, ..self });
        }
        match self.structure {
            Structure::Schema => Some(Self { structure: Structure::Object, ..self }),
            Structure::Object => Some(Self { structure: Structure::Prompt, ..self }),
            Structure::Prompt => None,
        }
    }
}

/// A model on a server that speaks the OpenAI protocol.
pub struct OpenAiChat {
    connection: Connection,
    model: String,
    dialect: Mutex<Dialect>,
}

/// The parts of a response that are used; servers differ in the others, and in the format of some of these.
#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
    /// Some servers report an error with a success status.
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<ReplyMessage>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ReplyMessage {
    /// A text, or a list of parts with a text each.
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Value,
}

impl ReplyMessage {
    fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
            _ => String::new(),
        }
    }
}

impl OpenAiChat {
    /// The model that `server` names; sends nothing yet.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Usage`] for an invalid address.
    pub fn connect(server: &Server, manners: Manners) -> Result<Self> {
        let dialect = Dialect { structure: Structure::Schema, max_tokens: true, temperature: true, seed: true };
        let connection = Connection::to(server, manners)?;
        Ok(Self { connection, model: server.model.clone(), dialect: Mutex::new(dialect) })
    }

    fn body(&self, call: &ChatCall, dialect: Dialect) -> Value {
        let mut body = json!({"model": self.model, "messages": call.messages, "stream": false});
        let limit = if dialect.max_tokens { "max_tokens" } else { "max_completion_tokens" };
        body[limit] = json!(call.max_tokens);
        if dialect.temperature {
            body["temperature"] = json!(0);
        }
        if dialect.seed {
            body["seed"] = json!(0);
        }
        match dialect.structure {
            Structure::Schema => {
                let strict = is_closed(&call.schema);
                let schema = json!({"name": call.answer, "strict": strict, "schema": call.schema});
                body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
            }
            Structure::Object => body["response_format"] = json!({"type": "json_object"}),
            Structure::Prompt => {}
        }
        body
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chat for OpenAiChat {
    fn id(&self) -> &str {
        &self.connection.id
    }

    fn complete(&self, call: &ChatCall, timeout: Duration) -> Result<ChatAnswer, ChatFailure> {
        let deadline = Instant::now() + timeout;
        let known = self.dialect();
        let mut dialect = known;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let chat = self.connection.client().chat();
            match self.connection.ask::<Completion>(left, chat.create_byot(self.body(call, dialect))) {
                Ok(completion) => {
                    if dialect != known {
                        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                    }
                    return self.answer(completion);
                }
                // Only the error message tells which part of a question a server does not support, if anything does.
                Err(call_error) => match call_error.complaint.and_then(|complaint| dialect.without(&complaint)) {
                    Some(weaker) => dialect = weaker,
                    None => return Err(call_error.failure),
                },
            }
        }
    }
}

/// Whether every object of a schema names all its members: what servers can hold an answer to.
fn is_closed(schema: &Value) -> bool {
    let is_object =
        |kind: &Value| kind == "object" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("object")));
    let open = schema.get("type").is_some_and(is_object) && schema.get("properties").is_none();
    let parts_closed = match schema {
        Value::Object(members) => members.values().all(is_closed),
        Value::Array(parts) => parts.iter().all(is_closed),
        _ => true,
    };
    !open && parts_closed
}

impl OpenAiChat {
    fn answer(&self, completion: Completion) -> Result<ChatAnswer, ChatFailure> {
        let fails = |kind, what: &str| Err(self.connection.failure(kind, what));
        let Some(choice) = completion.choices.into_iter().next() else {
            return match complaint::words_of(&completion.error) {
                Some(words) => fails(FailureKind::Refused, &format!("answers: {words}")),
                None => fails(FailureKind::Broken, "returned an answer without a choice"),
            };
        };
        match choice.finish_reason.as_deref() {
            Some("length") => {
                return fails(FailureKind::Unfinished, "did not finish its answer within the allowed tokens");
            }
            Some("content_filter") => return fails(FailureKind::Declined, "withheld its answer"),
            _ => {}
        }
        let Some(message) = choice.message else {
            return fails(FailureKind::Broken, "returned an answer without a message");
        };
        if let Some(refusal) = message.refusal.as_deref().filter(|refusal| !refusal.is_empty()) {
            return fails(FailureKind::Declined, &format!("declines: {refusal}"));
        }
        let text = message.text();
        if text.trim().is_empty() {
            let calls = message.tool_calls.as_array().is_some_and(|calls| !calls.is_empty());
            let what = if calls { "called a tool instead of answering" } else { "returned an empty answer" };
            return fails(FailureKind::Broken, what);
        }
        let counted = |name: &str| completion.usage.get(name).and_then(Value::as_u64);
        let usage = counted("prompt_tokens")
            .zip(counted("completion_tokens"))
            .map(|(prompt_tokens, answer_tokens)| Usage { prompt_tokens, answer_tokens });
        Ok(ChatAnswer { text: self.connection.without_key(&text), usage })
    }
}
