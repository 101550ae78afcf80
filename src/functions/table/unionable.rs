//! `lake_unionable(table [, k])`: one row per table whose rows could be appended. [`UnionAnswer`] declares the columns.

use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::columns::Columns;
use super::named;
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::UnionAnswer;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::ranked::<UnionAnswer>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// The best `k` tables to append to `table`.
pub(super) fn rows(lakeward: &Lakeward, table: &str, k: usize) -> Result<RecordBatch> {
    let query = lakeward.cached_query_table(named::table(lakeward, table)?.name())?;
    answered(&lakeward.union(&query, k)?)
}

/// `answers` as rows of `lake_unionable`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] if Arrow rejects them.
pub fn answered(answers: &[UnionAnswer]) -> Result<RecordBatch> {
    COLUMNS.batch(answers)
}
