//! Fusing ranked lists of several channels into one.

use std::collections::BTreeMap;

use super::weights::FusionWeights;

/// Reciprocal rank fusion: score(t) = Σᵢ wᵢ / (k + rankᵢ(t)), ranks from 1.
/// Cormack, Clarke and Büttcher, SIGIR 2009, use k = 60 and every wᵢ = 1.
///
/// `rankings`: one (weight, items best first) per channel. Returns each item once with its score, best first, ties by item.
pub fn reciprocal_rank_fusion<T: Ord + Copy>(rankings: &[(f64, Vec<T>)], weights: &FusionWeights) -> Vec<(T, f64)> {
    let mut scores: BTreeMap<T, f64> = BTreeMap::new();
    for (weight, items) in rankings {
        for (place, item) in items.iter().enumerate() {
            *scores.entry(*item).or_default() += weight / (weights.rank_constant + place as f64 + 1.0);
        }
    }
    let mut fused: Vec<(T, f64)> = scores.into_iter().collect();
    // The map is ordered by item and the sort is stable: ties stay in that order.
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: FusionWeights = FusionWeights { rank_constant: 60.0 };

    #[test]
    fn an_item_that_both_channels_find_wins() {
        let fused = reciprocal_rank_fusion(&[(1.0, vec!["a", "b", "c"]), (1.0, vec!["d", "b"])], &WEIGHTS);
        assert_eq!(fused[0].0, "b");
        assert!((fused[0].1 - 2.0 / 62.0).abs() < 1e-12);
        assert_eq!(fused.iter().map(|(item, _)| *item).collect::<Vec<_>>(), ["b", "a", "d", "c"]);
    }

    proptest::proptest! {
        #[test]
        fn an_item_never_loses_by_rising(place in 1usize..10) {
            let mut list: Vec<usize> = (0..10).collect();
            let before = reciprocal_rank_fusion(&[(1.0, list.clone())], &WEIGHTS).into_iter().find(|(item, _)| *item == place).map(|x| x.1);
            list.swap(place, place - 1);
            let after = reciprocal_rank_fusion(&[(1.0, list)], &WEIGHTS).into_iter().find(|(item, _)| *item == place).map(|x| x.1);
            proptest::prop_assert!(after > before);
        }
    }
}
