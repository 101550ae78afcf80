//! The SQL functions, as `.slt` files tell: every query of `tests/program/slt/*.slt` with its rows or its error, over the sample lake.

use std::path::Path;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use lakeward::functions;
use lakeward_core::Error;
use lakeward_operate::{LakeContext, Limits, Rows};
use sqllogictest::{DBOutput, DefaultColumnType, Runner};

use crate::place::sample;

/// A context whose queries an `.slt` file asks one after the other.
struct Database(LakeContext);

/// An error with its hint, as people see it.
#[derive(Debug)]
struct Shown(Error);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        self.0.hint().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Shown {}

impl sqllogictest::DB for Database {
    type Error = Shown;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Shown> {
        let mut rows = self.0.query(sql, None).map_err(Shown)?;
        let types = rows.columns().iter().map(|column| kind(&column.data_type)).collect();
        let rows = cells(&mut rows).map_err(Shown)?;
        Ok(DBOutput::Rows { types, rows })
    }
}

/// `I` for whole numbers, `R` for others, `T` for text and for true and false, `?` for the rest.
fn kind(data_type: &str) -> DefaultColumnType {
    match data_type {
        integer if integer.starts_with("Int") || integer.starts_with("UInt") => DefaultColumnType::Integer,
        "Float32" | "Float64" => DefaultColumnType::FloatingPoint,
        "Boolean" | "Utf8" | "Utf8View" | "LargeUtf8" => DefaultColumnType::Text,
        _ => DefaultColumnType::Any,
    }
}

fn cells(rows: &mut Rows<'_>) -> Result<Vec<Vec<String>>, Error> {
    let options = FormatOptions::default().with_null("NULL").with_display_error(true);
    let mut all = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        let columns: Vec<ArrayFormatter> = batch
            .columns()
            .iter()
            .map(|array| ArrayFormatter::try_new(array, &options).expect("a type with a text"))
            .collect();
        let text = |cell: String| if cell.is_empty() { "(empty)".to_string() } else { cell };
        for row in 0..batch.num_rows() {
            all.push(columns.iter().map(|column| text(column.value(row).to_string())).collect());
        }
    }
    Ok(all)
}

#[test]
fn every_query_of_the_slt_files() {
    let folder = Path::new(crate::REPOSITORY).join("tests/program/slt");
    let mut files: Vec<_> =
        folder.read_dir().expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    let mut failures = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "slt")) {
        let mut runner =
            Runner::new(|| async { functions::context(sample(), Limits::default()).map(Database).map_err(Shown) });
        runner.with_column_validator(sqllogictest::strict_column_validator);
        if let Err(error) = runner.run_file(file) {
            failures.push(error.display(false).to_string());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn a_context_is_shared_by_threads() {
    let asked: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                let context = functions::context(sample(), Limits::default())?;
                let mut rows = context.query("SELECT count(*) FROM lake_joinable('us/states', 'code')", None)?;
                cells(&mut rows)
            })
        })
        .collect();
    let answers: Vec<_> = asked.into_iter().map(|thread| thread.join().expect("no panic").expect("rows")).collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]) && answers[0][0][0] != "0", "{answers:?}");
}
