//! An error as a document.

use schemars::JsonSchema;
use serde::Serialize;

use lakeward_core::error::{Error, ErrorKind};
use lakeward_core::message::Message;

/// What `--json` prints for an error, on stderr.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDocument {
    /// What failed.
    pub error: Message,
    /// `user`, `lake` or `internal`.
    pub kind: &'static str,
    /// What to do next.
    pub hint: Option<Message>,
}

impl ErrorDocument {
    /// The error with its sources.
    pub fn of(error: &Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::User => "user",
            ErrorKind::Lake => "lake",
            ErrorKind::Internal => "internal",
            ErrorKind::Interrupted => "interrupted",
        };
        Self { error: error.message(), kind, hint: error.hint().map(Message::from) }
    }
}
