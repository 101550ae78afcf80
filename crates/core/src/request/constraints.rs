//! What a request demands of the answer besides the operation: topic, places, period, granularity, columns wanted and things
//! unwanted; and what a later turn of a conversation replaced.

use std::collections::BTreeMap;

use crate::answer::in_order;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Period;

/// The constraints in force after a turn. Names as the analyst wrote them, in short; nothing where nothing was said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = in_order::<Self>)]
pub struct Constraints {
    /// What the data is about: `bus ridership`.
    pub topic: Option<String>,
    /// Where: names of places, each of one: `Dublin`, `Trinidad and Tobago`.
    pub geography: Vec<String>,
    /// When.
    pub time_range: Option<Period>,
    /// What one row of the answer stands for, part by part: `route`, `month`.
    pub granularity: Vec<String>,
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
    /// What one row of the answer stands for, in one word: `route-month`.
    pub fn grain(&self) -> Option<String> {
        (!self.granularity.is_empty()).then(|| self.granularity.join("-"))
    }

    /// Whether nothing was demanded.
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
