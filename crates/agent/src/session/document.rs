//! The document itself. Its JSON Schema is published as `schemas/session.schema.json`.

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use super::memory::Retrieval;
use crate::recommend::Recommendation;
use lakeward_core::message::with_parts;
use lakeward_core::plan::Plan;
use lakeward_core::request::{Demand, Input, Signals};

/// Version of the document; [`super::older`] says which older ones are read, any other is refused, never guessed at.
pub const VERSION: u32 = 6;

/// A conversation: all that the next answer depends on besides the lake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Version of this layout.
    pub version: u32,
    /// Its name.
    pub id: String,
    /// Counts the writes, so that a second writer is noticed.
    pub revision: u64,
    /// When it began, RFC 3339.
    pub created: String,
    /// When it was last written, RFC 3339.
    pub updated: String,
    /// The lake it speaks of.
    pub lake: String,
    /// The table the analyst brought or chose.
    pub table: Option<Input>,
    /// Steps carried out before it was chosen: their results are no longer the working table.
    #[serde(default)]
    pub steps_before_table: usize,
    /// The latest turn before it was chosen, or a step taken back or made again: what it asked for was not asked of this table.
    #[serde(default)]
    pub turns_before_table: usize,
    /// The latest turn that is forgotten with all before it: they stay in the transcript, and nothing is read by them.
    #[serde(default)]
    pub turns_forgotten: usize,
    /// What is wanted of datasets: the demands in force, older ones first.
    pub demands: Vec<Demand>,
    /// What was searched for in the catalogue and found, oldest first; of the latest turns.
    #[serde(default)]
    pub retrievals: Vec<Retrieval>,
    /// Tables the analyst accepted, in order.
    pub accepted: Vec<Choice>,
    /// Tables the analyst rejected, in order.
    pub rejected: Vec<Choice>,
    /// The turns, oldest first; the oldest of very many are gone, so that the first need not have number 1.
    pub turns: Vec<Turn>,
    /// Plans carried out, oldest first.
    pub steps: Vec<Step>,
}

/// A table that was accepted or rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// Its id.
    pub table: String,
    /// After which turn, from 1.
    pub turn: usize,
}

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// From 1.
    pub number: usize,
    /// When, RFC 3339.
    pub at: String,
    /// The request as typed; cut in old turns.
    pub text: String,
    /// The request in English words, where it was said in another language and read word by word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub english: Option<String>,
    /// What was understood; in old turns the labels, and of the demands those that the turn itself set.
    pub signals: Signals,
    /// Ids of the tables shown, best first; the first few in old turns.
    pub tables: Vec<String>,
    /// The whole answer; only of the latest turns, and without evidence where it is very large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Recommendation>,
    /// The plan that was asked for, of a recent turn whose answer is no longer kept: steps back go to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Plan>,
}

impl Turn {
    /// The request as it was read.
    pub fn read(&self) -> &str {
        self.english.as_deref().unwrap_or(&self.text)
    }
}

/// A plan that was carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// From 1.
    pub number: usize,
    /// After which turn.
    pub turn: usize,
    /// When, RFC 3339.
    pub at: String,
    /// How its result is made: from tables of the lake and files, whatever steps came before.
    pub plan: Plan,
    /// The SQL that ran.
    pub sql: String,
    /// What it read.
    pub inputs: Vec<StepInput>,
    /// Rows of the result.
    pub rows: u64,
    /// Columns of the result.
    pub columns: Vec<String>,
    /// The file that holds the result, below the folder of sessions.
    pub file: String,
    /// Whether it was taken back.
    #[serde(default)]
    pub undone: bool,
}

/// A table that a step read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepInput {
    /// Its name.
    pub name: String,
    /// Hash of its content when it was read.
    pub content: String,
}

/// The JSON Schema of a session's document: as it is kept, where a message is a list of its template and parts, and as it is printed.
pub fn schema() -> Schema {
    with_parts(|| schema_for!(Session))
}
