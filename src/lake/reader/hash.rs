//! The content hash of a file while it is read, so that most files pass through memory once.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::TableReader;
use crate::error::Result;
use crate::lake::source::{self, ContentHash};

/// Hashes what a reader gets from the disk.
#[derive(Default)]
pub(super) struct StreamHash {
    hasher: blake3::Hasher,
    whole: bool,
}

impl StreamHash {
    /// Takes the next bytes of the file; none mean that it is over.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.whole |= bytes.is_empty();
        self.hasher.update(bytes);
    }
}

/// The hash of a file that is being read.
pub struct PendingHash {
    path: PathBuf,
    stream: Option<Arc<Mutex<StreamHash>>>,
}

impl PendingHash {
    pub(super) fn new(path: PathBuf, stream: Option<Arc<Mutex<StreamHash>>>) -> PendingHash {
        PendingHash { path, stream }
    }

    /// The hash, once `reader` has read all it wants. What it left unread, or read in another order, is read again.
    ///
    /// # Errors
    /// [`crate::Error::Io`] where the rest of the file cannot be read.
    pub fn finish(self, reader: Box<dyn TableReader>) -> Result<ContentHash> {
        drop(reader);
        let stream = self.stream.as_ref().and_then(|stream| stream.lock().ok());
        match stream {
            Some(stream) if stream.whole => Ok(ContentHash::of(&stream.hasher)),
            _ => source::content_hash(&self.path),
        }
    }
}
