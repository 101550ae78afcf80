//! The report on reading a file: the dialect found, and every repair made, counted.
//!
//! A reader never drops or changes anything silently: everything it did is a [`Repair`] here. [`ReadReport::partial`] tells
//! whether rows of the file are missing from the result.

use std::fmt;

use lakeward_core::answer::in_order;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KnownColumns;

/// How a delimited text is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Dialect {
    /// The delimiter between cells; `None` for a text of one column, whose lines are not split.
    pub delimiter: Option<char>,
    /// The quote around cells that contain delimiters or line ends; `None` where quotes are ordinary characters.
    pub quote: Option<char>,
    /// Whether `\"` stands for a quote inside a quoted cell (`""` always does).
    pub backslash_escapes: bool,
    /// WHATWG name of the encoding: `UTF-8`, `UTF-16LE`, `windows-1252`, …
    pub encoding: String,
    /// Whether the first row names the columns; if not, they are named `column_1`, `column_2`, ….
    pub header: bool,
    /// Number of lines above the table: a title, notes, comments.
    pub preamble_lines: u64,
}

/// Something a reader had to repair or leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// Rows with fewer cells than columns; the missing cells are null.
    ShortRows,
    /// Rows with more non-empty cells than columns; those cells are not in the table.
    LongRows,
    /// Columns added for cells that many rows have beyond the header: `extra_1`, `extra_2`, ….
    ExtraColumns,
    /// The header lacks the first column's name (R's row names); the column is named `column_1`.
    RowNames,
    /// Columns renamed because an earlier one has the same name.
    DuplicateHeaders,
    /// Columns named by position because their header is empty.
    EmptyHeaders,
    /// Notes in rows of their own at the end of the table; they are no rows of it.
    NoteRows,
    /// NUL bytes removed.
    NulBytes,
    /// Empty lines skipped.
    BlankLines,
    /// Quotes that open a cell and never close; they were read as ordinary characters.
    UnclosedQuotes,
    /// The encoding is neither declared nor UTF-8; it was guessed.
    GuessedEncoding,
    /// Bytes that the encoding does not allow; each was read as Windows-1252, or as `U+FFFD` in UTF-16 and the like.
    UndecodableBytes,
    /// Lines whose end (LF, CR LF, CR) is not the file's usual one.
    MixedLineEnds,
    /// Cells longer than [`ReadOptions::max_cell_bytes`](super::ReadOptions), cut there.
    CutCells,
    /// Columns of lists, maps or structures, given as JSON text.
    NestedColumns,
    /// Names of merged cells above several columns, put before the names of those.
    MergedHeaders,
    /// Cells of a workbook whose formula has an error in place of a value; they are missing.
    ErrorCells,
    /// Last rows that repeat the sums of the rows above; left out.
    TotalRows,
    /// Rows of notes below a table of a workbook; left out.
    NotesBelow,
    /// JSON rows that are broken, or of another shape than the rest; left out.
    BrokenRows,
    /// JSON values under keys that the first rows do not have; left out.
    LateKeys,
    /// Other arrays of rows in the same JSON document; left out.
    OtherArrays,
    /// The compressed stream ends or breaks early; the rows before are kept.
    TruncatedStream,
    /// The rest of the file is damaged or cannot be read; the rows before are kept.
    DamagedData,
    /// Changes that another program has written beside a database and not into it yet; left out.
    PendingChanges,
    /// Files of a table whose columns differ from those of the files before; what a file lacks is missing.
    DriftingColumns,
    /// Files of a table that cannot be read; left out.
    UnreadableParts,
    /// Files of a table with a log that delete rows by their values; not applied, so that rows may be there that are deleted.
    DeletesByValue,
    /// Reading stopped at [`ReadOptions::max_rows`](super::ReadOptions).
    RowLimit,
    /// Columns, or members of their values, whose type cannot be read; left out.
    UnreadableColumns,
}

impl RepairKind {
    /// Whether rows or cells of the file are missing from the result.
    pub fn loses_data(self) -> bool {
        use RepairKind::*;
        self.loses_rows() || matches!(self, LongRows | CutCells | LateKeys | UnreadableColumns)
    }

    /// Whether columns are counted.
    pub(super) fn is_of_columns(self) -> bool {
        use RepairKind::*;
        matches!(self, ExtraColumns | RowNames | DuplicateHeaders | EmptyHeaders | NestedColumns | UnreadableColumns)
    }

    /// Whether rows of the file are missing from the result.
    pub fn loses_rows(self) -> bool {
        use RepairKind::*;
        matches!(
            self,
            BrokenRows | OtherArrays | TruncatedStream | DamagedData | PendingChanges | UnreadableParts | RowLimit
        )
    }
}

/// One kind of repair, counted over the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[schemars(transform = in_order::<Self>)]
pub struct Repair {
    /// What was done.
    pub kind: RepairKind,
    /// How often: rows, cells, columns, bytes or lines, depending on the kind.
    pub count: u64,
    /// The line of the file (from 1) of the first one; the row for formats without lines.
    pub first_line: Option<u64>,
    /// The decoder's reason, for damage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RepairKind::*;
        let many = |one: &str, more: &str| counted(self.count, one, more);
        match self.kind {
            ShortRows => write!(f, "{} shorter than the header", many("row is", "rows are"))?,
            LongRows => write!(f, "{} more cells than columns, left out", many("row has", "rows have"))?,
            ExtraColumns => write!(f, "{} added for cells beyond the header", many("column was", "columns were"))?,
            RowNames => write!(f, "the first column has no place in the header; taken as row names")?,
            DuplicateHeaders => write!(f, "{} renamed, the name was taken", many("column was", "columns were"))?,
            EmptyHeaders => write!(f, "{} no name in the header", many("column has", "columns have"))?,
            NoteRows => write!(f, "{} below the table, read as notes and not as rows", many("line is", "lines are"))?,
            NulBytes => write!(f, "{} removed", many("NUL byte was", "NUL bytes were"))?,
            BlankLines => write!(f, "{} skipped", many("empty line was", "empty lines were"))?,
            UnclosedQuotes => write!(f, "{} never closed, read as text", many("quote is", "quotes are"))?,
            GuessedEncoding => write!(f, "the encoding is not declared, it was guessed")?,
            UndecodableBytes => write!(f, "{} not valid in the encoding", many("byte is", "bytes are"))?,
            MixedLineEnds => write!(f, "{} unlike the others", many("line ends", "lines end"))?,
            CutCells => write!(f, "{} cut at the length limit", many("cell was", "cells were"))?,
            NestedColumns => write!(f, "{} nested values, given as JSON text", many("column has", "columns have"))?,
            MergedHeaders => write!(f, "{} of merged cells put before names", many("row of names", "rows of names"))?,
            ErrorCells => write!(f, "{} an error of its formula, read as missing", many("cell has", "cells have"))?,
            TotalRows => write!(f, "{} the sums of the rows above, left out", many("row repeats", "rows repeat"))?,
            NotesBelow => write!(f, "{} below the table left out", many("row of notes", "rows of notes"))?,
            BrokenRows => write!(f, "{} broken and left out", many("row is", "rows are"))?,
            LateKeys => write!(f, "{} under keys unknown to the first rows, left out", many("value is", "values are"))?,
            OtherArrays => write!(f, "{} of rows in the document left out", many("other array", "other arrays"))?,
            TruncatedStream => write!(f, "the compressed stream breaks off; the rows up to there are kept")?,
            DamagedData => write!(f, "the file is damaged; the rows up to there are kept")?,
            PendingChanges => write!(f, "changes beside the file, not written into it yet, are left out")?,
            DriftingColumns => {
                write!(f, "{} columns unlike those of the files before", many("file has", "files have"))?
            }
            UnreadableParts => write!(f, "{} cannot be read and left out", many("file", "files"))?,
            DeletesByValue => {
                write!(f, "{} rows by their values, which is not applied", many("file deletes", "files delete"))?
            }
            RowLimit => write!(f, "reading stopped at the row limit")?,
            UnreadableColumns => write!(f, "{} cannot be read and left out", many("column", "columns"))?,
        }
        if let Some(line) = self.first_line {
            write!(f, " (line {line}{})", if self.count > 1 { " first" } else { "" })?;
        }
        self.detail.as_ref().map_or(Ok(()), |detail| write!(f, ": {detail}"))
    }
}

fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// The part of a table that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Sample {
    /// Number of rows, from the first on.
    pub rows: u64,
    /// Rows of the whole file, as declared by the file or estimated from its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_rows: Option<u64>,
    /// Whether `total_rows` is an estimate from the bytes that the sample takes.
    pub estimated: bool,
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the first {} rows", self.rows)?;
        let about = if self.estimated { "about " } else { "" };
        self.total_rows.map_or(Ok(()), |total| write!(f, " of {about}{total}"))
    }
}

/// The files that a table was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct PartsRead {
    /// How many.
    pub files: u64,
    /// Columns whose values are in the files' paths.
    pub keys: Vec<String>,
    /// Why they are one table, in one clause.
    pub reason: String,
    /// Names and types of the columns that any file has, where not all have the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drifting: Vec<(String, String)>,
}

impl fmt::Display for PartsRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as one table: {}", counted(self.files, "file", "files"), self.reason)
    }
}

/// The report on reading one file; final once the reader has returned its last batch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct ReadReport {
    /// Rows returned.
    pub rows: u64,
    /// Bytes read from disk (packed, where the file is).
    pub read_bytes: u64,
    /// How the text is written; `None` for formats other than delimited text.
    pub dialect: Option<Dialect>,
    /// The lines above the table as written, at most 20 of at most 500 characters: often its title and source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preamble: Vec<String>,
    /// The notes below the table as written, at most 20 of at most 500 characters: often its source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The part that was read, where a row limit ended reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// The files of the table, where it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<PartsRead>,
    /// What was repaired or left out, one entry per kind, in order of [`RepairKind`].
    pub repairs: Vec<Repair>,
}

impl ReadReport {
    /// Whether rows of the file are missing from the result.
    pub fn partial(&self) -> bool {
        self.repairs.iter().any(|repair| repair.kind.loses_rows())
    }

    /// Whether requested rows are missing: rows beyond a row limit are not requested.
    pub fn lost_rows(&self) -> bool {
        self.repairs.iter().any(|repair| repair.kind.loses_rows() && repair.kind != RepairKind::RowLimit)
    }

    /// Records that a row limit ended reading at `line`, in a file of `total_rows` rows.
    pub(super) fn end_sample(&mut self, line: u64, total_rows: Option<u64>) {
        self.add(RepairKind::RowLimit, 1, Some(line));
        self.sample = Some(Sample { rows: self.rows, total_rows, estimated: false });
    }

    /// As [`ReadReport::end_sample`], in a file of `file_bytes` bytes of which `rows` rows take `bytes`.
    pub(super) fn end_sample_after(&mut self, line: u64, rows: u64, bytes: u64, file_bytes: u64) {
        let total = (rows as f64 * file_bytes as f64 / bytes.max(1) as f64).round() as u64;
        // There is at least one more row.
        self.end_sample(line, Some(total.max(rows + 1)).filter(|_| bytes > 0));
        if let Some(sample) = &mut self.sample {
            sample.estimated = sample.total_rows.is_some();
        }
    }

    /// The repair of this kind, if one was made.
    pub fn repair(&self, kind: RepairKind) -> Option<&Repair> {
        self.repairs.iter().find(|repair| repair.kind == kind)
    }

    /// The columns of the table's files, if it has several; `None` where they have to be looked at again.
    pub fn known_columns(&self) -> Option<KnownColumns> {
        if self.count(RepairKind::DriftingColumns) == 0 {
            return Some(KnownColumns::Alike);
        }
        let columns = self.parts.as_ref().map(|parts| &parts.drifting).filter(|columns| !columns.is_empty())?;
        Some(KnownColumns::OfAll(columns.as_slice().into()))
    }

    /// How often a repair of this kind was made.
    pub fn count(&self, kind: RepairKind) -> u64 {
        self.repair(kind).map_or(0, |repair| repair.count)
    }

    /// Adds `count` repairs, the first of them at `line`.
    pub(super) fn add(&mut self, kind: RepairKind, count: u64, line: Option<u64>) {
        if count == 0 {
            return;
        }
        match self.repairs.binary_search_by_key(&kind, |repair| repair.kind) {
            Ok(at) => self.repairs[at].count += count,
            Err(at) => self.repairs.insert(at, Repair { kind, count, first_line: line, detail: None }),
        }
    }

    /// Sets the count of a repair that the caller counts itself.
    pub(super) fn set(&mut self, kind: RepairKind, count: u64, line: Option<u64>) {
        self.repairs.retain(|repair| repair.kind != kind);
        self.add(kind, count, line);
    }

    /// Describes a repair that has no description yet.
    pub(super) fn describe(&mut self, kind: RepairKind, detail: &str) {
        if let Ok(at) = self.repairs.binary_search_by_key(&kind, |repair| repair.kind) {
            self.repairs[at].detail.get_or_insert_with(|| detail.to_string());
        }
    }

    /// Records damage of the file with its reason.
    pub(super) fn add_damage(&mut self, kind: RepairKind, reason: &str, line: Option<u64>) {
        self.add(kind, 1, line);
        self.describe(kind, reason);
    }
}
