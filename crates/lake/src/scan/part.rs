//! A table of which some columns are sketched here and the others elsewhere: its end, and the whole again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Samples, TableScan};
use crate::key_sample::KeySample;

/// Every `of`th column of a table, from column `number` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ColumnPart {
    /// From 0 on.
    pub number: u32,
    /// The number of parts.
    pub of: u32,
}

impl ColumnPart {
    pub(super) fn has(self, place: usize) -> bool {
        place % self.of.max(1) as usize == self.number as usize
    }
}

impl TableScan {
    /// The same table, of which only the columns of `part` are sketched, and sampled by its keys.
    pub(crate) fn of_part(self, part: ColumnPart) -> Self {
        Self { part: Some(part), ..self }
    }

    /// Ends the part of a table, whose rows were all read: what [`joined`](Self::joined) needs of it.
    pub(crate) fn end_part(mut self) -> Self {
        let Some(part) = self.part else { return self };
        if matches!(self.samples, Samples::Open(..)) {
            self.choose_keys_so_far();
            self.add_to_samples();
        }
        if let Samples::Chosen(samples, cells) = &mut self.samples {
            samples.iter_mut().for_each(KeySample::end);
            cells.iter_mut().for_each(|cells| *cells = Vec::new());
        }
        let builders = std::mem::take(&mut self.builders).into_iter().enumerate();
        self.builders = builders.filter(|(place, _)| part.has(*place)).map(|(_, builder)| builder).collect();
        self
    }

    /// The scan of a whole table from those of all its parts, in their order; `None` where they do not fit each other.
    pub(crate) fn joined(parts: Vec<Self>) -> Option<Self> {
        let (of, columns) = (parts.len(), parts.first()?.names.len());
        let counts = parts.iter().map(|part| part.builders.len());
        let is_empty = counts.clone().all(|count| count == 0);
        let is_whole = counts.enumerate().all(|(number, count)| count == (number..columns).step_by(of).count());
        if !(is_empty || is_whole) || !parts.iter().all(|part| part.begins_as(&parts[0])) {
            return None;
        }
        let (mut builders, mut samples) = (Vec::new(), Vec::new());
        let mut whole = None;
        for part in parts {
            builders.push(part.builders.into_iter());
            samples.push(match part.samples {
                Samples::None => Vec::new(),
                Samples::Chosen(samples, _) => samples,
                Samples::Open(..) => return None,
            });
            whole.get_or_insert((part.limits, part.names, part.writings));
        }
        let (limits, names, writings) = whole?;
        let builders = (0..columns).filter_map(|place| builders[place % of].next()).collect();
        let chosen = samples.first()?.len();
        let mut samples: Vec<_> = samples.into_iter().map(Vec::into_iter).collect();
        let joined = (0..chosen).map(|_| KeySample::joined(samples.iter_mut().filter_map(Iterator::next).collect()));
        let joined: Vec<KeySample> = joined.collect::<Option<_>>()?;
        if samples.iter_mut().any(|left| left.next().is_some()) {
            return None;
        }
        let samples =
            if joined.is_empty() { Samples::None } else { Samples::Chosen(joined, vec![Vec::new(); columns]) };
        Some(Self { limits, names, writings, builders, samples, part: None })
    }

    /// Which columns are to be sketched: of a part its own and those of keys, and all until the keys are chosen.
    pub(super) fn needed_columns(&self) -> Vec<bool> {
        let keys = match (&self.part, &self.samples) {
            (None, _) | (_, Samples::Open(..)) => return vec![true; self.names.len()],
            (_, Samples::None) => &[],
            (_, Samples::Chosen(samples, _)) => samples.as_slice(),
        };
        let is_key = |place| keys.iter().any(|sample| sample.key.contains(&place));
        let is_own = |place| self.part.is_some_and(|part| part.has(place));
        (0..self.names.len()).map(|place| is_own(place) || is_key(place)).collect()
    }
}
