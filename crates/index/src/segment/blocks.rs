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

/// A file of no more blocks than this (4 MiB) comes whole: requests cost, not bytes.
pub(super) const WHOLE_BLOCKS: usize = 64;
/// Blocks of the first other request to a larger file: 1 MiB.
const FIRST_BLOCKS: usize = 16;
/// The next request asks for so many times more, as what is wanted of such a file is scattered over it, up to …
const GROWTH: usize = 8;
/// … this: 64 MiB. What is [read together](Blocks::read_together) comes whole up to that.
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
    together: Vec<Range<usize>>,
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
        let fetching = Mutex::new(Fetching { local: None, together: Vec::new(), window: FIRST_BLOCKS });
        Self { objects, name, path: path.to_path_buf(), fetching }
    }

    /// Tells that `blocks` are read by one search.
    pub(super) fn read_together(&self, blocks: Range<usize>) {
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner).together.push(blocks);
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
        let together = fetching
            .together
            .iter()
            .find(|blocks| blocks.contains(&wanted.start) && blocks.len() <= MOST_BLOCKS && wanted.end <= blocks.end);
        let asked = match together {
            _ if count <= WHOLE_BLOCKS => 0..count,
            Some(blocks) => blocks.start..blocks.end.min(count),
            None => {
                let first = wanted.start.saturating_sub(fetching.window / 4);
                let last = (first + fetching.window).max(wanted.end).min(first + MOST_BLOCKS).min(count);
                fetching.window = MOST_BLOCKS.min(GROWTH * fetching.window);
                let missing = |block: &usize| !is_there(*block);
                let start = (first..wanted.start).rev().take_while(missing).last().unwrap_or(wanted.start);
                start..(wanted.start + 1..last).take_while(missing).last().unwrap_or(wanted.start) + 1
            }
        };
        let missing: Vec<usize> = asked.filter(|block| !is_there(*block)).collect();
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
        let bytes = first * BLOCK_BYTES..((last + 1) * BLOCK_BYTES).min(data_bytes);
        let fetched = self.objects.range(&self.name, bytes.start as u64..bytes.end as u64);
        let fetched = fetched.map_err(|error| Error::io("read", &self.objects.address().join(&self.name), error))?;
        let failed = |error| Error::io("write", &self.path, error);
        let local = match &mut fetching.local {
            Some(local) => local,
            none => none.insert(OpenOptions::new().write(true).open(&self.path).map_err(failed)?),
        };
        // What is there already may be read at this moment, and stays as it is.
        for run in missing.chunk_by(|a, b| a + 1 == *b) {
            let start = run[0] * BLOCK_BYTES;
            let end = (start + run.len() * BLOCK_BYTES).min(data_bytes);
            local.seek(SeekFrom::Start(start as u64)).map_err(failed)?;
            local.write_all(&fetched[start - bytes.start..end - bytes.start]).map_err(failed)?;
        }
        Ok(())
    }
}
