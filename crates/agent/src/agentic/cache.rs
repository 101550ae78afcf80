//! Artifacts of earlier runs on the disk, by a hash of all that they depend on: a changed index has other keys.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files kept at the most; beyond it the oldest half goes.
const MOST_FILES: usize = 2_000;
/// Bytes of a file at the most.
const MOST_BYTES: u64 = 4 << 20;
/// A file begins with so many hexadecimal digits: the hash of the rest.
const HASH_DIGITS: usize = 64;

/// A folder of artifacts. What is damaged or cannot be read there is made again: a cache is never a reason to fail.
#[derive(Debug, Clone)]
pub struct RunCache {
    folder: PathBuf,
}

impl RunCache {
    /// The cache in `folder`, which need not exist.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// The key of an artifact that depends on `parts`, in this order.
    pub fn key(parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The artifact of a key, if it is there as it was written.
    pub fn get(&self, key: &str) -> Option<String> {
        let path = self.folder.join(key);
        let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        if size > MOST_BYTES {
            return None;
        }
        let text = fs::read_to_string(path).ok()?;
        let (hash, artifact) = text.split_at_checked(HASH_DIGITS)?;
        (blake3::hash(artifact.as_bytes()).to_hex().as_str() == hash).then(|| artifact.to_string())
    }

    /// Keeps an artifact.
    pub fn put(&self, key: &str, artifact: &str) {
        if artifact.len() as u64 + (HASH_DIGITS as u64) <= MOST_BYTES && self.write(key, artifact).is_ok() {
            self.thin_out();
        }
    }

    fn write(&self, key: &str, artifact: &str) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(blake3::hash(artifact.as_bytes()).to_hex().as_bytes())?;
        file.write_all(artifact.as_bytes())?;
        file.persist(self.folder.join(key))?;
        Ok(())
    }

    fn thin_out(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        if files.len() <= MOST_FILES {
            return;
        }
        files.sort();
        for (_, path) in files.iter().take(files.len() - MOST_FILES / 2) {
            // Another process may have been faster.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_as_if_they_were_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let cache = RunCache::new(&folder.path().join("runs"));
        let key = RunCache::key(&["a", "b"]);
        assert!(cache.get(&key).is_none() && key != RunCache::key(&["ab", ""]));
        cache.put(&key, "{}");
        assert_eq!(cache.get(&key).as_deref(), Some("{}"));
        let path = folder.path().join("runs").join(&key);
        for damaged in ["", "{}", "é", &"é".repeat(40), &("0".repeat(64) + "{}")] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(cache.get(&key), None, "{damaged}");
        }
        fs::write(&path, [0xff; 100]).unwrap();
        assert_eq!(cache.get(&key), None);
    }

    #[test]
    fn the_folder_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let cache = RunCache::new(folder.path());
        for number in 0..MOST_FILES + 1 {
            fs::write(folder.path().join(format!("n{number}")), "1").unwrap();
        }
        cache.put("c", "{}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MOST_FILES / 2);
        assert!(cache.get("c").is_some());
    }
}
