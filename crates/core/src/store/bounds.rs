//! Checks on files before reading: files of an index may come from anyone.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// Whether a symbolic link is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Followed: an index may consist of links.
    Followed,
    /// Refused: a link could lead to files that the user does not want to show.
    Refused,
}

/// Limits on a file.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Maximum size in bytes.
    pub most_bytes: u64,
    /// Whether it may be a link.
    pub links: Links,
    /// Builds the error for an invalid file, from its path and the reason.
    pub damaged: fn(&Path, String) -> Error,
}

impl Bounds {
    /// Opens the file at `path`; `None` if it does not exist.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Bounds::damaged`] if it is not a regular file, or too large.
    pub fn open(&self, path: &Path) -> Result<Option<File>> {
        let failed = |error| Error::io("read", path, error);
        let found = match self.links {
            Links::Followed => fs::metadata(path),
            Links::Refused => path.symlink_metadata(),
        };
        let found = match found {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.map_err(failed)?,
        };
        if found.is_symlink() {
            return Err((self.damaged)(path, "it is a link to another file".into()));
        }
        // Reading a pipe would never end.
        if !found.is_file() {
            return Err((self.damaged)(path, "it is not a file".into()));
        }
        if found.len() > self.most_bytes {
            return Err(self.too_large(path, found.len()));
        }
        File::open(path).map(Some).map_err(failed)
    }

    /// The bytes of the file at `path`; `None` if it does not exist.
    ///
    /// # Errors
    /// As [`Bounds::open`].
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.open(path)? else { return Ok(None) };
        let mut bytes = Vec::new();
        // Another process may still be appending to it.
        file.take(self.most_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| Error::io("read", path, error))?;
        match bytes.len() as u64 {
            length if length > self.most_bytes => Err(self.too_large(path, length)),
            _ => Ok(Some(bytes)),
        }
    }

    fn too_large(&self, path: &Path, bytes: u64) -> Error {
        (self.damaged)(path, format!("it has {} MB; at most {} are allowed", bytes >> 20, self.most_bytes >> 20))
    }
}
