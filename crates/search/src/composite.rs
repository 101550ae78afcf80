//! Join search on several columns: tables whose rows contain the query's *combinations* of values.
//!
//! If each part of a combination is in a column of the table, the combination need not be one of its rows, so rows must be
//! compared; but the parts bound how many can match. Tables are processed in the order of their upper bound of the score
//! ([`mapping`], from the index alone), their files are read and counted ([`count`]), and the search ends when the k-th
//! score found is no less than any remaining bound: the answers are the exact best k. (Upper bounds before verification: Zhu
//! et al., "JOSIE", SIGMOD 2019; rows filtered by single values first: Esmailoghli et al., "MATE", PVLDB 15(8), 2022.)

mod answer;
mod count;
mod evidence;
mod mapping;
mod tuples;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;

use rayon::prelude::*;

use self::answer::Found;
use self::count::Pass;
use self::evidence::{Evidence, MostOf, at_most_of};
use self::mapping::Mapping;
use self::tuples::{Key, QueryTuples};
use super::join::{self, DeclaredKey, JoinAnswer};
use super::query_table::QueryTable;
use crate::cite::{Checked, Gate};
use crate::weights::RankingWeights;
use lakeward_core::error::{Error, Result};
use lakeward_index::{LakeIndex, TableRef};

/// Most key columns.
pub const MOST_COLUMNS: usize = 8;
/// Files read in parallel; the same number on any machine, so that the same files are read everywhere.
const WAVE: usize = 8;
/// Mappings counted in one pass over a file: as many as fit [`MARKS_PER_PASS`], within these limits.
const MAPPINGS_PER_PASS: std::ops::RangeInclusive<usize> = 4..=64;
/// Most marks and hashes held for one pass.
const MARKS_PER_PASS: usize = 1 << 22;
/// Most files read for one search.
const MOST_PASSES: usize = 2_000;
/// Bytes of files read for one search, after which no further file is opened.
const MOST_READ_BYTES: u64 = 4 << 30;
/// Most files named of those that could not be compared.
const NAMED_FILES: usize = 5;

/// What to search for.
#[derive(Debug, Clone)]
pub struct CompositeOptions<'a> {
    /// Number of answers requested.
    pub k: usize,
    /// Places of the query's key columns, two to eight, each once.
    pub columns: Vec<usize>,
    /// Weights of the ranking.
    pub weights: &'a RankingWeights,
}

/// The result of a search on several columns.
#[derive(Debug, Clone)]
pub struct CompositeAnswers {
    /// Best first, ties by table.
    pub answers: Checked<Vec<JoinAnswer>>,
    /// Number of passes over files.
    pub passes: usize,
    /// What could not be compared and why, as sentences.
    pub notes: Vec<String>,
}

/// The best tables to join with `query` on several columns together, of those that share at least 5 % of its combinations
/// or 20 % of their own.
///
/// Reads the candidates' files below `lake`. A file that can no longer be read gives a note instead of an answer.
///
/// # Errors
/// [`Error::Usage`] for an invalid key, the errors of reading the query's file again, [`Error::DamagedIndex`].
pub fn search(
    index: &LakeIndex,
    lake: &Path,
    query: &QueryTable,
    options: &CompositeOptions<'_>,
) -> Result<CompositeAnswers> {
    check_columns(query, &options.columns)?;
    let tuples = QueryTuples::read(index, query, &options.columns)?;
    let key = Key { query, places: &options.columns, tuples, weights: &options.weights.tuples };
    let mut search = Search::new(index, lake, &key, options.k)?;
    if !key.tuples.is_empty() && options.k > 0 {
        search.run()?;
    }
    search.finish()
}

/// The keys of several columns that a database declares between `query` and other tables: places of its columns, each once.
///
/// # Errors
/// [`Error::DamagedIndex`] where an index file is damaged.
pub fn declared_keys(index: &LakeIndex, query: &QueryTable) -> Result<Vec<Vec<usize>>> {
    let keys = join::declared_keys(index, query)?.into_iter().map(|key| key.places);
    let mut keys: Vec<Vec<usize>> = keys.filter(|places| (2..=MOST_COLUMNS).contains(&places.len())).collect();
    keys.sort_unstable();
    keys.dedup();
    Ok(keys)
}

fn check_columns(query: &QueryTable, columns: &[usize]) -> Result<()> {
    if !(2..=MOST_COLUMNS).contains(&columns.len()) {
        let count = columns.len();
        return Err(Error::usage(format!("a key of {count} columns; two to {MOST_COLUMNS} can be joined on together")));
    }
    for (place, column) in columns.iter().enumerate() {
        let profile = query.columns.get(*column).ok_or_else(|| Error::Internal(format!("no column {column}")))?;
        if columns[..place].contains(column) {
            return Err(Error::usage(format!("column `{}` is named twice", profile.profile.name)));
        }
    }
    Ok(())
}

/// A table that may contain combinations of the query.
struct Pending<'a> {
    /// Upper bound of its score.
    bound: f64,
    id: &'a str,
    table: TableRef,
    stage: Stage,
}

enum Stage {
    /// Shares values with one key column; the columns of its segment that do.
    Unmapped(Vec<u32>),
    /// Mappings not counted yet, greatest bound first.
    Mapped(Vec<(f64, Mapping)>),
}

/// Greater bounds first, ties by table.
impl Ord for Pending<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then_with(|| other.id.cmp(self.id))
    }
}

impl PartialOrd for Pending<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pending<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pending<'_> {}

struct Search<'a> {
    index: &'a LakeIndex,
    lake: &'a Path,
    key: &'a Key<'a>,
    total_weight: f64,
    k: usize,
    /// The key column by which candidates are found.
    first: usize,
    pending: BinaryHeap<Pending<'a>>,
    found: BTreeMap<&'a str, Found>,
    passes: usize,
    read_bytes: u64,
    failed: Vec<(String, String)>,
    unread: usize,
    /// Tables with the columns that a database declares to be this key, in the order of the key.
    declared: Vec<(TableRef, Vec<u32>)>,
}

impl<'a> Search<'a> {
    fn new(index: &'a LakeIndex, lake: &'a Path, key: &'a Key<'a>, k: usize) -> Result<Self> {
        let in_order = |declared: DeclaredKey| {
            let column = |place: &usize| declared.places.iter().position(|other| other == place);
            let places: Option<Vec<usize>> = key.places.iter().map(column).collect();
            let is_whole = declared.places.len() == key.places.len();
            places
                .filter(|_| is_whole)
                .map(|places| (declared.table, places.iter().map(|at| declared.columns[*at]).collect()))
        };
        let total_weight: f64 = key.tuples.weights.iter().map(|weight| f64::from(*weight)).sum();
        Ok(Self {
            index,
            lake,
            key,
            total_weight: total_weight.max(f64::MIN_POSITIVE),
            k,
            first: rarest(index, &key.tuples)?,
            pending: BinaryHeap::new(),
            found: BTreeMap::new(),
            passes: 0,
            read_bytes: 0,
            failed: Vec::new(),
            unread: 0,
            declared: join::declared_keys(index, key.query)?.into_iter().filter_map(in_order).collect(),
        })
    }

    fn run(&mut self) -> Result<()> {
        self.find_tables()?;
        loop {
            let wave = self.next_wave()?;
            if wave.is_empty() {
                return Ok(());
            }
            let passes: Vec<Result<Pass>> = wave
                .par_iter()
                .map(|(_, table, mappings, _)| {
                    let mappings: Vec<Mapping> = mappings.iter().map(|(_, mapping)| mapping.clone()).collect();
                    let segment = self.index.segment(table.segment)?;
                    count::count(self.lake, segment, table.table, &self.key.tuples, &mappings)
                })
                .collect();
            for ((id, table, mappings, rest), pass) in wave.into_iter().zip(passes) {
                match pass {
                    Ok(pass) => self.take(id, table, mappings, rest, pass),
                    Err(error @ (Error::Io { .. } | Error::Unreadable { .. })) => {
                        self.failed.push((id.to_string(), reason_of(&error)));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Finds every table with a column that shares values with the first key column, and bounds its score by that.
    fn find_tables(&mut self) -> Result<()> {
        let most = MostOf::parts(&self.key.tuples, self.first);
        let column = &self.key.query.columns[self.key.places[self.first]];
        let mut tables: BTreeMap<TableRef, (Evidence, Vec<u32>)> = BTreeMap::new();
        for (reference, overlap) in join::column_overlaps(self.index, column)? {
            let segment = self.index.segment(reference.segment)?;
            let record = segment.columns.record(reference.column)?;
            let table = TableRef { segment: reference.segment, table: record.table };
            if Some(table) == self.key.query.origin {
                continue;
            }
            // The overlap of sampled columns does not cover the values left out.
            let shared = if overlap.exact { overlap.shared as usize } else { usize::MAX };
            let (shared, weight) = most.of(shared);
            let least = if record.is_exact() && record.present == record.rows { record.distinct } else { 0 };
            let evidence = Evidence {
                containment: shared as f64 / self.key.tuples.len() as f64,
                rarity: (weight / self.total_weight).min(1.0),
                of_candidate: at_most_of(shared, least),
                uniqueness: 1.0,
                names: 1.0,
                accidental: false,
            };
            if evidence.is_enough(self.key.weights) || self.declared.iter().any(|(other, _)| *other == table) {
                let known = tables.entry(table).or_insert_with(|| (evidence, Vec::new()));
                known.0 = known.0.greatest(&evidence);
                known.1.push(reference.column);
            }
        }
        for (table, (evidence, columns)) in tables {
            let segment = self.index.segment(table.segment)?;
            if segment.tables.columns(table.table)?.len() >= self.key.places.len() {
                let id = self.index.id(table)?;
                self.pending.push(Pending {
                    bound: if self.declared.iter().any(|(other, _)| *other == table) {
                        1.0
                    } else {
                        evidence.score(self.key.weights)
                    },
                    id,
                    table,
                    stage: Stage::Unmapped(columns),
                });
            }
        }
        Ok(())
    }

    /// The tables to read next: those whose bound exceeds the k-th best score so far, greatest bound first.
    fn next_wave(&mut self) -> Result<Vec<Read<'a>>> {
        let mut wave: Vec<Read<'a>> = Vec::new();
        let kth = self.kth_answer();
        while wave.len() < WAVE {
            let Some(best) = self.pending.pop() else { break };
            if kth.is_some_and(|(score, id)| best.bound < score || best.bound == score && best.id > id) {
                self.pending.clear();
                break;
            }
            let Pending { id, table, stage, .. } = best;
            match stage {
                Stage::Unmapped(columns) => {
                    let mappings = self.mappings(table, &columns)?;
                    self.push_mapped(id, table, mappings);
                }
                Stage::Mapped(mut mappings) => {
                    let segment = self.index.segment(table.segment)?;
                    let bytes = segment.tables.stamp(table.table)?.read_bytes;
                    let first = segment.tables.columns(table.table)?.start;
                    let rows = usize::try_from(segment.columns.record(first)?.rows).unwrap_or(usize::MAX);
                    let at_once = MARKS_PER_PASS / rows.max(self.key.tuples.len()).max(1);
                    let at_once = at_once.clamp(*MAPPINGS_PER_PASS.start(), *MAPPINGS_PER_PASS.end());
                    if self.passes >= MOST_PASSES || self.read_bytes > MOST_READ_BYTES {
                        self.unread += 1 + self.pending.len();
                        self.pending.clear();
                        break;
                    }
                    self.passes += 1;
                    self.read_bytes = self.read_bytes.saturating_add(bytes);
                    let rest = mappings.split_off(mappings.len().min(at_once));
                    wave.push((id, table, mappings, rest));
                }
            }
        }
        Ok(wave)
    }

    /// Score and table of the k-th best answer so far.
    fn kth_answer(&self) -> Option<(f64, &'a str)> {
        let mut scores: Vec<(f64, &'a str)> = self.found.iter().map(|(id, found)| (found.score, *id)).collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scores.get(self.k - 1).copied()
    }

    fn mappings(&self, table: TableRef, first_columns: &[u32]) -> Result<Vec<(f64, Mapping)>> {
        let segment = self.index.segment(table.segment)?;
        let range = segment.tables.columns(table.table)?;
        let first = (self.first, first_columns);
        let found = mapping::mappings(self.key, &segment.columns, range, first)?;
        let bounded = found.into_iter().map(|mapping| (self.score(table, &mapping, &self.bound(&mapping)), mapping));
        let mut bounded: Vec<(f64, Mapping)> = bounded.filter_map(|(score, mapping)| Some((score?, mapping))).collect();
        bounded.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.columns.cmp(&b.1.columns)));
        Ok(bounded)
    }

    /// The score of a table by evidence for a mapping, or its upper bound: 1 where the mapping is declared; `None` where there is too little.
    fn score(&self, table: TableRef, mapping: &Mapping, evidence: &Evidence) -> Option<f64> {
        match self.is_declared(table, mapping) {
            true => Some(1.0),
            false => evidence.is_enough(self.key.weights).then(|| evidence.score(self.key.weights)),
        }
    }

    fn is_declared(&self, table: TableRef, mapping: &Mapping) -> bool {
        self.declared.iter().any(|(other, columns)| *other == table && *columns == mapping.columns)
    }

    fn push_mapped(&mut self, id: &'a str, table: TableRef, mappings: Vec<(f64, Mapping)>) {
        if let Some((bound, _)) = mappings.first() {
            self.pending.push(Pending { bound: *bound, id, table, stage: Stage::Mapped(mappings) });
        }
    }

    /// Upper bounds of a mapping's evidence.
    fn bound(&self, mapping: &Mapping) -> Evidence {
        Evidence {
            containment: mapping.most_shared as f64 / self.key.tuples.len() as f64,
            rarity: (mapping.most_weight / self.total_weight).min(1.0),
            of_candidate: at_most_of(mapping.most_shared, mapping.least_tuples),
            uniqueness: mapping.most_unique,
            names: mapping.names,
            accidental: mapping.accidental,
        }
    }

    fn take(
        &mut self,
        id: &'a str,
        table: TableRef,
        mappings: Vec<(f64, Mapping)>,
        rest: Vec<(f64, Mapping)>,
        pass: Pass,
    ) {
        for ((_, mapping), counts) in mappings.into_iter().zip(pass.counts) {
            let evidence = Evidence {
                containment: counts.containment(&self.key.tuples),
                rarity: (counts.weight / self.total_weight).min(1.0),
                of_candidate: counts.of_candidate(),
                uniqueness: counts.uniqueness,
                names: mapping.names,
                accidental: mapping.accidental,
            };
            let Some(score) = self.score(table, &mapping, &evidence) else { continue };
            if self.found.get(id).is_none_or(|known| score > known.score) {
                let is_declared = self.is_declared(table, &mapping);
                let (rows, changed) = (pass.rows, pass.changed);
                self.found.insert(id, Found { table, score, mapping, counts, rows, changed, is_declared });
            }
        }
        let best = self.found.get(id).map_or(0.0, |found| found.score);
        let rest: Vec<(f64, Mapping)> = rest.into_iter().filter(|(bound, _)| *bound > best).collect();
        self.push_mapped(id, table, rest);
    }

    fn finish(self) -> Result<CompositeAnswers> {
        let mut found: Vec<(&str, Found)> = self.found.into_iter().collect();
        found.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(b.0)));
        found.truncate(self.k);
        let mut answers = Vec::with_capacity(found.len());
        for (_, found) in &found {
            answers.push(answer::answer(self.index, self.key, found)?);
        }
        let mut notes: Vec<String> = Vec::new();
        for (table, reason) in self.failed.iter().take(NAMED_FILES) {
            notes.push(format!("`{table}` was not compared: {reason}; `lakeward index` brings the index up to date"));
        }
        if self.failed.len() > NAMED_FILES {
            notes.push(format!("{} more tables were not compared", self.failed.len() - NAMED_FILES));
        }
        if self.unread > 0 {
            let (read, unread) = (self.passes, self.unread);
            notes.push(format!(
                "{read} tables were compared row by row, and {unread} more that share single values were not"
            ));
        }
        let answers = Gate::new(self.index).admit(answers)?;
        Ok(CompositeAnswers { answers, passes: self.passes, notes })
    }
}

/// A table to read: its id, its mappings to count now and those for later.
type Read<'a> = (&'a str, TableRef, Vec<(f64, Mapping)>, Vec<(f64, Mapping)>);

/// The key column whose values occur in the fewest columns of the lake, so that finding candidates by it is cheapest.
fn rarest(index: &LakeIndex, tuples: &QueryTuples) -> Result<usize> {
    let mut costs: Vec<(usize, usize)> = Vec::with_capacity(tuples.columns.len());
    for (place, parts) in tuples.columns.iter().enumerate() {
        let mut bytes = 0;
        for segment in index.segments() {
            for hash in &parts.hashes {
                bytes += segment.join.values.find(*hash)?.map_or(0, |list| list.bytes());
            }
        }
        costs.push((bytes, place));
    }
    Ok(costs.into_iter().min().map_or(0, |(_, place)| place))
}

fn reason_of(error: &Error) -> String {
    match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => "its file is gone".to_string(),
        Error::Io { source, .. } => source.to_string(),
        Error::Unreadable { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}
