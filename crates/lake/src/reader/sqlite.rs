//! Tables of SQLite databases, read without trust in them.
//!
//! The file is opened read-only and as immutable, so that nothing is written, locked or recovered beside it; functions, views
//! and triggers of its schema do not run (`trusted_schema` off, defensive mode). Only ordinary tables are read: no views, no
//! virtual tables, nor what those store. Changes that lie in a write-ahead log or a journal beside the file are reported.
//!
//! SQLite's rows are borrowed from their connection, so both live on a thread of their own, which hands over batches.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::batch::TextBatch;
use super::header::name_columns;
use super::parquet::open_regular;
use super::report::{ReadReport, RepairKind};
use super::typed::{binary_text, guarded};
use super::{Column, ReadOptions, TableReader};
use crate::dataset::ForeignKey;
use crate::location::part_name;
use crate::storage::{self, LocalFile};
use lakeward_core::error::{Error, Result};

/// What a database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Longest value that SQLite may hand over, in bytes.
const MOST_VALUE_BYTES: i32 = 64 << 20;
/// Longest text of a schema's statement, in bytes.
const MOST_SQL_BYTES: i32 = 1 << 20;
/// How long SQLite may take for [`CLOCK_ROWS`] rows: a column computed by a hostile expression is stopped.
const LONGEST_STEP: Duration = Duration::from_secs(30);
const CLOCK_ROWS: u64 = 256;
/// Batches that the thread may be ahead.
const BATCHES_AHEAD: usize = 2;

/// Whether the file at `path` begins as a database does.
pub(crate) fn is_database(path: &Path) -> bool {
    use std::io::Read;
    let mut head = [0; MAGIC.len()];
    open_regular(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok()) && head == *MAGIC
}

/// The names of the tables in the database at `path`.
///
/// # Errors
/// [`Error::Unreadable`] where it is none, damaged or encrypted.
pub(super) fn tables(path: &Path) -> Result<Vec<String>> {
    let database = open_database(path)?;
    table_names(&database).map_err(|error| damaged(path, &error))
}

fn table_names(database: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    database.prepare(sql)?.query_map([], |row| row.get_ref(0).map(lossy))?.collect()
}

/// The foreign keys that the table `name` of the database at `path`, or its only one, declares; their `to_path` is the other
/// table's [`part_name`].
///
/// # Errors
/// As [`tables`].
pub(crate) fn foreign_keys(path: &Path, name: Option<&str>) -> Result<Vec<ForeignKey>> {
    let database = open_database(path)?;
    let tables = table_names(&database).map_err(|error| damaged(path, &error))?;
    let table = super::chosen_table(path, name, tables.clone())?;
    let primary_key = |table: &str| -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
        database.prepare(sql)?.query_map([table], |row| row.get_ref(0).map(lossy))?.collect()
    };
    let read = || -> rusqlite::Result<Vec<ForeignKey>> {
        let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
        let sql = "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq";
        let mut statement = database.prepare(sql)?;
        let mut rows = statement.query([&table])?;
        while let Some(row) = rows.next()? {
            let (id, to_table): (i64, String) = (row.get(0)?, row.get_ref(1).map(lossy)?);
            // Names of tables are the same in upper and lower case.
            let Some(to_table) = tables.iter().find(|table| table.eq_ignore_ascii_case(&to_table)) else { continue };
            if keys.last().is_none_or(|(last, _)| *last != id) {
                let to_columns = if row.get_ref(3)? == ValueRef::Null { primary_key(to_table)? } else { Vec::new() };
                keys.push((id, ForeignKey { columns: Vec::new(), to_path: part_name(to_table), to_columns }));
            }
            if let Some((_, key)) = keys.last_mut() {
                key.columns.push(row.get_ref(2).map(lossy)?);
                if row.get_ref(3)? != ValueRef::Null {
                    key.to_columns.push(row.get_ref(3).map(lossy)?);
                }
            }
        }
        // A declaration need not fit the table that it refers to.
        Ok(keys.into_iter().map(|(_, key)| key).filter(|key| key.columns.len() == key.to_columns.len()).collect())
    };
    read().map_err(|error| damaged(path, &error))
}

/// Opens the table `name` of the database at `path`; without a name, its only table.
///
/// # Errors
/// As [`tables`]; [`Error::Unreadable`] where there is no such table.
pub(super) fn open(path: &Path, name: Option<&str>, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let database = open_database(path)?;
    let tables = table_names(&database).map_err(|error| damaged(path, &error))?;
    let table = super::chosen_table(path, name, tables)?;
    let sql = format!("SELECT * FROM main.\"{}\"", table.replace('"', "\"\""));
    let names: Vec<String> = {
        let statement = database.prepare(&sql).map_err(|error| damaged(path, &error))?;
        // rusqlite takes names to be text.
        let names = guarded(|| statement.column_names().into_iter().map(str::to_string).collect());
        names.map_err(|_| Error::unreadable(path, "damaged database: names of columns that are no text"))?
    };
    if names.len() > options.max_columns {
        let reason = format!("{} columns, more than the limit of {}", names.len(), options.max_columns);
        return Err(Error::unreadable(path, reason));
    }
    let mut report =
        ReadReport { read_bytes: storage::metadata(path).map_or(0, |meta| meta.len()), ..ReadReport::default() };
    if let Some(beside) = pending_changes(path) {
        report.add_damage(RepairKind::PendingChanges, &beside.file_name().unwrap_or_default().to_string_lossy(), None);
    }
    let columns = name_columns(names, &mut report, None);
    let (sender, batches) = sync_channel(BATCHES_AHEAD);
    let mut batch = TextBatch::new(&columns, options.batch_limits());
    // One row more than asked for shows whether there are more.
    let most_rows = options.max_rows.map_or(u64::MAX, |max| max.saturating_add(1));
    thread::spawn(move || {
        let outcome = send_rows(&database, &sql, &mut batch, most_rows, |rows| sender.send(Step::Rows(rows)).is_ok());
        // The reader may be gone already.
        let _ = sender.send(Step::End { cut_cells: batch.cut_cells, damage: outcome.err() });
    });
    Ok(Box::new(SqliteRows { columns, report, batches, max_rows: options.max_rows, done: false }))
}

/// A database, and the file that it is read from.
struct Database {
    connection: Connection,
    _file: LocalFile,
}

impl Deref for Database {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

fn open_database(path: &Path) -> Result<Database> {
    open_regular(path)?;
    if !is_database(path) {
        let empty = storage::metadata(path).is_ok_and(|meta| meta.is_empty());
        return Err(Error::unreadable(
            path,
            if empty { "empty file" } else { "no SQLite database, or an encrypted one" },
        ));
    }
    let failed = |source| Error::io("read", path, source);
    let file = LocalFile::of(path).map_err(failed)?;
    let real = storage::canonical(file.path()).map_err(failed)?;
    let mut url = String::from("file://");
    for &byte in real.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => url.push(char::from(byte)),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url.push_str("?mode=ro&immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = || -> rusqlite::Result<Connection> {
        let database = Connection::open_with_flags(&url, flags)?;
        for (setting, on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            database.set_db_config(setting, on)?;
        }
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, MOST_SQL_BYTES),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        ] {
            database.set_limit(limit, most)?;
        }
        database.pragma_update(None, "cell_size_check", true)?;
        Ok(database)
    };
    let connection = opened().map_err(|error| damaged(path, &error))?;
    Ok(Database { connection, _file: file })
}

/// The log or journal beside the database that holds what it lacks.
fn pending_changes(path: &Path) -> Option<PathBuf> {
    ["-wal", "-journal"].into_iter().find_map(|end| {
        let mut name = path.as_os_str().to_os_string();
        name.push(end);
        let beside = PathBuf::from(name);
        storage::metadata(&beside).is_ok_and(|meta| meta.is_file() && !meta.is_empty()).then_some(beside)
    })
}

fn damaged(path: &Path, error: &rusqlite::Error) -> Error {
    Error::unreadable(path, format!("SQLite: {error}"))
}

/// Sends the rows of `sql`, until `send` says that no more are wanted.
fn send_rows(
    database: &Connection,
    sql: &str,
    batch: &mut TextBatch,
    most_rows: u64,
    send: impl Fn(RecordBatch) -> bool,
) -> Result<(), String> {
    let said = |error: rusqlite::Error| error.to_string();
    let mut statement = database.prepare(sql).map_err(said)?;
    let width = statement.column_count();
    let mut rows = statement.query([]).map_err(said)?;
    let start_clock = || {
        let begun = Instant::now();
        database.progress_handler(100_000, Some(move || begun.elapsed() > LONGEST_STEP));
    };
    let mut count = 0;
    while count < most_rows {
        if count % CLOCK_ROWS == 0 || batch.is_empty() {
            start_clock();
        }
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) => {
                // What was read before the damage is kept.
                if let Some(rows) = batch.finish(false).map_err(|error| error.to_string())? {
                    send(rows);
                }
                return Err(said(error));
            }
        };
        for column in 0..width {
            match row.get_ref(column).map_err(said)? {
                ValueRef::Null => batch.push_missing(column),
                ValueRef::Integer(number) => batch.push(column, number.to_string().as_bytes()),
                ValueRef::Real(number) => batch.push(column, number.to_string().as_bytes()),
                ValueRef::Text(text) => batch.push(column, String::from_utf8_lossy(text).as_bytes()),
                ValueRef::Blob(bytes) => batch.push(column, binary_text(bytes).as_bytes()),
            }
        }
        batch.end_row();
        count += 1;
        if batch.is_full()
            && let Some(rows) = batch.finish(true).map_err(|error| error.to_string())?
            && !send(rows)
        {
            return Ok(());
        }
    }
    if let Some(rows) = batch.finish(false).map_err(|error| error.to_string())? {
        send(rows);
    }
    Ok(())
}

fn lossy(value: ValueRef<'_>) -> String {
    value.as_bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

enum Step {
    Rows(RecordBatch),
    End { cut_cells: u64, damage: Option<String> },
}

/// The rows of one table.
struct SqliteRows {
    columns: Vec<Column>,
    report: ReadReport,
    batches: Receiver<Step>,
    max_rows: Option<u64>,
    done: bool,
}

impl TableReader for SqliteRows {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.done {
            return Ok(None);
        }
        match self.batches.recv() {
            Ok(Step::Rows(batch)) => {
                let left = self.max_rows.map_or(u64::MAX, |max| max - self.report.rows);
                let taken = usize::try_from(left).unwrap_or(usize::MAX).min(batch.num_rows());
                self.report.rows += taken as u64;
                if taken < batch.num_rows() {
                    self.done = true;
                    self.report.end_sample(self.report.rows + 1, None);
                    return Ok((taken > 0).then(|| batch.slice(0, taken)));
                }
                Ok(Some(batch))
            }
            Ok(Step::End { cut_cells, damage }) => {
                self.done = true;
                self.report.add(RepairKind::CutCells, cut_cells, None);
                if let Some(reason) = damage {
                    self.report.add_damage(RepairKind::DamagedData, &reason, Some(self.report.rows + 1));
                }
                Ok(None)
            }
            Err(_) => Err(Error::Internal("the thread that reads a database has stopped".into())),
        }
    }

    fn report(&self) -> &ReadReport {
        &self.report
    }

    fn declared_types(&self) -> Option<SchemaRef> {
        None
    }
}
