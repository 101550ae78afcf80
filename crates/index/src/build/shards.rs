//! A build in three steps, which many machines share: [`list`] writes a list of shards beside the index, [`work`] reads one shard and puts
//! its segments there, [`commit`] merges those of all shards and commits them.
//!
//! Each step can be made again, also while another makes it: a list, a segment and the row of a shard have the name of their content, and are
//! created and never replaced. Reading, sketching and writing are those of [`build`](super::build), and a commit writes the tables of
//! all shards in the order of their ids into the segments that a build would have written, so their bytes are the same, whatever the number
//! of shards. Only what is outside the engine is needed from it: that it calls [`work`] with every number below the number of shards.
//!
//! A commit lists the lake once more and takes from the shards what is still there, still the same and not in the index: a list that is old, or
//! that was committed before, does no harm. It reads no table, but catalogue records, which are in no shard, as reading their file is most of the work.
//!
//! The survey that a list writes down is the one that a build plans by. A shard is never searched and has no inverted
//! lists (`Structure::FOLLOWS_FROM_COLUMNS`). Shards are consecutive tables, cut where the bytes are halved best. A table that is much larger
//! than the share of a shard is read by several, some columns each, and the commit joins these (see [`lakeward_lake::scanned_part`]).
//! After the commit their segments are removed; lists and rows stay, in `lists/` beside the index.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::LakeIndex;
use super::super::index_store::IndexStore;
use super::super::manifest::{self, Manifest, PartialFile, SegmentEntry, SkippedFile};
use super::super::merge;
use super::super::plan::{Read, ReadStamp};
use super::super::structure::{SegmentFiles, Structure, VectorShape};
use super::super::table_store::TableStore;
use super::commit::{ATTEMPTS, Commits};
use super::reading::read_part;
use super::{BuildOptions, BuildStats, Outcome, Reading, Survey, WithoutTexts};
use super::{attempt, is_full, knows_texts, read_and_write};
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::store::{FileLock, make_folder};
use lakeward_lake::reader::Repair;
use lakeward_lake::source::TableId;
use lakeward_lake::storage;
use lakeward_models::embed::{Embedder, EmbedderExt};

mod list_folder;
mod listed_read;
mod pieces;
mod table_parts;

pub use list_folder::ListFolder;
use listed_read::{ListedRead, is_listed};
use pieces::Piece;
pub use table_parts::TablePart;
use table_parts::TableParts;

/// Format version of lists, shards and rows.
const VERSION: u32 = 2;

/// A list of shards: what every step must know of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardList {
    /// Format version of the list.
    pub format_version: u32,
    /// The version of Lakeward that made it; no other one works on it.
    pub lakeward: String,
    /// Format version of the index.
    pub index_format_version: u32,
    /// The folder of the lake, or its address.
    pub lake: String,
    /// The name of the lake in citations.
    pub lake_name: String,
    /// The embedding model.
    pub embedder: String,
    /// Whether its texts are read as a whole.
    pub texts: bool,
    /// Maximum rows read per table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_rows: Option<u64>,
    /// The file of catalogue records that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<String>,
    /// Tables that are in the index as they are.
    pub unchanged: u64,
    /// Tables and records that are in no shard: the commit reads them.
    pub read_at_commit: u64,
    /// Bytes of the largest file.
    pub largest_file: u64,
    /// The shards.
    pub shards: Vec<ShardSize>,
}

/// A list that was just made, or was there before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedShards {
    /// Where it is: what the other steps take.
    pub list: String,
    /// The list.
    #[serde(flatten)]
    pub shards: ShardList,
}

/// The shards of a list that nobody has worked on to the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MissingShards {
    /// Their numbers.
    pub missing: Vec<u32>,
}

/// What is in one shard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardSize {
    /// Tables to be read as a whole.
    pub files: u64,
    /// Giant tables of which some columns are to be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parts: u64,
    /// Their bytes, of parts in proportion.
    pub bytes: u64,
}

/// What became of one shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardRow {
    /// Format version of the row.
    pub format_version: u32,
    /// The number of the shard.
    pub shard: u32,
    /// Tables that were read.
    pub tables: u64,
    /// Their rows.
    pub rows: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Tables of which only the first rows were read, as requested.
    pub sampled: u64,
    /// Segments with these tables, named by their content.
    pub segments: Vec<SegmentEntry>,
    /// Columns of giant tables that were read; their rows and bytes are not counted here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TablePart>,
    /// Files without a readable table.
    pub skipped: Vec<SkippedFile>,
    /// Files with missing rows.
    pub partial: Vec<PartialFile>,
    /// Files that were repaired while they were read.
    pub repaired: Vec<(String, Vec<Repair>)>,
    /// What was set and cannot be followed.
    pub problems: Vec<(String, String)>,
    /// Wall time in milliseconds; no part of its name.
    pub elapsed_ms: u64,
}

/// Lists what is to be read for the index in `folder` to be as `lake` is, in `count` shards of consecutive tables and similar size, and writes
/// that beside the index.
///
/// # Errors
/// Those of a [build](super::build) before it reads tables.
pub fn list(
    lake: &Path,
    folder: &Path,
    embedder: &dyn Embedder,
    options: &BuildOptions,
    count: u32,
) -> Result<ListedShards> {
    make_folder(&folder.join(manifest::SEGMENTS))?;
    let named = |path: &Path| {
        let real = storage::canonical(path).map_err(|error| Error::io("list", path, error))?;
        real.to_str().map(str::to_string).ok_or_else(|| {
            Error::usage(format!(
                "`{}` is not UTF-8, so no list can name it; `lakeward index` reads it",
                path.display()
            ))
        })
    };
    let lake_path = named(lake)?;
    // Workers run elsewhere: no path of a file may begin where this process stands.
    let survey = Survey::of(Path::new(&lake_path), folder, embedder, options)?;
    let plan = survey.plan(folder, options)?;
    let reads: Vec<&Read<'_>> = plan.reads.iter().filter(|read| is_listed(read)).collect();
    let pieces = pieces::pieces(&reads, count as usize, options.sample_rows.is_none());
    let shards = pieces::divided(&pieces, count as usize);
    let size = |pieces: &&[Piece<'_>]| {
        let parts = pieces.iter().filter(|piece| piece.part.is_some()).count();
        ShardSize {
            files: (pieces.len() - parts) as u64,
            parts: parts as u64,
            bytes: pieces.iter().map(Piece::bytes).sum(),
        }
    };
    let made = ShardList {
        format_version: VERSION,
        lakeward: env!("CARGO_PKG_VERSION").into(),
        index_format_version: manifest::VERSION,
        lake: lake_path,
        lake_name: survey.manifest.lake.clone(),
        embedder: embedder.id().into(),
        texts: embedder.as_text_encoder().is_some() && knows_texts(&survey.manifest, &plan),
        sample_rows: options.requested_rows(),
        records: options.records.as_deref().map(named).transpose()?,
        unchanged: plan.unchanged,
        read_at_commit: (plan.reads.len() - reads.len()) as u64,
        largest_file: reads.iter().map(|read| read.read_bytes()).max().unwrap_or(0),
        shards: shards.iter().map(size).collect(),
    };
    let texts: Vec<Vec<u8>> = shards.iter().map(|pieces| listed_read::written(pieces)).collect::<Result<_>>()?;
    let list = ListFolder::write(folder, &made, &texts)?.address();
    let list = std::path::absolute(&list).ok().filter(|_| IndexStore::of(folder).is_none()).unwrap_or(list);
    Ok(ListedShards { list: list.display().to_string(), shards: made })
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reads the tables of shard `shard` of `list`, and puts segments and row of it beside the list. A file that cannot be read is in the row, with the
/// reason.
///
/// # Errors
/// [`Error::Usage`] if there is no such shard or the list was made by another version; [`Error::EmbeddingModel`], [`Error::EmbeddingServer`];
/// [`Error::Io`] if nothing can be written; [`Error::Interrupted`] if stopped by its monitor. Nothing of the shard is there then.
pub fn work(list: &ListFolder, shard: u32, embedder: &dyn Embedder, monitor: &dyn Monitor) -> Result<ShardRow> {
    let started = Instant::now();
    let header = list.read_for(embedder)?;
    let listed = list.shard(&header, shard)?;
    let manifest = Manifest::empty(header.lake_name.clone(), header.embedder.clone());
    let without_texts = WithoutTexts(embedder);
    let reader = reader(&header, embedder, &without_texts);
    let mut outcome = Outcome::default();
    let mut parts = Vec::new();
    let at_work = list.at_work()?;
    embedder.retry();
    // No segment has tables on both sides of a giant one: then theirs can be put in order.
    for run in listed.chunk_by(|one, next| one.part().is_none() && next.part().is_none()) {
        if let [ListedRead { part: Some(part), .. }] = run {
            match read_part(&run[0].read(), run[0].file(), *part, monitor) {
                Ok(scanned) => {
                    let file = list.keep_part(&scanned.to_bytes()?)?;
                    parts.push(TablePart { table: run[0].id().as_str().into(), part: *part, file });
                }
                Err(skipped) => outcome.work.skipped.push(skipped),
            }
        } else {
            let reads: Vec<Read<'_>> = run.iter().map(ListedRead::read).collect();
            let unread: Vec<&Read<'_>> = reads.iter().collect();
            let commits = Commits { folder: at_work.path(), store: None, are_only_merged: true, monitor };
            let sample_rows = header.sample_rows;
            let reading =
                Reading { unread: &unread, manifest: &manifest, sample_rows, embedder: reader, scanned: None };
            read_and_write(&reading, &commits, &mut outcome)?;
        }
        if monitor.is_stopped() {
            return Err(Error::Interrupted);
        }
    }
    if let Some(failure) = embedder.failure() {
        return Err(Error::EmbeddingServer { reason: failure.message });
    }
    let row = ShardRow { parts, ..list.row_of(at_work.path(), outcome)? };
    let row = ShardRow { shard, elapsed_ms: started.elapsed().as_millis() as u64, ..row };
    list.add(&row)?;
    Ok(row)
}

/// The model that reads for `list`.
fn reader<'a>(list: &ShardList, embedder: &'a dyn Embedder, without_texts: &'a WithoutTexts<'a>) -> &'a dyn Embedder {
    if list.texts { embedder } else { without_texts }
}

/// The shards of `list` that have no row. Segments are not looked at: a commit finds those that are damaged.
///
/// # Errors
/// [`Error::Usage`] if the list was made by another version, [`Error::Io`].
pub fn missing(list: &ListFolder) -> Result<MissingShards> {
    let (header, worked_on) = (list.read()?, list.worked_on()?);
    let missing = (0..header.shards.len() as u32).filter(|shard| !worked_on.contains(shard)).collect();
    Ok(MissingShards { missing })
}

/// Commits what the shards of `list` have read to the index in `folder`: what of it is still in the lake, still the same and not yet in the
/// index. With `in_part`, missing shards are left out. Settings that a list does not have are those of `options`.
///
/// # Errors
/// [`Error::Usage`] naming the shards that are missing or damaged, and those of a [build](super::build). The index is unchanged then.
pub fn commit(
    list: &ListFolder,
    folder: &Path,
    embedder: &dyn Embedder,
    options: &BuildOptions,
    in_part: bool,
    monitor: &dyn Monitor,
) -> Result<BuildStats> {
    let started = Instant::now();
    let header = list.read_for(embedder)?;
    let (sample_rows, records) = (header.sample_rows, header.records.as_deref().map(PathBuf::from));
    let options = BuildOptions { sample_rows, records, ..options.clone() };
    make_folder(&folder.join(manifest::SEGMENTS))?;
    let _lock = FileLock::acquire(folder)?;
    let commits = Commits { folder, store: IndexStore::of(folder), are_only_merged: false, monitor };
    embedder.retry();
    let mut outcome = Outcome::default();
    let mut taken: Option<Vec<ShardRow>> = None;
    let mut read = |reading: &Reading<'_>, outcome: &mut Outcome| {
        if taken.is_none() {
            taken = Some(take(list, &header, reading, embedder, &commits, in_part, outcome)?);
        }
        let of_commit = |read: &&&Read<'_>| !is_listed(read) && !outcome.work.has(read);
        let unread: Vec<&Read<'_>> = reading.unread.iter().filter(of_commit).copied().collect();
        if unread.is_empty() {
            return Ok(());
        }
        read_and_write(&Reading { unread: &unread, ..*reading }, &commits, outcome)
    };
    for _ in 0..ATTEMPTS {
        if let Some(stats) = attempt(Path::new(&header.lake), &commits, embedder, &options, &mut outcome, &mut read)? {
            list.remove_work(&taken.unwrap_or_default());
            return Ok(BuildStats { elapsed_ms: started.elapsed().as_millis() as u64, ..stats });
        }
    }
    Err(commits.too_slow())
}

/// Adds to `outcome` the work of all shards that have something to be read; returns the rows of those that are not needed any more.
fn take(
    list: &ListFolder,
    header: &ShardList,
    reading: &Reading<'_>,
    embedder: &dyn Embedder,
    commits: &Commits<'_>,
    in_part: bool,
    outcome: &mut Outcome,
) -> Result<Vec<ShardRow>> {
    let unread: HashMap<&TableId, ReadStamp> = reading.unread.iter().map(|read| (&read.id, read.stamp())).collect();
    let mut stamps: HashMap<TableId, ReadStamp> = HashMap::new();
    let mut parts = TableParts::default();
    let mut found = list.rows(header)?;
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    commits.monitor.begin("checking shards", Total::Steps(header.shards.len() as u64));
    for shard in 0..header.shards.len() as u32 {
        commits.monitor.advance(1);
        let listed = list.shard(header, shard)?;
        let stamp = |listed: &ListedRead| (listed.id().clone(), listed.read().stamp());
        if !listed.iter().map(stamp).any(|(id, stamp)| unread.get(&id) == Some(&stamp)) {
            continue;
        }
        match list.whole_row(found.remove(&shard).unwrap_or_default())? {
            Some(row) => {
                stamps.extend(listed.iter().filter(|listed| listed.part().is_none()).map(stamp));
                listed.iter().for_each(|listed| parts.add(listed, &row));
                rows.push(row);
            }
            None => missing.push(shard.to_string()),
        }
    }
    if !missing.is_empty() && !in_part {
        return Err(Error::usage(format!(
            "{} of {} shards of `{}` are missing or damaged: {}; run `lakeward index work LIST --shard K` for each, or commit the others with `--in-part`",
            missing.len(),
            header.shards.len(),
            list.address().display(),
            missing.join(", "),
        )));
    }
    outcome.work.note_stamps(stamps.iter().map(|(id, stamp)| (id, *stamp)).chain(parts.stamps()));
    rows.extend(parts.joined(list, reading, reader(header, embedder, &WithoutTexts(embedder)), commits.monitor)?);
    commits.monitor.begin("merging shards", Total::Unknown);
    let entries = in_order(list, rows.iter().flat_map(|row| row.segments.iter().cloned()))?;
    outcome.work.segments = merged(list, entries, reading.manifest, embedder, commits)?;
    for row in &rows {
        outcome.rows += row.rows;
        outcome.read_bytes += row.read_bytes;
        outcome.sampled += row.sampled;
        outcome.work.skipped.extend(row.skipped.iter().cloned());
        outcome.work.partial.extend(row.partial.iter().cloned());
        outcome.repaired.extend(row.repaired.iter().cloned());
        outcome.problems.extend(row.problems.iter().map(|(path, reason)| (path.into(), reason.clone())));
    }
    // Those with a part of a table that is not whole yet are needed again.
    rows.retain(|row| row.parts.iter().all(|part| parts.is_done(&part.table)));
    Ok(rows)
}

/// The segments in the order of their tables, which overlap nowhere.
fn in_order(list: &ListFolder, segments: impl Iterator<Item = SegmentEntry>) -> Result<Vec<SegmentEntry>> {
    let first = |segment: SegmentEntry| {
        let tables = TableStore::open(&SegmentFiles::of(list.folder(), &segment))?;
        Ok((tables.id(0)?.to_string(), segment))
    };
    let mut segments = segments.filter(|segment| segment.tables > 0).map(first).collect::<Result<Vec<_>>>()?;
    segments.sort_by(|one, next| one.0.cmp(&next.0));
    Ok(segments.into_iter().map(|(_, segment)| segment).collect())
}

/// Writes the tables of all shards into segments of the index, as a build of all would have.
fn merged(
    list: &ListFolder,
    entries: Vec<SegmentEntry>,
    manifest: &Manifest,
    embedder: &dyn Embedder,
    commits: &Commits<'_>,
) -> Result<Vec<SegmentEntry>> {
    let shards = Manifest { segments: entries, ..Manifest::empty(manifest.lake.clone(), manifest.embedder.clone()) };
    let index = LakeIndex::open_snapshot(list.folder(), shards, embedder.id(), None)?;
    let places: Vec<usize> = (0..index.segments().len()).collect();
    let name = |number: usize| commits.segment_name(manifest.generation + 1, number);
    let into = merge::Into { folder: commits.folder, name: &name, is_full, shape: VectorShape::of(embedder) };
    merge::merge(&index, &places, &into, commits.monitor)
}
