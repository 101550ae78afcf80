//! tantivy's files inside one segment file, and a read-only tantivy directory for it.
//!
//! tantivy reads through a `Directory`; this one returns slices of the mapped segment file, so that everything tantivy reads has passed the
//! checksum of its block, and opening reads only tantivy's own headers.
//!
//! Sections: `DOCS` `[u32]`, the table of each document; `LIST`, the names of tantivy's files as JSON; `F000`, `F001`, …,
//! the files in that order. A word index of no tables has an empty `DOCS` and no files.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{Directory, FileHandle, OwnedBytes, WatchCallback, WatchHandle, WritePtr};
use tantivy::{HasLen, Index, IndexMeta};
use xxhash_rust::xxh3::Xxh3;

use crate::segment::{Section, SegmentKind, SegmentStats, Tag};
use crate::structure::FileFormat;
use lakeward_core::error::{Error, Result};

/// Version of the file's layout, of the analysis and of tantivy's schema.
pub(super) const FORMAT: FileFormat = FileFormat { name: "words.seg", kind: SegmentKind(*b"WORD"), version: 2 };

const DOCUMENTS: Tag = *b"DOCS";
const NAMES: Tag = *b"LIST";
/// tantivy's list of its segments.
const METAS: &str = "meta.json";
/// tantivy writes eight files per segment; far more would be a mistake.
const MOST_FILES: usize = 1000;

fn file_tag(place: usize) -> Tag {
    let digit = |power: usize| b'0' + (place / power % 10) as u8;
    [b'F', digit(100), digit(10), digit(1)]
}

/// Writes the word index into `folder`: the table of each document and, if there are documents, the files of the tantivy index `index` from
/// `directory`, in which it was built.
pub(super) fn pack(folder: &Path, tables: &[u32], index: Option<(&Index, &dyn Directory)>) -> Result<SegmentStats> {
    let mut writer = FORMAT.create(folder)?;
    writer.section_of(DOCUMENTS, tables)?;
    let mut names: Vec<PathBuf> = match index {
        Some((index, _)) => index.directory().list_managed_files().into_iter().collect(),
        None => Vec::new(),
    };
    names.sort();
    if names.len() > MOST_FILES {
        return Err(Error::Internal(format!("a word index of {} files", names.len())));
    }
    let failed = |error: &dyn std::fmt::Display| {
        Error::io("write", &folder.join(FORMAT.name), io::Error::other(error.to_string()))
    };
    let mut contents = Vec::with_capacity(names.len());
    if let Some((index, directory)) = index {
        for name in &names {
            let content = directory.open_read(name).map_err(|error| failed(&error))?;
            contents.push(content.read_bytes().map_err(|error| failed(&error))?);
        }
        let metas = index.load_metas().map_err(|error| failed(&error))?;
        let metas = names_of_content(&mut names, &contents, metas).map_err(|error| failed(&error))?;
        if let Some(place) = names.iter().position(|name| name.as_os_str() == METAS) {
            contents[place] = OwnedBytes::new(metas);
        }
    }
    let list = serde_json::to_vec(&names).map_err(|error| failed(&error))?;
    writer.section(NAMES, &list)?;
    for (place, content) in contents.iter().enumerate() {
        writer.section(file_tag(place), content.as_slice())?;
    }
    writer.finish()
}

/// Gives tantivy's segment the name of its content in place of a random one, and tells nothing of how it came about, so that the same tables make the
/// same bytes. Returns the content of tantivy's list.
fn names_of_content(names: &mut [PathBuf], contents: &[OwnedBytes], mut metas: IndexMeta) -> io::Result<Vec<u8>> {
    metas.opstamp = 0;
    metas.payload = None;
    let mut text = serde_json::to_string(&metas)?;
    for segment in &metas.segments {
        let id = segment.id().uuid_string();
        let mut hash = Xxh3::new();
        for (name, content) in names.iter().zip(contents).filter(|(name, _)| name.to_string_lossy().starts_with(&id)) {
            hash.update(name.extension().unwrap_or_default().as_encoded_bytes());
            hash.update(&(content.len() as u64).to_le_bytes());
            hash.update(content.as_slice());
        }
        let of_content = format!("{:032x}", hash.digest128());
        for name in names.iter_mut() {
            *name = name.to_string_lossy().replace(&id, &of_content).into();
        }
        text = text.replace(&hyphenated(&id), &hyphenated(&of_content));
    }
    Ok(text.into_bytes())
}

/// An id as tantivy's list has it.
fn hyphenated(id: &str) -> String {
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| id.get(part).unwrap_or_default());
    parts.join("-")
}

/// An opened word index: the table of each document, and tantivy's files.
pub(super) struct Packed {
    /// The table of each document.
    pub tables: Vec<u32>,
    /// The directory of tantivy's files.
    pub directory: PackedDirectory,
}

impl Packed {
    pub fn open(folder: &Path) -> Result<Self> {
        let file = FORMAT.open(folder)?;
        let list = file.section(NAMES)?;
        let names: Vec<PathBuf> = serde_json::from_slice(list.bytes(0..list.len())?)
            .map_err(|error| list.damaged(format!("not a list of files: {error}")))?;
        file.read_together(DOCUMENTS, names.len().checked_sub(1).map_or(NAMES, file_tag));
        let files = names
            .into_iter()
            .enumerate()
            .map(|(place, name)| Ok((name, file.section(file_tag(place))?)))
            .collect::<Result<_>>()?;
        let tables = file.section(DOCUMENTS)?.all::<u32>()?.to_vec();
        Ok(Self { tables, directory: PackedDirectory { files: Arc::new(files) } })
    }
}

/// The files of one word index, read-only.
#[derive(Debug, Clone)]
pub(super) struct PackedDirectory {
    files: Arc<HashMap<PathBuf, Section>>,
}

impl PackedDirectory {
    fn file(&self, path: &Path) -> Result<&Section, OpenReadError> {
        self.files.get(path).ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_path_buf()))
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "a packed word index is read-only")
}

impl Directory for PackedDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(Arc::new(PackedFile(self.file(path)?.clone())))
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.files.contains_key(path))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let file = self.file(path)?;
        let bytes = file.bytes(0..file.len());
        bytes.map(<[u8]>::to_vec).map_err(|error| OpenReadError::wrap_io_error(damage(&error), path.to_path_buf()))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_path_buf() })
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(), path.to_path_buf()))
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// One of tantivy's files.
#[derive(Debug)]
struct PackedFile(Section);

impl HasLen for PackedFile {
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl FileHandle for PackedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        Ok(OwnedBytes::new(self.0.owned(range).map_err(|error| damage(&error))?))
    }
}

fn damage(error: &Error) -> io::Error {
    let reason = match error {
        Error::DamagedIndex { reason, .. } => reason.clone(),
        other => other.to_string(),
    };
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
