//! Rows of an Iceberg table that are deleted by position: files of paths and row numbers, read once when the first data file is.

use std::collections::HashMap;
use std::sync::OnceLock;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use roaring::RoaringTreemap;

use super::super::LiveFile;
use crate::reader::{ReadOptions, open_path};

/// More deleted rows of a table are an error: they are held in memory.
const MOST_ROWS: u64 = 1 << 28;

/// The deleted rows of a table.
#[derive(Debug)]
pub(crate) struct Positions {
    /// With the number of the change that added each, by name.
    files: Vec<(i64, LiveFile)>,
    read: OnceLock<Result<Rows, String>>,
}

/// Rows of each data file, with the number of the change that deleted them.
type Rows = HashMap<String, Vec<(i64, RoaringTreemap)>>;

impl Positions {
    pub(super) fn new(mut files: Vec<(i64, LiveFile)>) -> Positions {
        files.sort_unstable_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        Positions { files, read: OnceLock::new() }
    }

    /// Whether rows of a data file of the change `sequence` may be deleted: only rows that were there then are.
    pub(super) fn apply_to(&self, sequence: i64) -> bool {
        self.files.iter().any(|(deleted, _)| *deleted >= sequence)
    }

    /// The files that list them, and when each was added: what tells these deletions from those of another version.
    pub(in crate::table_format) fn listed(&self) -> impl Iterator<Item = (&str, u64, i64)> {
        self.files.iter().map(|(sequence, file)| (file.name.as_str(), file.bytes, *sequence))
    }

    /// The rows that are deleted of the data file `name` of the change `sequence`.
    ///
    /// # Errors
    /// Why they cannot be read, in one clause.
    pub(in crate::table_format) fn of(&self, name: &str, sequence: i64) -> Result<RoaringTreemap, String> {
        let all = self.read.get_or_init(|| self.read()).as_ref().map_err(Clone::clone)?;
        let changes = all.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut rows = RoaringTreemap::new();
        changes.iter().filter(|(deleted, _)| *deleted >= sequence).for_each(|(_, of_change)| rows |= of_change);
        Ok(rows)
    }

    fn read(&self) -> Result<Rows, String> {
        let (mut rows, mut count) = (Rows::new(), 0);
        for (sequence, file) in &self.files {
            let failed = |reason: String| format!("its deletions in {} cannot be read: {reason}", file.name);
            let path = file.path.as_deref().map_err(|reason| failed((*reason).into()))?;
            let mut reader = open_path(path, &ReadOptions::default()).map_err(|error| failed(error.to_string()))?;
            let place = |name: &str| reader.columns().iter().position(|column| column.name == name);
            let (path, position) = place("file_path").zip(place("pos")).ok_or_else(|| failed("no positions".into()))?;
            while let Some(batch) = reader.next_batch().map_err(|error| failed(error.to_string()))? {
                let paths = batch.column(path).as_string_opt::<i32>();
                let positions = batch.column(position).as_primitive_opt::<Int64Type>();
                let (paths, positions) = paths.zip(positions).ok_or_else(|| failed("no positions".into()))?;
                for (path, position) in paths.iter().zip(positions) {
                    let (Some(path), Some(position)) = (path, position.and_then(|row| u64::try_from(row).ok())) else {
                        return Err(failed("a position that is none".into()));
                    };
                    if !rows.contains_key(path) {
                        rows.insert(path.to_string(), Vec::new());
                    }
                    let Some(changes) = rows.get_mut(path) else { continue };
                    if changes.last().is_none_or(|(last, _)| last != sequence) {
                        changes.push((*sequence, RoaringTreemap::new()));
                    }
                    if let Some((_, of_change)) = changes.last_mut() {
                        count += u64::from(of_change.insert(position));
                    }
                }
                if count > MOST_ROWS {
                    return Err(failed(format!("more than {MOST_ROWS} rows are deleted")));
                }
            }
            if reader.report().lost_rows() {
                return Err(failed("it is damaged".into()));
            }
        }
        Ok(rows)
    }
}
