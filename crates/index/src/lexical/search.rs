//! Searches the word indexes of several segments as one.

use std::cmp::Ordering;
use std::sync::Arc;

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tantivy::{DocId, Term};

use lakeward_core::error::Result;

use super::field::{Boosts, FIELD_COUNT, Fields, KeyKind, LexicalField};
use super::matched::matches_of;
use super::query::{Query, QueryTerm, keys_of};
use super::score::{B, Sizes, Weights, score};
use super::segment::OpenSegment;
use super::words::Words;
use crate::exchange::{self, Exchange};
use crate::open::TableRef;

/// What to search and what to return.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalOptions {
    /// Maximum number of tables to return.
    pub k: usize,
    /// The boosts of the fields.
    pub boosts: Boosts,
    /// Whether [`LexicalHit::matched`] is filled beyond exact matches; costs about as much as the search itself.
    pub explain: bool,
}

impl Default for LexicalOptions {
    fn default() -> Self {
        LexicalOptions { k: 10, boosts: Boosts::default(), explain: true }
    }
}

/// The words that one field of a hit shares with the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct FieldMatch {
    /// The field.
    pub field: LexicalField,
    /// The user's words as typed, without surrounding punctuation; for an exact match the whole text.
    pub words: Vec<String>,
    /// Whether the query is the table's id, file name (both [`LexicalField::Id`]) or title, ignoring case, accents and punctuation.
    #[schemars(extend("x-sql" = false))]
    pub exact: bool,
}

/// A table that contains words of the query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct LexicalHit {
    /// Position of its segment among those given to [`LexicalIndex::of`].
    pub segment: u32,
    /// Its number in that segment.
    pub table: u32,
    /// BM25F, above 0, greater is better; comparable within one query only. For an exact match the best of the other scores is added, so
    /// that it is first by score.
    pub score: f32,
    /// Exact match first, then by field.
    pub matched: Vec<FieldMatch>,
}

/// Word indexes opened together.
#[derive(Clone)]
pub struct LexicalIndex {
    pub(super) fields: Fields,
    pub(super) segments: Vec<Arc<OpenSegment>>,
    pub(super) exchange: Option<Arc<Exchange>>,
}

/// The scores for some terms with some boosts.
pub(super) struct Scored {
    /// By segment and document.
    pub scores: Vec<Vec<f32>>,
    /// How many tables of all shards have each term.
    pub counts: Vec<usize>,
    pub weights: Weights,
}

/// A table during ranking, by its place in the whole index.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Best {
    pub table: TableRef,
    score: f32,
    exact: Option<KeyKind>,
}

impl Best {
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(other.exact.cmp(&self.exact)).then(self.table.cmp(&other.table))
    }
}

impl LexicalIndex {
    /// The word indexes of several segments (none is an empty index).
    pub fn of<'a>(segments: impl IntoIterator<Item = &'a Words>) -> Self {
        let segments = segments.into_iter().map(|words| Arc::clone(&words.0)).collect();
        LexicalIndex { fields: Fields::new(), segments, exchange: None }
    }

    /// The tables that best match the words of `query`, best first, ties by segment and table. A table whose id, file name or title is the
    /// query comes before all others. Any text is a valid query; one without letters and digits finds nothing.
    pub fn search(&self, query: &str, options: &LexicalOptions) -> Result<Vec<LexicalHit>> {
        let exact = self.exact_documents(query, &options.boosts)?;
        let mut hits = self.run(query, &Query::from_text(query), &exact, options)?;
        for (hit, kind) in &mut hits {
            if let Some(kind) = kind {
                let field = if *kind == KeyKind::Title { LexicalField::Title } else { LexicalField::Id };
                hit.matched.insert(0, FieldMatch { field, words: vec![query.trim().to_string()], exact: true });
            }
        }
        Ok(hits.into_iter().map(|(hit, _)| hit).collect())
    }

    /// The tables that best match weighted words, such as those of a query table; best first, ties by segment and table. If a word has
    /// several terms, each gets its weight. No stop words, no exact matches. Of shards, hits are told by their places in the whole index, and the
    /// words by `label`.
    pub fn search_tokens(
        &self,
        label: &str,
        tokens: &[(&str, f32)],
        options: &LexicalOptions,
    ) -> Result<Vec<LexicalHit>> {
        let query = Query::from_words(tokens.iter().copied());
        Ok(self.run(label, &query, &HashMap::new(), options)?.into_iter().map(|(hit, _)| hit).collect())
    }

    fn run(
        &self,
        label: &str,
        query: &Query,
        exact: &HashMap<(usize, DocId), KeyKind>,
        options: &LexicalOptions,
    ) -> Result<Vec<(LexicalHit, Option<KeyKind>)>> {
        let scored = self.scored(label, &query.terms, &[options.boosts])?;
        let scores = scored.into_iter().next().map_or_else(Vec::new, |scored| scored.scores);
        let best = self.best(label, &scores, exact, options.k)?;
        let mut matched = self.matches(&best, query, options)?;
        let hits = best.iter().map(|best| {
            let TableRef { segment, table } = best.table;
            let matched = matched.remove(&best.table).unwrap_or_default();
            (LexicalHit { segment, table, score: best.score, matched }, best.exact)
        });
        Ok(hits.collect())
    }

    /// The same segments in an exchange with those of other shards.
    pub(crate) fn within(&self, exchange: &Arc<Exchange>) -> Self {
        let (fields, segments) = (self.fields.clone(), self.segments.clone());
        LexicalIndex { fields, segments, exchange: Some(Arc::clone(exchange)) }
    }

    /// The scores for `terms` with each of these boosts.
    pub(super) fn scored(&self, label: &str, terms: &[QueryTerm], boosts: &[Boosts]) -> Result<Vec<Scored>> {
        let sizes = Sizes::of(&self.segments);
        let weights = |sizes: &Sizes| boosts.iter().map(|boosts| Weights::of(sizes, *boosts, B)).collect::<Vec<_>>();
        let scored = |weights: Weights, known: Option<&[u64]>| {
            let (scores, counts) = score(&self.segments, &self.fields, &weights, terms, known)?;
            Ok(Scored { scores, counts, weights })
        };
        let Some(exchange) = self.exchange.as_deref() else {
            return weights(&sizes).into_iter().map(|weights| scored(weights, None)).collect();
        };
        // Of all shards: tables, words of each field, and with each of the boosts the tables that have each term.
        let own = || {
            let mut own = vec![sizes.tables];
            own.extend(sizes.words);
            for weights in weights(&sizes) {
                own.extend(scored(weights, None)?.counts.into_iter().map(|count| count as u64));
            }
            Ok(own)
        };
        let first = 1 + FIELD_COUNT;
        let label = format!("tables with the words of {label}");
        let sums = exchange::sums(Some(exchange), &label, first + boosts.len() * terms.len(), own)?;
        let mut sizes = Sizes { tables: sums[0], ..sizes };
        sizes.words.copy_from_slice(&sums[1..first]);
        let counts = (0..boosts.len()).map(|place| &sums[first + place * terms.len()..][..terms.len()]);
        weights(&sizes).into_iter().zip(counts).map(|(weights, counts)| scored(weights, Some(counts))).collect()
    }

    /// The documents that `query` names exactly, each with the strongest kind of match.
    pub(super) fn exact_documents(&self, query: &str, boosts: &Boosts) -> Result<HashMap<(usize, DocId), KeyKind>> {
        let mut exact = HashMap::new();
        for key in keys_of(query) {
            for kind in KeyKind::ALL {
                let field = if kind == KeyKind::Title { LexicalField::Title } else { LexicalField::Id };
                if boosts.of(field) == 0.0 {
                    continue;
                }
                let term = Term::from_field_text(self.fields.key, &kind.term(&key));
                for (at, segment) in self.segments.iter().enumerate() {
                    for document in segment.documents_with_key(&term)? {
                        let known = exact.entry((at, document)).or_insert(kind);
                        *known = kind.max(*known);
                    }
                }
            }
        }
        Ok(exact)
    }

    /// The `k` best live tables of all shards.
    pub(super) fn best(
        &self,
        label: &str,
        scores: &[Vec<f32>],
        exact: &HashMap<(usize, DocId), KeyKind>,
        k: usize,
    ) -> Result<Vec<Best>> {
        let placed = |at: usize, document: DocId| {
            let own = TableRef { segment: at as u32, table: self.segments[at].table(document) };
            exchange::in_index(self.exchange.as_deref(), own)
        };
        let own = || {
            let mut own = Vec::new();
            for (at, (segment, scores)) in self.segments.iter().zip(scores).enumerate() {
                for (document, &score) in scores.iter().enumerate() {
                    let document = document as DocId;
                    if score > 0.0 && !segment.is_dead(document) && !exact.contains_key(&(at, document)) {
                        own.push(Best { table: placed(at, document), score, exact: None });
                    }
                }
            }
            keep_best(&mut own, k);
            for (&(at, document), &kind) in
                exact.iter().filter(|((at, document), _)| !self.segments[*at].is_dead(*document))
            {
                let score = scores[at].get(document as usize).copied().unwrap_or(0.0);
                own.push(Best { table: placed(at, document), score, exact: Some(kind) });
            }
            Ok(own)
        };
        let label = format!("best {k} by the words of {label}");
        let all = exchange::gather(self.exchange.as_deref(), &label, own, |_| true)?;
        let mut best = all.into_iter().flatten().collect::<Vec<Best>>();
        let inexact = best.iter().filter(|best| best.exact.is_none());
        let best_inexact = inexact.map(|best| best.score).fold(0.0, f32::max);
        best.iter_mut().filter(|best| best.exact.is_some()).for_each(|exact| exact.score += best_inexact);
        keep_best(&mut best, k);
        best.sort_unstable_by(Best::order);
        Ok(best)
    }

    /// Fields and words of those tables in `best` that are in these segments.
    fn matches(
        &self,
        best: &[Best],
        query: &Query,
        options: &LexicalOptions,
    ) -> Result<HashMap<TableRef, Vec<FieldMatch>>> {
        let mut all = HashMap::new();
        if !options.explain {
            return Ok(all);
        }
        let own: Vec<(TableRef, TableRef)> = best
            .iter()
            .filter_map(|best| Some((exchange::of_shard(self.exchange.as_deref(), best.table)?, best.table)))
            .collect();
        for (at, segment) in self.segments.iter().enumerate() {
            let (tables, placed): (Vec<u32>, Vec<TableRef>) = own
                .iter()
                .filter(|(own, _)| own.segment as usize == at)
                .map(|(own, place)| (own.table, *place))
                .unzip();
            let found = segment.documents_of(&tables).into_iter().zip(placed);
            let mut found: Vec<(DocId, TableRef)> =
                found.filter_map(|(document, place)| Some((document?, place))).collect();
            found.sort_unstable();
            let documents: Vec<DocId> = found.iter().map(|(document, _)| *document).collect();
            let matches = matches_of(segment, &self.fields, &options.boosts, query, &documents)?;
            all.extend(found.into_iter().map(|(_, place)| place).zip(matches));
        }
        Ok(all)
    }
}

/// Leaves the best `k`, in no order.
fn keep_best(all: &mut Vec<Best>, k: usize) {
    if k < all.len() && k > 0 {
        all.select_nth_unstable_by(k - 1, Best::order);
    }
    all.truncate(k);
}
