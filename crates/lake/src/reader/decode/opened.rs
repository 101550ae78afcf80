//! A file opened for streaming: unpacked, counted and hashed while it is read.

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::CHUNK_BYTES;
use crate::reader::hash::StreamHash;
use crate::storage::{self, File};
use lakeward_core::error::{Error, Result};

/// Files up to this size are read at once.
const WHOLE_FILE_BYTES: u64 = 4 << 20;

/// A file opened for streaming, unpacked while it is read.
pub(crate) struct OpenedBytes {
    pub(crate) input: Box<dyn Read + Send>,
    pub(crate) read_bytes: Arc<AtomicU64>,
    pub(crate) packed: bool,
    pub file_bytes: u64,
    pub first_chunk_bytes: usize,
}

/// Opens a regular file; gzip and zstd streams, known by their first bytes, are unpacked.
pub(crate) fn open_bytes(path: &Path) -> Result<OpenedBytes> {
    open_bytes_hashed(path, None)
}

pub(super) fn open_bytes_hashed(path: &Path, hash: Option<Arc<Mutex<StreamHash>>>) -> Result<OpenedBytes> {
    let failed = |source| Error::io("read", path, source);
    let meta = storage::metadata(path).map_err(failed)?;
    if !meta.is_file() {
        let what = if meta.is_dir() { "a folder" } else { "not a regular file" };
        return Err(Error::unreadable(path, what));
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut magic = Vec::with_capacity(4);
    (&mut file).take(4).read_to_end(&mut magic).map_err(failed)?;
    let read_bytes = Arc::new(AtomicU64::new(0));
    if let Some(hash) = &hash
        && meta.len() > WHOLE_FILE_BYTES
        && let Ok(mut hash) = hash.lock()
    {
        hash.follow(&file);
    }
    let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
    let is_zstd = magic == [0x28, 0xb5, 0x2f, 0xfd];
    let whole = Cursor::new(magic).chain(file);
    let counted = Counted { input: whole, count: Arc::clone(&read_bytes), hash };
    let first_chunk_bytes = if is_gzip || is_zstd || meta.len() > WHOLE_FILE_BYTES {
        CHUNK_BYTES / 4
    } else {
        // One byte more than the file has, so that the first read also reaches its end.
        usize::try_from(meta.len()).unwrap_or(CHUNK_BYTES) + 1
    };
    let input: Box<dyn Read + Send> = if is_gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, counted)))
    } else if is_zstd {
        Box::new(zstd::stream::read::Decoder::new(counted).map_err(failed)?)
    } else {
        Box::new(counted)
    };
    Ok(OpenedBytes { input, read_bytes, packed: is_gzip || is_zstd, file_bytes: meta.len(), first_chunk_bytes })
}

struct Counted<R> {
    input: R,
    count: Arc<AtomicU64>,
    hash: Option<Arc<Mutex<StreamHash>>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        if let Some(hash) = &self.hash
            && let Ok(mut hash) = hash.lock()
        {
            // A decoder never requests zero bytes, so a read of zero bytes is the end.
            hash.take(&buffer[..count]);
        }
        Ok(count)
    }
}
