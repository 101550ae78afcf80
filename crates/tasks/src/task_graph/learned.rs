//! What sessions have taught, as documents of a graph: the user's request is the task, and the tables accepted or used for it are
//! its datasets. They have their own extractor id, so that they can be told apart from papers, counted and excluded.

use xxhash_rust::xxh3::xxh3_64;

use super::graph::TaskGraph;
use crate::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_core::error::Result;

/// The extractor id of these documents.
pub const EXTRACTOR: &str = "session@1";
/// Prefix of their ids.
const PREFIX: &str = "session:";

/// The document of a request: `words` is its text, `tables` the ids of the tables used for it.
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
        // In place of a paper's abstract; without it these tasks would score lower than those of papers.
        text: words.to_string(),
        tasks: vec![task],
        extractor: EXTRACTOR.into(),
    };
    document.bounded()
}

/// Whether a document comes from a session.
pub fn is_learned(document: &Extraction) -> bool {
    document.extractor == EXTRACTOR
}

impl TaskGraph {
    /// Ids of the documents that come from sessions, ascending.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`].
    pub fn learned_documents(&self) -> Result<Vec<String>> {
        let mut ids = Vec::new();
        // Documents are sorted by id.
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
