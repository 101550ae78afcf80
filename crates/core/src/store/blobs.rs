//! A cache: a folder with one file per key. Files that cannot be read or written count as missing: a cache never causes
//! an error.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::atomic::{AtomicFile, Purpose};
use super::bounds::{Bounds, Links};
use super::folder::make_folder;
use crate::error::{Error, Result};

/// A folder of files by key.
#[derive(Debug, Clone)]
pub struct BlobCache {
    folder: PathBuf,
    /// Ends the name of a file, with its point.
    ending: &'static str,
    most_files: usize,
    most_bytes: u64,
    most_total_bytes: u64,
    in_use: Duration,
}

impl BlobCache {
    /// The cache in `folder`, which need not exist. It stores texts of at most `most_bytes`; beyond `most_files` texts it keeps the newest
    /// `most_files` / 2.
    pub fn new(folder: &Path, most_files: usize, most_bytes: u64) -> Self {
        let in_use = Duration::ZERO;
        Self { folder: folder.to_path_buf(), ending: "", most_files, most_bytes, most_total_bytes: u64::MAX, in_use }
    }

    /// A cache of files that are read by their path, with names that end in `ending`. While they have more than
    /// `most_total_bytes`, those used least recently go, but none that was used within `in_use`: it may be about to be
    /// read.
    pub fn of_files(folder: &Path, ending: &'static str, most_total_bytes: u64, in_use: Duration) -> Self {
        Self { ending, most_total_bytes, in_use, ..Self::new(folder, usize::MAX, u64::MAX) }
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

    /// The file of `key`, if stored, which counts as used now.
    pub fn file(&self, key: &str) -> Option<PathBuf> {
        let path = self.path(key)?;
        File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now())).ok()?;
        Some(path)
    }

    /// Stores a text.
    pub fn put(&self, key: &str, text: &str) {
        self.put_bytes(key, text.as_bytes());
    }

    /// Stores bytes.
    pub fn put_bytes(&self, key: &str, bytes: &[u8]) {
        if bytes.len() as u64 <= self.most_bytes {
            self.put_file(key, |mut file, path| file.write_all(bytes).map_err(|error| Error::io("write", path, error)));
        }
    }

    /// Stores what `write` writes into a file, for the path that it gets; returns the path, if that succeeds.
    pub fn put_file(&self, key: &str, write: impl FnOnce(File, &Path) -> Result<()>) -> Option<PathBuf> {
        let path = self.path(key)?;
        let written = || -> Result<()> {
            make_folder(&self.folder)?;
            let file = AtomicFile::create(&path, Purpose::Cache)?;
            write(file.handle()?, &path)?;
            file.replace().map(|_| ())
        };
        written().ok()?;
        self.thin_out();
        Some(path)
    }

    /// Stores the file at `from`, which never changes, as a second name of it; nothing where the file system has none.
    pub fn link(&self, key: &str, from: &Path) {
        let Some(path) = self.path(key) else { return };
        if make_folder(&self.folder).is_ok() && fs::hard_link(from, path).is_ok() {
            self.thin_out();
        }
    }

    /// The path of the file of `key`; `None` if `key` could lead out of the folder.
    fn path(&self, key: &str) -> Option<PathBuf> {
        let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain.then(|| self.folder.join(format!("{key}{}", self.ending)))
    }

    fn thin_out(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let files = entries.flatten().filter_map(|entry| {
            let found = entry.metadata().ok()?;
            Some((found.modified().ok()?, found.len(), entry.path()))
        });
        let mut files: Vec<(SystemTime, u64, PathBuf)> = files.collect();
        files.sort();
        let most_files = if files.len() > self.most_files { self.most_files / 2 } else { self.most_files };
        let (mut count, mut bytes) = (files.len(), files.iter().map(|(_, bytes, _)| bytes).sum::<u64>());
        for (used, size, path) in files {
            let is_in_use = !self.in_use.is_zero() && used.elapsed().is_ok_and(|age| age < self.in_use);
            if count <= most_files && bytes <= self.most_total_bytes || is_in_use {
                return;
            }
            // Another process may have removed it already.
            let _ = fs::remove_file(path);
            (count, bytes) = (count - 1, bytes - size);
        }
    }
}
