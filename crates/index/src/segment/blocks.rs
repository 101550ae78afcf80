//! Where the blocks of a segment's file come from that this machine does not have: a store.
//!
//! The file is sparse then: header and footer are there, and holes, which read as zeros and so fail their checksums. That is all that
//! is known of what is missing; a block that is damaged on this machine is fetched again in the same way.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lakeward_core::error::{Error, Result};
use lakeward_lake::storage::Objects;

use super::BLOCK_BYTES;

/// A file of no more blocks than this (8 MiB) comes whole: requests cost, not bytes.
const WHOLE_BLOCKS: usize = 128;
/// Blocks of the first request to a larger file: 4 MiB.
const FIRST_BLOCKS: usize = 64;
/// The next request asks for so many times more, as what is wanted of such a file is scattered over it, up to …
const GROWTH: usize = 8;
/// … this: 64 MiB.
const MOST_BLOCKS: usize = 1024;

/// The blocks of one file in a store.
pub struct Blocks {
    objects: Arc<Objects>,
    name: String,
    path: PathBuf,
    /// Held while blocks are fetched: others would ask for the same ones.
    fetching: Mutex<Fetching>,
}

struct Fetching {
    local: Option<File>,
    window: usize,
}

impl std::fmt::Debug for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Blocks {
    /// The blocks of the object `name`, kept in the file at `path`.
    pub fn new(objects: Arc<Objects>, name: String, path: &Path) -> Self {
        let fetching = Mutex::new(Fetching { local: None, window: FIRST_BLOCKS });
        Self { objects, name, path: path.to_path_buf(), fetching }
    }

    /// Fetches `wanted`, of which the first is missing, with missing ones around them, of the blocks in the first `data_bytes` of the
    /// file. `is_there` tells which are there by now.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn fetch(
        &self,
        wanted: Range<usize>,
        data_bytes: usize,
        is_there: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let mut fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if is_there(wanted.start) {
            return Ok(());
        }
        let count = data_bytes.div_ceil(BLOCK_BYTES);
        let window = if count <= WHOLE_BLOCKS { count } else { fetching.window };
        let first = wanted.start.saturating_sub(if count <= WHOLE_BLOCKS { window } else { window / 4 });
        let last = (first + window).max(wanted.end).min(first + MOST_BLOCKS).min(count);
        let start = (first..wanted.start).rev().take_while(|block| !is_there(*block)).last().unwrap_or(wanted.start);
        let end = (wanted.start + 1..last).take_while(|block| !is_there(*block)).last().unwrap_or(wanted.start) + 1;
        fetching.window = MOST_BLOCKS.min(GROWTH * fetching.window);
        let bytes = start * BLOCK_BYTES..(end * BLOCK_BYTES).min(data_bytes);
        let fetched = self.objects.range(&self.name, bytes.start as u64..bytes.end as u64);
        let fetched = fetched.map_err(|error| Error::io("read", &self.objects.address().join(&self.name), error))?;
        let failed = |error| Error::io("write", &self.path, error);
        let local = match &mut fetching.local {
            Some(local) => local,
            none => none.insert(OpenOptions::new().write(true).open(&self.path).map_err(failed)?),
        };
        local.seek(SeekFrom::Start(bytes.start as u64)).map_err(failed)?;
        local.write_all(&fetched).map_err(failed)
    }
}
