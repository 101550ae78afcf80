//! Tables whose files in force are listed in a log: Delta, by delta_kernel, and Iceberg, by its metadata.
//!
//! A folder of such a table holds files of older versions, files that a failed writer left, and rows that were deleted and are
//! still there. Only the [`Snapshot`] of its newest version says what the table is: its columns, its files, the values that all rows of
//! a file share, and the rows of it that are gone. What it says is hashed, and this hash is the table's content: a version with the same
//! files is the same table, and no data is read to know it. Logs are hostile input: a path that leads out of the table's folder is never
//! opened, and its file is reported as one that cannot be read.
//!
//! delta_kernel without its default engine: ours is 250 lines; delta_kernel replays logs, checkpoints and protocols,
//! which is what is hard. It turns on features of chrono, url, object_store and others below DataFusion, once for
//! all. Iceberg is read by hand, 600 lines: its crate stands on older versions of arrow and DataFusion.

mod delta;
mod engine;
mod iceberg;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use roaring::RoaringTreemap;

use crate::metadata::TableMetadata;
use crate::reader::guarded;
use crate::source::ContentHash;
use crate::storage;
use lakeward_core::error::{Error, Result};

/// More files of one table are an error: each takes some hundred bytes.
const MOST_FILES: usize = 1_000_000;
/// Why some files of a log are never opened.
const OUTSIDE: &str = "its path leads out of the table's folder";
/// Snapshots kept by the process: a table is listed, compared and opened one after the other.
const KEPT: usize = 16;

/// A format of tables with logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Delta,
    Iceberg,
}

impl TableFormat {
    /// The format of the table that `folder` is, by the name of its log; `None` where it is none.
    pub(crate) fn of(folder: &Path) -> Option<TableFormat> {
        if storage::is_dir(&folder.join("_delta_log")) {
            return Some(TableFormat::Delta);
        }
        let is_version =
            |path: PathBuf| path.file_name().is_some_and(|name| iceberg::version_of(&name.to_string_lossy()).is_some());
        let described = |metadata: Vec<io::Result<PathBuf>>| metadata.into_iter().flatten().any(is_version);
        let metadata = folder.join("metadata");
        let is_iceberg = storage::is_dir(&metadata) && storage::read_dir(&metadata).is_ok_and(described);
        is_iceberg.then_some(TableFormat::Iceberg)
    }

    /// Its name, as people write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TableFormat::Delta => "Delta",
            TableFormat::Iceberg => "Iceberg",
        }
    }

    fn log(self) -> &'static str {
        match self {
            TableFormat::Delta => "_delta_log",
            TableFormat::Iceberg => "metadata",
        }
    }
}

/// How columns of a table are found in its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matching {
    /// By name.
    Name,
    /// By the name that the metadata of a column gives; see [`STORED_NAME`].
    StoredName,
    /// By number; see [`NUMBER`].
    Number,
}

/// The key in the metadata of an Arrow field that has the name of its column in the files.
pub(crate) const STORED_NAME: &str = "delta.columnMapping.physicalName";
/// The key in the metadata of an Arrow field that has the number of its column in the files.
pub(crate) const NUMBER: &str = parquet::arrow::PARQUET_FIELD_ID_META_KEY;
/// What Delta calls it.
const DELTA_NUMBER: &str = "delta.columnMapping.id";

/// The number that the column `declared` has in the files.
pub(crate) fn number_of(declared: &Field) -> Option<&String> {
    let metadata = declared.metadata();
    metadata.get(NUMBER).or_else(|| metadata.get(DELTA_NUMBER))
}

/// A table as its log says it is.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The id that its writer gave the table when it was made.
    pub id: String,
    /// The columns whose cells are in the files.
    pub columns: Vec<FieldRef>,
    /// How those are found there.
    pub matching: Matching,
    /// The columns whose values are in the log, one for all rows of a file.
    pub keys: Vec<FieldRef>,
    /// In the order in which the log added them, then by name, so that what is appended comes last.
    pub files: Vec<LiveFile>,
    /// Why its files are one table, in one clause; the same for all versions.
    pub reason: &'static str,
    /// What the log says for people: title, description, comments of columns.
    pub metadata: TableMetadata,
    /// Of the id, of the columns, and of the names, sizes, values and deletions of all files.
    pub content: ContentHash,
    /// When the log was last changed; see [`storage::Metadata::changed_ns`].
    pub modified_ns: u64,
    /// Files of deletions that name rows by values; those are not applied.
    pub deletes_by_value: u64,
}

/// A file whose rows are in the table.
#[derive(Debug, Clone)]
pub(crate) struct LiveFile {
    /// As the log has it.
    pub name: String,
    /// Where it is, or why it cannot be read.
    pub path: Result<PathBuf, &'static str>,
    /// Its size according to the log.
    pub bytes: u64,
    /// The value of each key; `None` where it is missing.
    pub values: Vec<Option<String>>,
    /// Which of its rows are gone.
    pub deleted: Deleted,
    /// When the log added it: a time, or the number of a change.
    pub added: i64,
}

/// Where the deleted rows of a file are listed.
#[derive(Debug, Clone)]
pub(crate) enum Deleted {
    Nothing,
    Vector(Arc<delta::Vector>),
    Positions(Arc<iceberg::Positions>, i64),
}

impl LiveFile {
    /// The numbers of its deleted rows, from 0.
    ///
    /// # Errors
    /// Why they cannot be read, in one clause.
    pub(crate) fn deleted_rows(&self) -> Result<RoaringTreemap, String> {
        match &self.deleted {
            Deleted::Nothing => Ok(RoaringTreemap::new()),
            Deleted::Vector(vector) => guarded(|| vector.read())?,
            Deleted::Positions(positions, sequence) => guarded(|| positions.of(&self.name, *sequence))?,
        }
    }
}

/// What tells a log from a later state of it: the newest time in its folder, and a hash of names, sizes and times there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LogStamp {
    modified_ns: u64,
    hash: u64,
}

impl LogStamp {
    fn of(log: &Path) -> io::Result<LogStamp> {
        let mut entries = Vec::new();
        for path in storage::read_dir(log)? {
            let path = path?;
            let meta = storage::metadata(&path)?;
            entries.push((path.file_name().unwrap_or_default().to_os_string(), meta.len(), meta.changed_ns()));
        }
        entries.sort_unstable();
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for (name, bytes, time) in &entries {
            hasher.update(name.as_encoded_bytes());
            hasher.update(&[0]);
            hasher.update(&bytes.to_le_bytes());
            hasher.update(&time.to_le_bytes());
        }
        let modified_ns = entries.iter().map(|(_, _, time)| *time).max().unwrap_or(0);
        Ok(LogStamp { modified_ns, hash: hasher.digest() })
    }
}

/// The newest version of the table in `folder`; `None` where that is no such table.
///
/// # Errors
/// [`Error::Unreadable`] where its log is damaged or asks for what is not known here.
pub(crate) fn snapshot(folder: &Path) -> Option<Result<Arc<Snapshot>>> {
    type Kept = Mutex<Vec<(PathBuf, LogStamp, Arc<Snapshot>)>>;
    static KEPT_SNAPSHOTS: Kept = Mutex::new(Vec::new());
    let format = TableFormat::of(folder)?;
    let failed = |reason: String| Error::unreadable(folder, format!("a table of {}: {reason}", format.name()));
    let stamp = match LogStamp::of(&folder.join(format.log())) {
        Ok(stamp) => stamp,
        Err(error) => return Some(Err(failed(error.to_string()))),
    };
    if let Ok(mut kept) = KEPT_SNAPSHOTS.lock()
        && let Some(at) = kept.iter().position(|(path, known, _)| path == folder && *known == stamp)
    {
        let found = kept.remove(at);
        let snapshot = Arc::clone(&found.2);
        kept.push(found);
        return Some(Ok(snapshot));
    }
    let read = guarded(|| match format {
        TableFormat::Delta => delta::snapshot(folder),
        TableFormat::Iceberg => iceberg::snapshot(folder),
    });
    let snapshot = match read.and_then(|read| read).and_then(|snapshot| checked(snapshot, stamp)) {
        Ok(snapshot) => Arc::new(snapshot),
        Err(reason) => return Some(Err(failed(reason))),
    };
    if let Ok(mut kept) = KEPT_SNAPSHOTS.lock() {
        kept.retain(|(path, _, _)| path != folder);
        kept.push((folder.to_path_buf(), stamp, Arc::clone(&snapshot)));
        if kept.len() > KEPT {
            kept.remove(0);
        }
    }
    Some(Ok(snapshot))
}

/// `snapshot` with its hash.
fn checked(mut snapshot: Snapshot, stamp: LogStamp) -> Result<Snapshot, String> {
    if snapshot.columns.is_empty() && snapshot.keys.is_empty() {
        return Err("no columns".into());
    }
    for fields in [&mut snapshot.columns, &mut snapshot.keys] {
        fields.iter_mut().for_each(|field| *field = nullable(field));
    }
    snapshot.files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    snapshot.modified_ns = stamp.modified_ns;
    let mut hasher = blake3::Hasher::new();
    let mut take = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    // Other tables have files of the same names.
    take(&snapshot.id);
    for field in snapshot.columns.iter().chain(&snapshot.keys) {
        take(&format!("{} {}", field.name(), shape(field.data_type())));
        take(field.metadata().get(STORED_NAME).map_or("", String::as_str));
    }
    let positions = snapshot.files.iter().find_map(|file| match &file.deleted {
        Deleted::Positions(positions, _) => Some(positions),
        _ => None,
    });
    for (name, bytes, sequence) in positions.iter().flat_map(|positions| positions.listed()) {
        take(name);
        take(&format!("{bytes} {sequence}"));
    }
    take(&snapshot.deletes_by_value.to_string());
    for file in &snapshot.files {
        take(&file.name);
        take(&file.bytes.to_string());
        for value in &file.values {
            take(value.as_deref().unwrap_or("\0"));
        }
        match &file.deleted {
            Deleted::Nothing => take(""),
            Deleted::Vector(vector) => take(&vector.id()),
            Deleted::Positions(_, sequence) => take(&sequence.to_string()),
        }
    }
    snapshot.content = ContentHash::of(&hasher);
    snapshot.files.sort_by_key(|file| file.added);
    Ok(snapshot)
}

impl Snapshot {
    /// What the rows of `file` depend on, but for its bytes, which no writer changes.
    pub(crate) fn identity(&self, file: &LiveFile) -> String {
        let deleted = match &file.deleted {
            Deleted::Nothing => String::new(),
            Deleted::Vector(vector) => vector.id(),
            Deleted::Positions(positions, sequence) => {
                format!("{sequence} {:?}", positions.listed().collect::<Vec<_>>())
            }
        };
        let columns =
            self.columns.iter().chain(&self.keys).map(|field| {
                (field.name(), shape(field.data_type()), field.metadata().get(STORED_NAME), number_of(field))
            });
        let columns: Vec<_> = columns.collect();
        let LiveFile { name, bytes, values, .. } = file;
        format!("{} {columns:?} {:?} {name:?} {bytes} {values:?} {deleted}", self.id, self.matching)
    }
}

/// A type with the names in it and without metadata, whose order is not fixed.
fn shape(kind: &DataType) -> String {
    let of = |field: &FieldRef| format!("{} {}", field.name(), shape(field.data_type()));
    match kind {
        DataType::Struct(fields) => format!("{{{}}}", fields.iter().map(of).collect::<Vec<_>>().join(", ")),
        DataType::List(item) | DataType::LargeList(item) => format!("[{}]", of(item)),
        DataType::Map(entries, _) => format!("map {}", of(entries)),
        other => other.to_string(),
    }
}

/// `field` where any value may be missing: logs promise more than files keep. Keys of maps are never missing.
fn nullable(field: &FieldRef) -> FieldRef {
    let all = |fields: &Fields| fields.iter().map(nullable).collect::<Fields>();
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(all(fields)),
        DataType::List(item) => DataType::List(nullable(item)),
        DataType::LargeList(item) => DataType::LargeList(nullable(item)),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(kind).with_nullable(true))
}
