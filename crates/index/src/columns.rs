//! The column store: one fixed-size record per column, with its name, its sorted value hashes and its sample values.
//!
//! Columns of a segment are numbered from 0 in table order, then column order. Hash lists are used to compute exact containment; samples
//! are shown in answers.

use std::path::Path;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::join::header_hashes;
use super::segment::{Section, SegmentKind, SegmentStats};
use super::structure::{
    FileFormat, Place, SegmentFiles, StoredTable, Structure, StructureWriter, TableContent, VectorShape,
};
use lakeward_core::error::{Error, Result};
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::semantic::{LogicalType, SemanticType, Weakness};
use lakeward_sketch::{ApproximateForm, ColumnSketch};

/// One stored column.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct ColumnRecord {
    values_start: u64,
    names_start: u64,
    samples_start: u64,
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
    values_len: u32,
    names_len: u32,
    samples_len: u32,
    /// Cells per distinct value.
    pub multiplicity: f32,
    /// Cells of the most frequent value.
    pub most_frequent: f32,
    /// How much it looks like a key, 0..=1.
    pub key_likeness: f32,
    /// Mean bytes per cell.
    pub mean_length: f32,
    /// 5th, 25th, 50th, 75th and 95th percentile; NaN without numbers.
    pub quantiles: [f32; 5],
    logical: u8,
    semantic: u8,
    weakness: u8,
    sampled: u8,
    reserved: [u8; 4],
}

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

/// Collects the columns of one segment.
#[derive(Default)]
pub struct ColumnsWriter {
    records: Vec<ColumnRecord>,
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
        let samples_start = self.samples.len();
        for (hash, value) in &sketch.samples {
            self.samples.extend_from_slice(&hash.to_le_bytes());
            self.samples.extend_from_slice(&(value.len() as u16).to_le_bytes());
            self.samples.extend_from_slice(value.as_bytes());
        }
        let quantiles =
            sketch.numbers.map_or([f32::NAN; 5], |numbers| numbers.quantiles.map(|quantile| quantile as f32));
        self.records.push(ColumnRecord {
            values_start: self.hashes.len() as u64,
            names_start: self.names.len() as u64,
            samples_start: samples_start as u64,
            bound: sketch.bound,
            rows: sketch.rows,
            present: sketch.present(),
            distinct: sketch.distinct,
            table,
            place,
            values_len: sketch.hashes.len() as u32,
            names_len: profile.name.len() as u32,
            samples_len: (self.samples.len() - samples_start) as u32,
            multiplicity: sketch.multiplicity as f32,
            most_frequent: sketch.most_frequent as f32,
            key_likeness: profile.key_likeness as f32,
            mean_length: sketch.mean_length as f32,
            quantiles,
            logical: code_of(&LOGICAL, Some(profile.logical)),
            semantic: code_of(&SEMANTIC, profile.semantic),
            weakness: code_of(&WEAKNESS, profile.weakness),
            sampled: u8::from(sampled),
            reserved: [0; 4],
        });
        self.names.extend_from_slice(profile.name.as_bytes());
        self.hashes.extend_from_slice(&sketch.hashes);
        self.variants.extend_from_slice(&sketch.variants);
        (self.records.len() - 1) as u32
    }

    /// Adds a column of another store as the next one, for table `table` of this segment; returns its number in the segment.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`] if the other store is damaged.
    pub fn push_stored(&mut self, from: &Columns, record: &ColumnRecord, table: u32) -> Result<u32> {
        let stored = ColumnRecord {
            values_start: self.hashes.len() as u64,
            names_start: self.names.len() as u64,
            samples_start: self.samples.len() as u64,
            table,
            ..*record
        };
        self.hashes.extend_from_slice(from.hashes(record)?);
        self.variants.extend_from_slice(from.variants(record)?);
        self.names.extend_from_slice(from.name(record)?.as_bytes());
        self.samples.extend_from_slice(from.sample_bytes(record)?);
        self.records.push(stored);
        Ok((self.records.len() - 1) as u32)
    }

    /// Adds the columns of `part`, all from table `table`; returns the number of the first one.
    pub fn append(&mut self, part: &ColumnsWriter, table: u32) -> u32 {
        let first = self.records.len() as u32;
        self.records.extend(part.records.iter().map(|record| ColumnRecord {
            values_start: record.values_start + self.hashes.len() as u64,
            names_start: record.names_start + self.names.len() as u64,
            samples_start: record.samples_start + self.samples.len() as u64,
            table,
            ..*record
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
        self.records.len()
    }

    /// Whether no column was added.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The record and the value hashes of an added column, as [`Columns::hashes`] returns them.
    pub(super) fn column(&self, column: u32) -> (&ColumnRecord, &[u64]) {
        let record = &self.records[column as usize];
        let start = record.values_start as usize;
        (record, &self.hashes[start..start + record.values_len as usize])
    }

    /// Every (value hash, column) pair: the content of the inverted list.
    pub fn pairs(&self) -> Vec<(u64, u32)> {
        let mut pairs = Vec::with_capacity(self.hashes.len());
        for (column, record) in self.records.iter().enumerate() {
            let start = record.values_start as usize;
            let mut previous = 0;
            for hash in &self.hashes[start..start + record.values_len as usize] {
                // 0 is no value's hash, so the first one always differs.
                if *hash != previous {
                    pairs.push((*hash, column as u32));
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
        let keys_of = |(column, record): (usize, &ColumnRecord)| -> Result<Vec<(u64, u32)>> {
            if !record.may_vary() {
                return Ok(Vec::new());
            }
            let start = record.samples_start as usize;
            let bytes = &self.samples[start..start + record.samples_len as usize];
            let samples = parse_samples(bytes).ok_or_else(|| Error::Internal("samples truncated".into()))?;
            let forms = samples.iter().filter_map(|(_, value)| ApproximateForm::of(value));
            Ok(forms.flat_map(|form| form.keys()).map(|key| (key, column as u32)).collect())
        };
        let pairs: Vec<Vec<(u64, u32)>> = self.records.par_iter().enumerate().map(keys_of).collect::<Result<_>>()?;
        Ok(pairs.concat())
    }

    /// Every (hash of a name or of one of its words, column) pair.
    ///
    /// # Errors
    /// [`lakeward_core::Error::Internal`] if the names are not in the stored format.
    pub fn header_pairs(&self) -> Result<Vec<(u64, u32)>> {
        let hashes_of = |(column, record): (usize, &ColumnRecord)| -> Result<Vec<(u64, u32)>> {
            let start = record.names_start as usize;
            let name = std::str::from_utf8(&self.names[start..start + record.names_len as usize]);
            let name = name.map_err(|_| Error::Internal("a name that is not UTF-8".into()))?;
            Ok(header_hashes(name).map(|hash| (hash, column as u32)).collect())
        };
        let pairs: Vec<Vec<(u64, u32)>> = self.records.par_iter().enumerate().map(hashes_of).collect::<Result<_>>()?;
        Ok(pairs.concat())
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
        writer.section_of(*b"RECS", &columns.records)?;
        writer.section(*b"NAME", &columns.names)?;
        writer.section_of(*b"HASH", &columns.hashes)?;
        writer.section_of(*b"VARI", &columns.variants)?;
        writer.section(*b"SAMP", &columns.samples)?;
        writer.finish().map(Some)
    }
}

/// An opened column store.
#[derive(Debug, Clone)]
pub struct Columns {
    records: Section,
    names: Section,
    hashes: Section,
    variants: Section,
    samples: Section,
}

impl Structure for Columns {
    const FORMAT: FileFormat = FileFormat { name: "columns.seg", kind: SegmentKind(*b"COLS"), version: 1 };
    type Draft = ();
    type Writer = ColumnsFile;

    fn draft(_table: &TableContent<'_>) -> Result<()> {
        Ok(())
    }

    fn open(files: &SegmentFiles<'_>) -> Result<Self> {
        let file = Self::FORMAT.open(&files.folder)?;
        Ok(Self {
            records: file.section(*b"RECS")?,
            names: file.section(*b"NAME")?,
            hashes: file.section(*b"HASH")?,
            variants: file.section(*b"VARI")?,
            samples: file.section(*b"SAMP")?,
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
        let start = record.names_start as usize;
        let bytes = self.names.bytes(start..start.saturating_add(record.names_len as usize))?;
        std::str::from_utf8(bytes).map_err(|_| self.names.damaged("a name that is not UTF-8"))
    }

    /// The stored value hashes, ascending; a value written in several ways occurs once for each.
    pub fn hashes(&self, record: &ColumnRecord) -> Result<&[u64]> {
        let start = record.values_start as usize;
        self.hashes.slice(start..start.saturating_add(record.values_len as usize))
    }

    /// Low bits of the hashes of the cells as written, parallel to [`Columns::hashes`].
    pub fn variants(&self, record: &ColumnRecord) -> Result<&[u32]> {
        let start = record.values_start as usize;
        self.variants.slice(start..start.saturating_add(record.values_len as usize))
    }

    fn sample_bytes(&self, record: &ColumnRecord) -> Result<&[u8]> {
        let start = record.samples_start as usize;
        self.samples.bytes(start..start.saturating_add(record.samples_len as usize))
    }

    /// The values with the smallest hashes as written: (hash, value), ascending by hash.
    pub fn samples(&self, record: &ColumnRecord) -> Result<Vec<(u64, &str)>> {
        parse_samples(self.sample_bytes(record)?).ok_or_else(|| self.samples.damaged("samples truncated or not UTF-8"))
    }
}

/// The (hash, value) pairs in `bytes`; `None` if they are truncated or not UTF-8.
fn parse_samples(bytes: &[u8]) -> Option<Vec<(u64, &str)>> {
    let mut rest = bytes;
    let mut samples = Vec::new();
    while let Some((head, after)) = rest.split_at_checked(10) {
        let (hash, length) = head.split_at(8);
        let hash = u64::from_le_bytes(hash.try_into().ok()?);
        let (value, next) = after.split_at_checked(usize::from(u16::from_le_bytes(length.try_into().ok()?)))?;
        samples.push((hash, std::str::from_utf8(value).ok()?));
        rest = next;
    }
    Some(samples)
}
