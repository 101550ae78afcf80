//! What a query's reader must know beside its rows: cells read as NULL, tables read in part.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quote::identifier;
use super::rows::ResultColumn;

/// One thing to know about a table that a query read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// The table's id.
    pub table: String,
    /// What happened.
    #[serde(flatten)]
    pub kind: NoteKind,
}

/// What can happen while a table is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum NoteKind {
    /// Cells that did not fit their column's type and were read as NULL.
    Misfits {
        /// The column.
        column: String,
        /// Its type.
        sql_type: String,
        /// How many cells.
        cells: u64,
    },
    /// Rows or cells of the file could not be read.
    InPart {
        /// What was left out.
        reason: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            NoteKind::Misfits { column, sql_type, cells } => {
                let (noun, verb) = if *cells == 1 { ("cell", "was") } else { ("cells", "were") };
                let column = format!("column `{column}` ({sql_type})");
                write!(f, "{cells} {noun} of `{}`, {column}, did not fit its type and {verb} read as NULL", self.table)
            }
            NoteKind::InPart { reason } => write!(f, "`{}` was read in part: {reason}", self.table),
        }
    }
}

impl Note {
    /// Whether it says something of a result with these columns or of what `sql` asks for; steps that are kept for later have all columns.
    pub fn concerns(&self, sql: &str, columns: &[ResultColumn]) -> bool {
        let NoteKind::Misfits { column, .. } = &self.kind else { return true };
        columns.iter().any(|known| known.name == *column) || sql.contains(&identifier(column))
    }
}

/// Collects notes from the threads that read.
#[derive(Debug, Default)]
pub struct Notes {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// (table, column) → (type, cells)
    misfits: BTreeMap<(String, String), (String, u64)>,
    in_part: BTreeMap<String, String>,
    parquet: Vec<PathBuf>,
    /// Rows of files that were read to their end.
    rows: BTreeMap<PathBuf, u64>,
    exhausted: bool,
}

impl Notes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what an earlier query left.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    /// One reading of `column` has met `cells` misfits so far. A query may read a table twice; the most counts.
    pub fn misfits(&self, table: &str, column: &str, sql_type: &str, cells: u64) {
        let mut state = self.state();
        let known =
            state.misfits.entry((table.to_string(), column.to_string())).or_insert_with(|| (sql_type.to_string(), 0));
        known.1 = known.1.max(cells);
    }

    /// Something of `table` is missing.
    pub fn in_part(&self, table: &str, reason: String) {
        self.state().in_part.insert(table.to_string(), reason);
    }

    /// The file at `path` was read to its end and has so many rows.
    pub fn read_whole(&self, path: &Path, rows: u64) {
        self.state().rows.insert(path.to_path_buf(), rows);
    }

    /// The rows of the file at `path`, if the query has read all of it.
    pub fn rows_of(&self, path: &Path) -> Option<u64> {
        self.state().rows.get(path).copied()
    }

    /// The query reads the Parquet file `path`.
    pub fn parquet(&self, path: PathBuf) {
        self.state().parquet.push(path);
    }

    /// The Parquet files that the query reads.
    pub fn parquet_files(&self) -> Vec<PathBuf> {
        self.state().parquet.clone()
    }

    /// The query has failed for want of memory.
    pub fn set_exhausted(&self) {
        self.state().exhausted = true;
    }

    /// Whether the query has failed for want of memory.
    pub fn is_exhausted(&self) -> bool {
        self.state().exhausted
    }

    /// All notes, by table and column.
    pub fn list(&self) -> Vec<Note> {
        let state = self.state();
        let misfits = state.misfits.iter().map(|((table, column), (sql_type, cells))| Note {
            table: table.clone(),
            kind: NoteKind::Misfits { column: column.clone(), sql_type: sql_type.clone(), cells: *cells },
        });
        let in_part = state
            .in_part
            .iter()
            .map(|(table, reason)| Note { table: table.clone(), kind: NoteKind::InPart { reason: reason.clone() } });
        misfits.chain(in_part).collect()
    }
}
