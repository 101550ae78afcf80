//! What a lake's task graph says for a turn: which tables served tasks like the request, and the way that led to each.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::Agent;
use crate::agentic::TaskChannel;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::index::TableRef;
use crate::recommend::TaskEvidence;
use crate::task_graph::{TaskGraph, TaskSearchOptions};

/// How much a table that served a task just like the request gains, as a share of what the best table says of itself, where no table
/// says a word of the request.
/// `eval/task_search.md` has what other weights give.
const WEIGHT: f64 = 2.0;
/// Datasets that a graph proposes.
const MOST_DATASETS: usize = 20;

/// The task graph of a lake, opened when it is first needed.
#[derive(Debug)]
pub struct TaskSource {
    folder: PathBuf,
    embedder: String,
    /// Whether what sessions have taught counts.
    learned: bool,
    weight: f64,
    opened: OnceLock<Opened>,
}

/// What there is.
#[derive(Debug)]
enum Opened {
    Nothing,
    Graph(Box<TaskGraph>, TaskSearchOptions),
    /// There is one, and it cannot be used: why.
    Trouble(String),
}

impl TaskSource {
    /// The graph in `folder`, made with the embedding model `embedder`; what sessions have taught counts where `learned` says so.
    pub fn new(folder: &Path, embedder: &str, learned: bool) -> Self {
        let (folder, embedder) = (folder.to_path_buf(), embedder.to_string());
        Self { folder, embedder, learned, weight: WEIGHT, opened: OnceLock::new() }
    }

    /// The same counting `weight` beside what the best table says of itself: for measuring.
    pub fn weighing(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The same without the documents `exclude`: for measuring.
    ///
    /// # Errors
    /// Those of [`TaskGraph::open`].
    pub fn without(folder: &Path, embedder: &dyn Embedder, exclude: &[String]) -> Result<Self> {
        let source = Self::new(folder, embedder.id(), true);
        let options = TaskSearchOptions { exclude: exclude.to_vec(), ..options() };
        let graph = TaskGraph::open(folder, embedder.id())?;
        source.opened.get_or_init(|| Opened::Graph(Box::new(graph), options));
        Ok(source)
    }

    fn opened(&self) -> &Opened {
        self.opened.get_or_init(|| match self.open() {
            Ok((graph, options)) => Opened::Graph(Box::new(graph), options),
            Err(Error::NoTaskGraph { .. }) => Opened::Nothing,
            Err(error) => Opened::Trouble(error.to_string()),
        })
    }

    fn open(&self) -> Result<(TaskGraph, TaskSearchOptions)> {
        let graph = TaskGraph::open(&self.folder, &self.embedder)?;
        let exclude = if self.learned { Vec::new() } else { graph.learned_documents()? };
        Ok((graph, TaskSearchOptions { exclude, ..options() }))
    }

    /// The graph with how it is searched, where there is one that can be used.
    pub fn graph(&self) -> Option<(&TaskGraph, &TaskSearchOptions)> {
        match self.opened() {
            Opened::Graph(graph, options) => Some((graph, options)),
            Opened::Nothing | Opened::Trouble(_) => None,
        }
    }

    /// Why a graph that is there cannot be used.
    pub fn trouble(&self) -> Option<&str> {
        match self.opened() {
            Opened::Trouble(reason) => Some(reason),
            Opened::Nothing | Opened::Graph(..) => None,
        }
    }
}

fn options() -> TaskSearchOptions {
    TaskSearchOptions::new(MOST_DATASETS)
}

/// What the graph says for one request.
#[derive(Debug, Default)]
pub(super) struct TaskFound {
    /// The tables and records with the way that led to each, best first.
    pub tables: Vec<(TableRef, String, TaskEvidence)>,
    /// How much a table gains that served a task just like the request.
    weight: f64,
    /// Why the graph could not be asked.
    pub trouble: Option<String>,
}

impl TaskFound {
    /// What each table gains.
    pub fn gains(&self) -> Vec<(TableRef, f64)> {
        self.tables.iter().map(|(table, _, evidence)| (*table, self.weight * evidence.share)).collect()
    }

    /// What was found for the table `id`.
    pub fn evidence(&self, id: &str) -> Option<&TaskEvidence> {
        self.tables.iter().find(|(_, table, _)| table == id).map(|(_, _, evidence)| evidence)
    }
}

impl Agent<'_> {
    /// The tables of the lake that served tasks like `text`; nothing where the lake has no graph.
    pub(super) fn served(&self, text: &str) -> TaskFound {
        let Some(source) = self.tasks.filter(|_| !text.trim().is_empty()) else { return TaskFound::default() };
        let told = |trouble: String| TaskFound {
            trouble: Some(format!("the task graph does not help: {trouble}")),
            ..TaskFound::default()
        };
        if let Some(trouble) = source.trouble() {
            return told(trouble.to_string());
        }
        let Some((graph, options)) = source.graph() else { return TaskFound::default() };
        match self.tables_served(graph, options, text) {
            Ok(tables) => TaskFound { tables, weight: source.weight, trouble: None },
            Err(error) => told(error.to_string()),
        }
    }

    fn tables_served(
        &self,
        graph: &TaskGraph,
        options: &TaskSearchOptions,
        text: &str,
    ) -> Result<Vec<(TableRef, String, TaskEvidence)>> {
        let mut tables: Vec<(TableRef, String, TaskEvidence)> = Vec::new();
        for support in graph.support(self.embedder, text, options)? {
            for id in support.ids {
                // The lake may have changed since the graph was built.
                let Some(table) = self.index.get(&id)? else { continue };
                if tables.iter().all(|(known, _, _)| *known != table) {
                    let (path, reason) = (support.path.clone(), support.reason.clone());
                    tables.push((table, id, TaskEvidence { share: support.share, path, reason }));
                }
            }
        }
        Ok(tables)
    }

    /// The graph as a channel of the search, where there is one that can be used.
    pub(super) fn task_channel(&self) -> Option<TaskChannel<'_>> {
        let (graph, options) = self.tasks?.graph()?;
        Some(TaskChannel::new(self.index, graph, self.embedder, options.clone()))
    }
}
