//! Delta: the log is replayed by delta_kernel, which knows checkpoints, column mapping, deletion vectors and protocols.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, AsArray, StructArray};
use arrow::datatypes::{Field, FieldRef, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use delta_kernel::actions::deletion_vector::DeletionVectorDescriptor;
use delta_kernel::engine::arrow_conversion::TryIntoArrow;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::schema::{MetadataValue, StructField};
use delta_kernel::table_features::ColumnMappingMode;
use delta_kernel::{Engine, KernelError, Snapshot as KernelSnapshot};
use roaring::RoaringTreemap;

use super::engine::TableEngine;
use super::{Deleted, LiveFile, MOST_FILES, Matching, OUTSIDE, Snapshot};
use crate::metadata::{ColumnMetadata, TableMetadata};
use crate::source::ContentHash;

/// A vector with more bits is an error: no file has so many rows.
const MOST_DELETED: u64 = 1 << 33;

/// The newest version of the table in `folder`.
///
/// # Errors
/// Why there is none, in one clause.
pub(super) fn snapshot(folder: &Path) -> Result<Snapshot, String> {
    let engine = Arc::new(TableEngine::new(folder).map_err(|error| error.to_string())?);
    let table = KernelSnapshot::builder_for(engine.root().as_str()).build(engine.as_ref()).map_err(reason)?;
    let configuration = table.table_configuration();
    let mode = configuration.column_mapping_mode();
    let described = configuration.metadata();
    let mut metadata = TableMetadata {
        title: described.name().map(str::to_string),
        description: described.description().map(str::to_string),
        ..TableMetadata::default()
    };
    let schema = table.schema();
    let (mut columns, mut keys, mut stored_keys) = (Vec::new(), Vec::new(), Vec::new());
    for field in schema.fields() {
        if let Some(description) = comment(field) {
            let column = ColumnMetadata { description: Some(description), ..ColumnMetadata::default() };
            metadata.columns.insert(field.name().clone(), column);
        }
        let arrow: Field = field.try_into_arrow().map_err(|error| error.to_string())?;
        if described.partition_columns().contains(field.name()) {
            stored_keys.push(field.physical_name(mode).to_string());
            keys.push(Arc::new(arrow) as FieldRef);
        } else {
            columns.push(Arc::new(arrow) as FieldRef);
        }
    }
    let scan = table.clone().scan_builder().without_row_transforms().build().map_err(reason)?;
    let mut files = Vec::new();
    for found in scan.scan_metadata(engine.as_ref()).map_err(reason)? {
        let rows = found.map_err(reason)?.scan_files.apply_selection_vector().map_err(reason)?;
        let rows = ArrowEngineData::try_from_engine_data(rows).map_err(reason)?;
        files_of(rows.record_batch(), &engine, &stored_keys, &mut files)?;
        if files.len() > MOST_FILES {
            return Err(format!("more than {MOST_FILES} files"));
        }
    }
    Ok(Snapshot {
        id: described.id().to_string(),
        columns,
        matching: match mode {
            ColumnMappingMode::None => Matching::Name,
            ColumnMappingMode::Name => Matching::StoredName,
            ColumnMappingMode::Id => Matching::Number,
        },
        keys,
        files,
        reason: "the log of a Delta table",
        metadata,
        content: ContentHash::of_bytes(&[]),
        modified_ns: 0,
        deletes_by_value: 0,
    })
}

/// The kernel's reason in one line: what follows is a trace.
fn reason(error: KernelError) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end_matches('.').to_string()
}

fn comment(field: &StructField) -> Option<String> {
    match field.metadata.get("comment") {
        Some(MetadataValue::String(text)) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    }
}

/// Adds the files of one batch of the log's rows.
fn files_of(
    rows: &RecordBatch,
    engine: &Arc<TableEngine>,
    keys: &[String],
    files: &mut Vec<LiveFile>,
) -> Result<(), String> {
    let missing = || "its log lists files in an unknown form".to_string();
    let column = |name: &str| rows.column_by_name(name).ok_or_else(missing);
    let paths = column("path")?.as_string_opt::<i32>().ok_or_else(missing)?;
    let sizes = column("size")?.as_primitive_opt::<Int64Type>().ok_or_else(missing)?;
    let times = column("modificationTime")?.as_primitive_opt::<Int64Type>().ok_or_else(missing)?;
    let vectors = column("deletionVector")?.as_struct_opt().ok_or_else(missing)?;
    let constants = column("fileConstantValues")?.as_struct_opt().ok_or_else(missing)?;
    let values = constants.column_by_name("partitionValues").and_then(|values| values.as_map_opt());
    let values = values.ok_or_else(missing)?;
    for row in (0..rows.num_rows()).filter(|&row| paths.is_valid(row)) {
        let name = paths.value(row);
        let pairs = values.value(row);
        let value = |key: &String| {
            let (names, texts) = (pairs.column(0).as_string_opt::<i32>()?, pairs.column(1).as_string_opt::<i32>()?);
            let at = (0..names.len()).find(|&at| names.value(at) == key)?;
            // An empty value stands for a missing one.
            texts.is_valid(at).then(|| texts.value(at).to_string()).filter(|text| !text.is_empty())
        };
        let has_values = values.is_valid(row) && constants.is_valid(row);
        files.push(LiveFile {
            name: name.to_string(),
            path: engine.path_of(name).ok_or(OUTSIDE),
            bytes: u64::try_from(sizes.value(row)).unwrap_or(0),
            values: keys.iter().map(|key| if has_values { value(key) } else { None }).collect(),
            deleted: match vectors.is_valid(row) {
                true => Deleted::Vector(Arc::new(Vector::at(vectors, row, engine)?)),
                false => Deleted::Nothing,
            },
            added: if times.is_valid(row) { times.value(row) } else { 0 },
        });
    }
    Ok(())
}

/// A deletion vector: which rows of a file are gone.
#[derive(Debug)]
pub(crate) struct Vector {
    descriptor: DeletionVectorDescriptor,
    engine: Arc<TableEngine>,
}

impl Vector {
    fn at(vectors: &StructArray, row: usize, engine: &Arc<TableEngine>) -> Result<Vector, String> {
        let text = |name: &str| Some(vectors.column_by_name(name)?.as_string_opt::<i32>()?.value(row).to_string());
        let number = |name: &str| {
            let numbers = vectors.column_by_name(name)?.as_primitive_opt::<Int32Type>()?;
            numbers.is_valid(row).then(|| numbers.value(row))
        };
        let rows = || Some(vectors.column_by_name("cardinality")?.as_primitive_opt::<Int64Type>()?.value(row));
        let parts = text("storageType").zip(text("pathOrInlineDv")).zip(number("sizeInBytes").zip(rows()));
        let ((kind, path), (bytes, rows)) = parts.ok_or("a deletion vector in an unknown form")?;
        let kind = kind.parse().map_err(reason)?;
        let descriptor =
            DeletionVectorDescriptor::try_new(kind, path, number("offset"), bytes, rows).map_err(reason)?;
        Ok(Vector { descriptor, engine: Arc::clone(engine) })
    }

    /// What tells it from other vectors of the table.
    pub(super) fn id(&self) -> String {
        let DeletionVectorDescriptor { storage_type, path_or_inline_dv, offset, .. } = &self.descriptor;
        format!("{storage_type}{path_or_inline_dv}@{}", offset.unwrap_or(0))
    }

    /// The numbers of the rows.
    ///
    /// # Errors
    /// Why it cannot be read, in one clause.
    pub(super) fn read(&self) -> Result<RoaringTreemap, String> {
        let engine = &self.engine;
        let rows = self.descriptor.read(engine.storage_handler(), engine.root()).map_err(reason)?;
        let declared = u64::try_from(self.descriptor.cardinality).unwrap_or(u64::MAX);
        match rows.len() {
            count if count == declared && count <= MOST_DELETED => Ok(rows),
            count => Err(format!("its deletion vector has {count} rows in place of {declared}")),
        }
    }
}
