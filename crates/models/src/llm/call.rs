//! One question to a model and its answer, as plain data.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The program's rules.
    System,
    /// The program's question.
    User,
    /// An earlier answer of the model.
    Assistant,
}

/// A message of the conversation with the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The text.
    pub content: String,
}

/// What a question is part of: each part may have a model of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelPart {
    /// Planning searches and judging what they found.
    Planner,
    /// Reading requests, conversations and papers.
    #[default]
    Reader,
    /// Ordering candidates and comparing datasets.
    Ranker,
    /// Writing questions and answers.
    Writer,
}

lakeward_core::names! { ModelPart, "Its name, as in the settings.":
    Planner = "planner",
    Reader = "reader",
    Ranker = "ranker",
    Writer = "writer",
}

/// A question and the required shape of its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatCall {
    /// The conversation, rules first.
    pub messages: Vec<Message>,
    /// Name of the answer's shape: letters, digits and `_`.
    pub answer: &'static str,
    /// JSON Schema of the answer, an object whose members are all required.
    pub schema: Value,
    /// Maximum tokens of the answer.
    pub max_tokens: u32,
    /// Who is asked; the same question, whoever that is.
    #[serde(skip)]
    pub part: ModelPart,
}

impl ChatCall {
    /// Identifies the question to the model called `model`: 64 hex digits of a hash over everything sent to the model.
    pub fn key(&self, model: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(model.as_bytes());
        hasher.update(b"\0");
        let question = serde_json::to_vec(self).unwrap_or_default();
        hasher.update(&question);
        hasher.finalize().to_hex().to_string()
    }

    /// Estimated tokens of the question: English has about four bytes per token, JSON about three.
    pub fn estimated_tokens(&self) -> u64 {
        let bytes: usize = self.messages.iter().map(|message| message.content.len() + 16).sum();
        bytes as u64 / 3
    }
}

/// The tokens of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens of the question.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub answer_tokens: u64,
}

impl Usage {
    /// All tokens.
    pub fn tokens(self) -> u64 {
        self.prompt_tokens.saturating_add(self.answer_tokens)
    }

    /// The sum of both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            answer_tokens: self.answer_tokens.saturating_add(other.answer_tokens),
        }
    }
}

/// An answer as the server returned it; its text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatAnswer {
    /// The text, which should be JSON.
    pub text: String,
    /// Token counts, if the server reports them.
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// Kinds of failed calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No connection.
    Unreachable,
    /// No complete answer in time.
    TimedOut,
    /// The server refuses because of the key, model, quota or address.
    Refused,
    /// Too many requests, even after waiting.
    Busy,
    /// The server failed.
    ServerError,
    /// The question is longer than the model's context.
    TooLong,
    /// The answer did not end within the allowed tokens.
    Unfinished,
    /// The model declines to answer this question.
    Declined,
    /// The answer violates the protocol, is cut off, or is too large.
    Broken,
    /// A limit of the turn does not allow the question.
    Limit,
    /// The replayed trace has no answer to this question.
    NotRecorded,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message}")]
pub struct ChatFailure {
    /// The kind.
    pub kind: FailureKind,
    /// One clause for the analyst; contains no key and no address with a password, at most 300 characters.
    pub message: String,
}

impl ChatFailure {
    /// A failure with its message, cleaned and cut to 300 characters: the message may contain text from the server.
    pub fn new(kind: FailureKind, message: &str) -> Self {
        Self { kind, message: super::quote::clean(message, 300) }
    }

    /// Whether the failure concerns only this question, so that others may be answered.
    pub fn is_of_the_question(&self) -> bool {
        use FailureKind::{Declined, Limit, TooLong, Unfinished};
        matches!(self.kind, TooLong | Unfinished | Declined | Limit)
    }
}

/// A language model.
///
/// Implementations are shared between threads and never panic on a server's response.
pub trait Chat: Send + Sync {
    /// The id of model and server, without the key: `model@host`; of several models all of them.
    fn id(&self) -> &str;

    /// The id of the model that answers a part.
    fn id_of(&self, _part: ModelPart) -> &str {
        self.id()
    }

    /// Answers `call` within `timeout`, retries included.
    ///
    /// # Errors
    /// [`ChatFailure`]: the kind tells whether to retry.
    fn complete(&self, call: &ChatCall, timeout: Duration) -> Result<ChatAnswer, ChatFailure>;
}
