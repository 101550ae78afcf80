//! What a conversation wants of datasets: one notion for tables and for records of a catalogue.

use std::fmt;

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::message;
use crate::message::{AND, Message, OR};
use crate::respect::Respect;

/// What a dataset must or should be, or must not be, in one respect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Demand {
    /// In which respect.
    pub role: Respect,
    /// The value.
    pub value: Demanded,
    /// Whether it is what the dataset must not have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub avoid: bool,
    /// Whether it was stated and not only inferred; it then weighs more.
    pub hard: bool,
    /// Whether it may not be what was meant: then it weighs as it is stated, but no record counts as violating it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubtful: bool,
    /// Whether it was set by a command and not read from words; it then filters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub filters: bool,
    /// The turn that set it, from 1.
    pub turn: usize,
    /// The words it was read from.
    pub said: String,
}

/// The value of a demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Demanded {
    /// What its words say, as the catalogue has no value for them.
    #[serde(rename = "said")]
    Words,
    /// All of these things; each is a list of equivalent catalogue values, written exactly as in the catalogue.
    Values(Vec<Vec<String>>),
    /// Any one of these catalogue values will do.
    AnyOf(Vec<String>),
    /// Years covered.
    Period(RequestedYears),
}

impl Demanded {
    /// The things demanded, of all of which a dataset must have one of the values; nothing where no catalogue value is known.
    pub fn things(&self) -> &[Vec<String>] {
        match self {
            Self::Values(things) => things,
            Self::AnyOf(values) => std::slice::from_ref(values),
            Self::Words | Self::Period(_) => &[],
        }
    }
}

impl Demand {
    /// Whether a record that does not meet it violates what was set or stated.
    pub fn is_held_to(&self) -> bool {
        self.filters || (self.hard && !self.doubtful)
    }

    /// It as `role: value`; with a question mark where it is inferred that the catalogue means it, or in doubt that it is meant.
    pub fn line(&self) -> String {
        let inferred = self.value != Demanded::Words && !self.is_held_to();
        format!("{}: {self}{}", self.role, if inferred { "?" } else { "" })
    }

    /// It in words: `Ontario and Quebec`, `2015 onward`, `not PDF`.
    pub fn message(&self) -> Message {
        let value = match &self.value {
            Demanded::Words => Message::from(&self.said),
            Demanded::Values(things) => Message::list(AND, things.iter().filter_map(|ways| ways.first())),
            Demanded::AnyOf(values) => Message::list(OR, values),
            Demanded::Period(years) => years.message(),
        };
        if self.avoid { message!("not {}", value) } else { value }
    }

    /// A wish that is only words yet.
    pub fn in_words(role: Respect, words: impl Into<String>, turn: usize) -> Self {
        Self {
            role,
            value: Demanded::Words,
            avoid: false,
            hard: false,
            doubtful: false,
            filters: false,
            turn,
            said: words.into(),
        }
    }
}

/// The JSON Schema of a list of demands, as published in `schemas/demands.schema.json`.
pub fn demands_schema() -> Schema {
    schema_for!(Vec<Demand>)
}

/// The words of what is wanted in a role, in the order in which it was said.
pub fn in_role<'d>(demands: &'d [Demand], role: &'d Respect) -> impl Iterator<Item = &'d str> {
    demands.iter().filter(move |demand| demand.role == *role && !demand.avoid).map(|demand| demand.said.as_str())
}

/// The words that say what the data should be about: topics, and subjects of the catalogue that they were found to be.
pub fn topic_words(demands: &[Demand]) -> impl Iterator<Item = &str> {
    let about = |demand: &&Demand| matches!(demand.role, Respect::Topic | Respect::Subject) && !demand.avoid;
    demands.iter().filter(about).map(|demand| demand.said.as_str())
}

impl fmt::Display for Demand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message())
    }
}

/// Which years a dataset must cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestedYears {
    /// All of `from..=to`, possibly more.
    Cover {
        /// First year.
        from: i32,
        /// Last year.
        to: i32,
    },
    /// These years and no others.
    Exactly {
        /// First year.
        from: i32,
        /// Last year.
        to: i32,
    },
    /// This year and the later ones; best if it begins there.
    StartsIn(i32),
    /// This year and the earlier ones; best if it ends there.
    EndsIn(i32),
}

impl RequestedYears {
    /// First and last year, none where open.
    pub fn bounds(self) -> (Option<i32>, Option<i32>) {
        match self {
            Self::Cover { from, to } | Self::Exactly { from, to } => (Some(from), Some(to)),
            Self::StartsIn(year) => (Some(year), None),
            Self::EndsIn(year) => (None, Some(year)),
        }
    }
}

impl RequestedYears {
    /// It in words: `1980 to 1985`, `2015 onward`.
    pub fn message(self) -> Message {
        match self {
            Self::Cover { from, to } if from == to => from.into(),
            Self::Cover { from, to } => message!("{} to {}", from, to),
            Self::Exactly { from, to } if from == to => message!("{} and no other years", from),
            Self::Exactly { from, to } => message!("{} to {} and no other years", from, to),
            Self::StartsIn(year) => message!("{} onward", year),
            Self::EndsIn(year) => message!("up to {}", year),
        }
    }
}

impl fmt::Display for RequestedYears {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message())
    }
}
