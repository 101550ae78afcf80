//! The context of two columns that may be joined: whether their tables have similar columns. It decides between candidates
//! that contain the same of the query's values. How many rows the tables have is no evidence: it tells how tables were cut.
//!
//! Whether other columns of the same name contain the same values was tried as well: it improved no judged set.

use hashbrown::HashMap;

use crate::lists_of_all::{Lists, ListsOfAll};
use crate::query_table::QueryTable;
use lakeward_core::error::Result;
use lakeward_core::text::is_placeholder;
use lakeward_index::Segment;
use lakeward_index::overlap::shared_hashes;
use lakeward_index::{ColumnRef, LakeIndex, TableRef, header_hashes};

/// Most column names of a table that are compared; a wider table is judged by its first columns.
const MOST_NAMES: usize = 512;
/// Most bytes of inverted lists of column names read to find similar tables.
const MOST_LIST_BYTES: usize = 32 << 10;
/// Most similar tables proposed.
const SIMILAR_TABLES: usize = 40;

/// What two tables have in common around a pair of columns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Context {
    /// Names of other columns that both tables have, divided by those that either has, 0..=1.
    pub names: f64,
}

impl Context {
    /// Upper bound: no pair of tables has more in common.
    pub const GREATEST: Self = Self { names: 1.0 };
}

/// Computes contexts; holds the query's column names and a cache of name hashes.
pub(super) struct Contexts<'a> {
    index: &'a LakeIndex,
    /// The hash of each column name of the query; `None` for a placeholder.
    own: Vec<Option<u64>>,
    known: HashMap<&'a str, Option<u64>>,
}

impl<'a> Contexts<'a> {
    pub fn of(index: &'a LakeIndex, query: &'a QueryTable) -> Self {
        let own = query.columns.iter().take(MOST_NAMES).map(|column| name_key(&column.profile.name)).collect();
        Self { index, own, known: HashMap::new() }
    }

    /// The context of the query's column `place` and `column`.
    pub fn around(&mut self, place: usize, column: ColumnRef) -> Result<Context> {
        let segment = self.index.segment(column.segment)?;
        let record = segment.columns.record(column.column)?;
        let theirs = self.names_of(segment, record.table, column.column)?;
        let own = self.own.iter().enumerate().filter(|(other, _)| *other != place);
        let own = in_order(own.filter_map(|(_, key)| *key).collect());
        let shared = shared_hashes(&own, &theirs);
        let all = own.len() + theirs.len() - shared;
        Ok(Context { names: if all == 0 { 0.0 } else { shared as f64 / all as f64 } })
    }

    /// The name hashes of `table`'s columns except `except`, ascending, each once.
    fn names_of(&mut self, segment: &'a Segment, table: u32, except: u32) -> Result<Vec<u64>> {
        let mut names = Vec::new();
        for column in segment.tables.columns(table)?.take(MOST_NAMES).filter(|column| *column != except) {
            let name = segment.columns.name(segment.columns.record(column)?)?;
            names.extend(*self.known.entry(name).or_insert_with(|| name_key(name)));
        }
        Ok(in_order(names))
    }

    /// Columns with the name of the query's column `place`, in the live tables that have most column names of the query, rare
    /// names counting more; at most [`SIMILAR_TABLES`]. Empty where too many columns have that name.
    pub fn same_named(&self, place: usize) -> Result<Vec<ColumnRef>> {
        let Some(name) = self.own.get(place).copied().flatten() else { return Ok(Vec::new()) };
        let keys = in_order(self.own.iter().filter_map(|key| *key).filter(|key| *key != name).collect());
        let keys: Vec<u64> = std::iter::once(name).chain(keys).collect();
        let label = format!("columns named as {place} and the others");
        let found = ListsOfAll::find(self.index, &label, &keys, |segment| &segment.join.headers)?;
        let (columns, mut lists) = (found.columns, found.lists);
        let same_named = lists.remove(0);
        let mut read_bytes = same_named.bytes;
        if read_bytes > MOST_LIST_BYTES {
            return Ok(Vec::new());
        }
        // Ascending, as the columns of a list are.
        let mut tables: Vec<(TableRef, (f64, ColumnRef))> = Vec::new();
        self.for_each(&same_named, |table, column| {
            if tables.last().is_none_or(|(last, _)| *last < table) {
                tables.push((table, (0.0, column)));
            }
        })?;
        lists.sort_by_key(|lists| lists.bytes);
        for list in lists {
            read_bytes = list.bytes.saturating_add(read_bytes);
            if read_bytes > MOST_LIST_BYTES {
                break;
            }
            let weight = (1.0 + columns as f64 / list.count.max(1) as f64).ln();
            let mut rest = &mut tables[..];
            self.for_each(&list, |table, _| {
                let before = rest.iter().take_while(|(other, _)| *other < table).count();
                rest = &mut std::mem::take(&mut rest)[before..];
                if let Some((_, (score, _))) = rest.first_mut().filter(|(other, _)| *other == table) {
                    *score += weight;
                }
            })?;
        }
        // Ties stay in the order of tables.
        tables.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
        tables.truncate(SIMILAR_TABLES);
        if self.index.exchange().is_some() {
            let own = tables.iter().map(|(table, (score, _))| (*score, *table)).collect();
            let of_all = self.index.best_of_all(&format!("tables with the name of {place}"), own, SIMILAR_TABLES)?;
            tables.retain(|(table, _)| of_all.iter().any(|(_, other)| *other == self.index.in_index(*table)));
        }
        Ok(tables.into_iter().map(|(_, (_, column))| column).collect())
    }

    /// Calls `each` with the columns of `lists` in live tables, ascending.
    fn for_each(&self, lists: &Lists, mut each: impl FnMut(TableRef, ColumnRef)) -> Result<()> {
        for (place, list) in &lists.lists {
            let segment = self.index.segment(*place)?;
            let mut columns = Vec::with_capacity(list.count().min(MOST_LIST_BYTES));
            segment.join.headers.for_each(*list, |column| columns.push(column))?;
            for column in columns {
                let table = segment.columns.record(column)?.table;
                if segment.is_live(table) {
                    each(TableRef { segment: *place, table }, ColumnRef { segment: *place, column });
                }
            }
        }
        Ok(())
    }
}

/// Ascending, each once.
fn in_order(mut keys: Vec<u64>) -> Vec<u64> {
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Equal for names of the same words; `None` for a placeholder.
fn name_key(name: &str) -> Option<u64> {
    if is_placeholder(name) { None } else { header_hashes(name).next() }
}
