//! Cells of a column that name the total of other rows: `Total`, `World`, `All ages`.

use std::collections::BTreeSet;

use arrow::array::StringArray;
use lakeward_lake::semantic::TOTALS;
use lakeward_sketch::normalise::without_footnotes;

/// Longest of them with what may stand around it.
const LONGEST_BYTES: usize = 24;
/// Longest values of a column of codes, among which ALL is the Albanian lek.
const CODE_CHARS: usize = 3;

/// Counts such cells.
#[derive(Debug, Default)]
pub(super) struct Totals {
    rows: u64,
    /// Their different cells.
    cells: BTreeSet<String>,
    /// Whether a value is too long for a code.
    words: bool,
}

impl Totals {
    pub fn count(&mut self, cells: &StringArray) {
        for cell in cells.iter().flatten() {
            self.words |= cell.len() > CODE_CHARS;
            if cell.len() <= LONGEST_BYTES {
                let name = without_footnotes(cell.trim());
                if TOTALS.iter().any(|total| name.eq_ignore_ascii_case(total)) {
                    self.rows += 1;
                    if !self.cells.contains(cell) {
                        self.cells.insert(cell.to_string());
                    }
                }
            }
        }
    }

    /// The different cells, as they are written.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(String::as_str)
    }

    /// Rows with such a cell.
    pub fn rows(&self) -> u64 {
        if self.words { self.rows } else { 0 }
    }
}
