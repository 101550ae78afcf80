//! Builds and updates an index: new and changed files are read once, sketched, and written as new segments; the manifest is committed last.
//!
//! Files are read in parallel in the order of their table ids; one writer takes the finished tables in that order, so an index depends only
//! on the lake and not on scheduling. Tables that were deleted or changed are marked as removed in their segments. Nothing of the old index
//! is changed before the commit; folders that the manifest does not name are deleted after it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Instant;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::LakeIndex;
use super::catalog::Catalog;
use super::manifest::{self, Manifest, PartialFile, SegmentEntry, SkippedFile};
use super::plan::{Plan, Read, Target, plan};
use super::segment_builder::SegmentBuilder;
use super::structure::{SegmentFiles, Structure, VectorShape};
use super::{merge, unread_texts, verify};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::store::{FileLock, make_folder, remove_unfinished};
use lakeward_lake::cell_setting::CellSetting;
use lakeward_lake::layout::Choices;
use lakeward_lake::metadata::{MetadataIndex, RecordFlaw};
use lakeward_lake::reader::{ReadOptions, Repair, RepairKind};
use lakeward_lake::source::{self, ContentHash, Origin, TableId};
use lakeward_lake::storage;
use lakeward_models::embed::{Embedder, EmbedderExt, RemoteEmbedder, TokenEmbedder};

mod reading;
mod step;

use reading::{FileResult, no_such, read_dataset, read_records};
pub use step::BuildStep;

/// Maximum files passed to the reading threads at once.
const CHUNK_FILES: usize = 128;
/// … and their maximum total size, so that few large tables are in memory together.
const CHUNK_BYTES: u64 = 256 << 20;
/// A segment is closed after this many values; this bounds the writer's memory to about 28 bytes per value.
const SEGMENT_VALUES: usize = 16 << 20;
/// … or after this many tables, since tables may have few values or none (catalogue records). Bounds the writer's memory to about 3 KB per
/// table.
const SEGMENT_TABLES: usize = 128 << 10;

/// The results of a build.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BuildStats {
    /// Tables in the index now.
    pub tables: u64,
    /// Catalogue records now in the index that describe none of these tables. They are not included in `tables`, but in `added`, `changed`,
    /// `removed` and `unchanged`.
    pub records: u64,
    /// Invalid lines in the record files; `problems` gives the reasons.
    pub records_left_out: u64,
    /// Records of a harvest that a later record of the same id replaced.
    pub records_replaced: u64,
    /// Records of a harvest that its source deleted.
    pub records_deleted: u64,
    /// What of the records could not be used, by reason; each record says what of it.
    pub record_flaws: Vec<RecordFlaw>,
    /// Columns in the index now.
    pub columns: u64,
    /// Tables read because they are new.
    pub added: u64,
    /// Tables read because their file or its metadata changed.
    pub changed: u64,
    /// Tables whose file was deleted.
    pub removed: u64,
    /// Tables whose file was moved in the lake with unchanged content; not counted as added or removed.
    pub renamed: u64,
    /// Unchanged tables.
    pub unchanged: u64,
    /// New or changed files that were not read because the run was interrupted; the next run reads them.
    pub unread: u64,
    /// Tables and records whose texts were not read as a whole because the run was interrupted; the next run goes on with them. Until then
    /// searches compare words and static vectors.
    pub texts_unread: u64,
    /// Tables of which this run read only the first rows, as requested.
    pub sampled: u64,
    /// Rows read in this run.
    pub rows: u64,
    /// Bytes read in this run.
    pub read_bytes: u64,
    /// Segments now in the index.
    pub segments: u64,
    /// Older segments that were merged into new ones in this run.
    pub merged_segments: u64,
    /// Size of the index on disk.
    pub index_bytes: u64,
    /// Damaged segments that were dropped and whose tables were read again.
    pub repaired_segments: u64,
    /// Wall time in milliseconds.
    pub elapsed_ms: u64,
    /// Files repaired while reading, in this run: (path, repairs).
    pub repaired: Vec<(String, Vec<Repair>)>,
    /// Files with missing rows, from this or earlier runs.
    pub partial: Vec<PartialFile>,
    /// Files of the lake without a readable table.
    pub skipped: Vec<SkippedFile>,
    /// Unusable metadata files and folders: (path, reason).
    pub problems: Vec<(String, String)>,
}

impl BuildStats {
    /// Whether the index or the recorded state of the lake changed.
    pub fn did_something(&self) -> bool {
        self.added + self.changed + self.removed + self.renamed + self.merged_segments + self.repaired_segments > 0
            || self.read_bytes > 0
    }

    /// Whether a part of the lake is not in the index.
    pub fn is_partial(&self) -> bool {
        !self.skipped.is_empty()
            || !self.partial.is_empty()
            || self.unread + self.texts_unread > 0
            || self.records_left_out > 0
    }
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
    embedder.retry();
    let mut manifest = starting_manifest(lake, folder, embedder, options)?;
    let records_before = manifest.records.clone();
    let segments_before = manifest.segments.len();
    if options.repair {
        manifest.segments.retain(|segment| verify::damage_of(folder, segment).is_empty());
    }
    let repaired_segments = segments_before - manifest.segments.len();
    if !manifest.segments.is_empty() {
        // An index that cannot be opened must not be extended and reported as up to date.
        LakeIndex::open_snapshot(folder, manifest.clone(), embedder.id())?;
    }
    let mut listing = source::list_tables(lake, &options.tables)?;
    let records = read_records(lake, &mut manifest, options.records.as_deref(), &mut listing)?;
    let (mut metadata, mut problems) = MetadataIndex::read(lake, &listing.sidecars);
    metadata.add_described(std::mem::take(&mut listing.described));
    problems.append(&mut listing.problems);
    let records_left_out = records.left_out;
    let (records_replaced, records_deleted) = (records.replaced, records.deleted.len() as u64);
    let record_flaws: Vec<RecordFlaw> = records.flaws().cloned().collect();
    let ids = source::assign_ids(&listing.files);
    let (recorded, records) = records.divide(&ids)?;
    let sample_rows = options.requested_rows();
    let target = Target {
        files: &listing.files,
        ids: &ids,
        metadata: &metadata,
        recorded: &recorded,
        records: &records,
        sample_rows,
        cells: &options.cells,
    };
    problems.extend(unknown_tables(&options.cells, &ids));
    let plan = plan(folder, &manifest, &target)?;
    let bytes = plan.reads.iter().map(Read::read_bytes).sum();
    monitor.begin("reading", Total::Files { files: plan.reads.len() as u64, bytes });
    let mut outcome = Outcome::default();
    let tables =
        manifest.segments.iter().map(|segment| u64::from(segment.tables)).sum::<u64>() + plan.reads.len() as u64;
    let without_texts = WithoutTexts(embedder);
    let encoder = embedder.as_text_encoder().filter(|_| tables <= MOST_WITH_TEXTS);
    let at_once = encoder.is_some() && plan.reads.len() <= MOST_READ_AT_ONCE;
    let reader: &dyn Embedder = if at_once { embedder } else { &without_texts };
    if !plan.reads.is_empty() {
        read_and_write(&plan, folder, &mut manifest, reader, monitor, &mut outcome)?;
        if let Some(failure) = embedder.failure() {
            return Err(Error::EmbeddingServer { reason: failure.message });
        }
    }
    problems.append(&mut outcome.problems);
    let known_skips = manifest.skipped.len();
    manifest.skipped = plan.skipped_before.iter().cloned().chain(std::mem::take(&mut outcome.skipped)).collect();
    manifest.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    let done = &plan.reads[..outcome.reads_done];
    let read_again: HashSet<Origin<'_>> = done.iter().map(Read::origin).collect();
    let listed: HashSet<&str> = listing.files.iter().map(|file| file.relative.as_str()).collect();
    let stays = |path: &str| !read_again.contains(&Origin::File(path)) && listed.contains(path);
    manifest.partial.retain(|file| stays(&file.path));
    manifest.partial.append(&mut outcome.partial);
    manifest.partial.sort_by(|a, b| a.path.cmp(&b.path));
    plan.apply(&mut manifest, outcome.reads_done);
    let other_extent = manifest.sample_rows != sample_rows && outcome.reads_done == plan.reads.len();
    if other_extent {
        manifest.sample_rows = sample_rows;
    }
    let changed = manifest.generation == 0
        || plan.changes_manifest()
        || repaired_segments > 0
        || other_extent
        || records_before != manifest.records
        || known_skips != manifest.skipped.len()
        || !plan.reads.is_empty();
    if changed {
        commit(&mut manifest, folder, monitor)?;
    }
    if let Some(encoder) = encoder {
        unread_texts::read(folder, &mut manifest, encoder, monitor, |manifest| commit(manifest, folder, monitor))?;
    }
    let merged_segments = merge_segments(&mut manifest, folder, embedder, monitor)?;
    remove_orphans(folder, &manifest);
    monitor.note(&BuildStep::OrphansRemoved.to_string());
    let live = |segment: &SegmentEntry| u64::from(segment.tables) - segment.removed.len() as u64;
    let renamed = plan.renamed(std::mem::take(&mut outcome.new_contents));
    let live_records = plan.unchanged_records + done.iter().filter(|read| read.origin().is_record()).count() as u64;
    Ok(BuildStats {
        tables: manifest.segments.iter().map(live).sum::<u64>().saturating_sub(live_records),
        records: live_records,
        records_left_out,
        records_replaced,
        records_deleted,
        record_flaws,
        columns: live_columns(folder, &manifest)?,
        added: done.iter().filter(|read| read.new).count() as u64 - outcome.new_skipped - renamed,
        changed: done.iter().filter(|read| !read.new).count() as u64,
        removed: plan.removed - renamed,
        renamed,
        unread: (plan.reads.len() - outcome.reads_done) as u64,
        texts_unread: encoder.map_or(0, |_| unread_texts::count(&manifest)),
        unchanged: plan.unchanged,
        sampled: outcome.sampled,
        rows: outcome.rows,
        read_bytes: outcome.read_bytes,
        segments: manifest.segments.len() as u64,
        merged_segments,
        index_bytes: manifest.segments.iter().flat_map(|segment| &segment.files).map(|file| file.bytes).sum(),
        repaired_segments: repaired_segments as u64,
        elapsed_ms: started.elapsed().as_millis() as u64,
        repaired: outcome.repaired,
        partial: manifest.partial,
        skipped: manifest.skipped,
        problems: problems.into_iter().map(|(path, reason)| (path.display().to_string(), reason)).collect(),
    })
}

/// The settings of cells whose table is not in the lake, with the nearest that are.
fn unknown_tables(cells: &[CellSetting], ids: &[TableId]) -> Vec<(PathBuf, String)> {
    let unknown = cells.iter().filter(|cells| !ids.iter().any(|id| id.as_str() == cells.table));
    let names = || ids.iter().map(TableId::as_str);
    let problem = |cells: &CellSetting| (PathBuf::from(&cells.table), no_such("table", &cells.table, names()));
    unknown.map(problem).collect()
}

/// Number of columns of the tables that are not removed.
fn live_columns(folder: &Path, manifest: &Manifest) -> Result<u64> {
    let mut columns = 0;
    for segment in &manifest.segments {
        columns += u64::from(segment.columns);
        if !segment.removed.is_empty() {
            let catalog = Catalog::open(&SegmentFiles::of(folder, segment))?;
            for table in &segment.removed {
                columns = columns.saturating_sub(catalog.columns(*table)?.len() as u64);
            }
        }
    }
    Ok(columns)
}

/// Commits `manifest`.
fn commit(manifest: &mut Manifest, folder: &Path, monitor: &dyn Monitor) -> Result<()> {
    manifest.generation += 1;
    manifest.commit(folder, || monitor.note(&BuildStep::ManifestWritten.to_string()))?;
    monitor.note(&BuildStep::ManifestReplaced.to_string());
    Ok(())
}

/// An index of more tables and records than this knows none of them by its whole text: that takes a hundredth of a second for each.
pub(super) const MOST_WITH_TEXTS: u64 = 50_000;
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
fn merge_segments(
    manifest: &mut Manifest,
    folder: &Path,
    embedder: &dyn Embedder,
    monitor: &dyn Monitor,
) -> Result<u64> {
    let mut merged = 0;
    while let Some(places) = merge::choose(&manifest.segments, SEGMENT_VALUES as u64, SEGMENT_TABLES as u64) {
        if monitor.is_stopped() {
            break;
        }
        monitor.begin("merging segments", Total::Unknown);
        let index = LakeIndex::open(folder, embedder.id())?;
        let name = format!("{:06}-0", manifest.generation + 1);
        let entry = merge::merge(&index, &places, &name, VectorShape::of(embedder), monitor)?;
        for place in places.iter().rev() {
            manifest.segments.remove(*place);
        }
        // At the position of the oldest: segments are ordered by age.
        let first = places.first().copied().unwrap_or(0);
        manifest.segments.insert(first, entry);
        commit(manifest, folder, monitor)?;
        merged += places.len() as u64;
    }
    Ok(merged)
}

fn starting_manifest(lake: &Path, folder: &Path, embedder: &dyn Embedder, options: &BuildOptions) -> Result<Manifest> {
    let name = storage::canonical(lake)
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "lake".into());
    let fresh = || Manifest::empty(name.clone(), embedder.id().to_string());
    match Manifest::read(folder) {
        Ok(before) if options.rebuild => Ok(Manifest { generation: before.generation, ..fresh() }),
        Err(_) if options.rebuild => Ok(Manifest { generation: next_free_generation(folder), ..fresh() }),
        Ok(before) if before.embedder != embedder.id() => {
            Err(Error::EmbeddingModel { found: before.embedder, expected: embedder.id().to_string() })
        }
        Ok(before) => Ok(before),
        Err(Error::NoIndex { .. }) => Ok(fresh()),
        Err(error) => Err(error),
    }
}

/// A generation without existing segment folders, for an index whose manifest cannot be read.
fn next_free_generation(folder: &Path) -> u64 {
    let names = fs::read_dir(folder.join(manifest::SEGMENTS)).into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.split('-').next()?.parse::<u64>().ok()).max().unwrap_or(0)
}

#[derive(Default)]
struct Outcome {
    /// Number of planned reads done, in order.
    reads_done: usize,
    sampled: u64,
    rows: u64,
    read_bytes: u64,
    new_skipped: u64,
    /// Content hashes of the files read as new.
    new_contents: Vec<ContentHash>,
    repaired: Vec<(String, Vec<Repair>)>,
    partial: Vec<PartialFile>,
    skipped: Vec<SkippedFile>,
    problems: Vec<(PathBuf, String)>,
}

/// Reads the planned files on all cores while one thread writes segments; appends the segments to `manifest`. If interrupted, it writes
/// what was read.
fn read_and_write(
    plan: &Plan<'_>,
    folder: &Path,
    manifest: &mut Manifest,
    embedder: &dyn Embedder,
    monitor: &dyn Monitor,
    outcome: &mut Outcome,
) -> Result<()> {
    let generation = manifest.generation + 1;
    let lake_name = manifest.lake.as_str();
    let options = ReadOptions { max_rows: plan.sample_rows, ..ReadOptions::default() };
    let segments = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<Vec<FileResult>>(1);
        let shape = VectorShape::of(embedder);
        let writer = scope.spawn(move || write_segments(receiver, folder, generation, shape, monitor));
        for chunk in chunks(&plan.reads) {
            if monitor.is_stopped() || embedder.failure().is_some() {
                break;
            }
            let results: Vec<FileResult> =
                chunk.par_iter().map(|read| read_dataset(read, &options, lake_name, embedder, monitor)).collect();
            for (read, result) in chunk.iter().zip(&results) {
                note(outcome, read, result);
            }
            outcome.reads_done += chunk.len();
            if sender.send(results).is_err() {
                // The writer has failed; joining it returns its error.
                break;
            }
        }
        drop(sender);
        monitor.begin("writing the index", Total::Unknown);
        writer.join().map_err(|_| Error::Internal("the index writer panicked".into()))?
    })?;
    manifest.segments.extend(segments);
    Ok(())
}

fn note(outcome: &mut Outcome, read: &Read<'_>, result: &FileResult) {
    match result {
        Ok(draft) => {
            outcome.rows += draft.rows;
            outcome.read_bytes += read.read_bytes();
            if read.new {
                outcome.new_contents.push(draft.hash);
            }
            let report = &draft.report;
            outcome.sampled += u64::from(report.sample.is_some());
            let is_not_row_limit = |repair: &&Repair| repair.kind != RepairKind::RowLimit;
            if report.lost_rows() {
                let lost = report.repairs.iter().filter(is_not_row_limit).filter(|repair| repair.kind.loses_rows());
                let lost = lost.map(ToString::to_string);
                let reason = lost.collect::<Vec<_>>().join("; ");
                outcome.partial.push(PartialFile { path: read.origin().to_string(), reason });
            }
            let path = PathBuf::from(read.origin().to_string());
            outcome.problems.extend(draft.problems.iter().map(|problem| (path.clone(), problem.clone())));
            let repairs: Vec<Repair> = report.repairs.iter().filter(is_not_row_limit).cloned().collect();
            if !repairs.is_empty() {
                outcome.repaired.push((read.origin().to_string(), repairs));
            }
        }
        Err(skipped) => {
            outcome.new_skipped += u64::from(read.new);
            outcome.skipped.push(skipped.clone());
        }
    }
}

/// Consecutive reads of at most [`CHUNK_FILES`] files and about [`CHUNK_BYTES`] bytes.
fn chunks<'a, 'b>(reads: &'a [Read<'b>]) -> Vec<&'a [Read<'b>]> {
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (place, read) in reads.iter().enumerate() {
        if place > start && (place - start >= CHUNK_FILES || bytes + read.read_bytes() > CHUNK_BYTES) {
            chunks.push(&reads[start..place]);
            (start, bytes) = (place, 0);
        }
        bytes += read.read_bytes();
    }
    if start < reads.len() {
        chunks.push(&reads[start..]);
    }
    chunks
}

fn write_segments(
    receiver: mpsc::Receiver<Vec<FileResult>>,
    folder: &Path,
    generation: u64,
    shape: VectorShape,
    monitor: &dyn Monitor,
) -> Result<Vec<SegmentEntry>> {
    let mut segments = Vec::new();
    let mut open: Option<SegmentBuilder> = None;
    for results in receiver {
        for draft in results.into_iter().flatten() {
            let builder = match &mut open {
                Some(builder) => builder,
                None => {
                    open.insert(SegmentBuilder::create(folder, &format!("{generation:06}-{}", segments.len()), shape)?)
                }
            };
            builder.push(&draft)?;
            if (builder.values() > SEGMENT_VALUES || builder.tables() >= SEGMENT_TABLES)
                && let Some(full) = open.take()
            {
                segments.push(full.finish(monitor)?);
            }
        }
    }
    if let Some(last) = open {
        segments.push(last.finish(monitor)?);
    }
    Ok(segments)
}

/// Deletes what the manifest does not name: segment folders and unfinished manifests left by a crash or a failed run, and segments merged
/// or fully removed. A failure is harmless: the next run tries again.
fn remove_orphans(folder: &Path, manifest: &Manifest) {
    let live: HashSet<PathBuf> =
        manifest.segments.iter().map(|segment| Manifest::segment_folder(folder, &segment.name)).collect();
    for entry in fs::read_dir(folder.join(manifest::SEGMENTS)).into_iter().flatten().flatten() {
        if !live.contains(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    remove_unfinished(&folder.join(manifest::FILE_NAME));
}
