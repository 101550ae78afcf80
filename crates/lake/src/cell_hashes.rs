//! The cells of a column as hashes, row by row, for comparing whole rows.
//!
//! A column's sketch does not record which row a value is in. To compare rows, the file is read again and its cells are hashed
//! here exactly as in the sketch, by what the profile decided of how the column writes its values.

use arrow::array::Array;
use hashbrown::HashMap;

use super::scan;
use lakeward_core::error::Result;
use lakeward_sketch::normalise::{Normaliser, raw_hash};
use lakeward_sketch::{Cell, Writing};

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellHash {
    /// Hash of the normal form; 0 for a missing value.
    pub normal: u64,
    /// Hash of the trimmed cell as written.
    pub written: u64,
}

/// Distinct cells whose normal form is cached; further ones are normalised at each occurrence.
const MOST_CACHED: usize = 1 << 16;

/// Hashes the cells of one column.
pub struct CellHasher {
    normaliser: Normaliser,
    normal_of: HashMap<u64, Cell>,
}

impl CellHasher {
    /// A hasher for a column that writes its values like this.
    pub fn new(writing: &Writing) -> Self {
        Self { normaliser: Normaliser::new(writing.clone()), normal_of: HashMap::new() }
    }

    /// Appends the hashes of `cells` to `hashes`, one per row.
    ///
    /// # Errors
    /// Those of [`scan::for_each_cell`].
    pub fn push_array(&mut self, cells: &dyn Array, hashes: &mut Vec<CellHash>) -> Result<()> {
        hashes.reserve(cells.len());
        scan::for_each_cell(cells, |cell| {
            hashes.push(cell.map_or(CellHash { normal: 0, written: 0 }, |cell| {
                let (written, Cell { hash: normal, .. }) = self.cell(cell);
                CellHash { normal, written }
            }))
        })
    }

    /// Appends `cells` as their column's sketch knows them to `known`, one per row.
    ///
    /// # Errors
    /// Those of [`scan::for_each_cell`].
    pub fn push_cells(&mut self, cells: &dyn Array, known: &mut Vec<Cell>) -> Result<()> {
        known.reserve(cells.len());
        scan::for_each_cell(cells, |cell| {
            known.push(cell.map_or(Cell::MISSING, |cell| self.cell(cell).1));
        })
    }

    fn cell(&mut self, cell: &str) -> (u64, Cell) {
        let cell = cell.trim();
        let written = raw_hash(cell);
        if let Some(known) = self.normal_of.get(&written) {
            return (written, *known);
        }
        let value = self.normaliser.value(cell);
        let known = Cell { hash: value.hash, number: value.number };
        if self.normal_of.len() < MOST_CACHED {
            self.normal_of.insert(written, known);
        }
        (written, known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{ReadOptions, open_path};

    #[test]
    fn cells_hash_as_in_the_sketch_of_their_column() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        let rows = "cell,people\nDE,645.705\nNA,12.294.193\nFR,150.012\nfr,NA\nZA,-\nUS,1\nBR,2\n";
        for more in ["31/12/2020,x\n01/02/2020,\n\"1,000\",5\n", ""] {
            std::fs::write(&path, format!("{rows}{more}")).expect("a file");
            let open = || open_path(&path, &ReadOptions::default()).expect("a reader");
            let scan = scan::scan(open().as_mut()).expect("a scan");
            let batch = open().next_batch().expect("rows").expect("rows");
            for (cells, sketch) in batch.columns().iter().zip(&scan.sketches) {
                let mut hashes = Vec::new();
                CellHasher::new(&sketch.writing).push_array(cells, &mut hashes).expect("hashes");
                let mut normal: Vec<u64> = hashes.iter().map(|hash| hash.normal).filter(|hash| *hash > 0).collect();
                normal.sort_unstable();
                normal.dedup();
                let mut expected = sketch.hashes.clone();
                expected.dedup();
                assert_eq!(normal, expected, "{:?}", sketch.writing);
            }
        }
    }
}
