//! Arrow IPC: files (Feather version 2), and streams, which may be packed.

use std::io::{BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow::ipc::reader::{FileReader, StreamReader};

use super::decode::{OpenedBytes, open_bytes};
use super::parquet::open_regular;
use super::typed::{Batches, TypedRows, guarded, unreadable};
use super::{ReadOptions, TableReader};
use lakeward_core::error::{Error, Result};

const FILE_MAGIC: &[u8] = b"ARROW1";

/// Opens an Arrow IPC file or stream. A batch of the file is held whole, whatever its size.
///
/// # Errors
/// [`Error::Unreadable`] where no schema can be read. Damage further in ends the rows, and the report says so.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let failed = |source| Error::io("read", path, source);
    let mut file = open_regular(path)?;
    let size = file.metadata().map_err(failed)?.len();
    if size == 0 {
        return Err(Error::unreadable(path, "empty file"));
    }
    let mut magic = [0; FILE_MAGIC.len()];
    let is_file = file.read_exact(&mut magic).is_ok() && magic == FILE_MAGIC;
    let rows = if is_file { open_file(file, size, options) } else { open_stream(open_bytes(path)?, options) };
    Ok(Box::new(rows.map_err(unreadable(path))?))
}

fn open_file(file: std::fs::File, size: u64, options: &ReadOptions) -> Result<TypedRows, String> {
    let reader = guarded(|| FileReader::try_new(BufReader::new(file), None))?;
    let reader = reader.map_err(|error| format!("damaged Arrow file: {error}"))?;
    let fields = reader.schema().fields().clone();
    let batches: Batches = Box::new(reader.map(|batch| batch.map_err(|error| error.to_string())));
    TypedRows::new(&fields, batches, options, Arc::new(AtomicU64::new(size)))
}

fn open_stream(bytes: OpenedBytes, options: &ReadOptions) -> Result<TypedRows, String> {
    let mut input = bytes.input;
    let mut head = [0; 8];
    let is_stream = input.read_exact(&mut head).is_ok() && begins_stream(head);
    if !is_stream {
        return Err("no Arrow file or stream".into());
    }
    let input = Cursor::new(head).chain(input);
    let reader = guarded(|| StreamReader::try_new(input, None))?;
    let reader = reader.map_err(|error| format!("damaged Arrow stream: {error}"))?;
    let fields = reader.schema().fields().clone();
    let batches: Batches = Box::new(reader.map(|batch| batch.map_err(|error| error.to_string())));
    TypedRows::new(&fields, batches, options, bytes.read_bytes)
}

/// Whether a schema message of a sane length follows; the decoder reserves whatever length it reads.
fn begins_stream(head: [u8; 8]) -> bool {
    const MOST_SCHEMA_BYTES: u32 = 64 << 20;
    let [a, b, c, d, e, f, g, h] = head;
    let first = u32::from_le_bytes([a, b, c, d]);
    // Streams older than Arrow 0.15 begin with the length.
    let length = if first == u32::MAX { u32::from_le_bytes([e, f, g, h]) } else { first };
    (8..MOST_SCHEMA_BYTES).contains(&length)
}
