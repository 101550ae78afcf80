//! A share of cases with the interval that it is known to, where cases come in groups that are alike: turns of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::{RESAMPLES, SplitMix};

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// The share, 0..=1.
    pub share: f64,
    /// 2.5th percentile over resamples of the groups.
    pub low: f64,
    /// 97.5th percentile.
    pub high: f64,
}

impl Share {
    /// The share Σ counted / Σ cases of `groups`, each (counted, cases), with the percentile interval of the bootstrap over whole groups (Efron and
    /// Tibshirani 1993): [`RESAMPLES`] resamples by a generator seeded with `seed`. `None` without a case.
    pub fn of(groups: &[(u64, u64)], seed: u64) -> Option<Self> {
        let share = |(counted, cases): (u64, u64)| (cases > 0).then(|| counted as f64 / cases as f64);
        let sum = |a: (u64, u64), b: &(u64, u64)| (a.0 + b.0, a.1 + b.1);
        let whole = share(groups.iter().fold((0, 0), sum))?;
        let mut random = SplitMix(seed);
        let mut resample = || share((0..groups.len()).fold((0, 0), |a, _| sum(a, &groups[random.below(groups.len())])));
        // A resample of groups without any case says nothing.
        let mut shares: Vec<f64> = (0..RESAMPLES).filter_map(|_| resample()).collect();
        shares.sort_by(f64::total_cmp);
        let percentile = |part: f64| shares.get((shares.len() as f64 * part) as usize).or(shares.last()).copied();
        Some(Self { share: whole, low: percentile(0.025).unwrap_or(whole), high: percentile(0.975).unwrap_or(whole) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_groups_and_not_of_their_cases() {
        // 100 groups of ten cases, half of the groups right: the standard error of the share is 0.05, not 0.016.
        let groups: Vec<(u64, u64)> = (0..100).map(|at| (if at % 2 == 0 { 10 } else { 0 }, 10)).collect();
        let share = Share::of(&groups, 7).unwrap();
        assert_eq!(share.share, 0.5);
        assert!((share.high - 0.598).abs() < 0.015 && (share.low - 0.402).abs() < 0.015, "{share:?}");
        assert_eq!(Share::of(&groups, 7), Some(share));
    }

    #[test]
    fn groups_weigh_by_their_cases_and_need_one() {
        assert_eq!(Share::of(&[(1, 1), (0, 3)], 7).unwrap().share, 0.25);
        assert_eq!(Share::of(&[(0, 0), (2, 2)], 7).unwrap(), Share { share: 1.0, low: 1.0, high: 1.0 });
        assert_eq!(Share::of(&[(0, 0)], 7), None);
        assert_eq!(Share::of(&[], 7), None);
    }
}
