//! How many rows a union would add: rows of the candidate that the query does not have, compared on the aligned columns.
//!
//! Rows are compared by the normal forms of their cells, so that a reformatted copy is a copy. The files are read again, up to
//! a limit; beyond it the count is of the rows read and says so.

use std::collections::HashSet;
use std::path::Path;

use arrow::array::RecordBatch;
use schemars::JsonSchema;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::lake::reader::{self, ReadOptions};
use crate::lake::scan;
use crate::sketch::normalise::Normaliser;

/// Rows read of each file for counting.
const MOST_ROWS: u64 = 20_000;

/// Rows that a union would add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewRows {
    /// Rows of the candidate that were compared.
    pub compared: u64,
    /// Those of them that the query does not have.
    pub new: u64,
    /// Whether all rows of both tables were compared.
    pub complete: bool,
}

/// The hashes of a table's cells, column by column.
pub struct RowHashes {
    columns: Vec<Vec<u64>>,
    rows: usize,
    complete: bool,
}

impl RowHashes {
    /// Reads the first rows of the file `path`.
    ///
    /// # Errors
    /// Those of [`reader::open_path`].
    pub fn read(path: &Path) -> Result<Self> {
        let options = ReadOptions { max_rows: Some(MOST_ROWS), ..ReadOptions::default() };
        let mut reader = reader::open_path(path, &options)?;
        let mut columns: Vec<Vec<u64>> = vec![Vec::new(); reader.columns().len()];
        let mut normalisers: Vec<Normaliser> = Vec::new();
        while let Some(batch) = reader.next_batch()? {
            if normalisers.is_empty() {
                normalisers = batch.columns().iter().map(|array| Normaliser::new(scan::date_order(array))).collect();
            }
            push_batch(&batch, &mut normalisers, &mut columns)?;
        }
        let rows = columns.first().map_or(0, Vec::len);
        Ok(Self { columns, rows, complete: (rows as u64) < MOST_ROWS && !reader.report().partial() })
    }

    /// Compares `candidate` with this table on `aligned` columns: pairs (place here, place there).
    pub fn new_rows(&self, candidate: &RowHashes, aligned: &[(usize, usize)]) -> NewRows {
        let own: HashSet<u64> = {
            let places: Vec<usize> = aligned.iter().map(|(own, _)| *own).collect();
            (0..self.rows).map(|row| self.row_hash(row, &places)).collect()
        };
        let places: Vec<usize> = aligned.iter().map(|(_, other)| *other).collect();
        let new = (0..candidate.rows).filter(|row| !own.contains(&candidate.row_hash(*row, &places))).count();
        NewRows { compared: candidate.rows as u64, new: new as u64, complete: self.complete && candidate.complete }
    }

    fn row_hash(&self, row: usize, places: &[usize]) -> u64 {
        places.iter().fold(0, |hash, place| {
            let cell = self.columns.get(*place).and_then(|column| column.get(row)).copied().unwrap_or(0);
            xxh3_64(&[hash.to_le_bytes(), cell.to_le_bytes()].concat())
        })
    }
}

fn push_batch(batch: &RecordBatch, normalisers: &mut [Normaliser], columns: &mut [Vec<u64>]) -> Result<()> {
    for ((array, normaliser), column) in batch.columns().iter().zip(normalisers).zip(columns) {
        scan::for_each_cell(array, |cell| column.push(cell.map_or(0, |cell| normaliser.value(cell).hash)))?;
    }
    Ok(())
}
