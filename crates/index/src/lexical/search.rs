//! Searches the word indexes of several segments as one.

use std::sync::Arc;

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tantivy::{DocId, Term};

use lakeward_core::error::Result;

use super::field::{Boosts, Fields, KeyKind, LexicalField};
use super::matched::matches_of;
use super::query::{Query, keys_of};
use super::score::{Weights, score};
use super::segment::OpenSegment;
use super::words::Words;

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
pub struct LexicalIndex {
    pub(super) fields: Fields,
    pub(super) segments: Vec<Arc<OpenSegment>>,
}

/// A document of a segment during ranking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    pub segment: usize,
    pub document: DocId,
    score: f32,
    exact: Option<KeyKind>,
}

impl LexicalIndex {
    /// The word indexes of several segments (none is an empty index).
    pub fn of<'a>(segments: impl IntoIterator<Item = &'a Words>) -> Self {
        let segments = segments.into_iter().map(|words| Arc::clone(&words.0)).collect();
        LexicalIndex { fields: Fields::new(), segments }
    }

    /// The tables that best match the words of `query`, best first, ties by segment and table. A table whose id, file name or title is the
    /// query comes before all others. Any text is a valid query; one without letters and digits finds nothing.
    pub fn search(&self, query: &str, options: &LexicalOptions) -> Result<Vec<LexicalHit>> {
        let exact = self.exact_documents(query, &options.boosts)?;
        let mut hits = self.run(&Query::from_text(query), &exact, options)?;
        for (hit, kind) in &mut hits {
            if let Some(kind) = kind {
                let field = if *kind == KeyKind::Title { LexicalField::Title } else { LexicalField::Id };
                hit.matched.insert(0, FieldMatch { field, words: vec![query.trim().to_string()], exact: true });
            }
        }
        Ok(hits.into_iter().map(|(hit, _)| hit).collect())
    }

    /// The tables that best match weighted words, such as those of a query table; best first, ties by segment and table. If a word has
    /// several terms, each gets its weight. No stop words, no exact matches.
    pub fn search_tokens(&self, tokens: &[(&str, f32)], options: &LexicalOptions) -> Result<Vec<LexicalHit>> {
        let query = Query::from_words(tokens.iter().copied());
        Ok(self.run(&query, &HashMap::new(), options)?.into_iter().map(|(hit, _)| hit).collect())
    }

    fn run(
        &self,
        query: &Query,
        exact: &HashMap<(usize, DocId), KeyKind>,
        options: &LexicalOptions,
    ) -> Result<Vec<(LexicalHit, Option<KeyKind>)>> {
        let weights = Weights::new(&self.segments, options.boosts);
        let (scores, _) = score(&self.segments, &self.fields, &weights, &query.terms)?;
        let ranked = self.best(&scores, exact, options.k);
        let mut matched = self.matches(&ranked, query, options)?;
        let hits = ranked.iter().map(|ranked| {
            let segment = &self.segments[ranked.segment];
            let hit = LexicalHit {
                segment: ranked.segment as u32,
                table: segment.table(ranked.document),
                score: ranked.score,
                matched: matched.remove(&(ranked.segment, ranked.document)).unwrap_or_default(),
            };
            (hit, ranked.exact)
        });
        Ok(hits.collect())
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

    /// The `k` best live documents.
    pub(super) fn best(&self, scores: &[Vec<f32>], exact: &HashMap<(usize, DocId), KeyKind>, k: usize) -> Vec<Ranked> {
        let mut ranked = Vec::new();
        for (at, (segment, scores)) in self.segments.iter().zip(scores).enumerate() {
            for (document, &score) in scores.iter().enumerate() {
                let document = document as DocId;
                if score > 0.0 && !segment.is_dead(document) && !exact.contains_key(&(at, document)) {
                    ranked.push(Ranked { segment: at, document, score, exact: None });
                }
            }
        }
        let best_inexact = ranked.iter().map(|ranked| ranked.score).fold(0.0, f32::max);
        for (&(at, document), &kind) in exact {
            if !self.segments[at].is_dead(document) {
                let own = scores[at].get(document as usize).copied().unwrap_or(0.0);
                ranked.push(Ranked { segment: at, document, score: own + best_inexact, exact: Some(kind) });
            }
        }
        let order = |a: &Ranked, b: &Ranked| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| b.exact.cmp(&a.exact))
                .then_with(|| a.segment.cmp(&b.segment))
                .then_with(|| {
                    self.segments[a.segment].table(a.document).cmp(&self.segments[b.segment].table(b.document))
                })
        };
        if k < ranked.len() && k > 0 {
            ranked.select_nth_unstable_by(k - 1, order);
        }
        ranked.truncate(k);
        ranked.sort_unstable_by(order);
        ranked
    }

    /// Fields and words of the documents in `ranked`.
    fn matches(
        &self,
        ranked: &[Ranked],
        query: &Query,
        options: &LexicalOptions,
    ) -> Result<HashMap<(usize, DocId), Vec<FieldMatch>>> {
        let mut all = HashMap::new();
        if !options.explain {
            return Ok(all);
        }
        for (at, segment) in self.segments.iter().enumerate() {
            let mut documents: Vec<DocId> =
                ranked.iter().filter(|ranked| ranked.segment == at).map(|ranked| ranked.document).collect();
            documents.sort_unstable();
            let matches = matches_of(segment, &self.fields, &options.boosts, query, &documents)?;
            all.extend(documents.into_iter().map(|document| (at, document)).zip(matches));
        }
        Ok(all)
    }
}
