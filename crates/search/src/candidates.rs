//! The tables worth a closer look for a request in words with or without a query table: the three searches asked at once,
//! their answers put together table by table, and one relevance over all of them.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::join::{self, JoinAnswer, JoinOptions};
use super::query_table::QueryTable;
use super::search::{self, SearchAnswer, SearchOptions};
use super::union::{self, UnionAnswer, UnionOptions};
use super::weights::RankingWeights;
use lakeward_core::error::Result;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_lake::catalog::Dataset;
use lakeward_models::embed::Embedder;
use lakeward_sketch::normalise::Normaliser;

/// What to look for.
#[derive(Clone, Copy)]
pub struct CandidateRequest<'a> {
    /// Words to search by, each with how much it counts, 0..=1: the request first. Empty ones are not searched.
    pub texts: &'a [(&'a str, f64)],
    /// Tables that something else proposes for the request: they are candidates as if the search for it had found them.
    pub proposed: &'a [TableRef],
    /// Tables for which something else than the searches speaks, with how much that counts beside what the best table says of
    /// itself; each is a candidate, too.
    pub supported: &'a [(TableRef, f64)],
    /// The table at hand.
    pub query: Option<&'a QueryTable>,
    /// Place of its key column, where one is meant.
    pub column: Option<usize>,
    /// Values, such as places, that are looked up in the candidates' columns.
    pub values: &'a [String],
    /// Answers asked of each search.
    pub depth: usize,
}

/// A value that a column holds, after normalisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldValue {
    /// The value asked for.
    pub value: String,
    /// A column that holds it.
    pub column: String,
}

/// How much each search says about relevance; only those that were asked count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelWeights {
    /// Words and meaning.
    pub search: f64,
    /// Shared key values.
    pub join: f64,
    /// Alignable columns.
    pub union: f64,
}

impl ChannelWeights {
    /// The weighted mean of the scores of search, join and union, of those that were asked: words, a table.
    fn mean(self, scores: [f64; 3], (words, table): (bool, bool)) -> f64 {
        let weights = [(self.search, words), (self.join, table), (self.union, table)];
        let asked = weights.iter().zip(scores).filter(|((_, asked), _)| *asked);
        let (sum, total) =
            asked.fold((0.0, 0.0), |(sum, total), ((weight, _), score)| (sum + weight * score, total + weight));
        if total > 0.0 { (sum / total).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// What makes a table relevant depends on what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelevanceWeights {
    /// As a table to join with.
    #[serde(default = "shipped_to_join")]
    pub to_join: ChannelWeights,
    /// As a table to append, to filter or to aggregate.
    #[serde(default = "shipped_otherwise")]
    pub otherwise: ChannelWeights,
}

// By field: the shipped file is complete, so reading it never asks for itself.
fn shipped_to_join() -> ChannelWeights {
    RankingWeights::shipped().relevance.to_join
}

fn shipped_otherwise() -> ChannelWeights {
    RankingWeights::shipped().relevance.otherwise
}

impl Default for RelevanceWeights {
    /// Those that ship; `tests/turns.rs` measures them.
    fn default() -> Self {
        RankingWeights::shipped().relevance
    }
}

/// The best tables, of whose words it depends how much what else speaks for tables counts.
const LOOKED_AT: usize = 10;

/// What relevance to a join loses where a row of the query meets ten rows or more; proportionally less for fewer.
const FAN_OUT_COST: f64 = 0.1;

/// Rel(T, q) for what a table may be used for: the weighted mean of the searches' scores, 0..=1; greater is better.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relevance {
    /// As a table to join with.
    pub to_join: f64,
    /// As a table to append, to filter or to aggregate.
    pub otherwise: f64,
    /// By words and meaning alone, as a share of the best table's.
    pub by_words: f64,
}

/// A table or record that a search proposed, with what each of them found.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What is known of it.
    pub dataset: Dataset,
    /// Rel(T, q).
    pub relevance: Relevance,
    /// By words and meaning.
    pub search: Option<SearchAnswer>,
    /// By shared key values.
    pub join: Option<JoinAnswer>,
    /// By alignable columns.
    pub union: Option<UnionAnswer>,
    /// Which of the values asked for its columns hold.
    pub holds: Vec<HeldValue>,
}

#[derive(Default)]
struct Found {
    /// With its score as a share of the best one's.
    search: Option<(f64, SearchAnswer)>,
    join: Option<JoinAnswer>,
    union: Option<UnionAnswer>,
}

/// The candidates for `request`, most relevant first, ties by id. The query table itself is none.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn candidates(
    index: &LakeIndex,
    lake: &Path,
    embedder: &dyn Embedder,
    request: &CandidateRequest<'_>,
    weights: &RankingWeights,
) -> Result<Vec<Candidate>> {
    let CandidateRequest { query, column, values, depth, .. } = *request;
    let options = SearchOptions { k: depth, weights: weights.search };
    let by_text = || by_texts(index, embedder, request, &options);
    let by_key = || {
        query.map_or(Ok(Vec::new()), |query| {
            join::search(index, query, &JoinOptions { k: depth, column, weights: weights.join })
        })
    };
    let by_columns = || {
        let options = UnionOptions { k: depth, count_rows: false, weights: weights.union };
        query.map_or(Ok(Vec::new()), |query| union::search(index, lake, query, &options))
    };
    let (searched, (joined, aligned)) = rayon::join(by_text, || rayon::join(by_key, by_columns));
    let (searched, joined, aligned) = (searched?, joined?, aligned?);

    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    let asked = (!searched.is_empty(), query.is_some());
    for (share, answer) in searched {
        let table = answer.table.clone();
        found.entry(table).or_default().search = Some((share, answer));
    }
    for answer in joined {
        let table = answer.table.clone();
        found.entry(table).or_default().join = Some(answer);
    }
    for answer in aligned {
        let table = answer.table.clone();
        found.entry(table).or_default().union = Some(answer);
    }
    let mut normaliser = Normaliser::default();
    let wanted: Vec<(&str, u64)> = values.iter().map(|value| (value.as_str(), normaliser.value(value).hash)).collect();
    let own = query.map(|query| query.entry.id.as_str().to_string());
    let mut candidates = Vec::with_capacity(found.len());
    for (table, Found { search, join, union }) in found {
        if own.as_ref() == Some(&table) && query.is_some_and(|query| query.origin.is_some()) {
            continue;
        }
        let scores = [
            search.as_ref().map_or(0.0, |(share, _)| *share),
            join.as_ref().map_or(0.0, |answer| answer.score),
            union.as_ref().map_or(0.0, |answer| answer.score),
        ];
        let fan_out = join.as_ref().map_or(1.0, |answer| answer.fan_out.max(1.0));
        let relevance = Relevance {
            to_join: (weights.relevance.to_join.mean(scores, asked) - FAN_OUT_COST * fan_out.log10().min(1.0)).max(0.0),
            otherwise: weights.relevance.otherwise.mean(scores, asked),
            by_words: scores[0],
        };
        let at = index.find(&table)?;
        let holds = held_values(index, at, &wanted)?;
        let dataset = index.dataset(at)?;
        let search = search.map(|(_, answer)| answer);
        candidates.push(Candidate { dataset, relevance, search, join, union, holds });
    }
    candidates.sort_by(|a, b| {
        b.relevance.otherwise.total_cmp(&a.relevance.otherwise).then_with(|| a.dataset.id().cmp(b.dataset.id()))
    });
    Ok(candidates)
}

/// The tables that answer one of the texts, with the greatest share of the best answer's score that one of them gives, counting
/// as much as the text does. A table that several find is told of by the first of them. What else speaks for a table is added; then
/// all are shares of the best again. That counts as far as none of the best tables says what the request says: where one does, it is
/// the answer.
fn by_texts(
    index: &LakeIndex,
    embedder: &dyn Embedder,
    request: &CandidateRequest<'_>,
    options: &SearchOptions,
) -> Result<Vec<(f64, SearchAnswer)>> {
    let CandidateRequest { texts, proposed, supported, .. } = *request;
    let mut found: BTreeMap<String, (f64, SearchAnswer)> = BTreeMap::new();
    // What the best tables say of the request, by how rare its words are.
    let mut said: f64 = 0.0;
    for (place, (text, weight)) in texts.iter().enumerate().filter(|(_, (text, _))| !text.trim().is_empty()) {
        let mut answers = search::search(index, embedder, text, options)?;
        if place == 0 {
            let coverage = answers.iter().take(LOOKED_AT).map(|answer| answer.features.coverage);
            said = coverage.fold(0.0, f64::max).min(1.0);
        }
        if place == 0 && !(proposed.is_empty() && supported.is_empty()) {
            let mut proposed = proposed.to_vec();
            let further = supported.iter().map(|(table, _)| *table).filter(|table| !proposed.contains(table));
            let further: Vec<TableRef> = further.collect();
            proposed.extend(further);
            let proposed = search::rank(index, embedder, text, &proposed, &options.weights)?;
            let known: HashSet<String> = answers.iter().map(|answer| answer.table.clone()).collect();
            answers.extend(proposed.into_iter().filter(|answer| !known.contains(&answer.table)));
        }
        // A score means nothing by itself.
        let best = answers.iter().map(|answer| answer.score).fold(f64::MIN_POSITIVE, f64::max);
        for answer in answers {
            let share = weight * answer.score / best;
            match found.get_mut(&answer.table) {
                Some((known, _)) => *known = known.max(share),
                None => drop(found.insert(answer.table.clone(), (share, answer))),
            }
        }
    }
    for (table, gain) in supported {
        if let Some((share, _)) = found.get_mut(index.id(*table)?) {
            *share += gain * (1.0 - said);
        }
    }
    let most = found.values().map(|(share, _)| *share).fold(1.0, f64::max);
    Ok(found.into_values().map(|(share, answer)| (share / most, answer)).collect())
}

/// Which of the values `wanted`, with their hashes, the columns of a table hold; of each the first column.
fn held_values(index: &LakeIndex, table: TableRef, wanted: &[(&str, u64)]) -> Result<Vec<HeldValue>> {
    let segment = index.segment(table.segment)?;
    let mut held = Vec::new();
    if wanted.is_empty() {
        return Ok(held);
    }
    for column in segment.catalog.columns(table.table)? {
        let record = segment.columns.record(column)?;
        let hashes = segment.columns.hashes(record)?;
        for (value, hash) in wanted {
            let known = held.iter().any(|held: &HeldValue| held.value == *value);
            if !known && hashes.binary_search(hash).is_ok() {
                held.push(HeldValue { value: (*value).to_string(), column: segment.columns.name(record)?.to_string() });
            }
        }
    }
    Ok(held)
}
