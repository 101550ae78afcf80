//! ORC files: types from the footer, rows a few thousand at a time. A stripe is held in memory packed, a batch unpacked.
//!
//! The decoder takes what a file says for granted and panics, which the guard catches; what it would allocate by the file's word alone is
//! checked before. A small block that unpacks to gigabytes is not told before it has.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use orc_rust::ArrowReaderBuilder;
use orc_rust::reader::ChunkReader;

use super::parquet::open_regular;
use super::typed::{Batches, TypedRows, guarded, unreadable};
use super::{ReadOptions, TableReader};
use crate::storage::File;
use lakeward_core::error::{Error, Result};

/// Longest block by the format: its length has 23 bits.
const MOST_BLOCK_BYTES: u64 = 1 << 23;
/// The postscript, whose length is in the last byte.
const MOST_POSTSCRIPT_BYTES: u64 = 256;

/// Opens an ORC file.
///
/// # Errors
/// [`Error::Unreadable`] where the footer is damaged. Damage further in ends the rows, and the report says so.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let file = open_regular(path)?;
    let size = file.size().map_err(|source| Error::io("read", path, source))?;
    if size == 0 {
        return Err(Error::unreadable(path, "empty file"));
    }
    let chunks = Chunks { file: Mutex::new(file), size };
    let reader = check_postscript(&chunks)
        .and_then(|()| guarded(|| ArrowReaderBuilder::try_new(chunks)))
        .and_then(|built| built.map_err(|error| format!("damaged ORC file: {error}")))
        .and_then(|builder| guarded(|| builder.with_batch_size(options.batch_rows.max(1)).build()))
        .map_err(unreadable(path))?;
    let total_rows = reader.total_row_count();
    let fields = guarded(|| arrow::record_batch::RecordBatchReader::schema(&reader)).map_err(unreadable(path))?;
    let batches: Batches = Box::new(reader.map(|batch| batch.map_err(|error| error.to_string())));
    // Streams are not read in sequence, so the whole file counts as read.
    let rows = TypedRows::new(fields.fields(), batches, options, Arc::new(AtomicU64::new(size)));
    Ok(Box::new(rows.map_err(unreadable(path))?.with_total_rows(total_rows)))
}

/// The bytes of a file; none beyond its end, whatever it says of itself.
struct Chunks {
    file: Mutex<File>,
    size: u64,
}

impl ChunkReader for Chunks {
    type T = Cursor<Bytes>;

    fn len(&self) -> u64 {
        self.size
    }

    fn get_read(&self, offset: u64) -> io::Result<Self::T> {
        self.get_bytes(offset, self.size.saturating_sub(offset)).map(Cursor::new)
    }

    fn get_bytes(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        if offset.checked_add(length).is_none_or(|end| end > self.size) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a part reaches past the end of the file"));
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Refuses a block size beyond the format's, which the decoder would allocate.
fn check_postscript(chunks: &Chunks) -> Result<(), String> {
    const BLOCK_SIZE_FIELD: u64 = 3;
    let damaged = || "damaged ORC file: no postscript".to_string();
    let length = chunks.size.min(MOST_POSTSCRIPT_BYTES);
    let tail = chunks.get_bytes(chunks.size - length, length).map_err(|error| error.to_string())?;
    let (length, tail) = tail.split_last().ok_or_else(damaged)?;
    let start = tail.len().checked_sub(usize::from(*length)).ok_or_else(damaged)?;
    let mut rest = &tail[start..];
    // Protocol buffers: a field's number with its kind, then a number or so many bytes.
    while !rest.is_empty() {
        let key = varint(&mut rest).ok_or_else(damaged)?;
        let number = varint(&mut rest).ok_or_else(damaged)?;
        match key & 7 {
            0 if key >> 3 == BLOCK_SIZE_FIELD && number > MOST_BLOCK_BYTES => {
                return Err(format!("damaged ORC file: blocks of {number} bytes"));
            }
            0 => {}
            2 => rest = usize::try_from(number).ok().and_then(|length| rest.get(length..)).ok_or_else(damaged)?,
            _ => return Err(damaged()),
        }
    }
    Ok(())
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
