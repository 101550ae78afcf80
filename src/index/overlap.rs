//! Which columns share values with a query column, and how many: exact containment from inverted lists.
//!
//! The lists of the query's values are read rarest first. As long as their total length stays under a budget every list is
//! read and the counts are the exact overlaps. Beyond it the commonest values are left out of the search for candidates,
//! columns that share only such values are proposed by MinHash LSH, and every candidate's overlap is then counted on the
//! two sorted value lists, so what is reported is exact either way. (The idea of rare-first probing: Zhu et al., "JOSIE",
//! SIGMOD 2019.)

use super::columns::{ColumnRecord, Columns};
use super::postings::{PostingList, Postings};
use crate::error::Result;
use crate::sketch::ColumnSketch;

/// Bytes of inverted lists read for one query and one segment before the commonest values are left out.
const LIST_BUDGET_BYTES: usize = 4 << 20;

/// The values of a query column.
#[derive(Debug, Clone)]
pub struct QueryValues {
    /// Hashes of the normal forms, ascending, each once.
    pub hashes: Vec<u64>,
    /// (hash, low bits of the hash as written), ascending.
    written: Vec<(u64, u32)>,
    /// Values with a hash up to this are in `hashes`.
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

    /// Values at or below `bound`.
    fn up_to(&self, bound: u64) -> usize {
        self.hashes.partition_point(|hash| *hash <= bound)
    }
}

/// What a query column and a candidate share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// The candidate, as a number in its segment's column store.
    pub column: u32,
    /// Values in common, among those kept by both.
    pub shared: u64,
    /// Values of the query that were compared.
    pub query_values: u64,
    /// Values of the candidate that were compared.
    pub candidate_values: u64,
    /// Inverse-frequency weight of the shared values, as a share of the query's total weight, 0..=1.
    pub rarity: f64,
    /// Whether neither side had to sample its values.
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

    /// |Q ∩ X| / |Q ∪ X|, 0..=1.
    pub fn jaccard(&self) -> f64 {
        ratio(self.shared, self.query_values + self.candidate_values - self.shared)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// How often each of a query's values occurs over all segments: what rarity is computed from.
#[derive(Debug, Clone)]
pub struct ValueWeights {
    /// ln(1 + N/df) for each of the query's hashes, N columns in all; for a value that no column holds, df is 1.
    pub weights: Vec<f32>,
    total: f64,
}

impl ValueWeights {
    /// Weights of `query`'s values over `segments`, pairs of an inverted list and a number of columns.
    ///
    /// # Errors
    /// [`crate::Error::DamagedIndex`] where an index file is damaged.
    pub fn of(query: &QueryValues, segments: &[(&Postings, usize)]) -> Result<Self> {
        let columns: usize = segments.iter().map(|(_, columns)| columns).sum();
        let mut weights = Vec::with_capacity(query.hashes.len());
        for hash in &query.hashes {
            let mut frequency = 0;
            for (postings, _) in segments {
                if let Some(list) = postings.find(*hash)? {
                    // A long list is measured by its bytes: about one a column, and nobody needs it to the digit.
                    frequency += if list.bytes() > 4096 { list.bytes() } else { postings.count(list)? };
                }
            }
            weights.push((1.0 + columns as f32 / frequency.max(1) as f32).ln());
        }
        let total = weights.iter().map(|weight| f64::from(*weight)).sum();
        Ok(Self { weights, total })
    }
}

/// Every column of one segment that shares a value with `query`, with exact counts; unordered.
///
/// `proposals` are further columns to count, found by other means.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged.
pub fn overlaps(
    query: &QueryValues,
    weights: &ValueWeights,
    postings: &Postings,
    columns: &Columns,
    propose: impl FnOnce() -> Result<Vec<u32>>,
) -> Result<Vec<Overlap>> {
    let mut lists: Vec<(PostingList, f32)> = Vec::with_capacity(query.hashes.len());
    for (hash, weight) in query.hashes.iter().zip(&weights.weights) {
        if let Some(list) = postings.find(*hash)? {
            lists.push((list, *weight));
        }
    }
    lists.sort_unstable_by_key(|(list, _)| list.bytes());
    let mut counts: Vec<(u32, f32)> = vec![(0, 0.0); columns.len()];
    let mut touched: Vec<u32> = Vec::new();
    let mut read_bytes = 0;
    let mut complete = true;
    for (list, weight) in lists {
        read_bytes += list.bytes();
        if read_bytes > LIST_BUDGET_BYTES {
            complete = false;
            break;
        }
        postings.for_each(list, |column| {
            let Some(count) = counts.get_mut(column as usize) else { return };
            if count.0 == 0 {
                touched.push(column);
            }
            count.0 += 1;
            count.1 += weight;
        })?;
    }
    if !complete {
        for column in propose()? {
            if counts.get(column as usize).is_some_and(|count| count.0 == 0) {
                touched.push(column);
            }
        }
    }
    let mut overlaps = Vec::with_capacity(touched.len());
    for column in touched {
        let record = columns.record(column)?;
        let (shared, weight) = if complete {
            let (count, weight) = counts[column as usize];
            (u64::from(count), f64::from(weight))
        } else {
            shared_values(query, weights, columns.hashes(record)?)
        };
        if shared > 0 {
            overlaps.push(overlap(
                column,
                shared,
                (weight / weights.total.max(f64::MIN_POSITIVE)).min(1.0),
                query,
                columns,
                record,
            )?);
        }
    }
    Ok(overlaps)
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

fn count_distinct(sorted: &[u64]) -> u64 {
    sorted.chunk_by(|a, b| a == b).count() as u64
}

/// Values in both of two ascending lists, and their weight. Steps through the shorter list and gallops in the longer one.
fn shared_values(query: &QueryValues, weights: &ValueWeights, candidate: &[u64]) -> (u64, f64) {
    let (mut shared, mut weight) = (0, 0.0);
    let mut rest = candidate;
    for (hash, hash_weight) in query.hashes.iter().zip(&weights.weights) {
        rest = &rest[gallop(rest, *hash)..];
        match rest.first() {
            Some(next) if next == hash => {
                shared += 1;
                weight += f64::from(*hash_weight);
            }
            Some(_) => {}
            None => break,
        }
    }
    (shared, weight)
}

/// The first place in ascending `list` whose value is at least `wanted`.
fn gallop(list: &[u64], wanted: u64) -> usize {
    let mut step = 1;
    while step < list.len() && list[step] < wanted {
        step *= 2;
    }
    let (low, high) = (step / 2, (step + 1).min(list.len()));
    low + list[low..high].partition_point(|hash| *hash < wanted)
}

/// How many of the query's values the candidate holds exactly as written.
///
/// # Errors
/// [`crate::Error::DamagedIndex`] where an index file is damaged.
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
mod tests {
    use super::*;

    #[test]
    fn galloping_finds_the_first_not_smaller() {
        let list: Vec<u64> = (0..100).map(|i| i * 3).collect();
        for wanted in 0..320 {
            assert_eq!(gallop(&list, wanted), list.partition_point(|hash| *hash < wanted), "{wanted}");
        }
        assert_eq!(gallop(&[], 1), 0);
    }
}
