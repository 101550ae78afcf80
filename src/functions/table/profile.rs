//! `lake_profile(table)`: one row per column of a table, in order.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::columns::Columns;
use super::named::{self, Named};
use crate::Lakeward;
use lakeward_core::answer::in_order;
use lakeward_core::error::Result;
use lakeward_lake::metadata::ColumnMetadata;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::reader::KnownColumns;
use lakeward_lake::semantic::{LogicalType, SemanticType, Weakness};
use lakeward_operate::column_types;
use lakeward_sketch::signature::{DEFAULT_CAPACITY, Signature};

static COLUMNS: LazyLock<Columns> = LazyLock::new(Columns::of::<Row<'static>>);

pub(super) fn schema() -> SchemaRef {
    COLUMNS.schema()
}

/// A row; most fields are those of [`ColumnProfile`]. `data_type` is the type in queries, `samples` are some values as written,
/// `unit` and `description` come from the publisher's metadata.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
struct Row<'a> {
    position: u32,
    name: &'a str,
    data_type: String,
    logical_type: LogicalType,
    semantic_type: Option<SemanticType>,
    rows: u64,
    missing: u64,
    distinct_values: u64,
    distinct_exact: bool,
    uniqueness: f64,
    key_likeness: f64,
    min: Option<&'a str>,
    max: Option<&'a str>,
    mean: Option<f64>,
    deviation: Option<f64>,
    quantiles: Option<[f64; 5]>,
    #[serde(borrow)]
    patterns: Vec<Pattern<'a>>,
    #[serde(borrow)]
    top: Vec<Frequent<'a>>,
    samples: Vec<String>,
    weakness: Option<Weakness>,
    unit: Option<&'a str>,
    description: Option<&'a str>,
    /// Hexadecimal digits, from which bytes are decoded.
    #[schemars(extend("x-sql-type" = "Binary"))]
    signature: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Pattern<'a> {
    pattern: &'a str,
    share: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Frequent<'a> {
    value: &'a str,
    cells: u64,
}

/// The columns of `table`.
pub(super) fn rows(lakeward: &Lakeward, table: &str) -> Result<RecordBatch> {
    match named::table(lakeward, table)? {
        Named::File(path) => {
            let query = lakeward.query_table(&path)?;
            let samples = query.columns.iter().map(|column| ValueSample {
                samples: column.sketch.samples.iter().map(|sample| sample.1.clone()).collect(),
                signature: Some(signature(&column.sketch.hashes, column.sketch.bound)),
            });
            let known = query.entry.report.known_columns();
            of_columns((&query.path, known), &query.entry.profile.columns, samples.collect(), |_| None)
        }
        Named::Lake(table, entry) => {
            let segment = lakeward.index().segment(table.segment)?;
            let columns = &segment.columns;
            let mut samples = Vec::with_capacity(entry.profile.columns.len());
            for column in segment.tables.columns(table.table)? {
                let record = columns.record(column)?;
                // No signature of a sample, which would be taken for that of all rows.
                let whole = !record.is_sampled();
                samples.push(ValueSample {
                    samples: columns.samples(record)?.into_iter().map(|sample| sample.1.to_string()).collect(),
                    signature: whole
                        .then(|| columns.hashes(record))
                        .transpose()?
                        .map(|hashes| signature(&hashes, record.bound)),
                });
            }
            let path: PathBuf = entry.file(&lakeward.place().lake)?;
            let metadata = |name: &str| entry.metadata.as_ref().and_then(|metadata| metadata.columns.get(name));
            of_columns((&path, entry.report.known_columns()), &entry.profile.columns, samples, metadata)
        }
    }
}

/// The stored samples and signature of a column's values.
struct ValueSample {
    /// Some values as written.
    samples: Vec<String>,
    /// The signature of all values, in hexadecimal digits.
    signature: Option<String>,
}

/// The signature of a column from the `hashes` of its normal forms up to `bound`: equal to `minhash(value_normalize(x))`.
fn signature(hashes: &[u64], bound: u64) -> String {
    let bytes = Signature::from_hashes(hashes, bound, DEFAULT_CAPACITY).to_bytes();
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            digits.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    digits
}

fn of_columns<'a>(
    (path, known): (&Path, Option<KnownColumns>),
    columns: &'a [ColumnProfile],
    samples: Vec<ValueSample>,
    metadata: impl Fn(&str) -> Option<&'a ColumnMetadata>,
) -> Result<RecordBatch> {
    let types = column_types(path, columns, known)?;
    let rows = columns.iter().zip(types).zip(samples).zip(1..).map(|(((column, data_type), sample), position)| {
        let metadata = metadata(&column.name);
        Row {
            position,
            name: &column.name,
            data_type: data_type.to_string(),
            logical_type: column.logical,
            semantic_type: column.semantic,
            rows: column.rows,
            missing: column.missing,
            distinct_values: column.distinct,
            distinct_exact: column.distinct_exact,
            uniqueness: column.uniqueness,
            key_likeness: column.key_likeness,
            min: column.min.as_deref(),
            max: column.max.as_deref(),
            mean: column.moments.map(|moments| moments[0]),
            deviation: column.moments.map(|moments| moments[1]),
            quantiles: column.quantiles,
            patterns: column.patterns.iter().map(|(pattern, share)| Pattern { pattern, share: *share }).collect(),
            top: column.top.iter().map(|(value, cells)| Frequent { value, cells: *cells }).collect(),
            samples: sample.samples,
            weakness: column.weakness,
            unit: metadata.and_then(|metadata| metadata.unit.as_deref()),
            description: metadata.and_then(|metadata| metadata.description.as_deref()),
            signature: sample.signature,
        }
    });
    let rows: Vec<Row> = rows.collect();
    COLUMNS.batch(&rows)
}
