//! The tables that served tasks like the request, and the path through the task graph that led to each.

use super::Agent;
use crate::agentic::TaskChannel;
use crate::recommend::TaskEvidence;
use lakeward_core::error::Result;
use lakeward_index::TableRef;
use lakeward_search::task_search::TaskSearch;

/// Datasets that are proposed.
const MOST_DATASETS: usize = 20;

/// What is known of tasks like one request.
#[derive(Debug, Default)]
pub(super) struct TaskFound {
    /// The tables and records with the way that led to each, best first.
    pub tables: Vec<(TableRef, String, TaskEvidence)>,
    /// How much a table gains that served a task just like the request.
    weight: f64,
    /// Why it is not known.
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
    /// The tables of the lake that served tasks like `text`; nothing where the lake has no task graph.
    pub(super) fn tasks_like(&self, text: &str) -> TaskFound {
        let Some(tasks) = self.tasks.filter(|_| !text.trim().is_empty()) else { return TaskFound::default() };
        match self.tables_of_tasks(tasks, text) {
            Ok(tables) => TaskFound { tables, weight: self.ranking.turn.tasks, trouble: None },
            Err(error) => {
                TaskFound { trouble: Some(format!("the task graph does not help: {error}")), ..TaskFound::default() }
            }
        }
    }

    fn tables_of_tasks(&self, tasks: &dyn TaskSearch, text: &str) -> Result<Vec<(TableRef, String, TaskEvidence)>> {
        let mut tables: Vec<(TableRef, String, TaskEvidence)> = Vec::new();
        for support in tasks.support(self.embedder, text, MOST_DATASETS)? {
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

    /// What is known of tasks as a channel of the search, with its version, where there is something that can be used.
    pub(super) fn task_channel(&self) -> Option<(String, TaskChannel<'_>)> {
        let tasks = self.tasks?;
        let version = tasks.version().ok()??;
        Some((version, TaskChannel::new(self.index, tasks, self.embedder)))
    }
}
