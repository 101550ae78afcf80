//! Joins that a database declares as foreign keys: of the query's columns, and of other tables to the query.

use std::collections::HashSet;

use crate::query_table::QueryTable;
use lakeward_core::error::Result;
use lakeward_index::{ColumnRef, LakeIndex, TableRef};
use lakeward_lake::dataset::{ForeignKey, TableEntry};
use lakeward_lake::source::{Format, Origin, classify_table};

/// A key that is declared to hold the same in the query and in a table of the lake.
pub struct DeclaredKey {
    /// The places of the query's columns.
    pub places: Vec<usize>,
    /// The other table.
    pub table: TableRef,
    /// Its columns in the same order, as numbers in its segment.
    pub columns: Vec<u32>,
}

/// The keys that the database of `query` declares between it and other tables.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`].
pub fn declared_keys(index: &LakeIndex, query: &QueryTable) -> Result<Vec<DeclaredKey>> {
    let Some(database) = database_of(query) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for table in index.tables() {
        let Origin::File(path) = index.origin(table)? else { continue };
        if Some(table) == query.origin || path.strip_prefix(database).is_none_or(|rest| !rest.starts_with('/')) {
            continue;
        }
        let entry = index.table(table)?;
        let first = index.segment(table.segment)?.tables.columns(table.table)?.start;
        let ours = referring(&query.entry, &entry).map(|key| (&key.columns, &key.to_columns));
        let theirs = referring(&entry, &query.entry).map(|key| (&key.to_columns, &key.columns));
        for (own, other) in ours.chain(theirs) {
            if let (Some(places), Some(columns)) = (places(&query.entry, own), places(&entry, other)) {
                let columns = columns.into_iter().map(|column| first + column as u32).collect();
                found.push(DeclaredKey { places, table, columns });
            }
        }
    }
    Ok(found)
}

/// Those of one column: pairs of the place of the query's column and the other one.
///
/// # Errors
/// As [`declared_keys`].
pub(super) fn declared_pairs(index: &LakeIndex, query: &QueryTable) -> Result<Vec<(usize, ColumnRef)>> {
    let pair = |key: DeclaredKey| match (&key.places[..], &key.columns[..]) {
        ([place], [column]) => Some((*place, ColumnRef { segment: key.table.segment, column: *column })),
        _ => None,
    };
    Ok(declared_keys(index, query)?.into_iter().filter_map(pair).collect())
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

/// The keys of `from` that refer to `to`.
fn referring<'a>(from: &'a TableEntry, to: &'a TableEntry) -> impl Iterator<Item = &'a ForeignKey> {
    from.foreign_keys.iter().filter(|key| key.to_path == to.path && key.columns.len() == key.to_columns.len())
}

/// The places of the columns of these names, which are the same in upper and lower case in SQL; `None` where one is not there.
fn places(entry: &TableEntry, names: &[String]) -> Option<Vec<usize>> {
    let place = |name: &String| entry.profile.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
    names.iter().map(place).collect()
}
