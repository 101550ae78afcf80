//! ORC files: types from the footer, rows a few thousand at a time. A stripe is held in memory packed, a batch unpacked.
//!
//! The decoder believes what a file says and panics where that is wrong; the guard catches the panic. What it would
//! allocate because the file says so, and types nested without end, are checked before. One thing is not found before
//! it happens: a small block that unpacks to gigabytes.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use orc_rust::ArrowReaderBuilder;
use orc_rust::proto::{CompressionKind, Footer, PostScript};
use orc_rust::reader::ChunkReader;
use prost::Message;

use super::parquet::open_regular;
use super::typed::{Batches, TypedRows, guarded, unreadable};
use super::{ReadOptions, TableReader};
use crate::storage::File;
use lakeward_core::error::{Error, Result};

/// Longest block by the format: its length has 23 bits.
const MOST_BLOCK_BYTES: u64 = 1 << 23;
/// Longest footer, unpacked.
const MOST_FOOTER_BYTES: u64 = 256 << 20;
/// Types within types.
const MOST_LEVELS: usize = 100;

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
    let reader = guarded(|| check(&chunks))
        .and_then(|checked| checked)
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

/// Refuses what the decoder would take for granted: blocks beyond the format's size, which it would allocate, and types that contain each
/// other, or that many levels deep, in which it would not end.
fn check(chunks: &Chunks) -> Result<(), String> {
    let damaged = |error: &dyn std::fmt::Display| format!("damaged ORC file: {error}");
    let bytes = |offset: Option<u64>, length: u64| {
        let offset = offset.ok_or_else(|| damaged(&"its footer reaches before its start"))?;
        chunks.get_bytes(offset, length).map_err(|error| damaged(&error))
    };
    let postscript_bytes = u64::from(bytes(chunks.size.checked_sub(1), 1)?[0]);
    let at = chunks.size.checked_sub(1 + postscript_bytes);
    let postscript = PostScript::decode(bytes(at, postscript_bytes)?).map_err(|error| damaged(&error))?;
    let block_bytes = postscript.compression_block_size.unwrap_or(0);
    if block_bytes > MOST_BLOCK_BYTES {
        return Err(damaged(&format!("blocks of {block_bytes} bytes")));
    }
    let length = postscript.footer_length();
    let footer = unpacked(&bytes(at.and_then(|at| at.checked_sub(length)), length)?, postscript.compression())?;
    let footer = Footer::decode(&footer[..]).map_err(|error| damaged(&error))?;
    let mut depths: Vec<Option<usize>> = vec![None; footer.types.len()];
    if let Some(root) = depths.first_mut() {
        *root = Some(0);
    }
    for (number, kind) in footer.types.iter().enumerate() {
        for part in kind.subtypes.iter().map(|part| *part as usize) {
            let depth = depths[number].map(|depth| depth + 1).filter(|depth| *depth <= MOST_LEVELS);
            // Each is a part of one type, which stands before it.
            let is_new = part > number && depths.get(part).is_some_and(Option::is_none);
            match depth.filter(|_| is_new) {
                Some(depth) => depths[part] = Some(depth),
                None => return Err(damaged(&"its types are no tree")),
            }
        }
    }
    Ok(())
}

/// The blocks of a footer, one after the other: three bytes of length and whether it is packed, then so many bytes.
fn unpacked(mut packed: &[u8], kind: CompressionKind) -> Result<Vec<u8>, String> {
    let damaged = || "damaged ORC file: its footer cannot be unpacked".to_string();
    if kind == CompressionKind::None {
        return Ok(packed.to_vec());
    }
    let mut footer = Vec::new();
    while !packed.is_empty() {
        let (head, rest) = packed.split_first_chunk::<3>().ok_or_else(damaged)?;
        let head = u32::from_le_bytes([head[0], head[1], head[2], 0]);
        let (block, rest) = rest.split_at_checked((head >> 1) as usize).ok_or_else(damaged)?;
        packed = rest;
        let mut read: Box<dyn Read> = match kind {
            _ if head & 1 == 1 => Box::new(block),
            CompressionKind::Zlib => Box::new(flate2::read::DeflateDecoder::new(block)),
            CompressionKind::Zstd => Box::new(zstd::Decoder::new(block).map_err(|_| damaged())?),
            CompressionKind::Snappy => {
                snap::raw::decompress_len(block)
                    .ok()
                    .filter(|length| *length as u64 <= MOST_BLOCK_BYTES)
                    .ok_or_else(damaged)?;
                Box::new(Cursor::new(snap::raw::Decoder::new().decompress_vec(block).map_err(|_| damaged())?))
            }
            other => return Err(format!("an ORC file packed by {}, which is not read", other.as_str_name())),
        };
        let left = MOST_FOOTER_BYTES.saturating_sub(footer.len() as u64);
        read.by_ref().take(left + 1).read_to_end(&mut footer).map_err(|_| damaged())?;
        if footer.len() as u64 > MOST_FOOTER_BYTES {
            return Err(damaged());
        }
    }
    Ok(footer)
}
