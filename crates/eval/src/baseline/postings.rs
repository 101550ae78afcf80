//! Inverted lists of words, for the lexical baselines: which document contains which stem how often.

use super::PlainTable;
use super::words::{Analysis, Vocabulary};

/// A collection as bags of stems. Memory: 8 bytes for each distinct stem of each document, and the [`Vocabulary`].
#[derive(Default)]
pub(super) struct Postings {
    vocabulary: Vocabulary,
    /// (document, occurrences), ascending by document; one list per stem.
    lists: Vec<Vec<(u32, u32)>>,
    /// Number of words of each document, without stop words.
    lengths: Vec<u32>,
    /// The stems of the document being added.
    stems: Vec<u32>,
}

impl Postings {
    pub fn new(analysis: Analysis) -> Self {
        Postings { vocabulary: Vocabulary::new(analysis), ..Postings::default() }
    }

    /// Adds the next document: title, description, headers, and the cells of its first `rows` rows.
    pub fn add(&mut self, table: &PlainTable, rows: usize) {
        let document = self.lengths.len() as u32;
        self.stems.clear();
        let record = [&table.title, &table.description];
        let texts = record
            .into_iter()
            .chain(&table.headers)
            .chain(table.columns.iter().flat_map(|cells| cells.iter().take(rows)));
        for text in texts {
            self.vocabulary.add(text, &mut self.stems);
        }
        self.lengths.push(self.stems.len() as u32);
        self.lists.resize_with(self.vocabulary.len(), Vec::new);
        for (stem, count) in counted(&mut self.stems) {
            self.lists[stem as usize].push((document, count));
        }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Number of words of each document.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// The lists of all stems.
    pub fn lists(&self) -> &[Vec<(u32, u32)>] {
        &self.lists
    }

    /// The stems of a query that occur in the collection, each once with its count, and their lists.
    pub fn find<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Vec<(u32, &[(u32, u32)])> {
        let mut stems = Vec::new();
        for text in texts {
            self.vocabulary.find(text, &mut stems);
        }
        counted(&mut stems).into_iter().map(|(stem, count)| (count, self.lists[stem as usize].as_slice())).collect()
    }
}

/// Each stem once with its count, ascending.
fn counted(stems: &mut [u32]) -> Vec<(u32, u32)> {
    stems.sort_unstable();
    stems.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}
