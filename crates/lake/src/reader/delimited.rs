//! Delimited text: CSV and its variants.
//!
//! Opening sniffs the head ([`super::sniff`]) and repairs the header; reading cuts records ([`super::split`]) and copies
//! their cells straight into columns. Every cell stays text as written. A row with too few cells gets nulls, one with too
//! many loses the surplus, which is counted. Notes in rows of their own at the very end (`Source: census`) are reported and are no rows;
//! nothing else is ever dropped.

use std::path::Path;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::batch::TextBatch;
use super::decode::Text;
use super::giant::{GiantLimits, GiantRecord};
use super::header::{fit_header, name_columns};
use super::report::{Dialect, ReadReport, RepairKind};
use super::row_reader::{Count, Records, Step};
use super::sniff::{self, Known, Sniffed};
use super::split::Splitter;
use super::{Column, ReadOptions, TableReader};
use lakeward_core::error::{Error, Result};

/// The sample for sniffing grows up to this size, in bytes, until it holds a few whole rows.
const MOST_HEAD_BYTES: usize = 4 << 20;
const PREAMBLE_LINES_KEPT: usize = 20;
const PREAMBLE_CHARS_KEPT: usize = 500;
/// Notes at the end of a table; more such rows are rows.
const MOST_NOTES: usize = 20;
/// Words that make a note of a row of one cell.
const LEAST_NOTE_WORDS: usize = 4;

/// A reader of delimited text.
pub(super) struct Delimited {
    records: Records,
    columns: Vec<Column>,
    batch: TextBatch,
    pub(super) report: ReadReport,
    max_rows: u64,
    short: Count,
    long: Count,
    cut: Count,
    scratch: Vec<u8>,
    /// The last rows of the batch where they look like notes: their texts, and the line of the first.
    notes: Vec<String>,
    notes_line: u64,
    /// How many of them are shorter than the header.
    short_notes: u64,
    /// Whether so many rows look like notes that they are the table.
    too_many_notes: bool,
    done: bool,
}

impl Delimited {
    /// Opens `path`; a text with fewer than `least_columns` columns is not a table.
    ///
    /// # Errors
    /// Those of [`Text::open`]; [`Error::Unreadable`] for JSON, for text without rows, and for too many columns.
    pub(super) fn open(path: &Path, options: &ReadOptions, least_columns: usize) -> Result<Delimited> {
        Delimited::read(Text::open(path)?, path, options, least_columns)
    }

    /// Reads an opened text, whose file is `path`.
    ///
    /// # Errors
    /// As [`Delimited::open`], except those of [`Text::open`].
    pub(super) fn read(mut text: Text, path: &Path, options: &ReadOptions, least_columns: usize) -> Result<Delimited> {
        let sniffed = sniff_text(path, &mut text, options).map_err(|reason| Error::unreadable(path, reason))?;
        Delimited::sniffed(text, &sniffed, path, options, least_columns)
    }

    /// Reads rows of comma-separated text that this program has written from the file `path`; their dialect is not reported.
    ///
    /// # Errors
    /// As [`Delimited::read`].
    pub(super) fn read_rows(mut text: Text, path: &Path, options: &ReadOptions) -> Result<Delimited> {
        fill_head(&mut text);
        let known = Known { delimiter: Some(b','), header: options.header, implied: None, plain: true };
        let sniffed = sniff::sniff(text.window(), text.at_end(), known);
        let mut table = Delimited::sniffed(text, &sniffed, path, options, 1)?;
        table.report.dialect = None;
        Ok(table)
    }

    fn sniffed(
        mut text: Text,
        sniffed: &Sniffed,
        path: &Path,
        options: &ReadOptions,
        least_columns: usize,
    ) -> Result<Delimited> {
        let mut report = ReadReport::default();
        let lines = take_preamble(&mut text, sniffed, &mut report);
        let splitter = Splitter::new(sniffed.delimiter, sniffed.quote, sniffed.backslash);
        let limits = GiantLimits { cell_bytes: options.max_cell_bytes, max_cells: options.max_columns };
        let mut records = Records::new(text, splitter, lines + 1, limits);
        let columns = take_columns(&mut records, sniffed, &mut report);
        let columns = columns.ok_or_else(|| Error::unreadable(path, records.reason_for_no_record()))?;
        if columns.len() < least_columns {
            return Err(Error::unreadable(path, "text without columns"));
        }
        if columns.len() > options.max_columns {
            let reason = format!("{} columns, more than the limit of {}", columns.len(), options.max_columns);
            return Err(Error::unreadable(path, reason));
        }
        records.expect_cells(columns.len());
        records.note(&mut report);
        let mut batch = TextBatch::new(&columns, options.batch_limits());
        let ahead = records.window();
        batch.expect(memchr::memchr_iter(b'\n', ahead).count(), ahead.len());
        let (short, long, cut) = Default::default();
        let max_rows = options.max_rows.unwrap_or(u64::MAX);
        let (scratch, notes) = Default::default();
        let (notes_line, short_notes, too_many_notes, done) = Default::default();
        Ok(Delimited {
            records,
            columns,
            batch,
            report,
            max_rows,
            short,
            long,
            cut,
            scratch,
            notes,
            notes_line,
            short_notes,
            too_many_notes,
            done,
        })
    }

    #[inline]
    fn push_row(&mut self) {
        let width = self.columns.len();
        match self.note() {
            None => {
                self.too_many_notes = false;
                self.keep_notes();
            }
            Some(_) if self.notes.len() == MOST_NOTES => {
                self.too_many_notes = true;
                self.keep_notes();
            }
            Some(note) if !self.too_many_notes => {
                if self.notes.is_empty() {
                    self.notes_line = self.records.line();
                }
                self.short_notes += u64::from(self.records.spans().len() < width);
                self.notes.push(note);
            }
            Some(_) => {}
        }
        let spans = self.records.spans();
        for (column, &span) in spans.iter().take(width).enumerate() {
            self.batch.push(column, self.records.cell(span, &mut self.scratch));
        }
        if spans.len() < width {
            (spans.len()..width).for_each(|column| self.batch.push_missing(column));
            self.short.add(u64::from(self.notes.is_empty()), self.records.line());
        } else if spans.len() > width {
            let window = self.records.window();
            let is_filled = |cell: &[u8]| !cell.trim_ascii().is_empty();
            let surplus = spans[width..].iter().any(|span| is_filled(&window[span.start..span.end]));
            self.long.add(u64::from(surplus), self.records.line());
        }
        self.end_row();
    }

    /// The note that the current record is, if its only cell with a value is the first and reads like one.
    #[inline]
    fn note(&self) -> Option<String> {
        let (first, rest) = self.records.spans().split_first()?;
        let window = self.records.window();
        if self.columns.len() < 2 || rest.iter().any(|span| span.end > span.start) {
            return None;
        }
        let text = String::from_utf8_lossy(&window[first.start..first.end]);
        let text = text.trim().trim_matches('"').trim();
        let lower = text.to_lowercase();
        let marked = ["source", "note", "footnote", "*", "†", "‡", "[1]", "[2]", "[3]", "(1)", "(2)", "(3)"];
        let marked = marked.iter().any(|mark| lower.starts_with(mark)) && text.contains(' ');
        // A sentence in a row of one cell; beside delimiters it may be a long name whose figures are all missing.
        let is_sentence = rest.is_empty() && text.split_whitespace().count() >= LEAST_NOTE_WORDS;
        (marked || is_sentence).then(|| text.chars().take(PREAMBLE_CHARS_KEPT).collect())
    }

    /// Rows come below what looked like notes: they are rows as well.
    #[inline]
    fn keep_notes(&mut self) {
        if !self.notes.is_empty() {
            self.short.add(self.short_notes, self.notes_line);
            self.notes.clear();
            self.short_notes = 0;
        }
    }

    fn push_giant(&mut self, record: &GiantRecord) {
        self.keep_notes();
        let width = self.columns.len();
        record.cells.iter().take(width).enumerate().for_each(|(column, cell)| self.batch.push(column, cell));
        (record.cells.len()..width).for_each(|column| self.batch.push_missing(column));
        let line = self.records.line();
        self.short.add(u64::from(record.cells.len() < width), line);
        let surplus = record.extra_cells > 0 || record.cells.iter().skip(width).any(|cell| !cell.is_empty());
        self.long.add(u64::from(surplus), line);
        self.cut.add(record.cut_cells, line);
        self.end_row();
    }

    #[inline]
    fn end_row(&mut self) {
        self.batch.end_row();
        self.report.rows += 1;
        let cut = std::mem::take(&mut self.batch.cut_cells);
        if cut > 0 {
            self.cut.add(cut, self.records.line());
        }
    }

    /// The table ends: its last rows are notes, unless it has no others.
    fn drop_notes(&mut self) {
        let notes = std::mem::take(&mut self.notes);
        let count = notes.len() as u64;
        if count == 0 || count == self.report.rows {
            self.short.add(self.short_notes, self.notes_line);
            return;
        }
        self.batch.drop_rows(notes.len());
        self.report.rows -= count;
        self.report.add(RepairKind::NoteRows, count, Some(self.notes_line));
        self.report.notes = notes;
    }

    fn finish(&mut self) {
        self.done = true;
        self.records.note(&mut self.report);
        self.short.note(RepairKind::ShortRows, &mut self.report);
        self.long.note(RepairKind::LongRows, &mut self.report);
        self.cut.note(RepairKind::CutCells, &mut self.report);
    }
}

impl TableReader for Delimited {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        // What may be notes stays in the batch until it is known.
        while !self.done && (!self.batch.is_full() || !self.notes.is_empty()) {
            let step = self.records.step();
            if matches!(step, Step::End) {
                self.drop_notes();
                self.finish();
            } else if self.report.rows == self.max_rows {
                let (passed, all) = self.records.progress();
                self.keep_notes();
                self.report.end_sample_after(self.records.line(), self.report.rows, passed, all);
                self.finish();
            } else if let Step::Giant(record) = step {
                self.push_giant(&record);
            } else {
                self.push_row();
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

/// Whether the head of a text splits into at least two columns.
pub(super) fn looks_delimited(path: &Path) -> bool {
    let options = ReadOptions::default();
    Text::open(path)
        .is_ok_and(|mut text| sniff_text(path, &mut text, &options).is_ok_and(|found| found.delimiter.is_some()))
}

fn fill_head(text: &mut Text) {
    while !sniff::is_enough(text.window(), text.at_end()) && text.window().len() < MOST_HEAD_BYTES {
        text.fill();
    }
}

fn sniff_text(path: &Path, text: &mut Text, options: &ReadOptions) -> Result<Sniffed, &'static str> {
    fill_head(text);
    let start = text.window().trim_ascii_start();
    if is_json(start) {
        return Err("a JSON document");
    }
    if start.is_empty() && text.at_end() {
        return Err("no text in it");
    }
    let implied = implied_delimiter(path);
    let known = Known { delimiter: options.delimiter, header: options.header, implied, plain: false };
    Ok(sniff::sniff(text.window(), text.at_end(), known))
}

fn implied_delimiter(path: &Path) -> Option<u8> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let is_named = |extensions: &[&str]| extensions.iter().any(|extension| name.contains(extension));
    match () {
        () if is_named(&[".csv"]) => Some(b','),
        () if is_named(&[".tsv", ".tab"]) => Some(b'\t'),
        () if is_named(&[".psv"]) => Some(b'|'),
        () => None,
    }
}

/// `{"key": …` or `[{…`, over one or more lines.
fn is_json(start: &[u8]) -> bool {
    let Some((&first, rest)) = start.split_first() else { return false };
    let rest = rest.trim_ascii_start();
    match first {
        b'{' => rest.starts_with(b"\"") && rest.iter().take(200).any(|&byte| byte == b':'),
        b'[' => rest.starts_with(b"{"),
        _ => false,
    }
}

/// Reports and skips the lines above the table; returns how many.
fn take_preamble(text: &mut Text, sniffed: &Sniffed, report: &mut ReadReport) -> u64 {
    let above = String::from_utf8_lossy(&text.window()[..sniffed.table_start]);
    let above = above.replace("\r\n", "\n").replace('\r', "\n");
    let lines = above.lines().count() as u64;
    let cut = |line: &str| line.trim().chars().take(PREAMBLE_CHARS_KEPT).collect::<String>();
    report.preamble = above.lines().map(cut).filter(|line| !line.is_empty()).take(PREAMBLE_LINES_KEPT).collect();
    report.dialect = Some(Dialect {
        delimiter: sniffed.delimiter.map(char::from),
        quote: sniffed.quote.map(char::from),
        backslash_escapes: sniffed.backslash,
        encoding: text.encoding().to_string(),
        header: sniffed.header,
        preamble_lines: lines,
    });
    text.consume(sniffed.table_start);
    lines
}

/// Reads the header, or names the columns by position; `None` when there is no record at all.
fn take_columns(records: &mut Records, sniffed: &Sniffed, report: &mut ReadReport) -> Option<Vec<Column>> {
    if !sniffed.header {
        // Without a header no cell of the sample is surplus.
        let width = sniffed.widths.iter().map(|width| width.used).max().unwrap_or(0).max(1);
        return Some(name_columns(vec![String::new(); width], &mut ReadReport::default(), None));
    }
    let mut written = match records.step() {
        Step::Row => {
            let mut scratch = Vec::new();
            let cells = records.spans().iter().map(|&span| lossless(records.cell(span, &mut scratch)));
            cells.collect::<Vec<String>>()
        }
        Step::Giant(record) => record.cells.iter().map(|cell| lossless(cell)).collect(),
        Step::End => return None,
    };
    let line = records.line();
    if let Some(first) = written.first_mut()
        && sniffed.hash_header
        && first.trim() != "#"
    {
        *first = first.trim_start_matches('#').to_string();
    }
    let written = fit_header(written, &sniffed.widths, report, line);
    Some(name_columns(written, report, Some(line)))
}

/// The window is valid UTF-8 and is cut beside ASCII only, so nothing is lost here.
fn lossless(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).into_owned()
}
