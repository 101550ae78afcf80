//! The work for an answer and how far it can be traced, per query and as means of a group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Component;
use crate::compare::PairedDifference;

/// The work for the answer to one query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Rounds of planning, searching and evaluating; 1 without planning.
    pub iterations: u32,
    /// Number of searches of one channel for one text.
    pub tool_calls: u32,
    /// Requests to a language model.
    pub model_calls: u32,
    /// Tokens of prompts and answers: as the model's server counted them, or estimates where it did not.
    pub tokens: u64,
    /// Those of them that are estimates.
    #[serde(default)]
    pub estimated: u64,
    /// Invalid artifacts and answers of the model.
    pub schema_failures: u32,
    /// Whether a component failed and the answer comes from the others.
    pub partial: bool,
    /// Whether a limit on rounds, searches or seconds ended the search early.
    pub limited: bool,
    /// Whether the trace has every stage: plan, retrieval parameters, each channel's list with scores, the fused list, the
    /// evaluation, the ranking; absent for a variant that writes no trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_complete: Option<bool>,
    /// Whether every document of the ranking is in the list of a channel.
    pub provenance_complete: bool,
}

/// [`Work`] over the queries of a group, with the results of repeated and failing runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupWork {
    /// Number of answered queries.
    pub queries: u64,
    /// Mean rounds per query.
    pub iterations: f64,
    /// Mean searches of a channel per query.
    pub tool_calls: f64,
    /// Mean requests to a language model per query.
    pub model_calls: f64,
    /// Mean tokens per query; absent if no model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
    /// Whether some of them are estimates, as the server counted none.
    #[serde(default)]
    pub tokens_estimated: bool,
    /// Invalid artifacts and answers of the model, over all queries.
    pub schema_failures: u64,
    /// Share of queries whose answer is partial, 0..=1.
    pub partial: f64,
    /// Share of queries ended by a limit, 0..=1.
    pub limited: f64,
    /// Share of queries whose trace has every stage, 0..=1; absent if no trace is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_complete: Option<f64>,
    /// Share of queries with every document of the ranking in the list of a channel, 0..=1.
    pub provenance_complete: f64,
    /// How similar identical runs are, if there was more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// The effect of each component's failure, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultEffect>,
}

/// How similar the rankings of identical runs are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stability {
    /// Number of runs, compared pairwise.
    pub runs: u64,
    /// Number of documents compared per ranking.
    pub k: usize,
    /// Mean over queries and pairs of runs of |A ∩ B| / |A ∪ B| of the first k documents, 0..=1.
    pub jaccard: f64,
    /// Share of queries whose first k documents are the same in the same order in every run, 0..=1.
    pub identical: f64,
}

/// The effect of one component failing at every query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultEffect {
    /// The component.
    pub component: Component,
    /// Mean nDCG at the main depth.
    pub ndcg: f64,
    /// nDCG with the failure minus nDCG without; absent without a scored query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<PairedDifference>,
    /// Share of queries that were still answered, 0..=1.
    pub answered: f64,
    /// Share of queries whose answer is marked as partial, 0..=1.
    pub partial: f64,
}

impl GroupWork {
    /// Means over `works`; `None` without any.
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
            tokens: works.iter().any(|work| work.model_calls > 0).then(|| mean(|work| work.tokens)),
            tokens_estimated: works.iter().any(|work| work.estimated > 0),
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
            model_calls: 2,
            tokens: 900,
            schema_failures: 2,
            partial: true,
            trace_complete: Some(true),
            ..Work::default()
        };
        let group = GroupWork::of([one, two].iter()).unwrap();
        assert_eq!((group.iterations, group.tool_calls, group.tokens), (2.0, 4.0, Some(450.0)));
        assert_eq!(GroupWork::of([one].iter()).unwrap().tokens, None, "nobody was asked");
        assert_eq!((group.schema_failures, group.partial, group.provenance_complete), (2, 0.5, 0.5));
        assert_eq!(group.trace_complete, Some(1.0), "only those that write a trace count");
        assert_eq!(GroupWork::of(std::iter::empty()), None);
    }
}
