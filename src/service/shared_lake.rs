//! The current snapshot of a lake, shared by requests: replaced when the index has changed, while requests in flight keep theirs.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use lakeward::Lakeward;
use lakeward_index::index_store::IndexStore;
use lakeward_index::manifest;
use lakeward_lake::notes;

/// How often the manifest is looked at.
const CHECK: Duration = Duration::from_millis(500);
/// How often that of an index in a store is, which is a request.
const STORE_CHECK: Duration = Duration::from_secs(10);

/// A lake whose snapshot follows its index.
pub struct SharedLake {
    current: RwLock<Arc<Lakeward>>,
    /// When the manifest was last looked at, and what it was then. Held while a new snapshot is opened: others answer with the old one.
    seen: Mutex<(Instant, Stamp)>,
}

/// Size and modification time of the manifest, and of users' notes.
type Stamp = [Option<(u64, SystemTime)>; 2];

impl SharedLake {
    /// Starts with `lake`.
    pub fn new(lake: Lakeward) -> Self {
        let seen = Mutex::new((Instant::now(), stamp(&lake)));
        Self { current: RwLock::new(Arc::new(lake)), seen }
    }

    /// The current snapshot. An index that cannot be opened, because it is being rebuilt or is damaged, leaves the last one in use.
    pub fn snapshot(&self) -> Arc<Lakeward> {
        let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        let Ok(mut seen) = self.seen.try_lock() else { return current };
        let folder = &current.place().index;
        let check = if IndexStore::of(folder).is_some() { STORE_CHECK } else { CHECK };
        if seen.0.elapsed() < check {
            return current;
        }
        seen.0 = Instant::now();
        if IndexStore::refresh(folder).is_err() {
            return current;
        }
        let found = stamp(&current);
        if found == seen.1 {
            return current;
        }
        let Ok(opened) = current.reopened() else { return current };
        seen.1 = found;
        let opened = Arc::new(opened);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&opened);
        opened
    }

    /// The snapshot in use, without a look at the disk.
    pub fn in_use(&self) -> Arc<Lakeward> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn stamp(lake: &Lakeward) -> Stamp {
    [manifest::FILE_NAME, notes::FILE_NAME].map(|name| {
        let file = lake.place().index.join(name).metadata().ok()?;
        Some((file.len(), file.modified().ok()?))
    })
}
