//! Join search: tables with a column that holds the query column's values.
//!
//! Candidates come from exact value overlap ([`crate::index::overlap`]); columns of like meaning without equal values are
//! proposed by their vectors and labelled [`MatchKind::Semantic`]. The score weighs how much of the query is found and how
//! rare the shared values are, whether the columns are called alike, and whether the candidate is a key; columns that join
//! by accident (years, counters, yes/no, tiny domains) are pushed down and say so.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::likeness::name_likeness;
use super::query_table::{QueryColumn, QueryTable, sample_words};
use crate::error::Result;
use crate::index::overlap::{self, Overlap, ValueWeights};
use crate::index::{ColumnRef, LakeIndex, TableRef};
use crate::lake::semantic::{LogicalType, Weakness};
use crate::sketch::minhash::MinHash;
use crate::sketch::normalise::{Difference, Normaliser};

/// What to search for.
#[derive(Debug, Clone)]
pub struct JoinOptions {
    /// Answers wanted.
    pub k: usize,
    /// Place of the query's key column; without one the likeliest keys are tried.
    pub column: Option<usize>,
}

/// How the values of two columns were found to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// Most shared values are equal as written.
    AsWritten,
    /// Most shared values are equal only after normalisation.
    Normalised,
    /// The columns mean the same kind of thing; their values are not equal.
    Semantic,
}

/// A pair of equal values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ValueMatch {
    /// As the query writes it.
    pub query: String,
    /// As the candidate writes it, where it is among the values kept for showing.
    pub candidate: Option<String>,
    /// What normalisation overcame; nothing when both are written alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// A table that can be joined, with the evidence.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct JoinAnswer {
    /// The table's id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// The query's column.
    pub query_column: String,
    /// The candidate's column.
    pub column: String,
    /// How the values match.
    pub kind: MatchKind,
    /// Share of the query's distinct values found in the candidate, after normalisation.
    pub containment: f64,
    /// The same, counting only values equal as written.
    pub containment_as_written: f64,
    /// Share of the candidate's distinct values found in the query.
    pub containment_of_candidate: f64,
    /// Shared values over all values of both.
    pub jaccard: f64,
    /// Whether the three above are exact; else they are estimates from a sample of the values or of the rows.
    pub exact: bool,
    /// Whether only the first rows of the candidate, or of the query, were read: all figures are of those.
    pub sampled: bool,
    /// Distinct values in common (among those compared).
    pub shared_values: u64,
    /// Distinct values per cell of the candidate's column, 0..=1; 1 for a key.
    pub uniqueness: f64,
    /// Rows of the candidate that one matching row of the query meets, on average.
    pub fan_out: f64,
    /// Likeness of the two column names, 0..=1.
    pub name_likeness: f64,
    /// Cosine of the two columns' vectors.
    pub semantic_likeness: f64,
    /// Weight of the shared values by their rarity, as a share of the query's total weight, 0..=1.
    pub rarity: f64,
    /// Up to three matching values.
    pub matches: Vec<ValueMatch>,
    /// What normalisation had to overcome.
    pub normalised: Vec<Difference>,
    /// Why the match may be an accident.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weakness: Option<Weakness>,
    /// Columns that the join would add.
    pub adds: Vec<String>,
    /// Rows of the candidate.
    pub rows: u64,
    /// The answer in a sentence.
    pub reason: String,
}

/// Overlapping columns looked at closely, per query column.
const CLOSE_LOOKS: usize = 200;
/// Neighbours by vector looked at, per query column.
const NEIGHBOURS: usize = 40;
/// Vectors less alike than this propose nothing.
const LEAST_COSINE: f32 = 0.75;
/// Key columns tried when the user names none.
const TRIED_KEYS: usize = 4;
/// Sketch-based proposals are asked for at this containment.
const PROPOSAL_CONTAINMENT: f64 = 0.3;

/// What a candidate column was scored by.
#[derive(Debug, Clone, Copy)]
struct Features {
    overlap: Option<Overlap>,
    names: f64,
    cosine: f64,
    uniqueness: f64,
    /// Whether either column may join by accident.
    accidental: bool,
}

impl Features {
    /// The join score, 0..=1: shared values first, rare ones most; a like name counts where values agree; what the candidate
    /// holds beyond the query, its meaning and its uniqueness decide between equals. Round weights, chosen on the shown
    /// join benchmarks together (`tests/quality.rs` runs them), none for one of them.
    fn score(&self) -> f64 {
        let values = self.overlap.map_or(0.0, |overlap| 0.7 * overlap.rarity + 0.3 * overlap.containment());
        let of_candidate = self.overlap.map_or(0.0, |overlap| overlap.containment_of_candidate());
        let semantic = ((self.cosine - 0.5) / 0.5).clamp(0.0, 1.0);
        let score = values * (1.0 + 0.15 * of_candidate + 0.1 * self.uniqueness)
            + self.names * (0.12 * values.sqrt() + 0.03)
            + 0.03 * semantic;
        const GREATEST: f64 = 1.43;
        let score = score / GREATEST;
        if self.accidental { score * 0.5 } else { score }
    }
}

struct Candidate {
    column: ColumnRef,
    query_column: usize,
    features: Features,
    score: f64,
}

/// The best tables to join with `query`, best first, ties by table.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged.
pub fn search(index: &LakeIndex, query: &QueryTable, options: &JoinOptions) -> Result<Vec<JoinAnswer>> {
    let mut best: BTreeMap<TableRef, Candidate> = BTreeMap::new();
    for (place, weight) in query_columns(query, options) {
        for mut candidate in candidates(index, query, place)? {
            candidate.score *= weight;
            let segment = index.segment(candidate.column.segment)?;
            let table = segment.columns.record(candidate.column.column)?.table;
            let table = TableRef { segment: candidate.column.segment, table };
            if Some(table) == query.origin || !segment.is_live(table.table) {
                continue;
            }
            let better = best.get(&table).is_none_or(|known| candidate.score > known.score);
            if better {
                best.insert(table, candidate);
            }
        }
    }
    let mut ranked: Vec<(&str, TableRef, Candidate)> = Vec::with_capacity(best.len());
    for (table, candidate) in best {
        ranked.push((index.id(table)?, table, candidate));
    }
    ranked.sort_by(|a, b| b.2.score.total_cmp(&a.2.score).then(a.0.cmp(b.0)));
    ranked.truncate(options.k);
    ranked.into_iter().map(|(_, table, candidate)| answer(index, query, table, &candidate)).collect()
}

/// The columns to search with and the weight of each: the one named, or the likeliest keys.
fn query_columns(query: &QueryTable, options: &JoinOptions) -> Vec<(usize, f64)> {
    if let Some(place) = options.column {
        return vec![(place, 1.0)];
    }
    let mut keys: Vec<(usize, f64)> = query
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.sketch.distinct > 0)
        .map(|(place, column)| {
            let repeats = if column.profile.logical == LogicalType::Text { 0.5 } else { 0.2 };
            // A foreign key repeats: a text column that is no key here may be one elsewhere.
            (
                place,
                column.profile.key_likeness.max(repeats * if column.profile.weakness.is_some() { 0.3 } else { 1.0 }),
            )
        })
        .collect();
    keys.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    keys.truncate(TRIED_KEYS);
    keys
}

/// Every exact overlap of one query column with the lake's columns, for measuring recall: unordered, live tables only.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged.
pub fn column_overlaps(index: &LakeIndex, column: &QueryColumn) -> Result<Vec<(ColumnRef, Overlap)>> {
    let lists: Vec<_> = index.segments().iter().map(|segment| (&segment.values, segment.columns.len())).collect();
    let weights = ValueWeights::of(&column.values, &lists)?;
    let mut all = Vec::new();
    for (place, segment) in index.segments().iter().enumerate() {
        let propose = || {
            let mut proposed = Vec::new();
            let signature = MinHash::of(&column.sketch.hashes);
            segment.lsh.query(column.sketch.distinct, &signature, PROPOSAL_CONTAINMENT, &mut proposed)?;
            Ok(proposed)
        };
        for overlap in overlap::overlaps(&column.values, &weights, &segment.values, &segment.columns, propose)? {
            let record = segment.columns.record(overlap.column)?;
            if segment.is_live(record.table) {
                all.push((ColumnRef { segment: place as u32, column: overlap.column }, overlap));
            }
        }
    }
    Ok(all)
}

fn candidates(index: &LakeIndex, query: &QueryTable, place: usize) -> Result<Vec<Candidate>> {
    let column = &query.columns[place];
    let mut found: BTreeMap<ColumnRef, Option<Overlap>> = BTreeMap::new();
    let mut overlaps = column_overlaps(index, column)?;
    let rough = |overlap: &Overlap| overlap.rarity + 0.5 * overlap.containment();
    if overlaps.len() > CLOSE_LOOKS {
        overlaps.select_nth_unstable_by(CLOSE_LOOKS, |a, b| rough(&b.1).total_cmp(&rough(&a.1)).then(a.0.cmp(&b.0)));
        overlaps.truncate(CLOSE_LOOKS);
    }
    found.extend(overlaps.into_iter().map(|(reference, overlap)| (reference, Some(overlap))));
    if column.profile.logical == LogicalType::Text && column.profile.weakness.is_none() {
        for (segment_place, segment) in index.segments().iter().enumerate() {
            for (id, cosine) in segment.column_vectors.search(&column.vector, NEIGHBOURS, None)? {
                if cosine >= LEAST_COSINE && segment.is_live(segment.columns.record(id)?.table) {
                    found.entry(ColumnRef { segment: segment_place as u32, column: id }).or_insert(None);
                }
            }
        }
    }
    let mut candidates = Vec::with_capacity(found.len());
    for (reference, overlap) in found {
        let segment = index.segment(reference.segment)?;
        let record = segment.columns.record(reference.column)?;
        let features = Features {
            overlap,
            names: name_likeness(&column.profile.name, segment.columns.name(record)?),
            cosine: f64::from(segment.column_vectors.dot(reference.column, &column.vector)?),
            uniqueness: record.uniqueness(),
            accidental: column.profile.weakness.is_some() || record.weakness().is_some(),
        };
        candidates.push(Candidate { column: reference, query_column: place, score: features.score(), features });
    }
    Ok(candidates)
}

fn answer(index: &LakeIndex, query: &QueryTable, table: TableRef, candidate: &Candidate) -> Result<JoinAnswer> {
    let segment = index.segment(table.segment)?;
    let record = segment.columns.record(candidate.column.column)?;
    let column = &query.columns[candidate.query_column];
    let entry = index.entry(table)?;
    let name = segment.columns.name(record)?.to_string();
    let overlap = candidate.features.overlap;
    let shared = overlap.map_or(0, |overlap| overlap.shared);
    let written = if shared > 0 { overlap::shared_as_written(&column.values, &segment.columns, record)? } else { 0 };
    let samples = segment.columns.samples(record)?;
    let matches =
        if shared > 0 { value_matches(column, &samples, segment.columns.hashes(record)?) } else { Vec::new() };
    let mut normalised: Vec<Difference> = matches.iter().filter_map(|matched| matched.difference).collect();
    normalised.sort_unstable();
    normalised.dedup();
    let kind = match (shared, written) {
        (0, _) => MatchKind::Semantic,
        (shared, written) if written * 2 >= shared => MatchKind::AsWritten,
        _ => MatchKind::Normalised,
    };
    let adds = entry.profile.columns.iter().map(|column| column.name.clone()).filter(|added| *added != name).collect();
    let query_values = overlap.map_or(0, |overlap| overlap.query_values);
    let sampled = query.entry.report.sample.is_some() || record.is_sampled();
    let mut answer = JoinAnswer {
        table: entry.id.to_string(),
        title: entry.title(),
        score: candidate.score.clamp(0.0, 1.0),
        query_column: column.profile.name.clone(),
        column: name,
        kind,
        containment: overlap.map_or(0.0, |overlap| overlap.containment()),
        containment_as_written: if query_values == 0 { 0.0 } else { written as f64 / query_values as f64 },
        containment_of_candidate: overlap.map_or(0.0, |overlap| overlap.containment_of_candidate()),
        jaccard: overlap.map_or(0.0, |overlap| overlap.jaccard()),
        exact: overlap.is_none_or(|overlap| overlap.exact) && !sampled,
        sampled,
        shared_values: shared,
        uniqueness: record.uniqueness(),
        fan_out: f64::from(record.multiplicity),
        name_likeness: candidate.features.names,
        semantic_likeness: candidate.features.cosine,
        rarity: overlap.map_or(0.0, |overlap| overlap.rarity),
        matches: matches.into_iter().take(3).collect(),
        normalised,
        weakness: column.profile.weakness.or(record.weakness()),
        adds,
        rows: entry.profile.rows,
        reason: String::new(),
    };
    answer.reason = reason(&answer, query_values);
    for words in [sample_words("", &entry), sample_words(" of yours", &query.entry)].into_iter().flatten() {
        answer.reason.push_str("; ");
        answer.reason.push_str(&words);
    }
    Ok(answer)
}

/// Values that both columns hold, first those whose two forms are both known and differ.
fn value_matches(column: &QueryColumn, samples: &[(u64, &str)], candidate_hashes: &[u64]) -> Vec<ValueMatch> {
    let mut normaliser = Normaliser::default();
    let mut matches: Vec<ValueMatch> = column
        .sketch
        .samples
        .iter()
        .filter(|(hash, _)| candidate_hashes.binary_search(hash).is_ok())
        .map(|(hash, value)| {
            let candidate = samples.binary_search_by_key(hash, |sample| sample.0).ok().map(|place| samples[place].1);
            ValueMatch {
                query: value.clone(),
                candidate: candidate.map(str::to_string),
                difference: candidate.and_then(|candidate| Difference::between(value, candidate, &mut normaliser)),
            }
        })
        .collect();
    matches.sort_by_key(|matched| (matched.candidate.is_none(), matched.difference.is_none()));
    matches
}

fn reason(answer: &JoinAnswer, query_values: u64) -> String {
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    if answer.kind == MatchKind::Semantic {
        return format!(
            "`{}` and `{}` hold the same kind of thing (likeness {:.2}), but no equal values",
            answer.query_column, answer.column, answer.semantic_likeness
        );
    }
    let about = if answer.exact { "" } else { "about " };
    let mut reason = format!(
        "{about}{} of {query_values} `{}` values are in `{}`",
        percent(answer.containment),
        answer.query_column,
        answer.column
    );
    if answer.containment_as_written + 0.005 < answer.containment {
        let how: Vec<String> = answer.normalised.iter().map(Difference::to_string).collect();
        let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
        reason.push_str(&format!(
            ", {} as written, the rest after normalisation{how}",
            percent(answer.containment_as_written)
        ));
    }
    if answer.uniqueness > 0.995 {
        reason.push_str("; one row per key");
    } else {
        reason.push_str(&format!("; {:.1} rows per key", answer.fan_out));
    }
    if let Some(weakness) = answer.weakness {
        reason.push_str(&format!("; may be an accident: {}", weakness.reason()));
    }
    reason
}
