//! BM25F over several segments, one term at a time.
//!
//! For term t and table d, with boost w_f, length norm strength b_f, frequency tf, field length l and average length L:
//!
//! tf~(t, d) = Σ_f w_f · tf(t, f, d) / (1 − b_f + b_f · l(f, d) / L_f)
//! score(d)  = Σ_t weight_t · idf(t) · tf~ · (k1 + 1) / (k1 + tf~)
//! idf(t)    = ln(1 + (N − n + 0.5) / (n + 0.5))
//!
//! N, n and L_f are counted over all segments, and sums are computed in the same order whatever the segments, so scores do not depend on
//! how tables are divided. n is the number of tables that have t in any field with a boost above 0.
//!
//! Summing over fields inside the saturation distinguishes BM25F from adding a BM25 score per field: a table cannot win by repeating one
//! word of the query in every field.

use std::sync::Arc;

use rayon::prelude::*;
use tantivy::Term;
use tantivy::fieldnorm::FieldNormReader;

use lakeward_core::error::Result;

use super::field::{Boosts, FIELD_COUNT, Fields, LexicalField};
use super::query::QueryTerm;
use super::segment::OpenSegment;

/// Saturation: how soon further repetitions of a word stop counting. The usual value.
const K1: f32 = 1.2;
/// Length normalisation of every field. The usual value.
pub(super) const B: f32 = 0.75;
/// What a term that a table repeats without end gives for each unit of weight · idf.
pub const TERM_LIMIT: f32 = K1 + 1.0;

/// What a term gives to the score of a table: factor · tf~ · (k1 + 1) / (k1 + tf~), with factor = weight · idf.
#[inline]
pub(super) fn term_score(factor: f32, frequency: f32) -> f32 {
    factor * frequency * TERM_LIMIT / (K1 + frequency)
}

/// Weights of the words of each field, for one set of segments.
pub(super) struct Weights {
    boosts: Boosts,
    /// For each field and length id: boost / (1 − b + b · l / L).
    norms: Box<[[f32; 256]; FIELD_COUNT]>,
    tables: u64,
}

/// Numbers of tables, and of words of each field.
pub(super) struct Sizes {
    pub tables: u64,
    pub words: [u64; FIELD_COUNT],
}

impl Sizes {
    /// Those of `segments`.
    pub fn of(segments: &[Arc<OpenSegment>]) -> Self {
        let mut words = [0; FIELD_COUNT];
        for field in LexicalField::ALL {
            words[field as usize] = segments.iter().map(|segment| segment.words(field as usize)).sum();
        }
        Self { tables: segments.iter().map(|segment| u64::from(segment.documents)).sum(), words }
    }
}

impl Weights {
    pub fn new(segments: &[Arc<OpenSegment>], boosts: Boosts) -> Self {
        Self::with_length(segments, boosts, B)
    }

    /// With another strength of length normalisation, 0..=1.
    pub fn with_length(segments: &[Arc<OpenSegment>], boosts: Boosts, b: f32) -> Self {
        Self::of(&Sizes::of(segments), boosts, b)
    }

    /// Of tables with these sizes.
    pub fn of(Sizes { tables, words }: &Sizes, boosts: Boosts, b: f32) -> Self {
        let (tables, mut norms) = (*tables, Box::new([[0.0; 256]; FIELD_COUNT]));
        for field in LexicalField::ALL {
            let words = words[field as usize];
            let average = (words as f32 / tables.max(1) as f32).max(f32::MIN_POSITIVE);
            for (id, norm) in norms[field as usize].iter_mut().enumerate() {
                let length = FieldNormReader::id_to_fieldnorm(id as u8) as f32;
                *norm = boosts.of(field) / (1.0 - b + b * length / average);
            }
        }
        Weights { boosts, norms, tables }
    }

    /// The fields in which `term` is searched.
    pub fn fields_of(&self, term: &QueryTerm) -> impl Iterator<Item = LexicalField> {
        LexicalField::ALL.into_iter().filter(move |field| self.has(*field) && term.is_in(*field))
    }

    /// Whether a field is searched at all.
    pub fn has(&self, field: LexicalField) -> bool {
        self.boosts.of(field) > 0.0
    }

    /// For each length id of a field: boost / (1 − b + b · l / L).
    pub fn norms_of(&self, field: LexicalField) -> &[f32; 256] {
        &self.norms[field as usize]
    }

    /// The idf of a term that this many tables have; above 0.
    pub fn idf(&self, tables_with_term: usize) -> f32 {
        let n = tables_with_term as f32;
        (1.0 + (self.tables as f32 - n + 0.5) / (n + 0.5)).ln()
    }
}

/// Scores of every table of one segment, and scratch buffers.
struct SegmentScores {
    scores: Vec<f32>,
    /// tf~ of the current term.
    frequencies: Vec<f32>,
    /// Documents whose `frequencies` entry is not 0.
    touched: Vec<u32>,
}

/// The scores of all documents of `segments` for `terms`, by segment and document, 0 if no term occurs; and the number of tables that have
/// each term: `known`, or that of `segments`.
pub(super) fn score(
    segments: &[Arc<OpenSegment>],
    fields: &Fields,
    weights: &Weights,
    terms: &[QueryTerm],
    known: Option<&[u64]>,
) -> Result<(Vec<Vec<f32>>, Vec<usize>)> {
    let mut all: Vec<SegmentScores> = segments.iter().map(|segment| SegmentScores::new(segment.documents)).collect();
    let mut counts = Vec::with_capacity(terms.len());
    for (place, term) in terms.iter().enumerate() {
        segments.par_iter().zip(&mut all).try_for_each(|(segment, scores)| {
            weights.fields_of(term).try_for_each(|field| {
                let term = Term::from_field_text(fields.text[field as usize], &term.term);
                scores.add_frequencies(segment, field as usize, &term, &weights.norms[field as usize])
            })
        })?;
        let here = || all.iter().map(|scores| scores.touched.len()).sum();
        let tables_with_term = known.and_then(|known| known.get(place)).map_or_else(here, |count| *count as usize);
        counts.push(tables_with_term);
        let weight = term.weight * weights.idf(tables_with_term);
        all.par_iter_mut().for_each(|scores| scores.add_scores(weight));
    }
    Ok((all.into_iter().map(|scores| scores.scores).collect(), counts))
}

impl SegmentScores {
    fn new(documents: u32) -> Self {
        let documents = documents as usize;
        SegmentScores { scores: vec![0.0; documents], frequencies: vec![0.0; documents], touched: Vec::new() }
    }

    fn add_frequencies(&mut self, segment: &OpenSegment, field: usize, term: &Term, norms: &[f32; 256]) -> Result<()> {
        segment.for_each_block(field, term, |documents, frequencies, lengths| {
            for (&document, &frequency) in documents.iter().zip(frequencies) {
                let sum = &mut self.frequencies[document as usize];
                if *sum == 0.0 {
                    self.touched.push(document);
                }
                *sum += norms[lengths.fieldnorm_id(document) as usize] * frequency as f32;
            }
        })
    }

    fn add_scores(&mut self, weight: f32) {
        for document in self.touched.drain(..) {
            let frequency = std::mem::take(&mut self.frequencies[document as usize]);
            self.scores[document as usize] += term_score(weight, frequency);
        }
    }
}
