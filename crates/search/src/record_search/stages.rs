//! How many demands each record violates, and which of them have to be looked at for so many answers.

use super::checks::Check;
use lakeward_index::TableSet;

/// A record that is not looked at.
const NEVER: u8 = u8::MAX;

/// The records by how many hard demands they violate.
pub(super) struct Stages {
    /// Hard demands violated, by place; [`NEVER`] where there is no record to look at. Empty where all of `reached` violate none.
    violated: Vec<u8>,
    /// What soft demands give, and hard ones that are violated and partly met, by place. Empty where nothing does.
    wishes: Vec<f32>,
    /// How many records violate 0, 1, … demands, as far as has to be looked.
    pub counts: Vec<usize>,
    /// The records of these stages.
    pub reached: TableSet,
}

impl Stages {
    /// Those of `all`, up to the stage with which there are `k`; a soft demand that is met counts `soft`.
    pub fn of(all: TableSet, checks: &[Check<'_>], k: usize, soft: f32) -> Self {
        let mut passing = all.clone();
        for check in checks.iter().filter(|check| check.demand.hard) {
            let (every, _) = check.sets(&all);
            match check.refused {
                true => passing.subtract(&every),
                false => passing.intersect(&every),
            }
        }
        let count = passing.len();
        if count < k.max(1) {
            return Self::relaxed(all, checks, k, soft);
        }
        // The usual case, without a look at those that violate something.
        let mut wishes = Vec::new();
        for check in checks.iter().filter(|check| !check.demand.hard) {
            wishes.resize(all.capacity(), 0.0);
            wish(check, &passing, &mut wishes, soft);
        }
        Self { violated: Vec::new(), wishes, counts: vec![count], reached: passing }
    }

    /// The same where those that violate nothing are too few.
    fn relaxed(all: TableSet, checks: &[Check<'_>], k: usize, soft: f32) -> Self {
        let capacity = all.capacity();
        let hard = checks.iter().filter(|check| check.demand.hard && !check.refused).count() as u8;
        let mut violated = vec![NEVER; capacity];
        let mut wishes = vec![0.0f32; capacity];
        all.places().for_each(|place| violated[place] = hard);
        for check in checks {
            let (every, mut some) = check.sets(&all);
            match (check.demand.hard, check.refused) {
                (true, true) => every.places().for_each(|place| violated[place] += 1),
                (true, false) => {
                    every.places().for_each(|place| violated[place] -= 1);
                    some.subtract(&every);
                    some.places().for_each(|place| wishes[place] += check.share(place));
                }
                (false, _) => wish(check, &all, &mut wishes, soft),
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
        Self { violated, wishes, counts, reached }
    }

    /// The hard demands that the record at `place` of `reached` violates.
    #[inline]
    pub fn violated(&self, place: usize) -> usize {
        self.violated.get(place).map_or(0, |violated| usize::from(*violated))
    }

    /// What the soft demands give to the record at `place`, and the hard ones that it violates and meets in part.
    #[inline]
    pub fn wishes(&self, place: usize) -> f32 {
        self.wishes.get(place).copied().unwrap_or(0.0)
    }
}

/// Adds what a soft demand gives to records of `among`.
fn wish(check: &Check<'_>, among: &TableSet, wishes: &mut [f32], soft: f32) {
    let (every, some) = check.sets(among);
    match check.refused {
        true => every.places().for_each(|place| wishes[place] -= soft),
        false => some.places().for_each(|place| wishes[place] += soft * check.share(place)),
    }
}
