//! Atomic file writes: a file appears complete or not at all.
//!
//! Bytes go to a temporary file beside the target. It is flushed and renamed to the target in one step, then the folder is flushed. If
//! dropped before that, it is removed; if the process is killed, it stays behind, and [`remove_unfinished`] finds it by its name: `.NAME-`
//! plus six random letters and digits for a target `NAME.EXT`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::folder::{folder_of, sync_folder};
use crate::error::{Error, Result};

/// Random letters and digits at the end of an unfinished file's name.
const RANDOM_CHARS: usize = 6;
/// Maximum bytes of the target's stem in the temporary name: no file system accepts names of more than 255 bytes.
const STEM_BYTES: usize = 200;

/// What a file is for: this decides who may read it, what is flushed, and the verb in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A part of an index, readable by everyone whom the umask allows.
    Index,
    /// As [`Purpose::Index`], one of many files: the caller flushes the folder once for all of them.
    Batch,
    /// Readable by the user only.
    Private,
    /// A file whose name the user gave; errors say `save`.
    Output,
    /// Private, and may be lost at any time: nothing is flushed.
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

/// A file being written.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    purpose: Purpose,
    out: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Creates the temporary file for the target `path`; its folder must exist.
    ///
    /// # Errors
    /// [`Error::Io`], also if `path` is a pipe, device or folder.
    pub fn create(path: &Path, purpose: Purpose) -> Result<Self> {
        let failed = |error| Error::io(purpose.action(), path, error);
        // Renaming would replace a device by a file.
        if path.symlink_metadata().is_ok_and(|found| !found.is_file() && !found.is_symlink()) {
            return Err(failed(io::Error::new(ErrorKind::AlreadyExists, "it is not a file")));
        }
        let prefix = unfinished_prefix(path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).rand_bytes(RANDOM_CHARS);
        #[cfg(unix)]
        if !purpose.is_private() {
            use std::os::unix::fs::PermissionsExt;
            // Temporary files are private by default; the umask still applies.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder_of(path)).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), purpose, out: BufWriter::new(file) })
    }

    /// The target path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    /// [`Error::Io`] naming the target file.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|error| self.failed(error))
    }

    /// A handle to the temporary file, for a writer that owns its output; do not mix with [`AtomicFile::put`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn handle(&self) -> Result<File> {
        self.out.get_ref().as_file().try_clone().map_err(|error| self.failed(error))
    }

    /// Flushes the file and renames it to the target, replacing an existing file; returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Io`]; an existing target is unchanged then.
    pub fn replace(self) -> Result<u64> {
        self.replace_after(|| ())
    }

    /// As [`AtomicFile::replace`]; calls `ready` when the new file is on disk and the old one has not been replaced yet.
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

    /// As [`AtomicFile::replace`], but only if the target does not exist; `None` if it does.
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

/// Writes `bytes` to `path`, all or nothing.
///
/// # Errors
/// [`Error::Io`]; an existing file is unchanged then.
pub fn write_atomic(path: &Path, purpose: Purpose, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path, purpose)?;
    file.put(bytes)?;
    file.replace().map(|_| ())
}

/// Removes temporary files that killed writers of `path` left behind. The caller must hold the lock under which `path` is written. Files
/// that cannot be removed are left for the next call.
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

/// Prefix of the names of temporary files with target `path`.
fn unfinished_prefix(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(OsStr::new("file")).to_string_lossy();
    let end = (0..=STEM_BYTES.min(stem.len())).rev().find(|end| stem.is_char_boundary(*end));
    format!(".{}-", &stem[..end.unwrap_or(0)])
}
