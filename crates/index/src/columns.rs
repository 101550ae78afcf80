//! The column store: one fixed-size record per column, with its name, its sorted value hashes and its sample values.
//!
//! Columns of a segment are numbered from 0 in table order, then column order. Hash lists are used to compute exact containment; samples
//! are shown in answers. What columns share is stored once: values ([`pages`]), names, quantiles.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use hashbrown::HashMap;
use rayon::prelude::*;

use super::join::header_hashes;
use super::segment::{Packing, Section, SegmentKind, SegmentStats, SegmentWriter};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use super::varint::{MOST_VARINT_BYTES, push_varint, take_varint};
use lakeward_core::error::{Error, Result};
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType, Weakness};
use lakeward_sketch::{ApproximateForm, ColumnSketch};

mod pages;

use pages::{ColumnValues, Pages, parse_samples, push_samples};

/// One stored column.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct ColumnRecord {
    /// Where its list begins.
    list: u64,
    /// Values with a hash up to this are stored; `u64::MAX` if all are.
    pub bound: u64,
    /// Rows of the table.
    pub rows: u64,
    /// Cells with a value.
    pub present: u64,
    /// Distinct values; an estimate if sampled.
    pub distinct: u64,
    /// The table's number in its segment.
    pub table: u32,
    /// The column's position in its table, from 0.
    pub place: u32,
    list_bytes: u32,
    name: u32,
    /// Cells per distinct value.
    pub multiplicity: f32,
    /// Cells of the most frequent value.
    pub most_frequent: f32,
    /// How much it looks like a key, 0..=1.
    pub key_likeness: f32,
    /// Mean bytes per cell.
    pub mean_length: f32,
    /// The number of its quantiles, or [`NO_NUMBERS`].
    numbers: u32,
    logical: u8,
    semantic: u8,
    weakness: u8,
    sampled: u8,
}

const NO_NUMBERS: u32 = u32::MAX;

/// Mean bytes per cell above which values are sentences.
const LONGEST_VARYING: f64 = 64.0;
const NONE: u8 = u8::MAX;
const LOGICAL: [LogicalType; 7] = [
    LogicalType::Empty,
    LogicalType::Boolean,
    LogicalType::Integer,
    LogicalType::Float,
    LogicalType::Date,
    LogicalType::Timestamp,
    LogicalType::Text,
];
const SEMANTIC: [SemanticType; 17] = [
    SemanticType::Year,
    SemanticType::Time,
    SemanticType::Country,
    SemanticType::CountryCode,
    SemanticType::UsState,
    SemanticType::Latitude,
    SemanticType::Longitude,
    SemanticType::Email,
    SemanticType::Url,
    SemanticType::Identifier,
    SemanticType::Code,
    SemanticType::Name,
    SemanticType::Category,
    SemanticType::FreeText,
    SemanticType::Money,
    SemanticType::Percentage,
    SemanticType::Measure,
];
const WEAKNESS: [Weakness; 6] = [
    Weakness::Year,
    Weakness::Boolean,
    Weakness::Counter,
    Weakness::SmallNumbers,
    Weakness::SmallDomain,
    Weakness::Measure,
];

fn code_of<T: PartialEq>(all: &[T], value: Option<T>) -> u8 {
    value.and_then(|value| all.iter().position(|known| *known == value)).map_or(NONE, |place| place as u8)
}

/// Whether values of type `logical` with `mean_length` bytes per cell may have variants that normalisation does not unify: text of a few
/// words.
pub fn may_vary(logical: LogicalType, mean_length: f64) -> bool {
    logical == LogicalType::Text && mean_length <= LONGEST_VARYING
}

impl ColumnRecord {
    fn list(&self) -> pages::Place {
        pages::Place { start: self.list, bytes: self.list_bytes }
    }

    /// The common type of its cells.
    pub fn logical(&self) -> LogicalType {
        LOGICAL.get(usize::from(self.logical)).copied().unwrap_or(LogicalType::Text)
    }

    /// The semantic type of its values.
    pub fn semantic(&self) -> Option<SemanticType> {
        SEMANTIC.get(usize::from(self.semantic)).copied()
    }

    /// Why its values may match by accident.
    pub fn weakness(&self) -> Option<Weakness> {
        WEAKNESS.get(usize::from(self.weakness)).copied()
    }

    /// Distinct values per non-missing cell, 0..=1.
    pub fn uniqueness(&self) -> f64 {
        if self.multiplicity > 0.0 { 1.0 / f64::from(self.multiplicity) } else { 0.0 }
    }

    /// Whether all values of the rows read are stored.
    pub fn is_exact(&self) -> bool {
        self.bound == u64::MAX
    }

    /// Whether its values [may have variants](may_vary) that normalisation does not unify.
    pub fn may_vary(&self) -> bool {
        may_vary(self.logical(), f64::from(self.mean_length))
    }

    /// Whether only the first rows of its table were read.
    pub fn is_sampled(&self) -> bool {
        self.sampled != 0
    }
}

/// A column that was added: its record, without what is known only of the whole segment, and where its parts are.
#[derive(Clone)]
struct AddedColumn {
    record: ColumnRecord,
    quantiles: [f32; 5],
    values: Range<usize>,
    name: Range<usize>,
    samples: Range<usize>,
}

/// Collects the columns of one segment.
#[derive(Default)]
pub struct ColumnsWriter {
    columns: Vec<AddedColumn>,
    names: Vec<u8>,
    hashes: Vec<u64>,
    variants: Vec<u32>,
    samples: Vec<u8>,
}

impl ColumnsWriter {
    /// Adds the next column, complete or, if `sampled`, only the first rows; returns its number in the segment.
    pub fn push(
        &mut self,
        table: u32,
        place: u32,
        profile: &ColumnProfile,
        sketch: &ColumnSketch,
        sampled: bool,
    ) -> u32 {
        let record = ColumnRecord {
            list: 0,
            bound: sketch.bound,
            rows: sketch.rows,
            present: sketch.present(),
            distinct: sketch.distinct,
            table,
            place,
            list_bytes: 0,
            name: 0,
            multiplicity: sketch.multiplicity as f32,
            most_frequent: sketch.most_frequent as f32,
            key_likeness: profile.key_likeness as f32,
            mean_length: sketch.mean_length as f32,
            numbers: NO_NUMBERS,
            logical: code_of(&LOGICAL, Some(profile.logical)),
            semantic: code_of(&SEMANTIC, profile.semantic),
            weakness: code_of(&WEAKNESS, profile.weakness),
            sampled: u8::from(sampled),
        };
        let quantiles =
            sketch.numbers.map_or([f32::NAN; 5], |numbers| numbers.quantiles.map(|quantile| quantile as f32));
        let samples = sketch.samples.iter().map(|(hash, value)| (*hash, value.as_str()));
        self.add(record, quantiles, &profile.name, (&sketch.hashes, &sketch.variants), samples)
    }

    /// Adds a column of another store as the next one, for table `table` of this segment; returns its number in the segment.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if the other store is damaged.
    pub fn push_stored(&mut self, from: &Columns, record: &ColumnRecord, table: u32) -> Result<u32> {
        let (hashes, variants) = (from.hashes(record)?, from.variants(record)?);
        let stored = ColumnRecord { table, ..*record };
        Ok(self.add(stored, from.quantiles(record)?, from.name(record)?, (&hashes, &variants), from.samples(record)?))
    }

    fn add<'a>(
        &mut self,
        record: ColumnRecord,
        quantiles: [f32; 5],
        name: &str,
        (hashes, variants): (&[u64], &[u32]),
        samples: impl IntoIterator<Item = (u64, &'a str)>,
    ) -> u32 {
        let starts = (self.hashes.len(), self.names.len(), self.samples.len());
        self.names.extend_from_slice(name.as_bytes());
        self.hashes.extend_from_slice(hashes);
        self.variants.extend_from_slice(variants);
        push_samples(&mut self.samples, samples);
        self.columns.push(AddedColumn {
            record,
            quantiles,
            values: starts.0..self.hashes.len(),
            name: starts.1..self.names.len(),
            samples: starts.2..self.samples.len(),
        });
        (self.columns.len() - 1) as u32
    }

    /// Adds the columns of `part`, all from table `table`; returns the number of the first one.
    pub fn append(&mut self, part: &ColumnsWriter, table: u32) -> u32 {
        let first = self.columns.len() as u32;
        let moved = |range: &Range<usize>, start: usize| range.start + start..range.end + start;
        self.columns.extend(part.columns.iter().map(|column| AddedColumn {
            record: ColumnRecord { table, ..column.record },
            quantiles: column.quantiles,
            values: moved(&column.values, self.hashes.len()),
            name: moved(&column.name, self.names.len()),
            samples: moved(&column.samples, self.samples.len()),
        }));
        self.names.extend_from_slice(&part.names);
        self.hashes.extend_from_slice(&part.hashes);
        self.variants.extend_from_slice(&part.variants);
        self.samples.extend_from_slice(&part.samples);
        first
    }

    /// Number of value hashes of all columns added.
    pub fn values(&self) -> usize {
        self.hashes.len()
    }

    /// Number of columns added.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether no column was added.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The record and the value hashes of an added column, as [`Columns::hashes`] returns them.
    pub(super) fn column(&self, column: u32) -> (&ColumnRecord, &[u64]) {
        let column = &self.columns[column as usize];
        (&column.record, &self.hashes[column.values.clone()])
    }

    /// Every (value hash, column) pair: the content of the inverted list.
    pub fn pairs(&self) -> Vec<(u64, u32)> {
        let mut pairs = Vec::with_capacity(self.hashes.len());
        for (number, column) in self.columns.iter().enumerate() {
            let mut previous = 0;
            for hash in &self.hashes[column.values.clone()] {
                // 0 is no value's hash, so the first one always differs.
                if *hash != previous {
                    pairs.push((*hash, number as u32));
                    previous = *hash;
                }
            }
        }
        pairs
    }

    /// Every (variant key, column) pair, from the sample values of columns whose values [may have variants](ColumnRecord::may_vary).
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] if the samples are not in the stored format.
    pub fn variant_pairs(&self) -> Result<Vec<(u64, u32)>> {
        let keys_of = |(number, column): (usize, &AddedColumn)| -> Result<Vec<(u64, u32)>> {
            if !column.record.may_vary() {
                return Ok(Vec::new());
            }
            let bytes = &self.samples[column.samples.clone()];
            let samples = parse_samples(bytes).ok_or_else(|| Error::Internal("samples truncated".into()))?;
            let forms = samples.iter().filter_map(|(_, value)| ApproximateForm::of(value));
            Ok(forms.flat_map(|form| form.keys()).map(|key| (key, number as u32)).collect())
        };
        let pairs: Vec<Vec<(u64, u32)>> = self.columns.par_iter().enumerate().map(keys_of).collect::<Result<_>>()?;
        Ok(pairs.concat())
    }

    /// Every (hash of a name or of one of its words, column) pair.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] if the names are not in the stored format.
    pub fn header_pairs(&self) -> Result<Vec<(u64, u32)>> {
        let hashes_of = |(number, column): (usize, &AddedColumn)| -> Result<Vec<(u64, u32)>> {
            let name = std::str::from_utf8(&self.names[column.name.clone()]);
            let name = name.map_err(|_| Error::Internal("a name that is not UTF-8".into()))?;
            Ok(header_hashes(name).map(|hash| (hash, number as u32)).collect())
        };
        let pairs: Vec<Vec<(u64, u32)>> = self.columns.par_iter().enumerate().map(hashes_of).collect::<Result<_>>()?;
        Ok(pairs.concat())
    }

    fn write(&self, writer: &mut SegmentWriter) -> Result<()> {
        let values: Vec<ColumnValues<'_>> = self
            .columns
            .iter()
            .map(|column| ColumnValues {
                hashes: &self.hashes[column.values.clone()],
                variants: &self.variants[column.values.clone()],
                samples: &self.samples[column.samples.clone()],
            })
            .collect();
        let lists = pages::write(writer, &values)?;
        let (mut names, mut starts, mut numbered) = (Vec::new(), HashMap::new(), HashMap::new());
        let (mut records, mut quantiles) = (Vec::with_capacity(self.columns.len()), Vec::new());
        for (column, list) in self.columns.iter().zip(lists) {
            let name = &self.names[column.name.clone()];
            let start = *starts.entry(name).or_insert_with(|| {
                let start = names.len();
                push_varint(&mut names, name.len() as u32);
                names.extend_from_slice(name);
                start
            });
            let mut numbers = NO_NUMBERS;
            if !column.quantiles[0].is_nan() {
                numbers = *numbered.entry(column.quantiles.map(f32::to_bits)).or_insert_with(|| {
                    quantiles.push(column.quantiles);
                    quantiles.len() as u32 - 1
                });
            }
            let name = u32::try_from(start).map_err(|_| Error::Internal("names of columns take 4 GiB".into()))?;
            let (list, list_bytes) = (list.start, list.bytes);
            records.push(ColumnRecord { list, list_bytes, name, numbers, ..column.record });
        }
        writer.packed_section_of(*b"RECS", Packing::Fast, &records)?;
        writer.section(*b"NAME", &names)?;
        writer.packed_section_of(*b"QUAN", Packing::Fast, &quantiles)
    }
}

/// Writes the column store of a segment. The segment builder collects the columns itself, because other structures use them, too.
pub struct ColumnsFile;

impl StructureWriter for ColumnsFile {
    type Draft = ();

    fn create(_folder: &Path, _shape: VectorShape) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, _draft: &(), _place: &Place) -> Result<()> {
        Ok(())
    }

    fn push_stored(&mut self, _from: &StoredTable<'_>, _place: &Place) -> Result<()> {
        Ok(())
    }

    fn finish(self, folder: &Path, columns: &ColumnsWriter) -> Result<Option<SegmentStats>> {
        let mut writer = Columns::FORMAT.create(folder)?;
        columns.write(&mut writer)?;
        writer.finish().map(Some)
    }
}

/// An opened column store.
#[derive(Debug, Clone)]
pub struct Columns {
    records: Section,
    names: Section,
    quantiles: Section,
    pages: Pages,
}

impl Structure for Columns {
    const FORMAT: FileFormat = FileFormat { name: "columns.seg", kind: SegmentKind(*b"COLS"), version: 3 };
    type Draft = ();
    type Writer = ColumnsFile;

    fn draft(_table: &TableContent<'_>) -> Result<()> {
        Ok(())
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        let file = Self::FORMAT.open(&files.folder)?;
        file.read_here_and_there();
        Ok(Self {
            records: file.section(*b"RECS")?,
            names: file.section(*b"NAME")?,
            quantiles: file.section(*b"QUAN")?,
            pages: Pages::open(&file)?,
        })
    }

    fn fits(&self, _tables: usize, columns: usize) -> bool {
        self.len() == columns
    }
}

impl Columns {
    /// Number of columns.
    pub fn len(&self) -> usize {
        self.records.len() / size_of::<ColumnRecord>()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The record of a column.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] for damaged blocks and impossible numbers, as everything below.
    pub fn record(&self, column: u32) -> Result<&ColumnRecord> {
        let column = column as usize;
        self.records
            .slice::<ColumnRecord>(column..column + 1)?
            .first()
            .ok_or_else(|| self.records.damaged("no such column"))
    }

    /// The name of a column.
    pub fn name(&self, record: &ColumnRecord) -> Result<&str> {
        let start = record.name as usize;
        let mut length = self.names.bytes(start..self.names.len().min(start + MOST_VARINT_BYTES))?;
        let before = length.len();
        let bytes = take_varint(&mut length).ok_or_else(|| self.names.damaged("a name without an end"))? as usize;
        let start = start + before - length.len();
        let bytes = self.names.bytes(start..start.saturating_add(bytes))?;
        std::str::from_utf8(bytes).map_err(|_| self.names.damaged("a name that is not UTF-8"))
    }

    /// 5th, 25th, 50th, 75th and 95th percentile; NaN without numbers.
    pub fn quantiles(&self, record: &ColumnRecord) -> Result<[f32; 5]> {
        if record.numbers == NO_NUMBERS {
            return Ok([f32::NAN; 5]);
        }
        let number = record.numbers as usize;
        Ok(self.quantiles.slice(number..number + 1)?[0])
    }

    /// The stored value hashes, ascending; a value written in several ways occurs once for each. Of a column of more than some thousand
    /// values in place, else some nanoseconds a value.
    pub fn hashes(&self, record: &ColumnRecord) -> Result<Cow<'_, [u64]>> {
        self.pages.hashes(record.list())
    }

    /// Low bits of the hashes of the cells as written, parallel to [`Columns::hashes`].
    pub fn variants(&self, record: &ColumnRecord) -> Result<Cow<'_, [u32]>> {
        self.pages.variants(record.list())
    }

    /// The values with the smallest hashes as written: (hash, value), ascending by hash.
    pub fn samples(&self, record: &ColumnRecord) -> Result<Vec<(u64, &str)>> {
        self.pages.samples(record.list())
    }
}
