//! What a request demands of the answer besides the operation: topic, places, period, granularity, columns wanted and things
//! unwanted; and what a later turn of a conversation replaced.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::answer::in_order;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The constraints in force after a turn. Text as the analyst wrote it, in short; nothing where nothing was said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = in_order::<Self>)]
pub struct Constraints {
    /// What the data is about: `bus ridership`.
    pub topic: Option<String>,
    /// Where: `Dublin, Kildare`.
    pub geography: Option<String>,
    /// When.
    pub time_range: Option<TimeRange>,
    /// What one row of the answer stands for: `route-month`.
    pub granularity: Option<String>,
    /// Columns that the answer must have, in the order they were asked for.
    pub required_columns: Vec<String>,
    /// What must not be in the answer: tables, columns, kinds of rows.
    pub excluded: Vec<String>,
    /// For each constraint in force the turn that set it, from 1: by its field's name; each column and each exclusion as
    /// `required_columns: x` and `excluded: x`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set_in_turn: BTreeMap<String, usize>,
}

impl Constraints {
    /// Whether nothing was demanded.
    pub fn is_empty(&self) -> bool {
        let Self { topic, geography, time_range, granularity, required_columns, excluded, .. } = self;
        topic.is_none()
            && geography.is_none()
            && time_range.is_none()
            && granularity.is_none()
            && required_columns.is_empty()
            && excluded.is_empty()
    }
}

/// An earlier constraint that a turn replaced or took back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Override {
    /// The field of [`Constraints`].
    pub constraint: String,
    /// What it was.
    pub was: String,
    /// The turn that had set it, from 1.
    pub set_in_turn: usize,
}

/// A period in years, or in days where they were named: `2015 onward`, `2010-2020`, `2012`, `until 1999`, `2017, 2021`,
/// `latest year`. Written and read as such text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TimeRange(String);

impl TimeRange {
    /// The period that `text` describes; kept as it is written.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// First and last year, each where it is bounded: (2015, none) for `2015 onward`; none at all for `latest year`.
    pub fn years(&self) -> (Option<i32>, Option<i32>) {
        let numbers: Vec<i32> = self
            .0
            .split(|c: char| !c.is_ascii_digit())
            .filter(|digits| digits.len() == 4)
            .filter_map(|digits| i32::from_str(digits).ok())
            .collect();
        let (Some(first), Some(last)) = (numbers.iter().min().copied(), numbers.iter().max().copied()) else {
            return (None, None);
        };
        let says = |words: &[&str]| words.iter().any(|word| self.0.contains(word));
        if says(&["onward", "since", "after"]) {
            return (Some(first + i32::from(says(&["after"]))), None);
        }
        if says(&["until", "before", "up to"]) {
            return (None, Some(last - i32::from(says(&["before"]))));
        }
        (Some(first), Some(last))
    }
}

impl fmt::Display for TimeRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_knows_its_years() {
        let years = |text: &str| TimeRange::new(text).years();
        assert_eq!(years("2015 onward"), (Some(2015), None));
        assert_eq!(years("after 2005"), (Some(2006), None));
        assert_eq!(years("until 1999"), (None, Some(1999)));
        assert_eq!(years("2010-2020"), (Some(2010), Some(2020)));
        assert_eq!(years("2017, 2021"), (Some(2017), Some(2021)));
        assert_eq!(years("June-August 2021"), (Some(2021), Some(2021)));
        assert_eq!(years("latest year"), (None, None));
    }
}
