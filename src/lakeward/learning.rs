//! What sessions of this lake have taught: where it is kept, and the documents that a task graph takes it in as.

use super::Lakeward;
use lakeward_agent::session::{FeedbackStore, TableUse, requests_with_feedback};
use lakeward_core::error::Result;
use lakeward_tasks::papers::extraction::Extraction;
use lakeward_tasks::task_graph::{DatasetRecord, TaskSource, learned};

impl Lakeward {
    /// Where it is kept what sessions teach, if the settings let them.
    pub fn learned(&self) -> FeedbackStore {
        FeedbackStore::new(&self.place.index)
    }

    /// Forgets what sessions have taught where `gone` says so; how much that was. A graph that has taken it in has to be built anew.
    ///
    /// # Errors
    /// Those of [`FeedbackStore::uses`].
    pub fn forget_learned(&self, gone: &dyn Fn(&TableUse) -> bool) -> Result<usize> {
        self.sessions().forget_learned(&self.learned(), gone)
    }

    /// What sessions have taught, as documents; none where the settings do not let it count.
    ///
    /// # Errors
    /// Those of [`FeedbackStore::uses`].
    pub(super) fn learned_documents(&self, datasets: &[DatasetRecord]) -> Result<Vec<Extraction>> {
        if !self.config.learning.record {
            return Ok(Vec::new());
        }
        let (uses, _) = self.learned().uses()?;
        let is_known = |id: &str| datasets.binary_search_by(|record| record.id.as_str().cmp(id)).is_ok();
        Ok(documents(uses.iter().filter(|known| is_known(&known.table))))
    }

    /// The task graph as an agent asks it, opened once for this snapshot.
    pub fn task_source(&self) -> &TaskSource {
        let make = || TaskSource::new(&self.task_graph_folder(), self.embedder.id(), self.config.learning.record);
        self.kept.tasks(make)
    }
}

/// The documents of a graph that `uses` are.
fn documents<'a>(uses: impl Iterator<Item = &'a TableUse>) -> Vec<Extraction> {
    let requests = requests_with_feedback(uses);
    requests.iter().map(|request| learned::document(&request.words, &request.tables, request.year)).collect()
}
