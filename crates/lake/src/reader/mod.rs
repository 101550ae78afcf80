//! Readers: one module per format, one trait for all.
//!
//! A reader returns a table's columns and then its rows in batches, with memory bounded whatever the size of the file. Text
//! formats ([`delimited`], [`json`]) return every cell as text and leave types to the profiler, because the types of a text
//! file are guesses (`02134` is no number); so do [`workbook`] and [`sqlite`], whose files hold several tables; [`parquet`],
//! [`ipc`], [`avro`] and `orc` return the types their files declare. Lakes are untrusted
//! input: a file that cannot be read is an [`Error::Unreadable`] with its reason; repairs made while reading are listed in
//! the [`ReadReport`]; nothing panics and nothing is left out silently.
//!
//! Bytes to rows, for delimited text: [`decode`] (unpack, decode) → [`sniff`] (dialect) → [`split`] and [`row_reader`] (cut)
//! → [`batch`] (columns).
//!
//! Decided, each with the figure. *Our own reader of delimited text*: on 16 badly written files arrow-csv fails on
//! ragged rows, Latin-1, UTF-16 and preambles, and loses rows after an unclosed quote; Polars drops surplus cells and
//! fails on preambles; both read ZIP code 02134 as 2134. *Parquet and Arrow IPC through arrow's crates*, behind a
//! guard, because damaged files make decoders panic. *Workbooks through calamine, checked before*
//! (`workbook::bounds`): two cells of a hostile file would take 100 GB; version 0.36, as 0.37 brings zip 9, zeroize
//! with `derive` and so a feature of syn: half of the tree would be compiled anew. *Avro's blocks skipped by the
//! schema before, without what arrow-avro does not decode* (`avro_blocks`): 300 lines. *SQLite linked*: values of at
//! most 64 MiB; a table is hashed by its cells, so that a change of another one leaves it as it is.

mod avro;
mod avro_blocks;
mod batch;
mod cell_kind;
pub(crate) mod content;
mod declared;
mod decode;
mod delimited;
mod giant;
mod hash;
mod header;
mod ipc;
mod json;
mod json_scan;
#[cfg(feature = "orc")]
mod orc;
mod parquet;
mod parts;
mod report;
mod row_reader;
mod sniff;
mod split;
pub(crate) mod sqlite;
mod typed;
mod workbook;

use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};

pub(crate) use self::avro_blocks::{BREAKS_OFF, CheckedBlocks};
use self::batch::BatchLimits;
use self::decode::Text;
pub use self::hash::PendingHash;
use self::hash::StreamHash;
pub(crate) use self::hash::rows_hash;
pub(crate) use self::parquet::open_regular;
pub use self::parts::key_array;
pub(crate) use self::parts::{Parts, PartsSoFar, set_at};
pub use self::report::{Dialect, PartsRead, ReadReport, Repair, RepairKind, Sample};
pub(crate) use self::typed::guarded;
use crate::layout::FileSet;
use crate::location::{Location, part_name};
use crate::source::{self, Compression, Format, LakeFile};
use crate::storage;
use lakeward_core::error::{Error, Result};

/// A column and its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Trimmed, not empty and unique (upper and lower case differ).
    pub name: String,
    /// The header cell as written; empty where there is none.
    pub header: String,
}

/// The rows of one table, read once from start to end.
pub trait TableReader: Send {
    /// The columns, fixed once the table is open; at least one.
    fn columns(&self) -> &[Column];

    /// The next rows, at most [`ReadOptions::batch_rows`] and about [`ReadOptions::batch_bytes`]; `None` at the end.
    ///
    /// Every batch has the schema of [`TableReader::columns`]. Text formats return Utf8 with every cell as written (not
    /// trimmed, quotes resolved); an empty cell is `""`, a missing one null. Typed formats return booleans, numbers, dates,
    /// times and Utf8; dictionaries are resolved, binary and nested values rendered as text.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>>;

    /// The report on reading so far; final once [`TableReader::next_batch`] has returned `None`.
    fn report(&self) -> &ReadReport;

    /// The types of the columns, where the file declares them.
    fn declared_types(&self) -> Option<SchemaRef>;

    /// Whether the file declares its columns' types.
    fn is_typed(&self) -> bool {
        self.declared_types().is_some()
    }
}

/// The columns of a table's files, as they were when all of them were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownColumns {
    /// All have the same.
    Alike,
    /// Names and types of those that any has, in their order; types as Arrow writes them.
    OfAll(Arc<[(String, String)]>),
}

/// How much to read, and what is known of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Stop after this many rows; the report then lists [`RepairKind::RowLimit`] and the [`Sample`] that was read.
    pub max_rows: Option<u64>,
    /// A table with more columns is unreadable. 16,384 by default, as in spreadsheets.
    pub max_columns: usize,
    /// Longer text cells are cut between two characters. 64 KiB by default.
    pub max_cell_bytes: usize,
    /// Rows after which a batch ends, 8,192 by default; of delimited text later where it is open whether the last ones are notes below
    /// the table.
    pub batch_rows: usize,
    /// Bytes of cells after which a batch ends. 4 MB by default.
    pub batch_bytes: usize,
    /// The delimiter, if known; else it is guessed.
    pub delimiter: Option<u8>,
    /// Whether the first row is a header, if known; else it is guessed.
    pub header: Option<bool>,
    /// What is known of the columns of a table's files: then only the first is opened before rows are read, and one that has others is an error.
    pub known: Option<KnownColumns>,
    /// Names of the columns whose cells are wanted, all by default: Parquet leaves the cells of others empty and does not decode them.
    pub only: Option<Arc<[String]>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            max_rows: None,
            max_columns: 16_384,
            max_cell_bytes: 64 << 10,
            batch_rows: 8_192,
            batch_bytes: 4 << 20,
            delimiter: None,
            header: None,
            known: None,
            only: None,
        }
    }
}

impl ReadOptions {
    fn batch_limits(&self) -> BatchLimits {
        BatchLimits {
            rows: self.batch_rows.max(1),
            bytes: self.batch_bytes,
            // Offsets of a column are 32 bits wide.
            cell_bytes: self.max_cell_bytes.min(16 << 20),
        }
    }
}

/// Opens a table of a lake.
///
/// # Errors
/// [`Error::Io`] where the file cannot be opened, [`Error::Unreadable`] where it holds no table.
pub fn open(file: &LakeFile, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    open_path(&file.path, options)
}

/// Opens a table of a lake and hashes its file while it is read; see [`PendingHash::finish`].
///
/// # Errors
/// As [`open`].
pub fn open_hashed(file: &LakeFile, options: &ReadOptions) -> Result<(Box<dyn TableReader>, PendingHash)> {
    let path = &file.path;
    if !matches!(Location::of(path), Location::File { format: Format::Csv, .. }) || storage::is_fetched_again(path) {
        // These are not read from start to end, or are read twice.
        let ends_only = options.max_rows.is_some() && source::is_hashed_by_ends(path);
        let hash = if ends_only { source::ends_hash(path)? } else { source::content_hash(path)? };
        return Ok((open(file, options)?, PendingHash::known(path.clone(), hash)));
    }
    let stream = Arc::new(Mutex::new(StreamHash::default()));
    let text = Text::open_hashed(path, Arc::clone(&stream))?;
    let reader = delimited::Delimited::read(text, path, options, least_columns(path))?;
    Ok((Box::new(reader), PendingHash::streamed(path.clone(), stream)))
}

/// Opens the table at `path`, in a lake or not: a file, or a table in one, such as `sales.xlsx/Q1`; see [`Location`]. A file of
/// unknown extension is tried as delimited text.
///
/// # Errors
/// As [`open`].
pub fn open_path(path: &Path, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    match Location::of(path) {
        Location::File { path, format, compression } => open_as(&path, format, compression, None, options),
        Location::Part { file, format, name } => open_as(&file, format, Compression::None, Some(&name), options),
        Location::Files { path } => open_files(set_at(&path)?, options, None),
    }
}

/// Opens the table in the files of `set`; of those that are not among the `chosen`, by place, no rows are read.
///
/// # Errors
/// As [`open`].
pub fn open_files(set: FileSet, options: &ReadOptions, chosen: Option<&[usize]>) -> Result<Box<dyn TableReader>> {
    Ok(Box::new(parts::Parts::open(set, options, chosen)?))
}

/// The names of the tables in a file that may hold several.
///
/// # Errors
/// [`Error::Unreadable`] where it cannot be read.
pub(crate) fn tables_in(path: &Path, format: Format) -> Result<Vec<String>> {
    match format {
        Format::Workbook => workbook::tables(path),
        Format::Sqlite => sqlite::tables(path),
        _ => Ok(Vec::new()),
    }
}

/// The table called `name` among `tables`, as [`part_name`] writes it; without a name, the only one.
fn chosen_table(path: &Path, name: Option<&str>, mut tables: Vec<String>) -> Result<String> {
    match name {
        Some(name) => match tables.iter().position(|table| part_name(table) == name) {
            Some(at) => Ok(tables.swap_remove(at)),
            None => Err(no_such_table(path, name, &tables)),
        },
        None if tables.len() == 1 => Ok(tables.remove(0)),
        None if tables.is_empty() => Err(Error::unreadable(path, "no table in it")),
        None => Err(Error::unreadable(path, format!("it has {} tables; {}", tables.len(), listed(&tables)))),
    }
}

fn no_such_table(path: &Path, name: &str, tables: &[String]) -> Error {
    Error::unreadable(path, format!("it has no table `{name}`; {}", listed(tables)))
}

/// How to name one of `tables`.
fn listed(tables: &[String]) -> String {
    const SHOWN: usize = 5;
    let names: Vec<String> = tables.iter().take(SHOWN).map(|table| format!("`{}`", part_name(table))).collect();
    let more = if tables.len() > SHOWN { ", …" } else { "" };
    format!("after a slash its path takes one of {}{more}", names.join(", "))
}

/// The bytes of a regular file, unpacked where they are gzip or zstd.
///
/// # Errors
/// [`Error::Io`], and [`Error::Unreadable`] if it is not a regular file.
pub fn open_unpacked(path: &Path) -> Result<Box<dyn std::io::Read + Send>> {
    Ok(decode::open_bytes(path)?.input)
}

/// Opens a file as UTF-8 text, unpacked and decoded as tables are: by its mark, else as its bytes are best read.
///
/// # Errors
/// The operating system's, and those of a damaged packed file.
pub fn open_text(path: &Path) -> Result<impl std::io::BufRead> {
    decode::Text::open_any(path)
}

/// Whether a text file of any name splits into at least two columns; false if it cannot be read.
pub fn looks_delimited(path: &Path) -> bool {
    delimited::looks_delimited(path)
}

fn open_as(
    path: &Path,
    format: Format,
    compression: Compression,
    table: Option<&str>,
    options: &ReadOptions,
) -> Result<Box<dyn TableReader>> {
    Ok(match format {
        Format::Csv => Box::new(delimited::Delimited::open(path, options, least_columns(path))?),
        Format::NdJson => Box::new(json::JsonRows::open(path, json::Shape::Lines, options)?),
        Format::Json => Box::new(json::JsonRows::open(path, json::Shape::Document, options)?),
        Format::ArrowIpc => ipc::open(path, options)?,
        Format::Avro => avro::open(path, options)?,
        #[cfg(feature = "orc")]
        Format::Orc => orc::open(path, options)?,
        #[cfg(not(feature = "orc"))]
        Format::Orc => {
            let reason = "an ORC file, and this program was built without them; build it with `--features orc`";
            return Err(Error::unreadable(path, reason));
        }
        Format::Workbook => workbook::open(path, table, options)?,
        Format::Sqlite => sqlite::open(path, table, options)?,
        Format::Parquet if compression == Compression::None => parquet::open(path, options)?,
        Format::Parquet => return Err(Error::unreadable(path, "a packed Parquet file; unpack it first")),
    })
}

/// Columns that a file must have to count as a table: two for `.txt` files, most of which are prose, else one.
fn least_columns(path: &Path) -> usize {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst").trim_end_matches(".zstd");
    if name.ends_with(".txt") { 2 } else { 1 }
}
