//! Metrics of a ranking, as computed by trec_eval (`ndcg_cut`, `map_cut`, `P`, `recall`, `success`, `recip_rank`, `map`).
//!
//! Conventions, including cases that trec_eval leaves open:
//! - A document is relevant from grade 1 on; the gain of a grade is the grade itself, 0 below 1. The ideal ranking
//!   of nDCG holds all relevant documents of the query, found or not.
//! - A document that a ranking repeats counts at its first place; later occurrences are dropped first.
//! - A query without a relevant document is left out of every mean (trec_eval's measures are undefined there). A query that a
//!   run does not answer scores 0 and *is* counted, as with `trec_eval -c`: skipping queries must not raise a mean.
//! - Condensed (Sakai, SIGIR 2007): documents that the benchmark lists as unjudged are dropped from the ranking before it is
//!   scored. Other documents without a judgment count as not relevant in both scores.
//!
//! The order of equal scores is defined by the run ([`super::run`]); here a ranking is a list.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::Grades;

/// Depths at which every ranking is scored.
pub const CUTS: [usize; 5] = [1, 3, 5, 10, 20];

/// Measures of a ranking cut at some depth k; all 0..=1, greater is better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AtDepth {
    /// Relevant documents among the first k, over k.
    pub precision: f64,
    /// Relevant documents among the first k, over all relevant ones.
    pub recall: f64,
    /// 1 if a relevant document is among the first k.
    pub hit: f64,
    /// 1 over the rank of the first relevant document, if it is among the first k.
    pub reciprocal_rank: f64,
    /// Mean over all relevant documents of the precision at their ranks, 0 for those not among the first k.
    pub average_precision: f64,
    /// Σ gain(i) / log₂(i + 1) over the first k, over that of the ideal ranking (Järvelin and Kekäläinen, TOIS 2002).
    pub ndcg: f64,
}

/// Measures of one ranking: cut at each of [`CUTS`], and uncut.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// By depth.
    pub at: BTreeMap<usize, AtDepth>,
    /// 1 over the rank of the first relevant document.
    pub reciprocal_rank: f64,
    /// Mean over all relevant documents of the precision at their ranks.
    pub average_precision: f64,
}

/// The scores of a ranking, raw and condensed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BothScores {
    /// Raw: unjudged documents count as not relevant.
    pub raw: Scores,
    /// Condensed: without unjudged documents.
    pub condensed: Scores,
}

/// Whether a query with these grades can be scored: it has a relevant document.
pub fn is_scorable(grades: &Grades) -> bool {
    grades.values().any(|grade| *grade > 0)
}

/// Scores `ranking`, best first, by `grades`, at [`CUTS`] and at `k`.
/// All 0 if no document is relevant; see [`is_scorable`].
pub fn score(ranking: &[&str], grades: &Grades, k: usize) -> Scores {
    let mut seen = HashSet::with_capacity(ranking.len());
    let gains: Vec<i64> = ranking
        .iter()
        .filter(|document| seen.insert(**document))
        .map(|document| grades.get(*document).copied().unwrap_or(0).max(0))
        .collect();
    let mut ideal: Vec<i64> = grades.values().copied().filter(|grade| *grade > 0).collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let cuts: BTreeMap<usize, AtDepth> =
        CUTS.into_iter().chain([k.max(1)]).map(|cut| (cut, at_depth(&gains, &ideal, cut))).collect();
    let whole = at_depth(&gains, &ideal, gains.len().max(1));
    Scores { at: cuts, reciprocal_rank: whole.reciprocal_rank, average_precision: whole.average_precision }
}

/// [`score`] of the raw ranking, and of the ranking without the documents of `unjudged`.
pub fn score_both(ranking: &[&str], grades: &Grades, unjudged: Option<&HashSet<String>>, k: usize) -> BothScores {
    let raw = score(ranking, grades, k);
    let Some(unjudged) = unjudged.filter(|unjudged| !unjudged.is_empty()) else {
        return BothScores { condensed: raw.clone(), raw };
    };
    // Judged documents are kept, even if the benchmark also lists them as unjudged.
    let judged = |document: &&&str| grades.contains_key(**document) || !unjudged.contains(**document);
    let kept: Vec<&str> = ranking.iter().filter(judged).copied().collect();
    BothScores { condensed: score(&kept, grades, k), raw }
}

/// The ideal ranking: all relevant documents, greatest grade first, ties by id.
pub fn ideal_ranking(grades: &Grades) -> Vec<&str> {
    let mut relevant: Vec<(&str, i64)> =
        grades.iter().filter(|(_, grade)| **grade > 0).map(|(id, grade)| (id.as_str(), *grade)).collect();
    relevant.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    relevant.into_iter().map(|(id, _)| id).collect()
}

fn at_depth(gains: &[i64], ideal: &[i64], k: usize) -> AtDepth {
    let relevant = ideal.len();
    if relevant == 0 {
        return AtDepth::default();
    }
    let (mut found, mut precisions, mut first) = (0usize, 0.0, None);
    for (place, gain) in gains.iter().take(k).enumerate() {
        if *gain > 0 {
            found += 1;
            first.get_or_insert(place);
            precisions += found as f64 / (place + 1) as f64;
        }
    }
    AtDepth {
        precision: found as f64 / k as f64,
        recall: found as f64 / relevant as f64,
        hit: f64::from(u8::from(found > 0)),
        reciprocal_rank: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
        average_precision: precisions / relevant as f64,
        ndcg: discounted(gains, k) / discounted(ideal, k),
    }
}

/// Σ gain(i) / log₂(i + 1), places from 1.
fn discounted(gains: &[i64], k: usize) -> f64 {
    gains.iter().take(k).enumerate().map(|(place, gain)| *gain as f64 / ((place + 2) as f64).log2()).sum()
}

/// The mean of each measure over queries; `None` without queries.
pub fn mean<'a>(scores: impl ExactSizeIterator<Item = &'a Scores>) -> Option<Scores> {
    let count = scores.len();
    let mut sum: Option<Scores> = None;
    for scores in scores {
        match &mut sum {
            Some(sum) => sum.add(scores),
            None => sum = Some(scores.clone()),
        }
    }
    sum.map(|mut sum| {
        sum.each(|value| *value /= count as f64);
        sum
    })
}

impl Scores {
    /// The measures at depth `k`; all 0 for a depth that was not scored.
    pub fn at(&self, k: usize) -> AtDepth {
        self.at.get(&k).copied().unwrap_or_default()
    }

    fn each(&mut self, mut change: impl FnMut(&mut f64)) {
        for cut in self.at.values_mut() {
            let AtDepth { precision, recall, hit, reciprocal_rank, average_precision, ndcg } = cut;
            for value in [precision, recall, hit, reciprocal_rank, average_precision, ndcg] {
                change(value);
            }
        }
        change(&mut self.reciprocal_rank);
        change(&mut self.average_precision);
    }

    fn add(&mut self, other: &Scores) {
        for (k, cut) in &mut self.at {
            let added = other.at(*k);
            cut.precision += added.precision;
            cut.recall += added.recall;
            cut.hit += added.hit;
            cut.reciprocal_rank += added.reciprocal_rank;
            cut.average_precision += added.average_precision;
            cut.ndcg += added.ndcg;
        }
        self.reciprocal_rank += other.reciprocal_rank;
        self.average_precision += other.average_precision;
    }
}

#[cfg(test)]
mod tests;
