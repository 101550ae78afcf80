//! Mappings of the query's key columns to columns of a table, with upper bounds of how many combinations match.
//!
//! A combination can only be a row of the table if each of its parts is among the values of the column it is mapped to.
//! The index stores those values, so this bound needs no file. (Filtering by single values before rows are compared:
//! Esmailoghli, Quiané-Ruiz and Abedjan, "MATE", PVLDB 15(8), 2022.)

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::tuples::{Key, Parts};
use lakeward_core::error::Result;
use lakeward_core::text::NameParts;
use lakeward_index::columns::{ColumnRecord, Columns};
use lakeward_index::overlap::gallop;

/// Most mappings of one table: those that start with the columns that share most.
const MOST_MAPPINGS: usize = 1024;
/// Most steps of the search for them.
const MOST_STEPS: usize = 1 << 14;

/// One way to map the query's key columns to distinct columns of a table.
#[derive(Debug, Clone)]
pub struct Mapping {
    /// A column for each key column, as numbers in the segment's column store.
    pub columns: Vec<u32>,
    /// For each key column, an upper bound of the combinations whose part is in the mapped column.
    pub part_tuples: Vec<u64>,
    /// Number of combinations all of whose parts are in the mapped columns: an upper bound of the matches.
    pub most_shared: u64,
    /// Their weight.
    pub most_weight: f64,
    /// Mean likeness of the names.
    pub names: f64,
    /// Whether every pair of columns may match by chance.
    pub accidental: bool,
    /// Lower bound of the table's distinct combinations.
    pub least_tuples: u64,
    /// Upper bound of the combinations' uniqueness.
    pub most_unique: f64,
}

/// A set of combinations, one bit each.
#[derive(Clone)]
struct TupleSet(Vec<u64>);

impl TupleSet {
    fn empty(tuples: usize) -> Self {
        Self(vec![0; tuples.div_ceil(64)])
    }

    fn insert(&mut self, tuple: u32) {
        self.0[tuple as usize / 64] |= 1 << (tuple % 64);
    }

    fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn weight(&self, weights: &[f32]) -> f64 {
        let mut sum = 0.0;
        for (place, word) in self.0.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                sum += f64::from(weights[place * 64 + rest.trailing_zeros() as usize]);
                rest &= rest - 1;
            }
        }
        sum
    }
}

/// A column that contains parts of combinations.
struct Holder {
    column: u32,
    tuples: TupleSet,
    count: u64,
    /// Likeness of its name to that of the key column.
    name: f64,
}

/// The mappings of `key` to the columns `range` of one table under which a combination may match, greatest bound first; the key
/// column at `first` is mapped to one of `first_columns`.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
pub fn mappings(
    key: &Key<'_>,
    store: &Columns,
    range: std::ops::Range<u32>,
    (first, first_columns): (usize, &[u32]),
) -> Result<Vec<Mapping>> {
    let tuples = &key.tuples;
    let mut holders: Vec<Vec<Holder>> = Vec::with_capacity(key.places.len());
    let mut names: HashMap<u32, NameParts> = HashMap::new();
    for (part, parts) in tuples.columns.iter().enumerate() {
        let own = NameParts::of(&key.query.columns[key.places[part]].profile.name);
        let mut found = Vec::new();
        for column in range.clone() {
            if part == first && !first_columns.contains(&column) {
                continue;
            }
            let record = store.record(column)?;
            if let Some(held) = held(parts, tuples.len(), store, record)? {
                let theirs = match names.entry(column) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(NameParts::of(store.name(record)?)),
                };
                let name = own.likeness(theirs);
                found.push(Holder { column, count: held.len(), tuples: held, name });
            }
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        found.sort_by(|a, b| b.count.cmp(&a.count).then(a.column.cmp(&b.column)));
        holders.push(found);
    }
    let mut search = Search { holders: &holders, chosen: Vec::new(), found: Vec::new(), steps: 0 };
    search.extend(None);
    let mut mappings = Vec::with_capacity(search.found.len());
    for (chosen, shared) in search.found {
        mappings.push(mapping(key, store, &holders, &chosen, &shared)?);
    }
    mappings.sort_by(|a, b| b.most_shared.cmp(&a.most_shared).then_with(|| a.columns.cmp(&b.columns)));
    Ok(mappings)
}

/// The combinations whose part may be a value of the column; `None` for none.
fn held(parts: &Parts, tuples: usize, store: &Columns, record: &ColumnRecord) -> Result<Option<TupleSet>> {
    let hashes = store.hashes(record)?;
    let mut held: Option<TupleSet> = None;
    let mut hold = |place: usize| {
        let held = held.get_or_insert_with(|| TupleSet::empty(tuples));
        parts.tuples_of(place).iter().for_each(|tuple| held.insert(*tuple));
    };
    // The values of a sampled column beyond its bound are unknown.
    let known = parts.hashes.partition_point(|hash| *hash <= record.bound);
    (known..parts.hashes.len()).for_each(&mut hold);
    let (mut own, mut theirs) = (0, 0);
    while own < known && theirs < hashes.len() {
        match parts.hashes[own].cmp(&hashes[theirs]) {
            Ordering::Equal => {
                hold(own);
                own += 1;
            }
            // Galloping steps, since one list is often much longer than the other.
            Ordering::Less => own += gallop(&parts.hashes[own..known], hashes[theirs]),
            Ordering::Greater => theirs += gallop(&hashes[theirs..], parts.hashes[own]),
        }
    }
    Ok(held)
}

/// Depth-first search for injective mappings under which some combination may match.
struct Search<'a> {
    holders: &'a [Vec<Holder>],
    chosen: Vec<usize>,
    found: Vec<(Vec<usize>, TupleSet)>,
    steps: usize,
}

impl Search<'_> {
    fn extend(&mut self, shared: Option<&TupleSet>) {
        let key = self.chosen.len();
        if key == self.holders.len() {
            if let Some(shared) = shared {
                self.found.push((self.chosen.clone(), shared.clone()));
            }
            return;
        }
        let holders = self.holders;
        for (place, holder) in holders[key].iter().enumerate() {
            self.steps += 1;
            if self.found.len() >= MOST_MAPPINGS || self.steps > MOST_STEPS {
                return;
            }
            let used = self.chosen.iter().zip(holders).any(|(chosen, of)| of[*chosen].column == holder.column);
            if used {
                continue;
            }
            let shared = shared.map_or_else(|| holder.tuples.clone(), |shared| shared.and(&holder.tuples));
            if shared.0.iter().all(|word| *word == 0) {
                continue;
            }
            self.chosen.push(place);
            self.extend(Some(&shared));
            self.chosen.pop();
        }
    }
}

fn mapping(
    key: &Key<'_>,
    store: &Columns,
    holders: &[Vec<Holder>],
    chosen: &[usize],
    shared: &TupleSet,
) -> Result<Mapping> {
    let mut mapping = Mapping {
        columns: Vec::with_capacity(chosen.len()),
        part_tuples: Vec::with_capacity(chosen.len()),
        most_shared: shared.len(),
        most_weight: shared.weight(&key.tuples.weights),
        names: 0.0,
        accidental: true,
        least_tuples: 0,
        most_unique: 1.0,
    };
    let (mut combinations, mut complete, mut rows) = (1.0, true, 0);
    for ((place, holders), chosen) in key.places.iter().zip(holders).zip(chosen) {
        let holder = &holders[*chosen];
        let record = store.record(holder.column)?;
        let column = &key.query.columns[*place].profile;
        mapping.columns.push(holder.column);
        mapping.part_tuples.push(holder.count);
        mapping.names += holder.name / key.places.len() as f64;
        mapping.accidental &= column.weakness.is_some() || record.weakness().is_some();
        mapping.least_tuples = mapping.least_tuples.max(record.distinct);
        combinations *= record.distinct as f64;
        complete &= record.is_exact() && record.present == record.rows;
        rows = record.rows;
    }
    if complete && rows > 0 {
        mapping.most_unique = (combinations / rows as f64).min(1.0);
    } else {
        mapping.least_tuples = 0;
    }
    Ok(mapping)
}
