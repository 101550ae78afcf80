//! How many filters each record violates, which of them have to be looked at for so many answers, and what the other demands give.

use super::checks::Check;
use crate::weights::RecordWeights;
use lakeward_index::TableSet;

/// A record that is not looked at.
const NEVER: u8 = u8::MAX;

/// The records by how many filters they violate.
pub(super) struct Stages {
    /// Filters violated, by place; [`NEVER`] where there is no record to look at. Empty where all of `reached` violate none.
    violated: Vec<u8>,
    /// What demands that do not filter give, and filters that are violated and partly met, by place. Empty where nothing does.
    soft_scores: Vec<f32>,
    /// The most that they can give to a record that violates no filter.
    pub greatest_soft_score: f32,
    /// How many records violate 0, 1, … filters, as far as has to be looked.
    pub counts: Vec<usize>,
    /// Records that meet all that was set or stated.
    pub matching: usize,
    /// The records of these stages.
    pub reached: TableSet,
}

impl Stages {
    /// Those of `all`, up to the stage with which there are `k`.
    pub fn of(all: TableSet, checks: &[Check<'_>], k: usize, weights: &RecordWeights) -> Self {
        let (mut passing, mut meeting) = (all.clone(), all.clone());
        for check in checks.iter().filter(|check| check.demand.is_held_to()) {
            let (every, _) = check.sets(&all);
            let keep = |set: &mut TableSet| match check.refused {
                true => set.subtract(&every),
                false => set.intersect(&every),
            };
            keep(&mut meeting);
            if check.demand.filters {
                keep(&mut passing);
            }
        }
        let matching = meeting.len();
        let count = passing.len();
        if count < k.max(1) {
            return Self { matching, ..Self::relaxed(all, checks, k, weights) };
        }
        // The usual case, without a look at those that violate a filter.
        let mut soft_scores = Vec::new();
        for check in checks.iter().filter(|check| !check.demand.filters) {
            soft_scores.resize(all.capacity(), 0.0);
            add_soft_scores(check, &passing, &mut soft_scores, weights);
        }
        let given = checks.iter().filter(|check| !check.demand.filters && !check.refused);
        let greatest_soft_score = given.map(|check| weight_of(check, weights)).sum();
        Self { violated: Vec::new(), soft_scores, greatest_soft_score, counts: vec![count], matching, reached: passing }
    }

    /// The same where those that violate nothing are too few.
    fn relaxed(all: TableSet, checks: &[Check<'_>], k: usize, weights: &RecordWeights) -> Self {
        let capacity = all.capacity();
        let filters = checks.iter().filter(|check| check.demand.filters && !check.refused).count() as u8;
        let mut violated = vec![NEVER; capacity];
        let mut soft_scores = vec![0.0f32; capacity];
        all.places().for_each(|place| violated[place] = filters);
        for check in checks {
            let (every, mut some) = check.sets(&all);
            match (check.demand.filters, check.refused) {
                (true, true) => every.places().for_each(|place| violated[place] += 1),
                (true, false) => {
                    every.places().for_each(|place| violated[place] -= 1);
                    some.subtract(&every);
                    some.places().for_each(|place| soft_scores[place] += check.share(place));
                }
                (false, _) => add_soft_scores(check, &all, &mut soft_scores, weights),
            }
        }
        let mut counts = vec![0usize; usize::from(NEVER)];
        all.places().for_each(|place| counts[usize::from(violated[place])] += 1);
        let mut found = 0;
        let needed = counts.iter().position(|count| {
            found += count;
            found >= k.max(1)
        });
        let last = needed.or_else(|| counts.iter().rposition(|count| *count > 0)).unwrap_or(0);
        counts.truncate(last + 1);
        let mut reached = all;
        for (place, _) in violated.iter().enumerate().filter(|(_, violated)| usize::from(**violated) > last) {
            reached.remove_place(place);
        }
        Self { violated, soft_scores, greatest_soft_score: f32::INFINITY, matching: 0, counts, reached }
    }

    /// The filters that the record at `place` of `reached` violates.
    #[inline]
    pub fn violated(&self, place: usize) -> usize {
        self.violated.get(place).map_or(0, |violated| usize::from(*violated))
    }

    /// What demands that do not filter give to the record at `place`, and filters that it violates and meets in part.
    #[inline]
    pub fn soft_score(&self, place: usize) -> f32 {
        self.soft_scores.get(place).copied().unwrap_or(0.0)
    }
}

/// What a demand that does not filter gives to a record that meets it.
fn weight_of(check: &Check<'_>, weights: &RecordWeights) -> f32 {
    if check.demand.hard { weights.stated_demand } else { weights.soft_demand }
}

/// Adds what a demand that does not filter gives to records of `among`.
fn add_soft_scores(check: &Check<'_>, among: &TableSet, soft_scores: &mut [f32], weights: &RecordWeights) {
    let weight = weight_of(check, weights);
    match check.refused {
        true => check.sets(among).0.places().for_each(|place| soft_scores[place] -= weight),
        false => check.add_shares(among, weight, soft_scores),
    }
}
