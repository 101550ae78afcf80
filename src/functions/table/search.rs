//! `lake_search(text [, k])`: a row a table that answers the text.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use serde::Serialize;

use super::records::{batch, list, optional, parts, rank, required, schema as of};
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_index::lexical::LexicalField;
use lakeward_search::SearchAnswer;

/// The columns: [`SearchAnswer`] says what they mean.
pub(super) fn schema() -> SchemaRef {
    let words = parts([required("field", DataType::Utf8), required("words", list(DataType::Utf8))]);
    let value = parts([required("value", DataType::Utf8), required("column_name", DataType::Utf8)]);
    of([
        required("rank", DataType::UInt32),
        required("id", DataType::Utf8),
        required("title", DataType::Utf8),
        required("score", DataType::Float64),
        optional("lexical_rank", DataType::UInt32),
        optional("dense_rank", DataType::UInt32),
        optional("lexical_score", DataType::Float64),
        required("cosine", DataType::Float64),
        required("matched", list(words)),
        required("named_values", list(value)),
        required("record", DataType::Boolean),
        optional("rows", DataType::UInt64),
        required("sampled", DataType::Boolean),
        required("columns", list(DataType::Utf8)),
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
    lexical_rank: Option<usize>,
    dense_rank: Option<usize>,
    lexical_score: Option<f64>,
    cosine: f64,
    matched: Vec<Words<'a>>,
    named_values: Vec<Value<'a>>,
    record: bool,
    rows: Option<u64>,
    sampled: bool,
    columns: &'a [String],
    citation: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Words<'a> {
    field: LexicalField,
    words: &'a [String],
}

#[derive(Serialize)]
struct Value<'a> {
    value: &'a str,
    column_name: &'a str,
}

/// The best `k` tables for `text`.
pub(super) fn rows(lakeward: &Lakeward, text: &str, k: usize) -> Result<RecordBatch> {
    answered(&lakeward.search(text, k)?)
}

/// `answers` as rows of `lake_search`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] where Arrow refuses them.
pub fn answered(answers: &[SearchAnswer]) -> Result<RecordBatch> {
    let rows: Vec<Row> = answers.iter().enumerate().map(|(place, answer)| row(place, answer)).collect();
    batch(schema(), &rows)
}

fn row(place: usize, answer: &SearchAnswer) -> Row<'_> {
    let matched = answer.matched.iter().map(|found| Words { field: found.field, words: &found.words });
    let named = answer.named_values.iter().map(|named| Value { value: &named.value, column_name: &named.column });
    Row {
        rank: rank(place),
        id: &answer.table,
        title: &answer.title,
        score: answer.score,
        lexical_rank: answer.lexical_rank,
        dense_rank: answer.dense_rank,
        lexical_score: answer.lexical_score,
        cosine: answer.cosine,
        matched: matched.collect(),
        named_values: named.collect(),
        record: answer.record,
        rows: answer.rows,
        sampled: answer.sampled,
        columns: &answer.columns,
        citation: &answer.citation,
        reason: &answer.reason,
    }
}
