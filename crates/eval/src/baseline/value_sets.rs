//! The distinct values of every column of a lake, and how many of a query's values each of them contains.
//!
//! Containment and Jaccard baselines are computed from these: exact counts by one sorted list of (value, column) pairs.
//! Memory: 16 bytes for each distinct value of each column; the cells themselves are not stored.

use super::PlainTable;
use super::cell_form::CellForm;

/// The value sets of a lake's columns.
#[derive(Default)]
pub(super) struct ValueSets {
    form: CellForm,
    columns: Vec<ColumnSet>,
    /// First column of each table, followed by the number of columns.
    first_columns: Vec<usize>,
    /// (hash of a value, column), ascending once finished.
    pairs: Vec<(u64, u32)>,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnSet {
    /// Its table, by number.
    pub table: u32,
    /// Hash of its folded header; `None` without a header.
    pub header: Option<u64>,
    /// Number of distinct values.
    pub values: u32,
}

impl ValueSets {
    pub fn new(form: CellForm) -> Self {
        ValueSets { form, first_columns: vec![0], ..ValueSets::default() }
    }

    /// Adds the next table.
    pub fn add(&mut self, table: &PlainTable) {
        let number = self.tables() as u32;
        for (header, cells) in table.headers.iter().zip(&table.columns) {
            let column = self.columns.len() as u32;
            let values = self.form.hashes(cells);
            self.pairs.extend(values.iter().map(|value| (*value, column)));
            let header = CellForm::Folded.hash(header);
            self.columns.push(ColumnSet { table: number, header, values: values.len() as u32 });
        }
        self.first_columns.push(self.columns.len());
    }

    /// Finishes adding; must be called before searching.
    pub fn finish(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.shrink_to_fit();
    }

    /// Number of tables.
    pub fn tables(&self) -> usize {
        self.first_columns.len() - 1
    }

    /// Columns of table `table`.
    pub fn width(&self, table: u32) -> usize {
        self.first_columns[table as usize + 1] - self.first_columns[table as usize]
    }

    /// The columns, by number.
    pub fn columns(&self) -> &[ColumnSet] {
        &self.columns
    }

    /// The values of a query column in this lake's form, ascending, each once.
    pub fn values_of(&self, cells: &[String]) -> Vec<u64> {
        self.form.hashes(cells)
    }

    /// How many of the distinct `values` each column contains; one number per column.
    pub fn shared(&self, values: &[u64]) -> Vec<u32> {
        let mut shared = vec![0; self.columns.len()];
        for value in values {
            let start = self.pairs.partition_point(|(other, _)| other < value);
            let holders = self.pairs[start..].iter().take_while(|(other, _)| other == value);
            holders.for_each(|(_, column)| shared[*column as usize] += 1);
        }
        shared
    }
}
