//! What sessions of this lake have taught: where it is kept, and the documents that a task graph takes it in as.

use std::collections::BTreeMap;

use super::Lakeward;
use crate::agent::TaskSource;
use crate::agent::signals::content_words;
use crate::error::Result;
use crate::papers::extraction::Extraction;
use crate::session::{LearnedStore, LearnedUse};
use crate::task_graph::{DatasetRecord, learned};

impl Lakeward {
    /// Where it is kept what sessions teach, if the settings let them.
    pub fn learned(&self) -> LearnedStore {
        LearnedStore::new(&self.place.index)
    }

    /// Forgets what sessions have taught where `gone` says so; how much that was. A graph that has taken it in has to be built anew.
    ///
    /// # Errors
    /// Those of [`LearnedStore::uses`].
    pub fn forget_learned(&self, gone: &dyn Fn(&LearnedUse) -> bool) -> Result<usize> {
        self.sessions().forget_learned(&self.learned(), gone)
    }

    /// What sessions have taught, as documents; none where the settings do not let it count.
    ///
    /// # Errors
    /// Those of [`LearnedStore::uses`].
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

/// The documents of a graph that `uses` are: one for the requests that are about the same, with all tables that served them.
pub fn documents<'a>(uses: impl Iterator<Item = &'a LearnedUse>) -> Vec<Extraction> {
    let mut requests: BTreeMap<String, (Vec<&str>, Option<i32>)> = BTreeMap::new();
    for known in uses {
        let words = content_words(&known.request).to_lowercase();
        let (tables, year) = requests.entry(words).or_default();
        if !tables.contains(&known.table.as_str()) {
            tables.push(&known.table);
        }
        // Of the latest of them.
        *year = known.at.get(..4).and_then(|year| year.parse().ok()).or(*year);
    }
    requests.iter().map(|(words, (tables, year))| learned::document(words, tables, *year)).collect()
}
