//! Answers of models on the disk, by the key of their question, so that the same question costs nothing twice.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Answers kept at the most; beyond it the oldest half goes.
const MOST_ANSWERS: usize = 4_096;
/// Bytes of an answer at the most.
const MOST_BYTES: u64 = 64 << 10;

/// A folder of answers. What cannot be read or written there is asked again: a cache is never a reason to fail.
#[derive(Debug, Clone)]
pub struct AnswerCache {
    folder: PathBuf,
}

impl AnswerCache {
    /// The cache in `folder`, which need not exist.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// The answer to the question with this key. It is not to be trusted more than a fresh one.
    pub fn get(&self, key: &str) -> Option<String> {
        let path = self.folder.join(key);
        let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        if size > MOST_BYTES { None } else { fs::read_to_string(path).ok() }
    }

    /// Keeps an answer.
    pub fn put(&self, key: &str, answer: &str) {
        if answer.len() as u64 <= MOST_BYTES && self.write(key, answer).is_ok() {
            self.thin_out();
        }
    }

    fn write(&self, key: &str, answer: &str) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(answer.as_bytes())?;
        file.persist(self.folder.join(key))?;
        Ok(())
    }

    fn thin_out(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut answers: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        if answers.len() <= MOST_ANSWERS {
            return;
        }
        answers.sort();
        for (_, path) in answers.iter().take(answers.len() - MOST_ANSWERS / 2) {
            // Another process may have been faster.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let cache = AnswerCache::new(&folder.path().join("answers"));
        assert_eq!(cache.get("a"), None);
        cache.put("a", "{}");
        assert_eq!(cache.get("a").as_deref(), Some("{}"));
        cache.put("b", &"x".repeat(100_000));
        assert_eq!(cache.get("b"), None);
        for number in 0..MOST_ANSWERS + 1 {
            fs::write(folder.path().join("answers").join(format!("n{number}")), "1").unwrap();
        }
        cache.put("c", "{}");
        let left = fs::read_dir(folder.path().join("answers")).unwrap().count();
        assert_eq!((left, cache.get("c").is_some()), (MOST_ANSWERS / 2, true));
    }
}
