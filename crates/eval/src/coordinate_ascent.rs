//! Learns the weights of a linear ranker from judged queries: coordinate ascent on the metric itself, with bagging and
//! cross-validation by groups.
//!
//! One weight after another is set to other values, and a value is kept if the mean nDCG rises (Metzler and Croft, Information
//! Retrieval 2007). Few judged queries make such a search overfit, so weights are learned on several halves of the groups
//! and averaged, sets of queries count equally whatever their sizes, and a change must gain a minimum. Reported scores of a
//! learned ranker are from groups that it was not trained on. Nothing is random: the same pools give the same weights.

use std::collections::{BTreeMap, BTreeSet};

use super::left_out::{LeftOut, PlainRanking};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A candidate of a query: its features and its judgment.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolCandidate {
    /// Feature values, 0..=1, in the order of the ranker's names. If a candidate can be used in several ways (a table with one
    /// operation or another), the values of each way one after the other: the best way counts.
    pub features: Vec<f64>,
    /// Its grade, 0 if it is not relevant.
    pub gain: f64,
    /// Whether the condensed score keeps it.
    pub judged: bool,
}

/// The candidates of one query, in the order that breaks ties.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// The id of the query.
    pub query: String,
    /// Its benchmark, whatever the form of its documents.
    pub benchmark: String,
    /// Its set of judgments; sets count equally.
    pub set: String,
    /// Queries of a group are never on both sides of a split.
    pub group: String,
    /// The candidates.
    pub candidates: Vec<PoolCandidate>,
    /// The grades of all relevant documents, greatest first, including those that are not candidates.
    pub ideal: Vec<f64>,
    /// The rankings of systems without learned weights.
    pub plain: Vec<PlainRanking>,
}

/// Scores of learned weights on queries that they were not trained on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldOut {
    /// The set of judgments.
    pub set: String,
    /// Number of its queries.
    pub queries: usize,
    /// Mean nDCG@10 with the initial weights.
    pub before: f64,
    /// Mean nDCG@10 of queries held out in cross-validation.
    pub cross_validated: f64,
    /// With weights learned from the other benchmarks only, if there are others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// Mean nDCG@10 with the weights learned from all queries; optimistic.
    pub learned: f64,
}

/// Tuned weights with their scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// By feature, 0 or more; their sum is 1.
    pub weights: Vec<f64>,
    /// By set.
    pub held_out: Vec<HeldOut>,
}

/// Cuts of the nDCG that is maximised; several, because a single one is coarse on few queries.
const CUTS: [usize; 3] = [5, 10, 20];
/// Folds of the cross-validation.
const FOLDS: usize = 5;
/// Number of random halves of the groups that weights are learned from.
const BAGS: u64 = 5;
/// Maximum number of training queries per set.
const MAX_QUERIES: usize = 400;
/// Maximum number of rounds over all weights.
const MAX_ROUNDS: usize = 20;
/// Minimum gain in mean nDCG for a change to be kept.
const MIN_GAIN: f64 = 3e-4;
/// Factors that are tried on a weight.
const FACTORS: [f64; 6] = [0.0, 0.5, 0.8, 1.25, 2.0, 4.0];
/// Values that are tried for a weight of 0, as shares of the sum of all weights.
const INITIAL_SHARES: [f64; 3] = [0.02, 0.06, 0.15];

/// Learns the weights of `features` from `pools`, starting with `start`. Weights are rounded to three decimals: more would be false precision.
pub fn learn(pools: &[Pool], start: &[f64], features: &[&str]) -> Tuned {
    let all: Vec<&Pool> = pools.iter().filter(|pool| !pool.ideal.is_empty()).collect();
    let weights = rounded(&bagged(&all, start));
    let sets: BTreeSet<&str> = all.iter().map(|pool| pool.set.as_str()).collect();
    let benchmarks: BTreeSet<&str> = all.iter().map(|pool| pool.benchmark.as_str()).collect();
    let from_others: BTreeMap<&str, Vec<f64>> = benchmarks
        .iter()
        .filter(|_| benchmarks.len() > 1)
        .map(|left_out| (*left_out, bagged(&select(&all, |pool| pool.benchmark != *left_out), start)))
        .collect();
    let folds: Vec<Vec<f64>> =
        (0..FOLDS).map(|fold| bagged(&select(&all, |pool| fold_of(pool) != fold), start)).collect();
    let held_out = sets.iter().map(|set| {
        let of_set = select(&all, |pool| pool.set == *set);
        let cross = of_set.iter().map(|pool| ndcg(pool, &folds[fold_of(pool)])).sum::<f64>() / of_set.len() as f64;
        let from_others = of_set.first().and_then(|pool| from_others.get(pool.benchmark.as_str()));
        HeldOut {
            set: (*set).to_string(),
            queries: of_set.len(),
            before: mean_ndcg(&of_set, start),
            cross_validated: cross,
            left_out: from_others.map(|weights| LeftOut::of(&of_set, weights, features)),
            learned: mean_ndcg(&of_set, &weights),
        }
    });
    Tuned { held_out: held_out.collect(), weights }
}

fn select<'a>(pools: &[&'a Pool], keep: impl Fn(&Pool) -> bool) -> Vec<&'a Pool> {
    pools.iter().copied().filter(|pool| keep(pool)).collect()
}

fn fold_of(pool: &Pool) -> usize {
    (xxh3_64_with_seed(pool.group.as_bytes(), 0) % FOLDS as u64) as usize
}

fn mean_ndcg(pools: &[&Pool], weights: &[f64]) -> f64 {
    pools.iter().map(|pool| ndcg(pool, weights)).sum::<f64>() / pools.len().max(1) as f64
}

fn ndcg(pool: &Pool, weights: &[f64]) -> f64 {
    gains_at(pool, &scores(pool, weights), false, &[10])[0]
}

/// The score of each candidate in its best way.
pub(super) fn scores(pool: &Pool, weights: &[f64]) -> Vec<f64> {
    let dot = |features: &[f64]| features.iter().zip(weights).map(|(value, weight)| value * weight).sum();
    let ways = |candidate: &PoolCandidate| candidate.features.chunks_exact(weights.len()).map(dot).fold(0.0, f64::max);
    pool.candidates.iter().map(ways).collect()
}

/// nDCG at each of `cuts`, with the candidates ranked by `scores`, ties in their order; without unjudged ones if `condensed`.
fn gains_at(pool: &Pool, scores: &[f64], condensed: bool, cuts: &[usize]) -> Vec<f64> {
    let deepest = cuts.iter().copied().max().unwrap_or(0);
    let mut order: Vec<usize> =
        (0..scores.len()).filter(|place| !condensed || pool.candidates[*place].judged).collect();
    let before = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    if order.len() > deepest {
        order.select_nth_unstable_by(deepest, before);
        order.truncate(deepest);
    }
    order.sort_unstable_by(before);
    let gains: Vec<f64> = order.into_iter().map(|place| pool.candidates[place].gain).collect();
    cuts.iter().map(|cut| ndcg_of(&gains, &pool.ideal, *cut)).collect()
}

/// nDCG of the first `cut` of `gains`, best first; the gains of `ideal` are those of all relevant documents, greatest first.
pub(super) fn ndcg_of(gains: &[f64], ideal: &[f64], cut: usize) -> f64 {
    let sum = |gains: &[f64]| -> f64 {
        gains.iter().take(cut).enumerate().map(|(at, gain)| gain / ((at + 2) as f64).log2()).sum()
    };
    let best = sum(ideal);
    if best > 0.0 { sum(gains) / best } else { 0.0 }
}

/// Weights learned on several halves of the groups, averaged; their sum is 1.
fn bagged(pools: &[&Pool], start: &[f64]) -> Vec<f64> {
    let learned: Vec<Vec<f64>> = (0..BAGS)
        .into_par_iter()
        .map(|bag| {
            let part = select(pools, |pool| xxh3_64_with_seed(pool.group.as_bytes(), bag + 1).is_multiple_of(2));
            Ascent::of(if part.is_empty() { pools } else { &part }).climb(&shares(start))
        })
        .collect();
    let sum = |feature: usize| learned.iter().map(|weights| weights[feature]).sum::<f64>();
    shares(&(0..start.len()).map(sum).collect::<Vec<f64>>())
}

fn shares(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| if sum > 0.0 { weight / sum } else { 1.0 / weights.len() as f64 }).collect()
}

fn rounded(weights: &[f64]) -> Vec<f64> {
    weights.iter().map(|weight| (weight * 1e3).round() / 1e3).collect()
}

/// A search for better weights on some pools.
struct Ascent<'a> {
    pools: Vec<&'a Pool>,
    /// Weight of each pool's nDCG: sets count equally, and queries within a set.
    shares: Vec<f64>,
}

impl<'a> Ascent<'a> {
    fn of(pools: &[&'a Pool]) -> Self {
        let mut by_set: BTreeMap<&str, Vec<&Pool>> = BTreeMap::new();
        for pool in pools {
            by_set.entry(&pool.set).or_default().push(pool);
        }
        let sets = by_set.len() as f64;
        let mut ascent = Self { pools: Vec::new(), shares: Vec::new() };
        for (_, mut of_set) in by_set {
            of_set.sort_by_key(|pool| xxh3_64_with_seed(pool.query.as_bytes(), 0));
            of_set.truncate(MAX_QUERIES);
            let share = 1.0 / (sets * of_set.len() as f64);
            ascent.shares.extend(of_set.iter().map(|_| share));
            ascent.pools.extend(of_set);
        }
        ascent
    }

    /// Raw and condensed nDCG, averaged over cuts, queries and sets.
    fn objective(&self, weights: &[f64]) -> f64 {
        let of = |(pool, share): (&&Pool, &f64)| {
            let scores = scores(pool, weights);
            let mean = |condensed| gains_at(pool, &scores, condensed, &CUTS).iter().sum::<f64>() / CUTS.len() as f64;
            let raw = mean(false);
            let all_judged = pool.candidates.iter().all(|candidate| candidate.judged);
            share * (raw + if all_judged { raw } else { mean(true) }) / 2.0
        };
        self.pools.iter().zip(&self.shares).map(of).sum()
    }

    /// Changes weights one by one until no change gains enough.
    fn climb(&self, start: &[f64]) -> Vec<f64> {
        let mut weights = start.to_vec();
        let mut best = self.objective(&weights);
        for _ in 0..MAX_ROUNDS {
            let before = best;
            for feature in 0..weights.len() {
                let sum: f64 = weights.iter().sum();
                let own = weights[feature];
                let tried: Vec<f64> = if own > 1e-6 * sum {
                    FACTORS.iter().map(|factor| own * factor).collect()
                } else {
                    INITIAL_SHARES.iter().map(|share| sum * share).collect()
                };
                let mut best_change = (best + MIN_GAIN, own);
                for weight in tried.into_iter().filter(|weight| sum - own + weight > 1e-9) {
                    weights[feature] = weight;
                    let value = self.objective(&weights);
                    if value > best_change.0 {
                        best_change = (value, weight);
                    }
                }
                weights[feature] = best_change.1;
                if best_change.1 != own {
                    best = best_change.0;
                }
            }
            if best - before < MIN_GAIN {
                break;
            }
        }
        shares(&weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["signal", "noise"];

    /// Pools whose relevant candidates have a greater first feature; the second is noise that starts with most of the weight.
    fn pools() -> Vec<Pool> {
        let noise = |place: u64| (xxh3_64_with_seed(&place.to_le_bytes(), 9) % 1000) as f64 / 1000.0;
        let candidate = |query: u64, place: u64| {
            let relevant = place % 7 == query % 7;
            let signal = if relevant { 0.6 } else { 0.3 } + 0.2 * noise(query * 100 + place);
            PoolCandidate {
                features: vec![signal, noise(query * 1000 + place + 7)],
                gain: f64::from(u8::from(relevant)),
                judged: !place.is_multiple_of(5),
            }
        };
        let pool = |query: u64| {
            let candidates: Vec<PoolCandidate> = (0..60).map(|place| candidate(query, place)).collect();
            let ideal = candidates.iter().filter(|candidate| candidate.gain > 0.0).map(|_| 1.0).collect();
            let set = if query.is_multiple_of(3) { "small" } else { "large" };
            Pool {
                query: query.to_string(),
                benchmark: set.into(),
                set: set.into(),
                group: (query / 2).to_string(),
                candidates,
                ideal,
                plain: Vec::new(),
            }
        };
        (0..40).map(pool).collect()
    }

    #[test]
    fn the_informative_feature_is_found_and_noise_is_dropped() {
        let learned = learn(&pools(), &[0.1, 0.9], &NAMES);
        assert!(learned.weights[0] > 0.9, "{learned:?}");
        assert_eq!(learned.held_out.len(), 2);
        for set in &learned.held_out {
            assert!(set.before < 0.7 && set.cross_validated > 0.9, "{set:?}");
            assert!(set.left_out.as_ref().is_some_and(|set| set.carries && set.learned.ndcg > 0.9), "{set:?}");
        }
        assert_eq!(learn(&pools(), &[0.1, 0.9], &NAMES), learned, "the same pools give the same weights");
    }

    #[test]
    fn a_group_is_never_on_both_sides_of_a_split() {
        let pools = pools();
        let folds: BTreeMap<&str, BTreeSet<usize>> = pools.iter().fold(BTreeMap::new(), |mut folds, pool| {
            folds.entry(pool.group.as_str()).or_insert_with(BTreeSet::new).insert(fold_of(pool));
            folds
        });
        assert!(folds.values().all(|folds| folds.len() == 1));
    }

    #[test]
    fn pools_without_relevant_tables_change_nothing() {
        let mut pools = pools();
        let learned = learn(&pools, &[0.5, 0.5], &NAMES);
        pools.push(Pool { query: "none".into(), ideal: Vec::new(), ..pools[0].clone() });
        assert_eq!(learn(&pools, &[0.5, 0.5], &NAMES), learned);
        assert_eq!(learn(&[], &[1.0, 3.0], &NAMES).weights, [0.25, 0.75]);
    }
}
