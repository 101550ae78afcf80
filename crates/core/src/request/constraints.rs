//! The constraints of a request besides its operation: topic, places, period, granularity, required columns and exclusions; and which of
//! them a later turn of the conversation replaced.

use std::collections::BTreeMap;

use crate::answer::in_order;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Period;

/// The constraints in force after a turn. Names as the analyst wrote them, shortened; empty if none was given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = in_order::<Self>)]
pub struct Constraints {
    /// The topic of the data: `bus ridership`.
    pub topic: Option<String>,
    /// Names of places, one per entry: `Dublin`, `Trinidad and Tobago`.
    pub geography: Vec<String>,
    /// The period.
    pub time_range: Option<Period>,
    /// What one row of the answer represents, part by part: `route`, `month`.
    pub granularity: Vec<String>,
    /// Columns that the answer must have, in the order requested.
    pub required_columns: Vec<String>,
    /// What must not be in the answer: tables, columns, kinds of rows.
    pub excluded: Vec<String>,
    /// The turn, from 1, that set each constraint in force. The key is the field name; for each column and exclusion it is
    /// `required_columns: x` and `excluded: x`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set_in_turn: BTreeMap<String, usize>,
}

impl Constraints {
    /// The granularity in one word: `route-month`.
    pub fn grain(&self) -> Option<String> {
        (!self.granularity.is_empty()).then(|| self.granularity.join("-"))
    }

    /// Whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        let Self { topic, geography, time_range, granularity, required_columns, excluded, .. } = self;
        topic.is_none()
            && geography.is_empty()
            && time_range.is_none()
            && granularity.is_empty()
            && required_columns.is_empty()
            && excluded.is_empty()
    }
}

/// An earlier constraint that a turn replaced or withdrew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Override {
    /// The field of [`Constraints`].
    pub constraint: String,
    /// Its value before.
    pub was: String,
    /// The turn, from 1, that had set it.
    pub set_in_turn: usize,
}
