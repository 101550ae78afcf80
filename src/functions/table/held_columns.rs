//! `lake_columns(text [, k])`: one row per column that holds what the text says. [`ColumnAnswer`] declares the columns.

use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::columns::Columns;
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::ColumnAnswer;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::ranked::<ColumnAnswer>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// The best `k` columns for `text`.
pub(super) fn rows(lakeward: &Lakeward, text: &str, k: usize) -> Result<RecordBatch> {
    answered(&lakeward.columns(text, k)?)
}

/// `answers` as rows of `lake_columns`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] if Arrow rejects them.
pub fn answered(answers: &[ColumnAnswer]) -> Result<RecordBatch> {
    COLUMNS.batch(answers)
}
