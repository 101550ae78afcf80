//! The cells of a column as hashes, row by row, for comparing whole rows.
//!
//! A column's sketch does not record which row a value is in. To compare rows, the file is read again and its cells are hashed
//! here exactly as in the sketch: same normal form, same order of day and month, `NA` either a code or a missing value.

use std::sync::LazyLock;

use arrow::array::Array;
use hashbrown::HashMap;

use super::scan;
use lakeward_core::error::Result;
use lakeward_sketch::column::Cell;
use lakeward_sketch::normalise::{Normaliser, Value, raw_hash};
use lakeward_sketch::temporal::DateOrder;

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
const NA: &str = "NA";

/// Hashes the cells of one column.
pub struct CellHasher {
    normaliser: Normaliser,
    na_is_code: bool,
    normal_of: HashMap<u64, (u64, f64)>,
}

impl CellHasher {
    /// A hasher for the column that begins with `first_cells`; `na_is_code` is the result of [`na_is_a_code`] for it.
    pub fn new(first_cells: &dyn Array, na_is_code: bool) -> Self {
        Self::with_date_order(scan::date_order(first_cells), na_is_code)
    }

    fn with_date_order(order: DateOrder, na_is_code: bool) -> Self {
        Self { normaliser: Normaliser::new(order), na_is_code, normal_of: HashMap::new() }
    }

    /// Appends the hashes of `cells` to `hashes`, one per row.
    ///
    /// # Errors
    /// Those of [`scan::for_each_cell`].
    pub fn push_array(&mut self, cells: &dyn Array, hashes: &mut Vec<CellHash>) -> Result<()> {
        hashes.reserve(cells.len());
        scan::for_each_cell(cells, |cell| {
            hashes.push(cell.map_or(CellHash { normal: 0, written: 0 }, |cell| {
                let (written, known) = self.cell(cell);
                CellHash { normal: known.hash, written }
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
            known.push(cell.map_or(Cell::MISSING, |cell| {
                let Cell { hash, number } = self.cell(cell).1;
                Cell { hash: if hash == 0 && cell.trim() == NA { Cell::NA } else { hash }, number }
            }))
        })
    }

    fn cell(&mut self, cell: &str) -> (u64, Cell) {
        let cell = cell.trim();
        let written = raw_hash(cell);
        if let Some((hash, number)) = self.normal_of.get(&written) {
            return (written, Cell { hash: *hash, number: *number });
        }
        let Value { hash, number, .. } =
            if self.na_is_code && cell == NA { self.normaliser.word(cell) } else { self.normaliser.value(cell) };
        if self.normal_of.len() < MOST_CACHED {
            self.normal_of.insert(written, (hash, number));
        }
        (written, Cell { hash, number })
    }
}

/// The hash of a cell written `NA`: that of the word in a column where it `is_code`, else 0 for a missing value.
pub fn na_counts(is_code: bool) -> u64 {
    static WORD: LazyLock<u64> = LazyLock::new(|| Normaliser::default().word(NA).hash);
    if is_code { *WORD } else { 0 }
}

/// Whether the sketch of a column counted `NA` as a code: its hash is among the column's `hashes` (ascending), and the cells
/// are pairs of capitals. In other columns the same hash may come from the word, e.g. the symbol of sodium.
pub fn na_is_a_code(patterns: &[(String, f64)], hashes: &[u64]) -> bool {
    let pairs = patterns.first().is_some_and(|(pattern, share)| pattern == "A{2}" && *share >= 0.9);
    pairs && hashes.binary_search(&na_counts(true)).is_ok()
}

#[cfg(test)]
mod tests {
    use arrow::array::StringArray;

    use super::*;
    use crate::semantic;
    use lakeward_sketch::column::{ColumnSketchBuilder, SketchLimits};

    #[test]
    fn cells_hash_as_in_the_sketch_of_their_column() {
        let cells = ["DE", "NA", "FR", "", "fr", "ZA", "US", "BR", "31/12/2020", "01/02/2020", "1,000"];
        for cells in [&cells[..], &cells[..8]] {
            let array = StringArray::from(cells.to_vec());
            let order = scan::date_order(&array);
            let mut builder = ColumnSketchBuilder::new(SketchLimits::default(), order);
            cells.iter().for_each(|cell| {
                builder.push(cell);
            });
            let mut sketch = builder.finish();
            if semantic::na_is_a_code(&sketch) {
                sketch.count_na_as_code();
            }
            let mut hasher = CellHasher::new(&array, na_is_a_code(&sketch.patterns, &sketch.hashes));
            let mut hashes = Vec::new();
            hasher.push_array(&array, &mut hashes).expect("hashes");
            let mut normal: Vec<u64> = hashes.iter().map(|hash| hash.normal).filter(|hash| *hash > 0).collect();
            normal.sort_unstable();
            normal.dedup();
            let mut expected = sketch.hashes.clone();
            expected.dedup();
            assert_eq!(normal, expected, "{cells:?}");
        }
    }
}
