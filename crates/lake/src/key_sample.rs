//! What a table's columns are worth for each value of a key: an aligned sample of keys, with one mean or label per key and column.
//!
//! The sample holds the keys with the smallest hashes. Two tables that have a key in common therefore sample the same part of it, and their
//! rows in the sample are a uniform sample of the join (Santos et al., "Correlation Sketches for Approximate Join-Correlation Queries",
//! SIGMOD 2021). A key that was dropped never returns, so means over the rows are exact for the keys that are kept. With a limit that no
//! table reaches, the sample is the whole table grouped by the key.

use std::collections::BinaryHeap;
use std::path::Path;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::cell_hashes::CellHasher;
use super::profile::{ColumnProfile, TableProfile};
use super::reader::{self, ReadOptions};
use super::semantic::LogicalType;
use lakeward_core::error::{Error, Result};
use lakeward_sketch::{Cell, stored};

/// How the cells of one key become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// Numbers and dates: their mean.
    Number,
    /// Labels: the one that most rows have, if one has a majority (Boyer and Moore, "MJRTY", 1981).
    Label,
}

impl Measure {
    /// How a column's cells are aggregated; `None` for a column without values.
    pub fn of(column: &ColumnProfile) -> Option<Self> {
        match column.logical {
            LogicalType::Empty => None,
            LogicalType::Text | LogicalType::Boolean => Some(Self::Label),
            _ => Some(Self::Number),
        }
    }
}

/// A column whose values are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueColumn {
    /// Its place in the table.
    pub place: usize,
    /// How its cells are aggregated.
    pub measure: Measure,
}

/// What a column has for one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Aggregate {
    sum: f64,
    label: u64,
    /// Numbers summed, or the lead of the label over all others.
    count: u32,
}

/// A sample of the keys of a table with the aggregated values of its columns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeySample {
    /// Places of the one or two key columns.
    pub key: Vec<usize>,
    /// The value columns.
    pub values: Vec<ValueColumn>,
    limit: usize,
    #[serde(with = "stored::pairs")]
    slots: HashMap<u64, u32>,
    /// The hashes kept, greatest first; only filled once the limit is reached.
    greatest: BinaryHeap<u64>,
    /// Rows of each slot.
    rows: Vec<u32>,
    /// Slot by slot, one per value column.
    cells: Vec<Aggregate>,
}

/// The hash of a combination, from the hashes of its parts in order; `None` where one is missing (0).
pub fn tuple_hash(parts: impl Iterator<Item = u64>) -> Option<u64> {
    let mut hash = 0u64;
    for part in parts {
        if part == 0 {
            return None;
        }
        let mut pair = [0; 16];
        pair[..8].copy_from_slice(&hash.to_le_bytes());
        pair[8..].copy_from_slice(&part.to_le_bytes());
        hash = xxh3_64(&pair);
    }
    Some(hash)
}

/// The hash of a key: that of its only part, or of the combination.
fn key_hash(mut parts: impl ExactSizeIterator<Item = u64>) -> Option<u64> {
    if parts.len() == 1 { parts.next().filter(|hash| *hash != 0) } else { tuple_hash(parts) }
}

impl KeySample {
    /// An empty sample of at most `limit` keys.
    pub fn new(key: Vec<usize>, values: Vec<ValueColumn>, limit: usize) -> Self {
        Self {
            key,
            values,
            limit: limit.max(1),
            slots: HashMap::new(),
            greatest: BinaryHeap::new(),
            rows: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// A sample of the same columns without rows.
    pub fn emptied(&self) -> Self {
        Self::new(self.key.clone(), self.values.clone(), self.limit)
    }

    /// The sample of all value columns from those of some each, over the same rows; `None` where they are of others.
    pub(crate) fn joined(parts: Vec<Self>) -> Option<Self> {
        let first = parts.first()?;
        let slots = first.slots.len();
        let is_whole = |part: &Self| {
            part.key == first.key
                && part.limit == first.limit
                && part.slots == first.slots
                && part.rows == first.rows
                && part.rows.len() == slots
                && part.slots.values().all(|slot| (*slot as usize) < slots)
                && part.cells.len() == slots * part.values.len()
        };
        if !parts.iter().all(is_whole) {
            return None;
        }
        let values = parts.iter().flat_map(|part| part.values.iter().enumerate().map(move |value| (part, value)));
        let mut values: Vec<(&Self, (usize, &ValueColumn))> = values.collect();
        values.sort_by_key(|(_, (_, value))| value.place);
        let cell =
            |slot: usize, (part, (at, _)): &(&Self, (usize, &ValueColumn))| part.cells[slot * part.values.len() + at];
        let cells = (0..slots).flat_map(|slot| values.iter().map(move |value| cell(slot, value))).collect();
        let values = values.iter().map(|(_, (_, value))| **value).collect();
        Some(Self { values, cells, ..first.clone() })
    }

    /// Ends a sample that gets no more rows: what it would have to drop first is forgotten.
    pub(crate) fn end(&mut self) {
        self.greatest = BinaryHeap::new();
    }

    /// The places of its columns in the table.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.key.iter().copied().chain(self.values.iter().map(|value| value.place))
    }

    /// Adds rows; `column` returns the cells of a column by its place in the table.
    pub fn push<'a>(&mut self, rows: usize, column: impl Fn(usize) -> &'a [Cell]) {
        let keys: Vec<&[Cell]> = self.key.iter().map(|place| column(*place)).collect();
        let values: Vec<(&[Cell], Measure)> =
            self.values.iter().map(|value| (column(value.place), value.measure)).collect();
        for row in 0..rows {
            let parts = keys.iter().map(|cells| cells[row].hash);
            let Some(slot) = key_hash(parts).and_then(|hash| self.slot(hash)) else { continue };
            self.rows[slot] = self.rows[slot].saturating_add(1);
            let width = values.len();
            for ((cells, measure), aggregate) in values.iter().zip(&mut self.cells[slot * width..][..width]) {
                let cell = cells[row];
                match measure {
                    Measure::Number if !cell.number.is_nan() => {
                        aggregate.sum += cell.number;
                        aggregate.count += 1;
                    }
                    Measure::Label if cell.hash != 0 => {
                        if aggregate.count == 0 {
                            (aggregate.label, aggregate.count) = (cell.hash, 1);
                        } else if aggregate.label == cell.hash {
                            aggregate.count += 1;
                        } else {
                            aggregate.count -= 1;
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// The slot of a key, made if the key belongs to the sample.
    fn slot(&mut self, hash: u64) -> Option<usize> {
        if let Some(slot) = self.slots.get(&hash) {
            return Some(*slot as usize);
        }
        let width = self.values.len();
        if self.slots.len() < self.limit {
            let slot = self.slots.len();
            self.slots.insert(hash, slot as u32);
            self.rows.push(0);
            self.cells.resize((slot + 1) * width, Aggregate::default());
            if self.slots.len() == self.limit {
                self.greatest = self.slots.keys().copied().collect();
            }
            return Some(slot);
        }
        let greatest = *self.greatest.peek()?;
        if hash > greatest {
            return None;
        }
        self.greatest.pop();
        self.greatest.push(hash);
        let slot = self.slots.remove(&greatest)?;
        self.slots.insert(hash, slot);
        self.rows[slot as usize] = 0;
        self.cells[slot as usize * width..][..width].fill(Aggregate::default());
        Some(slot as usize)
    }

    /// Number of keys in the sample.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether it has no key.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether keys may have been dropped.
    pub fn is_full(&self) -> bool {
        self.slots.len() == self.limit
    }

    /// The keys' hashes, ascending, each with its slot.
    pub fn keys(&self) -> Vec<(u64, u32)> {
        let mut keys: Vec<(u64, u32)> = self.slots.iter().map(|(hash, slot)| (*hash, *slot)).collect();
        keys.sort_unstable();
        keys
    }

    /// Rows of the table that have the key in `slot`.
    pub fn rows(&self, slot: u32) -> u32 {
        self.rows[slot as usize]
    }

    /// The mean of value column `value` for the key in `slot`, if any row has a number.
    pub fn number(&self, slot: u32, value: usize) -> Option<f64> {
        let cell = self.cells[slot as usize * self.values.len() + value];
        (cell.count > 0).then(|| cell.sum / f64::from(cell.count))
    }

    /// The label of value column `value` for the key in `slot`, if one has a majority.
    pub fn label(&self, slot: u32, value: usize) -> Option<u64> {
        let cell = self.cells[slot as usize * self.values.len() + value];
        (cell.count > 0).then_some(cell.label)
    }

    /// Whether numbers of value column `value` were averaged anywhere: whether a key has several rows with a number.
    pub fn is_averaged(&self, value: usize) -> bool {
        self.cells.iter().skip(value).step_by(self.values.len().max(1)).any(|cell| cell.count > 1)
    }
}

/// Reads the file `path`, or its first `max_rows` rows, into `samples`, which are empty, of the table that `profile` describes.
///
/// # Errors
/// Those of [`reader::open_path`] and of reading the rows; [`Error::Unreadable`] if the file no longer has the columns.
pub fn read(path: &Path, profile: &TableProfile, max_rows: Option<u64>, samples: &mut [KeySample]) -> Result<()> {
    let mut needed: Vec<usize> = samples.iter().flat_map(KeySample::places).collect();
    needed.sort_unstable();
    needed.dedup();
    let names = needed.iter().filter_map(|place| Some(profile.columns.get(*place)?.name.clone()));
    let only = Some(names.collect());
    let mut reader = reader::open_path(path, &ReadOptions { max_rows, only, ..ReadOptions::default() })?;
    let same = |place: &usize| {
        let name = profile.columns.get(*place).map(|column| column.name.as_str());
        name.is_some() && reader.columns().get(*place).map(|column| column.name.as_str()) == name
    };
    if !needed.iter().all(same) {
        let reason = "its columns have changed since it was indexed; run `lakeward index`".to_string();
        return Err(Error::Unreadable { path: path.to_path_buf(), reason });
    }
    let mut hashers: Vec<CellHasher> =
        needed.iter().map(|place| CellHasher::new(&profile.columns[*place].writing)).collect();
    let mut cells: Vec<Vec<Cell>> = vec![Vec::new(); profile.columns.len()];
    while let Some(batch) = reader.next_batch()? {
        for (place, hasher) in needed.iter().zip(&mut hashers) {
            cells[*place].clear();
            hasher.push_cells(batch.column(*place), &mut cells[*place])?;
        }
        for sample in samples.iter_mut() {
            sample.push(batch.num_rows(), |place| &cells[place]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(numbers: &[f64]) -> Vec<Cell> {
        numbers.iter().map(|number| Cell { hash: xxh3_64(&number.to_le_bytes()), number: *number }).collect()
    }

    #[test]
    fn a_small_sample_has_the_keys_of_smallest_hash_with_exact_aggregates() {
        let key: Vec<f64> = (0..5_000).map(|row| f64::from(row % 1_000)).collect();
        let value: Vec<f64> = (0..5_000).map(|row| f64::from(row * row % 977)).collect();
        let label: Vec<f64> =
            (0..5_000).map(|row| f64::from(row % 1_000 % 7 + if row < 1_000 { 1 } else { 0 })).collect();
        let columns = [cells(&key), cells(&value), cells(&label)];
        let values =
            [ValueColumn { place: 1, measure: Measure::Number }, ValueColumn { place: 2, measure: Measure::Label }];
        let sampled = |limit: usize| {
            let mut sample = KeySample::new(vec![0], values.to_vec(), limit);
            for start in (0..5_000).step_by(700) {
                let rows = start..(start + 700).min(5_000);
                sample.push(rows.len(), |place| &columns[place][rows.clone()]);
            }
            sample
        };
        let (all, few) = (sampled(100_000), sampled(64));
        assert_eq!((all.len(), all.is_full(), few.len(), few.is_full()), (1_000, false, 64, true));
        assert!(all.is_averaged(0));
        for ((hash, slot), (expected, all_slot)) in few.keys().into_iter().zip(all.keys()) {
            assert_eq!((hash, few.rows(slot)), (expected, 5));
            assert_eq!(few.number(slot, 0), all.number(all_slot, 0));
            assert_eq!(few.label(slot, 1), all.label(all_slot, 1));
        }
        // Four of five rows of key 3 say 3.
        let three = cells(&[3.0])[0].hash;
        let slot = all.keys().into_iter().find(|(hash, _)| *hash == three).unwrap().1;
        assert_eq!(all.label(slot, 1), Some(three));
        let mean = (0..5).map(|turn| f64::from((3 + 1_000 * turn) * (3 + 1_000 * turn) % 977)).sum::<f64>() / 5.0;
        assert_eq!(all.number(slot, 0), Some(mean));
    }

    #[test]
    fn a_missing_part_is_no_key() {
        let columns = [cells(&[1.0, 2.0, 3.0]), vec![Cell::MISSING, Cell::MISSING, cells(&[9.0])[0]]];
        let mut sample = KeySample::new(vec![0, 1], Vec::new(), 10);
        sample.push(3, |place| &columns[place]);
        assert_eq!(sample.len(), 1);
    }
}
