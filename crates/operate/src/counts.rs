//! Figures from queries: one row of counts, or groups one after the other.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};

use super::context::{LakeContext, Strategy};
use super::notes::Note;
use super::rows::Rows;
use lakeward_core::error::{Error, Result};

/// How often it is tried, each time with a quarter of the rows in a batch: what several sorts need at once to merge depends on
/// how they happen to run side by side.
const SPILLING_ATTEMPTS: u32 = 3;

/// Does `work` with a query that runs on all cores, and again with one that can go to temporary files when that needed more
/// memory than it may use.
///
/// # Errors
/// Those of `work`.
pub fn with_memory<T>(
    first: Strategy,
    context: &LakeContext,
    mut work: impl FnMut(Strategy) -> Result<T>,
) -> Result<T> {
    let mut outcome = work(first);
    for attempt in 0..SPILLING_ATTEMPTS {
        match outcome {
            Err(_) if context.is_exhausted() => outcome = work(Strategy::Spilling { attempt }),
            outcome => return outcome,
        }
    }
    outcome
}

/// Runs `sql` and gives its batches to `each`; what there is to know about the tables is added to `notes`.
///
/// # Errors
/// Those of the query and of `each`.
pub fn for_each_batch(
    context: &LakeContext,
    sql: &str,
    strategy: Strategy,
    notes: &mut Vec<Note>,
    mut each: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    let mut rows: Rows<'_> = context.query_by(sql, None, strategy)?;
    while let Some(batch) = rows.next_batch()? {
        each(&batch)?;
    }
    add_notes(notes, context.notes());
    Ok(())
}

/// Adds what is not among `notes`.
pub fn add_notes(notes: &mut Vec<Note>, more: Vec<Note>) {
    for note in more {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

/// The one row of whole numbers that `sql` asks for; NULL is 0.
///
/// # Errors
/// Those of the query.
pub fn figures(context: &LakeContext, sql: &str, notes: &mut Vec<Note>) -> Result<Vec<u64>> {
    with_memory(Strategy::Parallel, context, |strategy| {
        let mut figures = Vec::new();
        for_each_batch(context, sql, strategy, notes, |batch| {
            for column in 0..batch.num_columns() {
                figures.push(whole_numbers(batch, column)?.first().copied().flatten().unwrap_or(0));
            }
            Ok(())
        })?;
        Ok(figures)
    })
}

/// The column at place `column` as whole numbers.
///
/// # Errors
/// [`Error::Internal`] for what is none.
pub fn whole_numbers(batch: &RecordBatch, column: usize) -> Result<Vec<Option<u64>>> {
    let internal = |error: arrow::error::ArrowError| Error::Internal(error.to_string());
    let array = cast(batch.column(column), &DataType::Int64).map_err(internal)?;
    let numbers = array.as_primitive::<Int64Type>();
    Ok((0..numbers.len()).map(|row| numbers.is_valid(row).then(|| numbers.value(row).max(0) as u64)).collect())
}
