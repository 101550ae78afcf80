//! Files of lakes, wherever they are: in folders of this machine or in object stores and on web servers.
//!
//! A path that begins as an address does (`s3://bucket/folder`) is one; every other is the operating system's. The functions here
//! are those of [`std::fs`] for both. What is asked of a store is remembered as long as it can be true: a lake is listed once a walk
//! ([`refresh`]), and what was fetched of a file is kept in a temporary file, so that no byte of it is fetched twice. A file that has
//! changed since it was listed is an error, never a mixture of two. No lake is written; [`Objects`] are what an index in a store is made of.
//!
//! One list a walk, by folder only where the flat one fails (a folder that must not be listed, a key with `//`). The
//! stamp of a file is its ETag, as digits of a time. Requests are of 1 MB, then 16. Paths that are typed, by people
//! or models, are never taken for addresses.

mod address;
mod connection;
mod listing;
mod lists;
mod objects;
mod remote_file;
mod store;

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

pub use self::address::Address;
pub use self::objects::{Listed, Objects};
use self::remote_file::RemoteFile;
use self::store::Store;
pub use self::store::{Requests, requests};
use crate::source::time_of_change;

/// What is known of a file or folder without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    is_dir: bool,
    is_file: bool,
    bytes: u64,
    changed_ns: u64,
}

impl Metadata {
    /// Whether it is a folder.
    pub fn is_dir(&self) -> bool {
        self.is_dir
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Size in bytes.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// When it was last changed; see [`time_of_change`]. Of a file in a store, a number that its ETag, size and time make: it tells a change.
    pub fn changed_ns(&self) -> u64 {
        self.changed_ns
    }
}

/// Size, kind and time of change of what is at `path`.
///
/// # Errors
/// The operating system's or the store's.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    let Some(address) = Address::of(path)? else {
        let found = fs::metadata(path)?;
        return Ok(Metadata {
            is_dir: found.is_dir(),
            is_file: found.is_file(),
            bytes: found.len(),
            changed_ns: time_of_change(&found),
        });
    };
    Store::of(&address)?.metadata(&address)
}

/// Whether there is a folder at `path`.
pub fn is_dir(path: &Path) -> bool {
    metadata(path).is_ok_and(|found| found.is_dir)
}

/// Whether there is a regular file at `path`.
pub fn is_file(path: &Path) -> bool {
    metadata(path).is_ok_and(|found| found.is_file)
}

/// Whether there is anything at `path`.
pub fn exists(path: &Path) -> bool {
    metadata(path).is_ok()
}

/// Whether `path` is a symbolic link; stores have none.
pub fn is_link(path: &Path) -> bool {
    !Address::is(path) && fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// The paths of what is in a folder, in any order; an entry that cannot be used is an error.
///
/// # Errors
/// The operating system's or the store's.
pub fn read_dir(path: &Path) -> io::Result<Vec<io::Result<PathBuf>>> {
    match Address::of(path)? {
        Some(address) => Store::of(&address)?.read_dir(&address, path),
        None => Ok(fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()),
    }
}

/// Forgets what is known of the store below `path`, so that changes there are seen.
pub fn refresh(path: &Path) {
    if let Ok(Some(address)) = Address::of(path)
        && let Ok(store) = Store::of(&address)
    {
        store.forget(&address);
    }
}

/// Why something of the file or folder at `path` could not be fetched from its store, if so: another time it may be.
pub fn failure(path: &Path) -> Option<io::Error> {
    let address = Address::of(path).ok().flatten()?;
    Store::of(&address).ok()?.failure(&address).map(io::Error::other)
}

/// Whether the file at `path` is one of a store that is too large to be kept: where it is read again it is fetched again.
pub fn is_fetched_again(path: &Path) -> bool {
    Address::is(path) && metadata(path).is_ok_and(|found| found.bytes > remote_file::LARGEST_KEPT_BYTES)
}

/// `path` without links and relative parts; an address as it is.
///
/// # Errors
/// The operating system's, where there is nothing.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    if Address::is(path) { Ok(path.to_path_buf()) } else { fs::canonicalize(path) }
}

/// A file that is open for reading.
pub enum File {
    /// One of this machine.
    Local(fs::File),
    /// One of a store, with the place of the next byte.
    Remote(Arc<RemoteFile>, Arc<Mutex<u64>>),
}

impl File {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// The operating system's or the store's.
    pub fn open(path: &Path) -> io::Result<File> {
        match Address::of(path)? {
            Some(address) => Ok(File::Remote(Store::of(&address)?.file(&address)?, Arc::default())),
            None => Ok(File::Local(fs::File::open(path)?)),
        }
    }

    /// Its size in bytes.
    ///
    /// # Errors
    /// The operating system's.
    pub fn size(&self) -> io::Result<u64> {
        match self {
            File::Local(file) => Ok(file.metadata()?.len()),
            File::Remote(file, _) => Ok(file.bytes()),
        }
    }

    /// A second handle, which shares the place in the file with this one.
    ///
    /// # Errors
    /// The operating system's.
    pub fn try_clone(&self) -> io::Result<File> {
        Ok(match self {
            File::Local(file) => File::Local(file.try_clone()?),
            File::Remote(file, place) => File::Remote(Arc::clone(file), Arc::clone(place)),
        })
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            File::Local(file) => file.read(buffer),
            File::Remote(file, place) => {
                let mut place = place.lock().map_err(|_| poisoned())?;
                let count = file.read_at(*place, buffer)?;
                *place += count as u64;
                Ok(count)
            }
        }
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            File::Local(file) => file.seek(to),
            File::Remote(file, place) => {
                let mut place = place.lock().map_err(|_| poisoned())?;
                let moved = match to {
                    SeekFrom::Start(at) => Some(at),
                    SeekFrom::End(by) => file.bytes().checked_add_signed(by),
                    SeekFrom::Current(by) => place.checked_add_signed(by),
                };
                *place = moved.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "before the file's start"))?;
                Ok(*place)
            }
        }
    }
}

impl Length for File {
    fn len(&self) -> u64 {
        self.size().unwrap_or(0)
    }
}

impl ChunkReader for File {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(match self {
            File::Local(file) => Box::new(file.get_read(start)?),
            File::Remote(file, _) => {
                Box::new(io::BufReader::new(File::Remote(Arc::clone(file), Arc::new(Mutex::new(start)))))
            }
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self {
            File::Local(file) => file.get_bytes(start, length),
            File::Remote(file, _) => {
                let mut bytes = vec![0; length];
                file.fill(start, &mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}

/// A file of this machine with the content of another, for libraries that open paths.
pub enum LocalFile {
    /// The file itself.
    Same(PathBuf),
    /// A copy of a file in a store, which lasts as long as this value.
    Copy(Arc<RemoteFile>, PathBuf),
}

impl LocalFile {
    /// The file at `path`, fetched whole where it is in a store.
    ///
    /// # Errors
    /// The operating system's or the store's.
    pub fn of(path: &Path) -> io::Result<LocalFile> {
        match File::open(path)? {
            File::Local(_) => Ok(LocalFile::Same(path.to_path_buf())),
            File::Remote(file, _) => {
                let copy = file.copy()?.to_path_buf();
                Ok(LocalFile::Copy(file, copy))
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        match self {
            LocalFile::Same(path) | LocalFile::Copy(_, path) => path,
        }
    }
}

fn poisoned() -> io::Error {
    io::Error::other("another thread failed while it read the file")
}
