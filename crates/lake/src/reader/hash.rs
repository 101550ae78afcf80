//! Computes a file's content hash while the file is read, so that most files are read only once.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::TableReader;
use crate::scan::for_each_cell;
use crate::source::{self, ContentHash};
use crate::storage::File;
use lakeward_core::error::Result;

/// Hashes the bytes that a reader gets from the disk.
#[derive(Default)]
pub(super) struct StreamHash {
    hasher: blake3::Hasher,
    whole: bool,
    /// The file, positioned after the bytes hashed so far, where it is not read at once.
    file: Option<File>,
}

impl StreamHash {
    /// Stores a handle of `file`, in case its end is never read.
    pub(super) fn follow(&mut self, file: &File) {
        // A second handle shares the position in the file with the first.
        self.file = file.try_clone().ok();
    }

    /// Hashes the next bytes of the file; none mean that the file has ended.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.whole |= bytes.is_empty();
        self.hasher.update(bytes);
    }
}

/// The hash of a file that is being read.
pub struct PendingHash {
    path: PathBuf,
    state: State,
}

enum State {
    /// Known before reading.
    Known(ContentHash),
    Streamed(Arc<Mutex<StreamHash>>),
}

impl PendingHash {
    pub(super) fn known(path: PathBuf, hash: ContentHash) -> PendingHash {
        PendingHash { path, state: State::Known(hash) }
    }

    pub(super) fn streamed(path: PathBuf, stream: Arc<Mutex<StreamHash>>) -> PendingHash {
        PendingHash { path, state: State::Streamed(stream) }
    }

    /// The hash, once `reader` has finished. Any unread rest of the file is read now; of a large file of which only a sample
    /// was read, it is [`source::ends_hash`].
    ///
    /// # Errors
    /// [`lakeward_core::Error::Io`] where the rest of the file cannot be read.
    pub fn finish(self, reader: Box<dyn TableReader>) -> Result<ContentHash> {
        let is_sample = reader.report().sample.is_some();
        drop(reader);
        let stream = match self.state {
            State::Known(hash) => return Ok(hash),
            State::Streamed(stream) => stream,
        };
        let Ok(mut stream) = stream.lock() else { return source::content_hash(&self.path) };
        let StreamHash { hasher, whole, file } = &mut *stream;
        match file {
            _ if *whole => Ok(ContentHash::of(hasher)),
            _ if is_sample && source::is_hashed_by_ends(&self.path) => source::ends_hash(&self.path),
            Some(file) => source::hash_rest(file, hasher, &self.path),
            None => source::content_hash(&self.path),
        }
    }
}

/// Hash of the columns and cells of a table that is one of several in its file: changes of the others leave it as it is.
///
/// # Errors
/// Those of reading the rows.
pub(crate) fn rows_hash(mut reader: Box<dyn TableReader>) -> Result<ContentHash> {
    let mut columns: Vec<blake3::Hasher> = Vec::new();
    let mut whole = blake3::Hasher::new();
    for column in reader.columns() {
        take_cell(&mut whole, Some(&column.header));
        columns.push(blake3::Hasher::new());
    }
    while let Some(batch) = reader.next_batch()? {
        for (hasher, array) in columns.iter_mut().zip(batch.columns()) {
            for_each_cell(array.as_ref(), |cell| take_cell(hasher, cell))?;
        }
    }
    columns.iter().for_each(|hasher| {
        whole.update(hasher.finalize().as_bytes());
    });
    Ok(ContentHash::of(&whole))
}

fn take_cell(hasher: &mut blake3::Hasher, cell: Option<&str>) {
    let length = cell.map_or(u64::MAX, |cell| cell.len() as u64);
    hasher.update(&length.to_le_bytes());
    hasher.update(cell.unwrap_or_default().as_bytes());
}
