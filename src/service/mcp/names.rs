//! Ids and column names as agents write them. An answer shows them cleaned, so a cleaned name must lead back to the one it shows; a path of a
//! file is never a name here.

use std::sync::Arc;

use lakeward::{Lakeward, QueryTable};
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_lake::dataset::no_table;
use lakeward_lake::profile::ColumnProfile;

use super::answer::lake_text;
use super::cards::NAME;

/// The id of the lake's table that `name` names.
///
/// # Errors
/// [`Error::UnknownTable`] with the nearest ids.
pub fn table_id(lake: &Lakeward, name: &str) -> Result<String> {
    let index = lake.index();
    if let Some(table) = index.get(name)? {
        return Ok(index.id(table)?.to_string());
    }
    for table in index.tables() {
        let id = index.id(table)?;
        if lake_text(id, NAME) == name {
            return Ok(id.to_string());
        }
    }
    Ok(index.id(index.find(name)?)?.to_string())
}

/// The table that `name` names, ready to search with; never a file outside the lake.
///
/// # Errors
/// [`Error::Usage`] for a record, and those of [`table_id`] and of reading the table.
pub fn query_table(lake: &Lakeward, name: &str) -> Result<Arc<QueryTable>> {
    let id = table_id(lake, name)?;
    if lake.index().dataset(lake.index().find(&id)?)?.is_record() {
        return Err(no_table(&id));
    }
    lake.cached_query_table(&id)
}

/// The column of `table` that `name` names.
///
/// # Errors
/// [`Error::UnknownColumn`] with the nearest names.
pub fn column<'a>(table: &str, columns: &'a [ColumnProfile], name: &str) -> Result<&'a ColumnProfile> {
    let same = |column: &&ColumnProfile| column.name == name || lake_text(&column.name, NAME) == name;
    columns.iter().find(same).ok_or_else(|| {
        let known = columns.iter().map(|column| column.name.as_str());
        Error::UnknownColumn {
            table: table.to_string(),
            name: name.to_string(),
            nearest: nearest_names(name, known.clone(), 5)
                .into_iter()
                .chain(known.map(str::to_string))
                .take(5)
                .collect(),
        }
    })
}
