//! Join search: tables with a column that holds the query column's values.
//!
//! Candidates come from exact value overlap ([`crate::index::overlap`]); columns of like meaning without equal values are
//! proposed by their vectors and labelled [`MatchKind::Semantic`]. The score weighs how much of the query is found and how
//! rare the shared values are, whether the columns are called alike, and whether the candidate is a key; columns that join
//! by accident (years, counters, yes/no, tiny domains) are pushed down and say so.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::likeness::NameParts;
use super::query_table::{QueryColumn, QueryTable, sample_words};
use super::ranker::features;
use super::weights::RankingWeights;
use crate::error::Result;
use crate::index::overlap::{self, Overlap, SegmentParts, ValueWeights, Wanted};
use crate::index::vectors::{Filter, PreparedQuery};
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
    /// How much each feature counts.
    pub weights: JoinWeights,
}

impl JoinOptions {
    /// `k` answers by the likeliest keys, with the weights that ship.
    pub fn new(k: usize) -> Self {
        Self { k, column: None, weights: RankingWeights::shipped().join }
    }
}

/// How the values of two columns were found to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueMatch {
    /// As the query writes it.
    pub query: String,
    /// As the candidate writes it, where it is among the values kept for showing.
    pub candidate: Option<String>,
    /// What normalisation overcame; nothing when both are written alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Two columns that a join compares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnPair {
    /// The query's column.
    pub query_column: String,
    /// The candidate's column.
    pub column: String,
    /// Share of the query's values, or combinations, whose value is in the candidate's column, 0..=1.
    pub containment: f64,
    /// Likeness of the two names, 0..=1.
    pub name_likeness: f64,
}

/// A table that can be joined, on one column or on several together, with the evidence. Where several are, what is said of
/// values is said of combinations: rows of the query's columns without a missing part, each once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinAnswer {
    /// The table's id.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Greater is better, 0..=1.
    pub score: f64,
    /// The query's column; the names of several are joined by ` + `.
    pub query_column: String,
    /// The candidate's column, or columns in the same order.
    pub column: String,
    /// The pairs of columns, one for each of the query's.
    pub on: Vec<ColumnPair>,
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

features! {
    /// What a candidate column is scored by; each is halved where either column may join by accident.
    JoinFeatures,
    /// How much each feature of a candidate column counts.
    JoinWeights {
        /// Weight of the shared values by their rarity, as a share of the query's.
        rarity,
        /// Share of the query's values found.
        containment,
        /// Share of the candidate's values found, where many of the query's are.
        candidate_covered,
        /// Distinct values per cell of the candidate, where many of the query's values are found.
        candidate_unique,
        /// Likeness of the names, where values agree.
        same_name_and_values,
        /// Likeness of the names.
        name,
        /// Cosine of the columns' vectors above a half.
        meaning,
    }
}

impl JoinFeatures {
    /// The greatest features of a column that shares no value.
    const WITHOUT_VALUES: Self = Self {
        rarity: 0.0,
        containment: 0.0,
        candidate_covered: 0.0,
        candidate_unique: 0.0,
        same_name_and_values: 0.0,
        name: 1.0,
        meaning: 1.0,
    };

    fn of(evidence: &Evidence) -> Self {
        let Evidence { overlap, names, cosine, uniqueness, accidental } = *evidence;
        let (rarity, containment) = overlap.map_or((0.0, 0.0), |overlap| (overlap.rarity, overlap.containment()));
        let of_candidate = overlap.map_or(0.0, |overlap| overlap.containment_of_candidate());
        let values = 0.7 * rarity + 0.3 * containment;
        let share = if accidental { 0.5 } else { 1.0 };
        Self {
            rarity: share * rarity,
            containment: share * containment,
            candidate_covered: share * values * of_candidate,
            candidate_unique: share * values * uniqueness,
            same_name_and_values: share * names * values.sqrt(),
            name: share * names,
            meaning: share * ((cosine - 0.5) / 0.5).clamp(0.0, 1.0),
        }
    }
}

/// What is known of a candidate column.
#[derive(Debug, Clone, Copy)]
struct Evidence {
    overlap: Option<Overlap>,
    names: f64,
    cosine: f64,
    uniqueness: f64,
    /// Whether either column may join by accident.
    accidental: bool,
}

struct Candidate {
    column: ColumnRef,
    query_column: usize,
    evidence: Evidence,
    score: f64,
}

/// The best tables to join with `query`, best first, ties by table.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged.
pub fn search(index: &LakeIndex, query: &QueryTable, options: &JoinOptions) -> Result<Vec<JoinAnswer>> {
    let asked: Vec<AskedColumn<'_>> = query_columns(query, options)
        .into_iter()
        .map(|(place, weight)| AskedColumn::new(index, query, place, weight))
        .collect::<Result<_>>()?;
    let mut best: BTreeMap<TableRef, Candidate> = BTreeMap::new();
    let found: Vec<Vec<Candidate>> =
        asked.par_iter().map(|asked| asked.sharing_values(index, &options.weights)).collect::<Result<_>>()?;
    let known: HashSet<(usize, ColumnRef)> =
        found.iter().flatten().map(|candidate| (candidate.query_column, candidate.column)).collect();
    for candidate in found.into_iter().flatten() {
        keep_better(index, query, candidate, &mut best)?;
    }
    // Vectors are only asked for what values leave open.
    let most_without_values = options.weights.score(&JoinFeatures::WITHOUT_VALUES);
    let greatest = asked.iter().map(|asked| asked.weight * most_without_values).fold(0.0, f64::max);
    if best.values().filter(|candidate| candidate.score > greatest).count() < options.k {
        for asked in &asked {
            for candidate in asked.meaning_the_same(index, &known, &options.weights)? {
                keep_better(index, query, candidate, &mut best)?;
            }
        }
    }
    // Names are only read where they may decide.
    let mut scores: Vec<f64> = best.values().map(|candidate| candidate.score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    let least = options.k.checked_sub(1).and_then(|last| scores.get(last)).copied();
    let mut ranked: Vec<(&str, TableRef, Candidate)> = Vec::with_capacity(options.k);
    for (table, candidate) in
        best.into_iter().filter(|(_, candidate)| least.is_none_or(|least| candidate.score >= least))
    {
        ranked.push((index.id(table)?, table, candidate));
    }
    ranked.sort_by(|a, b| b.2.score.total_cmp(&a.2.score).then(a.0.cmp(b.0)));
    ranked.truncate(options.k);
    ranked.into_iter().map(|(_, table, candidate)| answer(index, query, table, &candidate)).collect()
}

/// Keeps the best candidate of each table but the query itself.
fn keep_better(
    index: &LakeIndex,
    query: &QueryTable,
    candidate: Candidate,
    best: &mut BTreeMap<TableRef, Candidate>,
) -> Result<()> {
    let segment = index.segment(candidate.column.segment)?;
    let table = segment.columns.record(candidate.column.column)?.table;
    let table = TableRef { segment: candidate.column.segment, table };
    let better = best.get(&table).is_none_or(|known| candidate.score > known.score);
    if better && Some(table) != query.origin && segment.is_live(table.table) {
        best.insert(table, candidate);
    }
    Ok(())
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
    overlaps(index, column, Wanted::All)
}

/// The columns of greatest [`Overlap::closeness`] that a join search looks at closely; unordered, live tables only.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged.
pub fn closest_columns(index: &LakeIndex, column: &QueryColumn) -> Result<Vec<(ColumnRef, Overlap)>> {
    let mut overlaps = overlaps(index, column, Wanted::Best(CLOSE_LOOKS))?;
    if overlaps.len() > CLOSE_LOOKS {
        overlaps.select_nth_unstable_by(CLOSE_LOOKS, |a, b| {
            b.1.closeness().total_cmp(&a.1.closeness()).then(a.0.cmp(&b.0))
        });
        overlaps.truncate(CLOSE_LOOKS);
    }
    Ok(overlaps)
}

fn overlaps(index: &LakeIndex, column: &QueryColumn, wanted: Wanted) -> Result<Vec<(ColumnRef, Overlap)>> {
    let lists: Vec<_> = index.segments().iter().map(|segment| (&segment.values, segment.columns.len())).collect();
    let weights = ValueWeights::of(&column.values, &lists)?;
    let entries = &index.manifest().segments;
    let found: Vec<Vec<(ColumnRef, Overlap)>> = index
        .segments()
        .par_iter()
        .zip(entries)
        .enumerate()
        .map(|(place, (segment, entry))| {
            let propose = || {
                let mut proposed = Vec::new();
                let signature = MinHash::of(&column.sketch.hashes);
                segment.lsh.query(column.sketch.distinct, &signature, PROPOSAL_CONTAINMENT, &mut proposed)?;
                Ok(proposed)
            };
            let is_live = |table| segment.is_live(table);
            let live: Option<&(dyn Fn(u32) -> bool + Sync)> =
                if entry.removed.is_empty() { None } else { Some(&is_live) };
            let parts = SegmentParts { postings: &segment.values, columns: &segment.columns, live };
            let found = overlap::overlaps(&column.values, &weights, place, parts, wanted, propose)?;
            let of_segment = |overlap: Overlap| (ColumnRef { segment: place as u32, column: overlap.column }, overlap);
            Ok(found.into_iter().map(of_segment).collect())
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// A column searched with, and what of it is compared with many others.
struct AskedColumn<'a> {
    column: &'a QueryColumn,
    place: usize,
    weight: f64,
    name: NameParts,
    vector: Option<PreparedQuery>,
}

impl<'a> AskedColumn<'a> {
    fn new(index: &LakeIndex, query: &'a QueryTable, place: usize, weight: f64) -> Result<Self> {
        let column = &query.columns[place];
        let first = index.segments().first();
        let vector = first.map(|segment| segment.column_vectors.prepare(&column.vector)).transpose()?;
        Ok(Self { column, place, weight, name: NameParts::of(&column.profile.name), vector })
    }

    /// Candidates by equal values.
    fn sharing_values(&self, index: &LakeIndex, weights: &JoinWeights) -> Result<Vec<Candidate>> {
        let overlaps = closest_columns(index, self.column)?;
        self.scored(index, weights, overlaps.into_iter().map(|(column, overlap)| (column, Some(overlap))))
    }

    /// Candidates by their vectors, but those `known` already with this column.
    fn meaning_the_same(
        &self,
        index: &LakeIndex,
        known: &HashSet<(usize, ColumnRef)>,
        weights: &JoinWeights,
    ) -> Result<Vec<Candidate>> {
        let profile = &self.column.profile;
        let Some(vector) = &self.vector else { return Ok(Vec::new()) };
        if profile.logical != LogicalType::Text || profile.weakness.is_some() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (segment_place, (segment, entry)) in index.segments().iter().zip(&index.manifest().segments).enumerate() {
            let is_live = |id: u32| segment.columns.record(id).is_ok_and(|record| segment.is_live(record.table));
            let filter: Option<Filter<'_>> = if entry.removed.is_empty() { None } else { Some(&is_live) };
            for (id, cosine) in segment.column_vectors.search_prepared(vector, NEIGHBOURS, filter)? {
                let column = ColumnRef { segment: segment_place as u32, column: id };
                if cosine >= LEAST_COSINE && !known.contains(&(self.place, column)) {
                    found.push((column, None));
                }
            }
        }
        self.scored(index, weights, found)
    }

    fn scored(
        &self,
        index: &LakeIndex,
        weights: &JoinWeights,
        found: impl IntoIterator<Item = (ColumnRef, Option<Overlap>)>,
    ) -> Result<Vec<Candidate>> {
        // Many columns are called the same.
        let mut names: HashMap<&str, f64> = HashMap::new();
        let mut candidates = Vec::new();
        for (reference, overlap) in found {
            let segment = index.segment(reference.segment)?;
            let record = segment.columns.record(reference.column)?;
            let name = segment.columns.name(record)?;
            let names = *names.entry(name).or_insert_with(|| self.name.likeness(&NameParts::of(name)));
            let cosine = match &self.vector {
                Some(vector) => f64::from(segment.column_vectors.cosine_with(reference.column, vector)?),
                None => 0.0,
            };
            let evidence = Evidence {
                overlap,
                names,
                cosine,
                uniqueness: record.uniqueness(),
                accidental: self.column.profile.weakness.is_some() || record.weakness().is_some(),
            };
            let score = weights.score(&JoinFeatures::of(&evidence)) * self.weight;
            candidates.push(Candidate { column: reference, query_column: self.place, evidence, score });
        }
        Ok(candidates)
    }
}

fn answer(index: &LakeIndex, query: &QueryTable, table: TableRef, candidate: &Candidate) -> Result<JoinAnswer> {
    let segment = index.segment(table.segment)?;
    let record = segment.columns.record(candidate.column.column)?;
    let column = &query.columns[candidate.query_column];
    let entry = index.entry(table)?;
    let name = segment.columns.name(record)?.to_string();
    let overlap = candidate.evidence.overlap;
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
    let containment = overlap.map_or(0.0, |overlap| overlap.containment());
    let sampled = query.entry.report.sample.is_some() || record.is_sampled();
    let mut answer = JoinAnswer {
        table: entry.id.to_string(),
        title: entry.title(),
        score: candidate.score.clamp(0.0, 1.0),
        query_column: column.profile.name.clone(),
        on: vec![ColumnPair {
            query_column: column.profile.name.clone(),
            column: name.clone(),
            containment,
            name_likeness: candidate.evidence.names,
        }],
        column: name,
        kind,
        containment,
        containment_as_written: if query_values == 0 { 0.0 } else { written as f64 / query_values as f64 },
        containment_of_candidate: overlap.map_or(0.0, |overlap| overlap.containment_of_candidate()),
        jaccard: overlap.map_or(0.0, |overlap| overlap.jaccard()),
        exact: overlap.is_none_or(|overlap| overlap.exact) && !sampled,
        sampled,
        shared_values: shared,
        uniqueness: record.uniqueness(),
        fan_out: f64::from(record.multiplicity),
        name_likeness: candidate.evidence.names,
        semantic_likeness: candidate.evidence.cosine,
        rarity: overlap.map_or(0.0, |overlap| overlap.rarity),
        matches: matches.into_iter().take(3).collect(),
        normalised,
        weakness: column.profile.weakness.or(record.weakness()),
        adds,
        rows: entry.profile.rows,
        reason: String::new(),
    };
    answer.reason = reason(&answer, query_values);
    answer.reason.push_str(&sample_words(Some(query), &entry));
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

/// The answer in a sentence; `query_values` are the values or combinations it is about.
pub(super) fn reason(answer: &JoinAnswer, query_values: u64) -> String {
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    if answer.kind == MatchKind::Semantic {
        return format!(
            "`{}` and `{}` hold the same kind of thing (likeness {:.2}), but no equal values",
            answer.query_column, answer.column, answer.semantic_likeness
        );
    }
    let about = if answer.exact { "" } else { "about " };
    let several = answer.on.len() > 1;
    let columns = |of: fn(&ColumnPair) -> &str| {
        answer.on.iter().map(|pair| format!("`{}`", of(pair))).collect::<Vec<_>>().join(" + ")
    };
    let mut reason = format!(
        "{about}{} of {query_values} {} {} are in {}",
        percent(answer.containment),
        columns(|pair| &pair.query_column),
        if several { "combinations" } else { "values" },
        columns(|pair| &pair.column)
    );
    if answer.containment_as_written + 0.005 < answer.containment {
        let how: Vec<String> = answer.normalised.iter().map(Difference::to_string).collect();
        let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
        reason.push_str(&format!(
            ", {} as written, the rest after normalisation{how}",
            percent(answer.containment_as_written)
        ));
    }
    // Of one column uniqueness and fan-out are the same fact; matching combinations may be unlike the rest.
    if answer.uniqueness > 0.995 && (!several || answer.fan_out < 1.05) {
        reason.push_str("; one row per key");
    } else {
        reason.push_str(&format!("; {:.1} rows per key", answer.fan_out));
    }
    if let Some(weakness) = answer.weakness {
        reason.push_str(&format!("; may be an accident: {}", weakness.reason()));
    }
    reason
}
