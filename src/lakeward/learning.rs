//! What was learned from sessions of this lake: its store, and its form as documents of the task graph.

use super::Lakeward;
use lakeward_agent::session::{FeedbackStore, TableUse, requests_with_feedback};
use lakeward_core::error::Result;
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::task_graph::{DatasetRecord, TaskSource, learned};

impl Lakeward {
    /// The store of what was learned from sessions, if the settings enable learning.
    pub fn learned(&self) -> FeedbackStore {
        FeedbackStore::new(&self.place.index)
    }

    /// Forgets the learned uses for which `is_removed` returns true; returns their number. A task graph that contains them must
    /// be rebuilt.
    ///
    /// # Errors
    /// Those of [`FeedbackStore::uses`].
    pub fn forget_learned(&self, is_removed: &dyn Fn(&TableUse) -> bool) -> Result<usize> {
        self.sessions().forget_learned(&self.learned(), is_removed)
    }

    /// What was learned from sessions, as documents; none unless the settings enable learning.
    ///
    /// # Errors
    /// Those of [`FeedbackStore::uses`].
    pub(super) fn learned_documents(&self, datasets: &[DatasetRecord]) -> Result<Vec<Extraction>> {
        if !self.config.learning.record {
            return Ok(Vec::new());
        }
        let (uses, _) = self.learned().uses()?;
        let is_known = |id: &str| datasets.binary_search_by(|record| record.id.as_str().cmp(id)).is_ok();
        Ok(documents(uses.iter().filter(|table_use| is_known(&table_use.table))))
    }

    /// The task graph for the agent, opened once for this snapshot.
    pub fn task_source(&self) -> &TaskSource {
        let make = || TaskSource::new(&self.task_graph_folder(), self.embedder.id(), self.config.learning.record);
        self.cache.tasks(make)
    }
}

/// `uses` as documents of the task graph.
fn documents<'a>(uses: impl Iterator<Item = &'a TableUse>) -> Vec<Extraction> {
    let requests = requests_with_feedback(uses);
    requests.iter().map(|request| learned::document(&request.words, &request.tables, request.year)).collect()
}
