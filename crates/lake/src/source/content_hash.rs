//! What the bytes of files hash to: all of them, or the ends of large ones of which only a sample is read.

use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layout::FileSet;
use crate::location::Location;
use crate::reader::{self, ReadOptions};
use crate::storage::{self, File};
use lakeward_core::error::{Error, Result};
use lakeward_core::text::hex;

/// Bytes read at once, and bytes of each end of a file that is hashed by its ends.
const END_BYTES: usize = 1 << 20;
/// Larger files are hashed by their ends only, where only a sample of them is read; in bytes.
const LARGEST_HASHED_WHOLE: u64 = 64 << 20;

/// BLAKE3 of a file's bytes as they are on disk; written and serialised as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of the bytes fed to `hasher`.
    pub(crate) fn of(hasher: &blake3::Hasher) -> ContentHash {
        ContentHash(*hasher.finalize().as_bytes())
    }

    /// The hash of `bytes`.
    pub fn of_bytes(bytes: &[u8]) -> ContentHash {
        ContentHash(*blake3::hash(bytes).as_bytes())
    }

    /// The 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> String {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        blake3::Hash::from_hex(&text).map(|hash| ContentHash(*hash.as_bytes())).map_err(|error| error.to_string())
    }
}

/// Hash of the file's bytes, read in 1 MB pieces; of a table in a file, of its columns and cells. Of a file in a store that is too large to be
/// kept, of what the store says of it.
pub fn content_hash(path: &Path) -> Result<ContentHash> {
    match Location::of(path) {
        Location::Part { .. } => return reader::rows_hash(reader::open_path(path, &ReadOptions::default())?),
        Location::Files { path } => return parts_hash(&path, content_hash),
        Location::File { .. } => {}
    }
    let failed = |source| Error::io("read", path, source);
    if storage::is_fetched_again(path) {
        // The store tells a change by its ETag.
        let meta = storage::metadata(path).map_err(failed)?;
        return Ok(ContentHash::of_bytes(format!("{} {}", meta.len(), meta.changed_ns()).as_bytes()));
    }
    let mut file = File::open(path).map_err(failed)?;
    hash_rest(&mut file, &mut blake3::Hasher::new(), path)
}

/// Hash of the bytes fed to `hasher` so far and the rest of `file`, whose path is `path`.
pub(crate) fn hash_rest(file: &mut File, hasher: &mut blake3::Hasher, path: &Path) -> Result<ContentHash> {
    let failed = |source| Error::io("read", path, source);
    let size = file.size().map_err(failed)?;
    let mut piece = vec![0; END_BYTES.min(usize::try_from(size).unwrap_or(END_BYTES)).max(1)];
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok(ContentHash::of(hasher)),
            count => hasher.update(&piece[..count]),
        };
    }
}

/// Hash of the names of a table's files and of what `hash_of` gives for each; of a table with a log, that of what it says.
fn parts_hash(path: &Path, hash_of: impl Fn(&Path) -> Result<ContentHash>) -> Result<ContentHash> {
    let set = reader::set_at(path)?;
    if let Some(snapshot) = &set.snapshot {
        return Ok(snapshot.content);
    }
    Ok(hash_of_parts(&set, set.parts.iter().map(|part| hash_of(&part.path).ok())))
}

/// Hash of the names of the files of `set` and of the hashes `of` each; one that cannot be read is reported by its reader.
pub(crate) fn hash_of_parts(set: &FileSet, of: impl Iterator<Item = Option<ContentHash>>) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    for (part, hash) in set.parts.iter().zip(of) {
        hasher.update(set.name_of(&part.path).as_bytes());
        hasher.update(hash.map_or([0; 32], |hash| hash.0).as_slice());
    }
    ContentHash::of(&hasher)
}

/// Whether a file of which only a sample is read is too large to be read to its end for the hash; see [`ends_hash`].
pub fn is_hashed_by_ends(path: &Path) -> bool {
    Location::of(path).file_stamp().is_ok_and(|(bytes, _)| bytes > LARGEST_HASHED_WHOLE)
}

/// The hash that identifies a large file of which only a sample is read: of its size and its first and last megabyte.
pub fn ends_hash(path: &Path) -> Result<ContentHash> {
    let failed = |source| Error::io("read", path, source);
    let mut hasher = blake3::Hasher::new();
    let location = Location::of(path);
    match &location {
        Location::Part { name, .. } => _ = hasher.update(name.as_bytes()),
        Location::Files { path } => return parts_hash(path, ends_hash),
        Location::File { .. } => {}
    }
    let mut file = File::open(location.file()).map_err(failed)?;
    let size = file.size().map_err(failed)?;
    hasher.update(&size.to_le_bytes());
    let mut end = Vec::new();
    (&mut file).take(END_BYTES as u64).read_to_end(&mut end).map_err(failed)?;
    hasher.update(&end);
    end.clear();
    file.seek(SeekFrom::Start(size.saturating_sub(END_BYTES as u64))).map_err(failed)?;
    file.take(END_BYTES as u64).read_to_end(&mut end).map_err(failed)?;
    hasher.update(&end);
    Ok(ContentHash::of(&hasher))
}
