//! The four agents as traits. Each returns its artifact as JSON, which is used only after the boundary
//! ([`super::artifact`]) has read and checked it.

use super::candidate_set::CandidateSet;
use super::channel::Channel;
use super::clock::Clock;
use super::plan::QueryPlan;
use super::report::EvaluationReport;
use super::search_goal::SearchGoal;
use lakeward_core::error::Error;
use lakeward_models::llm::Unanswered;

/// Why an agent hands over nothing.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Its model did not answer.
    #[error("{0}")]
    Model(#[from] Unanswered),
    /// The index could not be read.
    #[error("{0}")]
    Lake(#[from] Error),
    /// Anything else, in a clause.
    #[error("{0}")]
    Other(String),
}

/// What was searched and what came of it.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// The plans, in order.
    pub plans: &'a [QueryPlan],
    /// All that was found.
    pub candidates: &'a CandidateSet,
    /// What was missing.
    pub report: &'a EvaluationReport,
}

/// Says what to search.
pub trait Planner {
    /// Names rules or model and prompt: another version may plan otherwise.
    fn version(&self) -> String;

    /// A [`QueryPlan`] as JSON. Without `earlier` the first of a run; else queries that were not searched yet, none where it knows no
    /// further one.
    ///
    /// # Errors
    /// [`Fault`].
    fn plan(&self, goal: &SearchGoal, earlier: Option<&Earlier<'_>>) -> Result<Option<String>, Fault>;
}

/// Nobody, who knows no further query.
impl Planner for () {
    fn version(&self) -> String {
        "none".into()
    }

    fn plan(&self, _: &SearchGoal, _: Option<&Earlier<'_>>) -> Result<Option<String>, Fault> {
        Ok(None)
    }
}

/// What a retriever may do and use.
pub struct Allowance<'a> {
    /// Channels to search, each for each query.
    pub channels: &'a [&'a dyn Channel],
    /// Searches left.
    pub tool_calls: usize,
    /// Asked before each search but the first of a run.
    pub clock: &'a dyn Clock,
    /// The plan at hand, from 1: the clock asks for it.
    pub iteration: usize,
}

/// Decides how to search, and searches.
pub trait Retriever {
    /// Names the rules.
    fn version(&self) -> String;

    /// A [`CandidateSet`] as JSON: of `plan` and of all lists that `before` has.
    ///
    /// # Errors
    /// [`Fault`] where no channel can be searched.
    fn retrieve(
        &self,
        goal: &SearchGoal,
        plan: &QueryPlan,
        before: Option<&CandidateSet>,
        allowance: &Allowance<'_>,
    ) -> Result<String, Fault>;
}

/// Says whether what was found is enough.
pub trait Evaluator {
    /// Names rules or model and prompt.
    fn version(&self) -> String;

    /// An [`EvaluationReport`] as JSON.
    ///
    /// # Errors
    /// [`Fault`].
    fn evaluate(&self, goal: &SearchGoal, plan: &QueryPlan, candidates: &CandidateSet) -> Result<String, Fault>;
}

/// Puts candidates in their final order.
pub trait Reranker {
    /// Names rules or model and prompt.
    fn version(&self) -> String;

    /// A [`super::FinalRanking`] as JSON.
    ///
    /// # Errors
    /// [`Fault`].
    fn rerank(&self, goal: &SearchGoal, candidates: &CandidateSet) -> Result<String, Fault>;
}
