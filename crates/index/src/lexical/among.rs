//! BM25F restricted to a set of tables: the filter is applied while postings are read, so no match is lost to it.
//!
//! Documents are scored window by window, so that what is added up stays in the processor's caches, and on all cores. In a window the words
//! that can give most come first. Where only the best count ([`TopTables`]), a table that the words still to come cannot lift among
//! them is left, as MaxScore does (Turtle and Flood, 1995); where all are left, their postings are skipped. Rarity and mean lengths are
//! those of all tables. The document frequency of a term is the greatest one over the fields.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use tantivy::{DocId, Term};

use super::LexicalIndex;
use super::field::{Boosts, LexicalField};
use super::query::Query;
use super::score::{TERM_LIMIT, Weights, term_score};
use super::segment::{Cursor, OpenSegment, guarded};
use crate::table_set::TableSet;
use lakeward_core::error::Result;

/// Documents of a window.
const WINDOW: usize = 1 << 16;
/// Windows of a core are divided into so many parts, so that none waits long for another.
const PARTS: usize = 4;
/// The search seeks a document in a list where fewer than one of so many are looked for.
const SEEK_FROM: usize = 8;

/// How tables are scored by words.
#[derive(Debug, Clone, Copy)]
pub struct WordScore {
    /// The boosts of the fields.
    pub boosts: Boosts,
    /// Strength of length normalisation, 0..=1: b of BM25.
    pub length: f32,
}

/// The tables whose scores have to be exact: those whose value is at most `margin` below that of the `count`-th best one.
#[derive(Clone, Copy)]
pub struct TopTables<'a> {
    /// At least 1.
    pub count: usize,
    /// 0 or more.
    pub margin: f32,
    /// The value of the table at a place of the filter with a score; it grows with the score.
    pub value: &'a (dyn Fn(usize, f32) -> f32 + Sync),
    /// The greatest value of any table with a score.
    pub most: &'a (dyn Fn(f32) -> f32 + Sync),
}

impl LexicalIndex {
    /// The score of each table of `filter` for the words of weighted texts, by place in it; 0 for others. A word of several texts counts once,
    /// with the greatest of their weights. Of a table that is not among the `top` it may be less.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if the word index is damaged.
    pub fn scores_among(
        &self,
        texts: &[(&str, f32)],
        score: WordScore,
        filter: &TableSet,
        top: Option<TopTables<'_>>,
    ) -> Result<Vec<f32>> {
        let weights = Weights::with_length(&self.segments, score.boosts, score.length);
        let mut terms: Vec<CountedTerm> = Vec::new();
        for term in Query::from_texts(texts).terms {
            let fields: Vec<LexicalField> = weights.fields_of(&term).collect();
            let mut most = 0;
            for &field in &fields {
                let text = self.term_in(field, &term.term);
                let with = |segment: &std::sync::Arc<OpenSegment>| segment.documents_with(field as usize, &text);
                most = most.max(self.segments.iter().map(with).sum::<Result<u64>>()?);
            }
            if most == 0 {
                continue;
            }
            let factor = term.weight * weights.idf(most as usize);
            terms.push(CountedTerm { term: term.term, fields, factor, rest: 0.0 });
        }
        terms.sort_by(|a, b| b.factor.total_cmp(&a.factor).then_with(|| a.term.cmp(&b.term)));
        let mut rest = 0.0;
        for term in terms.iter_mut().rev() {
            rest += term.factor * TERM_LIMIT;
            // A sum in another order may be a little greater.
            term.rest = rest * (1.0 + 1e-5);
        }
        let mut scores = vec![0.0; filter.capacity()];
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut others = scores.as_mut_slice();
        for (at, segment) in self.segments.iter().enumerate() {
            let (mut own, after) = others.split_at_mut(filter.places_of(at as u32).len());
            others = after;
            // Where documents are not in the order of tables, one part has them all.
            let windows = (segment.documents as usize).div_ceil(WINDOW);
            let each = windows.div_ceil(PARTS * rayon::current_num_threads()).max(1) * WINDOW;
            let mut first = 0;
            while segment.in_order && own.len() > each {
                let (part, after) = own.split_at_mut(each);
                parts.push(Part { segment: at, first, scores: part });
                (own, first) = (after, first + each);
            }
            parts.push(Part { segment: at, first, scores: own });
        }
        let least = Least(AtomicU32::new(f32::NEG_INFINITY.to_bits()));
        parts.into_par_iter().try_for_each(|part| {
            let segment = &self.segments[part.segment];
            guarded(&segment.path, || {
                let search = WindowSearch { index: self, segment, terms: &terms, weights: &weights, filter, top };
                search.run(part, &least)
            })
        })?;
        Ok(scores)
    }

    fn term_in(&self, field: LexicalField, term: &str) -> Term {
        Term::from_field_text(self.fields.text[field as usize], term)
    }
}

/// A term that is counted.
struct CountedTerm {
    term: String,
    fields: Vec<LexicalField>,
    /// Its weight times its idf.
    factor: f32,
    /// What it and the terms behind it can add to a score at most.
    rest: f32,
}

/// Documents of a segment from `first` on, and where the scores of their tables go.
struct Part<'s> {
    segment: usize,
    first: usize,
    scores: &'s mut [f32],
}

/// What a table's value must reach; it only grows.
struct Least(AtomicU32);

impl Least {
    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    fn raise(&self, to: f32) {
        let raised = |bits: u32| (f32::from_bits(bits) < to).then_some(to.to_bits());
        // Another thread may have raised it further.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, raised);
    }
}

/// The search of one segment.
struct WindowSearch<'a> {
    index: &'a LexicalIndex,
    segment: &'a OpenSegment,
    terms: &'a [CountedTerm],
    weights: &'a Weights,
    filter: &'a TableSet,
    top: Option<TopTables<'a>>,
}

impl WindowSearch<'_> {
    fn run(&self, part: Part<'_>, least: &Least) -> tantivy::Result<()> {
        let Part { segment: at, first, scores } = part;
        let start = self.filter.places_of(at as u32).start;
        let documents = self.segment.documents as usize;
        let (end, window) = match self.segment.in_order {
            true => ((first + scores.len()).min(documents), WINDOW),
            false => (documents, documents),
        };
        let mut cursors: Vec<Vec<(LexicalField, Cursor<'_>)>> = Vec::with_capacity(self.terms.len());
        for term in self.terms {
            let of = |&field: &LexicalField| {
                let cursor = self.segment.cursor(field as usize, &self.index.term_in(field, &term.term));
                cursor.map(|cursor| cursor.map(|cursor| (field, cursor))).transpose()
            };
            cursors.push(term.fields.iter().filter_map(of).collect::<tantivy::Result<_>>()?);
        }
        let mut best = self.top.map(|top| Greatest::of(top.count));
        let mut counted = Window::default();
        let mut from = first;
        while from < end {
            let to = (from + window).min(end);
            counted.begin(to - from);
            let place = |at: usize| match self.segment.in_order {
                true => start + from + at,
                false => start + self.segment.table((from + at) as DocId) as usize,
            };
            let passes = |at: usize| self.filter.contains_place(place(at));
            let few_are = (to - from) / SEEK_FROM;
            // The documents that are looked at, where they are few.
            let mut few: Option<Vec<u32>> = None;
            if self.segment.in_order {
                let places = start + from..start + to.next_multiple_of(64);
                if self.filter.len_within(places.clone()) <= few_are {
                    let within = self.filter.places_within(places).take_while(|place| *place < start + to);
                    few = Some(within.map(|place| (place - start - from) as u32).collect());
                }
            } else if (0..to - from).filter(|at| passes(*at)).count() <= few_are {
                few = Some((0..to - from).filter(|at| passes(*at)).map(|at| at as u32).collect());
            }
            for (term, cursors) in self.terms.iter().zip(&mut cursors) {
                if let Some(top) = &self.top {
                    let least = least.get();
                    let lifts = |at: &u32| {
                        let score = counted.scores[*at as usize] + term.rest;
                        (top.value)(place(*at as usize), score) >= least
                    };
                    if let Some(few) = &mut few {
                        few.retain(lifts);
                    } else if (top.most)(term.rest) < least {
                        let mut lifted: Vec<u32> = counted.scored.iter().copied().filter(lifts).collect();
                        lifted.sort_unstable();
                        few = Some(lifted);
                    }
                }
                if few.as_ref().is_some_and(Vec::is_empty) {
                    break;
                }
                for (field, cursor) in cursors {
                    let norms = self.weights.norms_of(*field);
                    let lengths = cursor.lengths;
                    let frequency =
                        |document: DocId, count: u32| norms[usize::from(lengths.fieldnorm_id(document))] * count as f32;
                    match &few {
                        Some(few) => {
                            for at in few {
                                let document = (from + *at as usize) as DocId;
                                if let Some(count) = cursor.count(document) {
                                    counted.add(*at, frequency(document, count));
                                }
                            }
                        }
                        None => cursor.for_each(from as DocId, to as DocId, |document, count| {
                            let at = document as usize - from;
                            if passes(at) {
                                counted.add(at as u32, frequency(document, count));
                            }
                        }),
                    }
                }
                counted.close_term(term.factor);
            }
            for &at in &counted.scored {
                let (place, score) = (place(at as usize), counted.scores[at as usize]);
                // A damaged list may name a table that there is not.
                let Some(into) = scores.get_mut(place.wrapping_sub(start + first)) else { continue };
                *into = score;
                if let (Some(best), Some(top)) = (&mut best, &self.top) {
                    best.push((top.value)(place, score));
                }
            }
            if let (Some(best), Some(top)) = (&mut best, &self.top) {
                least.raise(best.least() - top.margin);
            }
            from = to;
        }
        Ok(())
    }
}

/// The documents of a window, from 0 on.
#[derive(Default)]
struct Window {
    scores: Vec<f32>,
    /// tf~ of the current term.
    frequencies: Vec<f32>,
    /// The documents that have the current term.
    touched: Vec<u32>,
    /// The documents whose score is not 0.
    scored: Vec<u32>,
}

impl Window {
    fn begin(&mut self, documents: usize) {
        self.scored.drain(..).for_each(|at| self.scores[at as usize] = 0.0);
        self.scores.resize(documents, 0.0);
        self.frequencies.resize(documents, 0.0);
    }

    #[inline]
    fn add(&mut self, at: u32, frequency: f32) {
        let sum = &mut self.frequencies[at as usize];
        if *sum == 0.0 {
            self.touched.push(at);
        }
        *sum += frequency;
    }

    fn close_term(&mut self, factor: f32) {
        for at in self.touched.drain(..) {
            let frequency = std::mem::take(&mut self.frequencies[at as usize]);
            let score = &mut self.scores[at as usize];
            if *score == 0.0 {
                self.scored.push(at);
            }
            *score += term_score(factor, frequency);
        }
    }
}

/// The greatest of many numbers.
#[derive(Clone)]
pub struct Greatest {
    count: usize,
    /// As many as are wanted, then some that may be smaller.
    numbers: Vec<f32>,
    /// None that is smaller can be among them.
    least: f32,
}

impl Greatest {
    /// The `count` greatest; at least one.
    pub fn of(count: usize) -> Self {
        Self { count: count.max(1), numbers: Vec::new(), least: f32::NEG_INFINITY }
    }

    /// Whether a number may be among them.
    #[inline]
    pub fn takes(&self, number: f32) -> bool {
        number > self.least
    }

    /// One more number.
    #[inline]
    pub fn push(&mut self, number: f32) {
        if self.takes(number) {
            self.numbers.push(number);
            if self.numbers.len() >= 4 * self.count {
                self.shrink();
            }
        }
    }

    fn shrink(&mut self) {
        if self.numbers.len() >= self.count {
            let (_, least, _) = self.numbers.select_nth_unstable_by(self.count - 1, |a, b| b.total_cmp(a));
            self.least = *least;
            self.numbers.truncate(self.count);
        }
    }

    /// The least of those that are wanted; minus infinity where there are no more.
    pub fn least(&mut self) -> f32 {
        self.shrink();
        self.least
    }
}
