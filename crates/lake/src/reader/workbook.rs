//! Workbooks (`.xlsx`, `.xlsm`, `.xlsb`, `.xls`, `.ods`): each table of a sheet as delimited text.
//!
//! A sheet is cut into the regions that are tables ([`regions`]); a region is written as text to a temporary file, which the
//! reader of delimited text reads: titles above a table, names of columns and types are then found as in any other text. What
//! text cannot show is done here: the names of merged cells above several columns are put before theirs ([`header`]), and a
//! last row that repeats the sums of its columns is left out ([`totals`]). Before calamine opens a file, it is unpacked to
//! nothing, so that its true size is known ([`bounds`]).

mod bounds;
mod header;
mod regions;
mod totals;

use std::io::{BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use calamine::{Data, DataRef, ExcelDateTime, Ods, Range, Reader, Xls, Xlsb, Xlsx};
use tempfile::SpooledTempFile;

use self::bounds::Kind;
use self::header::HeadRow;
use self::regions::{Region, RowRuns, tables_of};
use self::totals::Totals;
use super::decode::Text;
use super::delimited::Delimited;
use super::report::RepairKind;
use super::typed::guarded;
use super::{ReadOptions, TableReader};
use crate::location::part_name;
use crate::storage::{self, File};
use lakeward_core::error::{Error, Result};

/// Bytes of a region's text held in memory; longer ones go to the disk.
const IN_MEMORY_BYTES: usize = 8 << 20;
/// Rows at the top of a region among which its names are looked for.
const HEAD_ROWS: usize = 12;

/// The names of the tables in the workbook at `path`: the sheet's name for its first table, `Sheet!B7` (its upper left cell) for
/// the others. The whole workbook is read.
///
/// # Errors
/// [`Error::Unreadable`]: no workbook, damaged, with a password, or too large when unpacked.
pub(super) fn tables(path: &Path) -> Result<Vec<String>> {
    let mut book = Book::open(path)?;
    let mut names = Vec::new();
    for sheet in book.sheets() {
        names.extend(book.regions(path, &sheet)?.into_iter().map(|(name, _)| name));
    }
    Ok(names)
}

/// Opens the table `name` of the workbook at `path`; without a name, its only table.
///
/// # Errors
/// As [`tables`]; [`Error::Unreadable`] where there is no such table.
pub(super) fn open(path: &Path, name: Option<&str>, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let mut book = Book::open(path)?;
    let (mut names, mut places) = (Vec::new(), Vec::new());
    for sheet in book.sheets() {
        // The sheet's name begins that of its tables.
        if name.is_none_or(|name| name.starts_with(&part_name(&sheet))) {
            for (table, region) in book.regions(path, &sheet)? {
                names.push(table.clone());
                places.push((table, sheet.clone(), region));
            }
        }
    }
    if names.is_empty() && name.is_some() {
        names = tables(path)?;
    }
    let chosen = super::chosen_table(path, name, names)?;
    match places.into_iter().find(|(table, ..)| *table == chosen) {
        Some((_, sheet, region)) => book.read(path, &sheet, region, options),
        None => Err(Error::unreadable(path, "it has changed while it was read")),
    }
}

/// Columns of a sheet in any of the formats.
const MOST_COLUMNS: u32 = 16_384;

/// An opened workbook.
enum Book {
    Xlsx(Box<Xlsx<BufReader<File>>>),
    Xlsb(Box<Xlsb<BufReader<File>>>),
    Xls(Box<Xls<BufReader<File>>>),
    Ods(Box<Ods<BufReader<File>>>),
}

/// A cell with a value, as text.
struct Cell<'a> {
    row: u32,
    column: u32,
    text: &'a str,
    /// Whether it is text in the workbook, not a number, date or truth value.
    is_text: bool,
    is_error: bool,
}

impl Book {
    fn open(path: &Path) -> Result<Book> {
        let kind = bounds::check(path)?;
        let file = File::open(path).map_err(|source| Error::io("read", path, source))?;
        let file = BufReader::new(file);
        let opened = guarded(|| -> Result<Book, String> {
            Ok(match kind {
                Kind::Xlsx => Book::Xlsx(Box::new(Xlsx::new(file).map_err(said)?)),
                Kind::Xlsb => Book::Xlsb(Box::new(Xlsb::new(file).map_err(said)?)),
                Kind::Xls => Book::Xls(Box::new(Xls::new(file).map_err(said)?)),
                Kind::Ods => Book::Ods(Box::new(Ods::new(file).map_err(said)?)),
            })
        });
        opened.and_then(|opened| opened).map_err(|reason| Error::unreadable(path, reason))
    }

    fn sheets(&self) -> Vec<String> {
        match self {
            Book::Xlsx(book) => book.sheet_names(),
            Book::Xlsb(book) => book.sheet_names(),
            Book::Xls(book) => book.sheet_names(),
            Book::Ods(book) => book.sheet_names(),
        }
    }

    /// Calls `each` with every cell of `sheet` that has a value, in the order of the file.
    fn each_cell(&mut self, sheet: &str, mut each: impl FnMut(Cell<'_>) -> Result<(), String>) -> Result<(), String> {
        let mut written = String::new();
        let mut take = |(row, column): (u32, u32), value: &DataRef<'_>| -> Result<(), String> {
            if column >= MOST_COLUMNS {
                return Err(format!("a cell is in column {column}, a sheet has {MOST_COLUMNS} at most"));
            }
            written.clear();
            let Some((is_text, is_error)) = write_value(value, &mut written) else { return Ok(()) };
            each(Cell { row, column, text: &written, is_text, is_error })
        };
        guarded(|| -> Result<(), String> {
            match self {
                Book::Xlsx(book) => {
                    let mut cells = match book.worksheet_cells_reader(sheet) {
                        Ok(cells) => cells,
                        // Sheets of charts and macros have none.
                        Err(calamine::XlsxError::NotAWorksheet(_)) => return Ok(()),
                        Err(error) => return Err(said(error)),
                    };
                    while let Some(cell) = cells.next_cell().map_err(said)? {
                        take(cell.get_position(), cell.get_value())?;
                    }
                }
                Book::Xlsb(book) => {
                    let mut cells = book.worksheet_cells_reader(sheet).map_err(said)?;
                    while let Some(cell) = cells.next_cell().map_err(said)? {
                        take(cell.get_position(), cell.get_value())?;
                    }
                }
                Book::Xls(book) => each_of_range(&book.worksheet_range(sheet).map_err(said)?, take)?,
                Book::Ods(book) => each_of_range(&book.worksheet_range(sheet).map_err(said)?, take)?,
            }
            Ok(())
        })?
    }

    /// The tables of `sheet` with their names.
    fn regions(&mut self, path: &Path, sheet: &str) -> Result<Vec<(String, Region)>> {
        let mut rows = RowRuns::default();
        self.each_cell(sheet, |cell| rows.push(cell.row, cell.column, cell.is_text))
            .map_err(|reason| Error::unreadable(path, format!("sheet `{sheet}`: {reason}")))?;
        let named = |(at, region): (usize, Region)| {
            let name = if at == 0 { sheet.to_string() } else { format!("{sheet}!{}", region.corner()) };
            (name, region)
        };
        Ok(tables_of(&rows).into_iter().enumerate().map(named).collect())
    }

    /// Writes the cells of `region` as delimited text, and opens that.
    fn read(
        &mut self,
        path: &Path,
        sheet: &str,
        region: Region,
        options: &ReadOptions,
    ) -> Result<Box<dyn TableReader>> {
        let file_bytes = storage::metadata(path).map_or(0, |meta| meta.len());
        let mut writer = RegionWriter::new(region, options);
        self.each_cell(sheet, |cell| writer.take(&cell))
            .and_then(|()| writer.finish())
            .map_err(|reason| Error::unreadable(path, format!("sheet `{sheet}`: {reason}")))?;
        let text = Text::of_rows(Box::new(writer.out), writer.written_bytes, file_bytes);
        let mut table = Delimited::read_rows(text, path, options)?;
        table.report.add(RepairKind::ErrorCells, writer.errors, None);
        table.report.add(RepairKind::TotalRows, writer.total_rows, None);
        table.report.add(RepairKind::NotesBelow, u64::from(region.notes_below), None);
        table.report.add(RepairKind::MergedHeaders, writer.merged_headers, None);
        Ok(Box::new(table))
    }
}

fn each_of_range(
    range: &Range<Data>,
    mut take: impl FnMut((u32, u32), &DataRef<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let Some((top, left)) = range.start() else { return Ok(()) };
    let place = |from: u32, at: usize| from.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
    for (row, column, value) in range.used_cells() {
        let value = match value {
            Data::String(text) => DataRef::SharedString(text),
            Data::Int(number) => DataRef::Int(*number),
            Data::Float(number) => DataRef::Float(*number),
            Data::Bool(truth) => DataRef::Bool(*truth),
            Data::DateTime(time) => DataRef::DateTime(*time),
            Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
            Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
            Data::Error(error) => DataRef::Error(error.clone()),
            _ => DataRef::Empty,
        };
        take((place(top, row), place(left, column)), &value)?;
    }
    Ok(())
}

/// Appends `value` as text; whether it is text and whether an error, `None` for an empty cell.
fn write_value(value: &DataRef<'_>, out: &mut String) -> Option<(bool, bool)> {
    use std::fmt::Write;
    // Writing to a String cannot fail.
    let _ = match value {
        DataRef::String(text) => write!(out, "{text}"),
        DataRef::SharedString(text) => write!(out, "{text}"),
        DataRef::Int(number) => write!(out, "{number}"),
        DataRef::Float(number) => write!(out, "{number}"),
        DataRef::Bool(truth) => write!(out, "{truth}"),
        DataRef::DateTime(time) => write!(out, "{}", time_text(time)),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => write!(out, "{text}"),
        DataRef::Error(error) => write!(out, "{error}"),
        _ => return None,
    };
    let is_text = matches!(value, DataRef::String(_) | DataRef::SharedString(_));
    (!out.trim().is_empty()).then_some((is_text, matches!(value, DataRef::Error(_))))
}

/// `2020-03-01`, with its time where it has one; a duration as hours, minutes and seconds.
fn time_text(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        let seconds = (time.as_f64() * 86_400.0).round();
        let (sign, seconds) = (if seconds < 0.0 { "-" } else { "" }, seconds.abs() as u64);
        return format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    if time.as_f64() < 1.0 && time.as_f64() > 0.0 {
        return format!("{hour:02}:{minute:02}:{second:02}");
    }
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        (.., 0) => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{milli:03}"),
    }
}

/// Writes the rows of a region as comma-separated text.
struct RegionWriter {
    region: Region,
    out: SpooledTempFile,
    /// The row under way: its number and its cells.
    row: Option<(u32, HeadRow)>,
    /// The first rows, until the names of the columns are known; `None` after that.
    head: Option<Vec<HeadRow>>,
    totals: Totals,
    cell_bytes: usize,
    line: String,
    written_bytes: u64,
    errors: u64,
    total_rows: u64,
    merged_headers: u64,
}

impl RegionWriter {
    fn new(region: Region, options: &ReadOptions) -> RegionWriter {
        RegionWriter {
            region,
            out: SpooledTempFile::new(IN_MEMORY_BYTES),
            row: None,
            head: Some(Vec::new()),
            totals: Totals::default(),
            // The reader counts what is longer.
            cell_bytes: options.max_cell_bytes.saturating_add(1),
            line: String::new(),
            written_bytes: 0,
            errors: 0,
            total_rows: 0,
            merged_headers: 0,
        }
    }

    fn take(&mut self, cell: &Cell<'_>) -> Result<(), String> {
        let Region { top, bottom, left, right, .. } = self.region;
        if cell.row < top || cell.row > bottom || cell.column < left || cell.column > right {
            return Ok(());
        }
        match &self.row {
            Some((row, _)) if *row == cell.row => {}
            Some((row, _)) if *row > cell.row => return Err("its rows are not in order".into()),
            _ => {
                self.end_row()?;
                self.row = Some((cell.row, HeadRow::new((right - left + 1) as usize)));
            }
        }
        if cell.is_error {
            // The formula has no value.
            self.errors += 1;
            return Ok(());
        }
        let Some((_, row)) = &mut self.row else { return Ok(()) };
        let mut text = cell.text;
        if text.len() > self.cell_bytes {
            text = &text[..text.floor_char_boundary(self.cell_bytes)];
        }
        row.set((cell.column - left) as usize, text, cell.is_text);
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), String> {
        let Some((_, row)) = self.row.take() else { return Ok(()) };
        match &mut self.head {
            Some(head) => {
                head.push(row);
                if head.len() >= HEAD_ROWS { self.end_head() } else { Ok(()) }
            }
            None => self.body_row(row),
        }
    }

    fn end_head(&mut self) -> Result<(), String> {
        let Some(mut head) = self.head.take() else { return Ok(()) };
        self.merged_headers = header::join_merged(&mut head);
        let titles = header::title_rows(&head);
        for (place, row) in head.into_iter().enumerate() {
            // Of one cell, so that the reader takes them for lines above the table.
            if place < titles { self.write(row.cells().filter(|cell| !cell.is_empty()))? } else { self.body_row(row)? }
        }
        Ok(())
    }

    /// Writes the row before, now that it is not the last.
    fn body_row(&mut self, row: HeadRow) -> Result<(), String> {
        match self.totals.push(row) {
            Some(before) => self.write(before.cells()),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        self.end_row()?;
        self.end_head()?;
        match std::mem::take(&mut self.totals).finish() {
            (Some(_), true) => self.total_rows = 1,
            (Some(last), false) => self.write(last.cells())?,
            (None, _) => {}
        }
        self.out.flush().and_then(|()| self.out.seek(SeekFrom::Start(0))).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn write<'a>(&mut self, cells: impl Iterator<Item = &'a str>) -> Result<(), String> {
        self.line.clear();
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                self.line.push(',');
            }
            if cell.contains([',', '"', '\n', '\r']) {
                self.line.push('"');
                self.line.push_str(&cell.replace('"', "\"\""));
                self.line.push('"');
            } else {
                self.line.push_str(cell);
            }
        }
        self.line.push('\n');
        self.written_bytes += self.line.len() as u64;
        self.out.write_all(self.line.as_bytes()).map_err(|error| format!("temporary file: {error}"))
    }
}

fn said(error: impl std::fmt::Display) -> String {
    let said = error.to_string();
    // The same words for every kind of workbook.
    if said.contains("password protected") {
        "it is protected by a password".into()
    } else {
        format!("damaged workbook: {said}")
    }
}
