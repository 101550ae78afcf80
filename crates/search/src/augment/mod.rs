//! Pseudo-queries: for every table some questions that it can answer, made once, so that people who ask in other words than its
//! publisher find it (Terrenzi et al. 2026).
//!
//! [`make::make_questions`] derives 5–10 questions a table from what is known of it ([`Facts`]) and from nothing else: by rules
//! ([`rules`]), or by a language model whose every number and name is checked against the facts ([`model`]). Facets that
//! the facts leave open are said to be unknown. [`QuestionStore`] keeps them, [`QuestionIndex`] makes them searchable in two
//! ways, and [`audit`] shows a sample of them to people. The index of the lake itself is only read here.

pub mod audit;
mod documents;
mod facts;
pub mod grounding;
pub mod make;
pub mod model;
mod phrases;
pub mod question_index;
pub mod rules;
pub mod store;
mod unknown;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use facts::{FactColumn, Facts};
pub use make::{AugmentOptions, AugmentStats, MadeQuestions, QuestionMaker, make_questions};
pub use model::QuestionModel;
pub use question_index::{QuestionIndex, QuestionMode};
pub use store::{QuestionStore, TableQuestions};

/// Questions of a table at the least, where it has facts enough.
pub const LEAST_QUESTIONS: usize = 5;
/// … and at the most.
pub const MOST_QUESTIONS: usize = 10;

/// What one would want to know of a table before using it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// What it is about.
    Subject,
    /// Where its rows are from.
    Place,
    /// When they are from.
    Period,
    /// What its figures are measured in.
    Unit,
    /// Who publishes it.
    Publisher,
    /// Whom or what its rows stand for.
    Population,
    /// How its figures came about.
    Method,
    /// What it may be used for.
    Licence,
}

impl FactKind {
    /// All of them.
    pub const ALL: [FactKind; 8] = [
        FactKind::Subject,
        FactKind::Place,
        FactKind::Period,
        FactKind::Unit,
        FactKind::Publisher,
        FactKind::Population,
        FactKind::Method,
        FactKind::Licence,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            FactKind::Subject => "subject",
            FactKind::Place => "place",
            FactKind::Period => "period",
            FactKind::Unit => "unit",
            FactKind::Publisher => "publisher",
            FactKind::Population => "population",
            FactKind::Method => "method",
            FactKind::Licence => "licence",
        }
    }
}
