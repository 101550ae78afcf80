//! Servers that speak the OpenAI protocol, each with its own gaps: what one does not know is left out from then on.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Usage};
use super::complaint;
use super::connection::Connection;
use super::server::{Manners, Server};
use lakeward_core::error::Result;

/// How a server is told what shape an answer must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Structure {
    /// By JSON Schema.
    Schema,
    /// That it must be an object.
    Object,
    /// Only by the prompt.
    Prompt,
}

/// What a server understands; assumed until it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dialect {
    structure: Structure,
    /// Whether the answer's length is called `max_tokens`; newer servers say `max_completion_tokens`.
    max_tokens: bool,
    temperature: bool,
    seed: bool,
}

impl Dialect {
    /// What to try after a server refused a question with these words: the dialect without what they name, else the next
    /// weaker structure; `None` where there is nothing left to leave out.
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

/// The parts of an answer that are used; servers differ in the others, and in the shape of some of these.
#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
    /// Some servers report an error with the status of success.
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
    /// A text, or parts with a text each.
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
    /// The model that `server` names; nothing is sent yet.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Usage`] for an address that is none.
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
                let schema = json!({"name": call.answer, "strict": true, "schema": call.schema});
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
                // Which part of a question it cannot take a server says in words only, if at all.
                Err(unmet) => match unmet.complaint.and_then(|complaint| dialect.without(&complaint)) {
                    Some(weaker) => dialect = weaker,
                    None => return Err(unmet.failure),
                },
            }
        }
    }
}

impl OpenAiChat {
    fn answer(&self, completion: Completion) -> Result<ChatAnswer, ChatFailure> {
        let fails = |kind, what: &str| Err(self.connection.failure(kind, what));
        let Some(choice) = completion.choices.into_iter().next() else {
            return match complaint::words_of(&completion.error) {
                Some(words) => fails(FailureKind::Refused, &format!("answers: {words}")),
                None => fails(FailureKind::Broken, "gives an answer without a choice"),
            };
        };
        match choice.finish_reason.as_deref() {
            Some("length") => {
                return fails(FailureKind::Unfinished, "did not finish its answer in the tokens allowed");
            }
            Some("content_filter") => return fails(FailureKind::Declined, "holds its answer back"),
            _ => {}
        }
        let Some(said) = choice.message else {
            return fails(FailureKind::Broken, "gives an answer without a message");
        };
        if let Some(refusal) = said.refusal.as_deref().filter(|refusal| !refusal.is_empty()) {
            return fails(FailureKind::Declined, &format!("declines: {refusal}"));
        }
        let text = said.text();
        if text.trim().is_empty() {
            let calls = said.tool_calls.as_array().is_some_and(|calls| !calls.is_empty());
            let what = if calls { "calls a tool instead of answering" } else { "gives an empty answer" };
            return fails(FailureKind::Broken, what);
        }
        let counted = |name: &str| completion.usage.get(name).and_then(Value::as_u64);
        let usage = counted("prompt_tokens")
            .zip(counted("completion_tokens"))
            .map(|(prompt_tokens, answer_tokens)| Usage { prompt_tokens, answer_tokens });
        Ok(ChatAnswer { text: self.connection.without_key(&text), usage })
    }
}
