//! A channel is one way to search: it gives a ranked list of tables for a text.

use lakeward_core::error::Result;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_models::embed::Embedder;
use lakeward_search::channels;
use lakeward_search::task_search::TaskSearch;

/// What a channel compares, which decides how much it counts for which query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// Words as they are written.
    Words,
    /// What they mean.
    Meaning,
}

/// A ranked list for a text.
pub trait Channel {
    /// Its name in traces: lower-case words joined by hyphens.
    fn name(&self) -> &str;

    /// What it compares.
    fn kind(&self) -> ChannelKind;

    /// How much it counts beside the others of its kind; 1 for the tables themselves.
    fn weight(&self) -> f64 {
        1.0
    }

    /// At most `depth` tables with its own scores, best first, each once.
    ///
    /// # Errors
    /// Whatever keeps it from searching; the others are asked all the same.
    fn search(&self, text: &str, depth: usize) -> Result<Vec<(String, f64)>>;
}

/// Tables by their words (BM25F).
pub struct WordsChannel<'a>(pub &'a LakeIndex);

impl Channel for WordsChannel<'_> {
    fn name(&self) -> &str {
        "words"
    }

    fn kind(&self) -> ChannelKind {
        ChannelKind::Words
    }

    fn search(&self, text: &str, depth: usize) -> Result<Vec<(String, f64)>> {
        named(self.0, channels::by_words(self.0, text, depth)?)
    }
}

/// Tables by their vectors.
pub struct MeaningChannel<'a>(pub &'a LakeIndex, pub &'a dyn Embedder);

impl Channel for MeaningChannel<'_> {
    fn name(&self) -> &str {
        "meaning"
    }

    fn kind(&self) -> ChannelKind {
        ChannelKind::Meaning
    }

    fn search(&self, text: &str, depth: usize) -> Result<Vec<(String, f64)>> {
        named(self.0, channels::by_meaning(self.0, self.1, text, depth)?)
    }
}

/// Tables by the tasks that they served.
pub struct TaskChannel<'a> {
    index: &'a LakeIndex,
    tasks: &'a dyn TaskSearch,
    embedder: &'a dyn Embedder,
}

impl<'a> TaskChannel<'a> {
    /// What `tasks` knows of the tables of `index`.
    pub fn new(index: &'a LakeIndex, tasks: &'a dyn TaskSearch, embedder: &'a dyn Embedder) -> Self {
        Self { index, tasks, embedder }
    }
}

impl Channel for TaskChannel<'_> {
    fn name(&self) -> &str {
        "task"
    }

    fn kind(&self) -> ChannelKind {
        ChannelKind::Meaning
    }

    fn search(&self, text: &str, depth: usize) -> Result<Vec<(String, f64)>> {
        let mut found: Vec<(String, f64)> = Vec::new();
        for support in self.tasks.support(self.embedder, text, depth)? {
            for id in support.ids {
                // The lake may have changed since the graph was built.
                let is_new = found.iter().all(|(known, _)| *known != id);
                if is_new && self.index.get(&id)?.is_some() {
                    found.push((id, support.share));
                }
            }
        }
        found.truncate(depth);
        Ok(found)
    }
}

fn named(index: &LakeIndex, found: Vec<(TableRef, f64)>) -> Result<Vec<(String, f64)>> {
    found.into_iter().map(|(table, score)| Ok((index.id(table)?.to_string(), score))).collect()
}
