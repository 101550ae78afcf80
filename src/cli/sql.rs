//! `lakeward sql "SELECT …"`

use std::sync::Arc;
use std::time::Instant;

use arrow::json::writer::{JsonArray, LineDelimited, WriterBuilder};
use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::args::{Arguments, RowFormat, SqlCommand};
use super::{Status, lake, printer};
use crate::error::{Error, Result};
use crate::operate::{LakeContext, Limits, Note, NoteKind, ResultColumn, Rows, texts};

/// Rows laid out together: widths fit these, and a long answer starts to show before it ends.
const PAGE_ROWS: usize = 1000;

/// What `sql --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SqlDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// The query.
    pub query: String,
    /// The columns in order.
    pub columns: Vec<ResultColumn>,
    /// The rows, each from column name to value.
    pub rows: Vec<Row>,
    /// Whether there are more rows than `--limit`.
    pub truncated: bool,
    /// Cells read as NULL, tables read in part.
    pub notes: Vec<Note>,
    /// Time from query to last row, in milliseconds.
    pub elapsed_ms: f64,
}

/// One row, its values in the order of the columns.
#[derive(Debug, JsonSchema)]
#[schemars(transparent)]
pub struct Row {
    #[schemars(with = "Map<String, Value>")]
    values: (Arc<[String]>, Map<String, Value>),
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (names, values) = &self.values;
        let mut map = serializer.serialize_map(Some(names.len()))?;
        for name in names.iter() {
            map.serialize_entry(name, values.get(name).unwrap_or(&Value::Null))?;
        }
        map.end()
    }
}

/// Runs one read-only query.
pub fn run(arguments: &Arguments, command: &SqlCommand) -> Result<Status> {
    let format = match (command.format, arguments.json) {
        (None | Some(RowFormat::Json), true) => RowFormat::Json,
        (Some(_), true) => return Err(Error::Usage("`--json` and `--format` ask for different output".into())),
        (format, false) => format.unwrap_or(RowFormat::Table),
    };
    let context = lake::open(arguments)?.context(Limits::default())?;
    let started = Instant::now();
    let limit = usize::try_from(command.limit).ok().filter(|limit| *limit > 0);
    let mut rows = context.query(&command.query, limit)?;
    let count = match format {
        RowFormat::Table if rows.explains() => print_plan(&mut rows)?,
        RowFormat::Table => print_table(&mut rows)?,
        RowFormat::Csv => print_csv(&mut rows)?,
        RowFormat::Ndjson => print_ndjson(&mut rows)?,
        RowFormat::Json => print_json(&mut rows, &context, &command.query, started)?,
    };
    let truncated = rows.truncated();
    drop(rows);
    let notes = context.notes();
    if format != RowFormat::Json {
        notes.iter().for_each(|note| printer::note(&note.to_string()));
        if truncated {
            printer::note(&format!("showing {count} of more rows; --limit 0 for all"));
        }
    }
    if format == RowFormat::Table && !arguments.quiet {
        let noun = if count == 1 { "row" } else { "rows" };
        printer::note(&format!("{count} {noun} in {:.0} ms", started.elapsed().as_secs_f64() * 1000.0));
    }
    Ok(if notes.iter().any(|note| matches!(note.kind, NoteKind::InPart { .. })) {
        Status::InPart
    } else if count == 0 {
        Status::NothingFound
    } else {
        Status::Done
    })
}

/// Runs a query in a context that is there already and prints its rows as a table, or as one document with `--json`.
pub(super) fn show(arguments: &Arguments, context: &LakeContext, query: &str, limit: usize) -> Result<Status> {
    let started = Instant::now();
    let mut rows = context.query(query, Some(limit))?;
    let count = match (arguments.json, rows.explains()) {
        (true, _) => print_json(&mut rows, context, query, started)?,
        (false, true) => print_plan(&mut rows)?,
        (false, false) => print_table(&mut rows)?,
    };
    let truncated = rows.truncated();
    drop(rows);
    if !arguments.json {
        context.notes().iter().for_each(|note| printer::note(&note.to_string()));
        if truncated {
            printer::note(&format!("showing {count} of more rows"));
        }
    }
    Ok(if count == 0 { Status::NothingFound } else { Status::Done })
}

fn print_table(rows: &mut Rows) -> Result<usize> {
    let columns = rows.columns().to_vec();
    let mut count = 0;
    let mut page: Vec<Vec<String>> = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        for row in texts(&batch)? {
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
        for row in texts(&batch)? {
            row.iter().flat_map(|cell| cell.lines()).for_each(printer::safe_line);
            count += 1;
        }
    }
    Ok(count)
}

fn print_csv(rows: &mut Rows) -> Result<usize> {
    let failed = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    let mut header: Option<Vec<String>> = Some(rows.columns().iter().map(|column| column.name.clone()).collect());
    let mut count = 0;
    loop {
        let batch = rows.next_batch()?;
        let mut writer = csv::Writer::from_writer(Vec::new());
        if let Some(header) = header.take() {
            writer.write_record(&header).map_err(|error| failed(&error))?;
        }
        for row in batch.as_ref().map(texts).transpose()?.unwrap_or_default() {
            writer.write_record(&row).map_err(|error| failed(&error))?;
            count += 1;
        }
        printer::data(&writer.into_inner().map_err(|error| failed(&error))?);
        if batch.is_none() {
            return Ok(count);
        }
    }
}

fn print_ndjson(rows: &mut Rows) -> Result<usize> {
    let mut count = 0;
    while let Some(batch) = rows.next_batch()? {
        let mut text = Vec::new();
        let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(&mut text);
        writer.write(&batch).and_then(|()| writer.finish()).map_err(|error| Error::Internal(error.to_string()))?;
        drop(writer);
        printer::data(&text);
        count += batch.num_rows();
    }
    Ok(count)
}

fn print_json(rows: &mut Rows, context: &LakeContext, query: &str, started: Instant) -> Result<usize> {
    let columns = rows.columns().to_vec();
    let names: Arc<[String]> = columns.iter().map(|column| column.name.clone()).collect();
    let mut all = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        let mut text = Vec::new();
        let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut text);
        writer.write(&batch).and_then(|()| writer.finish()).map_err(|error| Error::Internal(error.to_string()))?;
        drop(writer);
        let values: Vec<Map<String, Value>> =
            serde_json::from_slice(&text).map_err(|error| Error::Internal(error.to_string()))?;
        all.extend(values.into_iter().map(|values| Row { values: (Arc::clone(&names), values) }));
    }
    let count = all.len();
    printer::json(&SqlDocument {
        lakeward: env!("CARGO_PKG_VERSION"),
        query: query.to_string(),
        columns,
        rows: all,
        truncated: rows.truncated(),
        notes: context.notes(),
        elapsed_ms: started.elapsed().as_secs_f64() * 1000.0,
    })?;
    Ok(count)
}
