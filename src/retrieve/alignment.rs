//! Column by column: how well the columns of a table fit under those of the query, and the best one-to-one choice of pairs.
//!
//! Each pair is scored by name, values, range and meaning. What is known of the query's columns is prepared once, and a
//! candidate's columns are compared with all of them together: its names are taken apart once, its vectors are multiplied
//! in one go, and its values are looked up in a table of the query's values.

use std::collections::HashMap;

use super::likeness::{NameParts, ValueRange};
use super::matching::best_assignment;
use super::query_table::{QueryColumn, QueryTable};
use crate::error::Result;
use crate::index::columns::ColumnRecord;
use crate::index::open::Segment;
use crate::index::overlap::shared_hashes;
use crate::index::vectors::PreparedQuery;
use crate::lake::semantic::{LogicalType, SemanticType};

/// Pairs that fit less are left unaligned.
const LEAST_FIT: f64 = 0.35;
/// Share of the missing fit that a like meaning makes good, for kinds of values of which a table seldom has two columns.
const SAME_MEANING: f64 = 0.25;
/// Wide tables are aligned on their first columns.
const MOST_ALIGNED_COLUMNS: usize = 200;

/// How well one column of the query fits one of the candidate; every part in 0..=1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fit {
    pub(super) score: f64,
    /// Likeness of the names.
    pub(super) name: f64,
    /// Share of equal values, of the smaller side.
    pub(super) values: f64,
    /// Cosine of the vectors.
    pub(super) meaning: f64,
}

/// An aligned pair: the query's column, the candidate's, both by place, and how well they fit.
pub(super) type Pair = (usize, usize, Fit);

/// The query's columns, prepared to be compared with many; caches the likenesses of names of an index that lives for `'i`.
pub(super) struct Aligner<'q, 'i> {
    own: Vec<OwnColumn<'q>>,
    values: ValueTable,
    /// Likenesses of a name to those of `own`, from this place of `likenesses`.
    names: HashMap<&'i str, usize>,
    likenesses: Vec<f64>,
    cosines: Vec<Vec<f32>>,
    shared: Vec<u32>,
}

struct OwnColumn<'q> {
    column: &'q QueryColumn,
    name: NameParts,
    vector: PreparedQuery,
    range: ValueRange,
}

/// The fits of all pairs of a candidate's columns with the query's.
#[derive(Debug, Default)]
pub(super) struct Fits {
    /// Row-major, one row a column of the query; below [`LEAST_FIT`] the score is 0.
    fits: Vec<Fit>,
    rows: usize,
    columns: usize,
}

impl<'q, 'i> Aligner<'q, 'i> {
    /// Prepares `query`; vectors as in `segment`, which may be any of the index.
    pub(super) fn of(query: &'q QueryTable, segment: &Segment) -> Result<Self> {
        let columns = &query.columns[..query.columns.len().min(MOST_ALIGNED_COLUMNS)];
        let own: Vec<OwnColumn<'q>> = columns
            .iter()
            .map(|column| {
                let numbers = column.sketch.numbers;
                let quantiles = numbers.map_or([f32::NAN; 5], |numbers| numbers.quantiles.map(|part| part as f32));
                Ok(OwnColumn {
                    column,
                    name: NameParts::of(&column.profile.name),
                    vector: segment.column_vectors.prepare(&column.vector)?,
                    range: ValueRange::of(&quantiles),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            values: ValueTable::of(columns),
            names: HashMap::new(),
            likenesses: Vec::new(),
            cosines: vec![Vec::new(); own.len()],
            shared: vec![0; own.len()],
            own,
        })
    }

    /// Compares all columns of `table` with the query's, into `fits`.
    ///
    /// # Errors
    /// [`crate::Error::DamagedIndex`] where an index file is damaged.
    pub(super) fn compare(&mut self, segment: &'i Segment, table: u32, fits: &mut Fits) -> Result<()> {
        let ids = segment.catalog.columns(table)?;
        let ids = ids.start..ids.end.min(ids.start.saturating_add(MOST_ALIGNED_COLUMNS as u32));
        fits.reset(self.own.len(), ids.len());
        for (own, cosines) in self.own.iter().zip(&mut self.cosines) {
            segment.column_vectors.cosines(ids.clone(), &own.vector, cosines)?;
        }
        for (place, id) in ids.enumerate() {
            let record = segment.columns.record(id)?;
            let names = self.name_likenesses(segment.columns.name(record)?);
            let range = ValueRange::of(&record.quantiles);
            let hashes = segment.columns.hashes(record)?;
            self.shared.fill(0);
            self.values.count(hashes, &mut self.shared);
            for (row, own) in self.own.iter().enumerate() {
                let own_hashes = &own.column.values.hashes;
                let shared = match own_hashes.len() > MOST_TABLED_VALUES {
                    true => shared_hashes(own_hashes, hashes),
                    false => self.shared[row] as usize,
                };
                let name = self.likenesses[names + row];
                let values = shared_share(shared, own_hashes.len().min(hashes.len()));
                let meaning = f64::from(self.cosines[row][place]).max(0.0);
                let score = pair_score(own, record, &range, name, values, meaning);
                let score = if score >= LEAST_FIT { score } else { 0.0 };
                fits.fits[row * fits.columns + place] = Fit { score, name, values, meaning };
            }
        }
        Ok(())
    }

    /// Where the likenesses of `name` to the query's names lie.
    fn name_likenesses(&mut self, name: &'i str) -> usize {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let place = self.likenesses.len();
        let parts = NameParts::of(name);
        self.likenesses.extend(self.own.iter().map(|own| own.name.likeness(&parts)));
        self.names.insert(name, place);
        place
    }
}

impl Fits {
    fn reset(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.fits.clear();
        self.fits.resize(rows * columns, Fit::default());
    }

    /// The greatest total fit and number of pairs that any choice could have, without making it.
    pub(super) fn bound(&self) -> (f64, usize) {
        let mut by_column = vec![0f64; self.columns];
        let (mut total, mut rows) = (0.0, 0);
        for row in self.fits.chunks_exact(self.columns.max(1)) {
            let mut best = 0f64;
            for (fit, column) in row.iter().zip(&mut by_column) {
                best = best.max(fit.score);
                *column = column.max(fit.score);
            }
            total += best;
            rows += usize::from(best > 0.0);
        }
        let columns = by_column.iter().filter(|best| **best > 0.0).count();
        (total.min(by_column.iter().sum()), rows.min(columns))
    }

    /// The one-to-one choice of greatest total fit, in the query's order.
    pub(super) fn best_pairs(&self) -> Vec<Pair> {
        let weights: Vec<f64> = self.fits.iter().map(|fit| fit.score).collect();
        let assigned = best_assignment(&weights, self.rows, self.columns);
        let aligned = assigned.into_iter().enumerate().filter_map(|(own, other)| Some((own, other?)));
        aligned.map(|(own, other)| (own, other, self.fits[own * self.columns + other])).collect()
    }
}

/// How well two columns fit under each other, 0..=1.
fn pair_score(
    own: &OwnColumn<'_>,
    record: &ColumnRecord,
    range: &ValueRange,
    name: f64,
    values: f64,
    meaning: f64,
) -> f64 {
    let profile = &own.column.profile;
    let (a, b) = (profile.logical, record.logical());
    if a == LogicalType::Empty || b == LogicalType::Empty {
        return 0.5 * name;
    }
    let numbers = a.is_numeric() && b.is_numeric();
    let fit = if numbers {
        let year = profile.semantic == Some(SemanticType::Year);
        let years = year == (record.semantic() == Some(SemanticType::Year));
        (0.55 * name + 0.25 * own.range.likeness(range) + 0.2 * meaning) * if years { 1.0 } else { 0.5 }
    } else {
        0.4 * name + 0.3 * values.sqrt() + 0.3 * meaning
    };
    let kinds = |kind: LogicalType| match kind {
        LogicalType::Integer | LogicalType::Float => 0,
        LogicalType::Date | LogicalType::Timestamp => 1,
        LogicalType::Boolean => 2,
        LogicalType::Text | LogicalType::Empty => 3,
    };
    let fit = if told_apart(profile.semantic) && profile.semantic == record.semantic() {
        fit + SAME_MEANING * (1.0 - fit)
    } else {
        fit
    };
    // The same name over other types is a formatting difference more often than another attribute.
    if kinds(a) == kinds(b) { fit } else { fit * if name == 1.0 { 0.75 } else { 0.5 } }
}

/// Kinds of values of which a table seldom has two columns: columns of the same kind belong together whatever their names.
fn told_apart(semantic: Option<SemanticType>) -> bool {
    matches!(
        semantic,
        Some(
            SemanticType::Year
                | SemanticType::Time
                | SemanticType::Country
                | SemanticType::CountryCode
                | SemanticType::UsState
                | SemanticType::Latitude
                | SemanticType::Longitude
        )
    )
}

/// Values in both over values of the smaller side, shrunk where only a few are shared.
fn shared_share(shared: usize, smaller: usize) -> f64 {
    if smaller == 0 { 0.0 } else { shared as f64 / (smaller as f64 + 2.0) }
}

/// Columns of the query with more values are compared one by one.
const MOST_TABLED_VALUES: usize = 1 << 14;

/// Which columns of the query hold a value: hashes in order, found by their leading bits.
struct ValueTable {
    /// (hash, place of the column), ascending.
    holders: Vec<(u64, u16)>,
    /// Where each bucket of holders begins, and the end.
    directory: Vec<u32>,
    shift: u32,
}

impl ValueTable {
    fn of(columns: &[QueryColumn]) -> Self {
        let mut holders: Vec<(u64, u16)> = Vec::new();
        for (place, column) in (0u16..).zip(columns) {
            let hashes = &column.values.hashes;
            if hashes.len() <= MOST_TABLED_VALUES {
                holders.extend(hashes.iter().map(|hash| (*hash, place)));
            }
        }
        let mut table = Self { holders, directory: Vec::new(), shift: 0 };
        table.index();
        table
    }

    fn index(&mut self) {
        self.holders.sort_unstable();
        // Two buckets a value at least, so that most lookups of other values end at the directory.
        let bits = self.holders.len().max(1).ilog2() + 2;
        self.shift = u64::BITS - bits;
        self.directory = vec![0; (1 << bits) + 1];
        for (hash, _) in &self.holders {
            self.directory[(hash >> self.shift) as usize + 1] += 1;
        }
        let mut begin = 0;
        for bucket in &mut self.directory {
            begin += *bucket;
            *bucket = begin;
        }
    }

    /// Adds to `shared[place]` how many of ascending `hashes` the query's column `place` holds; repeated ones count once.
    fn count(&self, hashes: &[u64], shared: &mut [u32]) {
        let mut previous = 0;
        for hash in hashes {
            // 0 is no value's hash.
            if *hash == previous {
                continue;
            }
            previous = *hash;
            let bucket = (*hash >> self.shift) as usize;
            for (held, place) in &self.holders[self.directory[bucket] as usize..self.directory[bucket + 1] as usize] {
                shared[usize::from(*place)] += u32::from(held == hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&[u64]]) -> ValueTable {
        let mut table = ValueTable { holders: Vec::new(), directory: Vec::new(), shift: 0 };
        for (place, hashes) in (0u16..).zip(columns) {
            table.holders.extend(hashes.iter().map(|hash| (*hash, place)));
        }
        table.index();
        table
    }

    #[test]
    fn values_are_counted_for_every_column_that_holds_them() {
        let spread = |value: u64| value.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut some: Vec<u64> = (1..500).map(spread).collect();
        some.sort_unstable();
        let few = [some[3], some[70]];
        let values = table(&[&some, &few, &[]]);
        let mut shared = [0; 3];
        let mut asked = vec![some[2], some[3], some[3], some[3] + 1, some[70], u64::MAX];
        asked.sort_unstable();
        values.count(&asked, &mut shared);
        assert_eq!(shared, [3, 2, 0]);
        table(&[]).count(&asked, &mut shared);
        assert_eq!(shared, [3, 2, 0]);
    }

    #[test]
    fn the_bound_is_never_exceeded() {
        let scores = [0.9, 0.8, 0.0, 0.8, 0.4, 0.0];
        let fits = scores.iter().map(|score| Fit { score: *score, ..Fit::default() }).collect();
        let fits = Fits { fits, rows: 2, columns: 3 };
        let pairs = fits.best_pairs();
        let total: f64 = pairs.iter().map(|(_, _, fit)| fit.score).sum();
        assert!((total - 1.6).abs() < 1e-12);
        let (most, count) = fits.bound();
        assert!(most >= total && most <= 1.7 + 1e-9 && count == 2);
    }
}
