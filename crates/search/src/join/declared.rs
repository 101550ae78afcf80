//! Joins that a database declares as foreign keys: of the query's columns, and of other tables to the query.

use std::collections::HashSet;

use crate::query_table::QueryTable;
use lakeward_core::error::Result;
use lakeward_index::{ColumnRef, LakeIndex, TableRef};
use lakeward_lake::dataset::TableEntry;
use lakeward_lake::source::{Format, Origin, classify_table};

/// Pairs of the place of one of the query's columns and a column of the lake, declared to hold the same key. Keys of several
/// columns are not among them.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`].
pub(super) fn declared_pairs(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(usize, ColumnRef)>> {
    let Some(database) = database_of(query) else { return Ok(Vec::new()) };
    let mut pairs = Vec::new();
    for table in index.tables() {
        let Origin::File(path) = index.origin(table)? else { continue };
        if Some(table) == query.origin || path.strip_prefix(database).is_none_or(|rest| !rest.starts_with('/')) {
            continue;
        }
        let entry = index.table(table)?;
        for (own, other) in referring(&query.entry, &entry) {
            add(&mut pairs, index, &query.entry, (own, table, &entry, other))?;
        }
        for (other, own) in referring(&entry, &query.entry) {
            add(&mut pairs, index, &query.entry, (own, table, &entry, other))?;
        }
    }
    Ok(pairs)
}

/// The database that `query` is a table of: all tables of it have its path in theirs.
fn database_of(query: &QueryTable) -> Option<&str> {
    let of_database = classify_table(&query.entry.path).is_some_and(|(format, _)| format == Format::Sqlite);
    let database = query.entry.path.rsplit_once('/').filter(|_| of_database && query.origin.is_some());
    database.map(|(database, _)| database)
}

/// Of [`declared_pairs`] the places of the query's columns, in all shards.
///
/// # Errors
/// Those of [`LakeIndex::gather`].
pub(super) fn declared_places(
    index: &LakeIndex,
    query: &QueryTable,
    declared: &[(usize, ColumnRef)],
) -> Result<HashSet<usize>> {
    if database_of(query).is_none() {
        return Ok(HashSet::new());
    }
    let own = || Ok(declared.iter().map(|(place, _)| *place).collect::<Vec<usize>>());
    Ok(index.gather("columns of declared keys", own, |_| true)?.into_iter().flatten().collect())
}

/// The columns of `from` that are declared to be keys of `to`, and those keys.
fn referring<'a>(from: &'a TableEntry, to: &'a TableEntry) -> impl Iterator<Item = (&'a str, &'a str)> {
    let keys = from.foreign_keys.iter().filter(|key| key.to_path == to.path);
    keys.filter_map(|key| match (key.columns.as_slice(), key.to_columns.as_slice()) {
        ([column], [to_column]) => Some((column.as_str(), to_column.as_str())),
        _ => None,
    })
}

fn add(
    pairs: &mut Vec<(usize, ColumnRef)>,
    index: &LakeIndex,
    query: &TableEntry,
    (own, table, entry, other): (&str, TableRef, &TableEntry, &str),
) -> Result<()> {
    // SQL's names of columns are the same in upper and lower case.
    let place = |entry: &TableEntry, name: &str| {
        entry.profile.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    };
    if let (Some(own), Some(other)) = (place(query, own), place(entry, other)) {
        let columns = index.segment(table.segment)?.catalog.columns(table.table)?;
        pairs.push((own, ColumnRef { segment: table.segment, column: columns.start + other as u32 }));
    }
    Ok(())
}
