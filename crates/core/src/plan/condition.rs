//! Which rows are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expression::{Expression, Value};

/// A condition that a row meets or does not. See the module for missing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Two values compared.
    Compare {
        /// The first.
        left: Expression,
        /// How.
        comparison: Comparison,
        /// The second.
        right: Expression,
    },
    /// Between two bounds, both included.
    Between {
        /// The value.
        value: Expression,
        /// The lower bound.
        from: Value,
        /// The upper bound.
        to: Value,
    },
    /// One of several values.
    OneOf {
        /// The value.
        value: Expression,
        /// The values.
        values: Vec<Value>,
    },
    /// A text that has another somewhere.
    Text {
        /// The value.
        value: Expression,
        /// Where.
        test: TextTest,
        /// The text, as it stands: no character has a special meaning.
        text: String,
        /// Upper and lower case count. They do not by default.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        exact: bool,
    },
    /// No value.
    Missing(Expression),
    /// A column of yes and no.
    Holds(Expression),
    /// All of these; true where there is none.
    All(Vec<Condition>),
    /// At least one of these; false where there is none.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
}

impl Condition {
    /// The conditions that must all hold.
    pub fn parts(&self) -> Vec<&Condition> {
        match self {
            Condition::All(parts) => parts.iter().flat_map(Condition::parts).collect(),
            other => vec![other],
        }
    }

    /// Both conditions.
    #[must_use]
    pub fn and(self, other: Condition) -> Condition {
        match self {
            Condition::All(mut parts) => {
                parts.push(other);
                Condition::All(parts)
            }
            one => Condition::All(vec![one, other]),
        }
    }

    /// At least one of both.
    #[must_use]
    pub fn or(self, other: Condition) -> Condition {
        match self {
            Condition::Any(mut parts) => {
                parts.push(other);
                Condition::Any(parts)
            }
            one => Condition::Any(vec![one, other]),
        }
    }
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// The same value; texts in the index's normal form.
    Equal,
    /// Another value.
    Different,
    /// Below.
    Less,
    /// Not above.
    AtMost,
    /// Above.
    Greater,
    /// Not below.
    AtLeast,
}

/// Where a text must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextTest {
    /// Anywhere.
    Contains,
    /// At the beginning.
    Starts,
    /// At the end.
    Ends,
}
