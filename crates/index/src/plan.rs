//! Plans an update by comparing the files of the lake with the tables of the index.
//!
//! A file counts as unchanged if its size and modification time are those of its stamp. The time is only a hint: if it differs and the size
//! does not, the content is hashed, and if that is equal, only the stamp is renewed. A stamp without a time (see [`source::settled_time`]) is
//! always hashed.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use super::manifest::{Manifest, SkippedFile};
use super::structure::{SegmentFiles, Structure};
use super::table_store::{FileStamp, TableStore};
use lakeward_core::error::Result;
use lakeward_lake::cell_setting::CellSetting;
use lakeward_lake::metadata::{CatalogueRecord, MetadataIndex, TableMetadata};
use lakeward_lake::source::{self, LakeFile, Origin, TableId};

/// A table or record to be read.
pub(super) struct Read<'a> {
    pub id: TableId,
    pub source: Source<'a>,
    /// Hash of its metadata and of how its cells are to be read.
    pub metadata_hash: u64,
    /// Whether no table of the index comes from this path.
    pub new: bool,
}

/// By what it is known whether a table or record is still as it was read: size, modification time, metadata.
pub(super) type ReadStamp = (u64, u64, u64);

/// What to read. Of records there are very many.
pub(super) enum Source<'a> {
    /// A file, with what is known of it from elsewhere.
    File(&'a LakeFile, Box<KnownOf<'a>>),
    /// A catalogue record, which contains its own metadata.
    Record(&'a CatalogueRecord),
}

/// What is known of a file from elsewhere.
pub(super) struct KnownOf<'a> {
    /// Its metadata.
    pub metadata: Option<Cow<'a, TableMetadata>>,
    /// How its cells are to be read.
    pub cells: Vec<CellSetting>,
}

impl<'a> Read<'a> {
    /// How its cells are to be read.
    pub fn cells(&self) -> &[CellSetting] {
        match &self.source {
            Source::File(_, known) => &known.cells,
            Source::Record(_) => &[],
        }
    }

    pub fn origin(&self) -> Origin<'a> {
        match &self.source {
            Source::File(file, _) => Origin::File(&file.relative),
            Source::Record(record) => record.origin(),
        }
    }

    pub fn stamp(&self) -> ReadStamp {
        let modified_ns = match &self.source {
            Source::File(file, _) => file.modified_ns,
            Source::Record(_) => 0,
        };
        (self.read_bytes(), modified_ns, self.metadata_hash)
    }

    pub fn read_bytes(&self) -> u64 {
        match &self.source {
            Source::File(file, _) => file.read_bytes,
            Source::Record(record) => record.read_bytes(),
        }
    }
}

/// 128 bits of a text, for tables of very many: the texts of ten million records would take a gigabyte.
pub(super) fn hashed(text: &str) -> [u64; 2] {
    let hash = xxhash_rust::xxh3::xxh3_128(text.as_bytes());
    [hash as u64, (hash >> 64) as u64]
}

/// The work of an update.
#[derive(Default)]
pub(super) struct Plan<'a> {
    /// The tables and records to read, by id.
    pub reads: Vec<Read<'a>>,
    /// Unchanged files known to have no readable table.
    pub skipped_before: Vec<SkippedFile>,
    pub unchanged: u64,
    /// Number of unchanged catalogue records.
    pub unchanged_records: u64,
    /// Number of tables whose file was deleted.
    pub removed: u64,
    outdated: Vec<Outdated>,
    restamps: Vec<Restamp>,
}

/// A table of the old index that is outdated.
struct Outdated {
    segment: Arc<str>,
    table: u32,
    /// The id under which its file is read again, if it is: the old table stays until that is done.
    replaced_by: Option<TableId>,
    content: [u8; 32],
}

/// An unchanged table whose file has a new modification time.
struct Restamp {
    segment: Arc<str>,
    table: u32,
    modified_ns: u64,
}

/// A table of the index.
struct IndexedTable {
    segment: Arc<str>,
    table: u32,
    /// [`hashed`].
    id: [u64; 2],
    /// Without its path.
    stamp: FileStamp,
    /// Whether it was read with the row limit that is requested now.
    row_limit_matches: bool,
}

impl IndexedTable {
    fn outdated(self, replaced_by: Option<TableId>) -> Outdated {
        Outdated { segment: self.segment, table: self.table, replaced_by, content: self.stamp.content }
    }
}

/// The target content of an index.
pub(super) struct Target<'a> {
    /// The files of the lake.
    pub files: &'a [LakeFile],
    /// Their ids.
    pub ids: &'a [TableId],
    /// Their metadata from sidecars.
    pub metadata: &'a MetadataIndex,
    /// Their metadata from records, by id.
    pub recorded: &'a HashMap<TableId, TableMetadata>,
    /// Records whose tables are not in the lake.
    pub records: &'a [CatalogueRecord],
    /// Maximum rows of each table, `None` for all; tables read with another limit are read again.
    pub sample_rows: Option<u64>,
    /// How cells are to be read; tables read with other settings are read again.
    pub cells: &'a [CellSetting],
}

/// Compares the target content with the index in `folder`.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] if a catalogue is damaged.
pub(super) fn plan<'a>(folder: &Path, manifest: &Manifest, target: &Target<'a>) -> Result<Plan<'a>> {
    let Target { files, ids, metadata, recorded, records, sample_rows, cells } = *target;
    let mut indexed = indexed_tables(folder, manifest, sample_rows)?;
    let skipped: HashMap<&str, &SkippedFile> = manifest.skipped.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut plan = Plan::default();
    let mut touched: Vec<(Read<'a>, &LakeFile, IndexedTable)> = Vec::new();
    for (file, id) in files.iter().zip(ids.iter().cloned()) {
        if let Some(skip) = skipped.get(file.relative.as_str())
            && skip.read_bytes == file.read_bytes
            && skip.modified_ns == file.modified_ns
        {
            plan.skipped_before.push((*skip).clone());
            continue;
        }
        // Who describes a workbook describes its tables.
        let above = file.relative.rsplit_once('/').map(|(above, _)| above);
        let is_holder =
            |path: &&str| source::classify(Path::new(path)).is_some_and(|(format, _)| format.holds_tables());
        let holder = above.filter(|_| file.format.holds_tables()).filter(is_holder);
        let sidecar = metadata.get(holder.unwrap_or(&file.relative));
        let described = match (recorded.get(&id), sidecar) {
            (Some(record), Some(sidecar)) => Some(Cow::Owned(record.clone().or(sidecar))),
            (record, sidecar) => record.or(sidecar).map(Cow::Borrowed),
        };
        let cells: Vec<CellSetting> = cells.iter().filter(|cells| cells.table == id.as_str()).cloned().collect();
        let metadata_hash = described.as_deref().map_or(0, hash_of);
        let metadata_hash = if cells.is_empty() { metadata_hash } else { hash_of(&(metadata_hash, &cells)) };
        let known = Box::new(KnownOf { metadata: described, cells });
        let read = Read { id, source: Source::File(file, known), metadata_hash, new: false };
        let Some(table) = indexed.remove(&hashed(&file.relative)) else {
            plan.reads.push(Read { new: true, ..read });
            continue;
        };
        let stamp = &table.stamp;
        let alike = stamp.read_bytes == file.read_bytes
            && stamp.metadata_hash == metadata_hash
            && table.id == hashed(read.id.as_str())
            && table.row_limit_matches;
        if alike && stamp.modified_ns != 0 && stamp.modified_ns == file.modified_ns {
            plan.unchanged += 1;
        } else if alike {
            touched.push((read, file, table));
        } else {
            plan.outdated.push(table.outdated(Some(read.id.clone())));
            plan.reads.push(read);
        }
    }
    plan.hash_touched(touched);
    for record in records {
        let metadata_hash = record.metadata_hash().max(1);
        let read = Read { id: record.id.clone(), source: Source::Record(record), metadata_hash, new: false };
        match indexed.remove(&hashed(&record.origin().to_string())) {
            None => plan.reads.push(Read { new: true, ..read }),
            Some(table) if table.stamp.metadata_hash == metadata_hash => {
                plan.unchanged += 1;
                plan.unchanged_records += 1;
            }
            Some(table) => {
                plan.outdated.push(table.outdated(Some(read.id.clone())));
                plan.reads.push(read);
            }
        }
    }
    plan.removed = indexed.len() as u64;
    plan.outdated.extend(indexed.into_values().map(|table| table.outdated(None)));
    plan.reads.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    Ok(plan)
}

/// The tables of the index, by their [`hashed`] paths.
fn indexed_tables(
    folder: &Path,
    manifest: &Manifest,
    sample_rows: Option<u64>,
) -> Result<HashMap<[u64; 2], IndexedTable>> {
    let mut indexed = HashMap::new();
    for segment in &manifest.segments {
        let removed: HashSet<u32> = segment.removed.iter().copied().collect();
        let tables = TableStore::open(&SegmentFiles::of(folder, segment))?;
        let name: Arc<str> = segment.name.as_str().into();
        for table in (0..tables.len() as u32).filter(|table| !removed.contains(table)) {
            let mut stamp = tables.stamp(table)?;
            if let Some(modified_ns) = segment.restamped.get(&table) {
                stamp.modified_ns = *modified_ns;
            }
            let id = hashed(tables.id(table)?);
            let row_limit_matches = match (stamp.sample_rows, sample_rows) {
                (0, None) => true,
                // Complete tables stay valid, unless the row limit is new.
                (0, Some(_)) if manifest.sample_rows == sample_rows => true,
                (0, Some(limit)) => tables.dataset(table)?.table().is_none_or(|table| table.profile.rows <= limit),
                (read, limit) => limit == Some(u64::from(read)),
            };
            let path = hashed(&std::mem::take(&mut stamp.path));
            indexed.insert(path, IndexedTable { segment: Arc::clone(&name), table, id, stamp, row_limit_matches });
        }
    }
    Ok(indexed)
}

impl<'a> Plan<'a> {
    /// Hashes the files in `touched` to separate changed ones from those with only a new modification time.
    fn hash_touched(&mut self, touched: Vec<(Read<'a>, &LakeFile, IndexedTable)>) {
        let looked: Vec<(Read<'a>, IndexedTable, bool, u64)> = touched
            .into_par_iter()
            .map(|(read, file, table)| {
                let modified_ns = source::settled_time(file.modified_ns);
                let content = source::content_hash(&file.path);
                let same = content.is_ok_and(|content| *content.as_bytes() == table.stamp.content);
                (read, table, same, modified_ns)
            })
            .collect();
        for (read, table, same, modified_ns) in looked {
            if !same {
                self.outdated.push(table.outdated(Some(read.id.clone())));
                self.reads.push(read);
                continue;
            }
            self.unchanged += 1;
            if table.stamp.modified_ns != modified_ns {
                self.restamps.push(Restamp { segment: table.segment, table: table.table, modified_ns });
            }
        }
    }

    /// Whether tables that are not read change the manifest.
    pub fn changes_manifest(&self) -> bool {
        !self.outdated.is_empty() || !self.restamps.is_empty()
    }

    /// How many of `contents`, from files read as new, belong to deleted tables: these files were renamed or moved.
    pub fn renamed(&self, contents: impl IntoIterator<Item = [u8; 32]>) -> u64 {
        let mut vanished: HashMap<[u8; 32], u64> = HashMap::new();
        for outdated in self.outdated.iter().filter(|outdated| outdated.replaced_by.is_none()) {
            *vanished.entry(outdated.content).or_default() += 1;
        }
        let mut renamed = 0;
        for content in contents {
            if let Some(left) = vanished.get_mut(&content).filter(|left| **left > 0) {
                *left -= 1;
                renamed += 1;
            }
        }
        renamed
    }

    /// Updates the entries of older segments in `manifest`: marks deleted tables and those that were read again as removed, and renews
    /// stamps.
    pub fn apply(&self, manifest: &mut Manifest, is_read: impl Fn(&TableId) -> bool) {
        let mut removed_tables: HashMap<&str, Vec<u32>> = HashMap::new();
        for outdated in &self.outdated {
            if outdated.replaced_by.as_ref().is_none_or(&is_read) {
                removed_tables.entry(&outdated.segment).or_default().push(outdated.table);
            }
        }
        let mut restamped: HashMap<&str, BTreeMap<u32, u64>> = HashMap::new();
        for stamp in &self.restamps {
            restamped.entry(&stamp.segment).or_default().insert(stamp.table, stamp.modified_ns);
        }
        for segment in &mut manifest.segments {
            if let Some(tables) = removed_tables.remove(segment.name.as_str()) {
                segment.removed.extend(tables);
                segment.removed.sort_unstable();
            }
            if let Some(mut stamps) = restamped.remove(segment.name.as_str()) {
                segment.restamped.append(&mut stamps);
            }
            let removed = &segment.removed;
            segment.restamped.retain(|table, _| removed.binary_search(table).is_err());
        }
        manifest.segments.retain(|segment| segment.removed.len() < segment.tables as usize);
    }
}

fn hash_of(read_with: &impl Serialize) -> u64 {
    serde_json::to_vec(read_with).map_or(0, |bytes| xxhash_rust::xxh3::xxh3_64(&bytes).max(1))
}
