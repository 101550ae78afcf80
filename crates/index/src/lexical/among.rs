//! BM25F restricted to a set of tables: the filter is applied while postings are read, so no match is lost to it.
//!
//! Several sums of scores are computed in one pass, in which each postings list is read once, whatever asks for it, and segments are
//! searched in parallel. In lists much longer than the filter it seeks, others it scans; both give the same scores. Rarity and mean lengths
//! are those of all tables. The document frequency of a term is the greatest one over the fields.

use std::collections::HashMap;

use rayon::prelude::*;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{DocId, Term};

use super::LexicalIndex;
use super::field::{Boosts, LexicalField};
use super::query::Query;
use super::score::{K1, Weights};
use super::segment::OpenSegment;
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

/// A sum of scores: each of `ways` for the words of weighted texts. A word of several texts counts once, with the greatest of their
/// weights.
#[derive(Debug, Clone, Copy)]
pub struct WordSum<'a> {
    /// Texts with their weights.
    pub texts: &'a [(&'a str, f32)],
    /// How the words are scored.
    pub ways: &'a [WordScore],
}

impl LexicalIndex {
    /// Each of `sums` for each table of `filter`, in arrays by position in it; 0 for others.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if the word index is damaged.
    pub fn scores_among(&self, sums: &[WordSum<'_>], filter: &TableSet) -> Result<Vec<Vec<f32>>> {
        let mut norms: Vec<(Boosts, f32)> = Vec::new();
        let mut terms: Vec<SumTerm> = Vec::new();
        let mut known: HashMap<(String, bool), usize> = HashMap::new();
        for (sum, WordSum { texts, ways }) in sums.iter().enumerate() {
            for term in Query::from_texts(texts).terms {
                let at = *known.entry((term.term.clone(), term.part)).or_insert_with(|| {
                    terms.push(SumTerm { term: term.term.clone(), part: term.part, uses: Vec::new() });
                    terms.len() - 1
                });
                for way in *ways {
                    let norm = norms.iter().position(|known| *known == (way.boosts, way.length)).unwrap_or_else(|| {
                        norms.push((way.boosts, way.length));
                        norms.len() - 1
                    });
                    terms[at].uses.push(Use { norm, sum, factor: way.weight * term.weight });
                }
            }
        }
        let norms: Vec<Weights> =
            norms.into_iter().map(|(boosts, length)| Weights::with_length(&self.segments, boosts, length)).collect();
        for term in &mut terms {
            self.weigh(term, &norms)?;
        }
        let mut scores = vec![vec![0.0; filter.capacity()]; sums.len()];
        let mut parts: Vec<Vec<&mut [f32]>> = (0..self.segments.len()).map(|_| Vec::new()).collect();
        for scores in &mut scores {
            let mut rest = scores.as_mut_slice();
            for (at, parts) in parts.iter_mut().enumerate() {
                let (part, others) = rest.split_at_mut(filter.places_of(at as u32).len());
                parts.push(part);
                rest = others;
            }
        }
        parts.into_par_iter().enumerate().try_for_each(|(at, mut scores)| {
            let tables = filter.len_in(at as u32) as u64;
            if tables == 0 { Ok(()) } else { self.add_scores(at, (&terms, &norms), (filter, tables), &mut scores) }
        })?;
        Ok(scores)
    }

    /// Multiplies what a term adds by its idf in each way.
    fn weigh(&self, term: &mut SumTerm, norms: &[Weights]) -> Result<()> {
        let mut tables = [0u64; LexicalField::ALL.len()];
        for field in LexicalField::ALL {
            if term.uses.iter().any(|used| term.is_looked_for(field, &norms[used.norm])) {
                let text = term.in_field(self, field);
                for segment in &self.segments {
                    tables[field as usize] += segment.documents_with(field as usize, &text)?;
                }
            }
        }
        for at in 0..term.uses.len() {
            let norm = &norms[term.uses[at].norm];
            let fields = LexicalField::ALL.into_iter().filter(|field| term.is_looked_for(*field, norm));
            let most = fields.map(|field| tables[field as usize]).max().unwrap_or(0);
            term.uses[at].factor *= norm.idf(most as usize);
        }
        Ok(())
    }

    /// Adds the scores of the tables of segment `at` that are among the `tables` of the filter.
    fn add_scores(
        &self,
        at: usize,
        (terms, norms): (&[SumTerm], &[Weights]),
        (filter, tables): (&TableSet, u64),
        scores: &mut [&mut [f32]],
    ) -> Result<()> {
        let segment: &OpenSegment = &self.segments[at];
        let start = filter.places_of(at as u32).start;
        // The documents of the filter, listed where a list is searched by seeking.
        let mut listed: Option<Vec<DocId>> = None;
        let tables_here = scores.first().map_or(0, |scores| scores.len());
        let mut frequencies: Vec<Frequencies> = Vec::new();
        frequencies
            .resize_with(norms.len(), || Frequencies { frequencies: vec![0.0; tables_here], touched: Vec::new() });
        for term in terms {
            for field in LexicalField::ALL {
                let looked_for = |norm: &usize| {
                    term.is_looked_for(field, &norms[*norm]) && term.uses.iter().any(|used| used.norm == *norm)
                };
                let used: Vec<usize> = (0..norms.len()).filter(looked_for).collect();
                let text = term.in_field(self, field);
                let length = if used.is_empty() { 0 } else { segment.documents_with(field as usize, &text)? };
                if length == 0 {
                    continue;
                }
                let mut add = |document: DocId, frequency: u32, lengths: &FieldNormReader| {
                    let table = segment.table(document) as usize;
                    if filter.contains_place(start + table) {
                        let length = lengths.fieldnorm_id(document) as usize;
                        for norm in &used {
                            frequencies[*norm].add(table, norms[*norm].norms_of(field)[length] * frequency as f32);
                        }
                    }
                };
                if length >= SEEK_FROM * tables {
                    let documents = listed.get_or_insert_with(|| segment.documents_among(at as u32, filter));
                    segment.for_each_of(field as usize, &text, documents, add)?;
                } else {
                    segment.for_each_block(field as usize, &text, |documents, frequencies, lengths| {
                        for (&document, &frequency) in documents.iter().zip(frequencies) {
                            add(document, frequency, lengths);
                        }
                    })?;
                }
            }
            for used in &term.uses {
                frequencies[used.norm].add_to_scores(used.factor, scores[used.sum]);
            }
            frequencies.iter_mut().for_each(Frequencies::clear);
        }
        Ok(())
    }
}

/// A term with what it adds to each sum.
struct SumTerm {
    term: String,
    part: bool,
    uses: Vec<Use>,
}

/// A way in which a term is scored: the place of its norms, the sum that it adds to, and by how much.
struct Use {
    norm: usize,
    sum: usize,
    factor: f32,
}

impl SumTerm {
    fn is_looked_for(&self, field: LexicalField, norm: &Weights) -> bool {
        norm.has(field) && (!self.part || field.takes_parts())
    }

    fn in_field(&self, index: &LexicalIndex, field: LexicalField) -> Term {
        Term::from_field_text(index.fields.text[field as usize], &self.term)
    }
}

/// tf~ of the current term by table, and the tables where it is not 0.
struct Frequencies {
    frequencies: Vec<f32>,
    touched: Vec<usize>,
}

impl Frequencies {
    #[inline]
    fn add(&mut self, table: usize, frequency: f32) {
        // A damaged list may name a table that there is not.
        let Some(sum) = self.frequencies.get_mut(table) else { return };
        if *sum == 0.0 {
            self.touched.push(table);
        }
        *sum += frequency;
    }

    fn add_to_scores(&self, weight: f32, scores: &mut [f32]) {
        for &table in &self.touched {
            let frequency = self.frequencies[table];
            if let Some(score) = scores.get_mut(table) {
                *score += weight * frequency * (K1 + 1.0) / (K1 + frequency);
            }
        }
    }

    fn clear(&mut self) {
        self.touched.drain(..).for_each(|table| self.frequencies[table] = 0.0);
    }
}
