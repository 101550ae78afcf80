//! Whether one system is better than another: the paired bootstrap over queries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of resamples.
pub const RESAMPLES: usize = 10_000;
/// Default seed of the resamples.
pub const SEED: u64 = 5;

/// The difference of two systems on the same queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairedDifference {
    /// Queries compared.
    pub queries: u64,
    /// Mean of the first's score minus the second's.
    pub mean: f64,
    /// 2.5th percentile of the mean over resamples.
    pub low: f64,
    /// 97.5th percentile.
    pub high: f64,
    /// Two-sided p of no difference: twice the share of resampled means on the other side of 0, at most 1.
    pub p: f64,
}

/// Paired bootstrap (Efron and Tibshirani 1993; Sakai, SIGIR 2006) over `differences`, one per query: [`RESAMPLES`] resamples with
/// replacement by a generator seeded with `seed`; percentile interval. `None` without queries.
pub fn paired_bootstrap(differences: &[f64], seed: u64) -> Option<PairedDifference> {
    let count = differences.len();
    if count == 0 {
        return None;
    }
    let mut random = SplitMix(seed);
    let resampled = |random: &mut SplitMix| {
        let sum: f64 = (0..count).map(|_| differences[random.below(count)]).sum();
        sum / count as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled(&mut random)).collect();
    means.sort_by(f64::total_cmp);
    let percentile = |share: f64| means[((RESAMPLES as f64 * share) as usize).min(RESAMPLES - 1)];
    let not_above = means.iter().filter(|mean| **mean <= 0.0).count();
    let not_below = means.iter().filter(|mean| **mean >= 0.0).count();
    // One is added to count and resamples, so that p is never 0 (Davison and Hinkley 1997, 4.2).
    let tail = (not_above.min(not_below) + 1) as f64 / (RESAMPLES + 1) as f64;
    Some(PairedDifference {
        queries: count as u64,
        mean: differences.iter().sum::<f64>() / count as f64,
        low: percentile(0.025),
        high: percentile(0.975),
        p: (2.0 * tail).min(1.0),
    })
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): small, seeded, the same everywhere.
pub(super) struct SplitMix(pub u64);

impl SplitMix {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly below `bound`, by the high half of a product (Lemire 2019; the bias is below bound / 2⁶⁴).
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A random event of this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// A random element of `all`; `None` if it is empty.
    pub fn one<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.below(all.len())) }
    }

    /// Puts `all` into a random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_difference_is_distinguished_from_none() {
        let clear: Vec<f64> = (0..40).map(|at| 0.1 + f64::from(at % 5) * 0.01).collect();
        let found = paired_bootstrap(&clear, SEED).unwrap();
        assert!((found.mean - 0.12).abs() < 1e-12);
        assert!(found.low > 0.11 && found.high < 0.13 && found.p < 0.001, "{found:?}");
        let none: Vec<f64> = (0..40).map(|at| if at % 2 == 0 { 0.1 } else { -0.1 }).collect();
        let found = paired_bootstrap(&none, SEED).unwrap();
        assert!(found.low < 0.0 && found.high > 0.0 && found.p > 0.5, "{found:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_interval_and_equal_systems_have_none() {
        let differences = [0.3, -0.1, 0.2, 0.0, 0.4];
        assert_eq!(paired_bootstrap(&differences, 7), paired_bootstrap(&differences, 7));
        let equal = paired_bootstrap(&[0.0; 9], 7).unwrap();
        assert_eq!((equal.mean, equal.low, equal.high, equal.p), (0.0, 0.0, 0.0, 1.0));
        assert_eq!(paired_bootstrap(&[], 7), None);
    }

    #[test]
    fn the_interval_is_that_of_the_normal_approximation_for_many_queries() {
        // Standard error of the mean of ±1 at even odds over 400 queries: 0.05.
        let differences: Vec<f64> = (0..400).map(|at| if at % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let found = paired_bootstrap(&differences, SEED).unwrap();
        assert!((found.high - 0.098).abs() < 0.006 && (found.low + 0.098).abs() < 0.006, "{found:?}");
    }
}
