//! Files that appear whole or not at all.
//!
//! Bytes go to an unfinished file beside the one that is meant. It is flushed, takes the other's name in one step, and the folder
//! is flushed. Dropped before that, it is removed; a killed process leaves it behind, and [`remove_unfinished`] finds it by its
//! name: that of `NAME.EXT` is `.NAME-` with six random letters and digits.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::folder::{folder_of, sync_folder};
use crate::error::{Error, Result};

/// Random letters and digits at the end of an unfinished file's name.
const RANDOM_CHARS: usize = 6;
/// Of the final name so many bytes at the most are in the unfinished one: no file system takes names of more than 255.
const STEM_BYTES: usize = 200;

/// What a file is for: it decides who may read the file, what is flushed, and how errors call the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A part of an index, for everybody whom the process's mask lets read it.
    Index,
    /// As [`Purpose::Index`], one of many written in a row: its folder is flushed by the caller, once for all of them.
    Batch,
    /// For the user alone.
    Private,
    /// A file that the user asked for by name; errors say `save`.
    Output,
    /// Can be lost at any time, and is the user's alone: nothing is flushed.
    Cache,
}

impl Purpose {
    fn action(self) -> &'static str {
        if self == Purpose::Output { "save" } else { "write" }
    }

    #[cfg(unix)]
    fn is_private(self) -> bool {
        matches!(self, Purpose::Private | Purpose::Cache)
    }
}

/// A file in the making.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    purpose: Purpose,
    out: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Starts a file that will lie at `path`; its folder must exist.
    ///
    /// # Errors
    /// [`Error::Io`], also where a pipe, device or folder has that name.
    pub fn create(path: &Path, purpose: Purpose) -> Result<Self> {
        let failed = |error| Error::io(purpose.action(), path, error);
        // Renaming would put a file in the place of a device.
        if path.symlink_metadata().is_ok_and(|found| !found.is_file() && !found.is_symlink()) {
            return Err(failed(io::Error::new(ErrorKind::AlreadyExists, "it is not a file")));
        }
        let prefix = unfinished_prefix(path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).rand_bytes(RANDOM_CHARS);
        #[cfg(unix)]
        if !purpose.is_private() {
            use std::os::unix::fs::PermissionsExt;
            // Unfinished files are private unless this is said; the process's mask still applies.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder_of(path)).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), purpose, out: BufWriter::new(file) })
    }

    /// Where it will lie.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    /// [`Error::Io`] naming the final file.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|error| self.failed(error))
    }

    /// The file itself, for a writer that owns what it writes to; not to be mixed with [`AtomicFile::put`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn handle(&self) -> Result<File> {
        self.out.get_ref().as_file().try_clone().map_err(|error| self.failed(error))
    }

    /// Flushes the file and gives it its name, in the place of one that had it; its length in bytes.
    ///
    /// # Errors
    /// [`Error::Io`]; what had the name is as it was then.
    pub fn replace(self) -> Result<u64> {
        self.replace_after(|| ())
    }

    /// As [`AtomicFile::replace`]; `ready` is called when the new file is on the disk and the old one still stands.
    ///
    /// # Errors
    /// As [`AtomicFile::replace`].
    pub fn replace_after(self, ready: impl FnOnce()) -> Result<u64> {
        let (path, purpose, file, bytes) = self.flushed()?;
        ready();
        file.persist(&path).map_err(|error| Error::io(purpose.action(), &path, error.error))?;
        sync_name(&path, purpose)?;
        Ok(bytes)
    }

    /// As [`AtomicFile::replace`], but only where nothing has the name yet; none where something has.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn claim(self) -> Result<Option<u64>> {
        let (path, purpose, file, bytes) = self.flushed()?;
        match file.persist_noclobber(&path) {
            Ok(_) => {}
            Err(taken) if taken.error.kind() == ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(Error::io(purpose.action(), &path, error.error)),
        }
        sync_name(&path, purpose)?;
        Ok(Some(bytes))
    }

    fn flushed(self) -> Result<(PathBuf, Purpose, NamedTempFile, u64)> {
        let Self { path, purpose, out } = self;
        let failed = |error| Error::io(purpose.action(), &path, error);
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        if purpose != Purpose::Cache {
            file.as_file().sync_all().map_err(failed)?;
        }
        let bytes = file.as_file().metadata().map_err(failed)?.len();
        Ok((path, purpose, file, bytes))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(self.purpose.action(), &self.path, error)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes `bytes` to `path`: all of them or nothing.
///
/// # Errors
/// [`Error::Io`]; a file that was there is as it was then.
pub fn write_atomic(path: &Path, purpose: Purpose, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path, purpose)?;
    file.put(bytes)?;
    file.replace().map(|_| ())
}

/// Removes what killed writers of `path` left behind. Only for whoever holds the lock under which `path` is written; what cannot be
/// removed stays for the next time.
pub fn remove_unfinished(path: &Path) {
    let prefix = unfinished_prefix(path);
    for entry in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        if random.is_some_and(|end| end.len() == RANDOM_CHARS && end.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn sync_name(path: &Path, purpose: Purpose) -> Result<()> {
    match purpose {
        Purpose::Cache | Purpose::Batch => Ok(()),
        Purpose::Index | Purpose::Private | Purpose::Output => sync_folder(folder_of(path)),
    }
}

/// What the names of unfinished files begin with that will be called `path`.
fn unfinished_prefix(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(OsStr::new("file")).to_string_lossy();
    let end = (0..=STEM_BYTES.min(stem.len())).rev().find(|end| stem.is_char_boundary(*end));
    format!(".{}-", &stem[..end.unwrap_or(0)])
}
