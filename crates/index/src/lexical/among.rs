//! BM25F of chosen tables only: the filter is applied where postings are read, so that nothing is lost to it.
//!
//! Lists much longer than the filter are sought in, others are read through; either way a table's score is the same. Rarity and
//! mean lengths are those of all tables. As how many tables have a term counts the most that have it in one field.

use tantivy::{DocId, Term};

use super::LexicalIndex;
use super::field::{Boosts, LexicalField};
use super::query::Query;
use super::score::{K1, Weights};
use super::segment::OpenSegment;
use crate::open::TableRef;
use crate::table_set::TableSet;
use lakeward_core::error::Result;

/// A list is sought in when it is so many times as long as the filter.
const SOUGHT_FROM: u64 = 8;

/// One way of scoring tables by words.
#[derive(Debug, Clone, Copy)]
pub struct WordScore {
    /// Which fields count, and how much.
    pub boosts: Boosts,
    /// How much a field's length counts, 0..=1: b of BM25.
    pub length: f32,
    /// What the scores are multiplied by before they are added.
    pub weight: f32,
}

impl LexicalIndex {
    /// Adds to `scores`, an array by place in `wanted`, the BM25F of each table of `wanted` for the words of weighted texts. A word of
    /// several texts counts once, with the greatest of their weights.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where the word index is damaged.
    pub fn add_scores_among(
        &self,
        texts: &[(&str, f32)],
        ways: &[WordScore],
        wanted: &TableSet,
        scores: &mut [f32],
    ) -> Result<()> {
        let query = Query::from_texts(texts);
        let sizes: Vec<u64> = (0..self.segments.len()).map(|at| wanted.len_in(at as u32) as u64).collect();
        // Listed where a list of postings is sought in.
        let mut documents: Vec<Option<Vec<DocId>>> = vec![None; self.segments.len()];
        let mut room = Room { frequencies: vec![0.0; wanted.capacity()], touched: Vec::new() };
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
                        if length >= SOUGHT_FROM * sizes[at] {
                            let sought =
                                documents[at].get_or_insert_with(|| segment.documents_among(at as u32, wanted));
                            reading.seek(sought, wanted, &mut room)?;
                        } else {
                            reading.read_through(wanted, &mut room)?;
                        }
                    }
                    tables_with_term = tables_with_term.max(tables);
                }
                room.give(way.weight * term.weight * weights.idf(tables_with_term), scores);
            }
        }
        Ok(())
    }
}

/// tf~ of the term at hand, by place, and the places where it is not 0.
struct Room {
    frequencies: Vec<f32>,
    touched: Vec<usize>,
}

impl Room {
    #[inline]
    fn add(&mut self, place: usize, frequency: f32) {
        let sum = &mut self.frequencies[place];
        if *sum == 0.0 {
            self.touched.push(place);
        }
        *sum += frequency;
    }

    fn give(&mut self, weight: f32, scores: &mut [f32]) {
        for place in self.touched.drain(..) {
            let frequency = std::mem::take(&mut self.frequencies[place]);
            if let Some(score) = scores.get_mut(place) {
                *score += weight * frequency * (K1 + 1.0) / (K1 + frequency);
            }
        }
    }
}

/// One list of postings.
struct Reading<'a> {
    at: usize,
    segment: &'a OpenSegment,
    field: LexicalField,
    term: &'a Term,
    norms: &'a [f32; 256],
}

impl Reading<'_> {
    #[inline]
    fn place(&self, document: DocId, wanted: &TableSet) -> Option<usize> {
        let table = TableRef { segment: self.at as u32, table: self.segment.table(document) };
        wanted.place(table).filter(|place| wanted.contains_place(*place))
    }

    fn read_through(&self, wanted: &TableSet, room: &mut Room) -> Result<()> {
        self.segment.for_each_block(self.field as usize, self.term, |documents, frequencies, lengths| {
            for (&document, &frequency) in documents.iter().zip(frequencies) {
                if let Some(place) = self.place(document, wanted) {
                    room.add(place, self.norms[lengths.fieldnorm_id(document) as usize] * frequency as f32);
                }
            }
        })
    }

    fn seek(&self, documents: &[DocId], wanted: &TableSet, room: &mut Room) -> Result<()> {
        self.segment.for_each_of(self.field as usize, self.term, documents, |document, frequency, lengths| {
            if let Some(place) = self.place(document, wanted) {
                room.add(place, self.norms[lengths.fieldnorm_id(document) as usize] * frequency as f32);
            }
        })
    }
}
