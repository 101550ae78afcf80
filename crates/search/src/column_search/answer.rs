//! Answers of column search: a column with the evidence for it, and the sentence that says why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ColumnFeatures;
use crate::cite::{Gate, NamesTables};
use crate::text_search::Worded;
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::listing::{ListCell, ListColumn, Listed, REASON_CHARS, column};
use lakeward_core::message::Message;
use lakeward_lake::semantic::{LogicalType, SemanticType};

/// What about a column answers a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnMatch {
    /// Its name.
    Name,
    /// The publisher's title or description of it.
    Description,
    /// Its unit.
    Unit,
    /// What a user says of it.
    Note,
    /// Whole cells that the text names.
    Values,
    /// None of its words, but what it is about.
    Meaning,
}

/// A column that holds what a text says, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct ColumnAnswer {
    /// Id of its table.
    #[schemars(extend("x-sql" = "id"))]
    pub table: String,
    /// The table's title.
    pub title: String,
    /// Its name.
    #[schemars(extend("x-sql" = "column_name"))]
    pub column: String,
    /// Weighted mean of `features`, 0..=1: greater is better.
    pub score: f64,
    /// What it was scored by.
    #[schemars(extend("x-sql" = false))]
    pub features: ColumnFeatures,
    /// What about it answers the text.
    #[serde(rename = "matched")]
    pub matches: Vec<ColumnMatch>,
    /// The type its cells share.
    pub logical: LogicalType,
    /// What its values stand for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub semantic: Option<SemanticType>,
    /// The publisher's title and description of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// What a user says of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// Its unit, where the publisher says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<String>,
    /// Smallest value: number or date.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub min: Option<String>,
    /// Greatest value: number or date.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max: Option<String>,
    /// Cells that the text names, else its most frequent values.
    pub values: Vec<String>,
    /// Different values.
    pub distinct: u64,
    /// Rows of its table.
    pub rows: u64,
    /// The table's citation: the publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    pub citation: String,
    /// The answer in a sentence.
    pub reason: Message,
}

impl Listed for ColumnAnswer {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("table", ListCell::Id(|a| &a.table)),
        column("column", ListCell::Text(60, |a| a.column.as_str().into())),
        column("score", ListCell::Figure(3, |a| a.score)),
        column("why", ListCell::Message(REASON_CHARS, |a| &a.reason)),
    ];
}

impl Worded for ColumnAnswer {
    type Key = (String, String);

    fn key(&self) -> Self::Key {
        (self.table.clone(), self.column.clone())
    }

    fn rank(&self) -> (bool, f64) {
        (false, self.score)
    }

    fn reason(&mut self) -> &mut Message {
        &mut self.reason
    }
}

impl NamesTables for ColumnAnswer {
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        gate.has(&self.table)
    }
}
