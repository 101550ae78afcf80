//! Column by column: how well the columns of a table fit under those of the query, and the best one-to-one choice of pairs.
//!
//! Each pair is scored by its names and by what the columns hold. What is known of the query's columns is prepared once, and a
//! candidate's columns are compared with all of them together: its names are taken apart once, its vectors are multiplied
//! in one go, and its values are looked up in a table of the query's values.

use std::collections::HashMap;

use super::likeness::ValueRange;
use super::matching::best_assignment;
use super::query_table::{QueryColumn, QueryTable};
use super::weights::AlignmentWeights;
use lakeward_core::error::Result;
use lakeward_core::text::NameParts;
use lakeward_core::text::is_placeholder;
use lakeward_index::Segment;
use lakeward_index::columns::ColumnRecord;
use lakeward_index::encode::{SHAPE_DIMS, SHAPE_SHARE};
use lakeward_index::overlap::shared_hashes;
use lakeward_index::vectors::PreparedQuery;
use lakeward_lake::semantic::{LogicalType, SemanticType};

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
    /// Likeness of what they hold, names left aside.
    pub(super) contents: f64,
    /// Whether both hold numbers.
    numbers: bool,
}

/// An aligned pair: the query's column, the candidate's, both by place, and how well they fit.
pub(super) type Pair = (usize, usize, Fit);

/// The query's columns, prepared to be compared with many; caches the likenesses of names of an index that lives for `'i`.
pub(super) struct Aligner<'q, 'i> {
    weights: &'q AlignmentWeights,
    own: Vec<OwnColumn<'q>>,
    values: ValueTable,
    /// Likenesses of a name to those of `own`, from this place of `likenesses`.
    names: HashMap<&'i str, usize>,
    likenesses: Vec<f64>,
    /// For each own column, with the candidate's: cosines of the parts that hold text and shape.
    cosines: Vec<[Vec<f32>; 2]>,
    shared: Vec<u32>,
}

struct OwnColumn<'q> {
    column: &'q QueryColumn,
    /// None where the name only counts columns.
    name: Option<NameParts>,
    /// The parts of its vector that hold text and shape, the other part 0.
    vectors: [PreparedQuery; 2],
    range: ValueRange,
}

/// What is compared of two columns; likenesses in 0..=1.
struct Comparison {
    /// None where one of the names only counts columns.
    name: Option<f64>,
    values: f64,
    text: f64,
    shape: f64,
}

/// What the pairs of a choice come to; all but `pairs` are sums of likenesses.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) pairs: usize,
    /// Of the pairs' scores.
    pub(super) fit: f64,
    /// Of names times contents.
    pub(super) confirmed: f64,
    /// Of contents.
    pub(super) contents: f64,
    /// Of the shares of equal values.
    pub(super) values: f64,
    /// Pairs called the same.
    pub(super) called_the_same: f64,
    /// Of the scores of the heaviest pairs that stand in the same order in both tables.
    pub(super) in_order: f64,
    /// Of the contents of number columns with that in the same place, and of other columns with the most like; it depends
    /// on no choice.
    pub(super) in_place: f64,
}

/// The fits of all pairs of a candidate's columns with the query's.
#[derive(Debug, Default)]
pub(super) struct Fits {
    /// Row-major, one row a column of the query; below the least fit the score is 0.
    fits: Vec<Fit>,
    rows: usize,
    columns: usize,
}

impl<'q, 'i> Aligner<'q, 'i> {
    /// Prepares `query`; vectors as in `segment`, which may be any of the index.
    pub(super) fn of(query: &'q QueryTable, segment: &Segment, weights: &'q AlignmentWeights) -> Result<Self> {
        let columns = &query.columns[..query.columns.len().min(MOST_ALIGNED_COLUMNS)];
        let own: Vec<OwnColumn<'q>> = columns
            .iter()
            .map(|column| {
                let numbers = column.sketch.numbers;
                let quantiles = numbers.map_or([f32::NAN; 5], |numbers| numbers.quantiles.map(|part| part as f32));
                let name = &column.profile.name;
                let (mut text, mut shape) = (column.vector.clone(), column.vector.clone());
                let border = column.vector.len().saturating_sub(SHAPE_DIMS);
                text[border..].fill(0.0);
                shape[..border].fill(0.0);
                Ok(OwnColumn {
                    column,
                    name: (!is_placeholder(name)).then(|| NameParts::of(name)),
                    vectors: [segment.vectors.columns.prepare(&text)?, segment.vectors.columns.prepare(&shape)?],
                    range: ValueRange::of(&quantiles),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            weights,
            values: ValueTable::of(columns),
            names: HashMap::new(),
            likenesses: Vec::new(),
            cosines: vec![Default::default(); own.len()],
            shared: vec![0; own.len()],
            own,
        })
    }

    /// Compares all columns of `table` with the query's, into `fits`.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] where an index file is damaged.
    pub(super) fn compare(&mut self, segment: &'i Segment, table: u32, fits: &mut Fits) -> Result<()> {
        let ids = segment.tables.columns(table)?;
        let ids = ids.start..ids.end.min(ids.start.saturating_add(MOST_ALIGNED_COLUMNS as u32));
        fits.reset(self.own.len(), ids.len());
        for (own, cosines) in self.own.iter().zip(&mut self.cosines) {
            for (vector, cosines) in own.vectors.iter().zip(cosines) {
                segment.vectors.columns.cosines(ids.clone(), vector, cosines)?;
            }
        }
        for (place, id) in ids.enumerate() {
            let record = segment.columns.record(id)?;
            let name = segment.columns.name(record)?;
            let is_named = !is_placeholder(name);
            let names = self.name_likenesses(name);
            let range = ValueRange::of(&segment.columns.quantiles(record)?);
            let hashes = segment.columns.hashes(record)?;
            // A stored vector has length 1 in all, and its parts the shares of it; without words it is all shape.
            let has_text = is_named || record.logical() == LogicalType::Text;
            let (text_length, shape_length) =
                if has_text { ((1.0 - SHAPE_SHARE).sqrt(), SHAPE_SHARE.sqrt()) } else { (1.0, 1.0) };
            self.shared.fill(0);
            self.values.count(&hashes, &mut self.shared);
            for (row, own) in self.own.iter().enumerate() {
                let own_hashes = &own.column.values.hashes;
                let shared = match own_hashes.len() > MOST_TABLED_VALUES {
                    true => shared_hashes(own_hashes, &hashes),
                    false => self.shared[row] as usize,
                };
                let [text, shape] = &self.cosines[row];
                let comparison = Comparison {
                    name: (is_named && own.name.is_some()).then(|| self.likenesses[names + row]),
                    values: shared_share(shared, own_hashes.len().min(hashes.len()), self.weights.few_values),
                    text: f64::from(text[place] / text_length).clamp(0.0, 1.0),
                    shape: f64::from(shape[place] / shape_length).clamp(0.0, 1.0),
                };
                fits.fits[row * fits.columns + place] = fit(self.weights, own, record, &range, &comparison);
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
        let likeness = |name: &NameParts| name.likeness(&parts).max(name.short_form(&parts));
        self.likenesses.extend(self.own.iter().map(|own| own.name.as_ref().map_or(0.0, likeness)));
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

    /// The greatest sums that any choice could have, without making it.
    pub(super) fn bound(&self) -> Sums {
        let mut by_column = vec![0f64; self.columns];
        let mut most = Sums { in_place: self.in_place(), ..Sums::default() };
        for row in self.fits.chunks_exact(self.columns.max(1)) {
            let (mut score, mut confirmed, mut contents) = (0f64, 0f64, 0f64);
            let (mut values, mut same) = (0f64, 0f64);
            for (fit, column) in row.iter().zip(&mut by_column).filter(|(fit, _)| fit.score > 0.0) {
                score = score.max(fit.score);
                confirmed = confirmed.max(fit.name * fit.contents);
                contents = contents.max(fit.contents);
                values = values.max(fit.values);
                same = same.max(called_the_same(fit));
                *column = column.max(fit.score);
            }
            most.fit += score;
            most.confirmed += confirmed;
            most.contents += contents;
            most.values += values;
            most.called_the_same += same;
            most.pairs += usize::from(score > 0.0);
        }
        most.fit = most.fit.min(by_column.iter().sum());
        most.pairs = most.pairs.min(by_column.iter().filter(|best| **best > 0.0).count());
        most.in_order = most.fit;
        most
    }

    /// What `pairs` come to, which are in the query's order.
    pub(super) fn sums(&self, pairs: &[Pair]) -> Sums {
        let sum = |part: fn(&Fit) -> f64| pairs.iter().map(|(_, _, fit)| part(fit)).sum();
        // The heaviest rising sequence of places: the best that ends at each pair.
        let mut heaviest: Vec<f64> = Vec::with_capacity(pairs.len());
        for (at, (_, place, fit)) in pairs.iter().enumerate() {
            let before = pairs[..at].iter().zip(&heaviest).filter(|((_, earlier, _), _)| earlier < place);
            heaviest.push(fit.score + before.map(|(_, sum)| *sum).fold(0.0, f64::max));
        }
        Sums {
            pairs: pairs.len(),
            fit: sum(|fit| fit.score),
            confirmed: sum(|fit| fit.name * fit.contents),
            contents: sum(|fit| fit.contents),
            values: sum(|fit| fit.values),
            called_the_same: sum(called_the_same),
            in_order: heaviest.into_iter().fold(0.0, f64::max),
            in_place: self.in_place(),
        }
    }

    /// See [`Sums::in_place`].
    fn in_place(&self) -> f64 {
        let rows = self.fits.chunks_exact(self.columns.max(1)).enumerate();
        rows.map(|(place, row)| {
            let own = row.get(place).filter(|fit| fit.numbers).map_or(0.0, |fit| fit.contents);
            row.iter().filter(|fit| !fit.numbers).map(|fit| fit.contents).fold(own, f64::max)
        })
        .sum()
    }

    /// The one-to-one choice of greatest total fit, in the query's order.
    pub(super) fn best_pairs(&self) -> Vec<Pair> {
        let weights: Vec<f64> = self.fits.iter().map(|fit| fit.score).collect();
        let assigned = best_assignment(&weights, self.rows, self.columns);
        let aligned = assigned.into_iter().enumerate().filter_map(|(own, other)| Some((own, other?)));
        aligned.map(|(own, other)| (own, other, self.fits[own * self.columns + other])).collect()
    }
}

/// 1 where two columns have the same name, else 0.
fn called_the_same(fit: &Fit) -> f64 {
    if fit.name >= 1.0 { 1.0 } else { 0.0 }
}

/// How well two columns fit under each other.
fn fit(
    weights: &AlignmentWeights,
    own: &OwnColumn<'_>,
    record: &ColumnRecord,
    range: &ValueRange,
    comparison: &Comparison,
) -> Fit {
    let Comparison { values, text, shape, .. } = *comparison;
    let profile = &own.column.profile;
    let (a, b) = (profile.logical, record.logical());
    let name = comparison.name.unwrap_or(0.0);
    let meaning = (f64::from(1.0 - SHAPE_SHARE) * text + f64::from(SHAPE_SHARE) * shape).clamp(0.0, 1.0);
    let numbers = a.is_numeric() && b.is_numeric();
    let with = |score: f64, contents: f64| {
        let score = if score >= weights.least_fit { score } else { 0.0 };
        Fit { score, name, values, meaning, contents, numbers }
    };
    if a == LogicalType::Empty || b == LogicalType::Empty {
        return with(weights.empty * name, 0.0);
    }
    let temporal = |kind: LogicalType| matches!(kind, LogicalType::Date | LogicalType::Timestamp);
    let contents = if numbers {
        let year = profile.semantic == Some(SemanticType::Year);
        let years =
            if year == (record.semantic() == Some(SemanticType::Year)) { 1.0 } else { weights.years_and_others };
        let closeness = weights.numbers_closeness * own.range.closeness(range);
        let ranges = closeness + weights.numbers_range * own.range.likeness(range);
        (ranges + weights.numbers_shape * shape) * years
    } else if a == LogicalType::Text && b == LogicalType::Text {
        weights.texts_values * values.sqrt() + weights.texts_meaning * text + weights.texts_shape * shape
    } else if a == b || temporal(a) && temporal(b) {
        let range = weights.dates_range * own.range.likeness(range);
        weights.dates_values * values.sqrt() + range + weights.dates_shape * shape
    } else {
        // The same name over other types is a formatting difference more often than another attribute.
        return with(weights.same_name_other_type * name * name, 0.0);
    };
    let score = match comparison.name {
        Some(name) => weights.names * name + (1.0 - weights.names) * contents,
        None => weights.without_names * contents,
    };
    let same_kind = distinguished(profile.semantic) && profile.semantic == record.semantic();
    with(if same_kind { score + weights.same_meaning * (1.0 - score) } else { score }, contents)
}

/// Kinds of values of which a table seldom has two columns: columns of the same kind belong together whatever their names.
fn distinguished(semantic: Option<SemanticType>) -> bool {
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

/// Values in both over values of the smaller side and `few` more, so that it is shrunk where only a few are shared.
fn shared_share(shared: usize, smaller: usize, few: f64) -> f64 {
    if smaller == 0 { 0.0 } else { shared as f64 / (smaller as f64 + few) }
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
        let fit = |score: &f64| Fit { score: *score, name: 1.0, contents: *score / 2.0, ..Fit::default() };
        let fits = Fits { fits: scores.iter().map(fit).collect(), rows: 2, columns: 3 };
        let pairs = fits.best_pairs();
        let (sums, most) = (fits.sums(&pairs), fits.bound());
        assert!((sums.fit - 1.6).abs() < 1e-12 && (sums.contents - 0.8).abs() < 1e-12);
        // The pairs cross, so only one of them is in order.
        assert!((sums.in_order - 0.8).abs() < 1e-12);
        assert!(most.fit >= sums.fit && most.fit <= 1.7 + 1e-9 && most.pairs == 2);
        assert!(most.confirmed >= sums.confirmed && most.contents >= sums.contents && most.in_order >= sums.in_order);
    }

    #[test]
    fn numbers_count_in_their_place_and_text_anywhere() {
        let fit = |contents: f64, numbers: bool| Fit { contents, numbers, ..Fit::default() };
        let row = [fit(0.3, true), fit(0.9, true), fit(0.0, false)];
        let other = [fit(0.2, false), fit(0.0, false), fit(0.7, false)];
        let fits = Fits { fits: [row, other].concat(), rows: 2, columns: 3 };
        assert!((fits.in_place() - 1.0).abs() < 1e-12);
    }
}
