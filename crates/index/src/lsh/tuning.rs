//! Chooses the number and depth of trees for one partition and one containment threshold.
//!
//! A domain whose containment of the query is t, at size ratio u = |X| / |Q|, has Jaccard similarity s = t / (u + 1 − t) and is found with
//! probability P(t) = 1 − (1 − sʳ)ᵇ. The paper picks the (b, r) that minimises false positives plus false negatives, ∫₀^t* P +
//! ∫_t*^min(1,u) (1 − P), with u from the partition's greatest cardinality, which favours recall. Here candidates are checked exactly
//! afterwards and a missed one is lost, so false negatives weigh more. Results depend only on (u, t*), on a grid whose cells are computed
//! once each (about 0.1 ms) and cached.

use std::sync::atomic::{AtomicU16, Ordering};

/// The cost of a missed domain in wrong candidates. At size ratio 1 and exactly the threshold, 10 finds 89 to 95% of planted domains and 50
/// finds 96 to 99%; the share of wrong candidates on the tests' skewed lake grows by three percentage points.
const MISS_WEIGHT: f64 = 50.0;

/// Thresholds are rounded down to multiples of 1 / this.
const THRESHOLD_STEPS: usize = 20;
/// Size ratios are rounded up to powers of 2 ^ (1 / this).
const RATIO_STEPS_PER_OCTAVE: f64 = 4.0;
/// log2 of the least size ratio distinguished; queries skip ratios below their threshold, which is at least 2^−4.4.
const LEAST_RATIO_LOG2: f64 = -5.0;
/// 25 octaves: beyond a ratio of a million even all trees at depth 1 are too few.
const RATIO_CELLS: usize = 101;
/// Integration points on either side of the threshold.
const POINTS: usize = 64;

/// Lazily filled table of the best (trees, depth) per size ratio and threshold.
#[derive(Debug)]
pub(super) struct Tuning {
    trees: usize,
    depth: usize,
    /// trees · 8 + depth, or 0 if not computed yet.
    cells: Vec<AtomicU16>,
}

/// The threshold on the grid that is used for a query's threshold.
pub(super) fn usable_threshold(threshold: f64) -> f64 {
    const ROUNDING: f64 = 1e-9;
    let steps = (threshold * THRESHOLD_STEPS as f64 + ROUNDING).floor();
    steps.clamp(1.0, THRESHOLD_STEPS as f64) / THRESHOLD_STEPS as f64
}

impl Tuning {
    pub(super) fn new(trees: usize, depth: usize) -> Self {
        let cells = (0..RATIO_CELLS * THRESHOLD_STEPS).map(|_| AtomicU16::new(0)).collect();
        Tuning { trees, depth, cells }
    }

    /// Trees and depth for size ratio `ratio` and a threshold from [`usable_threshold`].
    pub(super) fn best(&self, ratio: f64, threshold: f64) -> (usize, usize) {
        let step = ((ratio.log2() - LEAST_RATIO_LOG2) * RATIO_STEPS_PER_OCTAVE).ceil();
        let ratio_cell = step.clamp(0.0, (RATIO_CELLS - 1) as f64) as usize;
        let threshold_cell = (threshold * THRESHOLD_STEPS as f64).round() as usize - 1;
        let cell = &self.cells[ratio_cell * THRESHOLD_STEPS + threshold_cell];
        let cached = cell.load(Ordering::Relaxed) as usize;
        if cached > 0 {
            return (cached >> 3, cached & 7);
        }
        let grid_ratio = (ratio_cell as f64 / RATIO_STEPS_PER_OCTAVE + LEAST_RATIO_LOG2).exp2();
        let (trees, depth) = optimum(self.trees, self.depth, grid_ratio, threshold);
        cell.store((trees << 3 | depth) as u16, Ordering::Relaxed);
        (trees, depth)
    }
}

/// The (trees, depth) of least weighted error; among equal ones, the fewest trees of the least depth.
fn optimum(most_trees: usize, most_depth: usize, ratio: f64, threshold: f64) -> (usize, usize) {
    let mut best = (f64::INFINITY, most_trees, 1);
    for depth in 1..=most_depth {
        let wrong = found_area(most_trees, depth, ratio, 0.0, threshold);
        let upper = ratio.min(1.0).max(threshold);
        let right = found_area(most_trees, depth, ratio, threshold, upper);
        for trees in 1..=most_trees {
            let missed = upper - threshold - right[trees - 1];
            let cost = wrong[trees - 1] + MISS_WEIGHT * missed;
            if cost < best.0 {
                best = (cost, trees, depth);
            }
        }
    }
    (best.1, best.2)
}

/// ∫ P(t) dt from `from` to `to`, for 1, 2, … `most_trees` trees.
fn found_area(most_trees: usize, depth: usize, ratio: f64, from: f64, to: f64) -> Vec<f64> {
    let width = (to - from) / POINTS as f64;
    let mut area = vec![0.0; most_trees];
    for point in 0..POINTS {
        let containment = from + (point as f64 + 0.5) * width;
        let jaccard = (containment / (ratio + 1.0 - containment)).min(1.0);
        let tree_misses = 1.0 - jaccard.powi(depth as i32);
        let mut all_miss = 1.0;
        for total in &mut area {
            all_miss *= tree_misses;
            *total += (1.0 - all_miss) * width;
        }
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ratio: f64, containment: f64, (trees, depth): (usize, usize)) -> f64 {
        let jaccard = containment / (ratio + 1.0 - containment);
        1.0 - (1.0 - jaccard.powi(depth as i32)).powi(trees as i32)
    }

    #[test]
    fn larger_partitions_are_searched_more_widely() {
        let tuning = Tuning::new(256, 2);
        let (trees, depth) = tuning.best(100.0, 0.5);
        assert_eq!((trees, depth), (256, 1));
        let (_, depth_of_equals) = tuning.best(1.0, 0.8);
        assert!(depth_of_equals > 1);
        assert_eq!(tuning.best(100.0, 0.5), (trees, depth), "cached");
    }

    #[test]
    fn domains_at_the_threshold_are_found_where_trees_allow_it() {
        for (ratio, threshold) in [(1.0, 0.3), (1.0, 0.5), (1.0, 0.8), (1.0, 0.9), (4.0, 0.5), (8.0, 0.8), (30.0, 0.8)]
        {
            let choice = Tuning::new(256, 2).best(ratio, threshold);
            let chance = found(ratio, threshold, choice);
            println!("ratio {ratio}, threshold {threshold}: {choice:?} finds {chance:.3} at the threshold");
            assert!(chance > 0.9, "{choice:?} finds {chance} at {ratio}, {threshold}");
        }
    }

    #[test]
    fn any_input_gives_a_possible_choice() {
        let tuning = Tuning::new(256, 2);
        for ratio in [0.0, 1e-300, 0.05, 1.0, 1e12, f64::INFINITY] {
            for threshold in [f64::NEG_INFINITY, -1.0, 0.0, 0.051, 0.5, 1.0, 7.0] {
                let (trees, depth) = tuning.best(ratio, usable_threshold(threshold));
                assert!((1..=256).contains(&trees) && (1..=2).contains(&depth));
            }
        }
        assert_eq!(usable_threshold(0.3), 0.3);
        assert_eq!(usable_threshold(0.34), 0.3);
    }
}
