//! Which blocks of a file or section are ready to be read, known to all threads.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A bit for each block, set once and never cleared. Who sees a bit sees what was written before it was set.
#[derive(Debug)]
pub(super) struct BlockSet {
    bits: Vec<AtomicU64>,
    missing: AtomicUsize,
    is_full: AtomicBool,
}

impl BlockSet {
    /// None of `count` blocks.
    pub(super) fn new(count: usize) -> Self {
        let bits = (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { bits, missing: AtomicUsize::new(count), is_full: AtomicBool::new(false) }
    }

    /// The first of `blocks` that is not in the set.
    #[inline]
    pub(super) fn first_missing(&self, mut blocks: Range<usize>) -> Option<usize> {
        if self.is_full.load(Ordering::Acquire) {
            return None;
        }
        blocks.find(|block| self.bits[block / 64].load(Ordering::Acquire) & (1 << (block % 64)) == 0)
    }

    pub(super) fn insert(&self, block: usize) {
        let bit = 1 << (block % 64);
        let before = self.bits[block / 64].fetch_or(bit, Ordering::AcqRel);
        if before & bit == 0 && self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.is_full.store(true, Ordering::Release);
        }
    }
}
