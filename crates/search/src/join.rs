//! Join search: tables with a column that contains the query column's values.
//!
//! Candidates come from exact value overlap ([`lakeward_index::overlap`]) and from nearly equal values, which are counted
//! separately; where these give too few answers, columns of similar meaning and tables with similar columns are proposed too.
//! The score weighs how much of the query is found and how rare the shared values are, whether the columns have similar names,
//! whether the candidate is a key, and the context of the two columns; columns that match by chance (years, counters, yes/no,
//! tiny domains) are ranked lower and marked.

mod answer;
mod candidate;
mod context;
mod declared;
mod features;
mod key_column;
mod variants;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;

use self::candidate::Candidate;
use self::context::Contexts;
pub(super) use self::declared::{DeclaredKey, declared_keys};
use self::declared::{declared_pairs, declared_places};
use self::key_column::KeyColumn;
use super::query_table::{QueryColumn, QueryTable};
use super::weights::RankingWeights;
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_index::overlap::{self, Overlap, SegmentParts, Selection, ValueWeights};
use lakeward_index::{ColumnRef, LakeIndex, TableRef};
use lakeward_lake::semantic::{LogicalType, Weakness};
use lakeward_sketch::minhash::MinHash;

pub(super) use self::answer::reason;
pub use self::answer::{ColumnPair, JoinAnswer, MatchKind, ValueMatch};
pub use self::features::{JoinFeatures, JoinWeights};
pub use self::variants::VariantMatch;

/// What to search for.
#[derive(Debug, Clone)]
pub struct JoinOptions<'a> {
    /// Number of answers requested.
    pub k: usize,
    /// Place of the query's key column; if none is given, the likeliest keys are tried.
    pub column: Option<usize>,
    /// Weights of the ranking.
    pub weights: &'a RankingWeights,
}

impl JoinOptions<'_> {
    /// `k` answers by the likeliest keys with the built-in weights.
    pub fn new(k: usize) -> Self {
        Self { k, column: None, weights: RankingWeights::shipped() }
    }
}

/// Most overlapping columns that become candidates, per query column.
const CLOSEST_COLUMNS: usize = 200;
/// Nearest neighbours by vector that are tried, per query column.
const NEIGHBOURS: usize = 40;
/// Most likely keys tried when the user gives none.
const TRIED_KEYS: usize = 4;
/// Most columns of text tried besides, which may be keys of other tables, and the least different values of one.
const FOREIGN_KEYS: usize = 4;
const LEAST_VALUES: u64 = 20;
/// Containment from which sketches propose columns where lists are cut: a bound of work, as is [`CLOSEST_COLUMNS`].
const PROPOSAL_CONTAINMENT: f64 = 0.3;
/// Candidates whose context is computed before the k-th best score is updated.
const CONTEXTS_PER_UPDATE: usize = 20;

/// A column that a join search considers, with the features that it is scored by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JoinCandidate {
    /// Its table.
    pub table: TableRef,
    /// The column.
    pub column: ColumnRef,
    /// Place of the query's column.
    pub query_column: usize,
    /// Weight of the query's column among those tried, 0..=1; the score is [`JoinWeights::score`] of the features times this.
    pub weight: f64,
    /// Its features.
    pub features: JoinFeatures,
}

/// Every column that a search with `options` may rank under any weights, with its features; unordered. A table has the score of
/// its best column.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn candidates_with_features(
    index: &LakeIndex,
    query: &QueryTable,
    options: &JoinOptions<'_>,
) -> Result<Vec<JoinCandidate>> {
    let keys = key_columns(index, query, options, &HashSet::new())?;
    let mut contexts = Contexts::of(index, query);
    let mut found = by_values(index, &keys)?;
    let known = found.iter().map(Candidate::key).collect();
    found.extend(without_values(index, &keys, &contexts, &known)?);
    let with_features = |mut candidate: Candidate| {
        let query_column = keys[candidate.key_column].place;
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
    let own = || best_answers(index, query, options);
    let mut answers = index.gather("answers", own, |answers| answers.len() <= options.k)?.concat();
    answers.sort_by(|a, b| order((a.0, &a.1.table), (b.0, &b.1.table)));
    answers.truncate(options.k);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// Scores and ids of two answers, best first.
fn order(a: (f64, &str), b: (f64, &str)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(b.1))
}

/// The best tables of these segments with their scores.
fn best_answers(index: &LakeIndex, query: &QueryTable, options: &JoinOptions<'_>) -> Result<Vec<(f64, JoinAnswer)>> {
    let declared = declared_pairs(index, query)?;
    let keys = key_columns(index, query, options, &declared_places(index, query, &declared)?)?;
    let mut contexts = Contexts::of(index, query);
    let mut found = by_values(index, &keys)?;
    let mut known: HashSet<(usize, ColumnRef)> = found.iter().map(Candidate::key).collect();
    for key in &keys {
        let columns = declared.iter().filter(|(place, _)| *place == key.place).map(|(_, column)| *column).collect();
        let unfound = key.new_candidates(index, columns, &known)?;
        known.extend(unfound.iter().map(Candidate::key));
        found.extend(unfound);
    }
    for candidate in &mut found {
        candidate.declared = declared.contains(&(keys[candidate.key_column].place, candidate.column));
    }
    let mut best = BTreeMap::new();
    add_best_of_tables(&mut best, found, &keys, &mut contexts, options)?;
    // Columns without shared values are only searched if they could still be among the best k.
    let own = best_scores(&best, options.k);
    let of_all = index.gather("best scores by values", || Ok(own), |scores| scores.len() <= options.k)?;
    if kth_of(of_all.concat(), options.k) <= options.weights.join.score(&JoinFeatures::WITHOUT_VALUES) {
        let more = without_values(index, &keys, &contexts, &known)?;
        add_best_of_tables(&mut best, more, &keys, &mut contexts, options)?;
    }
    // Names decide ties, so they are only read of tables that may be among the best k.
    let least = kth_score(&best, options.k);
    let mut ranked: Vec<(&str, f64, Candidate)> = Vec::with_capacity(options.k);
    for (table, (score, candidate)) in best.into_iter().filter(|(_, (score, _))| *score >= least) {
        ranked.push((index.id(table)?, score, candidate));
    }
    ranked.sort_by(|a, b| order((a.1, a.0), (b.1, b.0)));
    ranked.truncate(options.k);
    let answer = |(_, score, candidate): &(&str, f64, Candidate)| {
        answer::answer(index, query, candidate, *score, &keys[candidate.key_column])
    };
    let answered: Vec<Result<JoinAnswer>> = ranked.par_iter().map(answer).collect();
    let answers = ranked.into_iter().zip(answered).map(|((_, score, candidate), answer)| {
        let answer = answer?;
        if options.column.is_some() || answer.weakness.is_none() {
            return Ok((score, answer));
        }
        let named = by_equal_names(index, query, candidate.table, &answer, options.weights)?;
        Ok((score, named.unwrap_or(answer)))
    });
    answers.collect()
}

/// How `query` is best joined with one table: on the column of `places`, or on any where there are none, and the column of the table that share
/// values and score best together; `None` where none share any.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn between(
    index: &LakeIndex,
    query: &QueryTable,
    table: TableRef,
    places: &[usize],
    weights: &RankingWeights,
) -> Result<Option<JoinAnswer>> {
    let numbers = index.segment(table.segment)?.tables.columns(table.table)?;
    let theirs: Vec<ColumnRef> = numbers.map(|column| ColumnRef { segment: table.segment, column }).collect();
    let declared = declared_pairs(index, query)?;
    let all: Vec<usize> = (0..query.columns.len()).collect();
    let mut contexts = Contexts::of(index, query);
    let mut best: Option<(f64, Candidate, KeyColumn<'_>)> = None;
    for &place in if places.is_empty() { &all } else { places } {
        if query.columns[place].sketch.distinct == 0 || (places.is_empty() && query.columns[place].is_figure) {
            continue;
        }
        let key = KeyColumn::new(index, query, 0, (place, 1.0), &weights.join_evidence)?;
        let mut of_key: Option<(f64, Candidate)> = None;
        for mut candidate in key.new_candidates(index, theirs.clone(), &HashSet::new())? {
            candidate.declared = declared.contains(&(place, candidate.column));
            candidate.context = Some(contexts.around(place, candidate.column)?);
            let score = candidate.score(weights);
            let known = of_key.as_ref().map(|(known, _)| *known).or(best.as_ref().map(|(known, ..)| *known));
            if known.is_none_or(|known| score > known) {
                of_key = Some((score, candidate));
            }
        }
        if let Some((score, candidate)) = of_key {
            best = Some((score, candidate, key));
        }
    }
    let Some((score, candidate, key)) = best else { return Ok(None) };
    let answer = answer::answer(index, query, &candidate, score, &key)?;
    Ok((answer.containment > 0.0).then_some(answer))
}

/// The answer for the same table on columns of one name that holds the query's values there, where `answer` joins columns of two names that
/// may match by accident: `owner_id` = `owner_id` rather than `visit_id` = `owner_id`. It has the score of `answer`.
fn by_equal_names(
    index: &LakeIndex,
    query: &QueryTable,
    table: TableRef,
    answer: &JoinAnswer,
    weights: &RankingWeights,
) -> Result<Option<JoinAnswer>> {
    let is_same = |a: &str, b: &str| name_words(a) == name_words(b);
    if is_same(&answer.query_column, &answer.column) {
        return Ok(None);
    }
    let theirs = index.dataset(table)?;
    let first = index.segment(table.segment)?.tables.columns(table.table)?.start;
    // `id` of one table is not the `id` of another.
    let tells = |name: &str| name_words(name).len() > 1;
    let places = (0..query.columns.len()).filter(|&place| {
        let name = &query.columns[place].profile.name;
        tells(name) && theirs.columns().iter().any(|column| is_same(&column.name, name))
    });
    let mut best: Option<JoinAnswer> = None;
    for place in places {
        let key = KeyColumn::new(index, query, 0, (place, 1.0), &weights.join_evidence)?;
        let name = &query.columns[place].profile.name;
        let named = theirs.columns().iter().zip(first..).filter(|(column, _)| is_same(&column.name, name));
        let named = named.map(|(_, column)| ColumnRef { segment: table.segment, column }).collect();
        for candidate in key.sharing_values_of(index, named)? {
            let other = answer::answer(index, query, &candidate, answer.score, &key)?;
            let by_chance = matches!(
                other.weakness,
                Some(Weakness::Year | Weakness::Boolean | Weakness::SmallDomain | Weakness::Measure)
            );
            let fits = is_same(&other.query_column, &other.column)
                && other.containment >= weights.join_evidence.equal_names
                && !by_chance;
            if fits && best.as_ref().is_none_or(|best| other.containment > best.containment) {
                best = Some(other);
            }
        }
    }
    Ok(best)
}

/// Adds the best column of each table to `best`, with its score and context; columns that cannot be among the best `k` may be
/// left out.
fn add_best_of_tables(
    best: &mut BTreeMap<TableRef, (f64, Candidate)>,
    found: Vec<Candidate>,
    keys: &[KeyColumn<'_>],
    contexts: &mut Contexts<'_>,
    options: &JoinOptions<'_>,
) -> Result<()> {
    let weights = options.weights;
    let mut found: Vec<(f64, Candidate)> =
        found.into_iter().map(|candidate| (candidate.bound(weights), candidate)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.key().cmp(&b.1.key())));
    let mut least = kth_score(best, options.k);
    for (place, (bound, mut candidate)) in found.into_iter().enumerate() {
        // Neither this one nor any after it can be among the best.
        if bound < least {
            break;
        }
        candidate.context = Some(contexts.around(keys[candidate.key_column].place, candidate.column)?);
        let score = candidate.score(weights);
        if best.get(&candidate.table).is_none_or(|(known, _)| score > *known) {
            best.insert(candidate.table, (score, candidate));
        }
        if (place + 1) % CONTEXTS_PER_UPDATE == 0 {
            least = kth_score(best, options.k);
        }
    }
    Ok(())
}

/// The score of the `k`-th best table; minus infinity if there are fewer tables.
fn kth_score(best: &BTreeMap<TableRef, (f64, Candidate)>, k: usize) -> f64 {
    kth_of(best.values().map(|(score, _)| *score).collect(), k)
}

fn kth_of(mut scores: Vec<f64>, k: usize) -> f64 {
    if k == 0 || scores.len() < k {
        return f64::NEG_INFINITY;
    }
    *scores.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a)).1
}

/// The scores of the `k` best tables.
fn best_scores(best: &BTreeMap<TableRef, (f64, Candidate)>, k: usize) -> Vec<f64> {
    let mut scores: Vec<f64> = best.values().map(|(score, _)| *score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.truncate(k);
    scores
}

fn key_columns<'a>(
    index: &LakeIndex,
    query: &'a QueryTable,
    options: &JoinOptions<'a>,
    declared: &HashSet<usize>,
) -> Result<Vec<KeyColumn<'a>>> {
    let columns = query_columns(query, options, declared);
    let evidence = &options.weights.join_evidence;
    let further = values_of_all(index, query, options);
    let columns = columns.into_par_iter().enumerate();
    let keys = columns.map(|(number, column)| KeyColumn::new(index, query, number, column, evidence));
    let keys: Vec<Result<KeyColumn<'_>>> = keys.collect();
    further?;
    keys.into_iter().collect()
}

/// Counts the values of all columns that [`by_equal_names`] may look at: which these are depends on the answers, and so on the shard.
fn values_of_all(index: &LakeIndex, query: &QueryTable, options: &JoinOptions<'_>) -> Result<()> {
    if index.exchange().is_none() || options.column.is_some() {
        return Ok(());
    }
    let counted = query.columns.par_iter().enumerate().map(|(place, column)| value_weights(index, place, column));
    counted.collect::<Vec<_>>().into_iter().try_for_each(|counted| counted.map(drop))
}

fn by_values(index: &LakeIndex, keys: &[KeyColumn<'_>]) -> Result<Vec<Candidate>> {
    // All of them, so that one round of an exchange is for all.
    let found: Vec<Result<Vec<Candidate>>> = keys.par_iter().map(|key| key.sharing_values(index)).collect();
    Ok(found.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// Columns with a meaning similar to a key column's, and columns of the same name in tables similar to the query, except those
/// already `known`.
fn without_values(
    index: &LakeIndex,
    keys: &[KeyColumn<'_>],
    contexts: &Contexts<'_>,
    known: &HashSet<(usize, ColumnRef)>,
) -> Result<Vec<Candidate>> {
    let mut known = known.clone();
    let mut found = Vec::new();
    let same_named: Vec<Result<Vec<ColumnRef>>> = keys.iter().map(|key| contexts.same_named(key.place)).collect();
    let same_named: Vec<Vec<ColumnRef>> = same_named.into_iter().collect::<Result<_>>()?;
    for (key, same_named) in keys.iter().zip(same_named) {
        let similar = key.similar_in_meaning(index, &known)?;
        known.extend(similar.iter().map(Candidate::key));
        found.extend(similar);
        found.extend(key.new_candidates(index, same_named, &known)?);
    }
    Ok(found)
}

/// The key columns to search with and the weight of each: the one given, or the likeliest keys and those `declared`.
fn query_columns(query: &QueryTable, options: &JoinOptions<'_>, declared: &HashSet<usize>) -> Vec<(usize, f64)> {
    if let Some(place) = options.column {
        return vec![(place, 1.0)];
    }
    let weights = &options.weights.join_evidence;
    let mut keys: Vec<(usize, f64)> = query
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.sketch.distinct > 0 && !column.is_figure)
        .map(|(place, column)| {
            // A foreign key repeats: a text column that is not a key of this table may be one of another.
            let is_text = column.profile.logical == LogicalType::Text;
            let repeats = if is_text { weights.repeating_text } else { weights.repeating_other };
            let share = if column.profile.weakness.is_some() { weights.repeating_accidental } else { 1.0 };
            (place, column.profile.key_likeness.max(repeats * share))
        })
        .collect();
    keys.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let further = keys.split_off(keys.len().min(TRIED_KEYS));
    let mut foreign = 0;
    keys.extend(further.into_iter().filter(|(key, _)| {
        let QueryColumn { profile, sketch, .. } = &query.columns[*key];
        let may_be =
            profile.logical == LogicalType::Text && profile.weakness.is_none() && sketch.distinct >= LEAST_VALUES;
        foreign += usize::from(may_be);
        (may_be && foreign <= FOREIGN_KEYS) || declared.contains(key)
    }));
    keys
}

/// Every exact overlap of one query column with the lake's columns, for measuring recall: unordered, live tables only.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn column_overlaps(index: &LakeIndex, column: &QueryColumn) -> Result<Vec<(ColumnRef, Overlap)>> {
    overlaps(index, column, &value_weights(index, 0, column)?, Selection::All)
}

/// The columns of greatest [`Overlap::closeness`] that become candidates of a join search; unordered, live tables only.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn closest_columns(index: &LakeIndex, column: &QueryColumn) -> Result<Vec<(ColumnRef, Overlap)>> {
    closest_of(index, 0, overlaps(index, column, &value_weights(index, 0, column)?, Selection::Best(CLOSEST_COLUMNS))?)
}

/// The closest of the `overlaps` of the query's column `place`, at most [`CLOSEST_COLUMNS`] in all shards.
fn closest_of(
    index: &LakeIndex,
    place: usize,
    mut overlaps: Vec<(ColumnRef, Overlap)>,
) -> Result<Vec<(ColumnRef, Overlap)>> {
    if overlaps.len() > CLOSEST_COLUMNS {
        overlaps.select_nth_unstable_by(CLOSEST_COLUMNS, |a, b| {
            b.1.closeness().total_cmp(&a.1.closeness()).then(a.0.cmp(&b.0))
        });
        overlaps.truncate(CLOSEST_COLUMNS);
    }
    if index.exchange().is_some() {
        let own = overlaps.iter().map(|(column, overlap)| (overlap.closeness(), *column)).collect();
        let of_all = index.best_of_all(&format!("columns closest to {place}"), own, CLOSEST_COLUMNS)?;
        let of_all: HashSet<ColumnRef> = of_all.into_iter().map(|(_, column)| column).collect();
        overlaps.retain(|(column, _)| of_all.contains(&index.in_index(*column)));
    }
    Ok(overlaps)
}

/// How rare each value of the query's column `place` is.
fn value_weights(index: &LakeIndex, place: usize, column: &QueryColumn) -> Result<ValueWeights> {
    let lists: Vec<_> = index.segments().iter().map(|segment| (&segment.join.values, segment.columns.len())).collect();
    let in_all = |own: Vec<u64>| index.sums(&format!("columns with values of {place}"), own.len(), || Ok(own));
    ValueWeights::of_all(&column.values, &lists, in_all)
}

fn overlaps(
    index: &LakeIndex,
    column: &QueryColumn,
    weights: &ValueWeights,
    selection: Selection,
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
            let found = overlap::overlaps(&column.values, weights, place, parts, selection, propose)?;
            let of_segment = |overlap: Overlap| (ColumnRef { segment: place as u32, column: overlap.column }, overlap);
            Ok(found.into_iter().map(of_segment).collect())
        })
        .collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}
