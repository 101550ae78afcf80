//! Harder forms of a benchmark: without the metadata records of its tables, or without headers.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use arrow::array::{Array, ArrayRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::benchmark::Benchmark;
use super::layout::{Document, documents};
use lakeward_core::error::{Error, Result};
use lakeward_lake::reader::{Column, ReadOptions, TableReader, open_path};

/// The part of a benchmark that systems see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DocumentForm {
    /// Everything: the tables and the records of `corpus.jsonl`.
    #[default]
    Titles,
    /// Only the tables.
    Cells,
    /// Only the tables, with the headers of lake and query tables replaced by `c1`, `c2`, ….
    Masked,
}

lakeward_core::names! { DocumentForm, "Its name on the command line and in reports.":
    Titles = "titles",
    Cells = "cells",
    Masked = "masked",
}

impl DocumentForm {
    /// `benchmark` in this form. Files are written below `place`, an empty folder.
    ///
    /// # Errors
    /// [`Error::Usage`] if nothing would be left to search; [`Error::Io`]. Unreadable tables are left out and reported as
    /// problems.
    pub fn apply(self, mut benchmark: Benchmark, place: &Path) -> Result<Benchmark> {
        if self == DocumentForm::Titles {
            return Ok(benchmark);
        }
        let Some(lake) = benchmark.lake.clone() else {
            let what = format!("form `{}` of a benchmark without tables: its records are all there is", self.name());
            return Err(Error::usage(what));
        };
        benchmark.corpus = None;
        if self == DocumentForm::Masked {
            mask(&mut benchmark, &lake, place)?;
        }
        Ok(benchmark)
    }
}

fn mask(benchmark: &mut Benchmark, lake: &Path, place: &Path) -> Result<()> {
    let masked_lake = place.join("lake");
    let tables = documents(lake)?;
    let mut origins: HashMap<PathBuf, PathBuf> = HashMap::new();
    for Document { id, path } in tables {
        let relative = PathBuf::from(format!("{id}.csv"));
        let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
        let target = masked_lake.join(&relative);
        let written =
            if inside { masked(&path, &target) } else { Err(Error::unreadable(&path, "its id is not a valid path")) };
        match written {
            Ok(_) => {
                origins.insert(path, target);
            }
            Err(error @ Error::Io { action: "write" | "create", .. }) => return Err(error),
            Err(error) => benchmark.problems.add("tables that could not be masked; left out", &error.to_string()),
        }
    }
    let mut problems = std::mem::take(&mut benchmark.problems);
    let mut number = 0;
    benchmark.queries.retain_mut(|labelled| {
        let Some(path) = labelled.query.table.clone() else { return true };
        number += 1;
        let target = place.join("queries").join(format!("{number}.csv"));
        let made = masked(&path, &target).and_then(|columns| {
            labelled.query.column = match &labelled.query.column {
                Some(name) => Some(masked_name(&columns, name, &labelled.query.id)?),
                None => None,
            };
            let id = &labelled.query.id;
            let several = labelled.query.columns.iter().map(|name| masked_name(&columns, name, id));
            labelled.query.columns = several.collect::<Result<_>>()?;
            Ok(())
        });
        labelled.query.table = Some(target);
        if let Err(error) = &made {
            problems.add("queries whose table could not be masked; left out", &error.to_string());
        }
        made.is_ok()
    });
    benchmark.problems = problems;
    benchmark.lake = Some(masked_lake);
    Ok(())
}

/// The masked header of the column `name`.
fn masked_name(columns: &[Column], name: &str, table: &str) -> Result<String> {
    let exact = columns.iter().position(|column| column.name == name || column.header == name);
    let folded = || columns.iter().position(|column| column.name.eq_ignore_ascii_case(name.trim()));
    exact.or_else(folded).map(|place| format!("c{}", place + 1)).ok_or_else(|| Error::UnknownColumn {
        table: table.to_string(),
        name: name.to_string(),
        nearest: lakeward_core::error::nearest_names(name, columns.iter().map(|column| column.name.as_str()), 5),
    })
}

/// Writes the table in `path` to `target` as CSV with the headers `c1`, `c2`, …, batch by batch; returns the original columns.
fn masked(path: &Path, target: &Path) -> Result<Vec<Column>> {
    let mut reader: Box<dyn TableReader> = open_path(path, &ReadOptions::default())?;
    let columns = reader.columns().to_vec();
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    }
    let io = |error: csv::Error| Error::io("write", target, error.into());
    let mut out = csv::Writer::from_path(target).map_err(io)?;
    out.write_record((1..=columns.len()).map(|number| format!("c{number}"))).map_err(io)?;
    while let Some(batch) = reader.next_batch()? {
        let options = FormatOptions::default();
        let unreadable = |error: arrow::error::ArrowError| Error::unreadable(path, error.to_string());
        let formatters: Vec<(&ArrayRef, ArrayFormatter<'_>)> = batch
            .columns()
            .iter()
            .map(|array| Ok((array, ArrayFormatter::try_new(array.as_ref(), &options).map_err(unreadable)?)))
            .collect::<Result<_>>()?;
        for row in 0..batch.num_rows() {
            for (array, formatter) in &formatters {
                let cell = if array.is_null(row) { String::new() } else { formatter.value(row).to_string() };
                out.write_field(cell).map_err(io)?;
            }
            out.write_record(None::<&[u8]>).map_err(io)?;
        }
    }
    out.flush().map_err(|error| Error::io("write", target, error))?;
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_masked_and_cells_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, "City,\"Note, long\"\nParis,\"a \"\"b\"\"\nc\"\nRome,\n").unwrap();
        let target = folder.path().join("deep/t.csv");
        let columns = masked(&path, &target).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "c1,c2\nParis,\"a \"\"b\"\"\nc\"\nRome,\n");
        assert_eq!(masked_name(&columns, "Note, long", "t").unwrap(), "c2");
        assert_eq!(masked_name(&columns, "city", "t").unwrap(), "c1");
        assert!(masked_name(&columns, "Towns", "t").is_err());
        let names: Vec<String> =
            open_path(&target, &ReadOptions::default()).unwrap().columns().iter().map(|c| c.name.clone()).collect();
        assert_eq!(names, ["c1", "c2"]);
    }
}
