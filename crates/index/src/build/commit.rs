//! Commits of a build: edits of the manifest, which are made again of a newer one where another writer of a store was faster.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::super::index_store::IndexStore;
use super::super::manifest::{Manifest, PartialFile, SegmentEntry, SkippedFile};
use super::super::plan::{Plan, Read, ReadStamp, hashed};
use super::super::structure::{SegmentFiles, Structure};
use super::super::table_store::TableStore;
use super::BuildStep;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_lake::source::TableId;

/// Times that other writers may be faster in a row. Each of them has committed something then.
pub const ATTEMPTS: usize = 200;

/// Where the commits of a build go.
pub struct Commits<'a> {
    /// The folder of the index, locked.
    pub folder: &'a Path,
    /// Where it is, if that is a store.
    pub store: Option<Arc<IndexStore>>,
    /// Whether the segments are those of a shard, which are merged and never searched.
    pub are_only_merged: bool,
    /// Told each step.
    pub monitor: &'a dyn Monitor,
}

impl Commits<'_> {
    /// The name of a new segment, which no other writer chooses.
    pub fn segment_name(&self, generation: u64, number: usize) -> String {
        let name = format!("{generation:06}-{number}");
        self.store.as_ref().map_or(name.clone(), |store| store.unique(&name))
    }

    /// Makes `edit` of `manifest` and commits it. If another writer has committed meanwhile, `edit` is made of the manifest of that one. False if
    /// `edit` says that nothing is to be changed; `manifest` is the newest then, too.
    ///
    /// # Errors
    /// [`Error::Io`], and those of `edit`.
    pub fn commit(&self, manifest: &mut Manifest, mut edit: impl FnMut(&mut Manifest) -> Result<bool>) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let mut next = manifest.clone();
            if !edit(&mut next)? {
                return Ok(false);
            }
            let is_committed = self.try_commit(&mut next)?;
            *manifest = next;
            if is_committed {
                return Ok(true);
            }
        }
        Err(self.too_slow())
    }

    /// Commits `manifest` as the next one; false if another writer has committed meanwhile, and `manifest` is the one of that.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn try_commit(&self, manifest: &mut Manifest) -> Result<bool> {
        manifest.generation += 1;
        if let Some(store) = &self.store
            && let Some(newer) = store.publish(manifest)?
        {
            *manifest = newer;
            return Ok(false);
        }
        manifest.commit(self.folder, || self.monitor.note(&BuildStep::ManifestWritten.to_string()))?;
        self.monitor.note(&BuildStep::ManifestReplaced.to_string());
        Ok(true)
    }

    /// The error of a writer that never is the first.
    pub fn too_slow(&self) -> Error {
        let reason = format!("other writers were faster {ATTEMPTS} times");
        Error::io("write", self.folder, std::io::Error::other(reason))
    }
}

/// What a run has read of the lake, to be added to a manifest.
#[derive(Default)]
pub struct Work {
    /// The new segments.
    pub segments: Vec<SegmentEntry>,
    /// Files that could not be read.
    pub skipped: Vec<SkippedFile>,
    /// Files with missing rows.
    pub partial: Vec<PartialFile>,
    /// What was read, skipped files included, by its [`hashed`] id: the hash of what it was found to be then.
    done: HashMap<[u64; 2], u64>,
}

impl Work {
    /// Notes that these were read.
    pub fn note(&mut self, reads: &[&Read<'_>]) {
        self.note_stamps(reads.iter().map(|read| (&read.id, read.stamp())));
    }

    /// Notes that these were read when they were as their stamps say.
    pub fn note_stamps<'a>(&mut self, stamps: impl IntoIterator<Item = (&'a TableId, ReadStamp)>) {
        self.done.extend(stamps.into_iter().map(|(id, stamp)| (hashed(id.as_str()), hash_of(stamp))));
    }

    /// Whether this was read, as it is now.
    pub fn has(&self, read: &Read<'_>) -> bool {
        self.done.get(&hashed(read.id.as_str())) == Some(&hash_of(read.stamp()))
    }

    /// Adds to `manifest` what `plan`, a comparison of it with the lake, wants to be read and this has read: what another writer has read
    /// meanwhile stays out, and so does what has changed since. `listed` are the paths of the lake.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if a new catalogue cannot be read.
    pub fn add_to(
        &self,
        manifest: &mut Manifest,
        plan: &Plan<'_>,
        folder: &Path,
        listed: &HashSet<&str>,
    ) -> Result<()> {
        // By id.
        let read: Vec<&Read<'_>> = plan.reads.iter().filter(|read| self.has(read)).collect();
        let of_read = |id: &str| read.binary_search_by(|read| read.id.as_str().cmp(id)).ok();
        let partial = self.partial.iter().chain(&manifest.partial).map(|partial| partial.path.clone());
        let told: HashSet<String> = self.skipped.iter().map(|skipped| skipped.path.clone()).chain(partial).collect();
        let some = read.iter().filter(|_| !told.is_empty());
        let paths = some.map(|read| read.origin().to_string()).filter(|path| told.contains(path));
        let paths: HashSet<String> = paths.collect();
        // What was read twice counts as it was the last time.
        let skipped = self.skipped.iter().filter(|skipped| paths.contains(&skipped.path));
        let skipped = plan.skipped_before.iter().chain(skipped).map(|skipped| (skipped.path.clone(), skipped.clone()));
        manifest.skipped = skipped.collect::<BTreeMap<_, _>>().into_values().collect();
        let stays = |file: &&PartialFile| !paths.contains(&file.path) && listed.contains(file.path.as_str());
        let partial = self.partial.iter().filter(|partial| paths.contains(&partial.path));
        let partial =
            manifest.partial.iter().filter(stays).chain(partial).map(|file| (file.path.clone(), file.clone()));
        manifest.partial = partial.collect::<BTreeMap<_, _>>().into_values().collect();
        let mut is_wanted = vec![true; read.len()];
        let mut segments = Vec::new();
        // The newest first: what was read twice has changed in between.
        for segment in self.segments.iter().rev() {
            let tables = TableStore::open(&SegmentFiles::of(folder, segment))?;
            let mut segment = segment.clone();
            for table in 0..segment.tables {
                if !of_read(tables.id(table)?).is_some_and(|place| std::mem::take(&mut is_wanted[place])) {
                    segment.removed.push(table);
                }
            }
            segments.push(segment);
        }
        manifest.segments.extend(segments.into_iter().rev());
        plan.apply(manifest, |id| of_read(id.as_str()).is_some());
        Ok(())
    }

    /// The hashes of what those of `reads` contain that are in the new segments, which are in `folder`.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if a new catalogue cannot be read.
    pub fn contents(&self, folder: &Path, reads: &[&&Read<'_>]) -> Result<Vec<[u8; 32]>> {
        let mut wanted: HashSet<&str> = reads.iter().map(|read| read.id.as_str()).collect();
        let mut contents = Vec::new();
        for segment in self.segments.iter().rev() {
            let tables = TableStore::open(&SegmentFiles::of(folder, segment))?;
            for table in 0..segment.tables {
                if wanted.remove(tables.id(table)?) {
                    contents.push(tables.stamp(table)?.content);
                }
            }
        }
        Ok(contents)
    }
}

fn hash_of((bytes, modified_ns, metadata_hash): ReadStamp) -> u64 {
    xxhash_rust::xxh3::xxh3_64([bytes, modified_ns, metadata_hash].map(u64::to_le_bytes).as_flattened())
}
