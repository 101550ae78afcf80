//! The single pass over a table: batches in, one sketch per column out.
//!
//! Memory is bounded by the batch and by the sketches: when the columns of one table together hold too many distinct values,
//! the fullest ones start sampling. Wide or long batches are distributed over the cores by column, while the next batch of a
//! long table is read.

use std::sync::mpsc;
use std::thread;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cell_setting::kept_words;
use super::join_keys;
use super::key_sample::KeySample;
use super::profile;
use super::reader::{ReadReport, TableReader};
use lakeward_core::error::{Error, Result};
use lakeward_sketch::temporal::DateOrder;
use lakeward_sketch::{Cell, ColumnSketch, ColumnSketchBuilder, SketchLimits, Writing, stored};

mod part;

pub use part::ColumnPart;

/// Distinct values that the columns of one table may hold together; 40 bytes each.
const TABLE_VALUES: usize = 3 << 20;
/// The columns of a table of so many bytes or more are sketched independently of each other, so that machines can share it: each column may
/// hold its share of [`TABLE_VALUES`]. Those of a smaller one hold together what they can.
pub const DIVISIBLE_BYTES: u64 = 64 << 20;
/// Cells of a batch from which on its columns are sketched in parallel.
const PARALLEL_CELLS: usize = 1 << 15;
/// Batches of a table sketched one by one before a reader thread is started: a shorter table is not worth one.
const FIRST_BATCHES: usize = 4;
/// Batches that the reader thread may be ahead, at about 4 MB each.
const BATCHES_AHEAD: usize = 2;
/// Bytes of text of distinct values kept for all columns of a table together.
const TABLE_TEXT_BYTES: usize = 1 << 20;
/// Cells of a table, 16 bytes each, that are remembered until its keys are chosen; those of a longer table are chosen by its first rows.
const REMEMBERED_CELLS: usize = 2 << 20;
/// Number of cells from which a column's date order is determined.
const DATE_CELLS: usize = 1000;

/// A table read to its end.
#[derive(Default)]
pub struct Scan {
    /// Column names, repaired.
    pub names: Vec<String>,
    /// One sketch per column, in column order.
    pub sketches: Vec<ColumnSketch>,
    /// The reader's report, with the repairs made.
    pub report: ReadReport,
    /// Samples of its [keys](join_keys::keys), if they were wanted.
    pub samples: Vec<KeySample>,
    /// Whether the samples were taken before it was known how one of their columns writes its values, and must be
    /// [read](super::key_sample::read) again.
    pub samples_outdated: bool,
    /// Bytes of its files that were not read, as they are what they were before; see [`super::checkpoint`].
    pub unread_bytes: u64,
}

/// Reads `reader` to its end. A long table is read by one thread while the others sketch the columns of earlier batches; the
/// sketches do not depend on the number of threads.
///
/// # Errors
/// The reader's fatal errors; repairs are in [`Scan::report`].
pub fn scan(reader: &mut dyn TableReader) -> Result<Scan> {
    let mut scan = TableScan::new(reader, None, |_| Writing::default(), false);
    scan.read(reader)?;
    Ok(scan.finish(reader.report().clone()))
}

/// The sketches of a table that is being read. One that was written down and read goes on with further rows as if it had not been.
#[derive(Serialize, Deserialize)]
pub struct TableScan {
    limits: SketchLimits,
    names: Vec<String>,
    /// What is known of how each column writes its values.
    #[serde(with = "stored::as_json")]
    writings: Vec<Writing>,
    /// One per column; empty before the first batch.
    builders: Vec<ColumnSketchBuilder>,
    samples: Samples,
    /// The columns that are sketched, if not all.
    #[serde(skip)]
    part: Option<ColumnPart>,
}

/// The samples of a table's keys.
#[derive(Serialize, Deserialize)]
enum Samples {
    /// Not wanted, or the table has no keys.
    None,
    /// The keys, at most so many each, are not chosen yet: all cells so far, by column.
    Open(usize, Vec<Vec<Cell>>),
    /// The keys are chosen; with the cells of the latest batch, by column.
    Chosen(Vec<KeySample>, Vec<Vec<Cell>>),
}

impl Samples {
    /// Where the cells of `columns` columns are remembered.
    fn cells(&mut self) -> Option<&mut Vec<Vec<Cell>>> {
        match self {
            Self::None => None,
            Self::Open(_, cells) | Self::Chosen(_, cells) => Some(cells),
        }
    }
}

/// How the columns of `reader` write their values, as far as is `known` by their names.
fn writings(reader: &dyn TableReader, known: impl Fn(&str) -> Writing) -> Vec<Writing> {
    let typed = reader.is_typed();
    reader.columns().iter().map(|column| Writing { typed, ..known(&column.name) }).collect()
}

impl TableScan {
    /// Begins the table of `reader` with what is `known` of how the column of each name writes its values, and with samples of at most
    /// `sample_keys` keys each. The columns of a `divisible` one are sketched independently of each other.
    pub fn new(
        reader: &dyn TableReader,
        sample_keys: Option<usize>,
        known: impl Fn(&str) -> Writing,
        divisible: bool,
    ) -> Self {
        let names: Vec<String> = reader.columns().iter().map(|column| column.name.clone()).collect();
        let mut limits = SketchLimits::default();
        limits.text_bytes = limits.text_bytes.min(TABLE_TEXT_BYTES / names.len().max(1)).max(256);
        if divisible {
            limits.exact_values = limits.exact_values.min(TABLE_VALUES / names.len().max(1));
        }
        let samples = match sample_keys {
            Some(keys) => Samples::Open(keys, vec![Vec::new(); names.len()]),
            None => Samples::None,
        };
        Self { limits, names, writings: writings(reader, known), builders: Vec::new(), samples, part: None }
    }

    /// Whether it was begun as `other` is, of which no row was read.
    pub(crate) fn begins_as(&self, other: &Self) -> bool {
        self.names == other.names && self.limits == other.limits && self.writings == other.writings
    }

    /// Whether every column has a sketch, or none.
    pub(crate) fn is_whole(&self) -> bool {
        self.builders.is_empty() || self.builders.len() == self.names.len()
    }

    /// Reads the rest of `reader`.
    ///
    /// # Errors
    /// Its fatal errors.
    pub fn read(&mut self, reader: &mut dyn TableReader) -> Result<()> {
        let mut batches = 0;
        while let Some(batch) = reader.next_batch()? {
            self.push(&batch)?;
            batches += 1;
            if batches == FIRST_BATCHES && rayon::current_num_threads() > 1 {
                return self.read_ahead(reader);
            }
        }
        Ok(())
    }

    /// Reads the rest of a long table on another thread.
    fn read_ahead(&mut self, reader: &mut dyn TableReader) -> Result<()> {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(BATCHES_AHEAD);
            let reading = scope.spawn(move || -> Result<()> {
                while let Some(batch) = reader.next_batch()? {
                    if sender.send(batch).is_err() {
                        // Sketching has failed; its error is returned below.
                        break;
                    }
                }
                Ok(())
            });
            // Ends with the last batch, or at the first error; then the receiver is dropped, and reading stops.
            let sketched = receiver.into_iter().try_for_each(|batch| self.push(&batch));
            let read = reading.join().map_err(|_| Error::Internal("the reader of a table panicked".into()))?;
            sketched.and(read)
        })
    }

    /// What all rows read are summed up as, with the `report` of their reader.
    pub fn finish(mut self, report: ReadReport) -> Scan {
        let begun: Vec<Writing> = self.builders.iter().map(|builder| builder.writing().clone()).collect();
        let (sketches, samples) = self.summed_up();
        let is_read_otherwise = |place: usize| sketches[place].writing != begun[place];
        let samples_outdated = samples.iter().any(|sample| sample.places().any(is_read_otherwise));
        Scan { names: self.names, sketches, report, samples, samples_outdated, unread_bytes: 0 }
    }

    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let count = self.names.len();
        if batch.num_columns() != count {
            let reason = format!("a batch of {} columns for a table of {count}", batch.num_columns());
            return Err(Error::Internal(reason));
        }
        if self.builders.is_empty() {
            let builder = |(writing, array): (&Writing, &ArrayRef)| {
                let mut writing = writing.clone();
                if writing.dates == DateOrder::Unknown {
                    writing.dates = date_order(array.as_ref());
                }
                ColumnSketchBuilder::new(self.limits, writing)
            };
            self.builders = self.writings.iter().zip(batch.columns()).map(builder).collect();
            self.builders.iter_mut().for_each(|builder| builder.expect(batch.num_rows()));
        }
        let remember = !matches!(self.samples, Samples::None);
        let needed = self.needed_columns();
        let mut none = Vec::new();
        let cells = self.samples.cells().unwrap_or_else(|| {
            none.resize_with(count, Vec::new);
            &mut none
        });
        let one =
            |(((builder, cells), array), needed): (((&mut ColumnSketchBuilder, &mut Vec<Cell>), &ArrayRef), &bool)| {
                if *needed { push_array(builder, array.as_ref(), remember.then_some(cells)) } else { Ok(()) }
            };
        if batch.num_rows() * count >= PARALLEL_CELLS && count > 1 {
            // One column per task: a few columns of long texts take longer than all the others.
            let columns = self.builders.par_iter_mut().zip(cells).zip(batch.columns()).zip(&needed);
            columns.with_max_len(1).try_for_each(one)?;
        } else {
            self.builders.iter_mut().zip(cells).zip(batch.columns()).zip(&needed).try_for_each(one)?;
        }
        bound_memory(&mut self.builders);
        match &self.samples {
            Samples::Open(_, cells) if cells.iter().map(Vec::len).sum::<usize>() > REMEMBERED_CELLS => {
                self.choose_keys_so_far();
            }
            _ => {}
        }
        self.add_to_samples();
        Ok(())
    }

    /// Chooses the keys by the rows so far.
    fn choose_keys_so_far(&mut self) {
        let sketches: Vec<ColumnSketch> = self.builders.iter().cloned().map(finish).collect();
        self.choose_keys(&sketches);
    }

    /// Chooses the keys by what is known of the columns, unless they are chosen.
    fn choose_keys(&mut self, sketches: &[ColumnSketch]) {
        let samples = std::mem::replace(&mut self.samples, Samples::None);
        let Samples::Open(limit, cells) = samples else {
            self.samples = samples;
            return;
        };
        let columns = profile::columns(&self.names, sketches);
        let (keys, values) = (join_keys::keys(&columns), join_keys::values(&columns));
        let of_key = |key: Vec<usize>| {
            let others = values.iter().filter(|value| !key.contains(&value.place)).copied().collect();
            KeySample::new(key, others, limit)
        };
        let mut samples: Vec<KeySample> =
            keys.into_iter().map(of_key).filter(|sample| !sample.values.is_empty()).collect();
        if let Some(part) = self.part {
            samples.iter_mut().for_each(|sample| sample.values.retain(|value| part.has(value.place)));
        }
        if !samples.is_empty() {
            self.samples = Samples::Chosen(samples, cells);
        }
    }

    /// Adds the cells that are remembered to the samples, once there are any.
    fn add_to_samples(&mut self) {
        let Samples::Chosen(samples, cells) = &mut self.samples else { return };
        let rows = cells.iter().map(Vec::len).max().unwrap_or(0);
        let add = |sample: &mut KeySample| sample.push(rows, |place| &cells[place]);
        if rows >= PARALLEL_CELLS {
            samples.par_iter_mut().for_each(add)
        } else {
            samples.iter_mut().for_each(add)
        }
        cells.iter_mut().for_each(Vec::clear);
    }

    fn summed_up(&mut self) -> (Vec<ColumnSketch>, Vec<KeySample>) {
        if self.builders.is_empty() {
            let empty = |writing| finish(ColumnSketchBuilder::new(self.limits, writing));
            return (self.writings.drain(..).map(empty).collect(), Vec::new());
        }
        let builders = std::mem::take(&mut self.builders);
        let held: usize = builders.iter().map(ColumnSketchBuilder::held_values).sum();
        let sketches: Vec<ColumnSketch> = if held >= PARALLEL_CELLS {
            builders.into_par_iter().with_max_len(1).map(finish).collect()
        } else {
            builders.into_iter().map(finish).collect()
        };
        self.choose_keys(&sketches);
        self.add_to_samples();
        let samples = match std::mem::replace(&mut self.samples, Samples::None) {
            Samples::Chosen(samples, ..) => samples,
            _ => Vec::new(),
        };
        (sketches, samples)
    }
}

fn finish(builder: ColumnSketchBuilder) -> ColumnSketch {
    let mut sketch = builder.finish();
    sketch.keep_words(kept_words(&sketch));
    sketch
}

/// The order of day and month in the ambiguous dates of a column whose first cells are in `array`.
fn date_order(array: &dyn Array) -> DateOrder {
    match array.as_string_opt::<i32>() {
        Some(cells) => DateOrder::learn(cells.iter().flatten().take(DATE_CELLS)),
        None => DateOrder::Unknown,
    }
}

/// Adds the cells of `array` to `builder`, and to `cells` if they are to be remembered.
fn push_array(builder: &mut ColumnSketchBuilder, array: &dyn Array, mut cells: Option<&mut Vec<Cell>>) -> Result<()> {
    for_each_cell(array, |cell| {
        // An empty cell counts as missing.
        let cell = builder.push(cell.unwrap_or_default());
        if let Some(cells) = &mut cells {
            cells.push(cell);
        }
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
    if each_integer(array, &mut each) {
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

/// [`for_each_cell`] for whole numbers, whose text needs no formatter; returns whether `array` holds whole numbers.
fn each_integer(array: &dyn Array, each: &mut impl FnMut(Option<&str>)) -> bool {
    use arrow::datatypes::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
    match array.data_type() {
        DataType::Int8 => write_integers(array.as_primitive::<Int8Type>(), each),
        DataType::Int16 => write_integers(array.as_primitive::<Int16Type>(), each),
        DataType::Int32 => write_integers(array.as_primitive::<Int32Type>(), each),
        DataType::Int64 => write_integers(array.as_primitive::<Int64Type>(), each),
        DataType::UInt8 => write_integers(array.as_primitive::<UInt8Type>(), each),
        DataType::UInt16 => write_integers(array.as_primitive::<UInt16Type>(), each),
        DataType::UInt32 => write_integers(array.as_primitive::<UInt32Type>(), each),
        DataType::UInt64 => write_integers(array.as_primitive::<UInt64Type>(), each),
        _ => return false,
    }
    true
}

fn write_integers<T>(array: &PrimitiveArray<T>, each: &mut impl FnMut(Option<&str>))
where
    T: ArrowPrimitiveType<Native: std::fmt::Display>,
{
    use std::fmt::Write;
    let mut cell = String::new();
    for value in array {
        let Some(value) = value else {
            each(None);
            continue;
        };
        cell.clear();
        // Writing to a String cannot fail.
        let _ = write!(cell, "{value}");
        each(Some(&cell));
    }
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

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::reader::{ReadOptions, open_path};

    fn scan_on(threads: usize, path: &std::path::Path) -> Scan {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // Small batches, so that the file has many; a bound that the key column exceeds is in `SketchLimits`.
        let options = ReadOptions { batch_rows: 3_000, ..ReadOptions::default() };
        pool.install(|| scan(open_path(path, &options).unwrap().as_mut()).unwrap())
    }

    /// A table with keys, dates, figures and rows that are too short.
    fn long_table(rows: u64) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.csv");
        let mut text = String::from("key,when,who,figure,note,state\n");
        for row in 0..rows {
            let mixed = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let (day, month) = (1 + mixed % 28, 1 + mixed % 12);
            let short = if row % 997 == 0 { "" } else { ",NA" };
            writeln!(
                text,
                "K{mixed},{day}/{month}/2020,Name {},{}.5,note {}{short}",
                mixed % 900,
                row % 7000,
                mixed % 31
            )
            .unwrap();
        }
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_long_table_has_the_same_sketches_on_one_thread_and_on_many() {
        let (_folder, path) = long_table(150_000);
        let one = scan_on(1, &path);
        assert!(one.sketches[0].rows == 150_000 && !one.sketches[0].is_exact(), "the key column is sampled");
        for threads in [2, 5] {
            let many = scan_on(threads, &path);
            assert_eq!(many.report, one.report);
            assert!(many.sketches == one.sketches, "{threads} threads");
        }
    }

    fn bytes(scan: &Scan) -> Vec<u8> {
        let mut samples = scan.samples.clone();
        samples.iter_mut().for_each(KeySample::end);
        postcard::to_allocvec(&(&scan.names, samples)).unwrap()
    }

    #[test]
    fn parts_of_columns_come_to_the_whole_table() {
        let more_than_choose_keys = 10_000 + REMEMBERED_CELLS as u64 / 6;
        let (_folder, path) = long_table(more_than_choose_keys);
        let options = ReadOptions { batch_rows: 3_000, ..ReadOptions::default() };
        let begin = |reader: &dyn TableReader| TableScan::new(reader, Some(500), |_| Writing::default(), true);
        let mut reader = open_path(&path, &options).unwrap();
        let mut whole = begin(reader.as_ref());
        whole.read(reader.as_mut()).unwrap();
        let whole = whole.finish(reader.report().clone());
        let lengths: Vec<usize> = whole.samples.iter().map(KeySample::len).collect();
        assert!(lengths.iter().any(|length| *length > 100), "{lengths:?}");
        for of in [1, 2, 4, 6] {
            let part = |number| {
                let mut reader = open_path(&path, &options).unwrap();
                let mut scan = begin(reader.as_ref()).of_part(ColumnPart { number, of });
                scan.read(reader.as_mut()).unwrap();
                let written = postcard::to_allocvec(&scan.end_part()).unwrap();
                postcard::from_bytes::<TableScan>(&written).unwrap()
            };
            let parts: Vec<TableScan> = (0..of).map(part).collect();
            let joined = TableScan::joined(parts).expect("they fit").finish(whole.report.clone());
            for (joined, whole) in joined.sketches.iter().zip(&whole.sketches) {
                assert!(joined == whole, "{of} parts");
            }
            assert_eq!(bytes(&joined), bytes(&whole), "{of} parts");
        }
        let ends = |number, of, divisible| {
            let mut reader = open_path(&path, &ReadOptions { max_rows: Some(100), ..options.clone() }).unwrap();
            let scan = TableScan::new(reader.as_ref(), Some(500), |_| Writing::default(), divisible);
            let mut scan = scan.of_part(ColumnPart { number, of });
            scan.read(reader.as_mut()).unwrap();
            scan.end_part()
        };
        assert!(TableScan::joined(vec![ends(0, 4, true), ends(1, 4, true), ends(2, 4, true)]).is_none());
        assert!(TableScan::joined((0..4).rev().map(|number| ends(number, 4, true)).collect()).is_none());
        assert!(TableScan::joined((0..6).map(|number| ends(number, 6, true)).collect()).is_some());
    }
}
