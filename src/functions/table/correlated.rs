//! `lake_correlated(table, target [, key [, k]])`: one row per column of the lake that goes with the target. [`CorrelationAnswer`]
//! declares the columns.

use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::columns::Columns;
use super::named;
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::CorrelationAnswer;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::ranked::<CorrelationAnswer>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// The best `k` columns that go with column `target` of `table`, joined on the columns in `key`, or on the likeliest keys.
pub(super) fn rows(lakeward: &Lakeward, table: &str, target: &str, key: Option<&str>, k: usize) -> Result<RecordBatch> {
    let query = lakeward.cached_query_table(named::table(lakeward, table)?.name())?;
    let key: Vec<String> = key.map(str::to_string).into_iter().collect();
    answered(&lakeward.correlate(&query, query.column(target)?, &query.columns_named(&key)?, k)?.answers)
}

/// `answers` as rows of `lake_correlated`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] if Arrow rejects them.
pub fn answered(answers: &[CorrelationAnswer]) -> Result<RecordBatch> {
    COLUMNS.batch(answers)
}
