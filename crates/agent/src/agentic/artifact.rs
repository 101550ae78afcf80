//! The typed artifacts that the agents exchange, and the boundary that each crosses as JSON.
//!
//! An agent hands over text. [`read`] takes from it one artifact and nothing else: an unknown member, a missing one, a number that
//! is none or a list without end is [`Malformed`], and then the step is done without that agent. What the parts of an artifact may be
//! is checked by the `accept` of each.

use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::candidate_set::CandidateSet;
use super::plan::QueryPlan;
use super::ranking::FinalRanking;
use super::report::EvaluationReport;
use super::trace::RunTrace;

/// Longest text of an artifact, in bytes.
const MOST_BYTES: usize = 16 << 20;

/// Why a text is not the artifact that it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {artifact} is malformed: {problem}")]
pub struct Malformed {
    /// Its name.
    pub artifact: &'static str,
    /// What is wrong with it, in a clause.
    pub problem: String,
}

/// What agents exchange.
pub trait Artifact: Serialize + DeserializeOwned + JsonSchema {
    /// Its name, as messages, schemas and commands call it.
    const NAME: &'static str;

    /// The error that names it.
    fn malformed(problem: impl Into<String>) -> Malformed {
        Malformed { artifact: Self::NAME, problem: problem.into() }
    }

    /// As it crosses a boundary: one line of JSON.
    fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Artifact for QueryPlan {
    const NAME: &'static str = "query-plan";
}

impl Artifact for CandidateSet {
    const NAME: &'static str = "candidate-set";
}

impl Artifact for EvaluationReport {
    const NAME: &'static str = "evaluation-report";
}

impl Artifact for FinalRanking {
    const NAME: &'static str = "final-ranking";
}

/// The artifact that `text` is, its parts unchecked.
pub(super) fn read<T: Artifact>(text: &str) -> Result<T, Malformed> {
    if text.len() > MOST_BYTES {
        return Err(T::malformed(format!("it has {} bytes", text.len())));
    }
    serde_json::from_str(text).map_err(|error| T::malformed(super::shortened(&error.to_string(), 200)))
}

/// An error unless there are at most `most` of `what`.
pub(super) fn at_most<T: Artifact>(what: &str, count: usize, most: usize) -> Result<(), Malformed> {
    if count <= most { Ok(()) } else { Err(T::malformed(format!("{count} {what}; there may be {most}"))) }
}

/// An error unless `text` says something in at most `most` characters.
pub(super) fn spoken<T: Artifact>(what: &str, text: &str, most: usize) -> Result<(), Malformed> {
    if text.trim().is_empty() {
        return Err(T::malformed(format!("{what} is empty")));
    }
    short::<T>(what, text, most)
}

/// An error unless `text` has at most `most` characters.
pub(super) fn short<T: Artifact>(what: &str, text: &str, most: usize) -> Result<(), Malformed> {
    let count = text.chars().count();
    if count <= most { Ok(()) } else { Err(T::malformed(format!("{what} has {count} characters; it may have {most}"))) }
}

/// The published JSON Schemas by name: of the artifacts, and of the trace of a run.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        (QueryPlan::NAME, schema_for!(QueryPlan)),
        (CandidateSet::NAME, schema_for!(CandidateSet)),
        (EvaluationReport::NAME, schema_for!(EvaluationReport)),
        (FinalRanking::NAME, schema_for!(FinalRanking)),
        ("run-trace", schema_for!(RunTrace)),
    ]
}
