//! The evidence that a table is scored by: its actual values, or their upper bounds.

use super::count::Counts;
use super::tuples::QueryTuples;
use crate::weights::TupleWeights;

/// The evidence that a table is scored by; each part is in 0..=1.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// Share of the query's combinations that are rows of the table.
    pub containment: f64,
    /// Weight of those by their rarity, as a share of the query's total weight.
    pub rarity: f64,
    /// Share of the table's combinations that are also the query's.
    pub of_candidate: f64,
    /// Distinct combinations per row of the table.
    pub uniqueness: f64,
    /// Mean likeness of the columns' names.
    pub names: f64,
    /// Whether every pair of columns may match by chance.
    pub accidental: bool,
}

impl Evidence {
    /// Whether this is enough for an answer: a few years that match measurements are not, but one year of a panel of many years
    /// is, which is a small share of the query but may be all of the candidate.
    pub fn is_enough(&self, weights: &TupleWeights) -> bool {
        let shares_enough =
            self.containment >= weights.least_containment || self.of_candidate >= weights.least_of_candidate;
        self.containment > 0.0 && shares_enough
    }

    /// The greater of both, part by part.
    pub fn greatest(&self, other: &Self) -> Self {
        Self {
            containment: self.containment.max(other.containment),
            rarity: self.rarity.max(other.rarity),
            of_candidate: self.of_candidate.max(other.of_candidate),
            uniqueness: self.uniqueness.max(other.uniqueness),
            names: self.names.max(other.names),
            accidental: self.accidental && other.accidental,
        }
    }

    /// The score as of a join on one column, without the term for meaning, which combinations do not have; 0..=1. It grows with
    /// each part, so that the upper bounds of the parts give an upper bound of the score.
    pub fn score(&self, weights: &TupleWeights) -> f64 {
        let values = weights.by_rarity * self.rarity + weights.by_share * self.containment;
        let score = values * (1.0 + weights.of_candidate * self.of_candidate + weights.uniqueness * self.uniqueness)
            + self.names * (weights.names_and_values * values.sqrt() + weights.names);
        let score = score / weights.greatest;
        if self.accidental { score * weights.accidental } else { score }
    }
}

/// The greatest share that `shared` can be of a table's combinations, of which there are at least `least`; 1 where `least` is
/// unknown (0).
pub fn at_most_of(shared: u64, least: u64) -> f64 {
    if least == 0 { 1.0 } else { (shared as f64 / least as f64).min(1.0) }
}

/// Upper bounds of the number and weight of combinations that contain any n values of one key column.
pub struct MostOf(Vec<(u64, f64)>);

impl MostOf {
    /// The bounds for the values of key column `column`.
    pub fn parts(tuples: &QueryTuples, column: usize) -> Self {
        let parts = &tuples.columns[column];
        let of = |place: usize| parts.tuples_of(place);
        let mut counts: Vec<u64> = (0..parts.hashes.len()).map(|place| of(place).len() as u64).collect();
        let weight = |tuple: &u32| f64::from(tuples.weights[*tuple as usize]);
        let mut weights: Vec<f64> = (0..parts.hashes.len()).map(|place| of(place).iter().map(weight).sum()).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        weights.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut sums = vec![(0, 0.0)];
        for (count, weight) in counts.into_iter().zip(weights) {
            let (counted, weighed) = sums.last().copied().unwrap_or_default();
            sums.push((counted + count, weighed + weight));
        }
        Self(sums)
    }

    /// The bounds for any `values` values.
    pub fn of(&self, values: usize) -> (u64, f64) {
        self.0[values.min(self.0.len() - 1)]
    }
}

impl Counts {
    /// |Q ∩ X| / |Q| on combinations, 0..=1.
    pub fn containment(&self, tuples: &QueryTuples) -> f64 {
        self.shared as f64 / tuples.len().max(1) as f64
    }

    /// |Q ∩ X| / |X| on combinations, 0..=1.
    pub fn of_candidate(&self) -> f64 {
        (self.compared.1 as f64 / self.candidate_tuples.max(1) as f64).min(1.0)
    }
}
