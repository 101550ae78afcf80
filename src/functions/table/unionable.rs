//! `lake_unionable(table [, k])`: a row a table whose rows could be appended.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use serde::Serialize;

use super::named;
use super::records::{batch, list, optional, parts, rank, required, schema as of};
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::UnionAnswer;

/// The columns: [`UnionAnswer`] says what they mean. `table_column` is the answer's column; `new_rows` of the
/// `compared_rows` are not in the query, both NULL where they could not be counted.
pub(super) fn schema() -> SchemaRef {
    let pair = parts([
        required("query_column", DataType::Utf8),
        required("table_column", DataType::Utf8),
        required("score", DataType::Float64),
        required("name_likeness", DataType::Float64),
        required("shared_values", DataType::Float64),
        required("semantic_likeness", DataType::Float64),
    ]);
    of([
        required("rank", DataType::UInt32),
        required("id", DataType::Utf8),
        required("title", DataType::Utf8),
        required("score", DataType::Float64),
        required("alignment", list(pair)),
        required("unmatched", list(DataType::Utf8)),
        required("extra", list(DataType::Utf8)),
        optional("new_rows", DataType::UInt64),
        optional("compared_rows", DataType::UInt64),
        required("near_copy", DataType::Boolean),
        required("rows", DataType::UInt64),
        required("sampled", DataType::Boolean),
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
    alignment: Vec<Pair<'a>>,
    unmatched: &'a [String],
    extra: &'a [String],
    new_rows: Option<u64>,
    compared_rows: Option<u64>,
    near_copy: bool,
    rows: u64,
    sampled: bool,
    citation: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Pair<'a> {
    query_column: &'a str,
    table_column: &'a str,
    score: f64,
    name_likeness: f64,
    shared_values: f64,
    semantic_likeness: f64,
}

/// The best `k` tables to append to `table`.
pub(super) fn rows(lakeward: &Lakeward, table: &str, k: usize) -> Result<RecordBatch> {
    let query = lakeward.kept_query_table(named::table(lakeward, table)?.name())?;
    answered(&lakeward.union(&query, k)?)
}

/// `answers` as rows of `lake_unionable`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] where Arrow refuses them.
pub fn answered(answers: &[UnionAnswer]) -> Result<RecordBatch> {
    let rows: Vec<Row> = answers.iter().enumerate().map(|(place, answer)| row(place, answer)).collect();
    batch(schema(), &rows)
}

fn row(place: usize, answer: &UnionAnswer) -> Row<'_> {
    let alignment = answer.alignment.iter().map(|pair| Pair {
        query_column: &pair.query_column,
        table_column: &pair.column,
        score: pair.score,
        name_likeness: pair.name,
        shared_values: pair.values,
        semantic_likeness: pair.meaning,
    });
    Row {
        rank: rank(place),
        id: &answer.table,
        title: &answer.title,
        score: answer.score,
        alignment: alignment.collect(),
        unmatched: &answer.unmatched,
        extra: &answer.extra,
        new_rows: answer.new_rows.map(|rows| rows.new),
        compared_rows: answer.new_rows.map(|rows| rows.compared),
        near_copy: answer.near_copy,
        rows: answer.rows,
        sampled: answer.sampled,
        citation: &answer.citation,
        reason: &answer.reason,
    }
}
