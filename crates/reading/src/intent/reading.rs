//! What one turn says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::request::Demand;
use lakeward_core::role::Role;

/// The facts of one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnReading {
    /// The turn, from 1.
    pub turn: usize,
    /// In the order of the text.
    pub facts: Vec<Fact>,
}

impl TurnReading {
    /// Its demands, in order.
    pub fn demands(&self) -> impl Iterator<Item = &Demand> {
        self.facts.iter().filter_map(|fact| match fact {
            Fact::Demanded { demand, .. } => Some(demand),
            _ => None,
        })
    }
}

/// One thing that a turn says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// This is wanted.
    Demanded {
        /// What.
        demand: Demand,
        /// Whether besides what was wanted before in the role (`also by age`), not in its place.
        also: bool,
    },
    /// This is not wanted; hard where it must not be there (`without`), not where it is only not what is looked for
    /// (`not Ontario but Quebec`).
    Refused(Demand),
    /// What was said before may be wrong.
    Retracted,
    /// Nothing is wanted in this role any more.
    Forgotten(Role),
    /// Words that are in none of the other facts.
    Words {
        /// As they were said, with blanks between; misspelt ones mended.
        text: String,
        /// What they are for.
        kind: WordsKind,
    },
    /// So many answers are wanted.
    Answers(usize),
    /// The data is for this.
    Task(String),
    /// It is of this kind: images, time series.
    Modality(String),
    /// It is labelled so.
    Annotation(String),
    /// Results will be judged by this.
    Measure(String),
    /// A column that is wanted.
    Column(String),
    /// A column that is not.
    NoColumn(String),
}

/// What free words are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WordsKind {
    /// What all is about: the first turn's.
    Topic,
    /// Which part of it: announced as that (`in particular`).
    Aspect,
    /// Not said.
    Free,
}
