//! Union search: tables whose rows could stand below the query's.
//!
//! Candidates come from four channels: words of headers and cells, the content vector of the whole table, columns called the
//! same, and columns that share values. The best of them are aligned column by column: each pair is scored by name, values,
//! range and meaning, and the one-to-one assignment of greatest total is taken. The rank is made of that alignment, the words
//! and the whole-table vector (after TACTUS, "table-first, then columns").

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alignment::{Aligner, Fits, Pair};
use super::fuse::reciprocal_rank_fusion;
use super::new_rows::{NewRows, RowHashes};
use super::query_table::{QueryColumn, QueryTable, sample_words};
use super::ranker::features;
use super::weights::RankingWeights;
use crate::error::Result;
use crate::index::lexical::{Boosts, LexicalField, LexicalOptions};
use crate::index::open::Segment;
use crate::index::postings::Postings;
use crate::index::{LakeIndex, TableRef, header_hashes};
use crate::lake::semantic::LogicalType;
use crate::lake::source::file_path;
use crate::text::name_words;

/// What to search for.
#[derive(Debug, Clone)]
pub struct UnionOptions {
    /// Answers wanted.
    pub k: usize,
    /// Whether the files are read again to count new rows.
    pub count_rows: bool,
    /// How much each feature counts.
    pub weights: UnionWeights,
}

impl UnionOptions {
    /// `k` answers with the weights that ship; new rows are not counted.
    pub fn new(k: usize) -> Self {
        Self { k, count_rows: false, weights: RankingWeights::shipped().union }
    }
}

/// A pair of aligned columns with the evidence; every likeness in 0..=1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlignedPair {
    /// The query's column.
    pub query_column: String,
    /// The candidate's column.
    pub column: String,
    /// How well they fit.
    pub score: f64,
    /// Likeness of their names.
    pub name: f64,
    /// Share of equal values, of the smaller side.
    pub values: f64,
    /// Cosine of their vectors: meaning, type and shape.
    pub meaning: f64,
}

features! {
    /// What a union score is made of.
    UnionFeatures,
    /// How much each feature counts.
    UnionWeights {
        /// Sum of the aligned pairs' scores over the columns that could align.
        alignment,
        /// BM25 of the query's words, as a share of the best table's.
        words,
        /// Cosine of the whole tables' vectors.
        content,
    }
}

/// A table that can be appended, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnionAnswer {
    /// The table's id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// What the score is made of.
    pub parts: UnionFeatures,
    /// Aligned columns, in the query's order.
    pub alignment: Vec<AlignedPair>,
    /// Columns of the query that found no partner.
    pub unmatched: Vec<String>,
    /// Columns of the candidate that found none.
    pub extra: Vec<String>,
    /// Rows that a union would add, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_rows: Option<NewRows>,
    /// Whether the candidate adds next to nothing: a copy of the query.
    pub near_copy: bool,
    /// Rows of the candidate; those read, where it is `sampled`.
    pub rows: u64,
    /// Whether only the first rows of the candidate, or of the query, were read: all figures are of those.
    pub sampled: bool,
    /// The answer in a sentence.
    pub reason: String,
}

/// Tables that each channel proposes.
const CHANNEL_DEPTH: usize = 100;
/// Tables aligned column by column.
const ALIGNED_TABLES: usize = 120;
/// Columns of the query whose values search for candidates.
const VALUE_COLUMNS: usize = 6;
/// Distinct values of a column looked up for candidates.
const LOOKED_UP_VALUES: usize = 256;
/// Lists longer than this many bytes say nothing about a relation.
const COMMON_LIST_BYTES: usize = 1 << 16;
/// Words of cells searched for.
const CELL_WORDS: usize = 160;
/// A table with a smaller share of new rows is a copy.
const COPY_SHARE: f64 = 0.05;

struct Candidate<'a> {
    id: &'a str,
    table: TableRef,
    parts: UnionFeatures,
    score: f64,
    pairs: Vec<Pair>,
}

/// The best tables to append to `query`, best first, ties by table.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged. A lake file that vanished only leaves the rows uncounted.
pub fn search(index: &LakeIndex, lake: &Path, query: &QueryTable, options: &UnionOptions) -> Result<Vec<UnionAnswer>> {
    let ((words, content), (headers, values)) = rayon::join(
        || (word_channel(index, query), content_channel(index, query)),
        || (header_channel(index, query), value_channel(index, query)),
    );
    let words = words?;
    let best_words = words.first().map_or(1.0, |(_, score)| *score).max(f64::MIN_POSITIVE);
    let word_scores: HashMap<TableRef, f64> = words.iter().map(|(table, score)| (*table, score / best_words)).collect();
    let order = |channel: Vec<(TableRef, f64)>| channel.into_iter().map(|(table, _)| table).collect::<Vec<_>>();
    let fused = reciprocal_rank_fusion(&[
        (1.0, order(words)),
        (1.0, order(content?)),
        (1.0, order(headers?)),
        (1.0, order(values?)),
    ]);
    let mut tables: Vec<TableRef> =
        fused.into_iter().map(|(table, _)| table).filter(|table| Some(*table) != query.origin).collect();
    tables.truncate(ALIGNED_TABLES);
    let candidates = aligned(index, query, &tables, &word_scores, options)?;
    let own_rows = if options.count_rows { RowHashes::read(&query.path).ok() } else { None };
    candidates.par_iter().map(|candidate| answer(index, lake, query, candidate, own_rows.as_ref())).collect()
}

/// The best `k` of `tables` by their alignment with `query`, best first, ties by id; without those of which nothing aligns.
fn aligned<'a>(
    index: &'a LakeIndex,
    query: &QueryTable,
    tables: &[TableRef],
    words: &HashMap<TableRef, f64>,
    options: &UnionOptions,
) -> Result<Vec<Candidate<'a>>> {
    let UnionOptions { k, weights, .. } = *options;
    let Some(first) = index.segments().first() else { return Ok(Vec::new()) };
    let mut aligner = Aligner::of(query, first)?;
    let mut fits = Fits::default();
    let content_query = first.content_vectors.prepare(&query.content)?;
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    for table in tables {
        let segment = index.segment(table.segment)?;
        if !segment.is_live(table.table) {
            continue;
        }
        aligner.compare(segment, table.table, &mut fits)?;
        let columns = segment.catalog.columns(table.table)?.len();
        let content = f64::from(segment.content_vectors.cosine_with(table.table, &content_query)?).max(0.0);
        let words = words.get(table).copied().unwrap_or(0.0);
        let parts =
            |fit, pairs| UnionFeatures { alignment: alignment_score(query, fit, pairs, columns), words, content };
        let (most_fit, most_pairs) = fits.bound();
        let hopeless = candidates.len() == k
            && candidates.last().is_some_and(|worst| weights.score(&parts(most_fit, most_pairs)) < worst.score);
        if hopeless || k == 0 {
            continue;
        }
        let pairs = fits.best_pairs();
        if pairs.is_empty() {
            continue;
        }
        let parts = parts(pairs.iter().map(|(_, _, fit)| fit.score).sum(), pairs.len());
        let score = weights.score(&parts);
        let id = index.id(*table)?;
        let before = |other: &Candidate<'_>| other.score.total_cmp(&score).then(id.cmp(other.id)).is_gt();
        candidates.insert(candidates.partition_point(before), Candidate { id, table: *table, parts, score, pairs });
        candidates.truncate(k);
    }
    Ok(candidates)
}

/// How much of two tables aligns, 0..=1: the fit of the `pairs` aligned pairs over the columns of the query, of the smaller
/// table and of both together, averaged. The first asks for all of the query, the second forgives projections, the third
/// tells a table of the same width from one that merely contains it.
fn alignment_score(query: &QueryTable, fit: f64, pairs: usize, columns: usize) -> f64 {
    let width = query.columns.len();
    let smaller = width.min(columns).max(1);
    let joint = (width + columns).saturating_sub(pairs).max(1);
    (fit / width.max(1) as f64 + fit / smaller as f64 + fit / joint as f64) / 3.0
}

/// Words of the query's headers and cells, by BM25 over headers and values.
fn word_channel(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(TableRef, f64)>> {
    let mut tokens: Vec<(String, f32)> = Vec::new();
    for column in &query.columns {
        tokens.extend(name_words(&column.profile.name).into_iter().map(|word| (word, 1.0)));
    }
    let texts: Vec<&QueryColumn> =
        query.columns.iter().filter(|column| column.profile.logical == LogicalType::Text).collect();
    let share = CELL_WORDS / texts.len().max(1);
    for column in texts {
        let cells = column.sketch.text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1);
        tokens.extend(cells.take(share).map(|word| (word.to_lowercase(), 1.0)));
    }
    let tokens: Vec<(&str, f32)> = tokens.iter().map(|(word, weight)| (word.as_str(), *weight)).collect();
    let options = LexicalOptions {
        k: CHANNEL_DEPTH,
        boosts: Boosts::only(&[LexicalField::Headers, LexicalField::Values]),
        explain: false,
    };
    let hits = index.lexical().search_tokens(&tokens, &options)?;
    Ok(hits
        .into_iter()
        .map(|hit| (TableRef { segment: hit.segment, table: hit.table }, f64::from(hit.score)))
        .collect())
}

fn content_channel(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(TableRef, f64)>> {
    let mut found = Vec::new();
    for (place, segment) in index.segments().iter().enumerate() {
        let live = |table: u32| segment.is_live(table);
        for (table, cosine) in segment.content_vectors.search(&query.content, CHANNEL_DEPTH, Some(&live))? {
            found.push((TableRef { segment: place as u32, table }, f64::from(cosine)));
        }
    }
    Ok(best_of(found))
}

/// Tables with columns called like the query's, rare names counting more.
fn header_channel(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(TableRef, f64)>> {
    let mut scores = TableScores::of(index);
    for column in &query.columns {
        for hash in header_hashes(&column.profile.name) {
            scores.add(hash, |segment| &segment.headers)?;
        }
    }
    Ok(scores.best())
}

/// Tables with columns that share values with the query's, rare values counting more.
fn value_channel(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(TableRef, f64)>> {
    let mut scores = TableScores::of(index);
    let speaking = query.columns.iter().filter(|column| column.profile.logical == LogicalType::Text);
    for column in speaking.take(VALUE_COLUMNS) {
        for hash in column.values.hashes.iter().take(LOOKED_UP_VALUES) {
            scores.add(*hash, |segment| &segment.values)?;
        }
    }
    Ok(scores.best())
}

/// Scores of tables by what their columns are listed under.
struct TableScores<'a> {
    index: &'a LakeIndex,
    /// Columns in the index.
    columns: usize,
    /// For each segment, the score of each of its tables.
    scores: Vec<Vec<f64>>,
}

impl<'a> TableScores<'a> {
    fn of(index: &'a LakeIndex) -> Self {
        let columns = index.segments().iter().map(|segment| segment.columns.len()).sum();
        let scores = index.segments().iter().map(|segment| vec![0.0; segment.catalog.len()]).collect();
        Self { index, columns, scores }
    }

    /// Adds to each table, for each of its columns listed under `hash`, the weight of that list: ln(1 + N/df).
    fn add(&mut self, hash: u64, lists: impl Fn(&Segment) -> &Postings) -> Result<()> {
        let mut found = Vec::new();
        let (mut bytes, mut frequency) = (0, 0);
        for (place, segment) in self.index.segments().iter().enumerate() {
            if let Some(list) = lists(segment).find(hash)? {
                (bytes, frequency) = (bytes + list.bytes(), frequency + list.count());
                found.push((place, list));
            }
        }
        if bytes > COMMON_LIST_BYTES {
            return Ok(());
        }
        let weight = (1.0 + self.columns as f64 / frequency.max(1) as f64).ln();
        for (place, list) in found {
            let segment = &self.index.segments()[place];
            let scores = &mut self.scores[place];
            let mut damage = None;
            lists(segment).for_each(list, |column| match segment.columns.record(column) {
                Ok(record) => {
                    if let Some(score) = scores.get_mut(record.table as usize) {
                        *score += weight;
                    }
                }
                Err(error) => damage = Some(error),
            })?;
            if let Some(error) = damage {
                return Err(error);
            }
        }
        Ok(())
    }

    fn best(self) -> Vec<(TableRef, f64)> {
        let mut found = Vec::new();
        for ((place, segment), scores) in (0u32..).zip(self.index.segments()).zip(self.scores) {
            let scored = (0u32..).zip(scores).filter(|(table, score)| *score > 0.0 && segment.is_live(*table));
            found.extend(scored.map(|(table, score)| (TableRef { segment: place, table }, score)));
        }
        best_of(found)
    }
}

fn best_of(mut found: Vec<(TableRef, f64)>) -> Vec<(TableRef, f64)> {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(CHANNEL_DEPTH);
    found
}

fn answer(
    index: &LakeIndex,
    lake: &Path,
    query: &QueryTable,
    candidate: &Candidate<'_>,
    own_rows: Option<&RowHashes>,
) -> Result<UnionAnswer> {
    let entry = index.entry(candidate.table)?;
    // Columns with the fewest common values first: they tell most rows apart.
    let mut pairs: Vec<&Pair> = candidate.pairs.iter().collect();
    pairs.sort_by(|a, b| a.2.values.total_cmp(&b.2.values));
    let places: Vec<(usize, usize)> = pairs.into_iter().map(|(own, other, _)| (*own, *other)).collect();
    let columns = &entry.profile.columns;
    let aligned = |(own, other, fit): &Pair| AlignedPair {
        query_column: query.columns[*own].profile.name.clone(),
        column: columns.get(*other).map(|column| column.name.clone()).unwrap_or_default(),
        score: fit.score,
        name: fit.name,
        values: fit.values,
        meaning: fit.meaning,
    };
    let new_rows = match own_rows.filter(|_| !places.is_empty()) {
        None => None,
        Some(_) if shares_no_row(index, query, candidate)? => {
            let rows = entry.profile.rows;
            Some(NewRows {
                compared: rows,
                new: rows,
                complete: !entry.report.partial() && !query.entry.report.partial(),
            })
        }
        Some(own) => file_path(lake, &entry.path).and_then(|path| own.new_rows(&path, &places)).ok(),
    };
    let unmatched = query.columns.iter().enumerate().filter(|(place, _)| !places.iter().any(|(own, _)| own == place));
    let extra =
        entry.profile.columns.iter().enumerate().filter(|(place, _)| !places.iter().any(|(_, other)| other == place));
    let mut answer = UnionAnswer {
        table: entry.id.to_string(),
        title: entry.title(),
        score: candidate.score.clamp(0.0, 1.0),
        parts: candidate.parts,
        unmatched: unmatched.map(|(_, column)| column.profile.name.clone()).collect(),
        extra: extra.map(|(_, column)| column.name.clone()).collect(),
        near_copy: places.len() * 5 >= query.columns.len() * 4
            && new_rows.is_some_and(|rows| (rows.new as f64) <= COPY_SHARE * rows.compared as f64),
        new_rows,
        alignment: candidate.pairs.iter().map(aligned).collect(),
        rows: entry.profile.rows,
        sampled: query.entry.report.sample.is_some() || entry.report.sample.is_some(),
        reason: String::new(),
    };
    answer.reason = reason(&answer, query.columns.len());
    answer.reason.push_str(&sample_words(Some(query), &entry));
    Ok(answer)
}

/// Whether an aligned pair of columns has no value in common and no gaps on both sides: then no row is in both tables, and
/// their files need not be read to know it.
fn shares_no_row(index: &LakeIndex, query: &QueryTable, candidate: &Candidate<'_>) -> Result<bool> {
    let segment = index.segment(candidate.table.segment)?;
    let first = segment.catalog.columns(candidate.table.table)?.start;
    for (own, other, fit) in &candidate.pairs {
        let record = segment.columns.record(first.saturating_add(*other as u32))?;
        let sketch = &query.columns[*own].sketch;
        let all_read = !record.is_sampled() && query.entry.report.sample.is_none();
        let all_known = all_read && record.is_exact() && sketch.bound == u64::MAX;
        let full = record.present == record.rows || sketch.present() == sketch.rows;
        if fit.values == 0.0 && all_known && full {
            return Ok(true);
        }
    }
    Ok(false)
}

fn reason(answer: &UnionAnswer, columns: usize) -> String {
    let mut reason = format!("{} of {columns} columns align", answer.alignment.len());
    if let Some(rows) = answer.new_rows {
        let least = if rows.complete { "" } else { "at least " };
        reason.push_str(&format!(", {least}{} of {} rows are new", rows.new, rows.compared));
    }
    if answer.near_copy {
        reason.push_str("; nearly a copy of yours");
    }
    let renamed: Vec<String> = answer
        .alignment
        .iter()
        .filter(|pair| pair.name < 1.0)
        .take(3)
        .map(|pair| format!("{}→{}", pair.query_column, pair.column))
        .collect();
    if !renamed.is_empty() {
        reason.push_str(&format!("; renamed: {}", renamed.join(", ")));
    }
    reason
}
