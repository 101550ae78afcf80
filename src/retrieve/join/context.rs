//! What surrounds two columns that may be joined: whether their tables are of the same make, hold the same values in other
//! columns, and are as long as each other. It decides between candidates that hold the same of the query's values.

use std::collections::HashMap;

use crate::error::Result;
use crate::index::open::Segment;
use crate::index::{ColumnRef, LakeIndex, TableRef, header_hashes};
use crate::retrieve::likeness::is_placeholder;
use crate::retrieve::query_table::QueryTable;

/// Values of two columns compared, those with the smallest hashes of both together: a bottom-k sketch, whose Jaccard is an
/// estimate with an error of about 1/√k and exact where both have fewer.
const COMPARED_VALUES: usize = 256;
/// Names of a table that are compared; a wider one is of this make or another by its first columns.
const MOST_NAMES: usize = 512;
/// Bytes of inverted lists of column names read in search of tables of the same make.
const MOST_LIST_BYTES: usize = 128 << 10;
/// Tables of the same make proposed.
const ALIKE_TABLES: usize = 40;

/// What two tables have in common around a pair of columns; all 0..=1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Context {
    /// Names of other columns that both have, over those that either has.
    pub names: f64,
    /// Mean Jaccard of the values of those columns.
    pub values: f64,
    /// Rows of the smaller table per row of the larger.
    pub rows: f64,
}

impl Context {
    /// No pair of tables has more in common.
    pub const GREATEST: Self = Self { names: 1.0, values: 1.0, rows: 1.0 };
}

/// The query's column names, and names seen before.
pub(super) struct Contexts<'a> {
    index: &'a LakeIndex,
    query: &'a QueryTable,
    /// The name of each column of the query as a hash; nothing where it says nothing.
    own: Vec<Option<u64>>,
    known: HashMap<&'a str, Option<u64>>,
}

impl<'a> Contexts<'a> {
    pub fn of(index: &'a LakeIndex, query: &'a QueryTable) -> Self {
        let own = query.columns.iter().take(MOST_NAMES).map(|column| name_key(&column.profile.name)).collect();
        Self { index, query, own, known: HashMap::new() }
    }

    /// What surrounds the query's column `place` and `column`.
    pub fn around(&mut self, place: usize, column: ColumnRef) -> Result<Context> {
        let segment = self.index.segment(column.segment)?;
        let record = segment.columns.record(column.column)?;
        let (rows, other_rows) = (self.query.entry.profile.rows, record.rows);
        let longer = rows.max(other_rows).max(1);
        let rows = rows.min(other_rows) as f64 / longer as f64;
        let theirs = self.names_of(segment, record.table, column.column)?;
        let own: HashMap<u64, usize> = self
            .own
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place)
            .filter_map(|(other, key)| Some(((*key)?, other)))
            .collect();
        let (mut shared, mut likeness) = (0usize, 0.0);
        for (key, theirs) in &theirs {
            let Some(own) = own.get(key) else { continue };
            shared += 1;
            let hashes = segment.columns.hashes(segment.columns.record(*theirs)?)?;
            likeness += jaccard(&self.query.columns[*own].values.hashes, hashes);
        }
        let all = own.len() + theirs.len() - shared;
        let mean = |sum: f64, count: usize| if count == 0 { 0.0 } else { sum / count as f64 };
        Ok(Context { names: mean(shared as f64, all), values: mean(likeness, shared), rows })
    }

    /// The names of table `table`'s columns but `but`, each with one column called so.
    fn names_of(&mut self, segment: &'a Segment, table: u32, but: u32) -> Result<HashMap<u64, u32>> {
        let mut names = HashMap::new();
        for column in segment.catalog.columns(table)?.take(MOST_NAMES) {
            let name = segment.columns.name(segment.columns.record(column)?)?;
            let key = *self.known.entry(name).or_insert_with(|| name_key(name));
            if let Some(key) = key.filter(|_| column != but) {
                names.entry(key).or_insert(column);
            }
        }
        Ok(names)
    }

    /// Columns called like the query's column `place`, in the live tables that have most column names of the query, rare
    /// names counting more; at most [`ALIKE_TABLES`].
    pub fn called_the_same(&self, place: usize) -> Result<Vec<ColumnRef>> {
        let Some(wanted) = self.own.get(place).copied().flatten() else { return Ok(Vec::new()) };
        let mut keys: Vec<u64> = self.own.iter().filter_map(|key| *key).filter(|key| *key != wanted).collect();
        keys.sort_unstable();
        keys.dedup();
        let segments = self.index.segments();
        let columns: usize = segments.iter().map(|segment| segment.columns.len()).sum();
        let mut lists = Vec::with_capacity(keys.len());
        for key in keys {
            let found: Vec<_> = segments.iter().map(|segment| segment.headers.find(key)).collect::<Result<_>>()?;
            let bytes: usize = found.iter().flatten().map(|list| list.bytes()).sum();
            let count: usize = found.iter().flatten().map(|list| list.count()).sum();
            lists.push((bytes, (1.0 + columns as f64 / count.max(1) as f64).ln(), found));
        }
        lists.sort_by_key(|(bytes, ..)| *bytes);
        let mut scores: HashMap<TableRef, f64> = HashMap::new();
        let mut read_bytes = 0;
        for (bytes, weight, found) in lists {
            read_bytes += bytes;
            if read_bytes > MOST_LIST_BYTES {
                break;
            }
            for ((place, segment), list) in (0u32..).zip(segments).zip(found) {
                let Some(list) = list else { continue };
                let mut ids = Vec::with_capacity(list.count());
                segment.headers.for_each(list, |column| ids.push(column))?;
                for column in ids {
                    let table = segment.columns.record(column)?.table;
                    *scores.entry(TableRef { segment: place, table }).or_default() += weight;
                }
            }
        }
        let mut scores: Vec<(TableRef, f64)> = scores.into_iter().collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut called = Vec::new();
        for (table, _) in scores {
            let segment = self.index.segment(table.segment)?;
            if called.len() == ALIKE_TABLES {
                break;
            }
            if !segment.is_live(table.table) {
                continue;
            }
            for column in segment.catalog.columns(table.table)?.take(MOST_NAMES) {
                if name_key(segment.columns.name(segment.columns.record(column)?)?) == Some(wanted) {
                    called.push(ColumnRef { segment: table.segment, column });
                    break;
                }
            }
        }
        Ok(called)
    }
}

/// Equal for names of the same words; nothing for a name that says nothing.
fn name_key(name: &str) -> Option<u64> {
    if is_placeholder(name) { None } else { header_hashes(name).next() }
}

/// Jaccard of two ascending lists of hashes, of the first [`COMPARED_VALUES`] different ones of both.
fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let (mut shared, mut all) = (0usize, 0usize);
    while all < COMPARED_VALUES {
        let Some(next) = a.peek().into_iter().chain(b.peek()).min().copied() else { break };
        let mut held = [false, false];
        while a.next_if_eq(&next).is_some() {
            held[0] = true;
        }
        while b.next_if_eq(&next).is_some() {
            held[1] = true;
        }
        all += 1;
        shared += usize::from(held == [true, true]);
    }
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_of_values_counts_each_once() {
        assert_eq!(jaccard(&[], &[]), 0.0);
        assert_eq!(jaccard(&[1, 2, 3], &[2, 2, 3, 4]), 0.5);
        let (all, even): (Vec<u64>, Vec<u64>) = ((1..5000).collect(), (1..5000).filter(|hash| hash % 2 == 0).collect());
        assert!((jaccard(&all, &even) - 0.5).abs() < 0.01);
    }
}
