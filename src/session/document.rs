//! The document itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::recommend::Recommendation;
use crate::request::{Constraints, Input, Operation, Signals};

/// Version of the document; another one is refused, never guessed at.
pub const VERSION: u32 = 1;

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
    /// The constraints in force.
    pub constraints: Constraints,
    /// Tables the analyst accepted, in order.
    pub accepted: Vec<Choice>,
    /// Tables the analyst rejected, in order.
    pub rejected: Vec<Choice>,
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
    /// Operations carried out, oldest first.
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
    /// What was understood.
    pub signals: Signals,
    /// Ids of the tables shown, best first; the first few in old turns.
    pub tables: Vec<String>,
    /// The whole answer; only of the latest turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Recommendation>,
}

/// An operation that was carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// From 1.
    pub number: usize,
    /// After which turn.
    pub turn: usize,
    /// When, RFC 3339.
    pub at: String,
    /// The operation.
    pub operation: Operation,
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

impl Session {
    /// A session that has not begun.
    pub fn new(id: impl Into<String>, lake: impl Into<String>) -> Self {
        Self {
            version: VERSION,
            id: id.into(),
            revision: 0,
            created: String::new(),
            updated: String::new(),
            lake: lake.into(),
            table: None,
            constraints: Constraints::default(),
            accepted: Vec::new(),
            rejected: Vec::new(),
            turns: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// The table that the next operation starts from: the latest result, else the table in use, else the one accepted last.
    pub fn working(&self) -> Option<Input> {
        let step = self.steps.iter().rev().find(|step| !step.undone).map(|step| Input::Step(step.number));
        let accepted = || self.accepted.last().map(|choice| Input::Table(choice.table.clone()));
        step.or_else(|| self.table.clone()).or_else(accepted)
    }

    /// Whether the analyst does not want to see a table again.
    pub fn is_rejected(&self, table: &str) -> bool {
        self.rejected.iter().any(|choice| choice.table == table)
    }

    /// Adds a step.
    pub fn push_step(&mut self, operation: Operation, outcome: &crate::operate::Outcome, file: String) {
        let inputs = outcome.inputs.iter();
        self.steps.push(Step {
            number: self.steps.len() + 1,
            turn: self.turns.len(),
            at: String::new(),
            operation,
            sql: outcome.sql.clone(),
            inputs: inputs
                .map(|input| StepInput { name: input.name.clone(), content: input.content.to_string() })
                .collect(),
            rows: outcome.rows,
            columns: outcome.columns.iter().map(|column| column.name.clone()).collect(),
            file,
            undone: false,
        });
    }

    /// Adds a turn.
    pub fn push_turn(&mut self, text: &str, recommendation: &Recommendation) {
        self.constraints = recommendation.signals.constraints.clone();
        self.turns.push(Turn {
            number: self.turns.len() + 1,
            at: String::new(),
            text: text.to_string(),
            signals: recommendation.signals.clone(),
            tables: recommendation.tables.iter().map(|table| table.table.clone()).collect(),
            recommendation: Some(recommendation.clone()),
        });
    }
}
