//! Answers of models on the disk, by the key of their question, so that the same question costs nothing twice.

use std::path::Path;

use lakeward_core::store::BlobCache;

/// Answers kept at the most; beyond it the oldest half goes.
const MOST_ANSWERS: usize = 4_096;
/// Bytes of an answer at the most.
const MOST_BYTES: u64 = 64 << 10;

/// The answers in `folder`, which need not exist. One is not to be trusted more than a fresh one.
pub fn answer_cache(folder: &Path) -> BlobCache {
    BlobCache::new(folder, MOST_ANSWERS, MOST_BYTES)
}
