//! What records say, put aside until it is needed: as JSON, on the disk where there is much of it.
//!
//! A million records say a gigabyte. Planning a build looks at their ids and at a hash of what they say; the rest is asked for
//! once, when a record is drafted.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{from_slice, to_vec};
use tempfile::SpooledTempFile;
use xxhash_rust::xxh3::xxh3_64;

use super::TableMetadata;
use lakeward_core::error::{Error, Result};

/// Bytes that stay in memory.
const IN_MEMORY_BYTES: usize = 32 << 20;
/// Bytes that are written at once.
const BUFFER_BYTES: usize = 1 << 20;

/// Metadata of many records, in a temporary file that is gone with it.
#[derive(Debug)]
pub(super) struct Spool(Mutex<Place>);

#[derive(Debug)]
struct Place {
    file: SpooledTempFile,
    /// What is in the file, in bytes.
    written: u64,
    /// What comes behind it and is not in the file yet.
    waiting: Vec<u8>,
}

/// Metadata put aside.
#[derive(Debug)]
pub(super) struct Spooled {
    spool: Arc<Spool>,
    start: u64,
    bytes: u32,
    /// Hash of the JSON.
    pub hash: u64,
}

impl Default for Spool {
    fn default() -> Self {
        Self(Mutex::new(Place { file: SpooledTempFile::new(IN_MEMORY_BYTES), written: 0, waiting: Vec::new() }))
    }
}

impl Spool {
    /// Puts `metadata` aside.
    ///
    /// # Errors
    /// [`Error::Io`] where the folder for temporary files is full.
    pub fn put(spool: &Arc<Self>, metadata: &TableMetadata) -> Result<Spooled> {
        let json = to_vec(metadata).map_err(|error| Error::Internal(error.to_string()))?;
        let bytes = u32::try_from(json.len()).map_err(|_| Error::Internal("metadata of 4 GB".into()))?;
        let mut place = spool.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = place.written + place.waiting.len() as u64;
        place.waiting.extend_from_slice(&json);
        if place.waiting.len() >= BUFFER_BYTES {
            place.flush()?;
        }
        Ok(Spooled { spool: Arc::clone(spool), start, bytes, hash: xxh3_64(&json) })
    }
}

impl Place {
    fn flush(&mut self) -> Result<()> {
        let end = self.written + self.waiting.len() as u64;
        let written = self.file.seek(SeekFrom::Start(self.written)).and_then(|_| self.file.write_all(&self.waiting));
        written.map_err(|error| Error::io("write", &std::env::temp_dir(), error))?;
        self.waiting.clear();
        self.written = end;
        Ok(())
    }
}

impl Spooled {
    /// How long its JSON is.
    pub fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }

    /// Takes it up again.
    ///
    /// # Errors
    /// [`Error::Io`] where the temporary file cannot be read.
    pub fn metadata(&self) -> Result<TableMetadata> {
        let mut json = vec![0; self.bytes as usize];
        let mut place = self.spool.0.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn what_is_put_aside_returns_in_any_order() {
        let spool = Arc::new(Spool::default());
        let titled = |number: usize| TableMetadata {
            title: Some(format!("{number} {}", "x".repeat(number % 1000))),
            ..TableMetadata::default()
        };
        let mut aside: Vec<(usize, Spooled)> = Vec::new();
        for number in 0..100_000 {
            aside.push((number, Spool::put(&spool, &titled(number)).unwrap()));
            if number % 20_000 == 7 {
                assert_eq!(aside[number / 2].1.metadata().unwrap(), titled(number / 2));
            }
        }
        assert!(spool.0.lock().unwrap().file.is_rolled(), "it is on the disk");
        for (number, spooled) in aside.iter().rev().step_by(997) {
            assert_eq!(spooled.metadata().unwrap(), titled(*number));
        }
        assert_ne!(aside[1].1.hash, aside[2].1.hash);
    }
}
