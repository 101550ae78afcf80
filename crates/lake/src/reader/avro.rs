//! Avro object container files: types from the schema in the file, rows a few thousand at a time.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_avro::reader::ReaderBuilder;

use super::avro_blocks::{BREAKS_OFF, CheckedBlocks};
use super::parquet::open_regular;
use super::typed::{Batches, TypedRows, guarded, unreadable};
use super::{ReadOptions, TableReader};
use lakeward_core::error::{Error, Result};

/// Opens an Avro file; its blocks may be packed by Snappy or Zstandard.
///
/// # Errors
/// [`Error::Unreadable`] where its head is damaged, or its blocks packed otherwise. Damage further in ends the rows, and the report says
/// so.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let file = open_regular(path)?;
    let size = file.size().map_err(|source| Error::io("read", path, source))?;
    if size == 0 {
        return Err(Error::unreadable(path, "empty file"));
    }
    let builder = ReaderBuilder::new().with_batch_size(options.batch_rows.max(1));
    let checked =
        CheckedBlocks::new(BufReader::new(file)).map_err(|error| Error::unreadable(path, error.to_string()))?;
    let breaks_off = checked.breaks_off();
    let left_out = checked.left_out().to_vec();
    let reader = guarded(|| builder.build(checked))
        .and_then(|built| built.map_err(|error| format!("damaged Avro file: {error}")))
        .map_err(unreadable(path))?;
    let fields = reader.schema().fields().clone();
    let end = std::iter::once_with(move || breaks_off.load(Ordering::Relaxed));
    let end = end.filter(|breaks_off| *breaks_off).map(|_| Err(BREAKS_OFF.to_string()));
    let batches: Batches = Box::new(reader.map(|batch| batch.map_err(|error| error.to_string())).chain(end));
    let read_bytes = Arc::new(AtomicU64::new(size));
    let rows = TypedRows::new(&fields, batches, options, read_bytes).map_err(unreadable(path))?;
    Ok(Box::new(rows.without_columns(&left_out)))
}
