//! `lakeward profile TABLE` and `lakeward tables`

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, ProfileCommand, TablesCommand};
use super::lake::{self, built_in};
use super::{Status, printer};
use lakeward_core::error::{Error, Result};
use lakeward_index::LakeIndex;
use lakeward_lake::catalog::{Dataset, StoredDataset};
use lakeward_lake::composite_key::{self, CompositeKey};
use lakeward_lake::reader::Sample;
use lakeward_lake::source;
use lakeward_search::QueryTable;

/// What `profile --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableReport {
    /// Everything known of the table but its values.
    #[serde(flatten)]
    #[schemars(with = "StoredDataset")]
    pub dataset: Dataset,
    /// Whether only its first rows were read: the profile is of those.
    pub sampled: bool,
    /// Whether it is a table of the lake; else it was read as a file just now.
    pub in_lake: bool,
    /// Columns that identify a row only together, most plausible first, found by reading the file just now.
    pub composite_keys: Vec<CompositeKey>,
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
    /// Whether it is a record of a catalogue: its data is not in the lake, rows and columns are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Rows; those read, where it is `sampled`.
    pub rows: u64,
    /// The part that was read, where that is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sample>,
    /// Columns.
    pub columns: u64,
}

/// `lakeward profile TABLE`
pub fn run(arguments: &Arguments, command: &ProfileCommand) -> Result<Status> {
    let found = match lake::open(arguments) {
        Ok(lakeward) => match lakeward.index().find(&command.table) {
            Ok(table) => {
                let dataset = lakeward.index().dataset(table)?;
                // A record has no file, and without one there are no composite keys.
                let lake = &lakeward.place().lake;
                let path = dataset.path().map(|path| source::file_path(lake, path)).transpose()?;
                report(path.as_deref(), dataset, true)
            }
            Err(unknown @ Error::UnknownTable { .. }) => outside(&command.table, unknown)?,
            Err(error) => return Err(error),
        },
        // A file can be profiled without any lake.
        Err(error @ (Error::NoLake | Error::NoIndex { .. })) => outside(&command.table, error)?,
        Err(error) => return Err(error),
    };
    if arguments.json {
        printer::json(&found)?;
    } else {
        printer::profile(&found.dataset, &found.composite_keys);
    }
    let lost_rows = found.dataset.table().is_some_and(|table| table.report.lost_rows());
    Ok(if lost_rows { Status::InPart } else { Status::Done })
}

fn outside(name: &str, otherwise: Error) -> Result<TableReport> {
    let path = Path::new(name);
    if !path.is_file() {
        return Err(otherwise);
    }
    Ok(report(Some(path), Dataset::Table(QueryTable::read(path, None, built_in())?.entry), false))
}

/// Without composite keys where the file can no longer be read: the rest of the profile stands as it was indexed.
fn report(path: Option<&Path>, dataset: Dataset, in_lake: bool) -> TableReport {
    let table = dataset.table();
    let keys = path.zip(table).and_then(|(path, table)| composite_key::find(path, &table.profile).ok());
    let sampled = table.is_some_and(|table| table.report.sample.is_some());
    TableReport { dataset, sampled, in_lake, composite_keys: keys.unwrap_or_default() }
}

/// `lakeward tables [CONTAINING]`
pub fn tables(arguments: &Arguments, command: &TablesCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    show(arguments, lines(lakeward.index(), command.containing.as_deref().unwrap_or_default())?)
}

/// The tables whose ids contain `wanted`, by id.
pub fn lines(index: &LakeIndex, wanted: &str) -> Result<Vec<TableLine>> {
    let mut tables = Vec::new();
    for table in index.tables() {
        if !index.id(table)?.contains(wanted) {
            continue;
        }
        let dataset = index.dataset(table)?;
        tables.push(TableLine {
            table: dataset.id().to_string(),
            title: dataset.title(),
            record: dataset.is_record(),
            rows: dataset.table().map_or(0, |table| table.profile.rows),
            sampled: dataset.table().and_then(|table| table.report.sample),
            columns: dataset.columns().len() as u64,
        });
    }
    tables.sort_by(|a, b| a.table.cmp(&b.table));
    Ok(tables)
}

/// Prints a list of tables.
pub fn show(arguments: &Arguments, tables: Vec<TableLine>) -> Result<Status> {
    let status = if tables.is_empty() { Status::NothingFound } else { Status::Done };
    if arguments.json {
        printer::json(&TableList { tables })?;
    } else {
        printer::table_list(&tables);
    }
    Ok(status)
}
