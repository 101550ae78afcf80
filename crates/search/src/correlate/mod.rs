//! Correlation search: columns of the lake that, joined with a table on a key, go with a column of it.
//!
//! The index has for each key of each table the same sample of keys, with one rank per key and column ([`lakeward_index::correlations`]).
//! So the join of the query with every joinable table is estimated on a uniform sample of its rows, without reading a file; what
//! [`verify`] then reads are the best candidates. Candidates are ranked by a lower bound of the strength, since among many columns the
//! greatest estimates are those with the greatest errors; the false discovery rate counts all columns that were tested. The key with the
//! best bound answers for a column.
//!
//! No inverted index of signs (QCR): merging two sorted lists of 1,024 hashes takes some microseconds a key. The best
//! are read, as only the join knows the rows of a key, the trend and the size that both share, and whether a column
//! is the target. Country and year are found in either order. A join that changes the number of rows is never
//! proposed: each side is grouped by its key in normal form first, and the preview counts.

mod answer;
mod statistic;
mod verify;

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

pub use self::answer::{Caution, CorrelationAnswer, KeyPair};
pub use self::statistic::{Association, spearman};
use self::statistic::{LEAST_PAIRS, Tests, of_codes};
pub use self::verify::FOLLOWS;
use super::cite::{Checked, Gate};
use super::query_table::QueryTable;
use lakeward_core::error::{Error, Result};
use lakeward_core::text::shown;
use lakeward_index::correlations::{KeyRecord, MOST_KEYS, codes};
use lakeward_index::{ColumnRef, LakeIndex, Segment, TableRef};
use lakeward_lake::join_keys;
use lakeward_lake::key_sample::{self, KeySample, Measure, ValueColumn};
use lakeward_lake::profile::ColumnProfile;

/// Keys of the query that are read; beyond, figures are of a uniform sample of so many.
const MOST_READ_KEYS: usize = 1 << 17;
/// Candidates that are verified, at least.
const VERIFIED: usize = 50;
/// Candidates kept while searching a segment.
const MOST_HITS: usize = 4096;

/// What to search for.
#[derive(Debug, Clone)]
pub struct CorrelateOptions {
    /// Place of the query's column whose values are to be explained.
    pub target: usize,
    /// Places of the key columns, at most two, which are joined on together; if none are given, the likeliest keys are tried.
    pub key: Vec<usize>,
    /// Number of answers requested.
    pub k: usize,
    /// If there are any, only these columns are compared, and what is found of them is answered however little it is.
    pub only: Vec<ColumnRef>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct CorrelationAnswers {
    /// Best first.
    pub answers: Checked<Vec<CorrelationAnswer>>,
    /// The target's name.
    pub target: String,
    /// The keys that were tried, each by the names of its columns.
    pub keys: Vec<Vec<String>>,
    /// Pairs of a key and a column that were tested.
    pub tested: u64,
    /// What could not be verified, and why.
    pub notes: Vec<String>,
}

/// A key of the query in one order of its columns, with the target's codes.
struct BaseKey {
    /// All keys read: value 0 is the target, then, if the key has them, the time and the thing.
    sample: KeySample,
    /// The hashes and the target's codes of the keys that an index would store.
    hashes: Vec<u64>,
    codes: Vec<u8>,
}

/// The keys that a stored key shares with the query's: the target's code of each, and its place among the stored.
#[derive(Default)]
struct Matched {
    codes: Vec<i16>,
    places: Vec<u32>,
    /// The codes of one stored column there.
    theirs: Vec<i16>,
}

/// A column of the lake that may go with the target.
#[derive(Debug, Clone, Copy)]
struct Hit {
    score: f64,
    association: Association,
    /// Position of the query's key.
    base: usize,
    segment: u32,
    /// Position of the stored key in its segment, and of the column among its values.
    key: usize,
    value: usize,
    column: u32,
}

impl Hit {
    fn column(&self) -> ColumnRef {
        ColumnRef { segment: self.segment, column: self.column }
    }

    /// Which of two keys answers for a column: that of the better bound, of more keys, and the likelier one.
    fn rank(&self) -> (f64, usize, std::cmp::Reverse<usize>) {
        (self.score, self.association.pairs, std::cmp::Reverse(self.base))
    }
}

/// The columns of the lake that go with `options.target` of `query`, best first, ties by table and column.
///
/// # Errors
/// [`Error::Usage`] if the target has no values to compare, or the table has no key; those of reading the query's file;
/// [`Error::DamagedIndex`] if an index file is damaged. A candidate whose file cannot be read is reported in the notes.
pub fn search(
    index: &LakeIndex,
    lake: &std::path::Path,
    query: &QueryTable,
    options: &CorrelateOptions,
) -> Result<CorrelationAnswers> {
    let columns = &query.entry.profile.columns;
    let target = target_column(columns, options.target)?;
    let keys = keys_of(columns, options)?;
    let bases = base_keys(query, target, &keys)?;
    let labels = target.measure == Measure::Label;
    let mut p_values = Vec::new();
    let mut hits = Vec::new();
    let mut shared = 0;
    for (place, segment) in (0u32..).zip(index.segments()) {
        let stored = &segment.correlations;
        let own = query.origin.filter(|origin| origin.segment == place).map(|origin| origin.table);
        let of_key = |(number, key): (usize, &KeyRecord)| -> Result<Compared> {
            let mut found = Compared::default();
            if segment.is_live(key.table) && own != Some(key.table) {
                let at = Hit {
                    score: 0.0,
                    association: Association::of_ranks(0.0, 0),
                    base: 0,
                    segment: place,
                    key: number,
                    value: 0,
                    column: 0,
                };
                compare(segment, key, (&bases, labels, &options.only), at, &mut found)?;
            }
            Ok(found)
        };
        let parts: Vec<Compared> =
            stored.keys()?.par_iter().enumerate().with_min_len(64).map(of_key).collect::<Result<_>>()?;
        for part in parts {
            shared = shared.max(part.shared);
            p_values.extend(part.p_values);
            hits.extend(part.hits);
            if hits.len() > 2 * MOST_HITS {
                keep_best(&mut hits, MOST_HITS);
            }
        }
    }
    let tests = Tests::new(p_values);
    keep_best(&mut hits, options.k.max(VERIFIED));
    let found = verify::answers(index, lake, query, &bases, &hits, &tests)?;
    let (mut answers, mut notes) = found;
    if tests.len() == 0 {
        notes.extend(too_few(columns, &keys, bases.is_empty(), shared));
    }
    answers.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| (&a.table, &a.column).cmp(&(&b.table, &b.column))));
    answers.truncate(options.k);
    let names = |key: &Vec<usize>| key.iter().map(|place| columns[*place].name.clone()).collect();
    Ok(CorrelationAnswers {
        answers: Gate::new(index).admit(answers)?,
        target: columns[target.place].name.clone(),
        keys: keys.iter().map(names).collect(),
        tested: tests.len() as u64,
        notes,
    })
}

/// The tables whose keys a table shares, in the order of the index: enough of the sampled ones to compare a column with its, and at least
/// `least` of them (0..=1).
///
/// # Errors
/// [`Error::Usage`] if the table has no key, or no other column; those of reading its file; [`Error::DamagedIndex`] if an index file is
/// damaged.
pub fn reachable(index: &LakeIndex, query: &QueryTable, least: f64) -> Result<Vec<TableRef>> {
    let columns = &query.entry.profile.columns;
    let keys = join_keys::keys(columns);
    let is_value = |place: &usize| target_column(columns, *place).is_ok();
    // The value is read along and not looked at: keys that can have the same one are read together.
    let mut read: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    let of_no_key = (0..columns.len()).filter(|place| !keys.iter().flatten().any(|key| key == place)).find(is_value);
    for key in keys {
        let other = || (0..columns.len()).filter(|place| !key.contains(place)).find(is_value);
        if let Some(value) = of_no_key.or_else(other) {
            read.entry(value).or_default().push(key);
        }
    }
    let mut tables = Vec::new();
    for (value, keys) in read {
        let bases = base_keys(query, target_column(columns, value)?, &keys)?;
        for (place, segment) in (0u32..).zip(index.segments()) {
            let stored = &segment.correlations;
            let shares = |key: &KeyRecord| -> Result<Option<TableRef>> {
                let table = TableRef { segment: place, table: key.table };
                if !segment.is_live(key.table) || query.origin == Some(table) {
                    return Ok(None);
                }
                let hashes = stored.hashes(key, &segment.columns)?;
                let mut matched = Matched::default();
                let enough = bases.iter().filter(|base| base.sample.key.len() == key.columns().len()).any(|base| {
                    matched.find(base, &hashes);
                    matched.codes.len() >= LEAST_PAIRS && matched.codes.len() as f64 >= least * base.hashes.len() as f64
                });
                Ok(enough.then_some(table))
            };
            let found: Vec<Option<TableRef>> =
                stored.keys()?.par_iter().with_min_len(64).map(shares).collect::<Result<_>>()?;
            tables.extend(found.into_iter().flatten());
        }
    }
    tables.sort_unstable();
    tables.dedup();
    Ok(tables)
}

/// The target as a column of values.
///
/// # Errors
/// [`Error::Usage`] if its values cannot be compared.
pub fn target_column(columns: &[ColumnProfile], place: usize) -> Result<ValueColumn> {
    let column = columns.get(place).ok_or_else(|| Error::Internal("the target is no column".into()))?;
    let name = shown(&column.name, 80);
    let measure =
        Measure::of(column).ok_or_else(|| Error::usage(format!("`{name}` is empty: nothing goes with it")))?;
    if column.distinct < 2 {
        return Err(Error::usage(format!("`{name}` has one value only: nothing goes with it")));
    }
    if measure == Measure::Label && column.distinct > join_keys::MOST_LABELS {
        let reason = format!("`{name}` has {} different texts: names, not categories", column.distinct);
        return Err(Error::usage(format!(
            "{reason}; choose a column of numbers or of at most {} labels",
            join_keys::MOST_LABELS
        )));
    }
    Ok(ValueColumn { place, measure })
}

/// The keys to try, in column order.
fn keys_of(columns: &[ColumnProfile], options: &CorrelateOptions) -> Result<Vec<Vec<usize>>> {
    if options.key.contains(&options.target) {
        return Err(Error::usage("the target cannot be its own key"));
    }
    let mut given = options.key.clone();
    given.dedup();
    match given.len() {
        0 => {}
        1 | 2 => return Ok(vec![given]),
        more => {
            return Err(Error::usage(format!(
                "a key of {more} columns: correlations are searched on one column or on two"
            )));
        }
    }
    let keys: Vec<Vec<usize>> =
        join_keys::keys(columns).into_iter().filter(|key| !key.contains(&options.target)).collect();
    if keys.is_empty() {
        let names: Vec<String> =
            columns.iter().take(8).map(|column| format!("`{}`", shown(&column.name, 40))).collect();
        let reason = "no column of the table says which thing a row is about, or it has fewer than 25";
        return Err(Error::usage(format!("{reason}; name the key: its columns are {}", names.join(", "))));
    }
    Ok(keys)
}

/// Reads the query's keys, those of two columns in both orders.
fn base_keys(query: &QueryTable, target: ValueColumn, keys: &[Vec<usize>]) -> Result<Vec<BaseKey>> {
    let columns = &query.entry.profile.columns;
    let mut samples = Vec::new();
    for key in keys {
        let time = join_keys::time_part(columns, key);
        let mut values = vec![target];
        if let Some(place) = time {
            values.push(ValueColumn { place, measure: Measure::Number });
            let thing = key.iter().find(|other| **other != place);
            values.extend(thing.map(|place| ValueColumn { place: *place, measure: Measure::Label }));
        }
        samples.push(KeySample::new(key.clone(), values.clone(), MOST_READ_KEYS));
        if key.len() == 2 {
            samples.push(KeySample::new(key.iter().rev().copied().collect(), values, MOST_READ_KEYS));
        }
    }
    let rows = query.entry.report.sample.map(|sample| sample.rows);
    key_sample::read(&query.path, &query.entry.profile, rows, &mut samples)?;
    let base = |sample: KeySample| {
        let mut keys = sample.keys();
        keys.truncate(MOST_KEYS);
        let codes = codes(&sample, &keys, 0);
        let hashes = keys.into_iter().map(|(hash, _)| hash).collect();
        (!codes.is_empty()).then_some(BaseKey { sample, hashes, codes })
    };
    Ok(samples.into_iter().filter_map(base).collect())
}

/// What comparing with one stored key found.
#[derive(Default)]
struct Compared {
    hits: Vec<Hit>,
    p_values: Vec<f32>,
    /// Keys in common with that which has most.
    shared: usize,
}

/// Why nothing was tested, where keys are too few.
fn too_few(columns: &[ColumnProfile], keys: &[Vec<usize>], no_base: bool, shared: usize) -> Option<String> {
    let needed = format!("{LEAST_PAIRS} are needed");
    if !no_base {
        return (1..LEAST_PAIRS)
            .contains(&shared)
            .then(|| format!("the table with most keys in common shares {shared}; {needed}"));
    }
    let named = |key: &Vec<usize>| {
        let values = key.iter().filter_map(|place| columns.get(*place));
        let values = values.map(|column| format!("`{}` has {} values", shown(&column.name, 40), column.distinct));
        values.collect::<Vec<_>>().join(", ")
    };
    Some(format!(
        "too few keys with a value to compare: {}; {needed}",
        keys.iter().map(named).collect::<Vec<_>>().join(", ")
    ))
}

/// Tests all values of a stored key, or those that are looked for, against the query's keys of as many columns.
fn compare(
    segment: &Segment,
    key: &KeyRecord,
    (bases, labels, only): (&[BaseKey], bool, &[ColumnRef]),
    at: Hit,
    found: &mut Compared,
) -> Result<()> {
    let Compared { hits, p_values, shared } = found;
    let stored = &segment.correlations;
    let is_selected = |column: u32| only.is_empty() || only.contains(&ColumnRef { segment: at.segment, column });
    if !stored.values(key)?.iter().any(|record| is_selected(record.column)) {
        return Ok(());
    }
    let hashes = stored.hashes(key, &segment.columns)?;
    let mut matched = Matched::default();
    let mut pairs: Vec<(u8, u8)> = Vec::new();
    for (base, of_base) in bases.iter().enumerate() {
        if of_base.sample.key.len() != key.columns().len() {
            continue;
        }
        matched.find(of_base, &hashes);
        *shared = matched.codes.len().max(*shared);
        if matched.codes.len() < LEAST_PAIRS {
            continue;
        }
        let codes = stored.codes(key)?;
        for (value, (record, codes)) in stored.values(key)?.iter().zip(codes.chunks_exact(hashes.len())).enumerate() {
            if !is_selected(record.column) {
                continue;
            }
            let other_labels = record.measure() == Measure::Label;
            let rough = if labels || other_labels { None } else { matched.rough_rho(codes) };
            let found = match rough {
                Some(rough) if rough.lower_bound() <= 0.0 => Some(rough),
                None if !labels && !other_labels => None,
                _ => {
                    pairs.clear();
                    let of_places = matched.codes.iter().zip(&matched.places);
                    pairs.extend(of_places.map(|(code, place)| (*code as u8, codes[*place as usize])));
                    of_codes(&pairs, labels, other_labels)
                }
            };
            let Some(association) = found else { continue };
            p_values.push(association.p_value() as f32);
            let score = association.lower_bound();
            if score > 0.0 || !only.is_empty() {
                hits.push(Hit { score, association, base, value, column: record.column, ..at });
            }
        }
    }
    Ok(())
}

impl Matched {
    /// Finds the keys that both store and whose target is known.
    fn find(&mut self, base: &BaseKey, hashes: &[u64]) {
        self.codes.clear();
        self.places.clear();
        let (mut own, mut other) = (0, 0);
        while own < base.hashes.len() && other < hashes.len() {
            let (a, b) = (base.hashes[own], hashes[other]);
            if a == b && base.codes[own] > 0 {
                self.codes.push(i16::from(base.codes[own]));
                self.places.push(other as u32);
            }
            own += usize::from(a <= b);
            other += usize::from(b <= a);
        }
    }

    /// ρ without ranking anew what is a sample of ranks: close, and a fraction of the work; decides which columns are looked at twice.
    /// The sums are of at most 1,024 products of two bytes, so that they fit 32 bits and a processor adds several at once.
    fn rough_rho(&mut self, codes: &[u8]) -> Option<Association> {
        self.theirs.clear();
        self.theirs.extend(self.places.iter().map(|place| i16::from(codes[*place as usize])));
        let (mut count, mut x_sum, mut y_sum, mut xx, mut yy, mut xy) = (0i32, 0i32, 0i32, 0i32, 0i32, 0i32);
        for (x, y) in self.codes.iter().zip(&self.theirs) {
            let known = i16::from(*y != 0);
            let (x, y) = (i32::from(*x * known), i32::from(*y));
            count += i32::from(known);
            x_sum += x;
            y_sum += y;
            xx += x * x;
            yy += y * y;
            xy += x * y;
        }
        if (count as usize) < LEAST_PAIRS {
            return None;
        }
        let [n, x_sum, y_sum, xx, yy, xy] = [count, x_sum, y_sum, xx, yy, xy].map(f64::from);
        let r = (n * xy - x_sum * y_sum) / ((n * xx - x_sum * x_sum) * (n * yy - y_sum * y_sum)).sqrt();
        r.is_finite().then(|| Association::of_ranks(r.clamp(-1.0, 1.0), count as usize))
    }
}

/// Keeps the best `most` hits, each column once.
fn keep_best(hits: &mut Vec<Hit>, most: usize) {
    let mut best: HashMap<ColumnRef, Hit> = HashMap::new();
    for hit in hits.drain(..) {
        match best.get(&hit.column()) {
            Some(known) if known.rank() >= hit.rank() => {}
            _ => drop(best.insert(hit.column(), hit)),
        }
    }
    hits.extend(best.into_values());
    hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.column().cmp(&b.column())));
    hits.truncate(most);
}
