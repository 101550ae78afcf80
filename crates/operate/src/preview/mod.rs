//! What an operation would do, counted without doing it.
//!
//! Rows are counted exactly, however many they would be: those of a join from the rows of each key on both sides, which are
//! grouped apart and then matched, so that a join of a thousand million rows is as quick to count as one of a thousand. An
//! operation that would give more than the limits allow is stopped here with the reason, and [`super::run()`] refuses it.

mod aggregate;
mod filter;
mod join;
mod union;

use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::json::writer::{JsonArray, WriterBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use aggregate::AggregatePreview;
pub use filter::{ConditionPreview, FilterPreview};
pub use join::{AddedColumnPreview, JoinPreview, KeyPreview, SidePreview};
pub use union::{ColumnConflict, PartType, UnionPartPreview, UnionPreview};

use super::context::{LakeContext, Strategy};
use super::counts::{add_notes, with_memory};
use super::notes::Note;
use super::rows::ResultColumn;
use super::sql::Resolved;
use super::sql::join::ResolvedJoin;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Operation, OperationKind};

/// What an operation may become, and what is told of it before.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewLimits {
    /// Most rows of a result. 50 million by default.
    pub max_rows: u64,
    /// Most rows of a join for each row of the working table, on average. 100 by default. A join with no more rows than both
    /// its tables have together is never stopped by this: one row with a thousand partners is no explosion.
    pub max_fan_out: f64,
    /// First rows shown. 10 by default.
    pub sample_rows: usize,
    /// What is not needed to decide (the gain of normalising, the first rows) is left out once this has passed. 20 seconds by
    /// default.
    pub extras_within: Duration,
}

impl Default for PreviewLimits {
    fn default() -> Self {
        Self { max_rows: 50_000_000, max_fan_out: 100.0, sample_rows: 10, extras_within: Duration::from_secs(20) }
    }
}

/// An input and its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputRows {
    /// The id, the file, or `step 2`.
    pub name: String,
    /// Its rows.
    pub rows: u64,
}

/// What an operation would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Preview {
    /// Its kind.
    pub operation: OperationKind,
    /// The query that carries it out.
    pub sql: String,
    /// The tables it reads, the working table first.
    pub inputs: Vec<InputRows>,
    /// Rows of the result, exact.
    pub rows_out: u64,
    /// Columns of the result.
    pub columns: Vec<ResultColumn>,
    /// What only operations of its kind have.
    pub detail: PreviewDetail,
    /// The first rows of the result, each with its values in the order of `columns`; none when it is stopped.
    pub sample: Vec<Vec<Value>>,
    /// Why it is not run as it stands, and what to do instead.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<String>,
    /// What was left out because it took too long.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<String>,
    /// Cells read as NULL, tables read in part.
    pub notes: Vec<Note>,
    /// Time it took to find this out, in milliseconds.
    pub elapsed_ms: f64,
}

/// What only operations of one kind have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PreviewDetail {
    /// Of a filter.
    Filter(FilterPreview),
    /// Of a join.
    Join(JoinPreview),
    /// Of a union.
    Union(UnionPreview),
    /// Of an aggregation.
    Aggregate(AggregatePreview),
}

/// What is counted of an operation.
struct Counted {
    rows_in: Vec<u64>,
    rows_out: u64,
    detail: PreviewDetail,
    stopped: Option<String>,
}

/// What a preview collects beside its figures.
struct Asides {
    started: Instant,
    extras_within: Duration,
    notes: Vec<Note>,
    left_out: Vec<String>,
}

impl Asides {
    /// Whether there is time for `extra`; else it is said to be left out.
    fn has_time_for(&mut self, extra: &str) -> bool {
        let in_time = self.started.elapsed() < self.extras_within;
        if !in_time {
            self.left_out.push(extra.to_string());
        }
        in_time
    }
}

/// What `operation` would do.
///
/// # Errors
/// Those of [`super::sql()`]; [`Error::Interrupted`]; what reading the tables meets.
pub fn preview(context: &LakeContext, operation: &Operation, limits: &PreviewLimits) -> Result<Preview> {
    let started = Instant::now();
    let resolved = Resolved::new(context, operation)?;
    let sql = resolved.sql();
    let mut asides = Asides { started, extras_within: limits.extras_within, notes: Vec::new(), left_out: Vec::new() };
    let mut counted = match &resolved {
        Resolved::Filter(filter) => filter::count(context, filter, &mut asides)?,
        Resolved::Join(join) => join::count(context, join, limits, &mut asides)?,
        Resolved::Union(union) => union::count(context, union, &mut asides)?,
        Resolved::Aggregate(aggregate) => aggregate::count(context, aggregate, &mut asides)?,
    };
    if counted.stopped.is_none() && counted.rows_out > limits.max_rows {
        counted.stopped = Some(too_many_rows(counted.rows_out, limits.max_rows));
    }
    let wanted =
        if counted.stopped.is_some() || !asides.has_time_for("the first rows") { 0 } else { limits.sample_rows };
    let (columns, sample) = first_rows(context, &sql, wanted, &mut asides.notes)?;
    let names = resolved.inputs().into_iter().map(|input| input.name.clone());
    Ok(Preview {
        operation: operation.kind(),
        sql,
        inputs: names.zip(counted.rows_in).map(|(name, rows)| InputRows { name, rows }).collect(),
        rows_out: counted.rows_out,
        columns,
        detail: counted.detail,
        sample,
        stopped: counted.stopped,
        left_out: asides.left_out,
        notes: asides.notes,
        elapsed_ms: started.elapsed().as_secs_f64() * 1000.0,
    })
}

/// Why a join is not to be run, if it is not.
///
/// # Errors
/// As [`preview`].
pub(super) fn stopped_join(
    context: &LakeContext,
    join: &ResolvedJoin,
    limits: &PreviewLimits,
) -> Result<Option<String>> {
    let groups = join::match_groups(context, join, &mut Vec::new())?;
    Ok(join::stopped(join, &groups, limits))
}

/// The reason why a result of `rows` rows is refused.
pub(super) fn too_many_rows(rows: u64, most: u64) -> String {
    format!("it would give {rows} rows, more than the {most} allowed; filter or aggregate first")
}

/// The columns of the answer to `sql`, and its first rows.
pub(super) fn first_rows(
    context: &LakeContext,
    sql: &str,
    wanted: usize,
    notes: &mut Vec<Note>,
) -> Result<(Vec<ResultColumn>, Vec<Vec<Value>>)> {
    let answer = with_memory(Strategy::InOrder, context, |strategy| {
        let mut rows = context.query_by(sql, Some(wanted), strategy)?;
        let columns = rows.columns().to_vec();
        let mut sample = Vec::new();
        while wanted > 0
            && let Some(batch) = rows.next_batch()?
        {
            sample.extend(values(&batch)?);
        }
        Ok((columns, sample))
    })?;
    add_notes(notes, context.notes());
    Ok(answer)
}

/// The rows of a batch as JSON values, in the order of its columns.
fn values(batch: &RecordBatch) -> Result<Vec<Vec<Value>>> {
    let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    let mut text = Vec::new();
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut text);
    writer.write(batch).and_then(|()| writer.finish()).map_err(|error| internal(&error))?;
    drop(writer);
    let rows: Vec<Map<String, Value>> = serde_json::from_slice(&text).map_err(|error| internal(&error))?;
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let in_order =
        |mut row: Map<String, Value>| names.iter().map(|name| row.remove(name).unwrap_or(Value::Null)).collect();
    Ok(rows.into_iter().map(in_order).collect())
}
