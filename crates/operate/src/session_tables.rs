//! Tables that a query can name beside those of the lake: results of the session's steps, and files outside the lake.
//!
//! They are the tables of a schema of their own: `session.step_2`, `session.orders` for a file `orders.csv`. Steps are
//! Parquet files, whose types are as declared. Other files are read once, whole, so that their columns get types as those of
//! the lake do; when they change they are read again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lakeward_core::error::{Error, Result};
use lakeward_lake::location::Location;
use lakeward_lake::profile::{self, TableProfile};
use lakeward_lake::reader::{self, ReadOptions};
use lakeward_lake::scan;

/// Name of the schema that holds them.
pub const SESSION_SCHEMA: &str = "session";
/// Rows from which the columns of a file that declares its types are described.
const HEAD_ROWS: u64 = 1000;

/// One such table.
#[derive(Debug, Clone)]
pub struct SessionTable {
    /// Its file.
    pub path: PathBuf,
    /// The step it is the result of; `None` for a file.
    pub step: Option<usize>,
    /// Whether it holds rows that are kept, which only plans read.
    pub kept: bool,
    /// What is in it; read when first needed.
    profile: Option<Arc<TableProfile>>,
    /// Size and time of change when it was read.
    stamp: Option<(u64, u64)>,
}

/// All such tables by their names in the schema.
#[derive(Debug, Default)]
pub struct SessionTables {
    tables: Mutex<BTreeMap<String, SessionTable>>,
}

/// The name of a step's result.
pub fn step_name(step: usize) -> String {
    format!("step_{step}")
}

impl SessionTables {
    fn tables(&self) -> MutexGuard<'_, BTreeMap<String, SessionTable>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of `step` lies at `path`; the name it has from now on.
    pub fn set_step(&self, step: usize, path: &Path) -> String {
        let name = step_name(step);
        let table = SessionTable { step: Some(step), ..SessionTable::of(path.to_path_buf()) };
        self.tables().insert(name.clone(), table);
        name
    }

    /// Forgets the result of `step`; the name it had.
    pub fn remove_step(&self, step: usize) -> String {
        let name = step_name(step);
        self.tables().remove(&name);
        name
    }

    /// The name of the file at `path`: its name without extensions, with a number where another file has that name.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no such file.
    pub fn add_file(&self, path: &Path) -> Result<String> {
        let real = Location::of(path).canonical().map_err(|error| Error::io("read", path, error))?;
        if !Location::of(&real).is_table() {
            return Err(Error::unreadable(path, "it is no file"));
        }
        let mut tables = self.tables();
        if let Some((name, _)) = tables.iter().find(|(_, table)| table.step.is_none() && table.path == real) {
            return Ok(name.clone());
        }
        let mut stem = stem(path);
        if stem.to_lowercase().strip_prefix("step_").is_some_and(|number| number.parse::<usize>().is_ok()) {
            stem.insert_str(0, "file_");
        }
        let taken = |name: &str| tables.keys().any(|known| known.to_lowercase() == name.to_lowercase());
        let mut name = stem.clone();
        let mut number = 2;
        while taken(&name) {
            name = format!("{stem}_{number}");
            number += 1;
        }
        tables.insert(name.clone(), SessionTable::of(real));
        Ok(name)
    }

    /// The rows kept as `key` lie at `path`; their name.
    pub fn set_kept(&self, key: &str, path: &Path) -> String {
        let name = format!("kept_{key}");
        let table = || SessionTable { kept: true, ..SessionTable::of(path.to_path_buf()) };
        self.tables().entry(name.clone()).or_insert_with(table);
        name
    }

    /// The name in the schema that `name` means, upper and lower case aside.
    pub fn find(&self, name: &str) -> Option<String> {
        let tables = self.tables();
        if tables.contains_key(name) {
            return Some(name.to_string());
        }
        let lower = name.to_lowercase();
        tables.keys().find(|known| known.to_lowercase() == lower).cloned()
    }

    /// All names that queries are told of, sorted.
    pub fn names(&self) -> Vec<String> {
        listed(&self.tables()).cloned().collect()
    }

    /// The table called `name`.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is none, with those there are.
    pub fn get(&self, name: &str) -> Result<SessionTable> {
        let tables = self.tables();
        tables.get(name).cloned().ok_or_else(|| {
            let names: Vec<String> = listed(&tables).map(|name| format!("`{SESSION_SCHEMA}.{name}`")).collect();
            let known =
                if names.is_empty() { "has no results yet".into() } else { format!("has {}", names.join(", ")) };
            Error::usage(format!("there is no `{SESSION_SCHEMA}.{name}`: the session {known}"))
        })
    }

    /// What is in the table called `name`, and whether that was read just now.
    ///
    /// # Errors
    /// Those of reading its file; [`Error::UnreadableStep`] names the step whose result is gone or damaged.
    pub fn profile(&self, name: &str) -> Result<(Arc<TableProfile>, bool)> {
        let table = self.get(name)?;
        let stamp = Location::of(&table.path).file_stamp().ok();
        if let Some(profile) = table.profile.filter(|_| stamp == table.stamp) {
            return Ok((profile, false));
        }
        let read = read_profile(&table.path);
        let profile = Arc::new(read.map_err(|error| of_step(table.step, &table.path, error))?);
        if let Some(known) = self.tables().get_mut(name) {
            known.profile = Some(Arc::clone(&profile));
            known.stamp = stamp;
        }
        Ok((profile, true))
    }

    /// `error` with the step named whose result lies in the file it speaks of.
    pub fn with_step_named(&self, error: Error) -> Error {
        let Some(path) = path_of(&error) else { return error };
        let step = self.tables().values().find(|table| same_file(&table.path, path)).and_then(|table| table.step);
        let path = path.to_path_buf();
        of_step(step, &path, error)
    }
}

impl SessionTable {
    fn of(path: PathBuf) -> Self {
        Self { path, step: None, kept: false, profile: None, stamp: None }
    }
}

fn listed(tables: &BTreeMap<String, SessionTable>) -> impl Iterator<Item = &String> {
    tables.iter().filter(|(_, table)| !table.kept).map(|(name, _)| name)
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

fn path_of(error: &Error) -> Option<&Path> {
    match error {
        Error::Io { path, .. } | Error::Unreadable { path, .. } => Some(path),
        _ => None,
    }
}

/// A step whose file cannot be read is to be run again; that is more than a user can tell from the file's name.
fn of_step(step: Option<usize>, path: &Path, error: Error) -> Error {
    let Some(step) = step else { return error };
    let reason = match &error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => "it is gone".to_string(),
        Error::Io { source, .. } => source.to_string(),
        Error::Unreadable { reason, .. } => reason.clone(),
        // Named already, or no matter of the file.
        _ => return error,
    };
    Error::UnreadableStep { path: path.to_path_buf(), step, reason }
}

fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let compressed = [".gz", ".zst", ".GZ", ".ZST"];
    let name = compressed.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem: String = stem.chars().filter(|c| !c.is_control()).collect();
    if stem.is_empty() { "file".into() } else { stem }
}

/// What is in the file at `path`: of all its rows, or of its head where it declares its types.
fn read_profile(path: &Path) -> Result<TableProfile> {
    let max_rows = Location::of(path).declares_types().then_some(HEAD_ROWS);
    let mut reader = reader::open_path(path, &ReadOptions { max_rows, ..ReadOptions::default() })?;
    Ok(profile::profile(&scan::scan(reader.as_mut())?))
}
