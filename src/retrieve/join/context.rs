//! What surrounds two columns that may be joined: whether their tables are of the same make and as long as each other. It
//! decides between candidates that hold the same of the query's values.
//!
//! Whether other columns of the same name hold the same values was tried as well: it helped no judged set.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::index::open::Segment;
use crate::index::{ColumnRef, LakeIndex, TableRef, header_hashes};
use crate::retrieve::likeness::is_placeholder;
use crate::retrieve::query_table::QueryTable;

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
    /// Rows of the smaller table per row of the larger.
    pub rows: f64,
}

impl Context {
    /// No pair of tables has more in common.
    pub const GREATEST: Self = Self { names: 1.0, rows: 1.0 };
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
        let others = self.own.iter().enumerate().filter(|(other, _)| *other != place);
        let own: HashSet<u64> = others.filter_map(|(_, key)| *key).collect();
        let shared = theirs.intersection(&own).count();
        let all = own.len() + theirs.len() - shared;
        Ok(Context { names: if all == 0 { 0.0 } else { shared as f64 / all as f64 }, rows })
    }

    /// The names of table `table`'s columns but `but`.
    fn names_of(&mut self, segment: &'a Segment, table: u32, but: u32) -> Result<HashSet<u64>> {
        let mut names = HashSet::new();
        for column in segment.catalog.columns(table)?.take(MOST_NAMES).filter(|column| *column != but) {
            let name = segment.columns.name(segment.columns.record(column)?)?;
            names.extend(*self.known.entry(name).or_insert_with(|| name_key(name)));
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
