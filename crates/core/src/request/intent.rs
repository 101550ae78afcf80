//! What a conversation requests, element by element: topic, task, data, constraints, measures, columns, number of answers. Its JSON Schema
//! is published as `schemas/intent.schema.json`.
//!
//! The elements follow ScienceDB AI (Long et al., 2026): subject, task, data (modality, source, annotation, entity),
//! settings and constraints, evaluation measures.

use std::fmt;

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::answer::in_order;
use crate::role::Role;

/// The request as of one turn or of all turns so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = in_order::<Self>)]
pub struct Intent {
    /// The topic of the data and its aspects: the search words, each with the turn it is from.
    pub topics: Vec<TurnWords>,
    /// What the data will be used for: `train a classifier`.
    pub task: Option<TurnWords>,
    /// What kind of data: modality, annotation, entity.
    pub data: RequestedData,
    /// What a record must or should satisfy, in the order given; only one demand per role is in force.
    pub demands: Vec<Demand>,
    /// What a record must not be.
    pub refused: Vec<Demand>,
    /// How results will be evaluated: `F1`, `mean absolute error`.
    pub measures: Vec<TurnWords>,
    /// Requested columns.
    pub columns_wanted: Vec<TurnWords>,
    /// Excluded columns.
    pub columns_excluded: Vec<TurnWords>,
    /// Number of answers requested, 1..=100.
    pub answers: Option<usize>,
}

impl Intent {
    /// Whether nothing is requested.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The JSON Schema of an [`Intent`], as published in `schemas/intent.schema.json`.
pub fn intent_schema() -> Schema {
    schema_for!(Intent)
}

/// Words with the turn they are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnWords {
    /// The words.
    pub text: String,
    /// The turn, from 1.
    pub turn: usize,
}

/// The kind of data requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = in_order::<Self>)]
pub struct RequestedData {
    /// Tables, images, sensor readings, text, …
    pub modality: Option<TurnWords>,
    /// How it is labelled.
    pub annotation: Option<TurnWords>,
    /// What it describes: a species, persons, firms.
    pub entity: Option<TurnWords>,
}

/// What a record must (hard) or should (soft) satisfy in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Demand {
    /// The role; `period` for years.
    pub role: Role,
    /// The demanded value.
    pub value: Demanded,
    /// Whether it was stated (then it filters) or only inferred (then it only affects the score).
    pub hard: bool,
    /// The turn that set it, from 1.
    pub turn: usize,
    /// The words it was read from.
    pub said: String,
}

/// The value of a demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Demanded {
    /// All of these things; each is a list of equivalent catalogue values, written exactly as in the catalogue.
    Values(Vec<Vec<String>>),
    /// Years covered.
    Period(RequestedYears),
}

/// Formats it in words: `Ontario and Quebec`, `2015 onward`.
impl fmt::Display for Demanded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(things) => {
                let names: Vec<&str> = things.iter().filter_map(|thing| thing.first()).map(String::as_str).collect();
                formatter.write_str(&names.join(" and "))
            }
            Self::Period(years) => write!(formatter, "{years}"),
        }
    }
}

/// Which years a record must cover.
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
    /// It begins in this year.
    StartsIn(i32),
    /// It ends in this year.
    EndsIn(i32),
}

impl fmt::Display for RequestedYears {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cover { from, to } if from == to => write!(formatter, "{from}"),
            Self::Cover { from, to } => write!(formatter, "{from} to {to}"),
            Self::Exactly { from, to } if from == to => write!(formatter, "{from} and no other years"),
            Self::Exactly { from, to } => write!(formatter, "{from} to {to} and no other years"),
            Self::StartsIn(year) => write!(formatter, "{year} onward"),
            Self::EndsIn(year) => write!(formatter, "up to {year}"),
        }
    }
}
