//! Entries of the catalogue that were parsed lately: the searches of one turn, and the turns of one conversation, look at the
//! same tables.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::open::TableRef;
use lakeward_core::error::Result;
use lakeward_lake::catalog::TableEntry;

/// Columns of the entries kept at the most, about a kilobyte each; one more empties the store.
const MOST_COLUMNS: usize = 20_000;

/// Parsed entries by table, shared.
#[derive(Debug, Default)]
pub struct Entries {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<TableRef, Arc<TableEntry>>,
    columns: usize,
}

impl Entries {
    /// The entry of `table`: the one kept, else what `parse` gives.
    pub fn get(&self, table: TableRef, parse: impl FnOnce() -> Result<TableEntry>) -> Result<Arc<TableEntry>> {
        // Whoever panicked with the lock held left a map that is whole.
        if let Some(entry) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).entries.get(&table) {
            return Ok(Arc::clone(entry));
        }
        // Parsed without the lock: other threads look up other tables meanwhile.
        let entry = Arc::new(parse()?);
        let columns = entry.profile.columns.len() + 1;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.columns + columns > MOST_COLUMNS {
            *kept = Kept::default();
        }
        if kept.entries.insert(table, Arc::clone(&entry)).is_none() {
            kept.columns += columns;
        }
        Ok(entry)
    }
}
