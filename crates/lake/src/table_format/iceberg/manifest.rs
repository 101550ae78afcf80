//! Manifests of Iceberg: Avro files that list the files of a snapshot.

use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use arrow_avro::reader::ReaderBuilder;
use serde_json::Value;

use super::super::{Deleted, LiveFile};
use super::metadata::IcebergMetadata;
use crate::reader::{BREAKS_OFF, CheckedBlocks, open_regular};

/// More manifests of one snapshot are an error.
const MOST_MANIFESTS: usize = 100_000;
/// Entries of a manifest that are in memory at once.
const BATCH_ROWS: usize = 1024;
/// An entry whose file is no longer in the table.
const REMOVED: i32 = 2;

/// What is in a file that a manifest lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Rows of the table.
    Data,
    /// Places of deleted rows.
    Positions,
    /// Values of deleted rows.
    Values,
}

/// A manifest of the snapshot in force.
pub(super) struct Manifest {
    path: PathBuf,
    /// The partitioning of its files.
    pub spec: i64,
    /// The number of the change that added it.
    sequence: i64,
}

impl Manifest {
    /// All manifests of the snapshot that is in force.
    ///
    /// # Errors
    /// Why they cannot be read, in one clause.
    pub(super) fn all(table: &IcebergMetadata) -> Result<Vec<Manifest>, String> {
        let Some(snapshot) = table.snapshot() else {
            return match table.snapshot_id() {
                Some(id) => Err(format!("its metadata does not have its snapshot {id}")),
                None => Ok(Vec::new()),
            };
        };
        let mut manifests = Vec::new();
        let Some(list) = snapshot.get("manifest-list").and_then(Value::as_str) else {
            // Version 1 may name the manifests in the metadata itself.
            let named = snapshot.get("manifests").and_then(Value::as_array).ok_or("a snapshot without manifests")?;
            for address in named.iter().filter_map(Value::as_str) {
                manifests.push(Manifest { path: table.path_of(address)?, spec: table.default_spec(), sequence: 0 });
            }
            return Ok(manifests);
        };
        each_batch(&table.path_of(list)?, |rows| {
            let paths = rows.column_by_name("manifest_path").and_then(|paths| paths.as_string_opt::<i32>());
            let paths = paths.ok_or("a list of manifests without their paths")?;
            for row in 0..rows.num_rows() {
                manifests.push(Manifest {
                    path: table.path_of(paths.value(row))?,
                    spec: number(rows.column_by_name("partition_spec_id"), row).unwrap_or(table.default_spec()),
                    sequence: number(rows.column_by_name("sequence_number"), row).unwrap_or(0),
                });
            }
            match manifests.len() {
                ..=MOST_MANIFESTS => Ok(true),
                _ => Err(format!("more than {MOST_MANIFESTS} manifests")),
            }
        })?;
        Ok(manifests)
    }

    /// Gives each file in force, with the number of the change that added it, to `take`, until that wants no more; the files' values are
    /// those at the places `keys` of the partitioning.
    ///
    /// # Errors
    /// Why it cannot be read, in one clause.
    pub(super) fn read(
        &self,
        table: &IcebergMetadata,
        keys: &[usize],
        mut take: impl FnMut(Content, i64, LiveFile) -> bool,
    ) -> Result<(), String> {
        each_batch(&self.path, |rows| {
            let files = rows.column_by_name("data_file").and_then(|files| files.as_struct_opt());
            let files = files.ok_or("a manifest without files")?;
            let names = files.column_by_name("file_path").and_then(|names| names.as_string_opt::<i32>());
            let names = names.ok_or("a manifest without the paths of its files")?;
            let values = key_values(files, keys)?;
            for row in (0..rows.num_rows()).filter(|&row| files.is_valid(row) && names.is_valid(row)) {
                if number(rows.column_by_name("status"), row) == Some(i64::from(REMOVED)) {
                    continue;
                }
                let content = match number(files.column_by_name("content"), row) {
                    None | Some(0) => Content::Data,
                    Some(1) => Content::Positions,
                    Some(2) => Content::Values,
                    Some(other) => return Err(format!("a file of the unknown content {other}")),
                };
                let format = files.column_by_name("file_format").and_then(|format| format.as_string_opt::<i32>());
                let is_parquet = format.is_none_or(|format| format.value(row).eq_ignore_ascii_case("parquet"));
                let path = match is_parquet {
                    true => table.path_of(names.value(row)),
                    false => Err("it is not Parquet; files of Avro and ORC are not read"),
                };
                let text = |texts: &StringArray| texts.is_valid(row).then(|| texts.value(row).to_string());
                // An entry without a number was added with its manifest.
                let sequence = number(rows.column_by_name("sequence_number"), row).unwrap_or(self.sequence);
                let file = LiveFile {
                    name: names.value(row).to_string(),
                    path,
                    bytes: number(files.column_by_name("file_size_in_bytes"), row).unwrap_or(0).try_into().unwrap_or(0),
                    values: values.iter().map(text).collect(),
                    deleted: Deleted::Nothing,
                    added: sequence,
                };
                if !take(content, sequence, file) {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }
}

/// The values of a partitioning at the places `keys`, as text.
fn key_values(files: &StructArray, keys: &[usize]) -> Result<Vec<StringArray>, String> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let values = files.column_by_name("partition").and_then(|values| values.as_struct_opt());
    let values = values.ok_or("a manifest without the values of its partitioning")?;
    let text = |&key: &usize| -> Result<StringArray, String> {
        let column = values.columns().get(key).ok_or("a manifest that lacks values of its partitioning")?;
        Ok(cast(column, &DataType::Utf8).map_err(|error| error.to_string())?.as_string::<i32>().clone())
    };
    keys.iter().map(text).collect()
}

/// The whole number in a row of a column, if there is one.
fn number(column: Option<&ArrayRef>, row: usize) -> Option<i64> {
    let column = column.filter(|column| column.is_valid(row))?;
    let small = column.as_primitive_opt::<Int32Type>().map(|numbers| i64::from(numbers.value(row)));
    small.or_else(|| column.as_primitive_opt::<Int64Type>().map(|numbers| numbers.value(row)))
}

/// Gives the rows of an Avro file to `take`, until that returns false.
fn each_batch(
    path: &std::path::Path,
    mut take: impl FnMut(&RecordBatch) -> Result<bool, String>,
) -> Result<(), String> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let failed = |reason: String| format!("{name}: {reason}");
    let file = open_regular(path).map_err(|error| failed(error.to_string()))?;
    let checked = CheckedBlocks::new(BufReader::new(file)).map_err(|error| failed(error.to_string()))?;
    let breaks_off = checked.breaks_off();
    let reader = ReaderBuilder::new().with_batch_size(BATCH_ROWS).build(checked);
    for rows in reader.map_err(|error| failed(error.to_string()))? {
        if !take(&rows.map_err(|error| failed(error.to_string()))?).map_err(failed)? {
            return Ok(());
        }
    }
    if breaks_off.load(Ordering::Relaxed) { Err(failed(BREAKS_OFF.into())) } else { Ok(()) }
}
