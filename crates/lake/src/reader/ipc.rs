//! Arrow IPC: files (Feather version 2), and streams, which may be packed.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::{FileReader, StreamDecoder, read_footer_length};
use arrow::ipc::root_as_footer;
use arrow::record_batch::RecordBatch;

use super::decode::{OpenedBytes, open_bytes};
use super::parquet::open_regular;
use super::typed::{Batches, TypedRows, guarded, unreadable};
use super::{ReadOptions, TableReader};
use crate::storage::File;
use lakeward_core::error::{Error, Result};

const FILE_MAGIC: &[u8] = b"ARROW1";

/// Opens an Arrow IPC file or stream. Each batch of the file is held in memory whole, whatever its size.
///
/// # Errors
/// [`Error::Unreadable`] where no schema can be read. Damage further in ends the rows, and the report says so.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let failed = |source| Error::io("read", path, source);
    let mut file = open_regular(path)?;
    let size = file.size().map_err(failed)?;
    if size == 0 {
        return Err(Error::unreadable(path, "empty file"));
    }
    let mut magic = [0; FILE_MAGIC.len()];
    let is_file = file.read_exact(&mut magic).is_ok() && magic == FILE_MAGIC;
    let rows = if is_file { open_file(file, size, options) } else { open_stream(open_bytes(path)?, options) };
    Ok(Box::new(rows.map_err(unreadable(path))?))
}

fn open_file(mut file: File, size: u64, options: &ReadOptions) -> Result<TypedRows, String> {
    if guarded(|| reaches_past_the_end(&mut file, size))? {
        return Err("damaged Arrow file: a batch reaches past its end".into());
    }
    let reader = guarded(|| FileReader::try_new(BufReader::new(file), None))?;
    let reader = reader.map_err(|error| format!("damaged Arrow file: {error}"))?;
    let fields = reader.schema().fields().clone();
    let batches: Batches = Box::new(reader.map(|batch| batch.map_err(|error| error.to_string())));
    TypedRows::new(&fields, batches, options, Arc::new(AtomicU64::new(size)))
}

/// Whether the footer places a batch outside the file: the decoder would allocate any length it reads there. Other faults of
/// the footer are left to the decoder.
fn reaches_past_the_end(file: &mut File, size: u64) -> bool {
    let mut tail = [0; 10];
    let mut footer = Vec::new();
    let read = file.seek(SeekFrom::End(-10)).and_then(|_| file.read_exact(&mut tail)).is_ok();
    let length = read_footer_length(tail).ok().and_then(|length| u64::try_from(length).ok());
    let Some(length) = length.filter(|length| read && length.saturating_add(10) <= size) else { return false };
    let at = SeekFrom::Start(size - 10 - length);
    if file.seek(at).and_then(|_| file.take(length).read_to_end(&mut footer)).is_err() {
        return false;
    }
    let Ok(footer) = root_as_footer(&footer) else { return false };
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    blocks.into_iter().any(|block| {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end = parts.iter().try_fold(0u64, |end, part| end.checked_add(u64::try_from(*part).ok()?));
        end.is_none_or(|end| end > size)
    })
}

fn open_stream(bytes: OpenedBytes, options: &ReadOptions) -> Result<TypedRows, String> {
    let mut input = bytes.input;
    let mut head = [0; 8];
    let is_stream = input.read_exact(&mut head).is_ok() && begins_stream(head);
    if !is_stream {
        return Err("no Arrow file or stream".into());
    }
    let mut stream = Stream {
        input: Box::new(Cursor::new(head).chain(input)),
        decoder: StreamDecoder::new(),
        read: Buffer::default(),
        first: None,
    };
    let schema = guarded(|| stream.schema())?.map_err(|reason| format!("damaged Arrow stream: {reason}"))?;
    TypedRows::new(schema.fields(), Box::new(stream), options, bytes.read_bytes)
}

/// The batches of a stream. Memory grows with the bytes read, not with the length that a damaged stream declares.
struct Stream {
    input: Box<dyn Read + Send>,
    decoder: StreamDecoder,
    /// Bytes read and not decoded yet.
    read: Buffer,
    /// The batch that was decoded with the schema.
    first: Option<RecordBatch>,
}

impl Stream {
    fn schema(&mut self) -> Result<SchemaRef, String> {
        loop {
            if let Some(schema) = self.decoder.schema() {
                return Ok(schema);
            }
            if !self.fill()? {
                return Err("it ends before its schema".into());
            }
            self.first = self.decoder.decode(&mut self.read).map_err(|error| error.to_string())?;
        }
    }

    /// Reads a chunk if needed; whether there is something to decode.
    fn fill(&mut self) -> Result<bool, String> {
        const CHUNK_BYTES: u64 = 1 << 20;
        if self.read.is_empty() {
            let mut chunk = Vec::new();
            let input = self.input.by_ref().take(CHUNK_BYTES).read_to_end(&mut chunk);
            input.map_err(|error| error.to_string())?;
            self.read = chunk.into();
        }
        Ok(!self.read.is_empty())
    }

    fn decoded(&mut self) -> Result<Option<RecordBatch>, String> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        while self.fill()? {
            if let Some(batch) = self.decoder.decode(&mut self.read).map_err(|error| error.to_string())? {
                return Ok(Some(batch));
            }
        }
        self.decoder.finish().map_err(|error| error.to_string())?;
        Ok(None)
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.decoded().transpose()
    }
}

/// Whether the stream begins with a schema message of plausible length; the message is held in memory whole.
fn begins_stream(head: [u8; 8]) -> bool {
    const MOST_SCHEMA_BYTES: u32 = 64 << 20;
    let [a, b, c, d, e, f, g, h] = head;
    let first = u32::from_le_bytes([a, b, c, d]);
    // Streams older than Arrow 0.15 begin with the length.
    let length = if first == u32::MAX { u32::from_le_bytes([e, f, g, h]) } else { first };
    (8..MOST_SCHEMA_BYTES).contains(&length)
}
