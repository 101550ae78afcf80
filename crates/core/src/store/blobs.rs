//! A text cache: a folder with one file per key. Texts that cannot be read or written count as missing: a cache never causes an error.

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
    /// The cache in `folder`, which need not exist. It stores texts of at most `most_bytes`; beyond `most_files` texts it keeps the newest
    /// `most_files` / 2.
    pub fn new(folder: &Path, most_files: usize, most_bytes: u64) -> Self {
        Self { folder: folder.to_path_buf(), most_files, most_bytes }
    }

    /// The text of `key`, if stored. It is as untrusted as any other input.
    pub fn get(&self, key: &str) -> Option<String> {
        String::from_utf8(self.get_bytes(key)?).ok()
    }

    /// The bytes of `key`, if stored; as untrusted as a text.
    pub fn get_bytes(&self, key: &str) -> Option<Vec<u8>> {
        let damaged = |path: &Path, reason| Error::damaged(path, reason);
        let bounds = Bounds { most_bytes: self.most_bytes, links: Links::Followed, damaged };
        bounds.read(&self.path(key)?).ok()?
    }

    /// Stores a text.
    pub fn put(&self, key: &str, text: &str) {
        self.put_bytes(key, text.as_bytes());
    }

    /// Stores bytes.
    pub fn put_bytes(&self, key: &str, bytes: &[u8]) {
        let Some(path) = self.path(key).filter(|_| bytes.len() as u64 <= self.most_bytes) else { return };
        let written = make_folder(&self.folder).and_then(|()| write_atomic(&path, Purpose::Cache, bytes));
        if written.is_ok() {
            self.thin_out();
        }
    }

    /// The path of the text of `key`; `None` if `key` could lead out of the folder.
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
            // Another process may have removed it already.
            let _ = fs::remove_file(path);
        }
    }
}
