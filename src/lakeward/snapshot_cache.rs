//! What was made for a snapshot and is worth keeping as long as that is open: the list of its tables, the opened task graph,
//! the words of the catalogue, and query tables that were read lately.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use arrow::array::RecordBatch;

use lakeward_core::error::Result;
use lakeward_reading::intent::CatalogueWords;
use lakeward_search::QueryTable;
use lakeward_tasks::task_graph::TaskSource;

/// Query tables kept; notebooks ask about the same few again and again.
const MOST_TABLES: usize = 8;
/// Bytes of the list of tables kept at most; that of a greater lake is made anew each time.
const MOST_LIST_BYTES: usize = 64 << 20;

/// What is kept.
#[derive(Default)]
pub struct SnapshotCache {
    list: OnceLock<RecordBatch>,
    tasks: OnceLock<TaskSource>,
    words: Arc<CatalogueWords>,
    /// The one used last comes last.
    tables: Mutex<Vec<CachedTable>>,
}

struct CachedTable {
    name: String,
    stamp: Stamp,
    table: Arc<QueryTable>,
}

/// Size and time of change of a file.
type Stamp = (u64, Option<SystemTime>);

impl SnapshotCache {
    /// The list of tables: the one kept, else what `make` gives.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn tables(&self, make: impl FnOnce() -> Result<RecordBatch>) -> Result<RecordBatch> {
        if let Some(list) = self.list.get() {
            return Ok(list.clone());
        }
        let list = make()?;
        if list.get_array_memory_size() <= MOST_LIST_BYTES {
            return Ok(self.list.get_or_init(|| list).clone());
        }
        Ok(list)
    }

    /// The task graph: the one kept, else what `make` gives.
    pub fn tasks(&self, make: impl FnOnce() -> TaskSource) -> &TaskSource {
        self.tasks.get_or_init(make)
    }

    /// The words of the catalogue.
    pub fn words(&self) -> &Arc<CatalogueWords> {
        &self.words
    }

    /// The query table `name`: the one kept, unless its file has changed, else what `read` gives.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn query_table(&self, name: &str, read: impl FnOnce() -> Result<QueryTable>) -> Result<Arc<QueryTable>> {
        // Whoever panicked with the lock held left a list that is whole.
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = tables.iter().position(|kept| kept.name == name) {
            let kept = tables.remove(place);
            if stamp(&kept.table.path) == Some(kept.stamp) {
                let table = Arc::clone(&kept.table);
                tables.push(kept);
                return Ok(table);
            }
        }
        // Others read other tables meanwhile.
        drop(tables);
        let table = Arc::new(read()?);
        if let Some(stamp) = stamp(&table.path) {
            let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
            tables.retain(|kept| kept.name != name);
            if tables.len() >= MOST_TABLES {
                tables.remove(0);
            }
            tables.push(CachedTable { name: name.to_string(), stamp, table: Arc::clone(&table) });
        }
        Ok(table)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = path.metadata().ok()?;
    Some((file.len(), file.modified().ok()))
}
