//! Rows written in JSON: one value per line, an array of rows, or an object that holds one.
//!
//! Rows are objects (members by name) or arrays (cells by position, named by the first row if that is all text). The
//! columns are those of the first [`SAMPLE_ROWS`] rows, in order of appearance; values under keys that only later rows
//! have are counted and left out. Of several arrays in one document the longest is read. The properties of GeoJSON
//! features become columns, as does their geometry. Numbers stay as written; nested values become JSON text.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use serde::de::IgnoredAny;

use super::batch::TextBatch;
use super::decode::Text;
use super::header::name_columns;
use super::json_scan::{elements, locate_rows, members, skip_blank, value_end};
use super::report::{ReadReport, RepairKind};
use super::row_reader::Count;
use super::{Column, ReadOptions, TableReader};
use lakeward_core::error::{Error, Result};

/// Rows, and bytes of rows, from which the columns are determined.
const SAMPLE_ROWS: usize = 10_000;
const SAMPLE_BYTES: usize = 8 << 20;
/// Longest row, in bytes; a longer one is left out.
const MOST_ROW_BYTES: usize = 16 << 20;

/// The layout of the rows according to the file's name; the content may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Lines,
    Document,
    /// A document that is one of the files of a table: without an array of rows, it is a row.
    Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Lines,
    /// Inside the brackets of an array.
    Array,
    /// Objects one after the other, over any number of lines.
    Sequence,
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
    /// Those of [`Text::open`]; [`Error::Unreadable`] where no value is a row, and for too many columns.
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

/// The rows of a text as raw JSON.
struct RawRows {
    text: Text,
    layout: Layout,
    /// The line (of [`Layout::Lines`]) or row last returned, from 1.
    line: u64,
    damage: Option<&'static str>,
    ended: bool,
}

enum Raw {
    Row(Vec<u8>),
    TooLong,
    End,
}

impl RawRows {
    fn open(path: &Path, shape: Shape, report: &mut ReadReport) -> Result<RawRows> {
        let mut text = Text::open(path)?;
        let blank = skip_blank(text.window(), 0);
        let is_array = text.window().get(blank) == Some(&b'[');
        let layout = if has_rows_in_lines(text.window()) {
            Layout::Lines
        } else if is_array {
            text.consume(blank + 1);
            Layout::Array
        } else if shape == Shape::Lines {
            Layout::Lines
        } else if is_sequence(text.window()) {
            Layout::Sequence
        } else {
            let located = locate_rows(&mut text);
            let reason = text.damage().map(|why| format!("damaged compressed stream: {why}"));
            let reason = reason.unwrap_or_else(|| "JSON without an array of rows".into());
            let is_row = shape == Shape::Part && text.damage().is_none();
            match located.start {
                Some(start) => {
                    report.add(RepairKind::OtherArrays, located.arrays - 1, None);
                    text = skip_to(path, start)?;
                    Layout::Array
                }
                None if is_row => {
                    text = Text::open(path)?;
                    Layout::Sequence
                }
                None => return Err(Error::unreadable(path, reason)),
            }
        };
        Ok(RawRows { text, layout, line: 0, damage: None, ended: false })
    }

    /// The next object or array, with its line or number; other values are counted in `broken`.
    fn next_valid(&mut self, broken: &mut Count) -> Option<(u64, Vec<u8>)> {
        loop {
            let raw = match self.layout {
                Layout::Lines => self.next_line(),
                Layout::Array | Layout::Sequence => self.next_element(),
            };
            match raw {
                Raw::End => return None,
                Raw::Row(row) if matches!(row.first(), Some(b'{' | b'[')) && is_valid(&row) => {
                    return Some((self.line, row));
                }
                Raw::Row(row) if row.is_empty() => {}
                Raw::Row(_) | Raw::TooLong => broken.add(1, self.line),
            }
        }
    }

    fn next_line(&mut self) -> Raw {
        let mut too_long = false;
        let mut searched = 0;
        loop {
            let window = self.text.window();
            let found = memchr::memchr(b'\n', &window[searched..]).map(|at| searched + at);
            if found.is_none() && !self.text.at_end() {
                searched = window.len();
                if searched > MOST_ROW_BYTES {
                    too_long = true;
                    self.text.consume(searched);
                    searched = 0;
                }
                self.text.fill();
                continue;
            }
            if window.is_empty() && found.is_none() {
                return if too_long { self.skipped() } else { Raw::End };
            }
            let is_incomplete = found.is_none() && self.text.damage().is_some();
            let end = found.unwrap_or(window.len());
            let line = window[..end].trim_ascii().to_vec();
            self.text.consume(end + 1);
            self.line += 1;
            return match () {
                () if is_incomplete => Raw::End,
                () if too_long => Raw::TooLong,
                () => Raw::Row(line),
            };
        }
    }

    fn skipped(&mut self) -> Raw {
        self.line += 1;
        Raw::TooLong
    }

    fn next_element(&mut self) -> Raw {
        if self.ended {
            return Raw::End;
        }
        loop {
            let window = self.text.window();
            let is_gap = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
            let start = window.iter().position(|byte| !is_gap(byte)).unwrap_or(window.len());
            if window.get(start) == Some(&b']') && self.layout == Layout::Array {
                self.ended = true;
                return Raw::End;
            }
            if let Some(end) = value_end(window, start) {
                let row = window[start..end].to_vec();
                self.text.consume(end);
                self.line += 1;
                return Raw::Row(row);
            }
            if self.text.at_end() {
                self.ended = true;
                let is_incomplete = start < window.len();
                if is_incomplete || self.layout == Layout::Array {
                    self.damage = Some("the document breaks off");
                }
                return Raw::End;
            }
            if window.len() - start > MOST_ROW_BYTES {
                return self.skip_long_element();
            }
            self.text.consume(start);
            self.text.fill();
        }
    }

    /// Skips an element that does not fit into the window.
    fn skip_long_element(&mut self) -> Raw {
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        loop {
            let window = self.text.window();
            let mut end = None;
            for (at, &byte) in window.iter().enumerate() {
                if in_string {
                    (escaped, in_string) = (byte == b'\\' && !escaped, byte != b'"' || escaped);
                    continue;
                }
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth <= 1 => end = Some(at + usize::from(depth == 1)),
                    b'}' | b']' => depth -= 1,
                    b',' if depth == 0 => end = Some((at + 1).min(window.len())).filter(|_| at > 0),
                    _ => {}
                }
                if end.is_some() {
                    break;
                }
            }
            let passed = end.unwrap_or(window.len());
            self.text.consume(passed);
            if end.is_some() || self.text.at_end() {
                return self.skipped();
            }
            self.text.fill();
        }
    }
}

fn is_valid(row: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(row).is_ok()
}

/// Whether the text at `path` has a row in each of its first two lines; false where it cannot be read.
pub(super) fn is_lines(path: &Path) -> bool {
    Text::open(path).is_ok_and(|text| has_rows_in_lines(text.window()))
}

fn has_rows_in_lines(window: &[u8]) -> bool {
    let start = skip_blank(window, 0);
    let Some(end) = memchr::memchr(b'\n', &window[start..]).map(|at| start + at) else { return false };
    is_valid(&window[start..end]) && matches!(window.get(skip_blank(window, end)), Some(b'{' | b'['))
}

/// Whether one object follows another: NDJSON with objects over several lines each.
fn is_sequence(window: &[u8]) -> bool {
    let start = skip_blank(window, 0);
    let end = (window.get(start) == Some(&b'{')).then(|| value_end(window, start)).flatten();
    end.is_some_and(|end| window.get(skip_blank(window, end)) == Some(&b'{'))
}

fn skip_to(path: &Path, start: u64) -> Result<Text> {
    let path: PathBuf = path.to_path_buf();
    let mut text = Text::open(&path)?;
    let mut left = start;
    while left > 0 {
        let step = text.window().len().min(usize::try_from(left).unwrap_or(usize::MAX));
        text.consume(step);
        left -= step as u64;
        if text.window().is_empty() {
            if text.at_end() {
                break;
            }
            text.fill();
        }
    }
    Ok(text)
}
