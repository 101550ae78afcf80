//! The parts of giant tables at a commit: collected from the rows of shards, joined, and written as a segment of their own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::super::manifest::Manifest;
use super::super::super::plan::{Read, ReadStamp};
use super::super::commit::Commits;
use super::super::{Outcome, Reading, read_and_write};
use super::listed_read::ListedRead;
use super::{ListFolder, ShardRow};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_lake::scan::{ColumnPart, Scan};
use lakeward_lake::scanned_part::ScannedPart;
use lakeward_lake::source::{ContentHash, TableId};
use lakeward_models::embed::Embedder;

/// Some columns of a table that a shard has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TablePart {
    /// The id of the table.
    pub table: String,
    /// Which columns.
    pub part: ColumnPart,
    /// The file of their sketches, named by its content.
    pub file: String,
}

/// What shards have of one giant table.
struct Divided {
    stamp: ReadStamp,
    of: u32,
    /// The files of its parts, by number.
    files: BTreeMap<u32, String>,
    is_skipped: bool,
}

/// What shards have of giant tables, by id.
#[derive(Default)]
pub(super) struct TableParts(BTreeMap<TableId, Divided>);

impl TableParts {
    /// Adds what `row`, which is that of its shard, says of `listed`, if that is a part.
    pub fn add(&mut self, listed: &ListedRead, row: &ShardRow) {
        let Some(part) = listed.part() else { return };
        let read = listed.read();
        let stamp = read.stamp();
        let new = || Divided { stamp, of: part.of, files: BTreeMap::new(), is_skipped: false };
        let divided = self.0.entry(read.id.clone()).or_insert_with(new);
        let is_this = |found: &&TablePart| found.part == part && found.table == read.id.as_str();
        match row.parts.iter().find(is_this) {
            Some(found) => drop(divided.files.insert(part.number, found.file.clone())),
            None => divided.is_skipped = true,
        }
    }

    /// The tables that all shards of theirs are through with.
    pub fn stamps(&self) -> impl Iterator<Item = (&TableId, ReadStamp)> {
        self.0.iter().filter(|(_, divided)| divided.is_done()).map(|(id, divided)| (id, divided.stamp))
    }

    /// Whether they are through with the table of this id.
    pub fn is_done(&self, id: &str) -> bool {
        self.0.iter().any(|(other, divided)| other.as_str() == id && divided.is_done())
    }

    /// Writes a segment for each of those of `reading` whose parts are all there, as if one shard had read them; returns its row.
    pub fn joined(
        &self,
        list: &ListFolder,
        reading: &Reading<'_>,
        embedder: &dyn Embedder,
        monitor: &dyn Monitor,
    ) -> Result<Option<ShardRow>> {
        let of = |read: &Read<'_>| self.0.get(&read.id).filter(|it| it.is_whole() && it.stamp == read.stamp());
        let unread: Vec<&Read<'_>> = reading.unread.iter().copied().filter(|read| of(read).is_some()).collect();
        if unread.is_empty() {
            return Ok(None);
        }
        let scanned = |read: &Read<'_>| Some(of(read)?.join(list, read));
        let at_work = list.at_work()?;
        let commits = Commits { folder: at_work.path(), store: None, are_only_merged: true, monitor };
        let manifest = Manifest::empty(reading.manifest.lake.clone(), reading.manifest.embedder.clone());
        let reading = Reading { unread: &unread, manifest: &manifest, embedder, scanned: Some(&scanned), ..*reading };
        let mut outcome = Outcome::default();
        for table in unread.chunks(1) {
            read_and_write(&Reading { unread: table, ..reading }, &commits, &mut outcome)?;
        }
        list.row_of(at_work.path(), outcome).map(Some)
    }
}

impl Divided {
    fn is_done(&self) -> bool {
        self.is_skipped || self.is_whole()
    }

    fn is_whole(&self) -> bool {
        !self.is_skipped && self.files.len() == self.of as usize
    }

    fn join(&self, list: &ListFolder, read: &Read<'_>) -> Result<(Scan, ContentHash)> {
        let files = self.files.values().map(|file| Ok(list.part(file)?.as_deref().and_then(ScannedPart::from_bytes)));
        let parts: Option<Vec<ScannedPart>> = files.collect::<Result<Option<_>>>()?;
        parts.and_then(ScannedPart::join).ok_or_else(|| {
            let reason = "its parts do not fit each other: it changed while they were read";
            Error::io("read", std::path::Path::new(&read.origin().to_string()), std::io::Error::other(reason))
        })
    }
}
