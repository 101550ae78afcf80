//! `lake_ask(text [, table [, k]])`: one row per recommended table, with the operation it suits best.

use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::columns::Columns;
use super::named;
use crate::Lakeward;
use lakeward_agent::Request;
use lakeward_agent::recommend::{RankedOperation, RankedTable, Recommendation};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::plan::Plan;
use lakeward_core::request::OperationKind;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::ranked::<Row<'static>>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// A row. `utility` is the weighted sum of `relevance`, `intention` and `appropriateness`
/// ([`lakeward_agent::recommend::Utility`]); `operation` is the one the table suits best, `operation_score` its probability
/// (summing to 1 over all operations); `sql` runs it with this table, NULL if it is incomplete.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
struct Row<'a> {
    id: &'a str,
    title: &'a str,
    utility: f64,
    relevance: f64,
    intention: f64,
    appropriateness: f64,
    operation: OperationKind,
    operation_score: Option<f64>,
    sql: Option<&'a str>,
    record: bool,
    rows: Option<u64>,
    columns: usize,
    citation: &'a str,
    reason: &'a str,
}

/// The best `k` tables for the request `text`, with the user's `table` if any; without `k` as many as the text requests.
pub(super) fn rows(lakeward: &Lakeward, text: &str, table: Option<&str>, k: Option<usize>) -> Result<RecordBatch> {
    let table = table.map(|name| named::table(lakeward, name)).transpose()?.map(|named| named.name().to_string());
    let request = Request { text: text.to_string(), table, column: None, k: k.unwrap_or(0) };
    let (answer, _) = lakeward.ask(&mut lakeward.new_session(), &request)?;
    answered(&answer)
}

/// The tables of `answer` as rows of `lake_ask`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] if Arrow rejects them.
pub fn answered(answer: &Recommendation) -> Result<RecordBatch> {
    let rows: Vec<Row> = answer.tables.iter().map(|table| row(table, answer)).collect();
    COLUMNS.batch(&rows)
}

fn row<'a>(table: &'a RankedTable, answer: &'a Recommendation) -> Row<'a> {
    let operation = answer.operations.iter().find(|operation| operation.kind == table.operation);
    Row {
        id: &table.table,
        title: &table.title,
        utility: table.utility.total,
        relevance: table.utility.relevance,
        intention: table.utility.intention,
        appropriateness: table.utility.operation,
        operation: table.operation,
        operation_score: operation.map(|operation| operation.score),
        sql: operation.filter(|operation| uses(operation, &table.table)).and_then(|operation| operation.sql.as_deref()),
        record: table.record,
        rows: (!table.record).then_some(table.rows),
        columns: table.columns,
        citation: &table.citation,
        reason: &table.reason,
    }
}

/// Whether the runnable form of `operation` reads the table `id`.
fn uses(operation: &RankedOperation, id: &str) -> bool {
    operation.runnable.iter().flat_map(Plan::tables).any(|table| table == id)
}
