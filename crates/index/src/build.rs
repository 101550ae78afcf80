//! Builds and updates an index: new and changed files are read once, sketched, and written as new segments; the manifest is committed last.
//!
//! Files are read in parallel in the order of their table ids; one writer takes the finished tables in that order, so an index depends only
//! on the lake and not on scheduling. Tables that were deleted or changed are marked as removed in their segments. Nothing of the old index
//! is changed before the commit; folders that the manifest does not name are deleted after it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::index_store::IndexStore;
use super::manifest::{self, Manifest, SegmentEntry};
use super::plan::{Plan, Read};
use super::structure::{SegmentFiles, Structure, VectorShape};
use super::table_store::TableStore;
use super::{LakeIndex, merge, unread_texts};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::store::{FileLock, make_folder, remove_unfinished};
use lakeward_lake::cell_setting::CellSetting;
use lakeward_lake::layout::Choices;
use lakeward_models::embed::{Embedder, EmbedderExt, RemoteEmbedder, TokenEmbedder};

mod commit;
mod outcome;
mod reading;
pub mod shards;
mod stats;
mod step;
mod survey;

use outcome::{Outcome, read_and_write};
use survey::Survey;

pub(super) use commit::Commits;
pub use stats::BuildStats;
pub use step::BuildStep;

/// A segment is closed after this many values; this bounds the writer's memory to about 28 bytes per value.
const SEGMENT_VALUES: usize = 16 << 20;
/// … or after this many tables, since tables may have few values or none (catalogue records). Bounds the writer's memory to about 3 KB per
/// table.
const SEGMENT_TABLES: usize = 128 << 10;

/// The folder, in that of an index, of what is kept of tables in many files; see [`lakeward_lake::checkpoint`].
const CHECKPOINTS: &str = "cache/checkpoints";

/// Whether a segment of so many values and tables is closed.
fn is_full(values: usize, tables: usize) -> bool {
    values > SEGMENT_VALUES || tables >= SEGMENT_TABLES
}

/// Options of a build.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// Discard the existing index.
    pub rebuild: bool,
    /// Check every byte of the existing index first, and read the tables of damaged segments again.
    pub repair: bool,
    /// A file of catalogue records (see [`lakeward_lake::metadata::Records`]). If `None`, the file of the last run, whose path is stored in
    /// the index; `rebuild` discards it.
    pub records: Option<PathBuf>,
    /// Read only this many rows of every table, from the first on; if `None`, all. Tables that were read with another setting are read
    /// again.
    pub sample_rows: Option<u64>,
    /// Which files are one table, where their layout is not to decide.
    pub tables: Choices,
    /// How cells are to be read where their columns would be read otherwise. Tables that were read with other settings are read again.
    pub cells: Vec<CellSetting>,
}

impl BuildOptions {
    /// The requested rows: at least one, and at most what a stamp can store.
    fn requested_rows(&self) -> Option<u64> {
        self.sample_rows.map(|rows| rows.clamp(1, u64::from(u32::MAX)))
    }
}

/// Brings the index in `folder` up to the state of the lake in `lake`.
///
/// # Errors
/// [`Error::Io`] if the lake cannot be listed or the index cannot be written, [`Error::Locked`] if another process writes it,
/// [`Error::IndexVersion`], [`Error::EmbeddingModel`] and [`Error::DamagedIndex`] if the existing index cannot be extended,
/// [`Error::EmbeddingServer`] if a model server stops returning vectors. After any error the index is unchanged. If stopped by its monitor,
/// a build commits what it has read and leaves the rest to the next run; what it has read of texts is kept, too.
pub fn build(
    lake: &Path,
    folder: &Path,
    embedder: &dyn Embedder,
    options: &BuildOptions,
    monitor: &dyn Monitor,
) -> Result<BuildStats> {
    let started = Instant::now();
    make_folder(&folder.join(manifest::SEGMENTS))?;
    let _lock = FileLock::acquire(folder)?;
    let commits = Commits { folder, store: IndexStore::of(folder), are_only_merged: false, monitor };
    embedder.retry();
    if options.rebuild {
        // What cannot be removed is compared with the files before it is used.
        let _ = fs::remove_dir_all(folder.join(CHECKPOINTS));
    }
    let mut outcome = Outcome::default();
    for _ in 0..commit::ATTEMPTS {
        // Every attempt looks at the manifest first and at the lake then: whatever another writer has found there is still there, or gone.
        let read = &mut |reading: &Reading<'_>, outcome: &mut Outcome| read_and_write(reading, &commits, outcome);
        if let Some(stats) = attempt(lake, &commits, embedder, options, &mut outcome, read)? {
            return Ok(BuildStats { elapsed_ms: started.elapsed().as_millis() as u64, ..stats });
        }
    }
    Err(commits.too_slow())
}

/// What an attempt has to read.
struct Reading<'a> {
    /// The tables and records, by id.
    unread: &'a [&'a Read<'a>],
    /// The manifest that is extended.
    manifest: &'a Manifest,
    /// The maximum of rows.
    sample_rows: Option<u64>,
    /// The model, which reads whole texts only where that is to be done at once.
    embedder: &'a dyn Embedder,
    /// What others have read.
    scanned: Option<&'a reading::Scanned<'a>>,
}

/// Compares the lake with the newest manifest, has `read` what `outcome` has not, and commits all of it; `None` if another writer
/// of a store has committed meanwhile.
fn attempt(
    lake: &Path,
    commits: &Commits<'_>,
    embedder: &dyn Embedder,
    options: &BuildOptions,
    outcome: &mut Outcome,
    read: &mut dyn FnMut(&Reading<'_>, &mut Outcome) -> Result<()>,
) -> Result<Option<BuildStats>> {
    let (folder, monitor) = (commits.folder, commits.monitor);
    let survey = Survey::of(lake, folder, embedder, options)?;
    let mut manifest = survey.manifest.clone();
    let sample_rows = options.requested_rows();
    let plan = survey.plan(folder, options)?;
    let unread: Vec<&Read<'_>> = plan.reads.iter().filter(|read| !outcome.work.has(read)).collect();
    let without_texts = WithoutTexts(embedder);
    let encoder = embedder.as_text_encoder().filter(|_| knows_texts(&manifest, &plan));
    let at_once = encoder.is_some() && plan.reads.len() <= MOST_READ_AT_ONCE;
    let reader: &dyn Embedder = if at_once { embedder } else { &without_texts };
    if !unread.is_empty() {
        let reading = Reading { unread: &unread, manifest: &manifest, sample_rows, embedder: reader, scanned: None };
        read(&reading, outcome)?;
        if let Some(failure) = embedder.failure() {
            return Err(Error::EmbeddingServer { reason: failure.message });
        }
    }
    let problems = survey.problems.iter().chain(&outcome.problems);
    let problems = problems.map(|(path, reason)| (path.display().to_string(), reason.clone())).collect();
    let done: Vec<&Read<'_>> = plan.reads.iter().filter(|read| outcome.work.has(read)).collect();
    let known_skips = manifest.skipped.len();
    let listed: HashSet<&str> = survey.listing.files.iter().map(|file| file.relative.as_str()).collect();
    outcome.work.add_to(&mut manifest, &plan, folder, &listed)?;
    let skipped: HashSet<&str> = outcome.work.skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    let is_read = |read: &&&Read<'_>| skipped.is_empty() || !skipped.contains(read.origin().to_string().as_str());
    let new: Vec<&&Read<'_>> = done.iter().filter(|read| read.new).filter(is_read).collect();
    // Merging removes the new segments.
    let renamed = if plan.removed == 0 { 0 } else { plan.renamed(outcome.work.contents(folder, &new)?) };
    let other_extent = manifest.sample_rows != sample_rows && done.len() == plan.reads.len();
    if other_extent {
        manifest.sample_rows = sample_rows;
    }
    let changed = manifest.generation == 0
        || plan.changes_manifest()
        || !survey.damaged.is_empty()
        || other_extent
        || survey.records_before != manifest.records
        || known_skips != manifest.skipped.len()
        || !done.is_empty();
    if changed && !commits.try_commit(&mut manifest)? {
        return Ok(None);
    }
    if let Some(encoder) = encoder {
        unread_texts::read(commits, &mut manifest, encoder)?;
    }
    let merged_segments = merge_segments(&mut manifest, commits, embedder)?;
    remove_orphans(folder, &manifest);
    if let Some(store) = commits.store.as_ref().filter(|_| changed || merged_segments > 0) {
        // What cannot be removed now, the next writer removes.
        let _ = store.remove_superseded();
    }
    monitor.note(&BuildStep::OrphansRemoved.to_string());
    let live = |segment: &SegmentEntry| u64::from(segment.tables) - segment.removed.len() as u64;
    let live_records = plan.unchanged_records + done.iter().filter(|read| read.origin().is_record()).count() as u64;
    Ok(Some(BuildStats {
        tables: manifest.segments.iter().map(live).sum::<u64>().saturating_sub(live_records),
        records: live_records,
        records_left_out: survey.records_left_out,
        records_replaced: survey.records_replaced,
        records_deleted: survey.records_deleted,
        record_flaws: survey.record_flaws.clone(),
        columns: live_columns(folder, &manifest)?,
        added: new.len() as u64 - renamed,
        changed: done.iter().filter(|read| !read.new).count() as u64,
        removed: plan.removed - renamed,
        renamed,
        unread: (plan.reads.len() - done.len()) as u64,
        texts_unread: encoder.map_or(0, |_| unread_texts::count(&manifest)),
        unchanged: plan.unchanged,
        sampled: outcome.sampled,
        rows: outcome.rows,
        read_bytes: outcome.read_bytes,
        segments: manifest.segments.len() as u64,
        merged_segments,
        index_bytes: manifest.segments.iter().flat_map(|segment| &segment.files).map(|file| file.bytes).sum(),
        repaired_segments: survey.damaged.len() as u64,
        elapsed_ms: 0,
        repaired: std::mem::take(&mut outcome.repaired),
        partial: manifest.partial,
        skipped: manifest.skipped,
        problems,
        unreadable: survey.unreadable,
    }))
}

/// Number of columns of the tables that are not removed.
fn live_columns(folder: &Path, manifest: &Manifest) -> Result<u64> {
    let mut columns = 0;
    for segment in &manifest.segments {
        columns += u64::from(segment.columns);
        if !segment.removed.is_empty() {
            let tables = TableStore::open(&SegmentFiles::of(folder, segment))?;
            for table in &segment.removed {
                columns = columns.saturating_sub(tables.columns(*table)?.len() as u64);
            }
        }
    }
    Ok(columns)
}

/// An index of more tables and records than this knows none of them by its whole text: that takes a hundredth of a second for each.
pub(super) const MOST_WITH_TEXTS: u64 = 50_000;
/// Whether the texts of an index are read as a whole, once what `plan` reads is in it.
fn knows_texts(manifest: &Manifest, plan: &Plan<'_>) -> bool {
    let tables = manifest.segments.iter().map(|segment| u64::from(segment.tables)).sum::<u64>();
    tables + plan.reads.len() as u64 <= MOST_WITH_TEXTS
}

/// The texts of at most so many new and changed tables are read before they are committed; of more afterwards, so that the lake can be
/// searched meanwhile.
const MOST_READ_AT_ONCE: usize = 256;

/// The same model under the same id without [the one that reads whole texts](Embedder::as_text_encoder): an index built with it has no
/// [meanings](super::meanings).
pub struct WithoutTexts<'a>(pub &'a dyn Embedder);

impl Embedder for WithoutTexts<'_> {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn dims(&self) -> usize {
        self.0.dims()
    }

    fn embed_weighted(&self, texts: &[(&str, f32)], out: &mut [f32]) -> usize {
        self.0.embed_weighted(texts, out)
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        self.0.as_token_embedder()
    }

    fn as_remote(&self) -> Option<&dyn RemoteEmbedder> {
        self.0.as_remote()
    }
}

/// Merges segments as long as it is worthwhile; each merge is a commit of its own. Returns the number of old segments removed.
fn merge_segments(manifest: &mut Manifest, commits: &Commits<'_>, embedder: &dyn Embedder) -> Result<u64> {
    let mut merged = 0;
    while let Some(places) = merge::choose(&manifest.segments, SEGMENT_VALUES as u64, SEGMENT_TABLES as u64) {
        if commits.monitor.is_stopped() {
            break;
        }
        commits.monitor.begin("merging segments", Total::Unknown);
        let index = LakeIndex::open_snapshot(commits.folder, manifest.clone(), embedder.id(), None)?;
        let name = |number: usize| commits.segment_name(manifest.generation + 1, number);
        // The groups are chosen to fit into one.
        let shape = VectorShape::of(embedder);
        let into = merge::Into { folder: commits.folder, name: &name, is_full: |_, _| false, shape };
        let merged_into = merge::merge(&index, &places, &into, commits.monitor)?;
        let old: Vec<SegmentEntry> = places.iter().map(|place| manifest.segments[*place].clone()).collect();
        let is_committed = commits.commit(manifest, |manifest| {
            // Another writer may have merged them, or removed tables of them, meanwhile.
            let first = manifest.segments.iter().position(|segment| old.contains(segment));
            let count = manifest.segments.len();
            manifest.segments.retain(|segment| !old.contains(segment));
            let Some(first) = first.filter(|_| manifest.segments.len() + old.len() == count) else { return Ok(false) };
            // At the position of the oldest: segments are ordered by age.
            manifest.segments.splice(first..first, merged_into.iter().cloned());
            Ok(true)
        })?;
        if !is_committed {
            break;
        }
        merged += places.len() as u64;
    }
    Ok(merged)
}

/// Deletes what the manifest does not name: segment folders and unfinished manifests left by a crash or a failed run, and segments merged
/// or fully removed. A failure is harmless: the next run tries again.
fn remove_orphans(folder: &Path, manifest: &Manifest) {
    // Of an index in a store a reader may have fetched a newer one meanwhile.
    let newest = Manifest::read(folder).unwrap_or_else(|_| manifest.clone());
    let segments = manifest.segments.iter().chain(&newest.segments);
    let live: HashSet<PathBuf> = segments.map(|segment| Manifest::segment_folder(folder, &segment.name)).collect();
    for entry in fs::read_dir(folder.join(manifest::SEGMENTS)).into_iter().flatten().flatten() {
        if !live.contains(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    remove_unfinished(&folder.join(manifest::FILE_NAME));
}
