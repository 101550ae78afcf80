//! Random plans over the sample lake give DuckDB's results. `scripts/random_plans.py` makes the plans and the results, which are
//! stored; `scripts/plan_results.py` says what the figures of a result are.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, TimeUnit};
use flate2::read::GzDecoder;
use lakeward::{BuildOptions, LakeContext, Lakeward, Limits, Place, Plan, Silent};
use lakeward_operate::{PreviewLimits, plan_preview, plan_sql};
use serde::Deserialize;

/// A difference of numbers, in parts of the sum of their sizes, that is none.
const TOLERANCE: f64 = 1e-7;
/// A difference that is none whatever the numbers: the deviation of equal values may be one.
const NOISE: f64 = 1e-12;

/// Of so many plans one is previewed step by step, too.
const PREVIEWED: usize = 8;

/// A plan with its result.
#[derive(Deserialize)]
struct Line {
    plan: serde_json::Value,
    /// Name and kind of each column.
    columns: Vec<(String, String)>,
    ordered: bool,
    result: Figures,
}

/// What of a result does not depend on the order of equal rows and on the last digits of numbers.
#[derive(Debug, Default, Deserialize)]
struct Figures {
    rows: usize,
    digest: String,
    /// Weighted sum, the same of sizes, and missing ones of each column of numbers.
    totals: Vec<(f64, f64, usize)>,
}

/// FNV-1a over the cells of a row, each followed by a separator.
fn row_hash<'c>(cells: impl Iterator<Item = Option<&'c str>>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for cell in cells {
        for &byte in cell.map_or(&b"\0"[..], str::as_bytes).iter().chain(b"\x1f") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

/// A column as text in the one spelling of its kind.
fn spelled(array: &ArrayRef, kind: &str) -> Result<ArrayRef, String> {
    let through = match kind {
        "whole" => DataType::Int64,
        "date" => DataType::Date32,
        "time" => DataType::Timestamp(TimeUnit::Second, None),
        "boolean" => DataType::Boolean,
        _ => DataType::Utf8,
    };
    if kind == "whole" && array.data_type().is_floating() {
        return Err(format!("whole numbers are of type {}", array.data_type()));
    }
    let typed = cast(array, &through).map_err(|error| error.to_string())?;
    cast(&typed, &DataType::Utf8).map_err(|error| error.to_string())
}

fn figures(context: &LakeContext, line: &Line) -> Result<Figures, String> {
    let plan = Plan::from_json(&line.plan.to_string()).map_err(|error| error.to_string())?;
    let sql = plan_sql(context, &plan).map_err(|error| error.to_string())?;
    let mut answer = context.query(&sql, None).map_err(|error| error.to_string())?;
    let is_number = |place: &usize| line.columns[*place].1 == "number";
    let (loose, exact): (Vec<usize>, Vec<usize>) = (0..line.columns.len()).partition(is_number);
    let mut found = Figures { totals: vec![(0.0, 0.0, 0); loose.len()], ..Figures::default() };
    let mut digest = 0_u64;
    while let Some(batch) = answer.next_batch().map_err(|error| error.to_string())? {
        let names: Vec<&str> = batch.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
        if !names.iter().copied().eq(line.columns.iter().map(|(name, _)| name.as_str())) {
            return Err(format!("columns {names:?}"));
        }
        let texts = exact.iter().map(|&place| spelled(batch.column(place), &line.columns[place].1));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        let numbers = loose.iter().map(|&place| cast(batch.column(place), &DataType::Float64));
        let numbers = numbers.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        for row in 0..batch.num_rows() {
            let number = line.ordered.then(|| found.rows.to_string());
            let cells = texts.iter().map(|text| text.is_valid(row).then(|| text.as_string::<i32>().value(row)));
            let hash = row_hash(number.as_deref().map(Some).into_iter().chain(cells));
            digest = digest.wrapping_add(hash);
            #[allow(clippy::cast_precision_loss, reason = "53 bits are a double's own")]
            let weight = 0.5 + (hash >> 11) as f64 / (1_u64 << 53) as f64;
            for (total, numbers) in found.totals.iter_mut().zip(&numbers) {
                if numbers.is_valid(row) {
                    let value = weight * numbers.as_primitive::<Float64Type>().value(row);
                    total.0 += value;
                    total.1 += value.abs();
                } else {
                    total.2 += 1;
                }
            }
            found.rows += 1;
        }
    }
    found.digest = format!("{digest:016x}");
    Ok(found)
}

/// Whether steps one by one give as many rows as the whole, each from the one before.
fn previewed(context: &LakeContext, line: &Line) -> Result<(), String> {
    let plan = Plan::from_json(&line.plan.to_string()).map_err(|error| error.to_string())?;
    let preview = plan_preview(context, &plan, &PreviewLimits::default()).map_err(|error| error.to_string())?;
    let (expected, found) = (line.result.rows as u64, preview.rows_out);
    if preview.stopped.is_some() || expected == found { Ok(()) } else { Err(format!("{expected} rows, found {found}")) }
}

/// What differs first.
fn difference(expected: &Figures, found: &Figures) -> Option<String> {
    if (expected.rows, &expected.digest) != (found.rows, &found.digest) {
        return Some(format!("expected {expected:?}, found {found:?}"));
    }
    let differs = |(one, other): (&(f64, f64, usize), &(f64, f64, usize))| {
        // A sum that is no number lies near none.
        let near = (one.0 - other.0).abs() <= (TOLERANCE * one.1).max(NOISE);
        one.2 != other.2 || !near
    };
    let place = expected.totals.iter().zip(&found.totals).position(differs)?;
    Some(format!("numbers {place}: expected {:?}, found {:?}", expected.totals[place], found.totals[place]))
}

#[test]
fn random_plans_give_duckdbs_results() {
    let repository = Path::new(crate::REPOSITORY);
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(&repository.join("lake"), Some(folder.path())).expect("a place");
    let (lake, _) = Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index");
    let context = lake.context(Limits::default()).expect("a context");
    let stored = File::open(repository.join("tests/program/data/plans/random_plans.jsonl.gz")).expect("the plans");
    let (mut plans, mut failures) = (0, Vec::new());
    for (number, line) in BufReader::new(GzDecoder::new(stored)).lines().enumerate() {
        let line: Line = serde_json::from_str(&line.expect("a line")).expect("a plan with its result");
        let failed = match figures(&context, &line) {
            Ok(found) => difference(&line.result, &found),
            Err(error) => Some(error),
        };
        plans += 1;
        if number % PREVIEWED == 0 && failed.is_none() {
            failures
                .extend(previewed(&context, &line).err().map(|why| format!("line {}, previewed: {why}", number + 1)));
        }
        failures.extend(failed.map(|why| format!("line {}: {why}\n{}", number + 1, line.plan)));
    }
    assert!(plans >= 2_000, "{plans} plans");
    assert!(failures.is_empty(), "{} of {plans} plans differ\n{}", failures.len(), failures.join("\n"));
}
