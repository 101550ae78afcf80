//! What an update has to do: the files of the lake compared with the tables of the index.
//!
//! A file counts as unchanged when its size and time of change are those of its stamp. The time is a hint only: where it
//! differs and the size does not, the content is hashed, and equal content means that only the stamp is renewed. A stamp
//! without a time (see [`settled_time`]) is always hashed.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rayon::prelude::*;

use super::catalog::{Catalog, FileStamp};
use super::manifest::{Manifest, SkippedFile};
use super::structure::{SegmentFiles, Structure};
use lakeward_core::error::Result;
use lakeward_lake::metadata::{CatalogueRecord, MetadataIndex, TableMetadata};
use lakeward_lake::source::{self, ContentHash, LakeFile, Origin, TableId};

/// Times of change closer than this to the moment of reading are not trusted: file systems tick, some every 10 ms, and a file
/// written twice within one tick shows one time.
const TICK_NS: u64 = 100_000_000;

/// A table or record to be read.
pub(super) struct Read<'a> {
    pub id: TableId,
    pub source: Source<'a>,
    /// Hash of what is said of it.
    pub metadata_hash: u64,
    /// Whether no table of the index comes from this path.
    pub new: bool,
}

/// What it is read from.
pub(super) enum Source<'a> {
    /// A file, with what is said of it elsewhere.
    File(&'a LakeFile, Option<Box<Cow<'a, TableMetadata>>>),
    /// A record of a catalogue, which says itself what it is.
    Record(&'a CatalogueRecord),
}

impl<'a> Read<'a> {
    pub fn origin(&self) -> Origin<'a> {
        match self.source {
            Source::File(file, _) => Origin::File(&file.relative),
            Source::Record(record) => record.origin(),
        }
    }

    pub fn read_bytes(&self) -> u64 {
        match self.source {
            Source::File(file, _) => file.read_bytes,
            Source::Record(record) => record.read_bytes,
        }
    }
}

/// What an update has to do.
#[derive(Default)]
pub(super) struct Plan<'a> {
    /// What is to be read, by id.
    pub reads: Vec<Read<'a>>,
    /// Rows to read of each at the most.
    pub sample_rows: Option<u64>,
    /// Files known to hold no readable table and unchanged since.
    pub skipped_before: Vec<SkippedFile>,
    pub unchanged: u64,
    /// Records of a catalogue among the unchanged.
    pub unchanged_records: u64,
    /// Tables whose file is gone.
    pub removed: u64,
    gone: Vec<Gone>,
    restamps: Vec<Restamp>,
}

/// A table of the old index that is no longer what the lake holds.
struct Gone {
    segment: String,
    table: u32,
    /// The id under which its file is read again, if it is: it stays until that is done.
    replaced_by: Option<TableId>,
    content: [u8; 32],
}

/// An unchanged table whose file has another time of change now.
struct Restamp {
    segment: String,
    table: u32,
    modified_ns: u64,
}

/// A table of the index.
struct Known {
    segment: String,
    table: u32,
    id: String,
    stamp: FileStamp,
    /// Whether as much of it was read as is wanted now.
    extent_fits: bool,
}

impl Known {
    fn gone(self, replaced_by: Option<TableId>) -> Gone {
        Gone { segment: self.segment, table: self.table, replaced_by, content: self.stamp.content }
    }
}

/// What an index is to hold.
pub(super) struct Wanted<'a> {
    /// The files of the lake.
    pub files: &'a [LakeFile],
    /// Their ids.
    pub ids: &'a [TableId],
    /// What sidecars say of them.
    pub metadata: &'a MetadataIndex,
    /// What records say of them, by id.
    pub recorded: &'a HashMap<TableId, TableMetadata>,
    /// Records of what is not in the lake.
    pub records: &'a [CatalogueRecord],
    /// Of each table the first rows, all of them without: what was read to another extent is read again.
    pub sample_rows: Option<u64>,
}

/// Compares what is wanted with the index in `folder`.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where a catalogue is damaged.
pub(super) fn plan<'a>(folder: &Path, manifest: &Manifest, wanted: &Wanted<'a>) -> Result<Plan<'a>> {
    let Wanted { files, ids, metadata, recorded, records, sample_rows } = *wanted;
    let mut known = known_tables(folder, manifest, sample_rows)?;
    let skipped: HashMap<&str, &SkippedFile> = manifest.skipped.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut plan = Plan { sample_rows, ..Plan::default() };
    let mut touched: Vec<(Read<'a>, &LakeFile, Known)> = Vec::new();
    for (file, id) in files.iter().zip(ids.iter().cloned()) {
        if let Some(skip) = skipped.get(file.relative.as_str())
            && skip.read_bytes == file.read_bytes
            && skip.modified_ns == file.modified_ns
        {
            plan.skipped_before.push((*skip).clone());
            continue;
        }
        let sidecar = metadata.get(&file.relative);
        let described = match (recorded.get(&id), sidecar) {
            (Some(record), Some(sidecar)) => Some(Cow::Owned(record.clone().or(sidecar))),
            (record, sidecar) => record.or(sidecar).map(Cow::Borrowed),
        };
        let metadata_hash = described.as_deref().map_or(0, metadata_hash);
        let read = Read { id, source: Source::File(file, described.map(Box::new)), metadata_hash, new: false };
        let Some(table) = known.remove(&file.relative) else {
            plan.reads.push(Read { new: true, ..read });
            continue;
        };
        let stamp = &table.stamp;
        let alike = stamp.read_bytes == file.read_bytes
            && stamp.metadata_hash == metadata_hash
            && table.id == read.id.as_str()
            && table.extent_fits;
        if alike && stamp.modified_ns != 0 && stamp.modified_ns == file.modified_ns {
            plan.unchanged += 1;
        } else if alike {
            touched.push((read, file, table));
        } else {
            plan.gone.push(table.gone(Some(read.id.clone())));
            plan.reads.push(read);
        }
    }
    plan.look_into(touched);
    for record in records {
        let metadata_hash = record.metadata_hash().max(1);
        let read = Read { id: record.id.clone(), source: Source::Record(record), metadata_hash, new: false };
        match known.remove(&record.origin().to_string()) {
            None => plan.reads.push(Read { new: true, ..read }),
            Some(table) if table.stamp.metadata_hash == metadata_hash => {
                plan.unchanged += 1;
                plan.unchanged_records += 1;
            }
            Some(table) => {
                plan.gone.push(table.gone(Some(read.id.clone())));
                plan.reads.push(read);
            }
        }
    }
    plan.removed = known.len() as u64;
    plan.gone.extend(known.into_values().map(|table| table.gone(None)));
    plan.reads.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(plan)
}

fn known_tables(folder: &Path, manifest: &Manifest, sample_rows: Option<u64>) -> Result<HashMap<String, Known>> {
    let mut known = HashMap::new();
    for segment in &manifest.segments {
        let removed: HashSet<u32> = segment.removed.iter().copied().collect();
        let catalog = Catalog::open(&SegmentFiles::of(folder, segment))?;
        for table in (0..catalog.len() as u32).filter(|table| !removed.contains(table)) {
            let mut stamp = catalog.stamp(table)?;
            if let Some(modified_ns) = segment.restamped.get(&table) {
                stamp.modified_ns = *modified_ns;
            }
            let id = catalog.id(table)?.to_string();
            let extent_fits = match (stamp.sample_rows, sample_rows) {
                (0, None) => true,
                // Whole tables count as they are, unless samples are wanted from now on.
                (0, Some(_)) if manifest.sample_rows == sample_rows => true,
                (0, Some(wanted)) => catalog.dataset(table)?.table().is_none_or(|table| table.profile.rows <= wanted),
                (read, wanted) => wanted == Some(u64::from(read)),
            };
            known.insert(stamp.path.clone(), Known { segment: segment.name.clone(), table, id, stamp, extent_fits });
        }
    }
    Ok(known)
}

impl<'a> Plan<'a> {
    /// Hashes the files of `touched` to tell changed ones from those that were only touched.
    fn look_into(&mut self, touched: Vec<(Read<'a>, &LakeFile, Known)>) {
        let looked: Vec<(Read<'a>, Known, bool, u64)> = touched
            .into_par_iter()
            .map(|(read, file, table)| {
                let modified_ns = settled_time(file);
                let content = source::content_hash(&file.path);
                let same = content.is_ok_and(|content| *content.as_bytes() == table.stamp.content);
                (read, table, same, modified_ns)
            })
            .collect();
        for (read, table, same, modified_ns) in looked {
            if !same {
                self.gone.push(table.gone(Some(read.id.clone())));
                self.reads.push(read);
                continue;
            }
            self.unchanged += 1;
            if table.stamp.modified_ns != modified_ns {
                self.restamps.push(Restamp { segment: table.segment, table: table.table, modified_ns });
            }
        }
    }

    /// Whether the manifest has to change for what was not read.
    pub fn changes_manifest(&self) -> bool {
        !self.gone.is_empty() || !self.restamps.is_empty()
    }

    /// How many of `contents`, of files read as new, are those of vanished tables: files that were renamed or moved.
    pub fn renamed(&self, contents: impl IntoIterator<Item = ContentHash>) -> u64 {
        let mut vanished: HashMap<[u8; 32], u64> = HashMap::new();
        for gone in self.gone.iter().filter(|gone| gone.replaced_by.is_none()) {
            *vanished.entry(gone.content).or_default() += 1;
        }
        let mut renamed = 0;
        for content in contents {
            if let Some(left) = vanished.get_mut(content.as_bytes()).filter(|left| **left > 0) {
                *left -= 1;
                renamed += 1;
            }
        }
        renamed
    }

    /// Brings the entries of older segments up to date in `manifest`: strikes out what vanished and what the first
    /// `reads_done` reads replaced, and renews stamps.
    pub fn apply(&self, manifest: &mut Manifest, reads_done: usize) {
        let read: HashSet<&TableId> = self.reads[..reads_done].iter().map(|read| &read.id).collect();
        let mut struck: HashMap<&str, Vec<u32>> = HashMap::new();
        for gone in &self.gone {
            if gone.replaced_by.as_ref().is_none_or(|id| read.contains(id)) {
                struck.entry(&gone.segment).or_default().push(gone.table);
            }
        }
        let mut restamped: HashMap<&str, BTreeMap<u32, u64>> = HashMap::new();
        for stamp in &self.restamps {
            restamped.entry(&stamp.segment).or_default().insert(stamp.table, stamp.modified_ns);
        }
        for segment in &mut manifest.segments {
            if let Some(tables) = struck.remove(segment.name.as_str()) {
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

/// The time of change to remember for `file`, which is about to be read: 0 when it could be changed again without its time
/// changing, so that the next update looks at the content. (Git calls such files racy.)
pub(super) fn settled_time(file: &LakeFile) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos());
    let now = u64::try_from(now).unwrap_or(u64::MAX);
    if file.modified_ns.saturating_add(TICK_NS) >= now { 0 } else { file.modified_ns }
}

fn metadata_hash(metadata: &TableMetadata) -> u64 {
    serde_json::to_vec(metadata).map_or(0, |bytes| xxhash_rust::xxh3::xxh3_64(&bytes).max(1))
}
