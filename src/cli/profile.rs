//! `lakeward profile TABLE`, `lakeward tables` and `lakeward copies`

use std::path::Path;

use super::args::{Arguments, CopiesCommand, ProfileCommand, TablesCommand};
use super::search::status_of;
use super::{Status, lake, printer};
use lakeward::documents::{CopyList, TableLine, TableList, TableReport};
use lakeward_core::error::{Error, Result};
use lakeward_core::listing::Listed;
use lakeward_lake::location::Location;

/// `lakeward profile TABLE`
pub fn run(arguments: &Arguments, command: &ProfileCommand) -> Result<Status> {
    let found = match lake::open(arguments) {
        Ok(lakeward) => TableReport::of(&lakeward, &command.table)?,
        // A file can be profiled without a lake.
        Err(Error::NoLake | Error::NoIndex { .. }) if Location::of(Path::new(&command.table)).is_table() => {
            TableReport::of_file(Path::new(&command.table))?
        }
        Err(error) => return Err(error),
    };
    if arguments.json {
        printer::json(&found)?;
    } else {
        printer::profile(&found.dataset, &found.composite_keys);
        found.note.iter().for_each(printer::own_note);
    }
    let lost_rows = found.dataset.table().is_some_and(|table| table.report.lost_rows());
    Ok(if lost_rows { Status::InPart } else { Status::Done })
}

/// `lakeward tables [CONTAINING]`
pub fn tables(arguments: &Arguments, command: &TablesCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    show(arguments, &TableList::containing(lakeward.index(), command.containing.as_deref().unwrap_or_default())?)
}

/// `lakeward copies [TABLE]`
pub fn copies(arguments: &Arguments, command: &CopiesCommand) -> Result<Status> {
    let list = CopyList::new(lake::open(arguments)?.copies(command.table.as_deref())?);
    if arguments.json {
        printer::json(&list)?;
    } else {
        list.groups.iter().for_each(printer::copies);
        if list.groups.is_empty() && !arguments.quiet {
            printer::note("no table has its rows in another one with the same columns");
        }
    }
    Ok(status_of(&list.groups))
}

/// Prints a list of tables.
pub fn show(arguments: &Arguments, list: &TableList) -> Result<Status> {
    if arguments.json {
        printer::json(list)?;
    } else {
        printer::listing::rows(TableLine::COLUMNS, &list.tables, false);
    }
    Ok(status_of(&list.tables))
}
