//! Reads a table for its index; of a table in many files only those that were added since it was read before.
//!
//! A sketch is a fold over the rows, file after file, so its state after the last file is kept. Where the files that it has seen are still
//! the first ones, and as they were, reading goes on after them, and the outcome is that of reading all, bit for bit. Files of a layout are
//! in the order of their paths, those of a log in that of their changes, so that what is appended comes last. A file that was changed,
//! removed or put between the others, or that brings other columns, makes all of them be read again.
//!
//! No sketch is kept of each file, which could be merged in any order: with up to all distinct values of their columns these would be as
//! large as the files. What is kept is safe to delete, and a damaged one is not used.

use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::layout::{FileSet, Part};
use crate::location::Location;
use crate::reader::{self, Parts, PartsSoFar, ReadOptions, TableReader, guarded};
use crate::scan::{DIVISIBLE_BYTES, Scan, TableScan};
use crate::source::{self, ContentHash, LakeFile};
use crate::storage;
use lakeward_core::error::Result;
use lakeward_core::store::BlobCache;
use lakeward_sketch::{Writing, stored};

/// A change of what is kept, or of how values are sketched, raises it.
const VERSION: u32 = 3;
/// Tables of fewer files are read again at once.
const LEAST_FILES: usize = 16;
/// Of a table that needs more bytes nothing is kept.
const MOST_BYTES: u64 = 256 << 20;
/// What is kept of a table on this machine has at most this share of its files' bytes, as it is read and written as a whole. In a store
/// each file costs a request, so there it is always worth it.
const MOST_SHARE: f64 = 0.5;
/// Tables of which something is kept: beyond that, of the older half nothing is.
const MOST_TABLES: usize = 64;

/// What is kept of tables in many files, in a folder.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    files: BlobCache,
}

/// What is kept of one.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    files: Vec<FileStamp>,
    #[serde(with = "stored::as_json")]
    so_far: PartsSoFar,
    scan: TableScan,
}

/// By what a file is recognised.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileStamp {
    /// Of its name, size and time, or of what its log says; 0 if it could change again without another.
    identity: u64,
    /// Hash of its bytes; `None` where they cannot be read, or a log tells changes.
    content: Option<ContentHash>,
}

/// How a table's columns are scanned.
pub struct ScanOptions<'a> {
    /// Most keys of each sample.
    pub sample_keys: usize,
    /// What is known of how the column of each name writes its values.
    pub known: &'a dyn Fn(&str) -> Writing,
}

/// Reads `file` to its end, and hashes it; goes on from what `kept` has of it.
///
/// # Errors
/// Those of [`reader::open_hashed`] and of reading the rows.
pub fn read(
    file: &LakeFile,
    options: &ReadOptions,
    scan_options: &ScanOptions<'_>,
    kept: Option<&Checkpoints>,
) -> Result<(Scan, ContentHash)> {
    if let (Some(kept), Location::Files { path }, None) = (kept, Location::of(&file.path), options.max_rows) {
        let set = reader::set_at(&path)?;
        if set.parts.len() >= LEAST_FILES {
            return kept.read(set, options, scan_options);
        }
    }
    let (mut reader, content) = reader::open_hashed(file, options)?;
    let mut scan = begin(reader.as_ref(), scan_options, file.read_bytes);
    scan.read(reader.as_mut())?;
    let scan = scan.finish(reader.report().clone());
    Ok((scan, content.finish(reader)?))
}

/// Begins the table of `reader`, whose files have `read_bytes` bytes.
pub(crate) fn begin(reader: &dyn TableReader, scan_options: &ScanOptions<'_>, read_bytes: u64) -> TableScan {
    let ScanOptions { sample_keys, known } = scan_options;
    TableScan::new(reader, Some(*sample_keys), known, read_bytes >= DIVISIBLE_BYTES)
}

impl Checkpoints {
    /// Those in `folder`, which need not exist.
    pub fn new(folder: &Path) -> Self {
        Self { files: BlobCache::new(folder, MOST_TABLES, MOST_BYTES) }
    }

    fn read(&self, set: FileSet, options: &ReadOptions, scan_options: &ScanOptions<'_>) -> Result<(Scan, ContentHash)> {
        let key = format!("{:032x}", xxh3_128(set.path.as_os_str().as_encoded_bytes()));
        // Taken before the rows are read, so that any later change is noticed.
        let identities: Vec<u64> = set.parts.iter().map(|part| identity(&set, part)).collect();
        let kept = self.get(&key).filter(|kept| {
            let is_same = |(known, now): (&FileStamp, &u64)| known.identity == *now && *now != 0;
            kept.files.len() <= identities.len() && kept.files.iter().zip(&identities).all(is_same)
        });
        let known = kept.as_ref().map(|kept| kept.files.clone()).unwrap_or_default();
        let stamp = |(at, (part, &identity)): (usize, (&Part, &u64))| match (known.get(at), &set.snapshot) {
            (Some(known), _) => known.clone(),
            (None, Some(_)) => FileStamp { identity, content: None },
            (None, None) => FileStamp { identity, content: source::content_hash(&part.path).ok() },
        };
        let files: Vec<FileStamp> = set.parts.iter().zip(&identities).enumerate().map(stamp).collect();
        let content = match &set.snapshot {
            Some(snapshot) => snapshot.content,
            None => source::hash_of_parts(&set, files.iter().map(|file| file.content)),
        };
        // Indexes may come from anyone: what is kept may be made to end in a panic.
        let kept = kept.map(|kept| (set.parts[..kept.files.len()].iter().map(|part| part.bytes).sum(), kept));
        let went_on = kept.and_then(|(unread_bytes, kept)| {
            let went_on = guarded(|| kept.go_on(&set, options, scan_options)).ok()?.transpose()?;
            Some(went_on.map(|(scan, parts)| (scan, parts, unread_bytes)))
        });
        let (scan, parts, unread_bytes) = match went_on {
            Some(went_on) => went_on?,
            None => {
                let mut parts = Parts::open(set.clone(), options, None)?;
                let mut scan = begin(&parts, scan_options, set.read_bytes);
                scan.read(&mut parts)?;
                (scan, parts, 0)
            }
        };
        Ok((Scan { unread_bytes, ..self.put(&key, &set, files, scan, &parts) }, content))
    }

    fn get(&self, key: &str) -> Option<Checkpoint> {
        let bytes = self.files.get_bytes(key)?;
        let (sum, kept) = bytes.split_first_chunk::<8>()?;
        if checksum(kept) != *sum {
            return None;
        }
        postcard::from_bytes(kept).ok()
    }

    /// Keeps `scan`, if that is worth it and it can be gone on from; returns what it comes to.
    fn put(&self, key: &str, set: &FileSet, files: Vec<FileStamp>, scan: TableScan, parts: &Parts) -> Scan {
        let so_far = parts.so_far().filter(|_| storage::failure(&set.path).is_none());
        let Some(so_far) = so_far else { return scan.finish(parts.report().clone()) };
        let checkpoint = Checkpoint { files, so_far, scan };
        if let Ok(kept) = postcard::to_allocvec(&checkpoint)
            && (storage::Address::is(&set.path) || kept.len() as f64 <= MOST_SHARE * set.read_bytes as f64)
        {
            self.files.put_bytes(key, &[checksum(&kept).as_slice(), &kept].concat());
        }
        checkpoint.scan.finish(parts.report().clone())
    }
}

impl Checkpoint {
    /// Reads what `set` has after these files; `None` where its columns are others.
    fn go_on(
        self,
        set: &FileSet,
        options: &ReadOptions,
        scan_options: &ScanOptions<'_>,
    ) -> Result<Option<(TableScan, Parts)>> {
        let Some(mut parts) = Parts::go_on(set.clone(), options, self.files.len(), &self.so_far)? else {
            return Ok(None);
        };
        let mut scan = self.scan;
        if !scan.is_whole() || !scan.begins_as(&begin(&parts, scan_options, set.read_bytes)) {
            return Ok(None);
        }
        scan.read(&mut parts)?;
        Ok(Some((scan, parts)))
    }
}

fn checksum(kept: &[u8]) -> [u8; 8] {
    xxh3_64(kept).wrapping_add(u64::from(VERSION)).to_le_bytes()
}

/// What tells `part` from others and from a later state of it; 0 where it could change again without being told.
fn identity(set: &FileSet, part: &Part) -> u64 {
    let live = set.snapshot.as_ref().zip(part.live);
    let text = match live {
        Some((snapshot, live)) => snapshot.identity(&snapshot.files[live]),
        None => match source::settled_time(part.changed_ns) {
            0 => return 0,
            changed_ns => format!("{} {} {changed_ns}", set.name_of(&part.path), part.bytes),
        },
    };
    xxh3_64(text.as_bytes()).max(1)
}
