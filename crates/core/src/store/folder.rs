//! Folders of files that last.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// The folder that `path` lies in; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes `folder` and those above it, where they do not exist.
///
/// # Errors
/// [`Error::Io`].
pub fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))
}

/// Makes the names in `folder` survive a failure of the machine: a rename is on the disk only when the folder is.
///
/// Windows cannot open a folder as a file, and its file system journals renames itself: there is nothing to do there.
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
