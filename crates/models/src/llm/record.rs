//! Recorded calls, and a model that replays them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Message, Usage};

/// The outcome of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It was used.
    Accepted,
    /// It violated the contract, for this reason.
    Refused(String),
    /// There was no answer.
    Failed,
}

/// One recorded call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallRecord {
    /// Name, version and hash of the prompt.
    pub prompt: String,
    /// [`ChatCall::key`] of the question.
    pub key: String,
    /// The question.
    pub messages: Vec<Message>,
    /// The raw answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The failure, if there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ChatFailure>,
    /// The outcome of the answer.
    pub outcome: CallOutcome,
    /// Token counts; estimated if the server reports none.
    pub usage: Usage,
    /// Time until the answer, in milliseconds.
    pub elapsed_ms: f64,
    /// Whether the answer came from the cache.
    #[serde(default)]
    pub cached: bool,
}

/// A model that replays recorded calls, in order if a question was asked twice.
pub struct Recorded {
    id: String,
    answers: Mutex<HashMap<String, VecDeque<Result<ChatAnswer, ChatFailure>>>>,
}

impl Recorded {
    /// The model called `id` with its answers from `calls`.
    pub fn of(id: &str, calls: &[CallRecord]) -> Self {
        let mut answers: HashMap<String, VecDeque<_>> = HashMap::new();
        for call in calls {
            let answer = match (&call.answer, &call.failure) {
                (Some(text), _) => Ok(ChatAnswer { text: text.clone(), usage: Some(call.usage) }),
                (None, Some(failure)) => Err(failure.clone()),
                (None, None) => Err(ChatFailure::new(FailureKind::Broken, "the trace has neither answer nor failure")),
            };
            answers.entry(call.key.clone()).or_default().push_back(answer);
        }
        Self { id: id.to_string(), answers: Mutex::new(answers) }
    }
}

impl Chat for Recorded {
    fn id(&self) -> &str {
        &self.id
    }

    fn complete(&self, call: &ChatCall, _timeout: Duration) -> Result<ChatAnswer, ChatFailure> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = answers.get_mut(&call.key(&self.id)).and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| {
            Err(ChatFailure::new(FailureKind::NotRecorded, "the trace has no answer to this question"))
        })
    }
}
