//! Writes one segment: all its [structures](super::structures), for some tables, in a folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::columns::ColumnsWriter;
use super::manifest::{Manifest, SegmentEntry};
use super::structure::{Place, StoredTable, VectorShape};
use super::structures::{Segment, Writers};
use super::table_draft::TableDraft;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_core::store::{make_folder, sync_folder};

/// Collects the tables of one segment.
pub struct SegmentBuilder {
    name: String,
    folder: PathBuf,
    tables: u32,
    /// Shared by several structures.
    columns: ColumnsWriter,
    writers: Writers,
}

impl SegmentBuilder {
    /// Starts the segment `name` of the index in `index_folder`, with vectors of `shape`.
    ///
    /// # Errors
    /// [`Error::Io`] if its folder cannot be created.
    pub fn create(index_folder: &Path, name: &str, shape: VectorShape) -> Result<Self> {
        let folder = Manifest::segment_folder(index_folder, name);
        if folder.exists() {
            // Left behind by a run that was killed before its commit.
            fs::remove_dir_all(&folder).map_err(|error| Error::io("write", &folder, error))?;
        }
        make_folder(&folder)?;
        let writers = Writers::create(&folder, shape)?;
        Ok(Self { name: name.to_string(), folder, tables: 0, columns: ColumnsWriter::default(), writers })
    }

    /// Number of value hashes collected so far.
    pub fn values(&self) -> usize {
        self.columns.values()
    }

    /// Number of tables added so far.
    pub fn tables(&self) -> usize {
        self.tables as usize
    }

    /// Adds the next table; tables come in the order of their ids.
    ///
    /// # Errors
    /// Those of the structures.
    pub fn push(&mut self, draft: &TableDraft) -> Result<()> {
        let first = self.columns.append(&draft.columns, self.tables);
        let place = self.next_place(first);
        self.writers.push(&draft.structures, &place)
    }

    /// Adds a table of another segment, except for the data stored per segment ([`push_segment`](Self::push_segment)); tables must be added
    /// in the order of their ids. Returns its number here.
    ///
    /// # Errors
    /// Those of the structures; [`Error::DamagedIndex`] if the other segment is damaged.
    pub fn push_stored(&mut self, from: &StoredTable<'_>) -> Result<u32> {
        let first = self.columns.len() as u32;
        let stored = &from.segment.columns;
        for column in from.columns()? {
            self.columns.push_stored(stored, stored.record(column)?, self.tables)?;
        }
        let place = self.next_place(first);
        self.writers.push_stored(from, &place)?;
        Ok(place.table)
    }

    /// The place of the next table, whose columns were added from number `first` on.
    fn next_place(&mut self, first: u32) -> Place {
        let table = self.tables;
        self.tables += 1;
        Place { table, columns: first..self.columns.len() as u32 }
    }

    /// Adds the data that segment `from` stores for all its tables together; `number_of` returns the number under which a table was added
    /// here.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if `from` is damaged, [`Error::Io`] if writing fails.
    pub fn push_segment(&mut self, from: &Segment, number_of: impl Fn(u32) -> Option<u32>) -> Result<()> {
        self.writers.push_segment(from, &number_of)
    }

    /// Writes everything, or, of a segment that `is_only_merged` and never searched, what a merge reads; returns the segment's entry for the
    /// manifest.
    ///
    /// # Errors
    /// Those of the structures.
    pub fn finish(self, is_only_merged: bool, monitor: &dyn Monitor) -> Result<SegmentEntry> {
        let files = self.writers.finish(&self.folder, &self.columns, is_only_merged, monitor)?;
        sync_folder(&self.folder)?;
        Ok(SegmentEntry {
            name: self.name,
            tables: self.tables,
            columns: self.columns.len() as u32,
            values: self.columns.values() as u64,
            removed: Vec::new(),
            restamped: BTreeMap::new(),
            files,
        })
    }
}
