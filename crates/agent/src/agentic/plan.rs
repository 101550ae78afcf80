//! What to search for.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artifact::{Artifact, Malformed, at_most, read, short, spoken};
use super::key_of;

/// Queries of a plan at the most.
pub const MOST_QUERIES: usize = 6;
/// Characters of a query at the most.
pub const QUERY_CHARS: usize = 2_000;
/// Characters of an aim at the most.
const AIM_CHARS: usize = 200;
/// Constraints at the most.
pub const MOST_CONSTRAINTS: usize = 16;
/// Characters of a constraint at the most.
pub const CONSTRAINT_CHARS: usize = 100;

/// What to search for, and nothing of how: depths and weights are the retriever's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryPlan {
    /// The queries, the nearest to the request first; 1 to [`MOST_QUERIES`], no two alike.
    pub queries: Vec<PlannedQuery>,
    /// Words of the request that a table has to hold.
    pub must_have: Vec<String>,
}

/// One query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedQuery {
    /// The words to search by.
    pub text: String,
    /// What it should find.
    pub aim: String,
}

impl PlannedQuery {
    /// A query with its aim.
    pub fn new(text: impl Into<String>, aim: impl Into<String>) -> Self {
        Self { text: text.into(), aim: aim.into() }
    }
}

impl QueryPlan {
    /// The plan that `text` is.
    ///
    /// # Errors
    /// [`Malformed`], also for a query that says nothing, is too long or stands twice.
    pub fn accept(text: &str) -> Result<Self, Malformed> {
        let plan: Self = read(text)?;
        plan.check()?;
        Ok(plan)
    }

    /// Whether the plan keeps its bounds.
    ///
    /// # Errors
    /// [`Malformed`], as [`accept`](Self::accept).
    pub fn check(&self) -> Result<(), Malformed> {
        at_most::<Self>("queries", self.queries.len(), MOST_QUERIES)?;
        at_most::<Self>("constraints", self.must_have.len(), MOST_CONSTRAINTS)?;
        if self.queries.is_empty() {
            return Err(Self::malformed("it has no query"));
        }
        let mut seen = BTreeSet::new();
        for query in &self.queries {
            short::<Self>("a query", &query.text, QUERY_CHARS)?;
            short::<Self>("an aim", &query.aim, AIM_CHARS)?;
            if !seen.insert(key_of(&query.text)) {
                return Err(Self::malformed(format!("the query `{}` stands twice", super::shortened(&query.text, 60))));
            }
        }
        // A request may be empty, and then so is its one query; beside others that would be no query.
        if self.queries.len() > 1 {
            for query in &self.queries {
                spoken::<Self>("a query", &query.text, QUERY_CHARS)?;
            }
        }
        for constraint in &self.must_have {
            spoken::<Self>("a constraint", constraint, CONSTRAINT_CHARS)?;
        }
        Ok(())
    }
}
