//! The whole course of a run as one document: what was planned, searched, found and judged, and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate_set::CandidateSet;
use super::clock::Moment;
use super::plan::QueryPlan;
use super::ranking::FinalRanking;
use super::report::EvaluationReport;
use super::search_goal::{SearchGoal, Settings};

/// Version of the document.
pub const VERSION: u32 = 2;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// What was found is enough.
    Enough,
    /// No agent knew a further query.
    NothingNew,
    /// The plans allowed are used up.
    Iterations,
    /// The searches allowed are used up.
    ToolCalls,
    /// The time is over.
    Seconds,
    /// Searching again failed; what had been found before is returned.
    Failure,
}

impl Stopped {
    /// Whether more could have been done.
    pub fn is_partial(self) -> bool {
        !matches!(self, Stopped::Enough | Stopped::NothingNew)
    }
}

/// A part that did not do its work, so that others did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Degraded {
    /// `planner`, `retriever`, `channel NAME`, `evaluator` or `reranker`.
    pub component: String,
    /// What was wrong, in a clause.
    pub problem: String,
}

/// One plan and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IterationTrace {
    /// The plan.
    pub plan: QueryPlan,
    /// All that was found up to here, with every list, its depth, weight and scores.
    pub candidates: CandidateSet,
    /// The verdict.
    pub report: EvaluationReport,
}

/// Who did the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentVersions {
    /// Plans.
    pub planner: String,
    /// Searches.
    pub retriever: String,
    /// Judges.
    pub evaluator: String,
    /// Ranks.
    pub reranker: String,
}

/// What was searched: the same versions give the same run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LakeVersions {
    /// Checksum of the index's manifest.
    pub index: String,
    /// Hash of the ranking's weights.
    pub weights: String,
    /// The index of questions; empty without one.
    pub questions: String,
    /// The channels by name and weight: `words@1`.
    pub channels: Vec<String>,
}

/// How long it took, in milliseconds; nothing else of a trace differs between two runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timings {
    /// Of each iteration: planning, searching, judging.
    pub iterations_ms: Vec<[f64; 3]>,
    /// Of the final order.
    pub rerank_ms: f64,
    /// Of all.
    pub total_ms: f64,
    /// Artifacts taken from the cache.
    pub cached: usize,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunTrace {
    /// [`VERSION`].
    pub version: u32,
    /// What was searched for, cut to its bounds.
    pub sought: SearchGoal,
    /// What it might cost.
    pub settings: Settings,
    /// Who did the work.
    pub agents: AgentVersions,
    /// What was searched.
    pub lake: LakeVersions,
    /// The course; a turn's begins with the plain search for the request, which often is enough.
    pub iterations: Vec<IterationTrace>,
    /// The iteration, from 0, whose candidates were ranked.
    pub chosen: usize,
    /// The final order.
    pub ranking: FinalRanking,
    /// Why it ended.
    pub stopped: Stopped,
    /// Searches of a channel, those answered by the cache included.
    pub tool_calls: usize,
    /// What did not do its work.
    pub degraded: Vec<Degraded>,
    /// The moment at which the time was over, where it was.
    pub over_at: Option<Moment>,
    /// How long it took.
    pub timings: Timings,
}

impl RunTrace {
    /// All but the timings, as JSON: the same bytes for the same run.
    pub fn without_timings(&self) -> String {
        let bare = Self { timings: Timings::default(), ..self.clone() };
        serde_json::to_string(&bare).unwrap_or_default()
    }
}
