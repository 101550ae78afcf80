//! The distinct values of every column of a lake, and how many of a query's values each of them holds.
//!
//! What containment and Jaccard baselines are computed from: exact counts by one sorted list of (value, column) pairs.
//! Memory: 16 bytes for each distinct value of each column; the cells themselves are not kept.

use super::PlainTable;
use super::cell_form::CellForm;

/// The value sets of a lake's columns.
#[derive(Default)]
pub(super) struct ValueSets {
    form: CellForm,
    columns: Vec<ColumnSet>,
    /// First column of each table, and at the end the number of columns.
    first_columns: Vec<usize>,
    /// (hash of a value, column), ascending once finished.
    pairs: Vec<(u64, u32)>,
}

/// What is kept of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnSet {
    /// Its table, by number.
    pub table: u32,
    /// Hash of its folded header; none where it has no header.
    pub header: Option<u64>,
    /// Distinct values.
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

    /// Ends adding; nothing is found before.
    pub fn finish(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.shrink_to_fit();
    }

    /// Tables added.
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

    /// The values of a query column in the form of this lake's, ascending, each once.
    pub fn values_of(&self, cells: &[String]) -> Vec<u64> {
        self.form.hashes(cells)
    }

    /// How many of the distinct `values` each column holds; one number a column.
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
