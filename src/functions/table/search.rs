//! `lake_search(text [, k])`: one row per table that matches the text. [`SearchAnswer`] declares the columns.

use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::columns::Columns;
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::SearchAnswer;

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::ranked::<SearchAnswer>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// The best `k` tables for `text`.
pub(super) fn rows(lakeward: &Lakeward, text: &str, k: usize) -> Result<RecordBatch> {
    answered(&lakeward.search(text, k)?)
}

/// `answers` as rows of `lake_search`.
///
/// # Errors
/// [`lakeward_core::Error::Internal`] if Arrow rejects them.
pub fn answered(answers: &[SearchAnswer]) -> Result<RecordBatch> {
    COLUMNS.batch(answers)
}
