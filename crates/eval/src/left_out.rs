//! Whether a learned ranking carries over to a benchmark that it was not learned from.
//!
//! A benchmark is left out whole, in every form of its documents, and the weights learned from the others rank its queries. Beside
//! them stand the rankings that need no learning: the plain baselines, and each feature by itself. Weights that lose more than
//! [`TOLERANCE`] to the best of these have learned the benchmarks, not the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::coordinate_ascent::{Pool, PoolCandidate, ndcg_of, scores};

/// Most nDCG@10 that weights may lose to the best ranking without learning.
pub const TOLERANCE: f64 = 0.01;
/// The rank to which rankings are scored.
const CUT: usize = 10;

/// A ranking of a query's documents by a system without learned weights.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainRanking {
    /// The system.
    pub system: String,
    /// Gain of each document, best first, and whether the condensed score keeps it.
    pub documents: Vec<(f64, bool)>,
}

/// Measures of a ranking, means over queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measures {
    /// nDCG@10.
    pub ndcg: f64,
    /// nDCG@10 without unjudged documents.
    pub condensed: f64,
    /// Average precision at 10, as the benchmarks' papers report it.
    pub average_precision: f64,
}

/// A ranking that needs no learning, with its measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unlearned {
    /// The baseline, or the feature.
    pub name: String,
    /// Its measures.
    pub measures: Measures,
}

/// The measures of a set of judgments whose benchmark was left out of learning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Of weights learned from the other benchmarks.
    pub learned: Measures,
    /// Of the plain baselines, greatest nDCG first.
    pub baselines: Vec<Unlearned>,
    /// Of every feature by itself, greatest nDCG first.
    pub channels: Vec<Unlearned>,
    /// Whether the learned weights reach the best of them, raw and condensed, within [`TOLERANCE`].
    pub carries: bool,
}

impl LeftOut {
    /// Of `pools`, with `weights` learned elsewhere; `features` are the names of the weights.
    pub fn of(pools: &[&Pool], weights: &[f64], features: &[&str]) -> Self {
        let learned = by_weights(pools, weights);
        let systems = pools.first().map_or(&[][..], |pool| pool.plain.as_slice());
        let baseline = |(place, first): (usize, &PlainRanking)| {
            let ranked =
                |pool: &&Pool| pool.plain.get(place).map_or(&[][..], |plain| plain.documents.as_slice()).to_vec();
            Unlearned { name: first.system.clone(), measures: mean(pools, ranked) }
        };
        let channel = |(place, name): (usize, &&str)| {
            let mut alone = vec![0.0; weights.len()];
            alone[place] = 1.0;
            Unlearned { name: (*name).to_string(), measures: by_weights(pools, &alone) }
        };
        let baselines = best_first(systems.iter().enumerate().map(baseline).collect());
        let channels = best_first(features.iter().enumerate().map(channel).collect());
        let best = |measure: fn(&Measures) -> f64| {
            baselines.iter().chain(&channels).map(|one| measure(&one.measures)).fold(0.0, f64::max)
        };
        let reaches = |measure: fn(&Measures) -> f64| measure(&learned) >= best(measure) - TOLERANCE;
        let carries = reaches(|measures| measures.ndcg) && reaches(|measures| measures.condensed);
        Self { learned, baselines, channels, carries }
    }
}

fn best_first(mut all: Vec<Unlearned>) -> Vec<Unlearned> {
    all.sort_by(|a, b| b.measures.ndcg.total_cmp(&a.measures.ndcg).then(a.name.cmp(&b.name)));
    all
}

fn by_weights(pools: &[&Pool], weights: &[f64]) -> Measures {
    mean(pools, |pool| {
        let mut ranked: Vec<(f64, &PoolCandidate)> = scores(pool, weights).into_iter().zip(&pool.candidates).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().map(|(_, candidate)| (candidate.gain, candidate.judged)).collect()
    })
}

/// The mean measures of `pools`, each ranked by `ranked`.
fn mean(pools: &[&Pool], ranked: impl Fn(&&Pool) -> Vec<(f64, bool)>) -> Measures {
    let mut sum = Measures::default();
    for pool in pools {
        let ranked = ranked(pool);
        let gains: Vec<f64> = ranked.iter().map(|(gain, _)| *gain).collect();
        let judged: Vec<f64> = ranked.iter().filter(|(_, judged)| *judged).map(|(gain, _)| *gain).collect();
        sum.ndcg += ndcg_of(&gains, &pool.ideal, CUT);
        sum.condensed += ndcg_of(&judged, &pool.ideal, CUT);
        sum.average_precision += average_precision(&gains, pool.ideal.len());
    }
    let share = |sum: f64| sum / pools.len().max(1) as f64;
    Measures { ndcg: share(sum.ndcg), condensed: share(sum.condensed), average_precision: share(sum.average_precision) }
}

/// Σ precision at the ranks of relevant documents among the first ten, over all `relevant` ones (trec_eval's `map_cut_10`).
fn average_precision(gains: &[f64], relevant: usize) -> f64 {
    let (mut found, mut sum) = (0.0, 0.0);
    for (place, gain) in gains.iter().take(CUT).enumerate() {
        if *gain > 0.0 {
            found += 1.0;
            sum += found / (place + 1) as f64;
        }
    }
    sum / relevant.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One query whose first candidate is relevant and whose last is unjudged; a plain system ranks the relevant one second.
    fn pool() -> Pool {
        let candidate =
            |features: [f64; 2], gain: f64, judged: bool| PoolCandidate { features: features.into(), gain, judged };
        Pool {
            query: "q".into(),
            benchmark: "b".into(),
            set: "b join".into(),
            group: "g".into(),
            candidates: vec![
                candidate([0.9, 0.2], 1.0, true),
                candidate([0.5, 0.1], 0.0, true),
                candidate([0.1, 0.8], 0.0, false),
            ],
            ideal: vec![1.0],
            plain: vec![PlainRanking { system: "bm25".into(), documents: vec![(0.0, true), (1.0, true)] }],
        }
    }

    #[test]
    fn weights_carry_only_if_no_ranking_without_learning_is_better() {
        let pool = pool();
        let of = |weights: [f64; 2]| LeftOut::of(&[&pool], &weights, &["values", "names"]);
        let good = of([1.0, 0.0]);
        assert!(good.carries && good.learned.ndcg == 1.0 && good.channels[0].name == "values");
        assert!((good.baselines[0].measures.average_precision - 0.5).abs() < 1e-12);
        let second = 1.0 / 3f64.log2();
        assert!((good.baselines[0].measures.ndcg - second).abs() < 1e-12);
        let bad = of([0.0, 1.0]);
        assert!(!bad.carries && (bad.learned.ndcg - second).abs() < 1e-12);
        assert_eq!(bad.learned.condensed, 1.0, "the table before it was not judged");
    }

    #[test]
    fn a_baseline_that_is_better_counts_like_a_channel() {
        let mut pool = pool();
        pool.plain[0].documents.reverse();
        assert!(!LeftOut::of(&[&pool], &[0.0, 1.0], &[]).carries);
        assert!(LeftOut::of(&[&pool], &[1.0, 0.0], &[]).carries);
    }
}
