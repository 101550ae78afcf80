//! A search for the datasets of a task, reranked by a language model if there is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Lakeward, Model};
use lakeward_agent::model::ModelAccess;
use lakeward_agent::trace::{ModelUse, Provenance, RankedList};
use lakeward_core::error::Result;
use lakeward_models::llm::config::LlmConfig;
use lakeward_models::llm::{LanguageModel, PromptUse, Usage};
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
        let with = (self.model().map(Model::access), &self.config().llm);
        self.datasets_by(graph, text, options, with).map(|(found, _)| found)
    }

    /// The same with a model to order them, if any, under its settings, and what led to the answers.
    pub(super) fn datasets_by(
        &self,
        graph: &TaskGraph,
        text: &str,
        options: &TaskSearchOptions,
        (access, llm): (Option<ModelAccess<'_>>, &LlmConfig),
    ) -> Result<(TaskFound, Provenance)> {
        let list = |by: &str, answers: &[TaskAnswer]| {
            RankedList::of(by, answers.iter().map(|answer| (answer.dataset.as_str(), Some(answer.score))))
        };
        let mut provenance = Provenance { lists: Vec::new(), run: None, model: None };
        let Some(access) = access.filter(|_| options.rerank) else {
            let answers = graph.search(self.embedder(), text, options)?;
            provenance.lists = ["graph", "answer"].map(|by| list(by, &answers)).into();
            return Ok((TaskFound { answers: self.cited(answers)?, order: None }, provenance));
        };
        let wide = TaskSearchOptions { k: options.k.max(llm.candidates), ..options.clone() };
        let mut answers = graph.search(self.embedder(), text, &wide)?;
        provenance.lists.push(list("graph", &answers));
        let model = LanguageModel::new(access.chat, access.prompts, llm.limits(), access.cache);
        let mut rerank = ModelOrder {
            by: format!("{} {}", model.id(), model.prompt_id(PromptUse::RerankDatasets)),
            candidates: answers.len().min(llm.candidates),
            ..ModelOrder::default()
        };
        if rerank.candidates > 1 && llm.ranking != Some(0.0) {
            let first = &answers[..rerank.candidates];
            match model_order(&model, text, first) {
                Ok(order) => {
                    rerank.weight = order.weight(llm.ranking);
                    let scores: Vec<f64> = first.iter().map(|answer| answer.score).collect();
                    let by_model = order.places.iter().map(|place| (first[*place].dataset.as_str(), None));
                    provenance.lists.push(RankedList::of("model", by_model));
                    answers = in_order(answers, &order.fused(&scores, rerank.weight));
                }
                Err(unanswered) => rerank.trouble = Some(unanswered.to_string()),
            }
        }
        let spent = model.spent();
        (rerank.calls, rerank.tokens) = (spent.calls, Usage::tokens(spent.usage));
        answers.truncate(options.k);
        provenance.lists.push(list("answer", &answers));
        provenance.model = Some(ModelUse::of(&model));
        Ok((TaskFound { answers: self.cited(answers)?, order: Some(rerank) }, provenance))
    }

    /// The answers, checked against the catalogue, with citations for the datasets of the lake.
    fn cited(&self, answers: Vec<TaskAnswer>) -> Result<Checked<Vec<TaskAnswer>>> {
        let mut answers = self.gate().admit(answers)?.into_inner();
        for answer in &mut answers {
            let Some(table) = self.index.get(&answer.dataset)?.filter(|_| answer.in_index) else { continue };
            answer.citation = Some(self.index.segment(table.segment)?.tables.citation(table.table)?);
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
