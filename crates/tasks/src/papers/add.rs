//! Adds files: finds new and changed ones, reads their texts and records the result. Finished work is never lost: texts are stored
//! by content as soon as they are read, records are appended immediately, and the list is readable at every moment.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use chrono::{Local, SecondsFormat};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::Fingerprint;
use super::isolated::PdfReader;
use super::manifest::{DocumentEntry, FileRecord, FileStatus};
use super::reading::{self, DocumentFormat, READER_VERSION};
use super::store::{FOLDER, Store};
use super::texts::TextsIndex;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::store::{FileLock, make_folder};
use lakeward_core::text::shown;

/// Maximum number of characters of a reason.
const LONGEST_REASON_CHARS: usize = 300;
/// A file modified this shortly before it was read may have changed again without a new modification time.
const UNSETTLED_NS: u64 = 2_000_000_000;

/// How files are added.
#[derive(Debug, Clone)]
pub struct AddOptions {
    /// Read all files again, even unchanged ones; removed documents are restored.
    pub again: bool,
    /// How PDFs are read.
    pub pdf: PdfReader,
}

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddStats {
    /// Files that were found.
    pub files: u64,
    /// Of these, read in this run.
    pub read: u64,
    /// Files unchanged since they were last read.
    pub unchanged: u64,
    /// Files of unknown format that were skipped (only inside folders).
    pub passed_over: u64,
    /// Files left for the next run because the user stopped this one.
    pub left: u64,
    /// Files that gave no document, with the reason.
    pub failed: Vec<FileFault>,
    /// Files of which documents are missing, with the reason.
    pub partial: Vec<FileFault>,
    /// Documents of the files that were read.
    pub documents: u64,
    /// Of these, duplicates of a document in another file or line.
    pub duplicates: u64,
    /// Documents now in the store.
    pub stored: u64,
    /// Bytes of the files that were read.
    pub read_bytes: u64,
    /// Wall time in milliseconds.
    pub elapsed_ms: u64,
}

/// A file and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileFault {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// Adds files, and those in folders and their subfolders, to the store of the index in `index_folder`.
///
/// # Errors
/// [`Error::Usage`] for a path that does not exist, and then nothing is added; [`Error::Locked`]; [`Error::DamagedFile`];
/// [`Error::Io`] if the store cannot be written. Problems with single files are reported in the [`AddStats`].
pub fn add(index_folder: &Path, paths: &[PathBuf], options: &AddOptions, monitor: &dyn Monitor) -> Result<AddStats> {
    let started = Instant::now();
    let mut found = Found::default();
    for path in paths {
        found.path(path, index_folder)?;
    }
    let folder = index_folder.join(FOLDER);
    make_folder(&folder)?;
    let _lock = FileLock::acquire(&folder)?;
    let mut store = Store::open(index_folder)?;
    store.texts.make_folder()?;
    let mut stats = AddStats { files: found.files.len() as u64, passed_over: found.passed_over, ..AddStats::default() };
    let (unchanged, to_read): (Vec<Candidate>, Vec<Candidate>) =
        found.files.into_values().partition(|file| !options.again && is_unchanged(&store, file));
    stats.unchanged = unchanged.len() as u64;
    let bytes = to_read.iter().map(|file| file.stamp.bytes).sum();
    monitor.begin("reading", Total::Files { files: to_read.len() as u64, bytes });
    let mut ids = Ids::of(&store);
    // Enough at a time to keep all processors busy, few enough to stop quickly.
    let at_once = 4 * rayon::current_num_threads().max(1);
    let mut left = to_read.as_slice();
    while !left.is_empty() && !monitor.is_stopped() {
        let (now, later) = left.split_at(at_once.min(left.len()));
        left = later;
        let records: Vec<FileRecord> = now
            .par_iter()
            .map(|file| {
                let record = processed(&store, file, options);
                monitor.advance(file.stamp.bytes);
                record
            })
            .collect::<Result<_>>()?;
        for record in records {
            commit(&mut store, record, &mut ids, &mut stats)?;
        }
        store.texts.sync()?;
        store.manifest.sync()?;
    }
    stats.left = left.len() as u64;
    store.manifest.finish()?;
    store.remove_unnamed();
    stats.stored = store.len() as u64;
    stats.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(stats)
}

/// A file to check.
#[derive(Debug)]
struct Candidate {
    path: PathBuf,
    /// Its path in the list.
    name: String,
    stamp: Stamp,
    format: Option<DocumentFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified_ns: u64,
}

impl Stamp {
    fn of(metadata: &fs::Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self { bytes: metadata.len(), modified_ns: modified.map_or(0, |time| time.as_nanos() as u64) }
    }
}

/// The files given by the paths, by their canonical paths.
#[derive(Debug, Default)]
struct Found {
    files: BTreeMap<String, Candidate>,
    passed_over: u64,
}

impl Found {
    fn path(&mut self, path: &Path, index_folder: &Path) -> Result<()> {
        let real = path.canonicalize().map_err(|error| {
            Error::usage(format!("`{}` cannot be added: {error}", shown(&path.to_string_lossy(), LONGEST_REASON_CHARS)))
        })?;
        if real.is_dir() {
            let own = index_folder.canonicalize().unwrap_or_else(|_| index_folder.to_path_buf());
            self.folder(&real, &own)
        } else {
            self.file(real);
            Ok(())
        }
    }

    /// Symbolic links are not followed: they may form cycles. Hidden files and the index folder are skipped.
    fn folder(&mut self, folder: &Path, index_folder: &Path) -> Result<()> {
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).map_err(|error| Error::io("list", &folder, error))?;
            for entry in entries {
                let entry = entry.map_err(|error| Error::io("list", &folder, error))?;
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                if entry.file_name().as_encoded_bytes().starts_with(b".") || path == index_folder {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() && DocumentFormat::of(&path).is_some() {
                    self.file(path);
                } else {
                    self.passed_over += 1;
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, path: PathBuf) {
        let name = path.to_string_lossy().into_owned();
        let stamp = path.metadata().map_or(Stamp { bytes: 0, modified_ns: 0 }, |metadata| Stamp::of(&metadata));
        let format = DocumentFormat::of(&path);
        self.files.insert(name.clone(), Candidate { path, name, stamp, format });
    }
}

fn is_unchanged(store: &Store, file: &Candidate) -> bool {
    let Some(record) = store.manifest.get(&file.name) else { return false };
    let is_settled = chrono::DateTime::parse_from_rfc3339(&record.processed)
        .ok()
        .and_then(|time| time.timestamp_nanos_opt())
        .is_some_and(|processed| processed as u64 > file.stamp.modified_ns.saturating_add(UNSETTLED_NS));
    let stamp = Stamp { bytes: record.read_bytes, modified_ns: record.modified_ns };
    record.status() != FileStatus::Failed
        && record.reader == READER_VERSION
        && stamp == file.stamp
        && is_settled
        && record.fingerprint.as_ref().is_some_and(|content| store.texts.has(content))
}

/// Reads a file, or reuses the texts if its content was read before.
fn processed(store: &Store, file: &Candidate, options: &AddOptions) -> Result<FileRecord> {
    let mut record = FileRecord {
        path: file.name.clone(),
        read_bytes: file.stamp.bytes,
        modified_ns: file.stamp.modified_ns,
        processed: Local::now().to_rfc3339_opts(SecondsFormat::Millis, false),
        fingerprint: None,
        reader: READER_VERSION,
        reason: None,
        documents: Vec::new(),
        removed: Vec::new(),
    };
    match texts_of(store, file, options, &mut record)? {
        Ok(TextsIndex { entries, missing }) => {
            record.documents = entries;
            record.reason = missing.map(|reason| shown(&reason, LONGEST_REASON_CHARS));
            if let Some(before) = store
                .manifest
                .get(&file.name)
                .filter(|before| !options.again && before.fingerprint == record.fingerprint)
            {
                record.removed = before.removed.clone();
                record.documents.retain(|entry| !before.removed.contains(&entry.fingerprint));
            }
        }
        Err(reason) => record.reason = Some(shown(&reason, LONGEST_REASON_CHARS)),
    }
    Ok(record)
}

fn texts_of(
    store: &Store,
    file: &Candidate,
    options: &AddOptions,
    record: &mut FileRecord,
) -> Result<std::result::Result<TextsIndex, String>> {
    let Some(format) = file.format else {
        return Ok(Err(format!("of no known format ({})", DocumentFormat::ENDINGS)));
    };
    // A pipe or a device would never end.
    if !file.path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(Err("not a file".into()));
    }
    if file.path.to_str().is_none() {
        return Ok(Err("its path is not UTF-8".into()));
    }
    let content = match reading::fingerprint_of(&file.path) {
        Ok(content) => content,
        Err(error) => return Ok(Err(error.to_string())),
    };
    record.fingerprint = Some(content.clone());
    if let Some(index) = store.texts.index(&content).filter(|_| !options.again) {
        return Ok(Ok(index));
    }
    store.texts.write(&content, |found| {
        let reading = reading::read(&file.path, format, &options.pdf, found)?;
        let now = file.path.metadata().map(|metadata| Stamp::of(&metadata)).map_err(|error| error.to_string())?;
        if now == file.stamp { Ok(reading) } else { Err("it changed while it was read".into()) }
    })
}

/// The ids in use, and their contents.
#[derive(Debug, Default)]
struct Ids {
    /// The id of each content, and in how many places it occurs.
    by_content: BTreeMap<Fingerprint, (String, u64)>,
    taken: BTreeSet<String>,
}

impl Ids {
    fn of(store: &Store) -> Self {
        let mut ids = Self::default();
        for entry in store.manifest.records().flat_map(|file| &file.documents) {
            ids.taken.insert(entry.id.clone());
            ids.by_content.entry(entry.fingerprint.clone()).or_insert_with(|| (entry.id.clone(), 0)).1 += 1;
        }
        ids
    }

    /// Releases the documents of a file that was read again, except those that another file also has.
    fn release(&mut self, before: &FileRecord) {
        for entry in &before.documents {
            let Some((id, count)) = self.by_content.get_mut(&entry.fingerprint) else { continue };
            *count -= 1;
            if *count == 0 {
                self.taken.remove(id);
                self.by_content.remove(&entry.fingerprint);
            }
        }
    }

    /// Gives a document the id of its content if known, otherwise its own, or its own with the first digits of its fingerprint if
    /// that is taken. Returns whether its content is new.
    fn assign(&mut self, entry: &mut DocumentEntry) -> bool {
        const PREFIX_DIGITS: usize = 8;
        if let Some((id, count)) = self.by_content.get_mut(&entry.fingerprint) {
            entry.id.clone_from(id);
            *count += 1;
            return false;
        }
        if self.taken.contains(&entry.id) {
            let digits = entry.fingerprint.as_str();
            let short = format!("{}~{}", entry.id, &digits[..PREFIX_DIGITS]);
            entry.id = if self.taken.contains(&short) { format!("{}~{digits}", entry.id) } else { short };
        }
        self.taken.insert(entry.id.clone());
        self.by_content.insert(entry.fingerprint.clone(), (entry.id.clone(), 1));
        true
    }
}

fn commit(store: &mut Store, mut record: FileRecord, ids: &mut Ids, stats: &mut AddStats) -> Result<()> {
    if let Some(before) = store.manifest.get(&record.path) {
        ids.release(before);
    }
    for entry in &mut record.documents {
        stats.duplicates += u64::from(!ids.assign(entry));
    }
    stats.read += 1;
    stats.read_bytes += record.read_bytes;
    stats.documents += record.documents.len() as u64;
    let fault = || FileFault { path: record.path.clone(), reason: record.reason.clone().unwrap_or_default() };
    match record.status() {
        FileStatus::Read => {}
        FileStatus::InPart => stats.partial.push(fault()),
        FileStatus::Failed => stats.failed.push(fault()),
    }
    store.manifest.append(vec![record])
}
