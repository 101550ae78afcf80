//! Text search: words (BM25) and meaning (vectors) fused by reciprocal rank; an exact name or title comes first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fuse::reciprocal_rank_fusion;
use super::query_table::sample_words;
use super::ranker::features;
use super::weights::RankingWeights;
use crate::embed::Embedder;
use crate::error::Result;
use crate::index::lexical::{FieldMatch, LexicalOptions};
use crate::index::{LakeIndex, TableRef};

/// What to search for.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// Answers wanted.
    pub k: usize,
    /// How much each channel counts.
    pub weights: SearchWeights,
}

impl SearchOptions {
    /// `k` answers with the weights that ship.
    pub fn new(k: usize) -> Self {
        Self { k, weights: RankingWeights::shipped().search }
    }
}

features! {
    /// What a table that answers a text is scored by.
    SearchFeatures,
    /// How much each feature counts. The static model is the weaker channel on words that occur as such.
    SearchWeights {
        /// Reciprocal rank by words (BM25).
        words,
        /// Reciprocal rank by meaning.
        meaning,
    }
}

/// A table that answers a text, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchAnswer {
    /// The table's id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Fused score: greater is better, comparable within one answer only.
    pub score: f64,
    /// Rank by words, from 1, where the words found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_rank: Option<usize>,
    /// Rank by meaning, from 1, where the vectors found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense_rank: Option<usize>,
    /// BM25 score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_score: Option<f64>,
    /// Cosine of the request's and the table's vector.
    pub cosine: f64,
    /// Which field matched which words of the request.
    pub matched: Vec<FieldMatch>,
    /// Whether it is a record of a catalogue: its data is not in the lake, rows and columns are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Rows; those read, where it is `sampled`; none for a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Whether only the table's first rows were read: words of the other rows are not found.
    pub sampled: bool,
    /// Column names.
    pub columns: Vec<String>,
    /// The answer in a sentence.
    pub reason: String,
}

/// Tables that each channel proposes.
const DEPTH: usize = 100;
/// A table that shares no word with the request must be at least this close in meaning.
const LEAST_COSINE: f32 = 0.4;

/// The tables that answer `text`, best first.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged.
pub fn search(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    text: &str,
    options: &SearchOptions,
) -> Result<Vec<SearchAnswer>> {
    let depth = DEPTH.max(options.k);
    let lexical = index.lexical().search(text, &LexicalOptions { k: depth, ..LexicalOptions::default() })?;
    let vector = embedder.embed(text);
    let lexical_order: Vec<TableRef> =
        lexical.iter().map(|hit| TableRef { segment: hit.segment, table: hit.table }).collect();
    let mut dense = nearest_tables(index, &vector, depth)?;
    dense.retain(|(table, cosine)| *cosine >= LEAST_COSINE || lexical_order.contains(table));
    let dense_order: Vec<TableRef> = dense.iter().map(|(table, _)| *table).collect();
    let mut fused = reciprocal_rank_fusion(&[
        (options.weights.words, lexical_order.clone()),
        (options.weights.meaning, dense_order.clone()),
    ]);
    // A table called exactly what was asked for is the answer, whatever the rest of the ranking says.
    let exact: Vec<TableRef> = lexical
        .iter()
        .filter(|hit| hit.matched.iter().any(|matched| matched.exact))
        .map(|hit| TableRef { segment: hit.segment, table: hit.table })
        .collect();
    fused.sort_by_key(|(table, _)| !exact.contains(table));
    fused.truncate(options.k);
    let mut answers = Vec::with_capacity(fused.len());
    for (table, score) in fused {
        let entry = index.entry(table)?;
        let lexical_place = lexical_order.iter().position(|found| *found == table);
        let hit = lexical_place.map(|place| &lexical[place]);
        let cosine = index.segment(table.segment)?.topic_vectors.dot(table.table, &vector)?;
        let mut answer = SearchAnswer {
            table: entry.id.to_string(),
            title: entry.title(),
            score,
            lexical_rank: lexical_place.map(|place| place + 1),
            dense_rank: dense_order.iter().position(|found| *found == table).map(|place| place + 1),
            lexical_score: hit.map(|hit| f64::from(hit.score)),
            cosine: f64::from(cosine),
            matched: hit.map(|hit| hit.matched.clone()).unwrap_or_default(),
            record: entry.record,
            rows: (!entry.record).then_some(entry.profile.rows),
            sampled: entry.report.sample.is_some(),
            columns: entry.profile.columns.iter().map(|column| column.name.clone()).collect(),
            reason: String::new(),
        };
        answer.reason = reason(&answer, exact.contains(&table));
        answer.reason.push_str(&sample_words(None, &entry));
        answers.push(answer);
    }
    Ok(answers)
}

/// Tables by cosine of their topic vector, best first, ties by table.
fn nearest_tables(index: &LakeIndex, vector: &[f32], depth: usize) -> Result<Vec<(TableRef, f32)>> {
    let mut nearest = Vec::new();
    for (place, segment) in index.segments().iter().enumerate() {
        let live = |table: u32| segment.is_live(table);
        let found = segment.topic_vectors.search(vector, depth, Some(&live))?;
        nearest.extend(found.into_iter().map(|(table, cosine)| (TableRef { segment: place as u32, table }, cosine)));
    }
    nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    nearest.truncate(depth);
    Ok(nearest)
}

fn reason(answer: &SearchAnswer, exact: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    if exact {
        parts.push("this is its name".into());
    }
    if answer.record {
        parts.push("a record, its data is not in the lake".into());
    }
    for matched in answer.matched.iter().take(3) {
        parts.push(format!("{}: {}", matched.field.name(), matched.words.join(", ")));
    }
    if parts.is_empty()
        || answer.dense_rank.is_some_and(|rank| answer.lexical_rank.is_none_or(|lexical| rank < lexical))
    {
        parts.push(format!("close in meaning ({:.2})", answer.cosine));
    }
    parts.join("; ")
}
