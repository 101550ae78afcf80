//! `lake_joinable(table [, column [, k]])`: a row a table that can be joined, on one column or on several together. [`JoinAnswer`]
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

/// The best `k` tables to join with `table` on the columns that `column` names, or on the one that serves best.
pub(super) fn rows(lakeward: &Lakeward, table: &str, column: Option<&str>, k: usize) -> Result<RecordBatch> {
    let query = lakeward.cached_query_table(named::table(lakeward, table)?.name())?;
    let columns: Vec<String> = column.map(str::to_string).into_iter().collect();
    answered(&lakeward.join(&query, &query.columns_named(&columns)?, k)?.answers)
}

/// `answers` as rows of `lake_joinable`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] where Arrow refuses them.
pub fn answered(answers: &[JoinAnswer]) -> Result<RecordBatch> {
    COLUMNS.batch(answers)
}
