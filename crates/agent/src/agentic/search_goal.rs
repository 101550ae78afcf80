//! What a run is asked for, and what it may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::candidate_set::MOST_HITS;
use super::plan::{CONSTRAINT_CHARS, MOST_CONSTRAINTS, QUERY_CHARS};

/// What a run searches for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchGoal {
    /// The request in the analyst's words: what a model reads.
    pub request: String,
    /// The words to search by; the request where they are empty. Tables are ranked by them.
    pub words: String,
    /// Words that a table has to hold: places, periods, columns.
    pub must_have: Vec<String>,
    /// What the conversation before has agreed on, as the planner's prompt has it; null without one.
    pub memory: Value,
    /// How likely the best answer of a plain search serves, 0..=1; none where that was not searched or is not known.
    pub likely: Option<f64>,
}

impl SearchGoal {
    /// A request that is searched for as it is.
    pub fn words(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { request: text.clone(), words: text, ..Self::default() }
    }

    /// The same within the bounds of a plan: the beginning of a text that is too long, no empty constraint.
    pub(super) fn bounded(&self) -> Self {
        let request = super::shortened(&self.request, 2 * QUERY_CHARS);
        let words = if self.words.trim().is_empty() { &self.request } else { &self.words };
        let words = super::shortened(words, QUERY_CHARS);
        let kept = self.must_have.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        let must_have = kept.take(MOST_CONSTRAINTS).map(|text| super::shortened(text, CONSTRAINT_CHARS)).collect();
        Self { request, words, must_have, memory: self.memory.clone(), likely: self.likely }
    }
}

/// How the work is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// One agent with search as its tool: a model is asked once a step for verdict, next queries and order in one; once its answer cannot be
    /// used, the agent goes on by rules.
    SingleAgent,
    /// Planner, retriever, evaluator and reranker, each with its own question to a model; one that fails is replaced in its own step.
    #[default]
    MultiAgent,
}

/// What a run may cost, and how it searches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How the work is divided.
    pub style: Style,
    /// Plans at the most, 1 or more.
    pub iterations: usize,
    /// Searches of a channel at the most.
    pub tool_calls: usize,
    /// Seconds; a search under way is not broken off.
    pub seconds: f64,
    /// How channels are searched and their lists fused.
    pub retrieval: Retrieval,
}

impl Default for Settings {
    fn default() -> Self {
        let retrieval = Retrieval::default();
        Self { style: Style::default(), iterations: 3, tool_calls: 36, seconds: 10.0, retrieval }
    }
}

/// Depths and weights of the lists that are fused: score(t) = Σᵢ wᵢ / (k + rankᵢ(t)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retrieval {
    /// k, 0 or more.
    pub rank_constant: f64,
    /// How much a list by words counts, 0 or more.
    pub words: f64,
    /// How much a list by meaning counts, 0 or more. Measured by the fused order alone (nDCG@10, samples of the queries): .5 against 1
    /// gains .04 to .05 on cells of FeTaQA, .02 on OTT-QA with titles, between -.01 and .02 on keywords of ACORDAR; its questions lose
    /// up to .01.
    pub meaning: f64,
    /// How much a query other than the request itself counts beside it, 0 or more.
    pub others: f64,
    /// Tables asked of each channel for the request itself, 1 to 100.
    pub depth: usize,
    /// The same for other queries.
    pub depth_of_others: usize,
    /// Whether words count more for queries of codes, numbers and quotations, and meaning more where the lake does not know the words.
    pub by_query: bool,
}

impl Default for Retrieval {
    fn default() -> Self {
        Self {
            rank_constant: 60.0,
            words: 1.0,
            meaning: 0.5,
            others: 0.3,
            depth: MOST_HITS,
            depth_of_others: 50,
            by_query: true,
        }
    }
}

impl Retrieval {
    /// What is wrong with these settings, if anything.
    pub fn fault(&self) -> Option<&'static str> {
        let weights = [self.rank_constant, self.words, self.meaning, self.others];
        let depths = [self.depth, self.depth_of_others];
        match () {
            () if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) => {
                Some("rank_constant, words, meaning and others must be 0 or more")
            }
            () if self.words + self.meaning == 0.0 => Some("words and meaning cannot both be 0"),
            () if depths.iter().any(|depth| !(1..=MOST_HITS).contains(depth)) => {
                Some("depth and depth_of_others must be 1 to 100")
            }
            () => None,
        }
    }
}
