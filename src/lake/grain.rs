//! What one row of a table is: an instance, or an aggregate over instances; with the evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profile::ColumnProfile;
use super::semantic::SemanticType;
use crate::sketch::ColumnSketch;
use crate::sketch::normalise::Normaliser;
use crate::text::name_words;

/// What one row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrainKind {
    /// One observed thing or event.
    Instance,
    /// A count, sum or mean over a group of things.
    Aggregate,
}

/// What one row stands for, and why we think so.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Grain {
    /// The verdict.
    pub kind: GrainKind,
    /// One clause for each observation that speaks for an aggregate; empty for plain instances.
    pub evidence: Vec<String>,
}

/// Words in column names that announce a figure over a group.
const AGGREGATE_WORDS: [&str; 24] = [
    "total",
    "totals",
    "sum",
    "avg",
    "average",
    "mean",
    "median",
    "count",
    "counts",
    "percent",
    "pct",
    "percentage",
    "share",
    "rate",
    "ratio",
    "per",
    "capita",
    "index",
    "proportion",
    "frequency",
    "freq",
    "cumulative",
    "subtotal",
    "std",
];
/// Values that label a row over all others.
const TOTAL_LABELS: [&str; 8] = ["total", "totals", "grand total", "subtotal", "all", "overall", "sum", "average"];
/// More rows than this are seldom a summary unless other signs say so.
const FEW_ROWS: u64 = 300;

/// Judges the grain of a table from its columns.
pub fn judge(columns: &[ColumnProfile], sketches: &[ColumnSketch]) -> Grain {
    let mut evidence = Vec::new();
    let mut weight = 0.0;
    let named: Vec<&str> = columns
        .iter()
        .filter(|column| column.logical.is_numeric())
        .filter(|column| name_words(&column.name).iter().any(|word| AGGREGATE_WORDS.contains(&word.as_str())))
        .map(|column| column.name.as_str())
        .collect();
    if !named.is_empty() {
        weight += if named.len() > 1 { 1.0 } else { 0.7 };
        evidence
            .push(format!("aggregate-like names: {}", named.iter().take(4).copied().collect::<Vec<_>>().join(", ")));
    }
    if let Some(column) = total_row(columns, sketches) {
        weight += 1.0;
        evidence.push(format!("`{column}` labels a total row"));
    }
    if let Some(column) = one_row_a_group(columns) {
        weight += 0.5;
        evidence.push(format!("one row per `{column}`, the rest are figures"));
    }
    let kind = if weight >= 1.0 { GrainKind::Aggregate } else { GrainKind::Instance };
    Grain { kind, evidence }
}

/// The text column in which a cell reads `Total` or the like.
fn total_row<'a>(columns: &'a [ColumnProfile], sketches: &[ColumnSketch]) -> Option<&'a str> {
    let mut normaliser = Normaliser::default();
    let labels: Vec<u64> = TOTAL_LABELS.iter().map(|label| normaliser.value(label).hash).collect();
    columns.iter().zip(sketches).take(4).find_map(|(column, sketch)| {
        let label = labels.iter().any(|label| sketch.hashes.binary_search(label).is_ok());
        (label && sketch.distinct >= 3).then_some(column.name.as_str())
    })
}

/// The grouping column of a short table whose other columns are nearly all numbers.
fn one_row_a_group(columns: &[ColumnProfile]) -> Option<&str> {
    let rows = columns.first()?.rows;
    if !(3..=FEW_ROWS).contains(&rows) || columns.len() < 2 {
        return None;
    }
    let numbers = columns
        .iter()
        .filter(|column| column.logical.is_numeric() && column.semantic != Some(SemanticType::Year))
        .count();
    let grouping = columns.iter().take(2).find(|column| {
        column.uniqueness >= 0.99
            && matches!(
                column.semantic,
                Some(
                    SemanticType::Year
                        | SemanticType::Country
                        | SemanticType::CountryCode
                        | SemanticType::UsState
                        | SemanticType::Category
                )
            )
    })?;
    (numbers + 2 >= columns.len() && numbers > 0).then_some(grouping.name.as_str())
}
