//! What sessions have taught, as documents of a graph: a request in an analyst's words is the task, the tables accepted or used
//! for it are its datasets. They are of a kind of their own, so that they can be told from papers, counted and left out.

use xxhash_rust::xxh3::xxh3_64;

use super::graph::TaskGraph;
use crate::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_core::error::Result;

/// What such a document says extracted it.
pub const EXTRACTOR: &str = "session@1";
/// Their ids begin with this.
const PREFIX: &str = "session:";

/// The document of a request: `words` are what it is about, `tables` the ids of the tables that served it.
pub fn document(words: &str, tables: &[&str], year: Option<i32>) -> Extraction {
    let datasets = tables.iter().map(|id| DatasetMention {
        name: (*id).to_string(),
        record: Some((*id).to_string()),
        ..DatasetMention::default()
    });
    let task = ExtractedTask { text: words.to_string(), datasets: datasets.collect(), ..ExtractedTask::default() };
    let document = Extraction {
        document: format!("{PREFIX}{:016x}", xxh3_64(words.as_bytes())),
        title: String::new(),
        year,
        // As the abstract of a paper: else its tasks would count less than theirs.
        text: words.to_string(),
        tasks: vec![task],
        extractor: EXTRACTOR.into(),
    };
    document.bounded()
}

/// Whether a document is what a session has taught.
pub fn is_learned(document: &Extraction) -> bool {
    document.extractor == EXTRACTOR
}

impl TaskGraph {
    /// Ids of the documents that sessions have taught, ascending.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn learned_documents(&self) -> Result<Vec<String>> {
        let mut ids = Vec::new();
        // Documents stand in the order of their ids.
        for place in self.first_document(PREFIX)?..self.meta().documents {
            let document = self.document(place)?;
            if !document.document.starts_with(PREFIX) {
                break;
            }
            if is_learned(&document) {
                ids.push(document.document);
            }
        }
        Ok(ids)
    }
}
