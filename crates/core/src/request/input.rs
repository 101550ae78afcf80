//! A table as a plan names it. Names are data here: only `operate` turns them into quoted SQL.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A table that is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A table of the lake, by id.
    Table(String),
    /// A file outside the lake, by path.
    File(String),
    /// The result of a step of the session, from 1.
    Step(usize),
}

impl Input {
    /// The id of a table of the lake; none for what is not in it.
    pub fn table(&self) -> Option<&str> {
        if let Self::Table(id) = self { Some(id) } else { None }
    }
}
