//! An error as a document.

use schemars::JsonSchema;
use serde::Serialize;

use lakeward_core::error::{Error, ErrorKind};

/// What `--json` prints for an error, on stderr.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDocument {
    /// What failed.
    pub error: String,
    /// `user`, `lake` or `internal`.
    pub kind: &'static str,
    /// What to do next.
    pub hint: Option<String>,
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
        let mut text = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        Self { error: text, kind, hint: error.hint() }
    }
}
