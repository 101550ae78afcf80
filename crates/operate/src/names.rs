//! From the names in a query to tables of the lake.
//!
//! A table is reached by its id in quotes (`"transport/airports_world"`), by folder and name (`transport.airports_world`,
//! `us.zip.zip_ma`), or by the end of its id where only one table ends so. An exact name comes first; SQL folds unquoted
//! names to lower case, so letter case is ignored where nothing matches exactly.

use std::sync::Arc;

use datafusion::sql::sqlparser::keywords::ALL_KEYWORDS;

use super::lake_catalog::{CATALOG, ROOT_SCHEMA};
use super::quote;
use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_index::LakeIndex;
use lakeward_index::table_store::TableStore;
use lakeward_lake::dataset::{TableEntry, no_table};

/// The name of the lake's table `id` in the SQL of any session that has the catalogue: `lake.transport.airports_world`,
/// `lake."us/zip".zip_ma`, `lake.lake.readme` for a table at the lake's root.
pub fn sql_name(id: &str) -> String {
    let (folder, name) = id.rsplit_once('/').unwrap_or((ROOT_SCHEMA, id));
    format!("{CATALOG}.{}.{}", plain_or_quoted(folder), plain_or_quoted(name))
}

/// As SQL reads it without folding its case or taking it for a word of its own.
fn plain_or_quoted(name: &str) -> String {
    let plain = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let reserved = ALL_KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).is_ok();
    if plain && !reserved { name.to_string() } else { quote::identifier(name) }
}

/// Ids listed for an unknown or ambiguous name.
const NEAREST: usize = 5;

/// The names of a snapshot, kept after the index they came from.
#[derive(Debug)]
pub struct Names {
    stores: Vec<TableStore>,
    /// Numbers of struck out tables, ascending, by segment.
    removed: Vec<Vec<u32>>,
    /// Sorted by id: id, segment, number in the segment.
    tables: Vec<(String, usize, u32)>,
}

impl Names {
    /// The names of all tables of `index`.
    pub fn new(index: &LakeIndex) -> Result<Self> {
        let stores = index.segments().iter().map(|segment| segment.tables.clone()).collect();
        let mut tables = Vec::with_capacity(index.len());
        for table in index.tables() {
            // What is no file cannot be queried.
            if index.origin(table)?.is_record() {
                continue;
            }
            tables.push((index.id(table)?.to_string(), table.segment as usize, table.table));
        }
        tables.sort();
        let removed = index.manifest().segments.iter().map(|segment| segment.removed.clone()).collect();
        Ok(Self { stores, removed, tables })
    }

    /// All ids, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|(id, _, _)| id.as_str())
    }

    /// Whether a table has this very id.
    pub fn has(&self, id: &str) -> bool {
        self.tables.binary_search_by(|(known, _, _)| known.as_str().cmp(id)).is_ok()
    }

    /// The entry of the table at `place`.
    pub fn entry(&self, place: usize) -> Result<Arc<TableEntry>> {
        let found = self.tables.get(place).and_then(|(_, segment, table)| Some((self.stores.get(*segment)?, *table)));
        let (store, table) = found.ok_or_else(|| Error::Internal(format!("no table {place}")))?;
        store.dataset(table)?.into_table()
    }

    /// The place of the table that `name` (parts joined by `/`) means.
    ///
    /// # Errors
    /// [`Error::UnknownTable`] with the nearest ids; [`Error::Usage`] where several tables end so, and for a record of a
    /// catalogue, which has no rows.
    pub fn resolve(&self, name: &str) -> Result<usize> {
        if let Ok(place) = self.tables.binary_search_by(|(id, _, _)| id.as_str().cmp(name)) {
            return Ok(place);
        }
        let lower = name.to_lowercase();
        let (end, lower_end) = (format!("/{name}"), format!("/{lower}"));
        let tests: [&dyn Fn(&str) -> bool; 3] =
            [&|id| id.to_lowercase() == lower, &|id| id.ends_with(&end), &|id| id.to_lowercase().ends_with(&lower_end)];
        for test in tests {
            let found: Vec<usize> = (0..self.tables.len()).filter(|place| test(&self.tables[*place].0)).collect();
            match found[..] {
                [] => {}
                [place] => return Ok(place),
                _ => return Err(self.ambiguous(name, &found)),
            }
        }
        if self.is_record(name)? {
            return Err(no_table(name));
        }
        Err(Error::UnknownTable { name: name.to_string(), nearest: nearest_names(name, self.ids(), NEAREST) })
    }

    /// Whether a record of a catalogue is called so.
    fn is_record(&self, name: &str) -> Result<bool> {
        for (store, removed) in self.stores.iter().zip(&self.removed) {
            if let Some(table) = store.find(name)?
                && removed.binary_search(&table).is_err()
            {
                return Ok(store.origin(table)?.is_record());
            }
        }
        Ok(false)
    }

    fn ambiguous(&self, name: &str, found: &[usize]) -> Error {
        let ids: Vec<String> =
            found.iter().take(NEAREST).map(|place| format!("\"{}\"", self.tables[*place].0)).collect();
        let more = if found.len() > NEAREST { ", …" } else { "" };
        Error::usage(format!("`{name}` could be any of {} tables; write one of {}{more}", found.len(), ids.join(", ")))
    }
}
