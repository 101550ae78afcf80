//! The content hash of a file while it is read, so that most files pass through memory once.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::TableReader;
use crate::source::{self, ContentHash};
use lakeward_core::error::Result;

/// Hashes what a reader gets from the disk.
#[derive(Default)]
pub(super) struct StreamHash {
    hasher: blake3::Hasher,
    whole: bool,
    /// The file, at the place up to which it was taken, where it is not read at once.
    file: Option<File>,
}

impl StreamHash {
    /// Remembers `file` for the case that its end is never read.
    pub(super) fn follow(&mut self, file: &File) {
        // A second handle has the same place in the file as the first.
        self.file = file.try_clone().ok();
    }

    /// Takes the next bytes of the file; none mean that it is over.
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

    /// The hash, once `reader` has read all it wants. What it left unread of the file is read now; where it was to read a
    /// sample only, a large file is told by [`source::ends_hash`].
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
            _ if is_sample && source::is_told_by_ends(&self.path) => source::ends_hash(&self.path),
            Some(file) => source::hash_rest(file, hasher, &self.path),
            None => source::content_hash(&self.path),
        }
    }
}
