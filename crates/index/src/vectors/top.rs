//! The best k of many scored ids.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A scored id; greater is better: by score, then by smaller id.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) score: f32,
    pub(super) id: u32,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.id.cmp(&self.id))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the best `k` of the pushed ids: a heap whose root is the worst one.
#[derive(Debug)]
pub(super) struct Top {
    k: usize,
    kept: BinaryHeap<Reverse<Scored>>,
}

impl Top {
    /// `k` must be at least 1.
    pub(super) fn new(k: usize) -> Self {
        Top { k, kept: BinaryHeap::new() }
    }

    /// Whether a push would keep it.
    #[inline]
    pub(super) fn wants(&self, id: u32, score: f32) -> bool {
        self.kept.len() < self.k || self.kept.peek().is_some_and(|worst| Scored { score, id } > worst.0)
    }

    /// Adds an id if it is among the best.
    pub(super) fn push(&mut self, id: u32, score: f32) {
        let offered = Scored { score, id };
        if self.kept.len() < self.k {
            self.kept.push(Reverse(offered));
        } else if let Some(mut worst) = self.kept.peek_mut()
            && offered > worst.0
        {
            *worst = Reverse(offered);
        }
    }

    /// The score of the worst one, once there are `k`: what others have to reach.
    pub(super) fn reached(&self) -> f32 {
        if self.kept.len() < self.k {
            f32::NEG_INFINITY
        } else {
            self.kept.peek().map_or(f32::NEG_INFINITY, |worst| worst.0.score)
        }
    }

    /// Best first.
    pub(super) fn into_sorted(self) -> Vec<(u32, f32)> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(scored)| (scored.id, scored.score)).collect()
    }
}
