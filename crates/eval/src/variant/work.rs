//! What an answer took and how far it can be traced, query by query and as means of a group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Component;
use crate::compare::PairedDifference;

/// What the answer to one query took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Rounds of planning, searching and evaluating; 1 where nothing is planned.
    pub iterations: u32,
    /// Searches of one channel for one text.
    pub tool_calls: u32,
    /// Questions put to a language model.
    pub model_calls: u32,
    /// Tokens of prompts and answers, as the model's server counts them.
    pub tokens: u64,
    /// Artifacts and answers of the model that broke their contract.
    pub schema_failures: u32,
    /// Whether a part failed, and the answer is what the others made.
    pub partial: bool,
    /// Whether a limit of rounds, searches or seconds ended the search before what was found was called enough.
    pub limited: bool,
    /// Whether the trace has every stage: plan, retrieval parameters, each channel's list with scores, the fused list, the
    /// evaluation, the ranking; none of a variant that writes no trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_complete: Option<bool>,
    /// Whether every document of the ranking stands in the list of a channel.
    pub provenance_complete: bool,
}

/// [`Work`] over the queries of a group, with what runs beside the first one showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupWork {
    /// Queries that were answered.
    pub queries: u64,
    /// Mean rounds a query.
    pub iterations: f64,
    /// Mean searches of a channel a query.
    pub tool_calls: f64,
    /// Mean questions to a language model a query.
    pub model_calls: f64,
    /// Mean tokens a query.
    pub tokens: f64,
    /// Artifacts and answers of the model that broke their contract, over all queries.
    pub schema_failures: u64,
    /// Share of queries whose answer is partial, 0..=1.
    pub partial: f64,
    /// Share of queries that a limit ended, 0..=1.
    pub limited: f64,
    /// Share of queries whose trace has every stage, 0..=1; none where no trace is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_complete: Option<f64>,
    /// Share of queries of whose ranking every document stands in the list of a channel, 0..=1.
    pub provenance_complete: f64,
    /// How alike identical runs are, where there was more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// What each component's failure did, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultEffect>,
}

/// How alike the rankings of identical runs are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stability {
    /// Runs compared, each with each.
    pub runs: u64,
    /// How many documents of each ranking.
    pub k: usize,
    /// Mean over queries and pairs of runs of |A ∩ B| / |A ∪ B| of the first k documents, 0..=1.
    pub jaccard: f64,
    /// Share of queries whose first k documents are the same in the same order in every run, 0..=1.
    pub identical: f64,
}

/// What happens when one component fails at every query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultEffect {
    /// The component.
    pub component: Component,
    /// Mean nDCG at the depth reported first.
    pub ndcg: f64,
    /// nDCG with the failure less that without; none without a scored query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<PairedDifference>,
    /// Share of queries that got an answer all the same, 0..=1.
    pub answered: f64,
    /// Share of queries whose answer says that it is partial, 0..=1.
    pub partial: f64,
}

impl GroupWork {
    /// Means over `works`; none without one.
    pub fn of<'a>(works: impl Iterator<Item = &'a Work>) -> Option<Self> {
        let works: Vec<&Work> = works.collect();
        if works.is_empty() {
            return None;
        }
        let queries = works.len() as f64;
        let mean = |value: fn(&Work) -> u64| works.iter().map(|work| value(work)).sum::<u64>() as f64 / queries;
        let traced: Vec<bool> = works.iter().filter_map(|work| work.trace_complete).collect();
        Some(Self {
            queries: works.len() as u64,
            iterations: mean(|work| u64::from(work.iterations)),
            tool_calls: mean(|work| u64::from(work.tool_calls)),
            model_calls: mean(|work| u64::from(work.model_calls)),
            tokens: mean(|work| work.tokens),
            schema_failures: works.iter().map(|work| u64::from(work.schema_failures)).sum(),
            partial: mean(|work| u64::from(work.partial)),
            limited: mean(|work| u64::from(work.limited)),
            trace_complete: (!traced.is_empty())
                .then(|| traced.iter().filter(|complete| **complete).count() as f64 / traced.len() as f64),
            provenance_complete: mean(|work| u64::from(work.provenance_complete)),
            stability: None,
            faults: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_queries_and_failures_are_summed() {
        let one = Work { iterations: 1, tool_calls: 2, provenance_complete: true, ..Work::default() };
        let two = Work {
            iterations: 3,
            tool_calls: 6,
            tokens: 900,
            schema_failures: 2,
            partial: true,
            trace_complete: Some(true),
            ..Work::default()
        };
        let group = GroupWork::of([one, two].iter()).unwrap();
        assert_eq!((group.iterations, group.tool_calls, group.tokens), (2.0, 4.0, 450.0));
        assert_eq!((group.schema_failures, group.partial, group.provenance_complete), (2, 0.5, 0.5));
        assert_eq!(group.trace_complete, Some(1.0), "only those that write a trace count");
        assert_eq!(GroupWork::of(std::iter::empty()), None);
    }
}
