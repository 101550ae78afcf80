//! Rows written in JSON: one value per line, an array of rows, or an object that holds one.
//!
//! Rows are objects (members by name) or arrays (cells by position, named by the first row if that is all text). The
//! columns are those of the first [`SAMPLE_ROWS`] rows, in order of appearance; values under keys that only later rows
//! have are counted and left out. Of several arrays in one document the longest is read. The properties of GeoJSON
//! features become columns, as does their geometry. Numbers stay as written; nested values become JSON text.

mod raw_rows;

use std::collections::HashMap;
use std::path::Path;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::batch::TextBatch;
use super::header::name_columns;
use super::json_scan::{elements, members};
use super::report::{ReadReport, RepairKind};
use super::row_reader::Count;
use super::{Column, ReadOptions, TableReader};
use lakeward_core::error::{Error, Result};
use raw_rows::RawRows;
pub(super) use raw_rows::is_lines;

/// Rows, and bytes of rows, from which the columns are determined.
const SAMPLE_ROWS: usize = 10_000;
const SAMPLE_BYTES: usize = 8 << 20;

/// The layout of the rows according to the file's name; the content may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Lines,
    Document,
    /// A document that is one of the files of a table: without an array of rows, it is a row.
    Part,
}

/// A reader of JSON rows.
pub(super) struct JsonRows {
    rows: RawRows,
    /// The rows that were read to find the columns, in reverse order.
    sampled: Vec<(u64, Vec<u8>)>,
    columns: Vec<Column>,
    keys: Keys,
    batch: TextBatch,
    report: ReadReport,
    max_rows: u64,
    nested: Vec<bool>,
    broken: Count,
    late: Count,
    cut: Count,
    done: bool,
}

impl JsonRows {
    /// Opens `path` and reads its first rows.
    ///
    /// # Errors
    /// Those of opening the text; [`Error::Unreadable`] where no value is a row, and for too many columns.
    pub(super) fn open(path: &Path, shape: Shape, options: &ReadOptions) -> Result<JsonRows> {
        let mut report = ReadReport::default();
        let mut rows = RawRows::open(path, shape, &mut report)?;
        let mut broken = Count::default();
        let mut sampled = sample(&mut rows, &mut broken);
        let mut keys = Keys { is_feature: sampled.first().is_some_and(|(_, row)| is_feature(row)), ..Keys::default() };
        let mut by_position = 0;
        for (_, row) in &sampled {
            by_position = by_position.max(keys.add_keys(row));
        }
        let headers = match keys.names.is_empty() {
            true => position_headers(&mut sampled, by_position),
            false => keys.names.clone(),
        };
        if headers.is_empty() {
            return Err(Error::unreadable(path, "JSON without rows: no objects in it"));
        }
        if headers.len() > options.max_columns {
            let reason = format!("{} columns, more than the limit of {}", headers.len(), options.max_columns);
            return Err(Error::unreadable(path, reason));
        }
        let columns = name_columns(headers, &mut report, None);
        sampled.reverse();
        let batch = TextBatch::new(&columns, options.batch_limits());
        let nested = vec![false; columns.len()];
        let (late, cut) = Default::default();
        let max_rows = options.max_rows.unwrap_or(u64::MAX);
        Ok(JsonRows { rows, sampled, columns, keys, batch, report, max_rows, nested, broken, late, cut, done: false })
    }

    fn next_row(&mut self) -> Option<(u64, Vec<u8>)> {
        self.sampled.pop().or_else(|| self.rows.next_valid(&mut self.broken))
    }

    fn push_row(&mut self, line: u64, row: &[u8]) {
        let mut cells: Vec<Option<&[u8]>> = vec![None; self.columns.len()];
        let mut late = 0;
        let by_name = !self.keys.names.is_empty();
        if row[0] == b'{' && by_name {
            self.keys.place(row, &mut cells, &mut late);
        } else if row[0] == b'[' && !by_name {
            let mut position = 0;
            elements(row, |value| {
                match cells.get_mut(position) {
                    Some(cell) => *cell = Some(value),
                    None => late += 1,
                }
                position += 1;
            });
        } else {
            return self.broken.add(1, line);
        }
        for (column, cell) in cells.into_iter().enumerate() {
            self.push_cell(column, cell);
        }
        self.late.add(late, line);
        self.batch.end_row();
        self.report.rows += 1;
        self.cut.add(std::mem::take(&mut self.batch.cut_cells), line);
    }

    fn push_cell(&mut self, column: usize, cell: Option<&[u8]>) {
        match cell {
            None | Some(b"null") => self.batch.push_missing(column),
            Some(text) if text[0] == b'"' => match unescape(text) {
                Some(text) => self.batch.push(column, text.as_bytes()),
                None => self.batch.push(column, &text[1..text.len() - 1]),
            },
            Some(value) => {
                self.nested[column] |= matches!(value[0], b'{' | b'[');
                self.batch.push(column, value);
            }
        }
    }

    fn finish(&mut self) {
        self.done = true;
        self.rows.text.note(&mut self.report);
        if let Some(reason) = self.rows.damage
            && !self.report.partial()
        {
            self.report.add_damage(RepairKind::DamagedData, reason, None);
        }
        self.broken.note(RepairKind::BrokenRows, &mut self.report);
        self.late.note(RepairKind::LateKeys, &mut self.report);
        self.cut.note(RepairKind::CutCells, &mut self.report);
        let nested = self.nested.iter().filter(|&&nested| nested).count();
        self.report.set(RepairKind::NestedColumns, nested as u64, None);
    }
}

impl TableReader for JsonRows {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while !self.done && !self.batch.is_full() {
            match self.next_row() {
                None => self.finish(),
                Some((line, _)) if self.report.rows == self.max_rows => {
                    let (passed, all) = (self.rows.text.passed_bytes(), self.rows.text.file_bytes());
                    // The rows read for their keys, and this one, come before the current position as well.
                    let rows = self.report.rows + self.sampled.len() as u64 + 1;
                    self.report.end_sample_after(line, rows, passed, all);
                    self.finish();
                }
                Some((line, row)) => self.push_row(line, &row),
            }
        }
        self.batch.finish(!self.done)
    }

    fn report(&self) -> &ReadReport {
        &self.report
    }

    fn declared_types(&self) -> Option<SchemaRef> {
        None
    }
}

/// The keys of the rows, in order of first appearance.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    places: HashMap<Vec<u8>, usize>,
    is_feature: bool,
}

impl Keys {
    /// Adds the keys of an object; returns the length of an array.
    fn add_keys(&mut self, row: &[u8]) -> usize {
        if row[0] == b'[' {
            let mut length = 0;
            elements(row, |_| length += 1);
            return length;
        }
        self.each_member(row, |keys, key, _| {
            if !keys.places.contains_key(key) {
                let name = unescape(key).unwrap_or_else(|| String::from_utf8_lossy(key).into_owned());
                // The same key may be written in two ways, with and without escapes.
                let place = keys.names.iter().rposition(|known| key.contains(&b'\\') && *known == name);
                let place = place.unwrap_or_else(|| {
                    keys.names.push(name);
                    keys.names.len() - 1
                });
                keys.places.insert(key.to_vec(), place);
            }
        });
        0
    }

    fn place<'a>(&mut self, row: &'a [u8], cells: &mut [Option<&'a [u8]>], late: &mut u64) {
        self.each_member(row, |keys, key, value| match keys.places.get(key) {
            Some(&place) => cells[place] = Some(value),
            None => *late += 1,
        });
    }

    fn each_member<'a>(&mut self, row: &'a [u8], mut take: impl FnMut(&mut Keys, &'a [u8], &'a [u8])) {
        if !self.is_feature {
            return members(row, |key, value| take(self, key, value));
        }
        members(row, |key, value| match key {
            b"\"type\"" => {}
            b"\"properties\"" if value[0] == b'{' => members(value, |key, value| take(self, key, value)),
            _ => take(self, key, value),
        });
    }
}

fn is_feature(row: &[u8]) -> bool {
    let (mut is_feature, mut has_properties) = (false, false);
    if row[0] == b'{' {
        members(row, |key, value| {
            is_feature |= key == b"\"type\"" && value == b"\"Feature\"";
            has_properties |= key == b"\"properties\"" && value[0] == b'{';
        });
    }
    is_feature && has_properties
}

/// Headers for rows that are arrays: the first row, which is then removed, if its cells are distinct non-empty texts.
fn position_headers(sampled: &mut Vec<(u64, Vec<u8>)>, width: usize) -> Vec<String> {
    let mut names: Vec<Option<String>> = Vec::new();
    if let Some((_, first)) = sampled.first() {
        elements(first, |value| names.push(unescape(value).filter(|name| !name.trim().is_empty())));
    }
    let mut headers: Vec<String> = names.iter().flatten().cloned().collect();
    let mut different = headers.clone();
    different.sort_unstable();
    different.dedup();
    if headers.len() == names.len() && different.len() == names.len() && sampled.len() > 1 {
        sampled.remove(0);
    } else {
        headers.clear();
    }
    headers.resize(width, String::new());
    headers
}

/// The text of a JSON string; `None` for anything else.
fn unescape(raw: &[u8]) -> Option<String> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return String::from_utf8(inner.to_vec()).ok();
    }
    serde_json::from_slice(raw).ok()
}

fn sample(rows: &mut RawRows, broken: &mut Count) -> Vec<(u64, Vec<u8>)> {
    let mut sampled = Vec::new();
    let mut bytes = 0;
    while sampled.len() < SAMPLE_ROWS && bytes < SAMPLE_BYTES {
        let Some(row) = rows.next_valid(broken) else { break };
        bytes += row.1.len();
        sampled.push(row);
    }
    sampled
}
