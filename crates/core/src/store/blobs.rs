//! Texts by key in a folder, one file each. What cannot be read or written is as if it were not there: a cache is never a reason to
//! fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::atomic::{Purpose, write_atomic};
use super::bounds::{Bounds, Links};
use super::folder::make_folder;
use crate::error::Error;

/// A folder of texts.
#[derive(Debug, Clone)]
pub struct BlobCache {
    folder: PathBuf,
    most_files: usize,
    most_bytes: u64,
}

impl BlobCache {
    /// The cache in `folder`, which need not exist. It keeps texts of at most `most_bytes`, and of more than `most_files` the newer
    /// half of so many.
    pub fn new(folder: &Path, most_files: usize, most_bytes: u64) -> Self {
        Self { folder: folder.to_path_buf(), most_files, most_bytes }
    }

    /// The text of `key`, if there is one. It is not to be trusted more than a text from anywhere.
    pub fn get(&self, key: &str) -> Option<String> {
        let damaged = |path: &Path, reason| Error::damaged(path, reason);
        let bounds = Bounds { most_bytes: self.most_bytes, links: Links::Followed, damaged };
        let bytes = bounds.read(&self.path(key)?).ok()??;
        String::from_utf8(bytes).ok()
    }

    /// Keeps a text.
    pub fn put(&self, key: &str, text: &str) {
        let Some(path) = self.path(key).filter(|_| text.len() as u64 <= self.most_bytes) else { return };
        let written = make_folder(&self.folder).and_then(|()| write_atomic(&path, Purpose::Cache, text.as_bytes()));
        if written.is_ok() {
            self.thin_out();
        }
    }

    /// Where the text of `key` lies; nowhere if `key` could lead out of the folder.
    fn path(&self, key: &str) -> Option<PathBuf> {
        let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain.then(|| self.folder.join(key))
    }

    fn thin_out(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        if files.len() <= self.most_files {
            return;
        }
        files.sort();
        for (_, path) in files.iter().take(files.len() - self.most_files / 2) {
            // Another process may have been faster.
            let _ = fs::remove_file(path);
        }
    }
}
