//! The table functions whose rows are ranked answers as searches give them: `lake_search`, `lake_columns`, `lake_joinable`,
//! `lake_unionable` and `lake_correlated`. The type of an answer declares the columns.

use std::sync::{Arc, LazyLock};

use arrow::array::RecordBatch;

use super::columns::Columns;
use super::named;
use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_search::{ColumnAnswer, CorrelationAnswer, JoinAnswer, QueryTable, SearchAnswer, UnionAnswer};

/// The columns of a function, and answers as its rows.
macro_rules! answers {
    ($columns:ident, $batch:ident, $answer:ty, $function:literal) => {
        pub(super) static $columns: LazyLock<Columns> = LazyLock::new(Columns::ranked::<$answer>);

        #[doc = concat!("`answers` as rows of `", $function, "`.\n\n# Errors\n[`lakeward_core::Error::Internal`] if Arrow rejects them.")]
        pub fn $batch(answers: &[$answer]) -> Result<RecordBatch> {
            $columns.batch(answers)
        }
    };
}

answers!(SEARCH, search_batch, SearchAnswer, "lake_search");
answers!(COLUMNS, columns_batch, ColumnAnswer, "lake_columns");
answers!(JOINABLE, joinable_batch, JoinAnswer, "lake_joinable");
answers!(UNIONABLE, unionable_batch, UnionAnswer, "lake_unionable");
answers!(CORRELATED, correlated_batch, CorrelationAnswer, "lake_correlated");

/// The best `k` tables for `text`.
pub(super) fn search(lakeward: &Lakeward, text: &str, k: usize) -> Result<RecordBatch> {
    search_batch(&lakeward.search(text, k)?)
}

/// The best `k` columns for `text`.
pub(super) fn columns(lakeward: &Lakeward, text: &str, k: usize) -> Result<RecordBatch> {
    columns_batch(&lakeward.columns(text, k)?)
}

/// The best `k` tables to join with `table` on the columns in `column`, or on the best column.
pub(super) fn joinable(lakeward: &Lakeward, table: &str, column: Option<&str>, k: usize) -> Result<RecordBatch> {
    let query = query(lakeward, table)?;
    joinable_batch(&lakeward.join(&query, &named_in(&query, column)?, k)?.answers)
}

/// The best `k` tables to append to `table`.
pub(super) fn unionable(lakeward: &Lakeward, table: &str, k: usize) -> Result<RecordBatch> {
    unionable_batch(&lakeward.union(&*query(lakeward, table)?, k)?)
}

/// The best `k` columns that go with column `target` of `table`, joined on the columns in `key`, or on the likeliest keys.
pub(super) fn correlated(
    lakeward: &Lakeward,
    table: &str,
    target: &str,
    key: Option<&str>,
    k: usize,
) -> Result<RecordBatch> {
    let query = query(lakeward, table)?;
    correlated_batch(&lakeward.correlate(&query, query.column(target)?, &named_in(&query, key)?, k)?.answers)
}

fn query(lakeward: &Lakeward, table: &str) -> Result<Arc<QueryTable>> {
    lakeward.cached_query_table(named::table(lakeward, table)?.name())
}

fn named_in(query: &QueryTable, columns: Option<&str>) -> Result<Vec<usize>> {
    let columns: Vec<String> = columns.map(str::to_string).into_iter().collect();
    query.columns_named(&columns)
}
