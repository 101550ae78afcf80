//! The tables worth a closer look for a request in words with or without a query table: what the searches for each found, put
//! together table by table, and one relevance over all of it.
//!
//! What a search found is a value of its own ([`SearchedText`], [`TextAnswers`], [`TableAnswers`]), so that whoever asks about
//! the same words twice, as a turn does, searches for them once.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::join::{self, JoinAnswer, JoinOptions};
use super::query_table::QueryTable;
use super::text_search::{self, SearchAnswer, SearchOptions, informative_vector};
use super::union::{self, UnionAnswer, UnionOptions};
use super::weights::RankingWeights;
use lakeward_core::error::Result;
use lakeward_index::encode::column_dims;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_lake::dataset::Dataset;
use lakeward_models::embed::Embedder;
use lakeward_sketch::{Normaliser, Writing};

/// What to look for by words.
#[derive(Debug, Clone, Copy)]
pub struct TextRequest<'a> {
    /// Words to search by, each with how much it counts, 0..=1: the request first. Empty ones are not searched.
    pub texts: &'a [(&'a str, f64)],
    /// Texts that were searched for before, to the same depth: they are not searched again.
    pub searched: &'a [&'a SearchedText],
    /// Tables that something else proposes for the request: they are candidates as if the search for it had found them.
    pub proposed: &'a [TableRef],
    /// Tables for which something else than the searches speaks, with how much that counts beside what the best table says of
    /// itself; each is a candidate, too.
    pub supported: &'a [(TableRef, f64)],
    /// Answers asked of each search.
    pub depth: usize,
}

/// What to look for by a table.
#[derive(Clone, Copy)]
pub struct TableRequest<'a> {
    /// The table at hand.
    pub query: &'a QueryTable,
    /// Place of its key column, where one is meant.
    pub column: Option<usize>,
    /// Answers asked of each search.
    pub depth: usize,
}

/// A text with the tables that answer it, best first.
#[derive(Debug, Clone)]
pub struct SearchedText {
    /// The text.
    pub text: String,
    /// The tables.
    pub answers: Vec<SearchAnswer>,
}

impl SearchedText {
    /// Searches for `text`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn of(
        index: &LakeIndex,
        embedder: &dyn Embedder,
        text: &str,
        depth: usize,
        weights: &RankingWeights,
    ) -> Result<Self> {
        let answers = text_search::search(index, embedder, text, &SearchOptions { k: depth, weights })?;
        Ok(Self { text: text.to_string(), answers })
    }

    /// The greatest share of the text, by how rare its words are, that one of the best tables says, 0..=1.
    pub fn coverage(&self, weights: &RankingWeights) -> f64 {
        let best = self.answers.iter().take(weights.text.deciding_tables);
        best.map(|answer| answer.features.coverage).fold(0.0, f64::max).min(1.0)
    }
}

/// The tables that answer the texts of a request, each once.
#[derive(Debug, Clone)]
pub struct TextAnswers {
    /// Each with its score as a share of the best one's.
    answers: Vec<(f64, SearchAnswer)>,
    /// How likely the best one serves, 0..=1; 1 where that is not known.
    likely: f64,
    /// Whether one of them may be what is asked for.
    may_serve: bool,
}

/// The tables that go with a table, by both searches for them.
pub struct TableAnswers<'a> {
    /// The table at hand.
    query: &'a QueryTable,
    /// By shared key values.
    joined: Vec<JoinAnswer>,
    /// By alignable columns.
    aligned: Vec<UnionAnswer>,
}

/// A value that a column holds, after normalisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldValue {
    /// The value asked for.
    pub value: String,
    /// A column that holds it.
    pub column: String,
}

/// The column of a table that comes nearest to what a row should stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct GrainColumn {
    /// The grain asked for, such as "continent".
    pub said: String,
    /// The column.
    pub column: String,
    /// Cosine of their static vectors, 0..=1.
    pub likeness: f64,
}

/// What a row should stand for, with the static vector of each, to be looked up in columns.
#[derive(Debug, Clone, Default)]
pub struct Grains(Vec<(String, Vec<f32>)>);

impl Grains {
    /// Those that are said, such as "continent".
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn of<'a>(index: &LakeIndex, embedder: &dyn Embedder, said: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let vector = |said: &'a str| {
            let mut vector = informative_vector(embedder, &index.lexical_query(said)?.typed_words());
            vector.resize(column_dims(embedder.dims()), 0.0);
            Ok((said.to_string(), vector))
        };
        said.into_iter().map(vector).collect::<Result<_>>().map(Self)
    }
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
    /// Those that ship; `crates/eval/tests/eval/turns.rs` measures them.
    fn default() -> Self {
        RankingWeights::shipped().relevance
    }
}

/// Rel(T, q) for what a table may be used for: the weighted mean of the searches' scores, 0..=1; greater is better.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relevance {
    /// As a table to join with.
    pub to_join: f64,
    /// As a table to append, to filter or to aggregate.
    pub otherwise: f64,
    /// By words and meaning alone: with a table at hand as a share of the best table's, else how likely it serves.
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
    /// Of each grain asked for, the column that comes nearest to it; a record has none.
    pub grains: Vec<GrainColumn>,
}

/// What the searches say of one table.
#[derive(Default)]
struct Found<'a> {
    /// With its score as a share of the best one's.
    search: Option<(f64, &'a SearchAnswer)>,
    join: Option<&'a JoinAnswer>,
    union: Option<&'a UnionAnswer>,
}

/// Searches for texts and for tables that go with a table, at the same time.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn find<'a>(
    index: &LakeIndex,
    lake: &Path,
    embedder: &dyn Embedder,
    (texts, table): (&TextRequest<'_>, Option<TableRequest<'a>>),
    weights: &RankingWeights,
) -> Result<(TextAnswers, Option<TableAnswers<'a>>)> {
    let by_texts = || TextAnswers::of(index, embedder, texts, weights);
    let by_table = || table.map(|table| TableAnswers::of(index, lake, &table, weights)).transpose();
    let (texts, table) = rayon::join(by_texts, by_table);
    Ok((texts?, table?))
}

/// The candidates among what was found, most relevant first, ties by id. The query table itself is none. `values`, such as places, and
/// `grains` are looked up in their columns.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn candidates(
    index: &LakeIndex,
    (texts, table): (&TextAnswers, Option<&TableAnswers<'_>>),
    (values, grains): (&[String], &Grains),
    weights: &RankingWeights,
) -> Result<Vec<Candidate>> {
    let mut found: BTreeMap<&str, Found<'_>> = BTreeMap::new();
    let asked = (!texts.answers.is_empty(), table.is_some());
    for (share, answer) in &texts.answers {
        found.entry(&answer.table).or_default().search = Some((*share, answer));
    }
    for answer in table.iter().flat_map(|table| &table.joined) {
        found.entry(&answer.table).or_default().join = Some(answer);
    }
    for answer in table.iter().flat_map(|table| &table.aligned) {
        found.entry(&answer.table).or_default().union = Some(answer);
    }
    // What is named is no gap.
    let mut normaliser = Normaliser::new(Writing::typed());
    let requested: Vec<(&str, u64)> =
        values.iter().map(|value| (value.as_str(), normaliser.value(value).hash)).collect();
    let own = table.map(|table| table.query).filter(|query| query.origin.is_some());
    let mut candidates = Vec::with_capacity(found.len());
    for (id, Found { search, join, union }) in found {
        if own.is_some_and(|own| own.entry.id.as_str() == id) {
            continue;
        }
        // What goes with a table is compared with what the text finds by shares; alone it is as relevant as it is likely to serve.
        let likely = if table.is_some() { 1.0 } else { texts.likely };
        let scores = [
            search.map_or(0.0, |(share, _)| likely * share),
            join.map_or(0.0, |answer| answer.score),
            union.map_or(0.0, |answer| answer.score),
        ];
        let fan_out = join.map_or(1.0, |answer| answer.fan_out.max(1.0)).log10().min(1.0);
        let relevance = Relevance {
            to_join: (weights.relevance.to_join.mean(scores, asked) - weights.turn.fan_out * fan_out).max(0.0),
            otherwise: weights.relevance.otherwise.mean(scores, asked),
            by_words: scores[0],
        };
        let at = index.find(id)?;
        let holds = held_values(index, at, &requested)?;
        candidates.push(Candidate {
            dataset: index.dataset(at)?,
            relevance,
            search: search.map(|(_, answer)| answer.clone()),
            join: join.cloned(),
            union: union.cloned(),
            holds,
            grains: grain_columns(index, at, grains)?,
        });
    }
    candidates.sort_by(|a, b| {
        b.relevance.otherwise.total_cmp(&a.relevance.otherwise).then_with(|| a.dataset.id().cmp(b.dataset.id()))
    });
    Ok(candidates)
}

impl<'a> TableAnswers<'a> {
    /// The table at hand.
    pub fn query(&self) -> &'a QueryTable {
        self.query
    }

    /// The tables to join with, best first.
    pub fn joined(&self) -> &[JoinAnswer] {
        &self.joined
    }

    /// The tables to append, best first.
    pub fn aligned(&self) -> &[UnionAnswer] {
        &self.aligned
    }

    /// Searches for tables to join with, and to append to, a table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn of(index: &LakeIndex, lake: &Path, request: &TableRequest<'a>, weights: &RankingWeights) -> Result<Self> {
        let TableRequest { query, column, depth: k } = *request;
        let by_key = || join::search(index, query, &JoinOptions { k, column, weights });
        let by_columns = || union::search(index, lake, query, &UnionOptions { k, count_rows: false, weights });
        let (joined, aligned) = rayon::join(by_key, by_columns);
        Ok(Self { query, joined: joined?, aligned: aligned? })
    }
}

impl TextAnswers {
    /// Whether something holds of one of the answers.
    pub fn any(&self, holds: impl Fn(&SearchAnswer) -> bool) -> bool {
        self.answers.iter().any(|(_, answer)| holds(answer))
    }

    /// Whether one of the tables may be what is asked for; if not, they are but the nearest.
    pub fn may_serve(&self) -> bool {
        self.may_serve
    }

    /// The tables that answer one of the texts, with the greatest share of the best answer's score that one of them gives, counting
    /// as much as the text does. A table that several find is told of by the first of them. What else speaks for a table is added;
    /// then all are shares of the best again. That counts as far as none of the best tables says what the request says: where one
    /// does, it is the answer.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub fn of(
        index: &LakeIndex,
        embedder: &dyn Embedder,
        request: &TextRequest<'_>,
        weights: &RankingWeights,
    ) -> Result<Self> {
        let TextRequest { texts, searched, proposed, supported, depth } = *request;
        let mut found: BTreeMap<String, (f64, SearchAnswer)> = BTreeMap::new();
        // What the best tables say of the request, by how rare its words are.
        let mut said: f64 = 0.0;
        let (mut likely, mut may_serve) = (None, false);
        for (place, (text, weight)) in texts.iter().enumerate().filter(|(_, (text, _))| !text.trim().is_empty()) {
            let of_text = match searched.iter().find(|known| known.text == *text) {
                Some(known) => (*known).clone(),
                None => SearchedText::of(index, embedder, text, depth, weights)?,
            };
            if place == 0 {
                said = of_text.coverage(weights);
            }
            let mut answers = of_text.answers;
            likely = answers
                .iter()
                .filter_map(|answer| answer.relevance)
                .fold(likely, |most, relevance| Some(most.map_or(relevance, |most: f64| most.max(relevance))));
            may_serve |= answers.iter().any(|answer| answer.may_serve(&weights.calibration));
            if place == 0 && !(proposed.is_empty() && supported.is_empty()) {
                let mut proposed = proposed.to_vec();
                let further = supported.iter().map(|(table, _)| *table).filter(|table| !proposed.contains(table));
                let further: Vec<TableRef> = further.collect();
                proposed.extend(further);
                let proposed = text_search::rank(index, embedder, text, &proposed, weights)?;
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
        let answers = found.into_values().map(|(share, answer)| (share / most, answer)).collect();
        Ok(Self { answers, likely: likely.unwrap_or(1.0), may_serve: may_serve || !supported.is_empty() })
    }
}

/// Which of the values `requested`, with their hashes, the columns of a table hold; of each the first column.
fn held_values(index: &LakeIndex, table: TableRef, requested: &[(&str, u64)]) -> Result<Vec<HeldValue>> {
    let segment = index.segment(table.segment)?;
    let mut held = Vec::new();
    if requested.is_empty() {
        return Ok(held);
    }
    for column in segment.tables.columns(table.table)? {
        let record = segment.columns.record(column)?;
        let hashes = segment.columns.hashes(record)?;
        for (value, hash) in requested {
            let known = held.iter().any(|held: &HeldValue| held.value == *value);
            if !known && hashes.binary_search(hash).is_ok() {
                held.push(HeldValue { value: (*value).to_string(), column: segment.columns.name(record)?.to_string() });
            }
        }
    }
    Ok(held)
}

/// Of each grain, with its vector, the column of a table that comes nearest to it.
fn grain_columns(index: &LakeIndex, table: TableRef, Grains(grains): &Grains) -> Result<Vec<GrainColumn>> {
    let segment = index.segment(table.segment)?;
    let mut nearest = Vec::with_capacity(grains.len());
    for (said, vector) in grains {
        let mut best: Option<(f32, u32)> = None;
        for column in segment.tables.columns(table.table)? {
            let likeness = segment.vectors.columns.dot(column, vector)?;
            if best.is_none_or(|(known, _)| likeness > known) {
                best = Some((likeness, column));
            }
        }
        if let Some((likeness, column)) = best {
            let column = segment.columns.name(segment.columns.record(column)?)?.to_string();
            nearest.push(GrainColumn { said: said.clone(), column, likeness: f64::from(likeness.clamp(0.0, 1.0)) });
        }
    }
    Ok(nearest)
}
