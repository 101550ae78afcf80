//! Union search: tables whose rows could be appended to the query's.
//!
//! Candidates come from five channels: words of headers and cells, the content vector of the whole table, columns of the same
//! name, columns that share values, and columns with similar vectors. The best candidates are aligned column by column: each
//! pair is scored by its names and contents, and the one-to-one assignment of greatest total is used. The score is linear in the
//! features of that alignment and of the whole tables (after TACTUS, "table-first, then columns").

use std::cmp::Ordering;
use std::path::Path;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alignment::{Aligner, Fits, Pair};
use super::fuse::reciprocal_rank_fusion;
use super::new_rows::{self, NewRows, RowHashes};
use super::query_table::{QueryTable, sample_words};
use super::weights::{FusionWeights, RankingWeights};
use crate::cite::{Gate, NamesTables};
use channels::Channel;
use features::{TableEvidence, features};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::listing::{ListCell, ListColumn, Listed, REASON_CHARS, column};
use lakeward_core::message;
use lakeward_core::message::{Message, PARTS};
use lakeward_index::{LakeIndex, TableRef};
use lakeward_lake::source::file_path;

mod channels;
mod features;

pub use features::{UnionFeatures, UnionWeights};

/// What to search for.
#[derive(Debug, Clone)]
pub struct UnionOptions<'a> {
    /// Number of answers requested.
    pub k: usize,
    /// Whether the files are read again to count new rows.
    pub count_rows: bool,
    /// Weights of the ranking.
    pub weights: &'a RankingWeights,
}

impl UnionOptions<'_> {
    /// `k` answers with the built-in weights; new rows are not counted.
    pub fn new(k: usize) -> Self {
        Self { k, count_rows: false, weights: RankingWeights::shipped() }
    }
}

/// A pair of aligned columns with the evidence; every likeness in 0..=1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlignedPair {
    /// The query's column.
    pub query_column: String,
    /// The candidate's column.
    #[schemars(extend("x-sql" = "table_column"))]
    pub column: String,
    /// How well they fit.
    pub score: f64,
    /// Likeness of their names.
    #[schemars(extend("x-sql" = "name_likeness"))]
    pub name: f64,
    /// Share of equal values, of the smaller side.
    #[schemars(extend("x-sql" = "shared_values"))]
    pub values: f64,
    /// Cosine of their vectors: meaning, type and shape.
    #[schemars(extend("x-sql" = "semantic_likeness"))]
    pub meaning: f64,
}

/// A table that can be appended, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct UnionAnswer {
    /// The table's id.
    #[schemars(extend("x-sql" = "id"))]
    pub table: String,
    /// Its title.
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// The features of the score.
    #[schemars(extend("x-sql" = false))]
    pub parts: UnionFeatures,
    /// Aligned columns, in the query's order.
    pub alignment: Vec<AlignedPair>,
    /// Columns of the query without an aligned column.
    pub unmatched: Vec<String>,
    /// Columns of the candidate without an aligned column.
    pub extra: Vec<String>,
    /// Rows that a union would add, if counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-sql" = "*"))]
    pub new_rows: Option<NewRows>,
    /// Whether the candidate adds almost nothing: a near copy of the query.
    pub near_copy: bool,
    /// Rows of the candidate; of a `sampled` one, the rows read.
    pub rows: u64,
    /// Whether only the first rows of the candidate, or of the query, were read: all figures are of those.
    pub sampled: bool,
    /// Its citation: the publisher's identifier, else `lakeward:<lake>/<table>@<hash>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub citation: String,
    /// The answer in a sentence.
    pub reason: Message,
}

impl Listed for UnionAnswer {
    const COLUMNS: &'static [ListColumn<Self>] = &[
        column("table", ListCell::Id(|a| &a.table)),
        column("score", ListCell::Figure(3, |a| a.score)),
        column("rows", ListCell::Count(|a| Some(a.rows))),
        column("why", ListCell::Message(REASON_CHARS, |a| &a.reason)),
    ];
}

impl NamesTables for UnionAnswer {
    fn pass(&mut self, gate: &Gate<'_>) -> Result<bool> {
        gate.has(&self.table)
    }
}

/// Most tables aligned column by column.
const ALIGNED_TABLES: usize = 150;
/// Tables that one core aligns.
const ALIGNED_TOGETHER: usize = 50;
/// A table with at most this share of new rows is a copy.
const COPY_SHARE: f64 = 0.05;

struct Candidate<'a> {
    id: &'a str,
    table: TableRef,
    parts: UnionFeatures,
    score: f64,
    pairs: Vec<Pair>,
}

impl Candidate<'_> {
    /// Best first.
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.id.cmp(other.id))
    }
}

/// The best tables to append to `query`, best first, ties by table.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged. A lake file that vanished only leaves the rows uncounted.
pub fn search(
    index: &LakeIndex,
    lake: &Path,
    query: &QueryTable,
    options: &UnionOptions<'_>,
) -> Result<Vec<UnionAnswer>> {
    // What was received from all shards is not computed again in the next round.
    let best = match index.exchange() {
        None => None,
        Some(_) => {
            let own = || {
                let candidates = aligned(index, query, options)?;
                Ok(candidates.iter().map(|own| (own.score, own.id.to_string())).collect::<Vec<_>>())
            };
            let mut best = index.gather("best scores", own, |best| best.len() <= options.k)?.concat();
            best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            best.truncate(options.k);
            Some(best)
        }
    };
    let own = || {
        let mut candidates = aligned(index, query, options)?;
        if let Some(best) = &best {
            candidates.retain(|own| best.iter().any(|(_, id)| id == own.id));
        }
        let counts = options.count_rows && !candidates.is_empty();
        let own_rows = counts
            .then(|| RowHashes::read(&query.path, &query.entry.profile.columns, new_rows::MOST_ROWS).ok())
            .flatten();
        let answer = |own: &Candidate<'_>| Ok((own.score, answer(index, lake, query, own, own_rows.as_ref())?));
        candidates.par_iter().map(answer).collect()
    };
    let mut answers = index.gather("answers", own, |own: &Vec<(f64, UnionAnswer)>| own.len() <= options.k)?.concat();
    answers.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.table.cmp(&b.1.table)));
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// All tables that are proposed for a union with `query` and align with it, each with its features, for fitting weights.
/// Sorted by table id, so that the order does not depend on the ranking.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn candidates_with_features(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(String, UnionFeatures)>> {
    let options = UnionOptions::new(usize::MAX);
    let mut candidates: Vec<(String, UnionFeatures)> =
        aligned(index, query, &options)?.into_iter().map(|found| (found.id.to_string(), found.parts)).collect();
    candidates.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(candidates)
}

/// The best `k` tables by their features, best first, ties by id; without tables that have no aligned pair.
fn aligned<'a>(index: &'a LakeIndex, query: &QueryTable, options: &UnionOptions<'_>) -> Result<Vec<Candidate<'a>>> {
    let UnionOptions { k, weights, .. } = *options;
    let Some(first) = index.segments().first().filter(|_| k > 0) else { return Ok(Vec::new()) };
    let channels = Channels::of(index, query)?;
    let content_query = first.vectors.contents.prepare(&query.content)?;
    let proposed = channels.proposed(query, &weights.fusion);
    let proposed: Vec<TableRef> = proposed.into_iter().filter_map(|place| index.of_shard(place)).collect();
    let best_of = |tables: &[TableRef]| {
        let mut aligner = Aligner::of(query, first, &weights.alignment)?;
        let mut fits = Fits::default();
        let width = query.columns.len();
        let mut candidates: Vec<Candidate<'a>> = Vec::new();
        for &table in tables {
            let segment = index.segment(table.segment)?;
            let columns = segment.tables.columns(table.table)?;
            if !segment.is_live(table.table) || columns.is_empty() {
                continue;
            }
            aligner.compare(segment, table.table, &mut fits)?;
            let evidence = TableEvidence {
                columns: columns.len(),
                words: channels.words.score(table),
                content: f64::from(segment.vectors.contents.cosine_with(table.table, &content_query)?).clamp(0.0, 1.0),
                rare_names: channels.headers.score(table),
                rare_values: channels.values.score(table),
            };
            let bound = weights.union.score(&features(width, &fits.bound(), &evidence));
            if candidates.len() == k && candidates.last().is_some_and(|worst| bound < worst.score) {
                continue;
            }
            let pairs = fits.best_pairs();
            if pairs.is_empty() {
                continue;
            }
            let parts = features(width, &fits.sums(&pairs), &evidence);
            let score = weights.union.score(&parts);
            let found = Candidate { id: index.id(table)?, table, parts, score, pairs };
            candidates.insert(candidates.partition_point(|other| other.order(&found).is_lt()), found);
            candidates.truncate(k);
        }
        Ok(candidates)
    };
    let best: Vec<Vec<Candidate<'a>>> = proposed.par_chunks(ALIGNED_TOGETHER).map(best_of).collect::<Result<_>>()?;
    let mut candidates: Vec<Candidate<'a>> = best.into_iter().flatten().collect();
    candidates.sort_by(Candidate::order);
    candidates.truncate(k);
    Ok(candidates)
}

/// The results of the channels.
struct Channels {
    words: Channel,
    content: Channel,
    headers: Channel,
    values: Channel,
    look_alikes: Channel,
}

impl Channels {
    fn of(index: &LakeIndex, query: &QueryTable) -> Result<Self> {
        let ((words, content), ((headers, values), look_alikes)) = rayon::join(
            || (channels::words(index, query), channels::content(index, query)),
            || {
                rayon::join(
                    || (channels::headers(index, query), channels::values(index, query)),
                    || channels::look_alikes(index, query),
                )
            },
        );
        let (words, content, look_alikes) = (words?, content?, look_alikes?);
        Ok(Self { words, content, headers: headers?, values: values?, look_alikes })
    }

    /// The tables to align by their places in the whole index, most promising first: those ranked high by many channels.
    fn proposed(&self, query: &QueryTable, weights: &FusionWeights) -> Vec<TableRef> {
        let channels = [&self.words, &self.content, &self.headers, &self.values, &self.look_alikes];
        let fused = reciprocal_rank_fusion(&channels.map(|channel| (1.0, channel.order.clone())), weights);
        let tables = fused.into_iter().map(|(table, _)| table).filter(|table| Some(*table) != query.place);
        tables.take(ALIGNED_TABLES).collect()
    }
}

fn answer(
    index: &LakeIndex,
    lake: &Path,
    query: &QueryTable,
    candidate: &Candidate<'_>,
    own_rows: Option<&RowHashes>,
) -> Result<UnionAnswer> {
    let entry = index.table(candidate.table)?;
    // Columns with the fewest common values first: they distinguish the most rows.
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
        Some(own) => file_path(lake, &entry.path).and_then(|path| own.new_rows(&path, columns, &places)).ok(),
    };
    let unmatched = query.columns.iter().enumerate().filter(|(place, _)| !places.iter().any(|(own, _)| own == place));
    let extra =
        entry.profile.columns.iter().enumerate().filter(|(place, _)| !places.iter().any(|(_, other)| other == place));
    let mut answer = UnionAnswer {
        table: entry.id.to_string(),
        citation: entry.citation.clone(),
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
        reason: Message::default(),
    };
    answer.reason = reason(&answer, query.columns.len()).and_then(sample_words(Some(query), &entry));
    Ok(answer)
}

/// Whether an aligned pair of columns has no value in common and no missing values on at least one side: then no row is in both
/// tables, and their files need not be read.
fn shares_no_row(index: &LakeIndex, query: &QueryTable, candidate: &Candidate<'_>) -> Result<bool> {
    let segment = index.segment(candidate.table.segment)?;
    let first = segment.tables.columns(candidate.table.table)?.start;
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

fn reason(answer: &UnionAnswer, columns: usize) -> Message {
    let mut reason = message!("{} of {} columns align", answer.alignment.len(), columns);
    if let Some(rows) = answer.new_rows {
        let new = match rows.complete {
            true => message!("{} of {} rows are new", rows.new, rows.compared),
            false => message!("at least {} of {} rows are new", rows.new, rows.compared),
        };
        reason = Message::list(PARTS, [reason, new]);
    }
    if answer.near_copy {
        reason = reason.and_then(message!("nearly a copy of yours"));
    }
    let renamed: Vec<String> = answer
        .alignment
        .iter()
        .filter(|pair| pair.name < 1.0)
        .take(3)
        .map(|pair| format!("{}→{}", pair.query_column, pair.column))
        .collect();
    match renamed.is_empty() {
        true => reason,
        false => reason.and_then(message!("renamed: {}", renamed.join(", "))),
    }
}
