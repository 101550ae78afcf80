//! Finds the columns that share values with a query column, and how many: exact containment from inverted lists.
//!
//! The lists of the query's values are read rarest first (the idea of Zhu et al., "JOSIE", SIGMOD 2019). A column that has not been found
//! after r lists shares at most the remaining values, so once fewer than t·|Q| lists are left, every column that contains a share t of the
//! query has been found. Reading may stop there: the common values, which are most of the work and least informative, are then counted in
//! the sorted values of only those columns that could still be in the result, or their lists are read if that is cheaper. The reported
//! counts are exact either way. If even the rare lists exceed a budget, MinHash LSH proposes the columns that share only commoner values
//! ([`may_be_missed`] decides for which columns that is possible).
//!
//! Signatures of a million columns took 1 GiB to build and 2 GiB of disk, so LSH holds only columns that the lists
//! may miss: it finds 99.7 % of the containing columns of 10 to 100 times the query's size.

mod sorted;

use super::columns::{ColumnRecord, Columns};
use super::postings::{PostingList, Postings};
use super::tallies::Tallies;
use lakeward_core::error::Result;
use lakeward_sketch::ColumnSketch;

use self::sorted::count_distinct;
pub use self::sorted::{gallop, shared_hashes};

/// Columns that contain this share of the query's values are found, unless that takes more than [`MODERATE_BYTES`].
const TARGET_CONTAINMENT: f64 = 0.3;
/// … and those that contain this share, unless that takes more than [`MOST_BYTES`].
const SURE_CONTAINMENT: f64 = 0.5;
/// Bytes of inverted lists read for one query and segment: about one counted column per byte. Up to this, all lists are read.
const EASY_BYTES: usize = 128 << 10;
const MODERATE_BYTES: usize = 1 << 20;
const MOST_BYTES: usize = 4 << 20;
/// The three budgets: always, for [`TARGET_CONTAINMENT`], for [`SURE_CONTAINMENT`].
const BUDGETS: [usize; 3] = [EASY_BYTES, MODERATE_BYTES, MOST_BYTES];
/// Reading a list byte takes about 3 ns; looking up values in a column takes as long as 64 of them, plus 8 for each value looked up.
const LOOKUP_BYTES: usize = 64;
const VALUE_LOOKUP_BYTES: usize = 8;
/// Maximum columns looked up per requested one: if more could be as good, all share little.
const LOOKUPS_PER_RESULT: usize = 25;

/// The values of a query column.
#[derive(Debug, Clone)]
pub struct QueryValues {
    /// Hashes of the normal forms, ascending, without duplicates.
    pub hashes: Vec<u64>,
    /// (hash, low bits of the hash as written), ascending.
    written: Vec<(u64, u32)>,
    /// All values with a hash up to this are in `hashes`.
    pub bound: u64,
}

impl QueryValues {
    /// The values of a sketched column.
    pub fn of(sketch: &ColumnSketch) -> Self {
        let written: Vec<(u64, u32)> = sketch.hashes.iter().copied().zip(sketch.variants.iter().copied()).collect();
        let mut hashes = sketch.hashes.clone();
        hashes.dedup();
        Self { hashes, written, bound: sketch.bound }
    }

    /// Number of values at or below `bound`.
    fn up_to(&self, bound: u64) -> usize {
        self.hashes.partition_point(|hash| *hash <= bound)
    }
}

/// The values shared by a query column and a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// The candidate, as a number in its segment's column store.
    pub column: u32,
    /// Number of shared values, among those stored for both.
    pub shared: u64,
    /// Number of the query's values that were compared.
    pub query_values: u64,
    /// Number of the candidate's values that were compared.
    pub candidate_values: u64,
    /// Inverse-frequency weight of the shared values, as a share of the query's total weight, 0..=1.
    pub rarity: f64,
    /// Whether neither column's values are sampled.
    pub exact: bool,
}

impl Overlap {
    /// |Q ∩ X| / |Q|, 0..=1.
    pub fn containment(&self) -> f64 {
        ratio(self.shared, self.query_values)
    }

    /// |Q ∩ X| / |X|, 0..=1.
    pub fn containment_of_candidate(&self) -> f64 {
        ratio(self.shared, self.candidate_values)
    }

    /// A first score of the column: the share of the query that it contains, with rare values weighted more.
    pub fn closeness(&self) -> f64 {
        closeness(self.rarity, self.containment())
    }

    /// |Q ∩ X| / |Q ∪ X|, 0..=1.
    pub fn jaccard(&self) -> f64 {
        ratio(self.shared, self.query_values + self.candidate_values - self.shared)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The frequency of each of a query's values over all segments, from which rarity is computed, and the positions of its lists.
#[derive(Debug, Clone)]
pub struct ValueWeights {
    /// ln(1 + N/df) for each of the query's hashes, N columns in all; df is 1 for a value that no column contains.
    pub weights: Vec<f32>,
    /// The weights as integers, so that sums do not depend on the order.
    units: Vec<u64>,
    total_units: u64,
    /// For each segment, its lists with the position of their value among the query's hashes, rarest first.
    lists: Vec<Vec<(PostingList, u32)>>,
}

/// Fractional bits of a weight in units.
const UNIT_BITS: u32 = 20;
/// A tally holds a count in its low bits and a sum of units above: one addition per posting.
const COUNT_BITS: u32 = 20;
const MOST_COUNTED: usize = (1 << COUNT_BITS) - 1;
/// So that the greatest count of the greatest weights fits.
const GREATEST_UNITS: f64 = ((1u64 << (u64::BITS - 2 * COUNT_BITS)) - 1) as f64;

impl ValueWeights {
    /// Weights of `query`'s values over `segments`, pairs of an inverted list and a number of columns.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if an index file is damaged.
    pub fn of(query: &QueryValues, segments: &[(&Postings, usize)]) -> Result<Self> {
        Self::of_all(query, segments, Ok)
    }

    /// The same over more than these segments: `in_all` makes of their counts (columns, then those with each value) those of all.
    ///
    /// # Errors
    /// As [`of`](Self::of), and those of `in_all`.
    pub fn of_all(
        query: &QueryValues,
        segments: &[(&Postings, usize)],
        in_all: impl FnOnce(Vec<u64>) -> Result<Vec<u64>>,
    ) -> Result<Self> {
        let columns: usize = segments.iter().map(|(_, columns)| columns).sum();
        let hashes = &query.hashes[..query.hashes.len().min(MOST_COUNTED)];
        let mut counts = vec![0; 1 + hashes.len()];
        counts[0] = columns as u64;
        let mut lists: Vec<Vec<(PostingList, u32)>> = Vec::with_capacity(segments.len());
        for (postings, _) in segments {
            let mut found = Vec::new();
            for (place, hash) in hashes.iter().enumerate() {
                if let Some(list) = postings.find(*hash)? {
                    counts[1 + place] += list.count() as u64;
                    found.push((list, place as u32));
                }
            }
            found.sort_unstable_by_key(|(list, place)| (list.bytes(), *place));
            lists.push(found);
        }
        let counts = in_all(counts)?;
        let (columns, frequencies) = counts.split_first().map_or((0, &[][..]), |(columns, rest)| (*columns, rest));
        let weight = |frequency: &u64| (1.0 + columns as f64 / (*frequency).max(1) as f64).ln();
        let unit = |weight: &f32| (f64::from(*weight) * f64::from(1 << UNIT_BITS)).min(GREATEST_UNITS) as u64;
        let weights: Vec<f32> = frequencies.iter().map(|frequency| weight(frequency) as f32).collect();
        let units: Vec<u64> = weights.iter().map(unit).collect();
        Ok(Self { total_units: units.iter().sum(), units, weights, lists })
    }

    fn rarity(&self, units: u64) -> f64 {
        (units as f64 / self.total_units.max(1) as f64).min(1.0)
    }
}

/// Which of the columns found are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Every column found, whatever it shares.
    All,
    /// At least this many columns of greatest [`Overlap::closeness`].
    Best(usize),
}

/// The parts of a segment that are searched.
#[derive(Clone, Copy)]
pub struct SegmentParts<'a> {
    /// From value hashes to columns.
    pub postings: &'a Postings,
    /// Its columns.
    pub columns: &'a Columns,
    /// Which of its tables are live, by number, if some are not; columns of others are left out.
    pub live: Option<&'a (dyn Fn(u32) -> bool + Sync)>,
}

/// Columns of one segment that share values with `query`, with exact counts; unordered. If the lists are short, all such columns; otherwise
/// all that contain 30% or, if the lists exceed a megabyte, 50% of the query's values, limited to the `selection`.
///
/// `segment` is the position that the segment had when `weights` were computed; `propose` finds columns by other means and is called only
/// if the lists are too long. Counts of sampled columns are over the values stored for both.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] if an index file is damaged.
pub fn overlaps(
    query: &QueryValues,
    weights: &ValueWeights,
    segment: usize,
    parts: SegmentParts<'_>,
    selection: Selection,
    propose: impl FnOnce() -> Result<Vec<u32>>,
) -> Result<Vec<Overlap>> {
    overlaps_within(query, weights, segment, parts, selection, BUDGETS, propose)
}

/// As [`overlaps`], with other budgets than [`BUDGETS`].
fn overlaps_within(
    query: &QueryValues,
    weights: &ValueWeights,
    segment: usize,
    SegmentParts { postings, columns, live }: SegmentParts<'_>,
    selection: Selection,
    budgets: [usize; 3],
    propose: impl FnOnce() -> Result<Vec<u32>>,
) -> Result<Vec<Overlap>> {
    let lists = weights.lists.get(segment).map_or(&[][..], Vec::as_slice);
    let sizes: Vec<usize> = lists.iter().map(|(list, _)| list.bytes()).collect();
    let reading = Reading::plan(&sizes, query.hashes.len(), selection, budgets);
    let (read, mut rest) = lists.split_at(reading.lists);
    let mut tallies = tally(postings, columns.len(), read, &weights.units)?;
    if let Some(live) = live {
        let mut live_tallies = Vec::with_capacity(tallies.len());
        for (column, tally) in tallies {
            if live(columns.record(column)?.table) {
                live_tallies.push((column, tally));
            }
        }
        tallies = live_tallies;
    }
    let closeness_of = |tally: u64| {
        let (shared, units) = (tally & MOST_COUNTED as u64, tally >> COUNT_BITS);
        closeness(weights.rarity(units), ratio(shared, query.hashes.len() as u64))
    };
    if let Selection::Best(most) = selection
        && !rest.is_empty()
    {
        let left = rest.iter().map(|(_, place)| weights.units[*place as usize] << COUNT_BITS | 1).sum();
        keep_possible(&mut tallies, most, closeness_of(left), closeness_of);
    }
    let rest_bytes: usize = rest.iter().map(|(list, _)| list.bytes()).sum();
    let lookup_bytes = tallies.len() * (LOOKUP_BYTES + VALUE_LOOKUP_BYTES * rest.len());
    if rest_bytes < lookup_bytes && reading.bytes + rest_bytes <= budgets[2] {
        add_lists(&mut tallies, postings, columns.len(), rest, &weights.units)?;
        rest = &[];
    }
    if let Selection::Best(most) = selection
        && rest.is_empty()
    {
        keep_best(&mut tallies, most, closeness_of);
    }
    let mut unread: Vec<(u64, u64)> =
        rest.iter().map(|(_, place)| (query.hashes[*place as usize], weights.units[*place as usize])).collect();
    unread.sort_unstable();
    let mut overlaps = Vec::with_capacity(tallies.len());
    let mut push = |column, record, tally: u64| {
        let (shared, units) = (tally & MOST_COUNTED as u64, tally >> COUNT_BITS);
        if shared > 0 {
            overlaps.push(overlap(column, shared, weights.rarity(units), query, columns, record)?);
        }
        Ok(())
    };
    for (column, tally) in &tallies {
        let record = columns.record(*column)?;
        let rest = if unread.is_empty() { 0 } else { shared_values(&unread, &columns.hashes(record)?) };
        push(*column, record, tally + rest)?;
    }
    if !reading.sure {
        let values: Vec<(u64, u64)> = query.hashes.iter().copied().zip(weights.units.iter().copied()).collect();
        for column in propose()? {
            let known = tallies.binary_search_by_key(&column, |(known, _)| *known).is_ok();
            if known || column as usize >= columns.len() {
                continue;
            }
            let record = columns.record(column)?;
            if live.is_none_or(|live| live(record.table)) {
                push(column, record, shared_values(&values, &columns.hashes(record)?))?;
            }
        }
    }
    Ok(overlaps)
}

/// Whether a column whose values have inverted lists of `list_bytes` in all can share 30% of a query's values and still not be found when
/// [`MOST_BYTES`] of lists are read: only such columns need sketches.
///
/// Let the first unread list have L bytes. Together with the r lists read before it, of at most L bytes each, it exceeds the budget B, so
/// (r + 1)·L > B and |Q| > r. A column that was not found shares only values of unread lists, of at least L bytes each; if it has t·|Q| of
/// them, its lists have t·|Q|·L ≥ t·B bytes.
pub fn may_be_missed(list_bytes: u64) -> bool {
    is_missable(list_bytes, MOST_BYTES)
}

fn is_missable(list_bytes: u64, budget: usize) -> bool {
    list_bytes as f64 >= TARGET_CONTAINMENT * budget as f64
}

/// The number of lists, rarest first, that are read before any column is looked up.
struct Reading {
    lists: usize,
    bytes: usize,
    /// Whether they find every column that contains [`SURE_CONTAINMENT`] of the query.
    sure: bool,
}

impl Reading {
    /// For lists of `sizes` bytes, ascending, of a query with `query_values` values.
    fn plan(sizes: &[usize], query_values: usize, selection: Selection, [easy, moderate, most]: [usize; 3]) -> Self {
        // Fewer than t·|Q| lists may be left.
        let needed = |containment: f64| {
            let left = (containment * query_values as f64).ceil() as usize;
            (sizes.len() + 1).saturating_sub(left.max(1)).min(sizes.len())
        };
        let (sure, enough) = (needed(SURE_CONTAINMENT), needed(TARGET_CONTAINMENT));
        let mut reading = Self { lists: 0, bytes: 0, sure: false };
        for size in sizes {
            let budget = match reading.lists {
                read if read < sure || selection == Selection::All => most,
                read if read < enough => moderate,
                _ => easy,
            };
            if reading.bytes + size > budget {
                break;
            }
            reading.bytes += size;
            reading.lists += 1;
        }
        reading.sure = reading.lists >= sure;
        reading
    }
}

/// The tallies from `lists`: (column, count and weight as one number), ascending by column.
fn tally(postings: &Postings, columns: usize, lists: &[(PostingList, u32)], units: &[u64]) -> Result<Vec<(u32, u64)>> {
    Tallies::of(columns, |tallies| {
        lists.iter().try_for_each(|(list, place)| {
            let one = units[*place as usize] << COUNT_BITS | 1;
            tallies.add(postings, *list, |tally| *tally += one)
        })
    })
}

/// Adds the postings of `lists` to `tallies`, for columns that have a tally; ascending by column.
fn add_lists(
    tallies: &mut Vec<(u32, u64)>,
    postings: &Postings,
    columns: usize,
    lists: &[(PostingList, u32)],
    units: &[u64],
) -> Result<()> {
    if lists.is_empty() {
        return Ok(());
    }
    *tallies = Tallies::of(columns, |all| {
        all.meet(tallies);
        lists.iter().try_for_each(|(list, place)| {
            let one = units[*place as usize] << COUNT_BITS | 1;
            all.add_to_met(postings, *list, |tally| *tally += one)
        })
    })?;
    Ok(())
}

/// Removes the columns that cannot be among the `most` closest even if they share all of `left`, and limits the rest to a multiple of
/// `most`. Ascending by column before and after.
fn keep_possible(tallies: &mut Vec<(u32, u64)>, most: usize, left: f64, closeness_of: impl Fn(u64) -> f64) {
    if tallies.len() <= most {
        return;
    }
    let mut scores: Vec<f64> = tallies.iter().map(|(_, tally)| closeness_of(*tally)).collect();
    let least = *scores.select_nth_unstable_by(most.saturating_sub(1), |a, b| b.total_cmp(a)).1 - left;
    tallies.retain(|(_, tally)| closeness_of(*tally) >= least);
    keep_best(tallies, most * LOOKUPS_PER_RESULT, closeness_of);
}

/// Keeps the `most` closest, ties by column. Ascending by column before and after.
fn keep_best(tallies: &mut Vec<(u32, u64)>, most: usize, closeness_of: impl Fn(u64) -> f64) {
    if tallies.len() <= most || most == 0 {
        return tallies.truncate(most);
    }
    let scores: Vec<f64> = tallies.iter().map(|(_, tally)| closeness_of(*tally)).collect();
    let least = *scores.clone().select_nth_unstable_by(most - 1, |a, b| b.total_cmp(a)).1;
    let mut ties = most - scores.iter().filter(|score| **score > least).count();
    let mut scores = scores.into_iter();
    tallies.retain(|_| match scores.next() {
        Some(score) if score == least && ties > 0 => {
            ties -= 1;
            true
        }
        score => score > Some(least),
    });
}

fn closeness(rarity: f64, containment: f64) -> f64 {
    rarity + 0.5 * containment
}

fn overlap(
    column: u32,
    shared: u64,
    rarity: f64,
    query: &QueryValues,
    columns: &Columns,
    record: &ColumnRecord,
) -> Result<Overlap> {
    let bound = query.bound.min(record.bound);
    let candidate_values = if bound == u64::MAX {
        record.distinct
    } else {
        let hashes = columns.hashes(record)?;
        count_distinct(&hashes[..hashes.partition_point(|hash| *hash <= bound)])
    };
    Ok(Overlap {
        column,
        shared,
        query_values: query.up_to(bound) as u64,
        candidate_values: candidate_values.max(shared),
        rarity,
        exact: bound == u64::MAX,
    })
}

/// The overlap of `query` and one column, which need not have been found by its lists.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] if an index file is damaged.
pub fn overlap_with(query: &QueryValues, weights: &ValueWeights, columns: &Columns, column: u32) -> Result<Overlap> {
    let record = columns.record(column)?;
    let values: Vec<(u64, u64)> = query.hashes.iter().copied().zip(weights.units.iter().copied()).collect();
    let tally = shared_values(&values, &columns.hashes(record)?);
    let (shared, units) = (tally & MOST_COUNTED as u64, tally >> COUNT_BITS);
    overlap(column, shared, weights.rarity(units), query, columns, record)
}

/// The tally of the ascending `values` (pairs of a hash and its units) that are in the ascending `candidate`. Iterates over the values and
/// gallops in the candidate.
fn shared_values(values: &[(u64, u64)], candidate: &[u64]) -> u64 {
    let mut tally = 0;
    let mut rest = candidate;
    for (hash, units) in values {
        rest = &rest[gallop(rest, *hash)..];
        match rest.first() {
            Some(next) if next == hash => tally += units << COUNT_BITS | 1,
            Some(_) => {}
            None => break,
        }
    }
    tally
}

/// Number of the query's values that the candidate contains exactly as written.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn shared_as_written(query: &QueryValues, columns: &Columns, record: &ColumnRecord) -> Result<u64> {
    let hashes = columns.hashes(record)?;
    let variants = columns.variants(record)?;
    let mut shared = 0;
    let mut place = 0;
    for group in query.written.chunk_by(|a, b| a.0 == b.0) {
        let hash = group[0].0;
        place += gallop(&hashes[place..], hash);
        let same = hashes[place..].iter().take_while(|candidate| **candidate == hash).count();
        let written = &variants[place..(place + same).min(variants.len())];
        shared += u64::from(group.iter().any(|(_, variant)| written.contains(variant)));
    }
    Ok(shared)
}

#[cfg(test)]
mod tests;
