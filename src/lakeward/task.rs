//! A search for the datasets of a task, with a language model's voice in the order where there is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Lakeward;
use crate::agentic::dataset_order;
use crate::error::Result;
use crate::llm::{LanguageModel, Usage};
use crate::task_graph::{TaskAnswer, TaskGraph, TaskSearchOptions};

/// The datasets of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFound {
    /// Best first.
    pub answers: Vec<TaskAnswer>,
    /// The model's part, where one was asked.
    pub order: Option<ModelOrder>,
}

/// What a model did to the order of datasets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelOrder {
    /// The model with its prompt.
    pub by: String,
    /// Datasets that it was told of.
    pub candidates: usize,
    /// How much its order counts beside the computed one, 0..=1: nothing where both agree no better than guesses do.
    pub weight: f64,
    /// Calls.
    pub calls: usize,
    /// Tokens of questions and answers.
    pub tokens: u64,
    /// Why it gave no order that can be used: the computed one stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl Lakeward {
    /// The datasets that serve `text` best, by the graph; with a language model, the first of them in computed and model's order
    /// fused. `options.rerank` off asks none. Scores stay the computed ones.
    ///
    /// # Errors
    /// Those of [`TaskGraph::search`]; a model's failures are none.
    pub fn datasets_for(&self, graph: &TaskGraph, text: &str, options: &TaskSearchOptions) -> Result<TaskFound> {
        let Some(model) = self.model().filter(|_| options.rerank) else {
            return Ok(TaskFound { answers: graph.search(self.embedder(), text, options)?, order: None });
        };
        let llm = &self.config().llm;
        let wide = TaskSearchOptions { k: options.k.max(llm.candidates), ..options.clone() };
        let mut answers = graph.search(self.embedder(), text, &wide)?;
        let access = model.access();
        let model = LanguageModel::new(access.chat, access.prompts, llm.limits(), access.cache);
        let mut said = ModelOrder {
            by: format!("{} {}", model.id(), model.prompt_id(crate::llm::PromptUse::RerankDatasets)),
            candidates: answers.len().min(llm.candidates),
            ..ModelOrder::default()
        };
        if said.candidates > 1 {
            let first = &answers[..said.candidates];
            match dataset_order::order(&model, text, first) {
                Ok(order) => {
                    let scores: Vec<f64> = first.iter().map(|answer| answer.score).collect();
                    said.weight = order.weight(llm.voice);
                    answers = in_order(answers, &order.fused(&scores, llm.voice));
                }
                Err(unanswered) => said.trouble = Some(unanswered.to_string()),
            }
        }
        let spent = model.spent();
        (said.calls, said.tokens) = (spent.calls, Usage::tokens(spent.usage));
        answers.truncate(options.k);
        Ok(TaskFound { answers, order: Some(said) })
    }
}

/// `answers` with the first of them at the `places` that they had; the rest follows.
fn in_order(answers: Vec<TaskAnswer>, places: &[usize]) -> Vec<TaskAnswer> {
    let mut left: Vec<Option<TaskAnswer>> = answers.into_iter().map(Some).collect();
    let first: Vec<TaskAnswer> = places.iter().filter_map(|place| left.get_mut(*place)?.take()).collect();
    first.into_iter().chain(left.into_iter().flatten()).collect()
}
