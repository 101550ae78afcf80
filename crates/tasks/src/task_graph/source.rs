//! The task graph of a lake for searches: opened on first use, and without the documents from sessions if those must not count.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::graph::TaskGraph;
use super::search::TaskSearchOptions;
use lakeward_core::error::{Error, Result};
use lakeward_models::embed::Embedder;
use lakeward_search::task_search::{TaskSearch, TaskSupport};

/// The task graph of a lake; a lake without one returns no results.
#[derive(Debug)]
pub struct TaskSource {
    folder: PathBuf,
    embedder: String,
    /// Whether documents from sessions count.
    learned: bool,
    opened: OnceLock<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    graph: Box<TaskGraph>,
    /// Ids of the documents to exclude.
    exclude: Vec<String>,
}

impl TaskSource {
    /// The graph in `folder`, made with the embedding model `embedder`; documents from sessions count if `learned`.
    pub fn new(folder: &Path, embedder: &str, learned: bool) -> Self {
        let (folder, embedder) = (folder.to_path_buf(), embedder.to_string());
        Self { folder, embedder, learned, opened: OnceLock::new() }
    }

    /// The same without the documents `exclude`, for evaluation.
    ///
    /// # Errors
    /// Those of [`TaskGraph::open`].
    pub fn without(folder: &Path, embedder: &dyn Embedder, exclude: &[String]) -> Result<Self> {
        let source = Self::new(folder, embedder.id(), true);
        let graph = Box::new(TaskGraph::open(folder, embedder.id())?);
        source.opened.get_or_init(|| Some(Opened { graph, exclude: exclude.to_vec() }));
        Ok(source)
    }

    fn opened(&self) -> Result<Option<&Opened>> {
        if self.opened.get().is_none() {
            let opened = match self.open() {
                Ok(opened) => Some(opened),
                Err(Error::NoTaskGraph { .. }) => None,
                Err(error) => return Err(error),
            };
            // Another thread may have been faster; both have opened the same file.
            self.opened.get_or_init(|| opened);
        }
        Ok(self.opened.get().and_then(Option::as_ref))
    }

    fn open(&self) -> Result<Opened> {
        let graph = Box::new(TaskGraph::open(&self.folder, &self.embedder)?);
        let exclude = if self.learned { Vec::new() } else { graph.learned_documents()? };
        Ok(Opened { graph, exclude })
    }
}

impl TaskSearch for TaskSource {
    fn version(&self) -> Result<Option<String>> {
        let Some(opened) = self.opened()? else { return Ok(None) };
        Ok(Some(format!("{}-{}", opened.graph.version()?, opened.exclude.len())))
    }

    fn support(&self, embedder: &dyn Embedder, text: &str, most: usize) -> Result<Vec<TaskSupport>> {
        let Some(opened) = self.opened()? else { return Ok(Vec::new()) };
        let options = TaskSearchOptions { exclude: opened.exclude.clone(), ..TaskSearchOptions::new(most) };
        opened.graph.support(embedder, text, &options)
    }
}
