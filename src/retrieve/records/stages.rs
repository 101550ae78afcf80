//! How many demands each record violates, and which of them have to be looked at for so many answers.

use super::SOFT;
use super::checks::Check;
use crate::index::TableSet;

/// A record that is not looked at.
const NEVER: u8 = u8::MAX;

/// The records by how many hard demands they violate.
pub(super) struct Stages {
    /// Hard demands violated, by place; [`NEVER`] where there is no record to look at.
    pub violated: Vec<u8>,
    /// What soft demands give, and hard ones that are violated and partly met, by place.
    pub wishes: Vec<f32>,
    /// How many records violate 0, 1, … demands, as far as has to be looked.
    pub counts: Vec<usize>,
    /// The records of these stages.
    pub reached: TableSet,
}

impl Stages {
    /// Those of `all`, up to the stage with which there are `k`.
    pub fn of(all: &TableSet, checks: &[Check<'_>], k: usize) -> Self {
        let capacity = all.capacity();
        let hard = checks.iter().filter(|check| check.demand.hard && !check.refused).count() as u8;
        let mut violated = vec![NEVER; capacity];
        let mut wishes = vec![0.0f32; capacity];
        all.places().for_each(|place| violated[place] = hard);
        for check in checks {
            let (every, mut some) = check.sets(all);
            match (check.demand.hard, check.refused) {
                (true, true) => every.places().for_each(|place| violated[place] += 1),
                (false, true) => every.places().for_each(|place| wishes[place] -= SOFT),
                (true, false) => {
                    every.places().for_each(|place| violated[place] -= 1);
                    some.subtract(&every);
                    some.places().for_each(|place| wishes[place] += check.share(place));
                }
                (false, false) => some.places().for_each(|place| wishes[place] += SOFT * check.share(place)),
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
        let mut reached = all.clone();
        for place in all.places().filter(|place| usize::from(violated[*place]) > last) {
            reached.remove_place(place);
        }
        Self { violated, wishes, counts, reached }
    }
}
