//! The folder of a list of shards, beside an index in a folder or in a store.
//!
//! ```text
//! INDEX/lists/NAME/list.json              written last; NAME is the hash of it and of the shards
//! INDEX/lists/NAME/shards/00003.jsonl     the tables of shard 3, one a line
//! INDEX/lists/NAME/segments/HASH/…        its segments, each complete or not there
//! INDEX/lists/NAME/parts/HASH             columns of giant tables that it has read
//! INDEX/lists/NAME/rows/00003-HASH.json   what became of it, created after its segments
//! INDEX/lists/NAME/at-work-…              where a worker reads, locked by it
//! ```
//!
//! In a store the files of a segment are written before the row that names them, and again by whoever works on the shard again.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::super::super::index_store::IndexStore;
use super::super::super::manifest::{self, FileEntry, Manifest, SEGMENTS, SegmentEntry};
use super::super::super::verify::damage_of;
use super::super::Outcome;
use super::listed_read::{self, ListedRead};
use super::{ShardList, ShardRow, VERSION};
use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::store::{
    AtomicFile, Bounds, FileLock, Links, Purpose, make_folder, publish_folder, remove_unfinished, version_of,
};
use lakeward_models::embed::Embedder;

const LISTS: &str = "lists";
const HEADER: &str = "list.json";
const ROWS: &str = "rows";
const PARTS: &str = "parts";
/// Maximum size of a file: more is an attack.
const MOST_BYTES: usize = 4 << 30;
/// Bytes fetched at once.
const PART_BYTES: u64 = 16 << 20;

/// What to do with a list of another version.
const AGAIN: &str = "make it again with this one";
/// Begins the name of a folder in which a shard is worked on.
const AT_WORK: &str = "at-work-";
/// Locked in it while it is worked in.
const HELD: &str = "held.lock";
/// Held while a list is written or such a folder is made, so that what is being made is not taken for what a killed
/// process left.
const STARTING: &str = "starting.lock";
const STARTING_PATIENCE: Duration = Duration::from_secs(60);

/// A folder in which a shard is worked on, and what tells other workers that it is.
pub(super) struct AtWork {
    // Removed before the lock ends.
    folder: TempDir,
    _lock: FileLock,
}

impl AtWork {
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A list of shards.
pub struct ListFolder {
    folder: PathBuf,
    name: String,
    store: Option<Arc<IndexStore>>,
}

impl ListFolder {
    /// The list `name` beside the index in `index`.
    ///
    /// # Errors
    /// [`Error::Usage`] if no list has such a name.
    pub fn of(index: &Path, name: &str) -> Result<Self> {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Error::usage(format!("`{}` is not the name of a list of shards", name.escape_debug())));
        }
        Ok(Self { folder: index.join(LISTS).join(name), name: name.into(), store: IndexStore::of(index) })
    }

    /// The index and the name of the list at `address`, a folder or an address in a store.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is not beside an index.
    pub fn divide(address: &Path) -> Result<(PathBuf, String)> {
        let text = address.to_str().map(|text| text.trim_end_matches('/'));
        let divided = text.and_then(|text| text.rsplit_once('/')).and_then(|(above, name)| {
            let index = above.strip_suffix(LISTS)?.strip_suffix('/')?;
            Some((PathBuf::from(index), name.to_string()))
        });
        let wrong = || Error::usage(format!("`{}` is not a list of shards: INDEX/{LISTS}/NAME", address.display()));
        divided.ok_or_else(wrong)
    }

    /// Writes a list and its shards.
    pub(super) fn write(index: &Path, list: &ShardList, shards: &[Vec<u8>]) -> Result<Self> {
        let header = serde_json::to_vec_pretty(list).map_err(|error| Error::Internal(error.to_string()))?;
        let mut hash = Xxh3::new();
        for text in shards.iter().chain([&header]) {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        let written = Self::of(index, &format!("{:032x}", hash.digest128()))?;
        let _writing = written.store.is_none().then(|| written.starting()).transpose()?;
        let names = (0..shards.len()).map(|shard| shard_name(shard as u32)).chain([HEADER.to_string()]);
        names.for_each(|name| remove_unfinished(&written.folder.join(name)));
        for (shard, text) in shards.iter().enumerate() {
            written.create(&shard_name(shard as u32), text.clone())?;
        }
        written.create(HEADER, header)?;
        Ok(written)
    }

    /// Its folder on this machine.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where it is.
    pub fn address(&self) -> PathBuf {
        match &self.store {
            Some(store) => store.address().join(LISTS).join(&self.name),
            None => self.folder.clone(),
        }
    }

    /// The list.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, or it is of another format.
    pub fn read(&self) -> Result<ShardList> {
        let wrong = |reason: String| self.wrong(&reason);
        let text = self.get(HEADER)?.ok_or_else(|| wrong("is not there".into()))?;
        let failed = |error: serde_json::Error| wrong(error.to_string());
        let version = version_of(&text, "format_version").map_err(failed)?.unwrap_or(0);
        if version != u64::from(VERSION) {
            return Err(wrong(format!("has version {version}, and this program reads version {VERSION}: {AGAIN}")));
        }
        serde_json::from_slice(&text).map_err(failed)
    }

    /// Reads all there is but segments: the list, the tables of its shards, and rows.
    ///
    /// # Errors
    /// Those of [`read`](Self::read); [`Error::DamagedIndex`].
    pub fn verify(&self) -> Result<()> {
        let list = self.read()?;
        (0..list.shards.len()).try_for_each(|shard| self.shard(&list, shard as u32).map(|_| ()))?;
        self.rows(&list).map(|_| ())
    }

    /// The list, for work on it by this program with `embedder`.
    ///
    /// # Errors
    /// Those of [`read`](Self::read); [`Error::Usage`] if another version made it, [`Error::EmbeddingModel`] if it was
    /// made with another one.
    pub(super) fn read_for(&self, embedder: &dyn Embedder) -> Result<ShardList> {
        let list = self.read()?;
        let found = (list.lakeward.as_str(), list.index_format_version);
        let this = (env!("CARGO_PKG_VERSION"), manifest::VERSION);
        if found != this {
            let versions = |(version, index): (&str, u32)| format!("{version} (index {index})");
            let (found, this) = (versions(found), versions(this));
            return Err(self.wrong(&format!("was made by Lakeward {found}, and this is {this}: {AGAIN}")));
        }
        if list.embedder != embedder.id() {
            return Err(Error::EmbeddingModel { found: list.embedder, expected: embedder.id().into() });
        }
        Ok(list)
    }

    /// The tables of a shard.
    pub(super) fn shard(&self, list: &ShardList, shard: u32) -> Result<Vec<ListedRead>> {
        let count = list.shards.len();
        if shard as usize >= count {
            return Err(Error::usage(format!("there is no shard {shard}: the list has {count}, from 0 on")));
        }
        let name = shard_name(shard);
        let text = self.get(&name)?.ok_or_else(|| self.damaged(&name, "it is missing"))?;
        let listed = listed_read::parsed(&text).map_err(|reason| self.damaged(&name, reason))?;
        if !listed.is_sorted_by(|one, next| (one.id(), one.part()) < (next.id(), next.part())) {
            return Err(self.damaged(&name, "its tables are out of order"));
        }
        // Who may write beside an index may not have everything read that its readers can open.
        match listed.iter().find(|listed| !listed.is_in(Path::new(&list.lake))) {
            Some(listed) => Err(self.damaged(&name, format!("`{}` is not in the lake", listed.file().path.display()))),
            None => Ok(listed),
        }
    }

    /// A new folder in which a shard is worked on; it goes with the value. What killed workers left goes as well.
    pub(super) fn at_work(&self) -> Result<AtWork> {
        let _starting = self.starting()?;
        self.remove_abandoned();
        let made = tempfile::Builder::new().prefix(AT_WORK).tempdir_in(&self.folder);
        let folder = made.map_err(|error| Error::io("create", &self.folder, error))?;
        let lock = FileLock::acquire_file(&folder.path().join(HELD))?;
        Ok(AtWork { folder, _lock: lock })
    }

    fn starting(&self) -> Result<FileLock> {
        make_folder(&self.folder)?;
        FileLock::wait(&self.folder.join(STARTING), STARTING_PATIENCE)
    }

    /// Removes the folders at work that no worker holds, and, where none is held, the rows that were not written to their end. What cannot be
    /// removed is left to the next worker.
    fn remove_abandoned(&self) {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().collect::<Vec<_>>();
        let begins = |entry: &fs::DirEntry, with: &str| entry.file_name().to_string_lossy().starts_with(with);
        let at_work = entries(&self.folder).into_iter().filter(|entry| begins(entry, AT_WORK));
        let held = at_work.filter(|entry| match FileLock::wait(&entry.path().join(HELD), Duration::ZERO) {
            Ok(abandoned) => {
                drop(abandoned);
                fs::remove_dir_all(entry.path()).is_err()
            }
            Err(_) => true,
        });
        if held.count() == 0 {
            let unfinished = entries(&self.folder.join(ROWS)).into_iter().filter(|entry| begins(entry, "."));
            unfinished.for_each(|entry| drop(fs::remove_file(entry.path())));
        }
    }

    /// Keeps a segment of the folder `from`, under the name of its content; returns its entry.
    pub(super) fn keep(&self, from: &Path, segment: &SegmentEntry) -> Result<SegmentEntry> {
        let files = serde_json::to_vec(&segment.files).map_err(|error| Error::Internal(error.to_string()))?;
        let kept = SegmentEntry { name: format!("{:032x}", xxh3_128(&files)), ..segment.clone() };
        let made = Manifest::segment_folder(from, &segment.name);
        if let Some(store) = &self.store {
            for file in &segment.files {
                let name = self.object(&segment_file(&kept.name, &file.name));
                store.objects().put_file(&name, &made.join(&file.name)).map_err(self.failed("write", &name))?;
            }
            return Ok(kept);
        }
        let segments = self.folder.join(SEGMENTS);
        make_folder(&segments)?;
        let folder = segments.join(&kept.name);
        if folder.exists() {
            if damage_of(&self.folder, &kept).is_empty() {
                return Ok(kept);
            }
            fs::remove_dir_all(&folder).map_err(|error| Error::io("write", &folder, error))?;
        }
        // Not moved where another attempt was faster.
        publish_folder(&made, &folder)?;
        Ok(kept)
    }

    /// Keeps the segments that `outcome` has in `from`; returns the row, without number and time.
    pub(super) fn row_of(&self, from: &Path, outcome: Outcome) -> Result<ShardRow> {
        let segments = outcome.work.segments.iter().map(|segment| self.keep(from, segment));
        Ok(ShardRow {
            format_version: VERSION,
            shard: 0,
            tables: outcome.work.segments.iter().map(|segment| u64::from(segment.tables)).sum(),
            rows: outcome.rows,
            read_bytes: outcome.read_bytes,
            sampled: outcome.sampled,
            segments: segments.collect::<Result<_>>()?,
            parts: Vec::new(),
            skipped: outcome.work.skipped,
            partial: outcome.work.partial,
            repaired: outcome.repaired,
            problems: outcome.problems.into_iter().map(|(path, reason)| (path.display().to_string(), reason)).collect(),
            elapsed_ms: 0,
        })
    }

    /// Keeps columns of a giant table, under the name of their content; returns it.
    pub(super) fn keep_part(&self, bytes: &[u8]) -> Result<String> {
        let name = format!("{:032x}", xxh3_128(bytes));
        let file = format!("{PARTS}/{name}");
        if self.store.is_none() && self.part(&name)?.is_none() {
            let _ = fs::remove_file(self.folder.join(&file));
        }
        self.create(&file, bytes.to_vec())?;
        Ok(name)
    }

    /// What [`keep_part`](Self::keep_part) has kept under `name`; `None` if that is missing or damaged.
    pub(super) fn part(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let is_name = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bytes = if is_name { self.get(&format!("{PARTS}/{name}"))? } else { None };
        Ok(bytes.filter(|bytes| format!("{:032x}", xxh3_128(bytes)) == name))
    }

    /// Adds the row of a shard, which has the name of its content.
    pub(super) fn add(&self, row: &ShardRow) -> Result<()> {
        let text = |row: &ShardRow| serde_json::to_vec_pretty(row).map_err(|error| Error::Internal(error.to_string()));
        let hash = xxh3_128(&text(&ShardRow { elapsed_ms: 0, ..row.clone() })?);
        self.create(&format!("{ROWS}/{:05}-{hash:032x}.json", row.shard), text(row)?)
    }

    /// The numbers of the shards that have rows.
    pub(super) fn worked_on(&self) -> Result<HashSet<u32>> {
        Ok(self.row_names()?.iter().filter_map(|name| shard_of(name)).collect())
    }

    /// The rows of all shards, those of one with the fewest skipped files first.
    pub(super) fn rows(&self, list: &ShardList) -> Result<BTreeMap<u32, Vec<ShardRow>>> {
        let mut rows: BTreeMap<u32, Vec<ShardRow>> = BTreeMap::new();
        for name in self.row_names()? {
            let file = format!("{ROWS}/{name}");
            let shard = shard_of(&name).filter(|shard| (*shard as usize) < list.shards.len());
            let damaged = |reason: String| match shard {
                Some(shard) => Error::damaged_file(Holds::ShardRow(shard), &self.address().join(&file), reason),
                None => self.damaged(&file, reason),
            };
            let text = self.get(&file)?.ok_or_else(|| damaged("it is missing".into()))?;
            let failed = |error: serde_json::Error| damaged(error.to_string());
            let version = version_of(&text, "format_version").map_err(failed)?.unwrap_or(0);
            if version != u64::from(VERSION) {
                return Err(damaged(format!("it has version {version}; this program reads version {VERSION}")));
            }
            let row: ShardRow = serde_json::from_slice(&text).map_err(failed)?;
            if shard != Some(row.shard) || !row.segments.iter().all(SegmentEntry::is_possible) {
                return Err(damaged("it is of another list".into()));
            }
            rows.entry(row.shard).or_default().push(row);
        }
        rows.values_mut().for_each(|rows| rows.sort_by_key(|row| row.skipped.len()));
        Ok(rows)
    }

    /// The first of `rows` whose segments and parts are all there and intact, segments on this machine then.
    pub(super) fn whole_row(&self, rows: Vec<ShardRow>) -> Result<Option<ShardRow>> {
        for row in rows {
            let segments = row.segments.iter().try_fold(true, |whole, segment| Ok(whole && self.has(segment)?))?;
            if row.parts.iter().try_fold(segments, |whole, part| Ok(whole && self.part(&part.file)?.is_some()))? {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    fn has(&self, segment: &SegmentEntry) -> Result<bool> {
        let is_whole = || damage_of(&self.folder, segment).is_empty();
        if !is_whole() && self.store.is_some() {
            self.fetch(segment)?;
        }
        Ok(is_whole())
    }

    /// Removes the segments and parts of `rows`, which are in the index now. What cannot be removed is left.
    pub(super) fn remove_work(&self, rows: &[ShardRow]) {
        for part in rows.iter().flat_map(|row| &row.parts) {
            let file = format!("{PARTS}/{}", part.file);
            let _ = match &self.store {
                Some(store) => store.objects().remove(&[self.object(&file)]),
                None => fs::remove_file(self.folder.join(file)),
            };
        }
        for segment in rows.iter().flat_map(|row| &row.segments) {
            let _ = fs::remove_dir_all(Manifest::segment_folder(&self.folder, &segment.name));
            if let Some(store) = &self.store {
                let name = |file: &FileEntry| self.object(&segment_file(&segment.name, &file.name));
                let _ = store.objects().remove(&segment.files.iter().map(name).collect::<Vec<_>>());
            }
        }
    }

    fn fetch(&self, segment: &SegmentEntry) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let folder = Manifest::segment_folder(&self.folder, &segment.name);
        make_folder(&folder)?;
        for file in &segment.files {
            let name = self.object(&segment_file(&segment.name, &file.name));
            let mut out = AtomicFile::create(&folder.join(&file.name), Purpose::Batch)?;
            for start in (0..file.bytes).step_by(PART_BYTES as usize) {
                let range = start..file.bytes.min(start + PART_BYTES);
                match store.objects().range(&name, range) {
                    Ok(part) => out.put(&part)?,
                    // Then the shard counts as missing.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                    Err(error) => return Err(self.failed("read", &name)(error)),
                }
            }
            out.replace()?;
        }
        Ok(())
    }

    fn row_names(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = if let Some(store) = &self.store {
            let folder = self.object(ROWS);
            let listed = store.objects().list(&folder, None).map_err(self.failed("list", &folder))?;
            listed.iter().filter_map(|listed| listed.name.rsplit('/').next().map(str::to_string)).collect()
        } else {
            let entries = fs::read_dir(self.folder.join(ROWS)).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
        };
        // Not those that are being written.
        names.retain(|name| name.ends_with(".json") && !name.starts_with('.'));
        names.sort();
        Ok(names)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        const BOUNDS: Bounds = Bounds {
            most_bytes: MOST_BYTES as u64,
            links: Links::Followed,
            damaged: |path, reason| Error::damaged(path, reason),
        };
        match &self.store {
            Some(store) => {
                let name = self.object(name);
                store.objects().get(&name, MOST_BYTES).map_err(self.failed("read", &name))
            }
            None => BOUNDS.read(&self.folder.join(name)),
        }
    }

    /// Writes a file that has one content; one that is there stays.
    fn create(&self, name: &str, text: Vec<u8>) -> Result<()> {
        if let Some(store) = &self.store {
            let name = self.object(name);
            return store.objects().create(&name, text).map(|_| ()).map_err(self.failed("write", &name));
        }
        let path = self.folder.join(name);
        path.parent().map_or(Ok(()), make_folder)?;
        let mut file = AtomicFile::create(&path, Purpose::Index)?;
        file.put(&text)?;
        file.claim().map(|_| ())
    }

    fn object(&self, name: &str) -> String {
        format!("{LISTS}/{}/{name}", self.name)
    }

    fn failed(&self, action: &'static str, name: &str) -> impl FnOnce(io::Error) -> Error {
        let path = self.store.as_ref().map_or_else(|| self.folder.join(name), |store| store.address().join(name));
        move |error| Error::io(action, &path, error)
    }

    fn wrong(&self, reason: &str) -> Error {
        Error::usage(format!("the list `{}` {reason}", self.address().join(HEADER).display()))
    }

    fn damaged(&self, name: &str, reason: impl Into<String>) -> Error {
        Error::damaged(&self.address().join(name), reason)
    }
}

fn shard_name(shard: u32) -> String {
    format!("shards/{shard:05}.jsonl")
}

/// The number in the name of a row.
fn shard_of(row: &str) -> Option<u32> {
    row.split('-').next()?.parse().ok()
}

fn segment_file(segment: &str, file: &str) -> String {
    format!("{SEGMENTS}/{segment}/{file}")
}
