//! A metadata file of Iceberg: schemas, partitions and snapshots as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use arrow::datatypes::FieldRef;
use serde_json::Value;

use super::super::{NUMBER, OUTSIDE};
use super::schema;
use crate::metadata::ColumnMetadata;
use crate::reader::open_unpacked;
use crate::storage;

/// Larger metadata is an error, in bytes; it has every schema and snapshot that the table had.
const LARGEST_BYTES: u64 = 256 << 20;
/// The newest version of the format that is read.
const NEWEST_VERSION: i64 = 2;

/// The version of a metadata file by its name: `v3.metadata.json`, `00003-….metadata.json`, packed or not.
pub(in crate::table_format) fn version_of(name: &str) -> Option<u64> {
    let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".metadata.json")?;
    let stem = stem.strip_suffix(".gz").unwrap_or(stem);
    let digits = match stem.strip_prefix('v') {
        Some(digits) => digits,
        None => stem.split_once('-')?.0,
    };
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// The newest metadata of a table.
pub(super) struct IcebergMetadata {
    folder: PathBuf,
    /// The address of the folder when the metadata was written, without its scheme.
    location: String,
    document: Value,
}

impl IcebergMetadata {
    /// Reads the newest metadata file of the table in `folder`.
    ///
    /// # Errors
    /// Why it cannot be read, in one clause.
    pub(super) fn read(folder: &Path) -> Result<IcebergMetadata, String> {
        let entries = storage::read_dir(&folder.join("metadata")).map_err(|error| error.to_string())?;
        let named = entries.into_iter().flatten().filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some((version_of(&name)?, name))
        });
        let named: Vec<(u64, String)> = named.collect();
        let newest = named.iter().map(|(version, _)| *version).max().ok_or("no metadata file")?;
        // Of writers that raced, the catalogue has taken one; the later is the likelier.
        let mut newest_of_all: Option<Value> = None;
        for (_, name) in named.iter().filter(|(version, _)| *version == newest) {
            let document =
                document(&folder.join("metadata").join(name)).map_err(|reason| format!("{name}: {reason}"))?;
            let time = |document: &Value| document.get("last-updated-ms").and_then(Value::as_i64);
            if newest_of_all.as_ref().is_none_or(|other| time(other) < time(&document)) {
                newest_of_all = Some(document);
            }
        }
        let document = newest_of_all.ok_or("no metadata file")?;
        match document.get("format-version").and_then(Value::as_i64) {
            Some(version) if (1..=NEWEST_VERSION).contains(&version) => {}
            Some(version) => return Err(format!("of version {version}, and 1 to {NEWEST_VERSION} are read")),
            None => return Err("its metadata names no version of the format".into()),
        }
        let location = document.get("location").and_then(Value::as_str).ok_or("its metadata names no location")?;
        let location = without_scheme(location).trim_end_matches('/').to_string();
        Ok(IcebergMetadata { folder: folder.to_path_buf(), location, document })
    }

    /// The text below `path`, if there is one.
    pub(super) fn text(&self, path: &[&str]) -> Option<&str> {
        path.iter().try_fold(&self.document, |value, key| value.get(key))?.as_str()
    }

    /// The columns, and what the table says of them.
    ///
    /// # Errors
    /// Why they cannot be read, in one clause.
    pub(super) fn columns(&self) -> Result<(Vec<FieldRef>, BTreeMap<String, ColumnMetadata>), String> {
        let current = self.document.get("current-schema-id").and_then(Value::as_i64);
        let schema = items(&self.document, "schemas")
            .find(|schema| current.is_some() && schema.get("schema-id").and_then(Value::as_i64) == current)
            .or_else(|| self.document.get("schema"));
        schema::columns(schema.ok_or("its metadata has no schema")?)
    }

    /// The snapshot that is in force.
    pub(super) fn snapshot(&self) -> Option<&Value> {
        let id = self.snapshot_id()?;
        items(&self.document, "snapshots")
            .find(|snapshot| snapshot.get("snapshot-id").and_then(Value::as_i64) == Some(id))
    }

    /// Its id.
    pub(super) fn snapshot_id(&self) -> Option<i64> {
        self.document.get("current-snapshot-id").and_then(Value::as_i64).filter(|id| *id >= 0)
    }

    /// The id of the partitioning that new files have.
    pub(super) fn default_spec(&self) -> i64 {
        self.document.get("default-spec-id").and_then(Value::as_i64).unwrap_or(0)
    }

    /// The columns whose value every file of the partitionings `specs` has for all of its rows.
    pub(super) fn keys(&self, specs: &BTreeSet<i64>, columns: &[FieldRef]) -> Vec<FieldRef> {
        let is_key = |field: &&FieldRef| {
            let number = field.metadata().get(NUMBER).and_then(|number| number.parse().ok());
            let kept = |spec: &i64| number.is_some_and(|number: i64| self.place_of(*spec, number).is_some());
            !specs.is_empty() && !field.data_type().is_nested() && specs.iter().all(kept)
        };
        columns.iter().filter(is_key).cloned().collect()
    }

    /// The places of `keys` among the values of the partitioning `spec`.
    pub(super) fn key_places(&self, spec: i64, keys: &[FieldRef]) -> Vec<usize> {
        let number = |key: &FieldRef| key.metadata().get(NUMBER)?.parse().ok();
        keys.iter().filter_map(|key| self.place_of(spec, number(key)?)).collect()
    }

    /// The place of the column `number` in the partitioning `spec`, where its values are kept as they are.
    fn place_of(&self, spec: i64, number: i64) -> Option<usize> {
        let is_it = |found: &&Value| found.get("spec-id").and_then(Value::as_i64) == Some(spec);
        let fields = match items(&self.document, "partition-specs").find(is_it) {
            Some(found) => found.get("fields")?,
            None => self.document.get("partition-spec").filter(|_| spec == self.default_spec())?,
        };
        fields.as_array()?.iter().position(|field| {
            field.get("transform").and_then(Value::as_str) == Some("identity")
                && field.get("source-id").and_then(Value::as_i64) == Some(number)
        })
    }

    /// Where the file is that the table calls `address`.
    ///
    /// # Errors
    /// Why it is not opened.
    pub(super) fn path_of(&self, address: &str) -> Result<PathBuf, &'static str> {
        let bare = without_scheme(address);
        let below = match bare.strip_prefix(&self.location) {
            Some(below) => below.strip_prefix('/').ok_or(OUTSIDE)?,
            None if bare == address && !bare.starts_with('/') => bare,
            None => return Err(OUTSIDE),
        };
        let is_plain = Path::new(below).components().all(|part| matches!(part, Component::Normal(_)));
        if is_plain && !below.is_empty() { Ok(self.folder.join(below)) } else { Err(OUTSIDE) }
    }
}

/// The values of a list, if there is one.
fn items<'a>(document: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    document.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// `s3a://bucket/x` without `s3a://`: a table that was written through one scheme may be named by another.
fn without_scheme(address: &str) -> &str {
    match address.split_once(':') {
        Some((scheme, rest)) if !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            rest.trim_start_matches('/')
        }
        _ => address,
    }
}

fn document(path: &Path) -> Result<Value, String> {
    let mut bytes = Vec::new();
    let input = open_unpacked(path).map_err(|error| error.to_string())?;
    input.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(format!("larger than {} MB", LARGEST_BYTES >> 20));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("not valid JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_files_are_known_by_their_names() {
        for (name, version) in [
            ("v3.metadata.json", Some(3)),
            ("00012-a1b2.metadata.json", Some(12)),
            ("v3.gz.metadata.json", Some(3)),
            ("v3.metadata.json.gz", Some(3)),
            ("croissant.metadata.json", None),
            ("sales-2020.metadata.json", None),
            ("v.metadata.json", None),
            ("snap-1.avro", None),
        ] {
            assert_eq!(version_of(name), version, "{name}");
        }
    }

    #[test]
    fn addresses_are_taken_below_the_folder_and_nowhere_else() {
        let table = |location: &str| IcebergMetadata {
            folder: "/lake/t".into(),
            location: without_scheme(location).trim_end_matches('/').into(),
            document: Value::Null,
        };
        for (location, address, path) in [
            ("s3://bucket/t/", "s3://bucket/t/data/a.parquet", Some("data/a.parquet")),
            ("s3a://bucket/t", "s3://bucket/t/data/a.parquet", Some("data/a.parquet")),
            ("file:///w/t", "file:/w/t/data/a.parquet", Some("data/a.parquet")),
            ("/w/t", "/w/t/data/a.parquet", Some("data/a.parquet")),
            ("/w/t", "data/a.parquet", Some("data/a.parquet")),
            ("/w/t", "/w/t2/data/a.parquet", None),
            ("/w/t", "/w/t/../../etc/passwd", None),
            ("/w/t", "../x", None),
            ("/w/t", "/etc/passwd", None),
            ("s3://bucket/t", "s3://other/t/a.parquet", None),
        ] {
            let expected = path.map(|path| PathBuf::from("/lake/t").join(path)).ok_or(OUTSIDE);
            assert_eq!(table(location).path_of(address), expected, "{location} {address}");
        }
    }
}
