//! The one pass over a table: batches in, one sketch a column out.
//!
//! Memory is bounded by the batch and by the sketches: when the columns of one table together hold too many distinct values,
//! the fullest ones start sampling. Wide or long batches are spread over the cores by column.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use rayon::prelude::*;

use super::reader::{ReadReport, TableReader};
use super::semantic;
use crate::error::{Error, Result};
use crate::sketch::column::{ColumnSketch, ColumnSketchBuilder, SketchLimits};
use crate::sketch::temporal::DateOrder;

/// Distinct values that the columns of one table may hold together; 40 bytes each.
const TABLE_VALUES: usize = 3 << 20;
/// Cells of a batch from which on its columns are worth spreading over the cores.
const PARALLEL_CELLS: usize = 1 << 15;
/// Text of distinct values kept for all columns of a table together.
const TABLE_TEXT_BYTES: usize = 1 << 20;
/// Cells from which a column's date order is learnt.
const DATE_CELLS: usize = 1000;

/// A table read to its end.
pub struct Scan {
    /// Column names, repaired.
    pub names: Vec<String>,
    /// One sketch a column, in column order.
    pub sketches: Vec<ColumnSketch>,
    /// What the reader found and mended.
    pub report: ReadReport,
}

/// Reads `reader` to its end.
///
/// # Errors
/// Whatever the reader reports as fatal; repairs are in [`Scan::report`].
pub fn scan(reader: &mut dyn TableReader) -> Result<Scan> {
    let names: Vec<String> = reader.columns().iter().map(|column| column.name.clone()).collect();
    let mut limits = SketchLimits::default();
    limits.text_bytes = limits.text_bytes.min(TABLE_TEXT_BYTES / names.len().max(1)).max(256);
    let mut builders: Vec<ColumnSketchBuilder> = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        if builders.is_empty() {
            builders = (0..names.len())
                .map(|place| ColumnSketchBuilder::new(limits, date_order(batch.column(place))))
                .collect();
            builders.iter_mut().for_each(|builder| builder.expect(batch.num_rows()));
        }
        push_batch(&mut builders, &batch)?;
        bound_memory(&mut builders);
    }
    if builders.is_empty() {
        builders = names.iter().map(|_| ColumnSketchBuilder::new(limits, DateOrder::Unknown)).collect();
    }
    let sketches = builders.into_iter().map(finish).collect();
    Ok(Scan { names, sketches, report: reader.report().clone() })
}

fn finish(builder: ColumnSketchBuilder) -> ColumnSketch {
    let mut sketch = builder.finish();
    if semantic::na_is_a_code(&sketch) {
        sketch.count_na_as_code();
    }
    sketch
}

/// How a column whose first cells are in `array` writes ambiguous dates.
pub fn date_order(array: &dyn Array) -> DateOrder {
    match array.as_string_opt::<i32>() {
        Some(cells) => DateOrder::learn(cells.iter().flatten().take(DATE_CELLS)),
        None => DateOrder::Unknown,
    }
}

fn push_batch(builders: &mut [ColumnSketchBuilder], batch: &RecordBatch) -> Result<()> {
    if batch.num_columns() != builders.len() {
        return Err(Error::Internal(format!(
            "a batch of {} columns for a table of {}",
            batch.num_columns(),
            builders.len()
        )));
    }
    let cells = batch.num_rows() * batch.num_columns();
    if cells >= PARALLEL_CELLS && builders.len() > 1 {
        builders.par_iter_mut().zip(batch.columns()).try_for_each(|(builder, array)| push_array(builder, array))
    } else {
        builders.iter_mut().zip(batch.columns()).try_for_each(|(builder, array)| push_array(builder, array))
    }
}

fn push_array(builder: &mut ColumnSketchBuilder, array: &dyn Array) -> Result<()> {
    for_each_cell(array, |cell| match cell {
        Some(cell) => builder.push(cell),
        None => builder.push_missing(1),
    })
}

/// Calls `each` with every cell of `array` as text, `None` for a null; typed values are written as Arrow displays them.
///
/// # Errors
/// [`Error::Internal`] for a type that Arrow cannot display.
pub fn for_each_cell(array: &dyn Array, mut each: impl FnMut(Option<&str>)) -> Result<()> {
    use std::fmt::Write;
    if let Some(cells) = array.as_string_opt::<i32>() {
        cells.iter().for_each(each);
        return Ok(());
    }
    let undisplayable = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    let options = FormatOptions::default().with_display_error(true);
    let formatter = ArrayFormatter::try_new(array, &options).map_err(|error| undisplayable(&error))?;
    let mut cell = String::new();
    for row in 0..array.len() {
        if array.is_null(row) || matches!(array.data_type(), DataType::Null) {
            each(None);
            continue;
        }
        cell.clear();
        write!(cell, "{}", formatter.value(row)).map_err(|error| undisplayable(&error))?;
        each(Some(&cell));
    }
    Ok(())
}

fn bound_memory(builders: &mut [ColumnSketchBuilder]) {
    let mut held: usize = builders.iter().map(ColumnSketchBuilder::held_values).sum();
    while held > TABLE_VALUES {
        let Some(fullest) = builders.iter_mut().max_by_key(|builder| builder.held_values()) else { return };
        let before = fullest.held_values();
        fullest.halve();
        held -= before - fullest.held_values();
        if before == fullest.held_values() {
            return;
        }
    }
}
