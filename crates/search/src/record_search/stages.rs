//! How many filters each record violates, which of them have to be looked at for so many answers, and what the other demands give.

use super::checks::Check;
use crate::weights::RecordWeights;
use lakeward_index::TableSet;

/// The records by how many filters they violate.
pub(super) struct Stages {
    /// The records that violate 0, 1, … filters, as far as has to be looked.
    pub levels: Vec<TableSet>,
    /// What demands that do not filter give, and filters that are violated and partly met, by place. Empty where nothing does.
    pub soft_scores: Vec<f32>,
    /// The most that they can give to a record that violates no filter.
    pub greatest_soft_score: f32,
    /// Records that meet all that was set or stated.
    pub matching: usize,
    /// All of them.
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
        if passing.len() < k.max(1) {
            return Self { matching, ..Self::relaxed(all, checks, k, weights) };
        }
        // The usual case, without a look at those that violate a filter.
        let soft_scores = soft_scores(checks, &passing, weights, false);
        let given = checks.iter().filter(|check| !check.demand.filters && !check.refused);
        let greatest_soft_score = given.map(|check| weight_of(check, weights)).sum();
        Self { levels: vec![passing.clone()], soft_scores, greatest_soft_score, matching, reached: passing }
    }

    /// The same where those that violate nothing are too few.
    fn relaxed(all: TableSet, checks: &[Check<'_>], k: usize, weights: &RecordWeights) -> Self {
        let mut none = all.clone();
        none.clear();
        let mut levels = vec![all.clone()];
        for check in checks.iter().filter(|check| check.demand.filters) {
            let (every, _) = check.sets(&all);
            levels.push(none.clone());
            for level in (1..levels.len()).rev() {
                let (fewer, more) = levels.split_at_mut(level);
                fewer[level - 1].move_where(&every, check.refused, &mut more[0]);
            }
        }
        let mut found = 0;
        let needed = levels.iter().position(|level| {
            found += level.len();
            found >= k.max(1)
        });
        let last = needed.or_else(|| levels.iter().rposition(|level| !level.is_empty())).unwrap_or(0);
        levels.truncate(last + 1);
        let mut reached = none;
        levels.iter().for_each(|level| reached.unite(level));
        let soft_scores = soft_scores(checks, &reached, weights, true);
        Self { levels, soft_scores, greatest_soft_score: f32::INFINITY, matching: 0, reached }
    }

    /// The filters that the record at `place` of `reached` violates.
    #[inline]
    pub fn violated(&self, place: usize) -> usize {
        self.levels.iter().position(|level| level.contains_place(place)).unwrap_or(0)
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

/// What demands that do not filter give to records of `among`, and, where records may violate them, filters that are met in part; by place.
fn soft_scores(checks: &[Check<'_>], among: &TableSet, weights: &RecordWeights, violable: bool) -> Vec<f32> {
    let mut scores = Vec::new();
    let gives = |check: &&Check<'_>| !check.demand.filters || (violable && !check.refused);
    for check in checks.iter().filter(gives) {
        if scores.is_empty() {
            scores = vec![0.0; among.capacity()];
        }
        let weight = weight_of(check, weights);
        match (check.demand.filters, check.refused) {
            (true, _) => {
                let (every, mut some) = check.sets(among);
                some.subtract(&every);
                some.places().for_each(|place| scores[place] += check.share(place));
            }
            (false, true) => check.sets(among).0.places().for_each(|place| scores[place] -= weight),
            (false, false) => check.add_shares(among, weight, &mut scores),
        }
    }
    scores
}
