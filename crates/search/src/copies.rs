//! Copies and editions of a table: tables with the same columns of which one's rows are in the other.
//!
//! Names of columns and the smallest value hashes, which the index has, leave few pairs; only reading both files decides, row by row.
//! Tables with the same headers and other rows, such as files of one year each, are no copies. Too large tables are copies only where
//! their contents are the same; those that a search finds sooner than those that are asked for.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::new_rows::{self, RowHashes};
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_index::table_store::{by_name, may_share};
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
/// Cells of a table that are compared where copies are asked for.
const MOST_CELLS: u64 = 16_000_000;
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
    let header = |table: TableRef| index.segment(table.segment)?.tables.header(table.table);
    let mut alike: HashMap<u64, Vec<TableRef>> = HashMap::new();
    for table in index.tables() {
        if let Some(header) = header(table)? {
            alike.entry(header).or_default().push(table);
        }
    }
    let only_header = of.map(header).transpose()?;
    let mut found = Vec::new();
    for (header, tables) in alike {
        if tables.len() < 2 || only_header.is_some_and(|only_header| only_header != Some(header)) {
            continue;
        }
        let mut members = Vec::with_capacity(tables.len().min(MOST_ALIKE));
        for table in tables.into_iter().take(MOST_ALIKE) {
            members.push(Member::of(index, table)?);
        }
        Member::number_times(members.iter_mut().collect());
        members.sort_by(|a, b| a.newer(b).0.reverse().then_with(|| a.entry.id.cmp(&b.entry.id)));
        let mut groups: Vec<(Member, Vec<TableCopy>, bool)> = Vec::new();
        for member in members {
            let is_requested = of.is_none_or(|of| of == member.place);
            let mut joined = false;
            for (current, copies, requested) in &mut groups {
                if let Some(shared) = shared(index, lake, (current, &member), most_rows(current))? {
                    copies.push(member.copy_of(current, shared));
                    *requested |= is_requested;
                    joined = true;
                    break;
                }
            }
            if !joined {
                groups.push((member, Vec::new(), is_requested));
            }
        }
        let whole = groups.into_iter().filter(|(_, copies, requested)| *requested && !copies.is_empty());
        found.extend(whole.map(|(current, copies, _)| CopyGroup {
            current: current.entry.id.to_string(),
            rows: current.entry.profile.rows,
            copies,
        }));
    }
    found.sort_by(|a, b| a.current.cmp(&b.current));
    Ok(found)
}

/// Tables of a ranking that are copies or editions of each other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Together {
    /// Their places in the ranking with their ids, the best first.
    pub tables: Vec<(usize, String)>,
    /// Which of them is the current one, and why.
    pub current: usize,
    pub reason: String,
}

impl Together {
    /// Whether another shard can have told it of a ranking of so many tables.
    fn is_possible(&self, ranked: usize) -> bool {
        self.tables.is_sorted_by(|a, b| a.0 < b.0)
            && self.tables.len() > 1
            && self.tables.iter().all(|(place, _)| *place < ranked)
            && self.current < self.tables.len()
    }
}

/// Of ranked `tables`, by their places in the whole index and their headers, those that are copies of each other. `label` tells them from others of
/// the same search.
///
/// # Errors
/// As [`groups`], and those of [`LakeIndex::gather`].
pub(super) fn of_ranked(
    index: &LakeIndex,
    lake: &Path,
    label: &str,
    tables: &[(TableRef, Option<u64>)],
) -> Result<Vec<Together>> {
    let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, (_, header)) in tables.iter().enumerate() {
        if let Some(header) = header {
            alike.entry(*header).or_default().push(place);
        }
    }
    alike.retain(|_, places| places.len() > 1);
    if alike.is_empty() {
        return Ok(Vec::new());
    }
    let own = || {
        let mut own = Vec::new();
        for place in alike.values().flatten() {
            if let Some(table) = index.of_shard(tables[*place].0) {
                own.push((*place, Member::of(index, table)?));
            }
        }
        Ok(own)
    };
    let members = index.gather(&format!("tables alike for {label}"), own, |all: &Vec<(usize, Member)>| {
        all.iter().all(|(_, member)| member.is_possible())
    })?;
    let mut members: HashMap<usize, Member> = members.into_iter().flatten().collect();
    if index.exchange().is_some() {
        receive_values(index, label, tables, &alike, &mut members)?;
    }
    let own = || {
        // The files are read by one shard.
        if index.exchange().is_some_and(|exchange| !exchange.is_first()) {
            return Ok(Vec::new());
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for place in 0..tables.len() {
            let Some(member) = members.get(&place) else { continue };
            let mut joined = false;
            for group in &mut groups {
                let (first, header) = (&members[&group[0]], tables[group[0]].1);
                let is_alike = header == tables[place].1;
                if is_alike && shared(index, lake, (first, member), new_rows::MOST_ROWS)?.is_some() {
                    group.push(place);
                    joined = true;
                    break;
                }
            }
            if !joined {
                groups.push(vec![place]);
            }
        }
        groups.retain(|group| group.len() > 1);
        Ok(groups.into_iter().map(|group| Member::together(&mut members, &group)).collect())
    };
    let is_possible = |groups: &Vec<Together>| groups.iter().all(|group| group.is_possible(tables.len()));
    Ok(index.gather(&format!("copies for {label}"), own, is_possible)?.concat())
}

/// Fetches the values of those members that their probes alone do not tell apart.
fn receive_values(
    index: &LakeIndex,
    label: &str,
    tables: &[(TableRef, Option<u64>)],
    alike: &HashMap<u64, Vec<usize>>,
    members: &mut HashMap<usize, Member>,
) -> Result<()> {
    let is_open = |one: &usize, other: &usize| {
        let both = members.get(one).zip(members.get(other)).filter(|_| one != other);
        both.is_some_and(|(one, other)| one.may_share(other).is_none() || other.may_share(one).is_none())
    };
    let open = alike.values().filter(|alike| alike.iter().any(|one| alike.iter().any(|other| is_open(one, other))));
    let places: Vec<usize> = open.flatten().copied().collect();
    if places.is_empty() {
        return Ok(());
    }
    let own = || {
        let mut own: Vec<(usize, Vec<ColumnValues>)> = Vec::new();
        for place in &places {
            if let (Some(_), Some(member)) = (index.of_shard(tables[*place].0), members.get(place)) {
                let of_columns = (0..member.columns.len()).map(|at| member.values(index, at).map(ColumnValues::of));
                own.push((*place, of_columns.collect::<Result<_>>()?));
            }
        }
        Ok(own)
    };
    let received = index.gather(&format!("values of tables alike for {label}"), own, |_| true)?;
    for (place, values) in received.into_iter().flatten() {
        if let Some(member) = members.get_mut(&place).filter(|member| member.columns.len() == values.len()) {
            member.received = Some(values);
        }
    }
    Ok(())
}

/// The values of a column that another shard told.
#[derive(Clone, Serialize, Deserialize)]
struct ColumnValues {
    bound: u64,
    hashes: Vec<u64>,
}

impl ColumnValues {
    fn of((bound, hashes): (u64, Cow<'_, [u64]>)) -> Self {
        Self { bound, hashes: hashes.into_owned() }
    }
}

/// A table that may be a copy.
#[derive(Serialize, Deserialize)]
struct Member {
    /// Its place in the whole index.
    place: TableRef,
    entry: TableEntry,
    /// The places of its columns in the order of their names.
    columns: Vec<usize>,
    modified_ns: u64,
    /// The number of the time at which it was written among those of the tables it is compared with.
    #[serde(skip)]
    written: usize,
    /// A few values of its columns.
    probes: Vec<u16>,
    /// Of a table in an exchange the values of its columns, where the probes do not tell it apart.
    #[serde(skip)]
    received: Option<Vec<ColumnValues>>,
}

impl Member {
    fn of(index: &LakeIndex, table: TableRef) -> Result<Self> {
        let (store, entry) = (&index.segment(table.segment)?.tables, index.table(table)?);
        Ok(Self {
            place: index.in_index(table),
            columns: by_name(&entry.profile.columns),
            entry: TableEntry::clone(&*entry),
            modified_ns: store.stamp(table.table)?.modified_ns,
            written: 0,
            probes: store.probes(table.table)?.to_vec(),
            received: None,
        })
    }

    /// Whether another shard can have told it.
    fn is_possible(&self) -> bool {
        let columns = self.entry.profile.columns.len();
        self.columns.len() == columns && self.columns.iter().all(|column| *column < columns)
    }

    /// Whether enough values of each column may be in `large`, as far as the probes of both say.
    fn may_share(&self, large: &Self) -> Option<bool> {
        may_share(&self.probes, &large.probes, self.columns.len(), LEAST_PROBED_VALUES)
    }

    /// The values of its column at this place in the order of names: the greatest hash up to which all are known, and the hashes.
    fn values<'a>(&'a self, index: &'a LakeIndex, at: usize) -> Result<(u64, Cow<'a, [u64]>)> {
        if let Some(ColumnValues { bound, hashes }) = self.received.as_ref().and_then(|received| received.get(at)) {
            return Ok((*bound, hashes.into()));
        }
        let Some(table) = index.of_shard(self.place) else { return Ok((0, Cow::default())) };
        let segment = index.segment(table.segment)?;
        let first = segment.tables.columns(table.table)?.start;
        let record = segment.columns.record(first.saturating_add(self.columns[at] as u32))?;
        Ok((record.bound, segment.columns.hashes(record)?))
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
            (self.written.cmp(&other.written), "its file is newer"),
        ];
        orders.into_iter().find(|(order, _)| order.is_ne()).unwrap_or((Ordering::Equal, "it is the first by name"))
    }

    /// Numbers the times at which files were written. Those less than an hour apart are one: they were copied, unpacked or checked out together.
    fn number_times(mut members: Vec<&mut Self>) {
        const APART_NS: u64 = 3_600_000_000_000;
        members.sort_by_key(|member| member.modified_ns);
        let (mut last, mut time) = (0, 0);
        for member in members {
            time += usize::from(member.modified_ns.saturating_sub(last) > APART_NS);
            last = member.modified_ns;
            member.written = time;
        }
    }

    /// Members at these places of a ranking, of which one is the newest.
    fn together(members: &mut HashMap<usize, Self>, places: &[usize]) -> Together {
        Self::number_times(
            members.iter_mut().filter(|(at, _)| places.contains(at)).map(|(_, member)| member).collect(),
        );
        let newer = |at: usize, other: usize| members[&places[at]].newer(&members[&places[other]]);
        let newest = |best: usize, at: usize| if newer(at, best).0.is_gt() { at } else { best };
        let current = (1..places.len()).fold(0, newest);
        let tables = places.iter().map(|place| (*place, members[place].entry.id.to_string())).collect();
        let (order, reason) = newer(current, usize::from(current == 0));
        let reason = if order.is_gt() { reason.to_string() } else { String::new() };
        Together { tables, current, reason }
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

/// Rows of each table that are compared where the copies of one are asked for.
fn most_rows(member: &Member) -> u64 {
    (MOST_CELLS / member.columns.len().max(1) as u64).max(new_rows::MOST_ROWS)
}

/// The share of the smaller table's rows that the other one has, where they are copies or editions of each other.
fn shared(index: &LakeIndex, lake: &Path, (a, b): (&Member, &Member), most_rows: u64) -> Result<Option<f64>> {
    if a.entry.content == b.entry.content {
        return Ok(Some(1.0));
    }
    let (small, large) = if a.entry.profile.rows <= b.entry.profile.rows { (a, b) } else { (b, a) };
    if !have_values_in_common(index, small, large)? {
        return Ok(None);
    }
    let share = kept((small, large), most_rows, || rows_in_both(lake, (small, large), most_rows));
    let editions = small.unnumbered() == large.unnumbered();
    Ok(share.filter(|share| *share >= if editions { EDITION } else { COPY }))
}

/// Whether enough values of each column of `small` are in `large`.
fn have_values_in_common(index: &LakeIndex, small: &Member, large: &Member) -> Result<bool> {
    if let Some(may_share) = small.may_share(large) {
        return Ok(may_share);
    }
    for at in 0..small.columns.len().min(large.columns.len()) {
        let ((own_bound, ours), (bound, theirs)) = (small.values(index, at)?, large.values(index, at)?);
        let values = ours.iter().take_while(|hash| **hash <= own_bound.min(bound)).take(PROBED);
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
fn kept((small, large): (&Member, &Member), most_rows: u64, compare: impl FnOnce() -> Option<f64>) -> Option<f64> {
    /// Shares by the contents of both and the rows that were compared.
    type Outcomes = HashMap<([String; 2], u64), Option<f64>>;
    static OUTCOMES: LazyLock<Mutex<Outcomes>> = LazyLock::new(Mutex::default);
    let key = ([small, large].map(|member| member.entry.content.to_string()), most_rows);
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
fn rows_in_both(lake: &Path, (small, large): (&Member, &Member), most_rows: u64) -> Option<f64> {
    let file = |member: &Member| member.entry.file(lake).ok();
    let (small_path, large_path) = (file(small)?, file(large)?);
    let aligned = |from: &Member, to: &Member| -> Vec<(usize, usize)> {
        from.columns.iter().copied().zip(to.columns.iter().copied()).collect()
    };
    let own = RowHashes::read(&small_path, &small.entry.profile.columns, most_rows).ok()?;
    let different = own.different_rows(&aligned(small, small));
    if different < LEAST_ROWS || (different as f64) < LEAST_DIFFERENT * small.entry.profile.rows as f64 {
        return None;
    }
    let theirs = RowHashes::read(&large_path, &large.entry.profile.columns, most_rows).ok()?;
    let new = theirs.new_rows(&small_path, &small.entry.profile.columns, &aligned(large, small)).ok()?;
    (new.complete && new.compared > 0).then(|| 1.0 - new.new as f64 / new.compared as f64)
}
