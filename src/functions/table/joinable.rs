//! `lake_joinable(table [, column [, k]])`: one row per joinable table, on one column or on a composite key. [`JoinAnswer`]
//! declares the columns.

use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::columns::Columns;
use super::named;
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::JoinAnswer;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::ranked::<JoinAnswer>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// The best `k` tables to join with `table` on the columns in `column`, or on the best column.
pub(super) fn rows(lakeward: &Lakeward, table: &str, column: Option<&str>, k: usize) -> Result<RecordBatch> {
    let query = lakeward.cached_query_table(named::table(lakeward, table)?.name())?;
    let columns: Vec<String> = column.map(str::to_string).into_iter().collect();
    answered(&lakeward.join(&query, &query.columns_named(&columns)?, k)?.answers)
}

/// `answers` as rows of `lake_joinable`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] if Arrow rejects them.
pub fn answered(answers: &[JoinAnswer]) -> Result<RecordBatch> {
    COLUMNS.batch(answers)
}
