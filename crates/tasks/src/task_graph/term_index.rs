//! An in-memory inverted index of word numbers, ranked by BM25, from which each query can exclude documents.
//!
//! Excluded documents count nowhere: document frequencies, the number of documents and their mean length are those of an index
//! that never held them.

use std::collections::HashMap;

/// Saturation of repeated words (Robertson and Zaragoza, 2009).
const K1: f64 = 1.2;
/// Strength of the length normalisation.
const B: f64 = 0.75;

/// Documents as bags of words.
#[derive(Debug, Default)]
pub struct TermIndex {
    /// Where the postings of each word start; one more entry than words.
    starts: Vec<usize>,
    /// (document, term frequency) by word, documents ascending.
    postings: Vec<(u32, u32)>,
    lengths: Vec<u32>,
    /// The statistics are those of the first `counted` documents.
    counted: usize,
}

/// The statistics of an index without the excluded documents.
struct Counted {
    documents: f64,
    mean_length: f64,
}

impl TermIndex {
    /// The index of `documents`, each a list of word numbers below `words`, with repetitions. The statistics are those of the first
    /// `counted` documents.
    pub fn new<'a>(words: usize, counted: usize, documents: impl Iterator<Item = &'a [u32]> + Clone) -> Self {
        let mut starts = vec![0usize; words + 1];
        let mut bag: HashMap<u32, u32> = HashMap::new();
        let mut lengths = Vec::new();
        let mut entries: Vec<(u32, u32, u32)> = Vec::new();
        for (document, list) in documents.enumerate() {
            bag.clear();
            for word in list.iter().filter(|word| (**word as usize) < words) {
                *bag.entry(*word).or_default() += 1;
            }
            lengths.push(list.len() as u32);
            entries.extend(bag.iter().map(|(word, times)| (*word, document as u32, *times)));
        }
        for (word, _, _) in &entries {
            starts[*word as usize + 1] += 1;
        }
        for word in 0..words {
            starts[word + 1] += starts[word];
        }
        let mut next = starts.clone();
        let mut postings = vec![(0, 0); entries.len()];
        // Entries are sorted by document, so the lists are ascending.
        for (word, document, times) in entries {
            let place = &mut next[word as usize];
            postings[*place] = (document, times);
            *place += 1;
        }
        Self { starts, postings, counted: counted.min(lengths.len()), lengths }
    }

    /// The documents that contain `word`, ascending, with its frequency in each.
    pub fn documents(&self, word: u32) -> &[(u32, u32)] {
        let at = word as usize;
        if at + 1 >= self.starts.len() { &[] } else { &self.postings[self.starts[at]..self.starts[at + 1]] }
    }

    /// BM25 of every document for `query`, repeated words counted once; 0 for those in `excluded`, which must be ascending.
    /// idf = ln(1 + (N − df + ½) / (df + ½)).
    pub fn scores(&self, query: &[u32], excluded: &[u32]) -> Vec<f64> {
        let mut scores = vec![0.0; self.lengths.len()];
        let counted = self.counted_without(excluded);
        let mut words = query.to_vec();
        words.sort_unstable();
        words.dedup();
        for word in words {
            let documents = self.documents(word);
            let df = documents
                .iter()
                .filter(|(document, _)| {
                    (*document as usize) < self.counted && excluded.binary_search(document).is_err()
                })
                .count();
            let idf = idf(counted.documents, df as f64);
            for (document, times) in documents {
                let times = f64::from(*times);
                let length = f64::from(self.lengths[*document as usize]) / counted.mean_length;
                scores[*document as usize] += idf * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length));
            }
        }
        excluded.iter().for_each(|document| {
            if let Some(score) = scores.get_mut(*document as usize) {
                *score = 0.0;
            }
        });
        scores
    }

    /// The idf of `word`.
    pub fn idf(&self, word: u32) -> f64 {
        let df = self.documents(word).iter().filter(|(document, _)| (*document as usize) < self.counted).count();
        idf(self.counted as f64, df as f64)
    }

    /// The idf of a word that no document contains.
    pub fn idf_of_unknown(&self) -> f64 {
        idf(self.counted as f64, 0.0)
    }

    fn counted_without(&self, excluded: &[u32]) -> Counted {
        let total: u64 = self.lengths[..self.counted].iter().map(|length| u64::from(*length)).sum();
        let excluded_counted: Vec<u32> =
            excluded.iter().copied().filter(|document| (*document as usize) < self.counted).collect();
        let excluded_length: u64 =
            excluded_counted.iter().map(|document| u64::from(self.lengths[*document as usize])).sum();
        let documents = (self.counted - excluded_counted.len()) as f64;
        Counted { documents, mean_length: ((total - excluded_length) as f64 / documents.max(1.0)).max(1e-9) }
    }
}

fn idf(documents: f64, df: f64) -> f64 {
    (1.0 + (documents - df + 0.5) / (df + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluded_documents_do_not_count() {
        let documents: [&[u32]; 4] = [&[0, 1, 1], &[1, 2], &[0, 2, 2, 2], &[1]];
        let all = TermIndex::new(3, 4, documents.iter().copied());
        let without = TermIndex::new(3, 3, [documents[0], documents[2], documents[3]].into_iter());
        let (found, expected) = (all.scores(&[1, 2, 2], &[1]), without.scores(&[1, 2], &[]));
        assert_eq!(found, [expected[0], 0.0, expected[1], expected[2]]);
        assert!(all.scores(&[7], &[]).iter().all(|score| *score == 0.0));
        assert!(TermIndex::default().scores(&[1], &[]).is_empty());
    }
}
