//! How many rows a union would add: rows of the candidate that the query does not have, compared on the aligned columns.
//!
//! Rows are compared by the normal forms of their cells, so that a reformatted copy is a copy. The files are read again, up to
//! a limit; beyond it the count is of the rows read and says so. Columns are compared one after the other, and only for rows
//! whose cells before were all among the query's: most rows are new by their first cell, and bringing cells to their normal
//! form is what takes the time.

use std::collections::HashSet;
use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::error::Result;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::reader::{self, ReadOptions};
use lakeward_lake::scan;
use lakeward_sketch::normalise::Normaliser;

/// Rows read of each file in a search.
pub const MOST_ROWS: u64 = 20_000;

/// Rows that a union would add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewRows {
    /// Rows of the candidate that the query does not have, of those compared.
    #[schemars(extend("x-sql" = "new_rows"))]
    pub new: u64,
    /// Rows of the candidate that were compared.
    #[schemars(extend("x-sql" = "compared_rows"))]
    pub compared: u64,
    /// Whether all rows of both tables were compared.
    #[schemars(extend("x-sql" = false))]
    pub complete: bool,
}

/// The hashes of a table's cells, column by column.
pub struct RowHashes {
    columns: Vec<Column>,
    rows: usize,
    complete: bool,
    /// Rows read of each file.
    most_rows: u64,
}

#[derive(Default)]
struct Column {
    /// Cell by cell.
    hashes: Vec<u64>,
    /// Ascending, each once.
    different: Vec<u64>,
}

impl RowHashes {
    /// Reads the first `most_rows` of the file `path`, whose columns are `profiles`.
    ///
    /// # Errors
    /// Those of [`reader::open_path`].
    pub fn read(path: &Path, profiles: &[ColumnProfile], most_rows: u64) -> Result<Self> {
        let mut columns: Vec<Column> = Vec::new();
        let mut rows = 0;
        let complete = read_batches(path, profiles, most_rows, |batch, normalisers| {
            columns.resize_with(batch.num_columns(), Column::default);
            rows += batch.num_rows();
            for (place, column) in columns.iter_mut().enumerate() {
                let Some(normaliser) = normalisers.get_mut(place) else { continue };
                scan::for_each_cell(batch.column(place), |cell| column.hashes.push(cell_hash(cell, normaliser)))?;
            }
            Ok(())
        })?;
        for column in &mut columns {
            column.different.clone_from(&column.hashes);
            column.different.sort_unstable();
            column.different.dedup();
        }
        Ok(Self { columns, rows, complete, most_rows })
    }

    /// Number of rows that differ on columns, the first of each pair of `aligned`.
    pub fn different_rows(&self, aligned: &[(usize, usize)]) -> usize {
        (0..self.rows).map(|row| self.row_hash(row, aligned)).collect::<HashSet<u64>>().len()
    }

    /// Compares the table in the file `path`, whose columns are `profiles`, with this one on `aligned` columns: pairs (place here,
    /// place there), those that differ most first.
    ///
    /// # Errors
    /// Those of [`reader::open_path`].
    pub fn new_rows(&self, path: &Path, profiles: &[ColumnProfile], aligned: &[(usize, usize)]) -> Result<NewRows> {
        let mut compared = 0;
        // Of the rows whose cells are all known here, one hash a row.
        let mut known: Vec<u64> = Vec::new();
        let complete = read_batches(path, profiles, self.most_rows, |batch, normalisers| {
            compared += batch.num_rows() as u64;
            let mut rows: Vec<(usize, u64)> = (0..batch.num_rows()).map(|row| (row, 0)).collect();
            for (own, other) in aligned {
                let own = self.columns.get(*own).map_or(&[][..], |column| &column.different);
                let Some(normaliser) = normalisers.get_mut(*other) else { continue };
                keep_known(batch.column(*other), normaliser, own, &mut rows)?;
            }
            known.extend(rows.into_iter().map(|(_, hash)| hash));
            Ok(())
        })?;
        let mut new = compared - known.len() as u64;
        if !known.is_empty() {
            let own: HashSet<u64> = (0..self.rows).map(|row| self.row_hash(row, aligned)).collect();
            new += known.iter().filter(|hash| !own.contains(hash)).count() as u64;
        }
        Ok(NewRows { compared, new, complete: self.complete && complete })
    }

    fn row_hash(&self, row: usize, aligned: &[(usize, usize)]) -> u64 {
        let cell = |place: &usize| self.columns.get(*place).and_then(|column| column.hashes.get(row)).copied();
        aligned.iter().fold(0, |hash, (own, _)| joined(hash, cell(own).unwrap_or(0)))
    }
}

/// Keeps the rows whose cell in `array` is one of ascending `own`, and adds it to their hashes.
fn keep_known(array: &dyn Array, normaliser: &mut Normaliser, own: &[u64], rows: &mut Vec<(usize, u64)>) -> Result<()> {
    let keep = |hash: &mut u64, cell: u64| {
        *hash = joined(*hash, cell);
        own.binary_search(&cell).is_ok()
    };
    if let Some(cells) = array.as_string_opt::<i32>() {
        rows.retain_mut(|(row, hash)| {
            let cell = cells.is_valid(*row).then(|| cells.value(*row));
            keep(hash, cell_hash(cell, normaliser))
        });
        return Ok(());
    }
    let mut hashes = Vec::with_capacity(array.len());
    scan::for_each_cell(array, |cell| hashes.push(cell_hash(cell, normaliser)))?;
    rows.retain_mut(|(row, hash)| keep(hash, hashes.get(*row).copied().unwrap_or(0)));
    Ok(())
}

/// Calls `each` with the first rows of the file `path` and the normalisers of its columns; whether they were all of the table.
fn read_batches(
    path: &Path,
    profiles: &[ColumnProfile],
    most_rows: u64,
    mut each: impl FnMut(&RecordBatch, &mut [Normaliser]) -> Result<()>,
) -> Result<bool> {
    let options = ReadOptions { max_rows: Some(most_rows), ..ReadOptions::default() };
    let mut reader = reader::open_path(path, &options)?;
    let mut normalisers: Vec<Normaliser> =
        profiles.iter().map(|profile| Normaliser::new(profile.writing.clone())).collect();
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows() as u64;
        each(&batch, &mut normalisers)?;
    }
    Ok(rows < most_rows && !reader.report().partial())
}

fn cell_hash(cell: Option<&str>, normaliser: &mut Normaliser) -> u64 {
    cell.map_or(0, |cell| normaliser.value(cell).hash)
}

/// A row's hash with one more cell; cells are well mixed, the product keeps their order.
fn joined(row: u64, cell: u64) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    (row.rotate_left(29) ^ cell).wrapping_mul(ODD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_lake::profile;

    #[test]
    fn rows_are_new_by_what_their_aligned_cells_mean() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let own = write("own.csv", "city,year,people\nParis,2001,5\nLyon,2001,6\nNice,2002,\n");
        let other = write("other.csv", "n,Year,City\n5,2001,PARIS\n7,2002,Lyon\n6,2001,Lille\n,2002,Nice\n");
        let columns = |path: &Path| {
            let mut reader = reader::open_path(path, &ReadOptions::default()).unwrap();
            profile::profile(&scan::scan(reader.as_mut()).unwrap()).columns
        };
        let (own, theirs) = (RowHashes::read(&own, &columns(&own), MOST_ROWS).unwrap(), columns(&other));
        let of = |aligned: &[(usize, usize)]| own.new_rows(&other, &theirs, aligned).unwrap();
        // Lyon and 2002 are both known, but not together.
        assert_eq!(of(&[(0, 2), (1, 1)]), NewRows { compared: 4, new: 2, complete: true });
        assert_eq!(of(&[(1, 1), (0, 2)]).new, 2);
        assert_eq!(of(&[(1, 1)]).new, 0);
        assert_eq!(of(&[(0, 2), (1, 1), (2, 0)]).new, 2);
        assert_eq!(of(&[(2, 2)]).new, 4);
        assert!(own.new_rows(Path::new("nowhere.csv"), &theirs, &[(0, 0)]).is_err());
    }
}
