//! A search for the datasets of a task, reranked by a language model if there is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Lakeward;
use lakeward_core::error::Result;
use lakeward_models::llm::{LanguageModel, Usage};
use lakeward_search::cite::Checked;
use lakeward_tasks::task_graph::{TaskAnswer, TaskGraph, TaskSearchOptions, model_order};

/// The datasets of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFound {
    /// Best first.
    pub answers: Checked<Vec<TaskAnswer>>,
    /// The model's reranking, if one was used.
    pub order: Option<ModelOrder>,
}

/// How a model reranked the datasets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelOrder {
    /// The model with its prompt.
    pub by: String,
    /// Number of datasets given to it.
    pub candidates: usize,
    /// Weight of its order against the computed one, 0..=1; 0 if it was not asked or knows no more than chance.
    pub weight: f64,
    /// Number of calls.
    pub calls: usize,
    /// Tokens of prompts and answers.
    pub tokens: u64,
    /// Why it gave no usable order; the computed order is then used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl Lakeward {
    /// The best datasets for the task `text`, by the graph. A language model, if there is one and `options.rerank` is on, reranks
    /// the first of them: its order is fused with the computed one. Scores stay the computed ones.
    ///
    /// # Errors
    /// Those of [`TaskGraph::search`]; a model's failures are not errors.
    pub fn datasets_for(&self, graph: &TaskGraph, text: &str, options: &TaskSearchOptions) -> Result<TaskFound> {
        let Some(model) = self.model().filter(|_| options.rerank) else {
            let answers = self.cited(graph.search(self.embedder(), text, options)?)?;
            return Ok(TaskFound { answers, order: None });
        };
        let llm = &self.config().llm;
        let wide = TaskSearchOptions { k: options.k.max(llm.candidates), ..options.clone() };
        let mut answers = graph.search(self.embedder(), text, &wide)?;
        let access = model.access();
        let model = LanguageModel::new(access.chat, access.prompts, llm.limits(), access.cache);
        let mut rerank = ModelOrder {
            by: format!("{} {}", model.id(), model.prompt_id(lakeward_models::llm::PromptUse::RerankDatasets)),
            candidates: answers.len().min(llm.candidates),
            ..ModelOrder::default()
        };
        if rerank.candidates > 1 && llm.ranking != Some(0.0) {
            let first = &answers[..rerank.candidates];
            match model_order(&model, text, first) {
                Ok(order) => {
                    rerank.weight = order.weight(llm.ranking);
                    let scores: Vec<f64> = first.iter().map(|answer| answer.score).collect();
                    answers = in_order(answers, &order.fused(&scores, rerank.weight));
                }
                Err(unanswered) => rerank.trouble = Some(unanswered.to_string()),
            }
        }
        let spent = model.spent();
        (rerank.calls, rerank.tokens) = (spent.calls, Usage::tokens(spent.usage));
        answers.truncate(options.k);
        Ok(TaskFound { answers: self.cited(answers)?, order: Some(rerank) })
    }

    /// The answers, checked against the catalogue, with citations for the datasets of the lake.
    fn cited(&self, answers: Vec<TaskAnswer>) -> Result<Checked<Vec<TaskAnswer>>> {
        let mut answers = self.gate().admit(answers)?.into_inner();
        for answer in &mut answers {
            let Some(table) = self.index.get(&answer.dataset)?.filter(|_| answer.in_index) else { continue };
            answer.citation = Some(self.index.segment(table.segment)?.catalog.citation(table.table)?);
        }
        self.gate().admit(answers)
    }
}

/// The answers at `places` first, in that order, then the rest.
fn in_order(answers: Vec<TaskAnswer>, places: &[usize]) -> Vec<TaskAnswer> {
    let mut left: Vec<Option<TaskAnswer>> = answers.into_iter().map(Some).collect();
    let first: Vec<TaskAnswer> = places.iter().filter_map(|place| left.get_mut(*place)?.take()).collect();
    first.into_iter().chain(left.into_iter().flatten()).collect()
}
