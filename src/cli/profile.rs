//! `lakeward profile TABLE` and `lakeward tables`

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, ProfileCommand, TablesCommand};
use super::lake::{Place, embedder};
use super::{Status, printer};
use crate::error::{Error, Result};
use crate::lake::catalog::TableEntry;
use crate::retrieve::QueryTable;

/// What `profile --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableReport {
    /// Everything known of the table but its values.
    #[serde(flatten)]
    pub table: TableEntry,
    /// Whether it is a table of the lake; else it was read as a file just now.
    pub in_lake: bool,
}

/// What `tables --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableList {
    /// The lake's tables by id.
    pub tables: Vec<TableLine>,
}

/// One table in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableLine {
    /// Its id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
}

/// `lakeward profile TABLE`
pub fn run(arguments: &Arguments, command: &ProfileCommand) -> Result<Status> {
    let report = match Place::of(arguments, None).and_then(|place| place.open(arguments)) {
        Ok(index) => match index.find(&command.table) {
            Ok(table) => TableReport { table: index.entry(table)?, in_lake: true },
            Err(unknown @ Error::UnknownTable { .. }) => outside(&command.table, unknown)?,
            Err(error) => return Err(error),
        },
        // A file can be profiled without any lake.
        Err(error @ (Error::NoLake | Error::NoIndex { .. })) => outside(&command.table, error)?,
        Err(error) => return Err(error),
    };
    if arguments.json {
        printer::json(&report)?;
    } else {
        printer::profile(&report.table);
    }
    Ok(if report.table.report.partial() { Status::InPart } else { Status::Done })
}

fn outside(name: &str, otherwise: Error) -> Result<TableReport> {
    let path = Path::new(name);
    if !path.is_file() {
        return Err(otherwise);
    }
    Ok(TableReport { table: QueryTable::read(path, None, embedder())?.entry, in_lake: false })
}

/// `lakeward tables [CONTAINING]`
pub fn tables(arguments: &Arguments, command: &TablesCommand) -> Result<Status> {
    let index = Place::of(arguments, None)?.open(arguments)?;
    let wanted = command.containing.as_deref().unwrap_or_default();
    let mut tables = Vec::new();
    for table in index.tables() {
        if !index.id(table)?.contains(wanted) {
            continue;
        }
        let entry = index.entry(table)?;
        tables.push(TableLine {
            table: entry.id.to_string(),
            title: entry.title(),
            rows: entry.profile.rows,
            columns: entry.profile.columns.len() as u64,
        });
    }
    tables.sort_by(|a, b| a.table.cmp(&b.table));
    let status = if tables.is_empty() { Status::NothingFound } else { Status::Done };
    if arguments.json {
        printer::json(&TableList { tables })?;
    } else {
        printer::table_list(&tables);
    }
    Ok(status)
}
