//! The plain types of an understood request, from its interpretation to its answer.
//!
//! Definitions after AIDEN (Taha, 2026): the operation is the single one that produces what is requested now; the intention is its purpose.

mod act;
mod demand;
mod input;
mod signals;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use act::Act;
pub use demand::{Demand, Demanded, RequestedYears, demands_schema, in_role, topic_words};
pub use input::Input;
pub use signals::{Ranked, Signals};

/// One of a closed set of names.
pub trait Label: Copy + PartialEq + 'static {
    /// All of them, in a fixed order.
    const ALL: &'static [Self];

    /// Its position in [`Label::ALL`].
    fn place(self) -> usize {
        Self::ALL.iter().position(|label| *label == self).unwrap_or_default()
    }

    /// Its name in JSON.
    fn name(self) -> &'static str;
}

/// Declares a set of names and implements [`Label`] for it, so that each name is written once.
macro_rules! labels {
    ($(#[$about_set:meta])* pub enum $set:ident { $($(#[$about:meta])* $label:ident,)* }) => {
        $(#[$about_set])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $set { $($(#[$about])* $label,)* }

        impl Label for $set {
            const ALL: &'static [Self] = &[$($set::$label),*];

            fn name(self) -> &'static str {
                match self { $($set::$label => stringify!($label),)* }
            }
        }
    };
}

labels! {
    /// What to do with tables.
    pub enum OperationKind {
        /// Select rows or columns of one table by stated conditions; look up, browse.
        Filter,
        /// Enrich the working table through shared keys: adds columns.
        Join,
        /// Append rows of compatible tables.
        Union,
        /// Counts, sums, averages, groups, distributions.
        Aggregate,
        /// Ask a question: the request is too vague to choose one of the others.
        Clarify,
    }
}

impl OperationKind {
    /// Whether it works on tables; clarifying does not.
    pub fn needs_table(self) -> bool {
        match self {
            OperationKind::Filter | OperationKind::Join | OperationKind::Union | OperationKind::Aggregate => true,
            OperationKind::Clarify => false,
        }
    }

    /// Whether it combines the working table with others.
    pub fn combines(self) -> bool {
        match self {
            OperationKind::Join | OperationKind::Union => true,
            OperationKind::Filter | OperationKind::Aggregate | OperationKind::Clarify => false,
        }
    }
}

labels! {
    /// The purpose of a request.
    pub enum Intention {
        /// Inspect, browse, look up, understand; no downstream task.
        Exploration,
        /// Rows or features for machine learning.
        Prediction,
        /// Combine, enrich, append or connect data of several tables.
        Integration,
        /// Aggregate insight: counts, totals, averages, breakdowns.
        Summarization,
    }
}
