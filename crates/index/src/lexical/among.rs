//! BM25F restricted to a set of tables: the filter is applied while postings are read, so no match is lost to it.
//!
//! In lists much longer than the filter it seeks, others it scans; both give the same scores. Rarity and mean lengths are those of all
//! tables. The document frequency of a term is the greatest one over the fields.

use tantivy::{DocId, Term};

use super::LexicalIndex;
use super::field::{Boosts, LexicalField};
use super::query::Query;
use super::score::{K1, Weights};
use super::segment::OpenSegment;
use crate::open::TableRef;
use crate::table_set::TableSet;
use lakeward_core::error::Result;

/// The search seeks in a list that is at least this many times as long as the filter.
const SEEK_FROM: u64 = 8;

/// One way to score tables by words.
#[derive(Debug, Clone, Copy)]
pub struct WordScore {
    /// The boosts of the fields.
    pub boosts: Boosts,
    /// Strength of length normalisation, 0..=1: b of BM25.
    pub length: f32,
    /// Factor of the scores in the sum.
    pub weight: f32,
}

impl LexicalIndex {
    /// Adds to `scores`, an array by position in `filter`, the BM25F score of each table of `filter` for the words of weighted texts. A
    /// word of several texts counts once, with the greatest of their weights.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if the word index is damaged.
    pub fn add_scores_among(
        &self,
        texts: &[(&str, f32)],
        ways: &[WordScore],
        filter: &TableSet,
        scores: &mut [f32],
    ) -> Result<()> {
        let query = Query::from_texts(texts);
        let sizes: Vec<u64> = (0..self.segments.len()).map(|at| filter.len_in(at as u32) as u64).collect();
        // The documents of the filter, listed for segments where a list is searched by seeking.
        let mut documents: Vec<Option<Vec<DocId>>> = vec![None; self.segments.len()];
        let mut sums = Frequencies { frequencies: vec![0.0; filter.capacity()], touched: Vec::new() };
        for way in ways {
            let weights = Weights::with_length(&self.segments, way.boosts, way.length);
            for term in &query.terms {
                let mut tables_with_term = 0;
                for field in weights.fields_of(term) {
                    let term = Term::from_field_text(self.fields.text[field as usize], &term.term);
                    let mut tables = 0;
                    for (at, segment) in self.segments.iter().enumerate() {
                        let length = segment.documents_with(field as usize, &term)?;
                        tables += length as usize;
                        if length == 0 || sizes[at] == 0 {
                            continue;
                        }
                        let norms = weights.norms_of(field);
                        let reading = Reading { at, segment, field, term: &term, norms };
                        if length >= SEEK_FROM * sizes[at] {
                            let filtered =
                                documents[at].get_or_insert_with(|| segment.documents_among(at as u32, filter));
                            reading.seek(filtered, filter, &mut sums)?;
                        } else {
                            reading.scan(filter, &mut sums)?;
                        }
                    }
                    tables_with_term = tables_with_term.max(tables);
                }
                sums.add_to_scores(way.weight * term.weight * weights.idf(tables_with_term), scores);
            }
        }
        Ok(())
    }
}

/// tf~ of the current term by position, and the positions where it is not 0.
struct Frequencies {
    frequencies: Vec<f32>,
    touched: Vec<usize>,
}

impl Frequencies {
    #[inline]
    fn add(&mut self, place: usize, frequency: f32) {
        let sum = &mut self.frequencies[place];
        if *sum == 0.0 {
            self.touched.push(place);
        }
        *sum += frequency;
    }

    fn add_to_scores(&mut self, weight: f32, scores: &mut [f32]) {
        for place in self.touched.drain(..) {
            let frequency = std::mem::take(&mut self.frequencies[place]);
            if let Some(score) = scores.get_mut(place) {
                *score += weight * frequency * (K1 + 1.0) / (K1 + frequency);
            }
        }
    }
}

/// One postings list.
struct Reading<'a> {
    at: usize,
    segment: &'a OpenSegment,
    field: LexicalField,
    term: &'a Term,
    norms: &'a [f32; 256],
}

impl Reading<'_> {
    #[inline]
    fn place(&self, document: DocId, filter: &TableSet) -> Option<usize> {
        let table = TableRef { segment: self.at as u32, table: self.segment.table(document) };
        filter.place(table).filter(|place| filter.contains_place(*place))
    }

    fn scan(&self, filter: &TableSet, sums: &mut Frequencies) -> Result<()> {
        self.segment.for_each_block(self.field as usize, self.term, |documents, frequencies, lengths| {
            for (&document, &frequency) in documents.iter().zip(frequencies) {
                if let Some(place) = self.place(document, filter) {
                    sums.add(place, self.norms[lengths.fieldnorm_id(document) as usize] * frequency as f32);
                }
            }
        })
    }

    fn seek(&self, documents: &[DocId], filter: &TableSet, sums: &mut Frequencies) -> Result<()> {
        self.segment.for_each_of(self.field as usize, self.term, documents, |document, frequency, lengths| {
            if let Some(place) = self.place(document, filter) {
                sums.add(place, self.norms[lengths.fieldnorm_id(document) as usize] * frequency as f32);
            }
        })
    }
}
