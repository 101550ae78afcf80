//! One question to a model and its answer, as plain data.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whose words a message holds.
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
    /// Whose words.
    pub role: Role,
    /// The words.
    pub content: String,
}

/// A question with the shape that its answer must have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatCall {
    /// The conversation, rules first.
    pub messages: Vec<Message>,
    /// Name of the answer's shape: letters, digits and `_`.
    pub answer: &'static str,
    /// JSON Schema of the answer, an object without optional members.
    pub schema: Value,
    /// Tokens of the answer at the most.
    pub max_tokens: u32,
}

impl ChatCall {
    /// Identifies the question to the model called `model`: 64 hex digits of a hash over all that the model is told.
    pub fn key(&self, model: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(model.as_bytes());
        hasher.update(b"\0");
        let told = serde_json::to_vec(self).unwrap_or_default();
        hasher.update(&told);
        hasher.finalize().to_hex().to_string()
    }

    /// Tokens of the question, estimated: a token of English has about four bytes, one of JSON about three.
    pub fn estimated_tokens(&self) -> u64 {
        let bytes: usize = self.messages.iter().map(|message| message.content.len() + 16).sum();
        bytes as u64 / 3
    }
}

/// What a call cost.
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

    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            answer_tokens: self.answer_tokens.saturating_add(other.answer_tokens),
        }
    }
}

/// An answer as the server gave it; its text is not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatAnswer {
    /// The text, which should be JSON.
    pub text: String,
    /// Tokens, where the server counts them.
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// Kinds of failure of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No connection.
    Unreachable,
    /// No whole answer in time.
    TimedOut,
    /// The server refuses: key, model, quota, address.
    Refused,
    /// Too many requests, also after waiting.
    Busy,
    /// The server failed.
    ServerError,
    /// The question is longer than the model can read.
    TooLong,
    /// The answer did not end within the tokens allowed.
    Unfinished,
    /// The model declines to answer this question.
    Declined,
    /// The answer is no answer of this protocol, cut off, or larger than any answer may be.
    Broken,
    /// A limit of the turn does not allow the question.
    Limit,
    /// A replay has no answer to this question.
    NotRecorded,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message}")]
pub struct ChatFailure {
    /// The kind.
    pub kind: FailureKind,
    /// In a clause, for the analyst; no key, no address with a password, at most 300 characters.
    pub message: String,
}

impl ChatFailure {
    /// A failure with its message, cleaned and cut to 300 characters: it may hold the server's words.
    pub fn new(kind: FailureKind, message: &str) -> Self {
        Self { kind, message: super::quote::clean(message, 300) }
    }

    /// Whether another question may be answered all the same.
    pub fn is_of_the_question(&self) -> bool {
        use FailureKind::{Declined, Limit, TooLong, Unfinished};
        matches!(self.kind, TooLong | Unfinished | Declined | Limit)
    }
}

/// A language model.
///
/// Implementations are shared between threads and never panic on what a server says.
pub trait Chat: Send + Sync {
    /// Names model and server, without key: `model@host`.
    fn id(&self) -> &str;

    /// Answers `call` within `timeout`, retries included.
    ///
    /// # Errors
    /// [`ChatFailure`]: the kind says whether asking again is worth it.
    fn complete(&self, call: &ChatCall, timeout: Duration) -> Result<ChatAnswer, ChatFailure>;
}
