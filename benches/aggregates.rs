//! What `minhash` takes over 10 million rows of a Parquet file, beside DataFusion's `approx_distinct` over the same column.
//! `cargo bench --bench aggregates [-- ROWS]`
//!
//! Prints for each column the shortest of several runs of both, taken in turn in one process. Dependencies are compiled without
//! optimisation (Cargo.toml says why), DataFusion's aggregates among them; so the last column is what counts: the same query
//! with a HyperLogLog of as many registers, compiled like this crate.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use lakeward::functions::aggregate::aggregates;
use parquet::arrow::ArrowWriter;
use xxhash_rust::xxh3::xxh3_64;

const RUNS: usize = 7;
const WRITE: &str = "write";
const BATCH: u64 = 100_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, what, file, rows] = &arguments[..]
        && what == WRITE
    {
        return write(Path::new(file), rows.parse().unwrap());
    }
    let rows: u64 = arguments.iter().filter_map(|argument| argument.parse().ok()).next().unwrap_or(10_000_000);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("columns.parquet");
    // By another process, so that its memory is not counted.
    let writer = Command::new(&arguments[0]).arg(WRITE).arg(&file).arg(rows.to_string()).status().unwrap();
    assert!(writer.success());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let context = SessionContext::new();
    aggregates().into_iter().for_each(|function| context.register_udaf(function));
    context.register_udaf(AggregateUDF::new_from_impl(Reference(Signature::any(1, Volatility::Immutable))));
    let path = file.to_str().unwrap();
    runtime.block_on(context.register_parquet("t", path, ParquetReadOptions::default())).unwrap();
    let run = |aggregate: &str| {
        let start = Instant::now();
        let sql = format!("SELECT {aggregate} FROM t");
        runtime.block_on(async { context.sql(&sql).await.unwrap().collect().await.unwrap() });
        start.elapsed()
    };
    println!("{rows} rows, {} threads", std::thread::available_parallelism().unwrap());
    println!(
        "{:<10} {:>10} {:>16} {:>7} {:>16} {:>7}",
        "column", "minhash", "approx_distinct", "ratio", "optimised HLL", "ratio"
    );
    for column in ["counter", "thousand", "random", "words", "names", "price", "measure", "day"] {
        // DataFusion counts no floats.
        let counted = !matches!(column, "price" | "measure");
        let mut best = [Duration::MAX; 3];
        for _ in 0..RUNS {
            for (best, call) in best.iter_mut().zip(["minhash", "reference_hll", "approx_distinct"]) {
                if counted || call != "approx_distinct" {
                    *best = (*best).min(run(&format!("{call}({column})")));
                }
            }
        }
        let [minhash, reference, datafusion] = best.map(|time| time.as_secs_f64() * 1e3);
        let (datafusion, ratio) = match counted {
            true => (format!("{datafusion:.0} ms"), format!("{:.2}", minhash / datafusion)),
            false => ("-".to_string(), "-".to_string()),
        };
        let to_reference = minhash / reference;
        println!("{column:<10} {minhash:>7.0} ms {datafusion:>16} {ratio:>7} {reference:>13.0} ms {to_reference:>7.2}");
    }
    for pair in ["counter, thousand", "words, names"] {
        println!(
            "approx_containment({pair}): {:.0} ms",
            run(&format!("approx_containment({pair})")).as_secs_f64() * 1e3
        );
    }
    if let Some(peak) = peak_kib() {
        println!("memory at most: {} MiB", peak >> 10);
    }
}

fn write(file: &Path, rows: u64) {
    let columns = |start: u64| {
        let rows = || start..(start + BATCH).min(rows);
        let random = |row: u64| xxh3_64(&row.to_le_bytes());
        RecordBatch::try_from_iter([
            ("counter", Arc::new(Int64Array::from_iter_values(rows().map(|row| row as i64))) as ArrayRef),
            ("thousand", Arc::new(Int64Array::from_iter_values(rows().map(|row| (random(row) % 1_000) as i64)))),
            ("random", Arc::new(Int64Array::from_iter_values(rows().map(|row| random(row) as i64)))),
            (
                "words",
                Arc::new(StringArray::from_iter_values(rows().map(|row| format!("w{:x}", random(row) % 50_000)))),
            ),
            ("names", Arc::new(StringArray::from_iter_values(rows().map(|row| format!("name {row}"))))),
            (
                "price",
                Arc::new(Float64Array::from_iter_values(rows().map(|row| (random(row) % 1_000_000) as f64 / 100.0))),
            ),
            ("measure", Arc::new(Float64Array::from_iter_values(rows().map(|row| random(row) as f64 / 3.7e9)))),
            ("day", Arc::new(Date32Array::from_iter_values(rows().map(|row| (random(row) % 20_000) as i32)))),
        ])
        .unwrap()
    };
    let mut writer = ArrowWriter::try_new(File::create(file).unwrap(), columns(0).schema(), None).unwrap();
    for start in (0..rows).step_by(BATCH as usize) {
        writer.write(&columns(start)).unwrap();
    }
    writer.close().unwrap();
}

/// The greatest memory of this process, where the system tells.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// HyperLogLog with 2¹⁴ registers over DataFusion's own hashes of rows, as its `approx_distinct` has it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Reference(Signature);

impl AggregateUDFImpl for Reference {
    fn name(&self) -> &str {
        "reference_hll"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::UInt64)
    }

    fn state_fields(&self, _: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new("registers", DataType::Binary, false))])
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Registers { registers: vec![0; 1 << 14] }))
    }
}

#[derive(Debug)]
struct Registers {
    registers: Vec<u8>,
}

impl Registers {
    #[inline]
    fn add(&mut self, hash: u64) {
        let register = &mut self.registers[(hash & 0x3fff) as usize];
        *register = (*register).max(((hash >> 14) | 1 << 50).trailing_zeros() as u8 + 1);
    }
}

impl Accumulator for Registers {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        // A multiplicative hash with a fold, which is what ahash and foldhash do for eight bytes.
        let mixed = |value: u64| {
            let product = u128::from(value ^ 0x9E37_79B9_7F4A_7C15) * 0xA076_1D64_78BD_642F;
            product as u64 ^ (product >> 64) as u64
        };
        match values[0].data_type() {
            DataType::Int64 => {
                values[0].as_primitive::<Int64Type>().values().iter().for_each(|value| self.add(mixed(*value as u64)));
            }
            DataType::Float64 => {
                let values = values[0].as_primitive::<arrow::datatypes::Float64Type>();
                values.values().iter().for_each(|value| self.add(mixed(value.to_bits())));
            }
            DataType::Date32 => {
                let values = values[0].as_primitive::<arrow::datatypes::Date32Type>();
                values.values().iter().for_each(|value| self.add(mixed(*value as u64)));
            }
            DataType::Utf8View => {
                values[0].as_string_view().iter().flatten().for_each(|text| self.add(xxh3_64(text.as_bytes())));
            }
            _ => values[0].as_string::<i32>().iter().flatten().for_each(|text| self.add(xxh3_64(text.as_bytes()))),
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum: f64 = self.registers.iter().map(|register| 2f64.powi(-i32::from(*register))).sum();
        let count = 0.7213 / (1.0 + 1.079 / 16_384.0) * 16_384.0 * 16_384.0 / sum;
        Ok(ScalarValue::UInt64(Some(count as u64)))
    }

    fn size(&self) -> usize {
        self.registers.capacity()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(Some(self.registers.clone()))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states: &BinaryArray = states[0].as_binary();
        for state in states.iter().flatten() {
            self.registers.iter_mut().zip(state).for_each(|(register, other)| *register = (*register).max(*other));
        }
        Ok(())
    }
}
