//! `lake_joinable(table [, column [, k]])`: a row a table that can be joined, on one column or on several together.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use serde::Serialize;

use super::named;
use super::records::{batch, list, optional, parts, rank, required, schema as of};
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::JoinAnswer;
use lakeward_search::join::MatchKind;

/// The columns: [`JoinAnswer`] says what they mean. `table_column` is the answer's column, in `pairs`, `matches` and
/// `variant_matches` as well.
pub(super) fn schema() -> SchemaRef {
    let pair = parts([
        required("query_column", DataType::Utf8),
        required("table_column", DataType::Utf8),
        required("containment", DataType::Float64),
        required("name_likeness", DataType::Float64),
    ]);
    let matched = parts([
        required("query_value", DataType::Utf8),
        optional("table_value", DataType::Utf8),
        optional("difference", DataType::Utf8),
    ]);
    of([
        required("rank", DataType::UInt32),
        required("id", DataType::Utf8),
        required("title", DataType::Utf8),
        required("score", DataType::Float64),
        required("query_column", DataType::Utf8),
        required("table_column", DataType::Utf8),
        required("pairs", list(pair)),
        required("kind", DataType::Utf8),
        required("containment", DataType::Float64),
        required("containment_as_written", DataType::Float64),
        required("containment_of_table", DataType::Float64),
        required("jaccard", DataType::Float64),
        required("exact", DataType::Boolean),
        required("sampled", DataType::Boolean),
        required("shared_values", DataType::UInt64),
        required("uniqueness", DataType::Float64),
        required("fan_out", DataType::Float64),
        required("name_likeness", DataType::Float64),
        required("semantic_likeness", DataType::Float64),
        required("rarity", DataType::Float64),
        required("variants", DataType::Float64),
        required("matches", list(matched.clone())),
        required("variant_matches", list(matched)),
        optional("weakness", DataType::Utf8),
        required("adds", list(DataType::Utf8)),
        required("rows", DataType::UInt64),
        required("citation", DataType::Utf8),
        required("reason", DataType::Utf8),
    ])
}

#[derive(Serialize)]
struct Row<'a> {
    rank: u32,
    id: &'a str,
    title: &'a str,
    score: f64,
    query_column: &'a str,
    table_column: &'a str,
    pairs: Vec<Pair<'a>>,
    kind: MatchKind,
    containment: f64,
    containment_as_written: f64,
    containment_of_table: f64,
    jaccard: f64,
    exact: bool,
    sampled: bool,
    shared_values: u64,
    uniqueness: f64,
    fan_out: f64,
    name_likeness: f64,
    semantic_likeness: f64,
    rarity: f64,
    variants: f64,
    matches: Vec<Match<'a>>,
    variant_matches: Vec<Match<'a>>,
    weakness: Option<&'static str>,
    adds: &'a [String],
    rows: u64,
    citation: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Pair<'a> {
    query_column: &'a str,
    table_column: &'a str,
    containment: f64,
    name_likeness: f64,
}

#[derive(Serialize)]
struct Match<'a> {
    query_value: &'a str,
    table_value: Option<&'a str>,
    difference: Option<String>,
}

/// The best `k` tables to join with `table` on the columns that `column` names, or on the one that serves best.
pub(super) fn rows(lakeward: &Lakeward, table: &str, column: Option<&str>, k: usize) -> Result<RecordBatch> {
    let query = lakeward.kept_query_table(named::table(lakeward, table)?.name())?;
    let columns: Vec<String> = column.map(str::to_string).into_iter().collect();
    answered(&lakeward.join(&query, &query.columns_named(&columns)?, k)?.answers)
}

/// `answers` as rows of `lake_joinable`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] where Arrow refuses them.
pub fn answered(answers: &[JoinAnswer]) -> Result<RecordBatch> {
    let rows: Vec<Row> = answers.iter().enumerate().map(|(place, answer)| row(place, answer)).collect();
    batch(schema(), &rows)
}

fn row(place: usize, answer: &JoinAnswer) -> Row<'_> {
    let pairs = answer.on.iter().map(|pair| Pair {
        query_column: &pair.query_column,
        table_column: &pair.column,
        containment: pair.containment,
        name_likeness: pair.name_likeness,
    });
    let matches = answer.matches.iter().map(|matched| Match {
        query_value: &matched.query,
        table_value: matched.candidate.as_deref(),
        difference: matched.difference.map(|difference| difference.to_string()),
    });
    let variants = answer.variant_matches.iter().map(|matched| Match {
        query_value: &matched.query,
        table_value: Some(&matched.candidate),
        difference: Some(matched.variation.to_string()),
    });
    Row {
        rank: rank(place),
        id: &answer.table,
        title: &answer.title,
        score: answer.score,
        query_column: &answer.query_column,
        table_column: &answer.column,
        pairs: pairs.collect(),
        kind: answer.kind,
        containment: answer.containment,
        containment_as_written: answer.containment_as_written,
        containment_of_table: answer.containment_of_candidate,
        jaccard: answer.jaccard,
        exact: answer.exact,
        sampled: answer.sampled,
        shared_values: answer.shared_values,
        uniqueness: answer.uniqueness,
        fan_out: answer.fan_out,
        name_likeness: answer.name_likeness,
        semantic_likeness: answer.semantic_likeness,
        rarity: answer.rarity,
        variants: answer.variants,
        matches: matches.collect(),
        variant_matches: variants.collect(),
        weakness: answer.weakness.map(|weakness| weakness.reason()),
        adds: &answer.adds,
        rows: answer.rows,
        citation: &answer.citation,
        reason: &answer.reason,
    }
}
