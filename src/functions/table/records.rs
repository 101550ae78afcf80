//! From rows as plain types to Arrow, by a schema; the short names of types that schemas are written with.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::json::ReaderBuilder;
use serde::Serialize;

use lakeward_core::error::{Error, Result};

/// A column that always has a value.
pub(super) fn required(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

/// A column that may be NULL.
pub(super) fn optional(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

/// The type of lists of `item`.
pub(super) fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// The type of values with these parts.
pub(super) fn parts<const N: usize>(fields: [Field; N]) -> DataType {
    DataType::Struct(Fields::from(fields.to_vec()))
}

/// The schema of these columns.
pub(super) fn schema<const N: usize>(fields: [Field; N]) -> SchemaRef {
    Arc::new(Schema::new(fields.to_vec()))
}

/// `rows` as one batch of `schema`: a field goes to the column of its name.
///
/// # Errors
/// [`Error::Internal`] where rows and schema do not agree.
pub(super) fn batch<R: Serialize>(schema: SchemaRef, rows: &[R]) -> Result<RecordBatch> {
    let failed = |error: arrow::error::ArrowError| Error::Internal(error.to_string());
    if rows.is_empty() {
        return Ok(RecordBatch::new_empty(schema));
    }
    let builder = ReaderBuilder::new(Arc::clone(&schema)).with_strict_mode(true).with_batch_size(rows.len());
    let mut decoder = builder.build_decoder().map_err(failed)?;
    decoder.serialize(rows).map_err(failed)?;
    Ok(decoder.flush().map_err(failed)?.unwrap_or_else(|| RecordBatch::new_empty(schema)))
}

/// The rank at `place`, from 1.
pub(super) fn rank(place: usize) -> u32 {
    u32::try_from(place + 1).unwrap_or(u32::MAX)
}
