//! Plan, retrieve, evaluate: a request is taken apart, searched in several ways, judged, and searched anew until what was found is
//! enough or a limit is reached (after "agentic hybrid retrieval", Terrenzi et al. 2026).
//!
//! [`search_for()`] runs the loop. Four agents ([`agents`]) do the work: a planner says *what* to search
//! ([`QueryPlan`]), a retriever decides *how* and searches ([`CandidateSet`]), an evaluator says whether that is
//! enough ([`EvaluationReport`]), a reranker gives the final order ([`FinalRanking`]). Each has rules of its own and
//! needs no model; a model can plan, evaluate and rerank in their place, each role with a question of its own or all
//! of them in one ([`Style`]). What one agent hands another crosses a boundary as JSON and is read strictly
//! ([`artifact`]): a malformed artifact or a failing agent costs its own step, which the rules then do, and is told in
//! [`SearchRun::degraded`].
//!
//! The same request, index, settings and answers of a model give the same [`RunTrace`], but for its timings; only one question is
//! asked of the time, and its answer is recorded ([`clock`]). Nothing here knows operations, sessions or SQL.

pub mod agents;
pub mod artifact;
mod cache;
mod candidate_set;
pub mod card;
mod channel;
pub mod clock;
mod differences;
mod evaluator;
pub mod listwise;
mod model;
mod plain;
mod plan;
mod planner;
mod ranking;
mod report;
mod reranker;
mod retriever;
mod search_goal;
mod search_loop;
mod search_run;
mod single_agent;
mod trace;

use lakeward_core::text::lower_words;

pub use agents::{Allowance, Earlier, Evaluator, Fault, Planner, Reranker, Retriever};
pub use artifact::{Artifact, Malformed, schemas};
pub use cache::RunCache;
pub use candidate_set::{CandidateSet, ChannelList, FoundTable, ListRank};
pub use channel::{Channel, ChannelKind, MeaningChannel, TaskChannel, WordsChannel};
pub use clock::{Clock, LiveClock, Moment, RecordedClock};
pub use differences::first_difference;
pub use evaluator::RuleEvaluator;
pub use model::{ModelEvaluator, ModelPlanner};
pub use plain::plain_search;
pub use plan::{PlannedQuery, QueryPlan};
pub use planner::RulePlanner;
pub use ranking::{FinalRanking, RankedId};
pub use report::{EvaluationReport, Signals};
pub use reranker::{ModelReranker, RuleReranker};
pub use retriever::RuleRetriever;
pub use search_goal::{Retrieval, SearchGoal, Settings, Style};
pub use search_loop::{run_with, search_for};
pub use search_run::{Agents, RunTable, SearchRun, SearchedQuery, Tools};
pub use trace::{AgentVersions, Degraded, IterationTrace, LakeVersions, RunTrace, Stopped, Timings};

/// The first `most` characters of `text`.
fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// By what two queries are the same: their words, whatever the case and what stands between them.
fn key_of(text: &str) -> String {
    lower_words(text).collect::<Vec<_>>().join(" ")
}
