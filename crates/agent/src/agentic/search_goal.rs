//! What a run is asked for, and what it may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{CONSTRAINT_CHARS, MOST_CONSTRAINTS, QUERY_CHARS};

/// What is sought.
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
        Self { request, words, must_have, memory: self.memory.clone() }
    }
}

/// How the work is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// One agent with search and evaluation as its tools: a model is asked once a step, what to search next; once its answer
    /// cannot be used, the agent goes on by rules.
    SingleAgent,
    /// Planner, retriever, evaluator and reranker, each with its own question to a model; one that fails is replaced in its own step.
    #[default]
    MultiAgent,
}

/// What a run may cost and which rules it follows.
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
    /// Which rules hold; all but for measuring what each is worth.
    pub rules: Rules,
}

impl Default for Settings {
    fn default() -> Self {
        Self { style: Style::default(), iterations: 3, tool_calls: 36, seconds: 10.0, rules: Rules::default() }
    }
}

/// The rules that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// The parts of a request are searched by themselves.
    pub decompose: bool,
    /// Words that nobody has, common words and abbreviations are replaced.
    pub rewrite: bool,
    /// Words that the best tables share are searched with.
    pub feedback: bool,
    /// Channels count by what a query's words are; else all alike.
    pub weigh: bool,
    /// Candidates are ranked by all evidence; else by the fused ranks.
    pub rerank: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { decompose: true, rewrite: true, feedback: true, weigh: true, rerank: true }
    }
}
