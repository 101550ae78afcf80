//! What goes with what: for each key of a table, the keys of smallest hash and, aligned to them, one byte per column of figures.
//!
//! Of numbers the byte is the rank of the key's mean among the keys that are stored, 1..=255: ranks instead of values, as the estimate of
//! a correlation from values fails on skewed data (ARCHITECTURE.md). Of labels it is the number of the key's label. 0 means missing. Two
//! tables that share keys store the same of them, so their bytes can be compared without reading a file. A key of two columns is stored by
//! the hash of both, in column order; those of one column are nearly always the first values of that column, and then not stored again.

use std::borrow::Cow;
use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::columns::{Columns, ColumnsWriter};
use super::segment::{Packing, Section, SegmentKind, SegmentStats};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use lakeward_core::error::Result;
use lakeward_lake::join_keys::{LEAST_KEYS, MOST_LABELS};
use lakeward_lake::key_sample::{KeySample, Measure};

/// Keys stored of each key column, or pair: the error of a correlation is about 1/√(keys that match).
pub const MOST_KEYS: usize = 1024;
/// The second column of a key that has only one.
const NO_COLUMN: u32 = u32::MAX;
/// The place of hashes that are the first ones of the key's column.
const OF_COLUMN: u64 = u64::MAX;
/// The greatest rank.
const GREATEST_RANK: f64 = 255.0;

/// One stored key.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct KeyRecord {
    /// The table's number in its segment.
    pub table: u32,
    columns: [u32; 2],
    hashes: u32,
    values: u32,
    first_value: u32,
    first_hash: u64,
    first_code: u64,
}

impl KeyRecord {
    /// The key's columns, as numbers in the segment, in column order.
    pub fn columns(&self) -> &[u32] {
        if self.columns[1] == NO_COLUMN { &self.columns[..1] } else { &self.columns }
    }
}

/// One column of figures stored for a key.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct ValueRecord {
    /// The column's number in the segment.
    pub column: u32,
    labels: u32,
}

impl ValueRecord {
    /// Whether its codes number labels; else they are ranks.
    pub fn measure(&self) -> Measure {
        if self.labels == 0 { Measure::Number } else { Measure::Label }
    }
}

/// The codes of value column `value` of `sample`, whose `keys` are those stored, in order: ranks 1..=255 of numbers, where equal
/// numbers share their middle rank, or numbers 1..=255 of labels; 0 where there is none. Empty if all are equal, if fewer than 25 are
/// known, or if there are more labels.
pub fn codes(sample: &KeySample, keys: &[(u64, u32)], value: usize) -> Vec<u8> {
    let mut codes = vec![0u8; keys.len()];
    match sample.values[value].measure {
        Measure::Number => {
            let mut known: Vec<(f64, usize)> = Vec::with_capacity(keys.len());
            known.extend(
                keys.iter().enumerate().filter_map(|(place, (_, slot))| Some((sample.number(*slot, value)?, place))),
            );
            known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let (all, mut before) = (known.len(), 0usize);
            for equal in known.chunk_by(|a, b| a.0 == b.0) {
                if equal.len() == all {
                    return Vec::new();
                }
                let middle = before as f64 + (equal.len() - 1) as f64 / 2.0;
                let rank = 1.0 + (middle / (all - 1) as f64 * (GREATEST_RANK - 1.0)).round();
                equal.iter().for_each(|(_, place)| codes[*place] = rank as u8);
                before += equal.len();
            }
        }
        Measure::Label => {
            let of_keys: Vec<Option<u64>> = keys.iter().map(|(_, slot)| sample.label(*slot, value)).collect();
            let mut labels: Vec<u64> = of_keys.iter().flatten().copied().collect();
            labels.sort_unstable();
            labels.dedup();
            if labels.len() < 2 || labels.len() as u64 > MOST_LABELS {
                return Vec::new();
            }
            for (code, label) in codes.iter_mut().zip(of_keys) {
                *code = label.and_then(|label| labels.binary_search(&label).ok()).map_or(0, |place| place as u8 + 1);
            }
        }
    }
    if (codes.iter().filter(|code| **code > 0).count() as u64) < LEAST_KEYS { Vec::new() } else { codes }
}

/// A key of a table in stored layout, with column places in the table.
pub struct KeyDraft {
    columns: [u32; 2],
    hashes: Vec<u64>,
    values: Vec<ValueRecord>,
    codes: Vec<u8>,
}

impl KeyDraft {
    /// `None` for a key of fewer than 25 values, or without a column of figures.
    fn of(sample: &KeySample) -> Option<Self> {
        let keys = sample.keys();
        if (keys.len() as u64) < LEAST_KEYS {
            return None;
        }
        let second = sample.key.get(1).map_or(NO_COLUMN, |place| *place as u32);
        let mut draft = Self {
            columns: [*sample.key.first()? as u32, second],
            hashes: keys.iter().map(|(hash, _)| *hash).collect(),
            values: Vec::new(),
            codes: Vec::new(),
        };
        for (value, column) in sample.values.iter().enumerate() {
            let codes = codes(sample, &keys, value);
            if !codes.is_empty() {
                let labels = u32::from(column.measure == Measure::Label);
                draft.values.push(ValueRecord { column: column.place as u32, labels });
                draft.codes.extend(codes);
            }
        }
        (!draft.values.is_empty()).then_some(draft)
    }
}

/// Collects the keys of one segment. Memory: that of its file.
#[derive(Default)]
pub struct CorrelationsWriter {
    keys: Vec<KeyRecord>,
    hashes: Vec<u64>,
    values: Vec<ValueRecord>,
    codes: Vec<u8>,
}

impl CorrelationsWriter {
    /// Adds a key whose columns are numbered from `from` on; they are stored with numbers from `first` on.
    fn push_key(
        &mut self,
        table: u32,
        key: [u32; 2],
        hashes: &[u64],
        values: &[ValueRecord],
        codes: &[u8],
        shift: Shift,
    ) {
        self.keys.push(KeyRecord {
            table,
            columns: key.map(|column| if column == NO_COLUMN { NO_COLUMN } else { shift.of(column) }),
            hashes: hashes.len() as u32,
            values: values.len() as u32,
            first_value: self.values.len() as u32,
            first_hash: self.hashes.len() as u64,
            first_code: self.codes.len() as u64,
        });
        self.hashes.extend_from_slice(hashes);
        self.values.extend(values.iter().map(|value| ValueRecord { column: shift.of(value.column), ..*value }));
        self.codes.extend_from_slice(codes);
    }
}

/// From the numbers that a table's columns had to those they get.
#[derive(Clone, Copy)]
struct Shift {
    from: u32,
    to: u32,
}

impl Shift {
    fn of(self, column: u32) -> u32 {
        column.wrapping_sub(self.from).wrapping_add(self.to)
    }
}

impl StructureWriter for CorrelationsWriter {
    type Draft = Vec<KeyDraft>;

    fn create(_folder: &Path, _shape: VectorShape) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, draft: &Vec<KeyDraft>, place: &Place) -> Result<()> {
        let shift = Shift { from: 0, to: place.columns.start };
        for key in draft {
            self.push_key(place.table, key.columns, &key.hashes, &key.values, &key.codes, shift);
        }
        Ok(())
    }

    fn push_stored(&mut self, from: &StoredTable<'_>, place: &Place) -> Result<()> {
        let stored = &from.segment.correlations;
        let shift = Shift { from: from.columns()?.start, to: place.columns.start };
        for key in stored.of_table(from.table)? {
            let (hashes, values) = (stored.hashes(key, &from.segment.columns)?, stored.values(key)?);
            self.push_key(place.table, key.columns, &hashes, values, stored.codes(key)?, shift);
        }
        Ok(())
    }

    fn finish(mut self, folder: &Path, columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        let mut kept = Vec::new();
        for key in &mut self.keys {
            let hashes = &self.hashes[key.first_hash as usize..][..key.hashes as usize];
            let is_first_of = |column: &u32| columns.column(*column).1.starts_with(hashes);
            if key.columns().len() == 1 && key.columns().iter().all(is_first_of) {
                key.first_hash = OF_COLUMN;
            } else {
                key.first_hash = kept.len() as u64;
                kept.extend_from_slice(hashes);
            }
        }
        let mut file = Correlations::FORMAT.create(folder)?;
        file.packed_section_of(*b"KEYS", Packing::Small, &self.keys)?;
        file.section_of(*b"HASH", &kept)?;
        file.packed_section_of(*b"VALS", Packing::Small, &self.values)?;
        file.packed_section_of(*b"CODE", Packing::Small, &self.codes)?;
        file.finish().map(Some)
    }
}

/// The keys of an opened segment, read in place.
#[derive(Debug)]
pub struct Correlations {
    keys: Section,
    hashes: Section,
    values: Section,
    codes: Section,
}

impl Structure for Correlations {
    const FORMAT: FileFormat = FileFormat { name: "correlations.seg", kind: SegmentKind(*b"CORR"), version: 3 };
    type Draft = Vec<KeyDraft>;
    type Writer = CorrelationsWriter;

    fn draft(table: &TableContent<'_>) -> Result<Vec<KeyDraft>> {
        Ok(table.samples.iter().filter_map(KeyDraft::of).collect())
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        let file = Self::FORMAT.open(&files.folder)?;
        let section = |tag| file.section(tag);
        Ok(Self {
            keys: section(*b"KEYS")?,
            hashes: section(*b"HASH")?,
            values: section(*b"VALS")?,
            codes: section(*b"CODE")?,
        })
    }

    fn fits(&self, _tables: usize, columns: usize) -> bool {
        columns > 0 || self.keys.is_empty()
    }
}

impl Correlations {
    /// All keys, by table.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if the file is damaged, as below.
    pub fn keys(&self) -> Result<&[KeyRecord]> {
        self.keys.all()
    }

    /// The keys of `table`.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn of_table(&self, table: u32) -> Result<&[KeyRecord]> {
        let keys = self.keys()?;
        let start = keys.partition_point(|key| key.table < table);
        Ok(&keys[start..start + keys[start..].partition_point(|key| key.table == table)])
    }

    /// The hashes stored of a key, ascending. If there are [`MOST_KEYS`], keys with greater hashes are not stored. `columns` are those of its
    /// segment.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn hashes<'a>(&'a self, key: &KeyRecord, columns: &'a Columns) -> Result<Cow<'a, [u64]>> {
        let count = key.hashes as usize;
        if key.first_hash != OF_COLUMN {
            let start = key.first_hash as usize;
            return self.hashes.slice(start..start.saturating_add(count)).map(Cow::Borrowed);
        }
        let hashes = columns.hashes(columns.record(key.columns[0])?)?;
        if hashes.len() < count {
            return Err(self.keys.damaged("a key with more values than its column"));
        }
        Ok(match hashes {
            Cow::Borrowed(hashes) => Cow::Borrowed(&hashes[..count]),
            Cow::Owned(mut hashes) => {
                hashes.truncate(count);
                Cow::Owned(hashes)
            }
        })
    }

    /// The columns of figures of a key.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn values(&self, key: &KeyRecord) -> Result<&[ValueRecord]> {
        let start = key.first_value as usize;
        self.values.slice(start..start + key.values as usize)
    }

    /// The codes of a key's columns of figures, one column after the other, each as long as its hashes.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn codes(&self, key: &KeyRecord) -> Result<&[u8]> {
        let start = key.first_code as usize;
        self.codes.slice(start..start.saturating_add(key.hashes as usize * key.values as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_lake::key_sample::ValueColumn;
    use lakeward_sketch::Cell;

    fn sample(values: &[f64], measure: Measure) -> KeySample {
        let cell = |number: f64| Cell { hash: if number.is_nan() { 0 } else { 2 + number.to_bits() }, number };
        let keys: Vec<Cell> = (0..values.len()).map(|key| cell(key as f64)).collect();
        let values: Vec<Cell> = values.iter().map(|value| cell(*value)).collect();
        let mut sample = KeySample::new(vec![0], vec![ValueColumn { place: 1, measure }], 10_000);
        sample.push(keys.len(), |place| if place == 0 { &keys } else { &values });
        sample
    }

    #[test]
    fn codes_are_ranks_or_numbers_of_labels() {
        let numbers: Vec<f64> = (0..511).map(|key| f64::from(key).exp()).collect();
        let sampled = sample(&numbers, Measure::Number);
        let mut by_value: Vec<(u64, u8)> = sampled
            .keys()
            .into_iter()
            .zip(codes(&sampled, &sampled.keys(), 0))
            .map(|((_, slot), code)| (u64::from(slot), code))
            .collect();
        by_value.sort_unstable();
        assert_eq!((by_value[0].1, by_value[510].1), (1, 255), "skew does not matter");
        assert!(by_value.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        let halves: Vec<f64> = (0..60).map(|key| if key == 7 { f64::NAN } else { f64::from(key % 2) }).collect();
        for (measure, expected) in [(Measure::Number, vec![0, 65, 193]), (Measure::Label, vec![0, 1, 2])] {
            let sampled = sample(&halves, measure);
            let mut found = codes(&sampled, &sampled.keys(), 0);
            found.sort_unstable();
            found.dedup();
            // Equal numbers share their middle rank.
            let close = found.iter().zip(&expected).all(|(found, expected)| i32::from(*found).abs_diff(*expected) <= 2);
            assert!(found.len() == 3 && close, "{found:?}");
        }
        assert!(codes(&sample(&[5.0; 60], Measure::Number), &sample(&[5.0; 60], Measure::Number).keys(), 0).is_empty());
        let few: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(codes(&sample(&few, Measure::Number), &sample(&few, Measure::Number).keys(), 0).is_empty());
    }
}
