//! One pass over a candidate's file that counts which of the query's combinations are rows of it, for several mappings at once.
//!
//! Memory holds a mark for each of the query's combinations, and the hashes of the candidate's combinations, sampled beyond a
//! million. A file that changed after it was indexed is counted as it is now and marked as changed.

use std::path::Path;

use arrow::array::RecordBatch;

use super::mapping::Mapping;
use super::tuples::{DistinctHashes, QueryTuples, row_text, tuple_hash, written_hash};
use lakeward_core::error::{Error, Result};
use lakeward_index::Segment;
use lakeward_lake::cell_hashes::{CellHash, CellHasher};
use lakeward_lake::location::Location;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::reader::{self, ReadOptions};
use lakeward_lake::source;

/// Matching combinations kept as examples, of those that differ as written and of those that do not.
const SHOWN: usize = 3;

/// The counts of one pass for one mapping.
#[derive(Debug, Default)]
pub struct Counts {
    /// Combinations of the query that are rows of the candidate.
    pub shared: u64,
    /// Those of them that are also equal as written.
    pub as_written: u64,
    /// Their weight.
    pub weight: f64,
    /// Distinct combinations of the candidate, in the range of hashes that both sides kept.
    pub candidate_tuples: u64,
    /// Number of the query's combinations in that range, and of the shared ones among them.
    pub compared: (u64, u64),
    /// Whether neither side was sampled.
    pub exact: bool,
    /// Distinct combinations per row, 0..=1.
    pub uniqueness: f64,
    /// Matching rows of the candidate per matching combination.
    pub fan_out: f64,
    /// Matching combinations as both sides write them, those that differ first.
    pub matches: Vec<(Vec<String>, Vec<String>)>,
}

/// The result of one pass over a file.
pub struct Pass {
    /// The counts of each mapping, in the order given.
    pub counts: Vec<Counts>,
    /// Rows read.
    pub rows: u64,
    /// Whether the file has changed since it was indexed.
    pub changed: bool,
}

/// Counts `tuples` in the file of table `table` under each of `mappings`.
///
/// # Errors
/// The errors of reading the file; [`Error::Unreadable`] where it no longer has the mapped columns.
pub fn count(lake: &Path, segment: &Segment, table: u32, tuples: &QueryTuples, mappings: &[Mapping]) -> Result<Pass> {
    let stamp = segment.tables.stamp(table)?;
    let path = source::file_path(lake, &stamp.path)?;
    let changed = has_changed(&path, &stamp)?;
    // As many rows as were indexed: the bounds of this table refer to those.
    let max_rows = (stamp.sample_rows > 0).then_some(u64::from(stamp.sample_rows));
    let mut reader = reader::open_path(&path, &ReadOptions { max_rows, ..ReadOptions::default() })?;
    let mut mapped: Vec<u32> = mappings.iter().flat_map(|mapping| mapping.columns.iter().copied()).collect();
    mapped.sort_unstable();
    mapped.dedup();
    let dataset = segment.tables.dataset(table)?;
    let (profiles, writing) = (dataset.columns(), |profile: &ColumnProfile| profile.writing.clone());
    let mut columns: Vec<MappedColumn> = Vec::with_capacity(mapped.len());
    for column in &mapped {
        let record = segment.columns.record(*column)?;
        let name = segment.columns.name(record)?;
        let place = record.place as usize;
        let same_place = reader.columns().get(place).is_some_and(|column| column.name == name);
        let found =
            if same_place { Some(place) } else { reader.columns().iter().position(|column| column.name == name) };
        let place = found.ok_or_else(|| Error::unreadable(&path, format!("it has no column `{name}` any more")))?;
        columns.push(MappedColumn {
            place,
            hasher: CellHasher::new(&profiles.get(record.place as usize).map(writing).unwrap_or_default()),
            cells: Vec::new(),
        });
    }
    let mut tallies: Vec<Tally> = Vec::with_capacity(mappings.len());
    for mapping in mappings {
        let of = |column: &u32| mapped.binary_search(column).unwrap_or_default();
        tallies.push(Tally::new(mapping.columns.iter().map(of).collect(), tuples));
    }
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows() as u64;
        for column in &mut columns {
            column.push_batch(&batch)?;
        }
        for tally in &mut tallies {
            tally.push_batch(&batch, &columns, tuples)?;
        }
    }
    Ok(Pass { counts: tallies.into_iter().map(|tally| tally.finish(tuples)).collect(), rows, changed })
}

/// Whether the file at `path` differs from `stamp`: by its size, or by its content where the times differ.
fn has_changed(path: &Path, stamp: &lakeward_index::table_store::FileStamp) -> Result<bool> {
    let (bytes, changed) = Location::of(path).file_stamp().map_err(|error| Error::io("read", path, error))?;
    if bytes != stamp.read_bytes {
        return Ok(true);
    }
    if changed == stamp.modified_ns && stamp.modified_ns > 0 {
        return Ok(false);
    }
    Ok(source::content_hash(path)?.as_bytes() != &stamp.content)
}

/// A column of the candidate that a mapping uses.
struct MappedColumn {
    place: usize,
    hasher: CellHasher,
    cells: Vec<CellHash>,
}

impl MappedColumn {
    fn push_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let array = batch.column(self.place);
        self.cells.clear();
        self.hasher.push_array(array, &mut self.cells)
    }
}

const FOUND: u8 = 1;
const FOUND_AS_WRITTEN: u8 = 2;

/// The counts of one mapping while the file is read.
struct Tally {
    /// Place of each part among the mapped columns.
    parts: Vec<usize>,
    /// One mark for each of the query's combinations.
    marks: Vec<u8>,
    candidate: DistinctHashes,
    full_rows: u64,
    matching_rows: u64,
    shared: u64,
    as_written: u64,
    differing: Vec<(u32, Vec<String>)>,
    alike: Vec<(u32, Vec<String>)>,
}

impl Tally {
    fn new(parts: Vec<usize>, tuples: &QueryTuples) -> Self {
        Self {
            parts,
            marks: vec![0; tuples.len()],
            candidate: DistinctHashes::new(tuples.bound),
            full_rows: 0,
            matching_rows: 0,
            shared: 0,
            as_written: 0,
            differing: Vec::new(),
            alike: Vec::new(),
        }
    }

    fn push_batch(&mut self, batch: &RecordBatch, columns: &[MappedColumn], tuples: &QueryTuples) -> Result<()> {
        for row in 0..batch.num_rows() {
            let cells = self.parts.iter().map(|part| columns[*part].cells[row]);
            let Some(hash) = tuple_hash(cells.clone().map(|cell| cell.normal)) else { continue };
            self.full_rows += 1;
            self.candidate.insert(hash);
            let Some(number) = tuples.number(hash) else { continue };
            self.matching_rows += 1;
            let mark = self.marks[number as usize];
            if mark & FOUND_AS_WRITTEN != 0 {
                continue;
            }
            let as_written = written_hash(cells).is_some_and(|written| tuples.is_written(written, number));
            self.shared += u64::from(mark == 0);
            self.as_written += u64::from(as_written);
            self.marks[number as usize] = FOUND | if as_written { FOUND_AS_WRITTEN } else { 0 };
            let shown = if as_written { &mut self.alike } else { &mut self.differing };
            if mark == 0 && shown.len() < SHOWN && tuples.text(number).is_some() {
                let places: Vec<usize> = self.parts.iter().map(|part| columns[*part].place).collect();
                shown.push((number, row_text(batch, &places, row)?));
            }
        }
        Ok(())
    }

    fn finish(self, tuples: &QueryTuples) -> Counts {
        let bound = self.candidate.bound.min(tuples.bound);
        let exact = bound == u64::MAX;
        let weight = |(mark, weight): (&u8, &f32)| if *mark == 0 { 0.0 } else { f64::from(*weight) };
        let compared = if bound == tuples.bound {
            (tuples.len() as u64, self.shared)
        } else {
            tuples.count_up_to(bound, |number| self.marks[number as usize] != 0)
        };
        let matches = self.differing.into_iter().chain(self.alike);
        Counts {
            shared: self.shared,
            as_written: self.as_written,
            weight: self.marks.iter().zip(&tuples.weights).map(weight).sum(),
            candidate_tuples: self.candidate.up_to(bound),
            compared,
            exact,
            uniqueness: (self.candidate.distinct() / self.full_rows.max(1) as f64).clamp(0.0, 1.0),
            fan_out: if self.shared == 0 { 0.0 } else { self.matching_rows as f64 / self.shared as f64 },
            matches: matches
                .filter_map(|(number, theirs)| Some((tuples.text(number)?.to_vec(), theirs)))
                .take(SHOWN)
                .collect(),
        }
    }
}
