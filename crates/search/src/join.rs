//! Join search: tables with a column that holds the query column's values.
//!
//! Candidates come from exact value overlap ([`lakeward_index::overlap`]) and from values nearly alike, which are counted
//! apart; where these leave places open, columns of like meaning and tables of the query's make are proposed too. The score
//! weighs how much of the query is found and how rare the shared values are, whether the columns are called alike, whether
//! the candidate is a key, and what surrounds the two columns; columns that join by accident (years, counters, yes/no, tiny
//! domains) are pushed down and say so.

mod answer;
mod asked;
mod candidate;
mod context;
mod features;
mod variants;

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;

use self::asked::AskedColumn;
use self::candidate::Candidate;
use self::context::Contexts;
use super::query_table::{QueryColumn, QueryTable};
use super::weights::RankingWeights;
use lakeward_core::error::Result;
use lakeward_index::overlap::{self, Overlap, SegmentParts, ValueWeights, Wanted};
use lakeward_index::{ColumnRef, LakeIndex, TableRef};
use lakeward_lake::semantic::LogicalType;
use lakeward_sketch::minhash::MinHash;

pub(super) use self::answer::reason;
pub use self::answer::{ColumnPair, JoinAnswer, MatchKind, ValueMatch};
pub use self::features::{JoinFeatures, JoinWeights};
pub use self::variants::VariantMatch;

/// What to search for.
#[derive(Debug, Clone)]
pub struct JoinOptions<'a> {
    /// Answers wanted.
    pub k: usize,
    /// Place of the query's key column; without one the likeliest keys are tried.
    pub column: Option<usize>,
    /// What decides the order.
    pub weights: &'a RankingWeights,
}

impl JoinOptions<'_> {
    /// `k` answers by the likeliest keys with the weights that ship.
    pub fn new(k: usize) -> Self {
        Self { k, column: None, weights: RankingWeights::shipped() }
    }
}

/// Overlapping columns looked at closely, per query column.
const CLOSE_LOOKS: usize = 200;
/// Neighbours by vector looked at, per query column.
const NEIGHBOURS: usize = 40;
/// Key columns tried when the user names none.
const TRIED_KEYS: usize = 4;
/// Sketch-based proposals are asked for at this containment.
const PROPOSAL_CONTAINMENT: f64 = 0.3;
/// Candidates whose surroundings are looked at before it is asked again what the best ones score.
const LOOKS_BETWEEN: usize = 20;

/// A column that a join search considers, with all that it is scored by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JoinCandidate {
    /// Its table.
    pub table: TableRef,
    /// The column.
    pub column: ColumnRef,
    /// Place of the query's column.
    pub query_column: usize,
    /// How much that column counts among those tried, 0..=1; the score is [`JoinWeights::score`] of the features times this.
    pub weight: f64,
    /// Its features.
    pub features: JoinFeatures,
}

/// Every column that a search with `options` may rank, whatever the weights, with its features; unordered. A table has the
/// score of its best column.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn candidates_with_features(
    index: &LakeIndex,
    query: &QueryTable,
    options: &JoinOptions<'_>,
) -> Result<Vec<JoinCandidate>> {
    let asked = asked_columns(index, query, options)?;
    let mut contexts = Contexts::of(index, query);
    let mut found = by_values(index, &asked)?;
    let known = found.iter().map(Candidate::key).collect();
    found.extend(without_values(index, &asked, &contexts, &known)?);
    let with_features = |mut candidate: Candidate| {
        let query_column = asked[candidate.asked].place;
        candidate.context = Some(contexts.around(query_column, candidate.column)?);
        let Candidate { table, column, weight, .. } = candidate;
        Ok(JoinCandidate {
            table,
            column,
            query_column,
            weight,
            features: candidate.features(&options.weights.join_evidence),
        })
    };
    found.into_iter().map(with_features).collect()
}

/// The best tables to join with `query`, best first, ties by table.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn search(index: &LakeIndex, query: &QueryTable, options: &JoinOptions<'_>) -> Result<Vec<JoinAnswer>> {
    if options.k == 0 {
        return Ok(Vec::new());
    }
    let asked = asked_columns(index, query, options)?;
    let mut contexts = Contexts::of(index, query);
    let found = by_values(index, &asked)?;
    let known = found.iter().map(Candidate::key).collect();
    let mut best = BTreeMap::new();
    keep_best_of_tables(&mut best, found, &asked, &mut contexts, options)?;
    // What shares no value is only asked for where values leave places open.
    if kth_score(&best, options.k) <= options.weights.join.score(&JoinFeatures::WITHOUT_VALUES) {
        let more = without_values(index, &asked, &contexts, &known)?;
        keep_best_of_tables(&mut best, more, &asked, &mut contexts, options)?;
    }
    // Names are only read where they may decide.
    let least = kth_score(&best, options.k);
    let mut ranked: Vec<(&str, f64, Candidate)> = Vec::with_capacity(options.k);
    for (table, (score, candidate)) in best.into_iter().filter(|(_, (score, _))| *score >= least) {
        ranked.push((index.id(table)?, score, candidate));
    }
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    ranked.truncate(options.k);
    ranked
        .into_iter()
        .map(|(_, score, candidate)| answer::answer(index, query, &candidate, score, &asked[candidate.asked]))
        .collect()
}

/// Puts the best column of each table into `best`, with its score, its surroundings looked at; columns that cannot be among the
/// best may be left out.
fn keep_best_of_tables(
    best: &mut BTreeMap<TableRef, (f64, Candidate)>,
    found: Vec<Candidate>,
    asked: &[AskedColumn<'_>],
    contexts: &mut Contexts<'_>,
    options: &JoinOptions<'_>,
) -> Result<()> {
    let weights = options.weights;
    let mut found: Vec<(f64, Candidate)> =
        found.into_iter().map(|candidate| (candidate.most(weights), candidate)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.key().cmp(&b.1.key())));
    let mut least = kth_score(best, options.k);
    for (place, (most, mut candidate)) in found.into_iter().enumerate() {
        // Nothing after this one can be better.
        if most < least {
            break;
        }
        candidate.context = Some(contexts.around(asked[candidate.asked].place, candidate.column)?);
        let score = candidate.score(weights);
        if best.get(&candidate.table).is_none_or(|(known, _)| score > *known) {
            best.insert(candidate.table, (score, candidate));
        }
        if (place + 1) % LOOKS_BETWEEN == 0 {
            least = kth_score(best, options.k);
        }
    }
    Ok(())
}

/// The score of the `k`-th best table; of fewer tables, none is too low.
fn kth_score(best: &BTreeMap<TableRef, (f64, Candidate)>, k: usize) -> f64 {
    let mut scores: Vec<f64> = best.values().map(|(score, _)| *score).collect();
    if k == 0 || scores.len() < k {
        return f64::NEG_INFINITY;
    }
    *scores.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a)).1
}

fn asked_columns<'a>(
    index: &LakeIndex,
    query: &'a QueryTable,
    options: &JoinOptions<'a>,
) -> Result<Vec<AskedColumn<'a>>> {
    let columns = query_columns(query, options);
    let evidence = &options.weights.join_evidence;
    let asked = columns.into_par_iter().enumerate();
    asked.map(|(number, column)| AskedColumn::new(index, query, number, column, evidence)).collect()
}

fn by_values(index: &LakeIndex, asked: &[AskedColumn<'_>]) -> Result<Vec<Candidate>> {
    let found: Vec<Vec<Candidate>> =
        asked.par_iter().map(|asked| asked.sharing_values(index)).collect::<Result<_>>()?;
    Ok(found.concat())
}

/// Columns that mean the same as one asked for, and columns called the same in tables of the query's make, but those `known`.
fn without_values(
    index: &LakeIndex,
    asked: &[AskedColumn<'_>],
    contexts: &Contexts<'_>,
    known: &HashSet<(usize, ColumnRef)>,
) -> Result<Vec<Candidate>> {
    let mut known = known.clone();
    let mut found = Vec::new();
    for asked in asked {
        let meaning = asked.meaning_the_same(index, &known)?;
        known.extend(meaning.iter().map(Candidate::key));
        found.extend(meaning);
        found.extend(asked.unknown(index, contexts.called_the_same(asked.place)?, &known)?);
    }
    Ok(found)
}

/// The columns to search with and the weight of each: the one named, or the likeliest keys.
fn query_columns(query: &QueryTable, options: &JoinOptions<'_>) -> Vec<(usize, f64)> {
    if let Some(place) = options.column {
        return vec![(place, 1.0)];
    }
    let weights = &options.weights.join_evidence;
    let mut keys: Vec<(usize, f64)> = query
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.sketch.distinct > 0)
        .map(|(place, column)| {
            // A foreign key repeats: a text column that is no key here may be one elsewhere.
            let is_text = column.profile.logical == LogicalType::Text;
            let repeats = if is_text { weights.repeating_text } else { weights.repeating_other };
            let share = if column.profile.weakness.is_some() { weights.repeating_accidental } else { 1.0 };
            (place, column.profile.key_likeness.max(repeats * share))
        })
        .collect();
    keys.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    keys.truncate(TRIED_KEYS);
    keys
}

/// Every exact overlap of one query column with the lake's columns, for measuring recall: unordered, live tables only.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn column_overlaps(index: &LakeIndex, column: &QueryColumn) -> Result<Vec<(ColumnRef, Overlap)>> {
    overlaps(index, column, &value_weights(index, column)?, Wanted::All)
}

/// The columns of greatest [`Overlap::closeness`] that a join search looks at closely; unordered, live tables only.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn closest_columns(index: &LakeIndex, column: &QueryColumn) -> Result<Vec<(ColumnRef, Overlap)>> {
    Ok(closest_of(overlaps(index, column, &value_weights(index, column)?, Wanted::Best(CLOSE_LOOKS))?))
}

/// The closest of `overlaps`, as many as are looked at closely.
fn closest_of(mut overlaps: Vec<(ColumnRef, Overlap)>) -> Vec<(ColumnRef, Overlap)> {
    if overlaps.len() > CLOSE_LOOKS {
        overlaps.select_nth_unstable_by(CLOSE_LOOKS, |a, b| {
            b.1.closeness().total_cmp(&a.1.closeness()).then(a.0.cmp(&b.0))
        });
        overlaps.truncate(CLOSE_LOOKS);
    }
    overlaps
}

fn value_weights(index: &LakeIndex, column: &QueryColumn) -> Result<ValueWeights> {
    let lists: Vec<_> = index.segments().iter().map(|segment| (&segment.join.values, segment.columns.len())).collect();
    ValueWeights::of(&column.values, &lists)
}

fn overlaps(
    index: &LakeIndex,
    column: &QueryColumn,
    weights: &ValueWeights,
    wanted: Wanted,
) -> Result<Vec<(ColumnRef, Overlap)>> {
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
                segment.join.lsh.query(column.sketch.distinct, &signature, PROPOSAL_CONTAINMENT, &mut proposed)?;
                Ok(proposed)
            };
            let is_live = |table| segment.is_live(table);
            let live: Option<&(dyn Fn(u32) -> bool + Sync)> =
                if entry.removed.is_empty() { None } else { Some(&is_live) };
            let parts = SegmentParts { postings: &segment.join.values, columns: &segment.columns, live };
            let found = overlap::overlaps(&column.values, weights, place, parts, wanted, propose)?;
            let of_segment = |overlap: Overlap| (ColumnRef { segment: place as u32, column: overlap.column }, overlap);
            Ok(found.into_iter().map(of_segment).collect())
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}
