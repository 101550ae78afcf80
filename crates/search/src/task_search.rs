//! What is known of which datasets served which tasks, as searches ask it. Lakeward's own answer is the task graph, which depends on this
//! crate and not the other way round.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::error::Result;
use lakeward_models::embed::Embedder;

/// Finds the tables and records that served tasks like a request.
pub trait TaskSearch: Send + Sync {
    /// Names what is searched, so that what was found with it is no answer of another; none where nothing is known of tasks.
    ///
    /// # Errors
    /// Why what is there cannot be used.
    fn version(&self) -> Result<Option<String>>;

    /// The datasets of the index whose tasks are like `text`, at most `most`, best first; none where nothing is known of tasks.
    ///
    /// # Errors
    /// As [`TaskSearch::version`].
    fn support(&self, embedder: &dyn Embedder, text: &str, most: usize) -> Result<Vec<TaskSupport>>;
}

/// From the request to a task, to the document that says so, to the dataset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskPath {
    /// The task like the request through which `task` was reached, where it was not the request itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// What was to be done.
    pub task: String,
    /// What the field calls it.
    pub task_name: String,
    /// How like the request it is, 0..=1.
    pub similarity: f64,
    /// The document.
    pub document: String,
    /// Its title.
    pub document_title: String,
    /// Its year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// What it calls the dataset.
    pub called: String,
    /// The sentence that says so, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// The heading above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Whether a session has taught it: the document is a request, the dataset a table accepted or used for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub learned: bool,
    /// The dataset that served the task, where the answer is only similar to it: inferred, not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar_to: Option<String>,
}

/// What a graph says for the tables and records of one dataset, beside what they say of themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSupport {
    /// Ids in the index.
    pub ids: Vec<String>,
    /// How far the tasks it served fit the request, 0..=1: of the best dataset as far as the graph knows the request's words.
    pub share: f64,
    /// The way from the request to it.
    pub path: TaskPath,
    /// The way in a sentence.
    pub reason: String,
}
