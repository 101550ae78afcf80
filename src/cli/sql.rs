//! `lakeward sql "SELECT …"`

use std::time::Instant;

use arrow::json::writer::{LineDelimited, WriterBuilder};
use clap::ValueEnum;

use super::args::{Arguments, RowFormat, SqlCommand};
use super::row_sink::RowSink;
use super::{Status, lake, printer};
use lakeward::documents::SqlDocument;
use lakeward::functions;
use lakeward_core::error::{Error, Result};
use lakeward_core::text::counted;
use lakeward_operate::{CellForm, LakeContext, Limits, NoteKind, RowWriter, Rows, texts};

/// Rows laid out together: column widths fit these, and a long result is printed page by page.
const PAGE_ROWS: usize = 1000;

/// Default number of rows shown.
const DEFAULT_ROWS: usize = 500;

/// Runs one read-only query.
pub fn run(arguments: &Arguments, command: &SqlCommand) -> Result<Status> {
    let format = format_of(arguments, command)?;
    let sink = RowSink::open(command.out.as_deref(), command.overwrite, format == RowFormat::Parquet)?;
    let context = functions::context(&lake::open(arguments)?, Limits::default())?;
    let started = Instant::now();
    let usual = if sink.is_file() || format == RowFormat::Parquet { 0 } else { DEFAULT_ROWS };
    let limit = command.limit.map_or(usual, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut rows = context.query(&command.query, Some(limit).filter(|limit| *limit > 0))?;
    let (count, truncated) = if format == RowFormat::Json {
        write_json(rows, &context, &command.query, started, &sink)?
    } else {
        let count = match format {
            RowFormat::Csv => write_csv(&mut rows, &sink)?,
            RowFormat::Ndjson => write_ndjson(&mut rows, &sink)?,
            RowFormat::Parquet => write_parquet(&mut rows, &sink)?,
            _ if rows.explains() => print_plan(&mut rows)?,
            _ => print_table(&mut rows)?,
        };
        let truncated = rows.truncated();
        drop(rows);
        (count, truncated)
    };
    let to_file = sink.is_file();
    let written = sink.finish()?;
    let notes = context.notes();
    if format != RowFormat::Json || to_file {
        notes.iter().for_each(|note| printer::note(&note.to_string()));
        if truncated {
            printer::note(&format!("showing the first {count} rows; --limit 0 for all"));
        }
    }
    if (format == RowFormat::Table || to_file) && !arguments.quiet {
        let what = counted(count as u64, "row");
        let to = command.out.as_deref().zip(written);
        let to = to.map_or_else(String::new, |(path, bytes)| format!(" to `{}` ({bytes} bytes)", path.display()));
        printer::note(&format!("{what}{to} in {:.0} ms", started.elapsed().as_secs_f64() * 1000.0));
    }
    Ok(if notes.iter().any(|note| matches!(note.kind, NoteKind::InPart { .. })) {
        Status::InPart
    } else if count == 0 {
        Status::NothingFound
    } else {
        Status::Done
    })
}

/// The format given by flags or by the extension of the file.
fn format_of(arguments: &Arguments, command: &SqlCommand) -> Result<RowFormat> {
    let by_extension = match (command.format, &command.out) {
        (None, Some(path)) => {
            let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
            let format = RowFormat::from_str(&extension.unwrap_or_default(), false)
                .ok()
                .filter(|format| *format != RowFormat::Table);
            Some(format.ok_or_else(|| {
                let path = path.display();
                let known = "`.csv`, `.json`, `.ndjson` or `.parquet`";
                Error::usage(format!("the extension of `{path}` gives no format; use {known}, or add `--format`"))
            })?)
        }
        _ => None,
    };
    match (command.format, arguments.json) {
        (Some(RowFormat::Table), false) if command.out.is_some() => {
            Err(Error::usage("`--format table` cannot be written with `--out`; choose another format"))
        }
        (None | Some(RowFormat::Json), true) => Ok(RowFormat::Json),
        (Some(_), true) => Err(Error::usage("`--json` and `--format` request different formats")),
        (format, false) => Ok(format.or(by_extension).unwrap_or(RowFormat::Table)),
    }
}

/// Runs a query in an existing context and prints its rows as a table, or as one document with `--json`.
pub(super) fn show(arguments: &Arguments, context: &LakeContext, query: &str, limit: usize) -> Result<Status> {
    let started = Instant::now();
    let mut rows = context.query(query, Some(limit))?;
    let (count, truncated) = if arguments.json {
        write_json(rows, context, query, started, &RowSink::Stdout)?
    } else {
        let count = if rows.explains() { print_plan(&mut rows)? } else { print_table(&mut rows)? };
        let truncated = rows.truncated();
        drop(rows);
        (count, truncated)
    };
    if !arguments.json {
        context.notes().iter().for_each(|note| printer::note(&note.to_string()));
        if truncated {
            printer::note(&format!("showing the first {count} rows"));
        }
    }
    Ok(if count == 0 { Status::NothingFound } else { Status::Done })
}

fn print_table(rows: &mut Rows) -> Result<usize> {
    let columns = rows.columns().to_vec();
    let mut count = 0;
    let mut page: Vec<Vec<String>> = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        for row in texts(&batch, CellForm::Shown)? {
            page.push(row);
            if page.len() == PAGE_ROWS {
                printer::rows(&columns, &page, count);
                count += page.len();
                page.clear();
            }
        }
    }
    if !page.is_empty() {
        printer::rows(&columns, &page, count);
    }
    Ok(count + page.len())
}

fn print_plan(rows: &mut Rows) -> Result<usize> {
    let mut count = 0;
    while let Some(batch) = rows.next_batch()? {
        for row in texts(&batch, CellForm::Shown)? {
            row.iter().flat_map(|cell| cell.lines()).for_each(printer::safe_line);
            count += 1;
        }
    }
    Ok(count)
}

fn write_csv(rows: &mut Rows, sink: &RowSink) -> Result<usize> {
    let failed = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    let mut header: Option<Vec<String>> = Some(rows.columns().iter().map(|column| column.name.clone()).collect());
    let mut count = 0;
    loop {
        let batch = rows.next_batch()?;
        let mut writer = csv::Writer::from_writer(Vec::new());
        if let Some(header) = header.take() {
            writer.write_record(&header).map_err(|error| failed(&error))?;
        }
        let cells = batch.as_ref().map(|batch| texts(batch, CellForm::Data)).transpose()?;
        for row in cells.unwrap_or_default() {
            writer.write_record(&row).map_err(|error| failed(&error))?;
            count += 1;
        }
        sink.lines(&writer.into_inner().map_err(|error| failed(&error))?)?;
        if batch.is_none() {
            return Ok(count);
        }
    }
}

fn write_ndjson(rows: &mut Rows, sink: &RowSink) -> Result<usize> {
    let mut count = 0;
    while let Some(batch) = rows.next_batch()? {
        let mut text = Vec::new();
        let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(&mut text);
        writer.write(&batch).and_then(|()| writer.finish()).map_err(|error| Error::Internal(error.to_string()))?;
        drop(writer);
        sink.lines(&text)?;
        count += batch.num_rows();
    }
    Ok(count)
}

fn write_parquet(rows: &mut Rows, sink: &RowSink) -> Result<usize> {
    let path = sink.path();
    let mut writer = RowWriter::parquet(sink.bytes()?, rows.schema(), path)?;
    let mut count = 0;
    while let Some(batch) = rows.next_batch()? {
        writer.write(&batch, path)?;
        count += batch.num_rows();
    }
    writer.finish(path)?;
    Ok(count)
}

/// Prints or writes all rows as one document. Returns their number and whether there are more.
fn write_json(
    rows: Rows<'_>,
    context: &LakeContext,
    query: &str,
    started: Instant,
    sink: &RowSink,
) -> Result<(usize, bool)> {
    let document = SqlDocument::read(query, context, rows, started)?;
    if sink.is_file() {
        let mut text = serde_json::to_vec(&document).map_err(|error| Error::Internal(error.to_string()))?;
        text.push(b'\n');
        sink.lines(&text)?;
    } else {
        printer::json(&document)?;
    }
    Ok((document.rows.len(), document.truncated))
}
