//! What is being computed: one source and a list of steps over it, as plain values.
//!
//! A [`Plan`] is what a conversation edits ([`Edit`]) and what `operate` turns into one query. It names tables and columns as
//! people do; nothing here reads a table. Steps run in their order, each on the table that the one before has made, so a plan
//! reads from top to bottom and a correction recomputes from the source.
//!
//! **Missing values.** Every comparison is false where one of its sides is missing, and `not` makes that true: "is not Texas"
//! written as `not (state = Texas)` keeps rows without a state, written as `state ≠ Texas` it does not. Measures leave missing
//! values out, except counts of rows.

mod condition;
mod edit;
mod expression;
mod step;
mod walk;
mod words;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use condition::{Comparison, Condition, TextTest};
pub use edit::{Edit, EditError};
pub use expression::{Arithmetic, Branch, DatePart, Expression, NumberFunction, TextFunction, Value, ValueType};
pub use step::{
    Direction, Grouping, Join, JoinKey, JoinKind, Kept, Key, Measure, MeasureFunction, Order, Pivot, Step, Top, Union,
    UnionPart, Unpivot,
};

use crate::error::{Error, Result};
use crate::request::{Input, OperationKind};
use crate::store::version_of;

/// The version of plans that this program writes, and the only one it reads.
pub const PLAN_VERSION: u32 = 1;
/// Most bytes of a plan.
pub const MOST_BYTES: u64 = 16 << 20;
/// Most steps of a plan, those of joined and united tables included.
pub const MOST_STEPS: usize = 200;
/// Most conditions, expressions and measures of a plan together.
pub const MOST_PARTS: usize = 5_000;
/// How deep conditions, expressions and joined tables may be nested.
pub const MOST_DEPTH: usize = 40;

/// A plan as it is kept: its version beside the relation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this form: 1.
    pub version: u32,
    /// The source and the steps over it.
    #[serde(flatten)]
    pub relation: Relation,
}

/// A table and what is done to it, from top to bottom. A table to join or to append is one too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Relation {
    /// The table, file or result it starts from.
    pub source: Input,
    /// The steps in their order; none: the table as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

impl Relation {
    /// The table as it is.
    pub fn of(source: Input) -> Self {
        Self { source, steps: Vec::new() }
    }

    /// This relation with one more step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl Plan {
    /// The table as it is.
    pub fn of(source: Input) -> Self {
        Relation::of(source).into()
    }

    /// This plan with one more step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.relation.steps.push(step);
        self
    }

    /// What its last steps come to, as operations are called; those that only order and cut rows do not count. A plan without
    /// a step shows a table.
    pub fn kind(&self) -> OperationKind {
        let orders =
            |step: &&Step| matches!(step, Step::Sort(_) | Step::Limit { .. } | Step::Top(_) | Step::Distinct(_));
        match self.relation.steps.iter().rev().find(|step| !orders(step)) {
            Some(Step::Join(_)) => OperationKind::Join,
            Some(Step::Union(_)) => OperationKind::Union,
            Some(Step::Group(_) | Step::Pivot(_)) => OperationKind::Aggregate,
            _ => OperationKind::Filter,
        }
    }

    /// Whether it does all that `other` does, and more or nothing after that.
    pub fn continues(&self, other: &Plan) -> bool {
        let (own, others) = (&self.relation, &other.relation);
        own.source == others.source && own.steps.starts_with(&others.steps)
    }

    /// Reads the plan in the file at `path`, of at most 16 MB.
    ///
    /// # Errors
    /// [`Error::Io`]; those of [`Plan::from_json`], with the path.
    pub fn read(path: &Path) -> Result<Self> {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text));
        read.map_err(|error| Error::io("read", path, error))?;
        Self::from_json(&text).map_err(|error| Error::usage(format!("`{}`: {error}", path.display())))
    }

    /// Reads a plan from JSON.
    ///
    /// # Errors
    /// [`Error::Usage`] for another version, for text that is no plan (with the place) and for what [`Plan::check`] refuses.
    pub fn from_json(text: &str) -> Result<Self> {
        let no_plan = |error: serde_json::Error| Error::usage(format!("this is no plan: {error}"));
        match version_of(text.as_bytes(), "version").map_err(no_plan)? {
            Some(version) if version == u64::from(PLAN_VERSION) => {}
            Some(other) => {
                return Err(Error::usage(format!(
                    "this plan has version {other}; this program reads version {PLAN_VERSION}"
                )));
            }
            None => {
                return Err(Error::usage(format!("a plan says its version: \"version\": {PLAN_VERSION}")));
            }
        }
        let plan: Plan = serde_json::from_str(text).map_err(no_plan)?;
        plan.check()?;
        Ok(plan)
    }

    /// Whether the plan is of a size that can be carried out.
    ///
    /// # Errors
    /// [`Error::Usage`] with what there is too much of.
    pub fn check(&self) -> Result<()> {
        walk::check(&self.relation)
    }

    /// Every table it reads, the source first, each once.
    pub fn inputs(&self) -> Vec<&Input> {
        walk::inputs(&self.relation)
    }

    /// The tables of the lake among its inputs, by their ids.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.inputs().into_iter().filter_map(Input::table)
    }
}

impl From<Relation> for Plan {
    fn from(relation: Relation) -> Self {
        Self { version: PLAN_VERSION, relation }
    }
}
