//! Artifacts of earlier runs on the disk, by a hash of all that they depend on; so an artifact of another index is
//! never found.

use std::path::Path;

use lakeward_core::store::BlobCache;

/// Files kept at the most; beyond it the oldest half goes.
const MOST_FILES: usize = 2_000;
/// Bytes of a file at the most.
const MOST_BYTES: u64 = 4 << 20;
/// A file begins with so many hexadecimal digits: the hash of the rest.
const HASH_DIGITS: usize = 64;

/// A folder of artifacts. What is damaged or cannot be read there is made again: a cache is never a reason to fail.
#[derive(Debug, Clone)]
pub struct RunCache {
    files: BlobCache,
}

impl RunCache {
    /// The cache in `folder`, which need not exist.
    pub fn new(folder: &Path) -> Self {
        Self { files: BlobCache::new(folder, MOST_FILES, MOST_BYTES) }
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
        let text = self.files.get(key)?;
        let (hash, artifact) = text.split_at_checked(HASH_DIGITS)?;
        (blake3::hash(artifact.as_bytes()).to_hex().as_str() == hash).then(|| artifact.to_string())
    }

    /// Keeps an artifact.
    pub fn put(&self, key: &str, artifact: &str) {
        self.files.put(key, &format!("{}{artifact}", blake3::hash(artifact.as_bytes()).to_hex()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
}
