//! Tables in several files: the rows of one file after the other, with the values that the paths hold as last columns.
//!
//! The columns are those of all files: a file that lacks one has no values there, and a column that files declare with several
//! types has the widest of them, else text. Each such difference is reported, as is a file that cannot be read; the others are.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};

use super::header::name_columns;
use super::json::{JsonRows, Shape, is_lines};
use super::report::{PartsRead, ReadReport, RepairKind, Sample};
use super::typed::{rendered_type, unreadable, wider};
use super::{Column, KnownColumns, ReadOptions, TableReader, declared, open_as, open_unpacked};
use crate::layout::{FileSet, Part};
use crate::source::Format;
use lakeward_core::error::{Error, Result};

mod heads;

use heads::{Heads, type_written};

/// Why a file that was like the others is not read.
const COLUMNS_CHANGED: &str = "its columns have changed since it was indexed; run `lakeward index` again";
/// Differences and faults that a report describes.
const SHOWN: usize = 3;

/// What is known of a table once its first files have been read.
#[derive(Serialize, Deserialize)]
pub(crate) struct PartsSoFar {
    /// All columns, each with its type as Arrow writes it; those that files hold come first.
    columns: Vec<(Column, String)>,
    in_files: usize,
    typed: bool,
    drift: Vec<String>,
    header: Option<bool>,
    delimiter: Option<u8>,
    report: ReadReport,
}

impl PartsSoFar {
    /// The columns that files hold, with their types; `None` where a type is not read as it was written.
    fn fields(&self) -> Option<Vec<(Column, DataType)>> {
        let field = |(column, kind): &(Column, String)| Some((column.clone(), type_written(kind)?));
        self.columns.get(..self.in_files)?.iter().map(field).collect()
    }
}

/// Reads the files of a set.
pub(crate) struct Parts {
    set: FileSet,
    options: ReadOptions,
    columns: Vec<Column>,
    schema: SchemaRef,
    typed: bool,
    /// Columns that files hold; the rest are in their paths.
    in_files: usize,
    next: usize,
    /// Whether a file could be opened.
    is_read: bool,
    current: Option<Current>,
    report: ReadReport,
    drift: Vec<String>,
    faults: Vec<String>,
    sampled: bool,
    total_rows: Option<u64>,
}

struct Current {
    reader: Box<dyn TableReader>,
    /// The place in the file of each column that files hold.
    places: Vec<Option<usize>>,
    values: Vec<Option<String>>,
    name: String,
}

impl Parts {
    /// Opens the files of `set`, all of whose heads are read unless a log declares the columns or they are known; rows only of those that `chosen` names,
    /// by place.
    ///
    /// # Errors
    /// The error of the first file where none can be read; [`Error::Unreadable`] for too many columns.
    pub(crate) fn open(set: FileSet, options: &ReadOptions, chosen: Option<&[usize]>) -> Result<Parts> {
        Parts::with(set, options, chosen, None)
    }

    /// Opens the files of `set` after the first `files`, of which is `known` what [`Parts::so_far`] said; `None` where the columns are
    /// others now, so that all have to be read.
    ///
    /// # Errors
    /// As [`Parts::open`].
    pub(crate) fn go_on(
        set: FileSet,
        options: &ReadOptions,
        files: usize,
        known: &PartsSoFar,
    ) -> Result<Option<Parts>> {
        let mut parts = Parts::with(set, options, None, Some((files, known)))?;
        if parts.typed_columns() != known.columns || parts.in_files != known.in_files || parts.typed != known.typed {
            return Ok(None);
        }
        parts.next = files;
        parts.is_read = true;
        let now = std::mem::replace(&mut parts.report, known.report.clone());
        for kind in [RepairKind::DriftingColumns, RepairKind::DeletesByValue] {
            parts.report.set(kind, now.count(kind), None);
            if let Some(detail) = now.repair(kind).and_then(|repair| repair.detail.as_ref()) {
                parts.report.describe(kind, detail);
            }
        }
        parts.report.parts = now.parts;
        Ok(Some(parts))
    }

    /// What is known once all files have been read, to [go on](Parts::go_on) from where others are added; `None` if rows are missing.
    pub(crate) fn so_far(&self) -> Option<PartsSoFar> {
        let so_far = PartsSoFar {
            columns: self.typed_columns(),
            in_files: self.in_files,
            typed: self.typed,
            drift: self.drift.clone(),
            header: self.options.header,
            delimiter: self.options.delimiter,
            report: self.report.clone(),
        };
        let is_whole = self.current.is_none() && self.next == self.set.parts.len() && !self.report.partial();
        (is_whole && so_far.fields().is_some()).then_some(so_far)
    }

    fn typed_columns(&self) -> Vec<(Column, String)> {
        let types = self.schema.fields().iter().map(|field| field.data_type().to_string());
        self.columns.iter().cloned().zip(types).collect()
    }

    fn with(
        mut set: FileSet,
        options: &ReadOptions,
        chosen: Option<&[usize]>,
        known: Option<(usize, &PartsSoFar)>,
    ) -> Result<Parts> {
        let mut options = options.clone();
        if set.format == Format::Json && is_in_lines(&set) {
            set.format = Format::NdJson;
        }
        let is_read = |at: usize| chosen.is_none_or(|chosen| chosen.contains(&at));
        let heads = match &set.snapshot {
            Some(snapshot) => Heads::declared(snapshot, &options).map_err(unreadable(&set.path))?,
            None => Heads::read(&set, &mut options, known, is_read)?,
        };
        let Heads { mut fields, readable, typed, drift, faults, mut report } = heads;
        let in_files = fields.len();
        // A file that has a column of the key's name has its values there.
        let keys: Vec<usize> =
            (0..set.keys.len()).filter(|&key| !fields.iter().any(|(column, _)| column.name == set.keys[key])).collect();
        let written = fields.iter().map(|(column, _)| &column.name).chain(keys.iter().map(|&key| &set.keys[key]));
        let named = name_columns(written.cloned().collect(), &mut ReadReport::default(), None);
        for (&key, column) in keys.iter().zip(named.into_iter().skip(in_files)) {
            let kind = match &set.snapshot {
                Some(snapshot) => rendered_type(snapshot.keys[key].data_type()),
                None if typed => key_type(&set, key),
                None => DataType::Utf8,
            };
            fields.push((column, kind));
        }
        if fields.len() > options.max_columns {
            let reason = format!("{} columns, more than the limit of {}", fields.len(), options.max_columns);
            return Err(Error::unreadable(&set.path, reason));
        }
        report.rows = 0;
        report.read_bytes = 0;
        let written = || fields[..in_files].iter().map(|(column, kind)| (column.name.clone(), kind.to_string()));
        report.parts = Some(PartsRead {
            files: set.parts.len() as u64,
            keys: keys.iter().map(|&key| set.keys[key].clone()).collect(),
            reason: set.reason.to_string(),
            drifting: if drift.is_empty() { Vec::new() } else { written().collect() },
        });
        // Those of the first file are added with the others'.
        report.repairs.clear();
        if let Some(snapshot) = &set.snapshot {
            report.add(RepairKind::DeletesByValue, snapshot.deletes_by_value, None);
        }
        report.add(RepairKind::DriftingColumns, drift.len() as u64, None);
        report.describe(RepairKind::DriftingColumns, &some_of(&drift));
        let schema = Schema::new(
            fields.iter().map(|(column, kind)| Field::new(&column.name, kind.clone(), true)).collect::<Vec<_>>(),
        );
        let keep = |at: &usize| readable.binary_search(at).is_ok() && is_read(*at);
        let parts = (0..set.parts.len()).filter(keep).map(|at| {
            let part = &set.parts[at];
            Part { values: keys.iter().map(|&key| part.values[key].clone()).collect(), ..part.clone() }
        });
        let set = FileSet { parts: parts.collect(), ..set };
        // A sample has rows of every file, so that it has all values of the paths.
        if let Some(max) = options.max_rows {
            options.max_rows = Some(max.div_ceil(set.parts.len().max(1) as u64).max(1));
        }
        Ok(Parts {
            set,
            options,
            columns: fields.into_iter().map(|(column, _)| column).collect(),
            schema: Arc::new(schema),
            typed,
            in_files,
            next: 0,
            is_read: false,
            current: None,
            report,
            faults,
            sampled: false,
            drift,
            total_rows: Some(0),
        })
    }

    /// Whether a file has the columns that are `known`: all of them, or such as have a place among those of all files.
    fn has_known_columns(&self, reader: &dyn TableReader, known: &KnownColumns) -> bool {
        let types = reader.declared_types();
        let kind = |place: usize| types.as_ref().map_or(&DataType::Utf8, |types| types.field(place).data_type());
        let mut read = reader.columns().iter().enumerate();
        let mut expected = self.schema.fields()[..self.in_files].iter().zip(&self.columns);
        match known {
            KnownColumns::Alike => {
                reader.columns().len() == self.in_files
                    && read.all(|(place, column)| {
                        expected.any(|(field, known)| known.name == column.name && field.data_type() == kind(place))
                    })
            }
            KnownColumns::OfAll(_) => read.all(|(place, column)| {
                let field = expected.clone().find(|(_, known)| known.name == column.name);
                field.is_some_and(|(field, _)| wider(field.data_type(), kind(place)) == *field.data_type())
            }),
        }
    }

    /// Opens the next file that can be; whether there is one.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where it is not like the others, though it should be.
    fn advance(&mut self) -> Result<bool> {
        while let Some(part) = self.set.parts.get(self.next) {
            self.next += 1;
            let name = self.set.name_of(&part.path);
            match open_part(&self.set, part, &self.options) {
                Ok(reader) => {
                    if self.options.known.as_ref().is_some_and(|known| !self.has_known_columns(reader.as_ref(), known))
                    {
                        return Err(Error::unreadable(&part.path, COLUMNS_CHANGED));
                    }
                    let place = |column: &Column| reader.columns().iter().position(|other| other.name == column.name);
                    let places = self.columns[..self.in_files].iter().map(place).collect();
                    self.is_read = true;
                    self.current = Some(Current { places, values: part.values.clone(), name, reader });
                    return Ok(true);
                }
                Err(_) if is_empty(part) => {}
                Err(error) => self.faults.push(fault(&name, &error)),
            }
        }
        Ok(false)
    }

    fn rows_of(&self, current: &Current, batch: &RecordBatch) -> Result<RecordBatch> {
        let failed = |error: arrow::error::ArrowError| Error::unreadable(&self.set.path, error.to_string());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (at, field) in self.schema.fields().iter().enumerate() {
            let kind = field.data_type();
            arrays.push(match current.places.get(at) {
                Some(Some(place)) if batch.column(*place).data_type() == kind => Arc::clone(batch.column(*place)),
                Some(Some(place)) => cast(batch.column(*place), kind).map_err(failed)?,
                Some(None) => new_null_array(kind, batch.num_rows()),
                None => {
                    let value = current.values[at - self.in_files].as_deref();
                    key_array(std::iter::repeat_n(value, batch.num_rows()), kind)
                }
            });
        }
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)
    }

    /// Adds what the report of a file says to that of the table.
    fn take_report(&mut self, current: &Current) {
        let part = current.reader.report();
        self.report.read_bytes += part.read_bytes;
        for repair in part.repairs.iter().filter(|repair| repair.kind != RepairKind::RowLimit) {
            // The columns of all files are the same ones.
            let known = if repair.kind.is_of_columns() { self.report.count(repair.kind) } else { 0 };
            self.report.add(repair.kind, repair.count.saturating_sub(known), repair.first_line);
            if let Some(detail) = &repair.detail {
                self.report.describe(repair.kind, &format!("{}: {detail}", current.name));
            }
        }
        self.sampled |= part.sample.is_some();
        let total = part.sample.map_or(Some(part.rows), |sample| sample.total_rows);
        self.total_rows = self.total_rows.zip(total).map(|(sum, rows)| sum + rows);
    }

    fn finish(&mut self) {
        self.report.add(RepairKind::UnreadableParts, self.faults.len() as u64, None);
        self.report.describe(RepairKind::UnreadableParts, &some_of(&std::mem::take(&mut self.faults)));
        if std::mem::take(&mut self.sampled) {
            self.report.add(RepairKind::RowLimit, 1, None);
            self.report.sample = Some(Sample { rows: self.report.rows, total_rows: self.total_rows, estimated: true });
        }
    }
}

impl TableReader for Parts {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.current.is_none() && !self.advance()? {
                if !self.faults.is_empty() && !self.is_read {
                    let reason = format!("none of its files can be read: {}", some_of(&self.faults));
                    return Err(Error::unreadable(&self.set.path, reason));
                }
                self.finish();
                return Ok(None);
            }
            let Some(mut current) = self.current.take() else { continue };
            match current.reader.next_batch()? {
                Some(batch) => {
                    let rows = self.rows_of(&current, &batch)?;
                    self.report.rows += rows.num_rows() as u64;
                    self.current = Some(current);
                    return Ok(Some(rows));
                }
                None => self.take_report(&current),
            }
        }
    }

    fn report(&self) -> &ReadReport {
        &self.report
    }

    fn declared_types(&self) -> Option<SchemaRef> {
        self.typed.then(|| Arc::clone(&self.schema))
    }
}

fn open_part(set: &FileSet, part: &Part, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    if let Some((snapshot, live)) = set.snapshot.as_ref().zip(part.live) {
        return declared::open(snapshot, &snapshot.files[live], options);
    }
    if set.format == Format::Json {
        return Ok(Box::new(JsonRows::open(&part.path, Shape::Part, options)?));
    }
    open_as(&part.path, set.format, set.compression, None, options)
}

/// Whether one of the largest files of `set` shows that each line is a row: all are written alike, and one with a single row does not show how.
fn is_in_lines(set: &FileSet) -> bool {
    const LOOKED_AT: usize = 8;
    let mut parts: Vec<&Part> = set.parts.iter().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    parts.iter().take(LOOKED_AT).any(|part| is_lines(&part.path))
}

/// Whether a file whose columns nobody wrote has no bytes, packed or not: writers leave one where they had no rows.
fn is_empty(part: &Part) -> bool {
    let first = open_unpacked(&part.path).map(|mut bytes| bytes.read(&mut [0]));
    part.live.is_none() && matches!(first, Ok(Ok(0)))
}

/// Values of a key as the column that the reader returns, of type `kind`.
pub fn key_array<'a>(values: impl Iterator<Item = Option<&'a str>>, kind: &DataType) -> ArrayRef {
    let texts: ArrayRef = match kind {
        DataType::Int64 => return Arc::new(values.map(|value| value?.parse().ok()).collect::<Int64Array>()),
        _ => Arc::new(values.collect::<StringArray>()),
    };
    // A value that is not of its type is missing.
    let of_kind = if *kind == DataType::Utf8 { Ok(Arc::clone(&texts)) } else { cast(&texts, kind) };
    of_kind.unwrap_or_else(|_| new_null_array(kind, texts.len()))
}

/// Whole numbers where all values are written as such.
fn key_type(set: &FileSet, key: usize) -> DataType {
    let is_whole = |value: &String| value.parse::<i64>().is_ok_and(|number| number.to_string() == *value);
    let whole = set.parts.iter().filter_map(|part| part.values[key].as_ref()).all(is_whole);
    if whole { DataType::Int64 } else { DataType::Utf8 }
}

fn fault(name: &str, error: &Error) -> String {
    match error {
        Error::Unreadable { reason, .. } => format!("{name}: {reason}"),
        Error::Io { source, .. } => format!("{name}: {source}"),
        other => format!("{name}: {other}"),
    }
}

fn some_of(texts: &[String]) -> String {
    let more = if texts.len() > SHOWN { "; …" } else { "" };
    texts.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ") + more
}

/// The parts at `path`, if that is a folder or a pattern.
///
/// # Errors
/// [`Error::Unreadable`] where there is no table, or its log cannot be read.
pub(crate) fn set_at(path: &Path) -> Result<FileSet> {
    match FileSet::by_log(path) {
        Some(set) => set,
        None => FileSet::at(path).ok_or_else(|| Error::unreadable(path, "no table files of a single format in it")),
    }
}
