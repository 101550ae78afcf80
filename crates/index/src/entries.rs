//! Datasets of the catalogue that were parsed lately: the searches of one turn, and the turns of one conversation, look at the
//! same ones.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::open::TableRef;
use lakeward_core::error::Result;
use lakeward_lake::dataset::Dataset;

/// Columns of the entries kept at the most, about a kilobyte each; one more empties the store.
const MOST_COLUMNS: usize = 20_000;

/// Parsed entries by number, shared.
#[derive(Debug, Default)]
pub struct Entries {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<TableRef, Dataset>,
    columns: usize,
}

impl Entries {
    /// The entry of `table`: the one kept, else what `parse` gives.
    pub fn get(&self, table: TableRef, parse: impl FnOnce() -> Result<Dataset>) -> Result<Dataset> {
        // Whoever panicked with the lock held left a map that is whole.
        if let Some(entry) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).entries.get(&table) {
            return Ok(entry.clone());
        }
        // Parsed without the lock: other threads look up other tables meanwhile.
        let entry = parse()?;
        let columns = entry.columns().len() + 1;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.columns + columns > MOST_COLUMNS {
            *kept = Kept::default();
        }
        if kept.entries.insert(table, entry.clone()).is_none() {
            kept.columns += columns;
        }
        Ok(entry)
    }
}
