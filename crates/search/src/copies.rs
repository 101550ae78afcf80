//! Copies and editions of a table: tables with the same columns of which one's rows are in the other.
//!
//! Names of columns and the smallest value hashes, which the index has, leave few pairs; only reading both files decides, row by row.
//! Tables with the same headers and other rows, such as files of one year each, are no copies. Too large tables are copies only where
//! their contents are the same.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::new_rows::RowHashes;
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_index::catalog::by_name;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_lake::dataset::TableEntry;

/// Value hashes of a column that are compared before files are read.
const PROBED: usize = 64;
/// Share of them that both have at least, in each column; and of the fewer that the catalogue has.
const LEAST_VALUES: f64 = 0.45;
const LEAST_PROBED_VALUES: f64 = 0.3;
/// Share of the smaller table's rows in the greater one: a copy; and where the names differ by numbers alone, an edition.
const COPY: f64 = 0.9;
const EDITION: f64 = 0.5;
/// Fewer different rows say nothing, nor do rows that repeat more than this.
const LEAST_ROWS: usize = 5;
const LEAST_DIFFERENT: f64 = 0.5;
/// Tables with the same columns that are compared with each other; of more the first by id.
const MOST_ALIKE: usize = 2_000;
/// Outcomes of comparing two files that are kept.
const KEPT: usize = 16_384;

/// A table with its copies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopyGroup {
    /// The table that is taken for the current one.
    pub current: String,
    /// Its rows.
    pub rows: u64,
    /// Its copies and earlier editions.
    pub copies: Vec<TableCopy>,
}

/// A copy or edition of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct TableCopy {
    /// Its id.
    pub table: String,
    /// Its rows.
    pub rows: u64,
    /// Share of the smaller table's rows that the other one has, 0..=1.
    pub shared: f64,
    /// Whether the contents are the same, byte by byte.
    pub same_content: bool,
    /// What it is, and why the other one is the current one.
    pub reason: String,
}

/// The groups of copies of a lake, or that of one table, in order of ids.
///
/// `lake`: its folder. A table that cannot be read is compared by its content alone.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`].
pub fn groups(index: &LakeIndex, lake: &Path, of: Option<TableRef>) -> Result<Vec<CopyGroup>> {
    let header = |table: TableRef| index.segment(table.segment)?.catalog.header(table.table);
    let mut alike: HashMap<u64, Vec<TableRef>> = HashMap::new();
    for table in index.tables() {
        if let Some(header) = header(table)? {
            alike.entry(header).or_default().push(table);
        }
    }
    let wanted = of.map(header).transpose()?;
    let mut found = Vec::new();
    for (header, tables) in alike {
        if tables.len() < 2 || wanted.is_some_and(|wanted| wanted != Some(header)) {
            continue;
        }
        let mut members = Vec::with_capacity(tables.len().min(MOST_ALIKE));
        for table in tables.into_iter().take(MOST_ALIKE) {
            members.push(Member::of(index, table)?);
        }
        members.sort_by(|a, b| a.newer(b).0.reverse().then_with(|| a.entry.id.cmp(&b.entry.id)));
        let mut groups: Vec<(Member, Vec<TableCopy>, bool)> = Vec::new();
        for member in members {
            let is_wanted = of.is_none_or(|of| of == member.table);
            let mut joined = false;
            for (current, copies, wanted) in &mut groups {
                if let Some(shared) = shared(index, lake, current, &member)? {
                    copies.push(member.copy_of(current, shared));
                    *wanted |= is_wanted;
                    joined = true;
                    break;
                }
            }
            if !joined {
                groups.push((member, Vec::new(), is_wanted));
            }
        }
        let whole = groups.into_iter().filter(|(_, copies, wanted)| *wanted && !copies.is_empty());
        found.extend(whole.map(|(current, copies, _)| CopyGroup {
            current: current.entry.id.to_string(),
            rows: current.entry.profile.rows,
            copies,
        }));
    }
    found.sort_by(|a, b| a.current.cmp(&b.current));
    Ok(found)
}

/// Of ranked `tables`, the places of those that are copies of an earlier one, with its place.
///
/// # Errors
/// As [`groups`].
pub(super) fn of_earlier(index: &LakeIndex, lake: &Path, tables: &[TableRef]) -> Result<Vec<(usize, usize)>> {
    let mut headers: Vec<Option<u64>> = Vec::with_capacity(tables.len());
    let mut members: HashMap<usize, Member> = HashMap::new();
    let mut copies: Vec<(usize, usize)> = Vec::new();
    for (place, table) in tables.iter().enumerate() {
        headers.push(index.segment(table.segment)?.catalog.header(table.table)?);
        for first in 0..place {
            if headers[place].is_none() || headers[first] != headers[place] || copies.iter().any(|copy| copy.0 == first)
            {
                continue;
            }
            for of in [first, place] {
                if !members.contains_key(&of) {
                    members.insert(of, Member::of(index, tables[of])?);
                }
            }
            if shared(index, lake, &members[&first], &members[&place])?.is_some() {
                copies.push((place, first));
                break;
            }
        }
    }
    Ok(copies)
}

/// A table that may be a copy.
struct Member {
    table: TableRef,
    entry: std::sync::Arc<TableEntry>,
    /// Its columns in the order of their names, by number in the segment and place in the table.
    columns: Vec<(u32, usize)>,
    modified_ns: u64,
}

impl Member {
    fn of(index: &LakeIndex, table: TableRef) -> Result<Self> {
        let (segment, entry) = (index.segment(table.segment)?, index.table(table)?);
        let first = segment.catalog.columns(table.table)?.start;
        let columns = by_name(&entry.profile.columns).into_iter().map(|place| (first + place as u32, place)).collect();
        let modified_ns = segment.catalog.stamp(table.table)?.modified_ns;
        Ok(Self { table, entry, columns, modified_ns })
    }

    /// Which of two tables with shared rows is newer, and by what.
    fn newer(&self, other: &Self) -> (Ordering, &'static str) {
        let last = |member: &Self| member.entry.profile.time.as_ref().map(|time| time.to.clone());
        let rows = |member: &Self| member.entry.profile.rows;
        let version = |member: &Self| -> Vec<u64> {
            let words = name_words(member.entry.id.as_str().rsplit('/').next().unwrap_or_default());
            words.iter().filter_map(|word| word.parse().ok()).collect()
        };
        let orders = [
            (last(self).cmp(&last(other)), "its last date is later"),
            (rows(self).cmp(&rows(other)), "it has more rows"),
            (version(self).cmp(&version(other)), "its name has the later date or version"),
            (self.modified_ns.cmp(&other.modified_ns), "its file is newer"),
        ];
        orders.into_iter().find(|(order, _)| order.is_ne()).unwrap_or((Ordering::Equal, "it is the first by name"))
    }

    fn copy_of(&self, current: &Self, shared: f64) -> TableCopy {
        let rows = self.entry.profile.rows;
        let same_content = self.entry.content == current.entry.content;
        let what = match () {
            () if same_content => "the same content".to_string(),
            () if shared >= 1.0 && rows == current.entry.profile.rows => "the same rows".to_string(),
            () if shared >= 1.0 => "all its rows are in the current one".to_string(),
            () => format!("{:.0}% of the smaller one's rows are in both", 100.0 * shared),
        };
        let reason = format!("{what}; `{}` is the current one: {}", current.entry.id, current.newer(self).1);
        TableCopy { table: self.entry.id.to_string(), rows, shared, same_content, reason }
    }

    /// The words of its path without numbers.
    fn unnumbered(&self) -> Vec<String> {
        let mut words = name_words(self.entry.id.as_str());
        words.retain(|word| word.chars().any(char::is_alphabetic) && word != "v");
        words
    }
}

/// The share of the smaller table's rows that the other one has, where they are copies or editions of each other.
fn shared(index: &LakeIndex, lake: &Path, a: &Member, b: &Member) -> Result<Option<f64>> {
    if a.entry.content == b.entry.content {
        return Ok(Some(1.0));
    }
    let (small, large) = if a.entry.profile.rows <= b.entry.profile.rows { (a, b) } else { (b, a) };
    if !may_share(index, small, large)? {
        return Ok(None);
    }
    let share = kept(small, large, || rows_in_both(lake, small, large));
    let editions = small.unnumbered() == large.unnumbered();
    Ok(share.filter(|share| *share >= if editions { EDITION } else { COPY }))
}

/// Whether enough values of each column of `small` are in `large`.
fn may_share(index: &LakeIndex, small: &Member, large: &Member) -> Result<bool> {
    let (of_small, of_large) = (index.segment(small.table.segment)?, index.segment(large.table.segment)?);
    let (table, other) = (small.table.table, large.table.table);
    if let Some(may_share) = of_small.catalog.may_share(table, &of_large.catalog, other, LEAST_PROBED_VALUES)? {
        return Ok(may_share);
    }
    for ((own, _), (other, _)) in small.columns.iter().zip(&large.columns) {
        let (own, other) = (of_small.columns.record(*own)?, of_large.columns.record(*other)?);
        let theirs = of_large.columns.hashes(other)?;
        let bound = own.bound.min(other.bound);
        let ours = of_small.columns.hashes(own)?;
        let values = ours.iter().take_while(|hash| **hash <= bound).take(PROBED);
        let (mut probed, mut found) = (0, 0);
        for hash in values {
            probed += 1;
            found += usize::from(theirs.binary_search(hash).is_ok());
        }
        if (found as f64) < LEAST_VALUES * f64::from(probed) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The outcome of `compare`, which is kept by the contents of both files.
fn kept(small: &Member, large: &Member, compare: impl FnOnce() -> Option<f64>) -> Option<f64> {
    static OUTCOMES: LazyLock<Mutex<HashMap<[String; 2], Option<f64>>>> = LazyLock::new(Mutex::default);
    let key = [small, large].map(|member| member.entry.content.to_string());
    // A thread that panicked while holding the lock left the map in a valid state.
    let outcomes = || OUTCOMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = outcomes().get(&key) {
        return *known;
    }
    let outcome = compare();
    let mut outcomes = outcomes();
    if outcomes.len() >= KEPT {
        outcomes.clear();
    }
    outcomes.insert(key, outcome);
    outcome
}

/// The share of the rows of `small` that `large` has; nothing where a file is too large or cannot be read, or its rows say too little.
fn rows_in_both(lake: &Path, small: &Member, large: &Member) -> Option<f64> {
    let file = |member: &Member| member.entry.file(lake).ok();
    let (small_path, large_path) = (file(small)?, file(large)?);
    let aligned = |from: &Member, to: &Member| -> Vec<(usize, usize)> {
        from.columns.iter().zip(&to.columns).map(|((_, from), (_, to))| (*from, *to)).collect()
    };
    let own = RowHashes::read(&small_path, &small.entry.profile.columns).ok()?;
    let different = own.different_rows(&aligned(small, small));
    if different < LEAST_ROWS || (different as f64) < LEAST_DIFFERENT * small.entry.profile.rows as f64 {
        return None;
    }
    let theirs = RowHashes::read(&large_path, &large.entry.profile.columns).ok()?;
    let new = theirs.new_rows(&small_path, &small.entry.profile.columns, &aligned(large, small)).ok()?;
    (new.complete && new.compared > 0).then(|| 1.0 - new.new as f64 / new.compared as f64)
}
