//! A disk cache of model answers by the key of their question, so that the same question is paid for only once.

use std::path::Path;

use lakeward_core::store::BlobCache;

/// Maximum number of answers; beyond it the oldest half is removed.
const MOST_ANSWERS: usize = 4_096;
/// Maximum bytes of an answer.
const MOST_BYTES: u64 = 64 << 10;

/// The answers in `folder`, which need not exist. A cached answer is as untrusted as a fresh one.
pub fn answer_cache(folder: &Path) -> BlobCache {
    BlobCache::new(folder, MOST_ANSWERS, MOST_BYTES)
}
