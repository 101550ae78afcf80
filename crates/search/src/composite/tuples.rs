//! The distinct combinations of values in the key columns of a query table.
//!
//! Rows with a missing part are left out. Beyond [`MOST_TUPLES`] the range of hashes that are kept is halved as often as
//! needed, as in the sketch of a column, so that candidates are compared on the same share of all combinations.

use arrow::array::{Array, RecordBatch};
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};

use crate::QueryTable;
use crate::weights::TupleWeights;
use lakeward_core::error::{Error, Result};
use lakeward_index::LakeIndex;
use lakeward_index::overlap::ValueWeights;
use lakeward_lake::cell_hashes::{CellHash, CellHasher};
pub use lakeward_lake::key_sample::tuple_hash;
use lakeward_lake::reader::{self, ReadOptions};
use lakeward_lake::scan;

/// Most distinct combinations kept of a table.
pub const MOST_TUPLES: usize = 1 << 20;
/// Most written forms of combinations kept; for a query with more, too few matches as written are counted.
const MOST_WRITTEN: usize = 4 * MOST_TUPLES;
/// Bytes of the query's cells that are kept as examples.
const TEXT_BYTES: usize = 4 << 20;

/// The hash of a combination as written.
pub fn written_hash(cells: impl Iterator<Item = CellHash>) -> Option<u64> {
    // 0 means missing, so the hash of a present cell must not be 0.
    tuple_hash(cells.map(|cell| cell.written.max(1)))
}

/// A set of distinct hashes, limited to a range that is halved when there are too many.
pub struct DistinctHashes {
    hashes: HashSet<u64>,
    /// Hashes up to this are kept.
    pub bound: u64,
}

impl DistinctHashes {
    /// Keeps hashes up to `bound`.
    pub fn new(bound: u64) -> Self {
        Self { hashes: HashSet::new(), bound }
    }

    /// Adds `hash`.
    pub fn insert(&mut self, hash: u64) {
        if hash <= self.bound && self.hashes.insert(hash) && self.hashes.len() > MOST_TUPLES {
            self.bound = median(self.hashes.iter().copied().collect());
            let bound = self.bound;
            self.hashes.retain(|hash| *hash <= bound);
        }
    }

    /// Number of hashes up to `bound`, which must not exceed this set's bound.
    pub fn up_to(&self, bound: u64) -> u64 {
        self.hashes.iter().filter(|hash| **hash <= bound).count() as u64
    }

    /// Number of distinct hashes inserted: counted, or estimated from those kept.
    pub fn distinct(&self) -> f64 {
        self.hashes.len() as f64 * (u64::MAX as f64 / self.bound as f64)
    }
}

fn median(mut hashes: Vec<u64>) -> u64 {
    let middle = hashes.len() / 2;
    *hashes.select_nth_unstable(middle).1
}

/// The values of one key column and the combinations that each is part of.
pub struct Parts {
    /// Distinct hashes, ascending.
    pub hashes: Vec<u64>,
    /// Where each value's combinations begin in `tuples`; one more than there are values.
    starts: Vec<u32>,
    tuples: Vec<u32>,
}

impl Parts {
    fn of(column: impl Iterator<Item = u64>) -> Self {
        let mut pairs: Vec<(u64, u32)> = column.zip(0..).collect();
        pairs.sort_unstable();
        let mut parts = Self { hashes: Vec::new(), starts: Vec::new(), tuples: Vec::with_capacity(pairs.len()) };
        for (hash, tuple) in pairs {
            if parts.hashes.last() != Some(&hash) {
                parts.hashes.push(hash);
                parts.starts.push(parts.tuples.len() as u32);
            }
            parts.tuples.push(tuple);
        }
        parts.starts.push(parts.tuples.len() as u32);
        parts
    }

    /// The combinations that contain the value at `place`.
    pub fn tuples_of(&self, place: usize) -> &[u32] {
        &self.tuples[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

/// The key columns of a query table and their combinations.
pub struct Key<'a> {
    /// The table.
    pub query: &'a QueryTable,
    /// Places of the columns.
    pub places: &'a [usize],
    /// Their combinations.
    pub tuples: QueryTuples,
    /// Weights of the score.
    pub weights: &'a TupleWeights,
}

/// The distinct combinations of a query table.
pub struct QueryTuples {
    /// One for each key column.
    pub columns: Vec<Parts>,
    /// Rarity of each combination: the sum of its parts' weights.
    pub weights: Vec<f32>,
    /// Combinations with a hash up to this are kept.
    pub bound: u64,
    numbers: HashMap<u64, u32>,
    /// (hash as written, number): every written form of each combination in the query.
    written: HashSet<(u64, u32)>,
    /// The cells of the first combinations, as first written; empty for later ones.
    texts: Vec<Vec<String>>,
}

impl QueryTuples {
    /// The combinations in `places` of `query`, weighted by how rare their parts are in `index`.
    ///
    /// # Errors
    /// The errors of reading the query's file again, and [`Error::DamagedIndex`].
    pub fn read(index: &LakeIndex, query: &QueryTable, places: &[usize]) -> Result<Self> {
        let mut builder = Builder::default();
        // The same rows from which its columns were sketched.
        let max_rows = query.entry.report.sample.map(|sample| sample.rows);
        let mut reader = reader::open_path(&query.path, &ReadOptions { max_rows, ..ReadOptions::default() })?;
        if places.iter().any(|place| *place >= reader.columns().len()) {
            return Err(Error::unreadable(&query.path, "it changed while it was read"));
        }
        let mut hashers: Vec<CellHasher> = Vec::new();
        while let Some(batch) = reader.next_batch()? {
            if hashers.is_empty() {
                let hasher = |place: &usize| CellHasher::new(&query.columns[*place].profile.writing);
                hashers = places.iter().map(hasher).collect();
            }
            builder.push_batch(&batch, places, &mut hashers)?;
        }
        let mut tuples = builder.finish(places.len());
        tuples.weigh(index, query, places)?;
        Ok(tuples)
    }

    /// Number of combinations kept.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The number of the combination with this hash.
    pub fn number(&self, hash: u64) -> Option<u32> {
        self.numbers.get(&hash).copied()
    }

    /// Number of combinations with a hash up to `bound`, and how many of these are `chosen`.
    pub fn count_up_to(&self, bound: u64, chosen: impl Fn(u32) -> bool) -> (u64, u64) {
        let within = self.numbers.iter().filter(|(hash, _)| **hash <= bound);
        within.fold((0, 0), |(all, some), (_, number)| (all + 1, some + u64::from(chosen(*number))))
    }

    /// Whether `written` is a written form of combination `number` in the query.
    pub fn is_written(&self, written: u64, number: u32) -> bool {
        self.written.contains(&(written, number))
    }

    /// The cells of combination `number` as first written, if kept.
    pub fn text(&self, number: u32) -> Option<&[String]> {
        self.texts.get(number as usize).filter(|cells| !cells.is_empty()).map(Vec::as_slice)
    }

    /// Sets the weights, the sum of ln(1 + N/df) over the parts: parts that occur in few columns make a combination rare.
    fn weigh(&mut self, index: &LakeIndex, query: &QueryTable, places: &[usize]) -> Result<()> {
        self.weights = vec![0.0; self.len()];
        let lists: Vec<_> =
            index.segments().iter().map(|segment| (&segment.join.values, segment.columns.len())).collect();
        let columns: usize = lists.iter().map(|(_, columns)| columns).sum();
        for (parts, place) in self.columns.iter().zip(places) {
            let values = &query.columns[*place].values;
            let known = ValueWeights::of(values, &lists)?;
            for (part, hash) in parts.hashes.iter().enumerate() {
                // The sketch of a very long column leaves values out; few of those are common.
                let weight = match values.hashes.binary_search(hash) {
                    Ok(place) => known.weights[place],
                    Err(_) => (1.0 + columns as f32).ln(),
                };
                for tuple in parts.tuples_of(part) {
                    self.weights[*tuple as usize] += weight;
                }
            }
        }
        Ok(())
    }
}

struct Builder {
    numbers: HashMap<u64, u32>,
    /// Row-major, one row per combination.
    parts: Vec<u64>,
    written: HashSet<(u64, u32)>,
    texts: Vec<Vec<String>>,
    text_bytes: usize,
    bound: u64,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            parts: Vec::new(),
            written: HashSet::new(),
            texts: Vec::new(),
            text_bytes: 0,
            bound: u64::MAX,
        }
    }
}

impl Builder {
    fn push_batch(&mut self, batch: &RecordBatch, places: &[usize], hashers: &mut [CellHasher]) -> Result<()> {
        let mut cells: Vec<Vec<CellHash>> = vec![Vec::new(); places.len()];
        for ((place, hasher), cells) in places.iter().zip(hashers).zip(&mut cells) {
            hasher.push_array(batch.column(*place), cells)?;
        }
        for row in 0..batch.num_rows() {
            let Some(hash) = tuple_hash(cells.iter().map(|column| column[row].normal)) else { continue };
            if hash > self.bound {
                continue;
            }
            let next = self.numbers.len() as u32;
            let number = match self.numbers.entry(hash) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    new.insert(next);
                    self.parts.extend(cells.iter().map(|column| column[row].normal));
                    self.texts.push(if self.text_bytes < TEXT_BYTES {
                        row_text(batch, places, row)?
                    } else {
                        Vec::new()
                    });
                    self.text_bytes += self.texts.last().map_or(0, |cells| cells.iter().map(String::len).sum());
                    next
                }
            };
            if let Some(written) = written_hash(cells.iter().map(|column| column[row]))
                && self.written.len() < MOST_WRITTEN
            {
                self.written.insert((written, number));
            }
            if self.numbers.len() > MOST_TUPLES {
                self.halve(places.len());
            }
        }
        Ok(())
    }

    /// Drops the half of the combinations with the greatest hashes.
    fn halve(&mut self, width: usize) {
        self.bound = median(self.numbers.keys().copied().collect());
        let mut kept: Vec<(u32, u64)> = self
            .numbers
            .iter()
            .filter(|(hash, _)| **hash <= self.bound)
            .map(|(hash, number)| (*number, *hash))
            .collect();
        kept.sort_unstable();
        let mut renumbered = vec![u32::MAX; self.numbers.len()];
        let mut parts = Vec::with_capacity(kept.len() * width);
        let mut texts = Vec::with_capacity(kept.len());
        for (place, (number, _)) in kept.iter().enumerate() {
            let number = *number as usize;
            renumbered[number] = place as u32;
            parts.extend_from_slice(&self.parts[number * width..(number + 1) * width]);
            texts.push(std::mem::take(&mut self.texts[number]));
        }
        self.numbers = kept.iter().zip(0..).map(|((_, hash), place)| (*hash, place)).collect();
        self.written = self
            .written
            .iter()
            .map(|(written, number)| (*written, renumbered[*number as usize]))
            .filter(|(_, number)| *number != u32::MAX)
            .collect();
        (self.parts, self.texts) = (parts, texts);
    }

    fn finish(self, width: usize) -> QueryTuples {
        let column = |place: usize| Parts::of(self.parts.chunks_exact(width.max(1)).map(move |tuple| tuple[place]));
        QueryTuples {
            columns: (0..width).map(column).collect(),
            weights: Vec::new(),
            bound: self.bound,
            numbers: self.numbers,
            written: self.written,
            texts: self.texts,
        }
    }
}

/// The cells of one row in `places`, trimmed.
pub fn row_text(batch: &RecordBatch, places: &[usize], row: usize) -> Result<Vec<String>> {
    let mut texts = Vec::with_capacity(places.len());
    for place in places {
        scan::for_each_cell(&batch.column(*place).slice(row, 1), |cell| {
            texts.push(cell.unwrap_or_default().trim().to_string());
        })?;
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    #[test]
    fn the_order_of_the_parts_counts_and_a_missing_one_gives_no_hash() {
        assert_ne!(tuple_hash([1, 2].into_iter()), tuple_hash([2, 1].into_iter()));
        assert_ne!(tuple_hash([1, 2].into_iter()), tuple_hash([1, 2, 2].into_iter()));
        assert_eq!(tuple_hash([1, 0].into_iter()), None);
    }

    #[test]
    fn parts_know_their_combinations() {
        let parts = Parts::of([7, 3, 7, 9].into_iter());
        assert_eq!(parts.hashes, [3, 7, 9]);
        assert_eq!([parts.tuples_of(0), parts.tuples_of(1), parts.tuples_of(2)], [&[1][..], &[0, 2], &[3]]);
    }

    #[test]
    fn too_many_hashes_are_sampled_evenly() {
        let mut set = DistinctHashes::new(u64::MAX);
        let inserted = 3 * MOST_TUPLES as u64;
        for number in 0..inserted {
            set.insert(xxh3_64(&number.to_le_bytes()));
        }
        assert!(set.hashes.len() <= MOST_TUPLES && set.bound < u64::MAX);
        assert!((set.distinct() / inserted as f64 - 1.0).abs() < 0.01, "{}", set.distinct());
    }

    #[test]
    fn halving_keeps_the_parts_and_forms_of_the_rest() {
        let mut builder = Builder::default();
        for number in 0..100u64 {
            let parts = [number + 1, number + 1001];
            let hash = tuple_hash(parts.into_iter()).expect("a hash");
            builder.numbers.insert(hash, number as u32);
            builder.parts.extend(parts);
            builder.written.insert((number, number as u32));
            builder.texts.push(vec![number.to_string()]);
        }
        builder.halve(2);
        let tuples = builder.finish(2);
        assert!((50..=51).contains(&tuples.len()));
        for (hash, number) in &tuples.numbers {
            let text = tuples.text(*number).expect("a text");
            let original: u64 = text[0].parse().expect("a number");
            assert_eq!(tuple_hash([original + 1, original + 1001].into_iter()), Some(*hash));
            assert!(tuples.is_written(original, *number));
            assert!(*hash <= tuples.bound);
            let place = tuples.columns[1].hashes.binary_search(&(original + 1001)).expect("a part");
            assert_eq!(tuples.columns[1].tuples_of(place), [*number]);
        }
    }
}
