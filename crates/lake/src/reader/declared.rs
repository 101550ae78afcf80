//! Rows of a Parquet file as the log of its table declares them: other names, wider types, columns that it lacks, rows that are gone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, MapArray, StructArray, new_null_array};
use arrow::compute::{CastOptions, cast_with_options, filter_record_batch};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};

use super::parquet::file_rows;
use super::report::ReadReport;
use super::typed::{Batches, TypedRows, declared_columns, unreadable};
use super::{ReadOptions, TableReader};
use crate::table_format::{LiveFile, Matching, NUMBER, STORED_NAME, Snapshot, number_of};
use lakeward_core::error::{Error, Result};

/// Opens `file` of the table that `snapshot` describes; the reader's columns are those of the snapshot.
///
/// # Errors
/// [`Error::Unreadable`] where the file is not there or damaged, or its deletions cannot be read.
pub(super) fn open(snapshot: &Snapshot, file: &LiveFile, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let path = file.path.as_deref().map_err(|reason| Error::unreadable(Path::new(&file.name), *reason))?;
    let (declared, matching) = (snapshot.columns.clone(), snapshot.matching);
    let of_file = |fields: &Fields| {
        let only = options.only.as_deref()?;
        let called = declared_columns(&declared, options, &mut ReadReport::default()).ok()?;
        let named = declared.iter().zip(called).filter(|(_, (column, _))| only.contains(&column.name));
        let mut places: Vec<usize> = named.filter_map(|(field, _)| place_of(fields, field, matching)).collect();
        places.sort_unstable();
        Some(places)
    };
    let found = file_rows(path, options, of_file)?;
    let deleted = file.deleted_rows().map_err(unreadable(path))?;
    let total_rows = found.total_rows.saturating_sub(deleted.len());
    let schema = Arc::new(Schema::new(declared.clone()));
    let mut row = 0;
    let batches: Batches = Box::new(found.batches.map(move |batch| {
        let mut batch = batch?;
        let first = row;
        row += batch.num_rows() as u64;
        if !deleted.is_empty() {
            let stays: BooleanArray = (first..row).map(|row| Some(!deleted.contains(row))).collect();
            batch = filter_record_batch(&batch, &stays).map_err(|error| error.to_string())?;
        }
        let fields = batch.schema();
        let arrays = conformed(fields.fields(), batch.columns(), batch.num_rows(), &declared, matching)?;
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &rows).map_err(|error| error.to_string())
    }));
    let read_bytes = Arc::new(AtomicU64::new(found.bytes));
    let rows = TypedRows::new(&snapshot.columns, batches, options, read_bytes).map_err(unreadable(path))?;
    Ok(Box::new(rows.with_total_rows(total_rows)))
}

/// The `declared` columns out of those of a file; what it lacks is missing.
fn conformed<'a>(
    fields: &Fields,
    arrays: &[ArrayRef],
    rows: usize,
    declared: impl IntoIterator<Item = &'a FieldRef>,
    matching: Matching,
) -> Result<Vec<ArrayRef>, String> {
    let array = |field: &FieldRef| match place_of(fields, field, matching) {
        Some(at) => converted(&arrays[at], field.data_type(), matching),
        None => Ok(new_null_array(field.data_type(), rows)),
    };
    declared.into_iter().map(array).collect()
}

fn place_of(fields: &Fields, declared: &Field, matching: Matching) -> Option<usize> {
    let by_name = |name: &str| fields.iter().position(|field| field.name() == name);
    match matching {
        Matching::Name => by_name(declared.name()),
        Matching::StoredName => by_name(declared.metadata().get(STORED_NAME).unwrap_or(declared.name())),
        // Files that a table took over have names only.
        Matching::Number => match number_of(declared) {
            Some(number) if fields.iter().any(|field| field.metadata().contains_key(NUMBER)) => {
                fields.iter().position(|field| field.metadata().get(NUMBER) == Some(number))
            }
            _ => by_name(declared.metadata().get(STORED_NAME).unwrap_or(declared.name())),
        },
    }
}

fn converted(array: &ArrayRef, kind: &DataType, matching: Matching) -> Result<ArrayRef, String> {
    let failed = |error: arrow::error::ArrowError| error.to_string();
    let nulls = array.nulls().cloned();
    Ok(match (array.data_type(), kind) {
        (found, declared) if found == declared => Arc::clone(array),
        (DataType::Struct(fields), DataType::Struct(declared)) => {
            let parts = conformed(fields, array.as_struct().columns(), array.len(), declared, matching)?;
            Arc::new(StructArray::try_new_with_length(declared.clone(), parts, nulls, array.len()).map_err(failed)?)
        }
        (DataType::List(_), DataType::List(item)) => {
            let list = array.as_list::<i32>();
            let values = converted(list.values(), item.data_type(), matching)?;
            Arc::new(ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, nulls).map_err(failed)?)
        }
        (DataType::Map(..), DataType::Map(entries, ordered)) => {
            let map = array.as_map();
            let DataType::Struct(declared) = entries.data_type() else { return Err("a map without entries".into()) };
            // Keys and values have their places, whatever their names.
            let parts = map.entries().columns().iter().zip(declared);
            let parts = parts.map(|(part, field)| converted(part, field.data_type(), matching));
            let pairs =
                StructArray::try_new(declared.clone(), parts.collect::<Result<_, _>>()?, None).map_err(failed)?;
            let (entries, offsets) = (Arc::clone(entries), map.offsets().clone());
            Arc::new(MapArray::try_new(entries, offsets, pairs, nulls, *ordered).map_err(failed)?)
        }
        // A value that does not fit is damage, not a missing value.
        (_, declared) => cast_with_options(array, declared, &CastOptions { safe: false, ..CastOptions::default() })
            .map_err(failed)?,
    })
}
