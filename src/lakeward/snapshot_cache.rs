//! The cache of an open snapshot: the list of its tables, the opened task graph, the words of the catalogue, and recently read
//! query tables.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use arrow::array::RecordBatch;

use super::shard::ShardState;
use lakeward_agent::CodeLists;
use lakeward_core::error::Result;
use lakeward_reading::catalogue::CatalogueWords;
use lakeward_search::QueryTable;
use lakeward_tasks::task_graph::TaskSource;

/// Most cached query tables; notebooks query the same few repeatedly.
const MOST_TABLES: usize = 8;
/// Most bytes of a cached list of tables; a larger one is rebuilt each time.
const MOST_LIST_BYTES: usize = 64 << 20;

/// The cache.
#[derive(Default)]
pub struct SnapshotCache {
    list: OnceLock<RecordBatch>,
    tasks: OnceLock<TaskSource>,
    words: Arc<CatalogueWords>,
    code_lists: Arc<CodeLists>,
    state: OnceLock<ShardState>,
    /// In order of last use, the most recent last.
    tables: Mutex<Vec<CachedTable>>,
}

struct CachedTable {
    name: String,
    stamp: Stamp,
    table: Arc<QueryTable>,
}

/// Size and modification time of a file.
type Stamp = (u64, Option<SystemTime>);

impl SnapshotCache {
    /// The list of tables: the cached one, else the result of `make`.
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

    /// The task graph: the cached one, else the result of `make`.
    pub fn tasks(&self, make: impl FnOnce() -> TaskSource) -> &TaskSource {
        self.tasks.get_or_init(make)
    }

    /// What has to be the same in all shards: the cached one, else the result of `make`.
    pub fn state(&self, make: impl FnOnce() -> ShardState) -> &ShardState {
        self.state.get_or_init(make)
    }

    /// The words of the catalogue.
    pub fn words(&self) -> &Arc<CatalogueWords> {
        &self.words
    }

    /// What codes of tables mean.
    pub fn code_lists(&self) -> &Arc<CodeLists> {
        &self.code_lists
    }

    /// The query table `name`: the cached one if its file has not changed, else the result of `read`.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn query_table(&self, name: &str, read: impl FnOnce() -> Result<QueryTable>) -> Result<Arc<QueryTable>> {
        // A panic while the lock was held cannot have left the list inconsistent.
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = tables.iter().position(|cached| cached.name == name) {
            let cached = tables.remove(place);
            if stamp(&cached.table.path) == Some(cached.stamp) {
                let table = Arc::clone(&cached.table);
                tables.push(cached);
                return Ok(table);
            }
        }
        // Other threads can read other tables meanwhile.
        drop(tables);
        let table = Arc::new(read()?);
        if let Some(stamp) = stamp(&table.path) {
            let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
            tables.retain(|cached| cached.name != name);
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
