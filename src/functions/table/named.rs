//! Resolves a table argument: a table of the lake by its id or its name in SQL, else a file.

use std::path::Path;
use std::sync::Arc;

use crate::Lakeward;
use lakeward_core::error::Result;
use lakeward_index::TableRef;
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::location::Location;
use lakeward_operate::CATALOG;
use lakeward_search::query_table;

/// The table that a call names.
pub(super) enum Named {
    /// A table of the lake.
    Lake(TableRef, Arc<TableEntry>),
    /// A file.
    File(String),
}

/// The table that `name` means.
///
/// # Errors
/// [`lakeward_core::Error::UnknownTable`] with the nearest ids, [`lakeward_core::Error::Usage`] for a record of a catalogue,
/// [`lakeward_core::Error::Unreadable`] for a table that was removed since it was indexed.
pub(super) fn table(lakeward: &Lakeward, name: &str) -> Result<Named> {
    let index = lakeward.index();
    let found = match index.get(name)? {
        Some(table) => table,
        None if Location::of(Path::new(name)).is_table() => return Ok(Named::File(name.to_string())),
        None => match by_sql_name(lakeward, name)? {
            Some(table) => table,
            // The error has the nearest names.
            None => index.find(name)?,
        },
    };
    let entry = index.table(found)?;
    entry.file(&lakeward.place().lake)?;
    Ok(Named::Lake(found, entry))
}

/// The table that is called `name` in SQL: `us.zip.zip_ma`, `lake."us/zip".zip_ma`.
fn by_sql_name(lakeward: &Lakeward, name: &str) -> Result<Option<TableRef>> {
    let path = name.replace('"', "").replace('.', "/");
    for id in [Some(path.as_str()), path.strip_prefix(CATALOG).and_then(|rest| rest.strip_prefix('/'))] {
        if let Some(id) = id
            && let Some(table) = lakeward.index().get(id)?
        {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

impl Named {
    /// The name for a search: an id or a path.
    pub(super) fn name(&self) -> &str {
        match self {
            Named::Lake(_, entry) => entry.id.as_str(),
            Named::File(path) => path,
        }
    }

    /// Checks that the table has the columns that `typed` names; a file is checked when it is read.
    ///
    /// # Errors
    /// [`lakeward_core::Error::UnknownColumn`] with the nearest names.
    pub(super) fn check_column(&self, typed: &str) -> Result<()> {
        match self {
            Named::Lake(_, entry) => query_table::columns_named(entry, &[typed.to_string()]).map(|_| ()),
            Named::File(_) => Ok(()),
        }
    }
}
