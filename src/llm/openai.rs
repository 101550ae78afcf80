//! Servers that speak the OpenAI protocol, each with its own gaps: what one does not know is left out from then on.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Usage};
use super::server::{Connection, Manners, Server};
use crate::error::Result;

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

/// The parts of an answer that are used; servers differ in the others.
#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl OpenAiChat {
    /// The model that `server` names; nothing is sent yet.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for an address that is none.
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
        let mut dialect = self.dialect();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let chat = self.connection.client().chat();
            let asked = self.connection.ask::<Completion>(left, chat.create_byot(self.body(call, dialect)));
            match asked {
                Ok(completion) => {
                    *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                    return answer(self.id(), completion);
                }
                Err(failure) => {
                    // Which part of a question it cannot take a server says in words only, if at all.
                    let weaker = dialect.without(&failure.message);
                    dialect = match weaker.filter(|_| failure.kind == FailureKind::Refused && is_complaint(&failure)) {
                        Some(weaker) => weaker,
                        None => return Err(failure),
                    };
                }
            }
        }
    }
}

/// Whether a refusal is about the question, not about the one who asks: 400, 404, 415, 422 or 501.
fn is_complaint(failure: &ChatFailure) -> bool {
    ["answers 400", "answers 415", "answers 422", "answers 501"].iter().any(|status| failure.message.contains(status))
}

fn answer(id: &str, completion: Completion) -> Result<ChatAnswer, ChatFailure> {
    let broken = |what: &str| ChatFailure::new(FailureKind::Broken, &format!("`{id}` {what}"));
    let choice = completion.choices.into_iter().next().ok_or_else(|| broken("gives an answer without a choice"))?;
    if choice.finish_reason.as_deref() == Some("length") {
        return Err(broken("did not finish its answer in the tokens allowed"));
    }
    let said = choice.message.ok_or_else(|| broken("gives an answer without a message"))?;
    if let Some(refusal) = said.refusal.filter(|refusal| !refusal.is_empty()) {
        return Err(ChatFailure::new(FailureKind::Refused, &format!("`{id}` declines: {refusal}")));
    }
    let text = said.content.filter(|text| !text.trim().is_empty()).ok_or_else(|| broken("gives an empty answer"))?;
    let usage = completion
        .usage
        .map(|counted| Usage { prompt_tokens: counted.prompt_tokens, answer_tokens: counted.completion_tokens });
    Ok(ChatAnswer { text, usage })
}
