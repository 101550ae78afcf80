//! What led to the datasets of a task, written down so that they can be found again without the model.

use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Lakeward, Model, TaskFound};
use lakeward_agent::model::ModelAccess;
use lakeward_agent::trace::{Difference, Provenance, read_bytes};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::version_of;
use lakeward_models::llm::config::LlmConfig;
use lakeward_models::llm::{Prompts, Recorded};
use lakeward_tasks::task_graph::{TaskAnswer, TaskGraph, TaskSearchOptions};

/// Version of the document; another one is refused.
const VERSION: u32 = 1;

/// A search for the datasets of a task with all that it depended on. `lakeward schema task-trace` prints its JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskTrace {
    /// Version of this layout.
    pub task_trace: u32,
    /// The program's version.
    pub lakeward: String,
    /// The state of the index: its manifest's checksum.
    pub index: String,
    /// The state of the graph.
    pub graph: String,
    /// The embedding model.
    pub embedder: String,
    /// The settings of the language model.
    pub llm: LlmConfig,
    /// The task.
    pub text: String,
    /// How it was searched for.
    pub options: TaskSearchOptions,
    /// What the graph ranked, the model ordered and was asked, and the answer.
    pub provenance: Provenance,
    /// The datasets, best first.
    pub answers: Vec<TaskAnswer>,
    /// 64 hex digits of a hash of the datasets as JSON.
    pub answer_hash: String,
    /// Time to answer, in milliseconds.
    pub elapsed_ms: f64,
}

impl TaskTrace {
    /// Reads a trace; `None` for a file that has none of a task.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Usage`] for a trace that is damaged or of another version.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let text = read_bytes(path)?;
        let Ok(Some(version)) = version_of(&text, "task_trace") else { return Ok(None) };
        let wrong = |what: String| Error::usage(format!("`{}` {what}", path.display()));
        if version != u64::from(VERSION) {
            return Err(wrong(format!("is a trace of version {version}; this program reads version {VERSION}")));
        }
        serde_json::from_slice(&text).map(Some).map_err(|error| wrong(format!("is no trace: {error}")))
    }

    /// Where another search parts from this one first; `None` where both have the same answer.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        let part = |stage: &str, what: &str| Some(Difference { stage: stage.into(), what: what.into() });
        if (&self.text, &self.options) != (&other.text, &other.options) {
            return part("request", &format!("`{}`, then `{}`, or searched for otherwise", self.text, other.text));
        }
        if self.answer_hash == other.answer_hash {
            return None;
        }
        let list = self.provenance.different_list(&other.provenance);
        list.or_else(|| part("answer", "the datasets are told of otherwise"))
    }
}

impl Lakeward {
    /// The datasets of a task with their trace.
    ///
    /// # Errors
    /// As [`Lakeward::datasets_for`].
    pub fn trace_datasets(
        &self,
        graph: &TaskGraph,
        text: &str,
        options: &TaskSearchOptions,
    ) -> Result<(TaskFound, TaskTrace)> {
        self.task_traced(graph, text, options, (self.model().map(Model::access), &self.config().llm))
    }

    /// The search of a trace again, with the model's recorded answers.
    ///
    /// # Errors
    /// As [`Lakeward::datasets_for`]; those of the prompts that the trace's settings name.
    pub fn replay_datasets(&self, graph: &TaskGraph, trace: &TaskTrace) -> Result<TaskTrace> {
        let recorded = trace.provenance.model.as_ref().map(|used| Recorded::of(&used.id, &used.calls));
        let prompts = match trace.llm.prompts.as_deref() {
            Some(folder) => Prompts::load(folder)?,
            None => Prompts::shipped().clone(),
        };
        let access = recorded.as_ref().map(|chat| ModelAccess { chat, prompts: &prompts, cache: None });
        Ok(self.task_traced(graph, &trace.text, &trace.options, (access, &trace.llm))?.1)
    }

    fn task_traced(
        &self,
        graph: &TaskGraph,
        text: &str,
        options: &TaskSearchOptions,
        with: (Option<ModelAccess<'_>>, &LlmConfig),
    ) -> Result<(TaskFound, TaskTrace)> {
        let started = Instant::now();
        let (found, provenance) = self.datasets_by(graph, text, options, with)?;
        let answers: Vec<TaskAnswer> = found.answers.to_vec();
        let written = serde_json::to_vec(&answers).map_err(|error| Error::Internal(error.to_string()))?;
        let trace = TaskTrace {
            task_trace: VERSION,
            lakeward: env!("CARGO_PKG_VERSION").into(),
            index: self.index.manifest().checksum.clone(),
            graph: graph.version()?,
            embedder: self.embedder().id().into(),
            llm: with.1.clone(),
            text: text.into(),
            options: options.clone(),
            provenance,
            answers,
            answer_hash: blake3::hash(&written).to_hex().to_string(),
            elapsed_ms: started.elapsed().as_secs_f64() * 1000.0,
        };
        Ok((found, trace))
    }
}
