//! Stores the metadata of records until it is needed: as JSON, in memory or, where there is much of it, on disk.
//!
//! The metadata of a million records is about a gigabyte. Planning a build needs only their ids and a hash of the metadata;
//! the metadata itself is read once, when a record is drafted.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{from_slice, to_vec};
use tempfile::SpooledTempFile;
use xxhash_rust::xxh3::xxh3_64;

use super::TableMetadata;
use lakeward_core::error::{Error, Result};

/// Bytes held in memory before the file goes to disk.
const IN_MEMORY_BYTES: usize = 32 << 20;
/// Bytes written in one call.
const BUFFER_BYTES: usize = 1 << 20;

/// Metadata of the records of one file, in a temporary file that is deleted on drop.
#[derive(Debug, Default)]
pub(super) struct Spool {
    /// The file that the records are from.
    name: Arc<str>,
    place: Mutex<Place>,
}

#[derive(Debug)]
struct Place {
    file: SpooledTempFile,
    /// Bytes written to the file.
    written: u64,
    /// The bytes after those, not written to the file yet.
    pending: Vec<u8>,
}

/// The metadata of one record in a [`Spool`].
#[derive(Debug)]
pub(super) struct Spooled {
    spool: Arc<Spool>,
    start: u64,
    bytes: u32,
    /// Hash of the JSON.
    pub hash: u64,
}

impl Default for Place {
    fn default() -> Self {
        Self { file: SpooledTempFile::new(IN_MEMORY_BYTES), written: 0, pending: Vec::new() }
    }
}

/// `metadata` as it is stored.
///
/// # Errors
/// [`Error::Internal`].
pub(super) fn written(metadata: &TableMetadata) -> Result<Vec<u8>> {
    to_vec(metadata).map_err(|error| Error::Internal(error.to_string()))
}

impl Spool {
    /// For the records of the file of this name.
    pub fn of(name: &Arc<str>) -> Self {
        Self { name: Arc::clone(name), ..Self::default() }
    }

    /// Stores metadata that was [`written`].
    ///
    /// # Errors
    /// [`Error::Io`] where the folder for temporary files is full.
    pub fn put(spool: &Arc<Self>, json: &[u8]) -> Result<Spooled> {
        let bytes = u32::try_from(json.len()).map_err(|_| Error::Internal("metadata of 4 GB".into()))?;
        let mut place = spool.place.lock().unwrap_or_else(PoisonError::into_inner);
        let start = place.written + place.pending.len() as u64;
        place.pending.extend_from_slice(json);
        if place.pending.len() >= BUFFER_BYTES {
            place.flush()?;
        }
        Ok(Spooled { spool: Arc::clone(spool), start, bytes, hash: xxh3_64(json) })
    }
}

impl Place {
    fn flush(&mut self) -> Result<()> {
        let end = self.written + self.pending.len() as u64;
        let written = self.file.seek(SeekFrom::Start(self.written)).and_then(|_| self.file.write_all(&self.pending));
        written.map_err(|error| Error::io("write", &std::env::temp_dir(), error))?;
        self.pending.clear();
        self.written = end;
        Ok(())
    }
}

impl Spooled {
    /// The file that the record is from.
    pub fn catalogue(&self) -> &Arc<str> {
        &self.spool.name
    }

    /// Length of its JSON, in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }

    /// Reads the metadata back.
    ///
    /// # Errors
    /// [`Error::Io`] where the temporary file cannot be read.
    pub fn metadata(&self) -> Result<TableMetadata> {
        let mut json = vec![0; self.bytes as usize];
        let mut place = self.spool.place.lock().unwrap_or_else(PoisonError::into_inner);
        if self.start + self.bytes() > place.written {
            place.flush()?;
        }
        let read = place.file.seek(SeekFrom::Start(self.start)).and_then(|_| place.file.read_exact(&mut json));
        drop(place);
        read.map_err(|error| Error::io("read", &std::env::temp_dir(), error))?;
        from_slice(&json).map_err(|error| Error::Internal(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_metadata_is_read_back_in_any_order() {
        let spool = Arc::new(Spool::default());
        let titled = |number: usize| TableMetadata {
            title: Some(format!("{number} {}", "x".repeat(number % 1000))),
            ..TableMetadata::default()
        };
        let mut stored: Vec<(usize, Spooled)> = Vec::new();
        for number in 0..100_000 {
            stored.push((number, Spool::put(&spool, &written(&titled(number)).unwrap()).unwrap()));
            if number % 20_000 == 7 {
                assert_eq!(stored[number / 2].1.metadata().unwrap(), titled(number / 2));
            }
        }
        assert!(spool.place.lock().unwrap().file.is_rolled(), "it is on the disk");
        for (number, spooled) in stored.iter().rev().step_by(997) {
            assert_eq!(spooled.metadata().unwrap(), titled(*number));
        }
        assert_ne!(stored[1].1.hash, stored[2].1.hash);
    }
}
