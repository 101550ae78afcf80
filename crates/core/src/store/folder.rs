//! Folders of durable files.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// The parent folder of `path`; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates `folder` and its missing parents.
///
/// # Errors
/// [`Error::Io`].
pub fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))
}

/// Moves the folder `from` to `to`, which appears whole or not at all; `false` if `to` is there already, which stays as
/// it is. Both are in one file system, and the files of `from` are flushed.
///
/// # Errors
/// [`Error::Io`].
pub fn publish_folder(from: &Path, to: &Path) -> Result<bool> {
    let moved = match fs::rename(from, to) {
        Err(_) if to.exists() => false,
        moved => moved.map(|()| true).map_err(|error| Error::io("write", to, error))?,
    };
    sync_folder(folder_of(to))?;
    Ok(moved)
}

/// Makes renames in `folder` durable: a rename is on disk only when its folder is flushed.
///
/// On Windows it does nothing: a folder cannot be opened as a file there, and the file system journals renames itself.
///
/// # Errors
/// [`Error::Io`].
pub fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let synced = fs::File::open(folder).and_then(|handle| handle.sync_all());
        synced.map_err(|error| Error::io("write", folder, error))?;
    }
    Ok(())
}
