//! A cache of parsed catalogue entries: the searches of one turn, and the turns of one conversation, use the same ones.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::open::TableRef;
use lakeward_core::error::Result;
use lakeward_lake::dataset::Dataset;

/// Maximum columns of the cached entries, about a kilobyte each; one more empties the cache.
const MOST_COLUMNS: usize = 20_000;

/// Parsed entries by number, shared.
#[derive(Debug, Default)]
pub struct Entries {
    cached: Mutex<Cached>,
}

#[derive(Debug, Default)]
struct Cached {
    entries: HashMap<TableRef, Dataset>,
    columns: usize,
}

impl Entries {
    /// The entry of `table`: from the cache, or from `parse`.
    pub fn get(&self, table: TableRef, parse: impl FnOnce() -> Result<Dataset>) -> Result<Dataset> {
        // A thread that panicked while holding the lock left the map in a valid state.
        if let Some(entry) = self.cached.lock().unwrap_or_else(PoisonError::into_inner).entries.get(&table) {
            return Ok(entry.clone());
        }
        // Parsed without the lock, so that other threads can look up other tables meanwhile.
        let entry = parse()?;
        let columns = entry.columns().len() + 1;
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.columns + columns > MOST_COLUMNS {
            *cached = Cached::default();
        }
        if cached.entries.insert(table, entry.clone()).is_none() {
            cached.columns += columns;
        }
        Ok(entry)
    }
}
