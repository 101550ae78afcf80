//! Parquet: types and columns from the footer, rows a few thousand at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow::array::new_null_array;
use arrow::datatypes::{FieldRef, Fields, Schema};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;

use super::header::name_columns;
use super::report::ReadReport;
use super::typed::{Batches, TypedRows, guarded, unreadable};
use super::{ReadOptions, TableReader};
use crate::storage::{self, File};
use lakeward_core::error::{Error, Result};

/// Opens a Parquet file.
///
/// # Errors
/// [`Error::Unreadable`] where the footer is damaged. Damage further in ends the rows, and the report says so.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let chosen = |fields: &Fields| Some(places_called(fields, options.only.as_deref()?));
    let FileRows { fields, batches, places, total_rows, bytes } = file_rows(path, options, chosen)?;
    let batches = match places {
        Some(places) => widened(batches, fields.clone(), places),
        None => batches,
    };
    // Pages are not read in sequence, so the whole file counts as read.
    let read_bytes = Arc::new(AtomicU64::new(bytes));
    let rows = TypedRows::new(&fields, batches, options, read_bytes).map_err(unreadable(path))?;
    Ok(Box::new(rows.with_total_rows(total_rows)))
}

/// What a file has, before anything is made of it.
pub(super) struct FileRows {
    pub fields: Fields,
    pub batches: Batches,
    /// The places of the columns that the batches have; `None` for all.
    pub places: Option<Vec<usize>>,
    pub total_rows: u64,
    /// Its size.
    pub bytes: u64,
}

/// The places of the columns that readers call so.
fn places_called(fields: &Fields, names: &[String]) -> Vec<usize> {
    let written = fields.iter().map(|field| field.name().clone()).collect();
    let columns = name_columns(written, &mut ReadReport::default(), None);
    (0..columns.len()).filter(|place| names.contains(&columns[*place].name)).collect()
}

/// Batches of the columns at `places` with empty ones for the others of `fields`.
fn widened(batches: Batches, fields: Fields, places: Vec<usize>) -> Batches {
    // What is not read may be missing, whatever the file says.
    let nullable = fields.iter().map(|field| field.as_ref().clone().with_nullable(true));
    let schema = Arc::new(Schema::new(nullable.collect::<Vec<_>>()));
    Box::new(batches.map(move |batch| {
        let batch = batch?;
        let column = |(place, field): (usize, &FieldRef)| match places.binary_search(&place) {
            Ok(at) => Arc::clone(batch.column(at)),
            Err(_) => new_null_array(field.data_type(), batch.num_rows()),
        };
        let arrays = schema.fields().iter().enumerate().map(column).collect();
        RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(|error| error.to_string())
    }))
}

/// The rows of a Parquet file as it has them, of the columns at the places that are `chosen` of its own.
///
/// # Errors
/// As [`open`].
pub(super) fn file_rows(
    path: &Path,
    options: &ReadOptions,
    chosen: impl FnOnce(&Fields) -> Option<Vec<usize>>,
) -> Result<FileRows> {
    let file = open_regular(path)?;
    let bytes = file.size().map_err(|source| Error::io("read", path, source))?;
    if bytes == 0 {
        return Err(Error::unreadable(path, "empty file"));
    }
    // The Arrow schema that writers embed may contradict the file; the pages hold the Parquet types.
    let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, ArrowReaderOptions::new()))
        .and_then(|opened| opened.map_err(|error| format!("damaged Parquet footer: {error}")))
        .map_err(unreadable(path))?;
    let fields = builder.schema().fields().clone();
    let rows = batch_rows(builder.metadata(), options);
    // Batches of no column at all would have no rows.
    let places = chosen(&fields).map(|places| if places.is_empty() { vec![0] } else { places });
    let builder = match &places {
        Some(places) => {
            let mask = ProjectionMask::roots(builder.parquet_schema(), places.iter().copied());
            builder.with_projection(mask)
        }
        None => builder,
    };
    let total_rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let reader = guarded(|| builder.with_batch_size(rows).build())
        .and_then(|built| built.map_err(|error| error.to_string()))
        .map_err(unreadable(path))?;
    let batches: Batches = Box::new(reader.map(|batch| batch.map_err(|error| error.to_string())));
    Ok(FileRows { fields, batches, places, total_rows, bytes })
}

/// Number of rows that unpack to about a batch's bytes.
fn batch_rows(metadata: &ParquetMetaData, options: &ReadOptions) -> usize {
    let groups = metadata.row_groups();
    let bytes: i64 = groups.iter().map(|group| group.total_byte_size().max(0)).fold(0, i64::saturating_add);
    let rows = metadata.file_metadata().num_rows().max(1);
    let row_bytes = usize::try_from(bytes / rows).unwrap_or(usize::MAX).max(1);
    (options.batch_bytes / row_bytes).clamp(1, options.batch_rows.max(1))
}

/// Opens a file that is neither a folder nor a device.
pub(crate) fn open_regular(path: &Path) -> Result<File> {
    let failed = |source| Error::io("read", path, source);
    let meta = storage::metadata(path).map_err(failed)?;
    if !meta.is_file() {
        return Err(Error::unreadable(path, if meta.is_dir() { "a folder" } else { "not a regular file" }));
    }
    File::open(path).map_err(failed)
}
