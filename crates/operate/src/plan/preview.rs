//! What a plan would do, counted step by step without keeping its rows.

use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::json::writer::{JsonArray, WriterBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::counter::Counter;
use crate::context::{LakeContext, Strategy};
use crate::counts::{add_notes, with_memory};
use crate::notes::Note;
use crate::rows::ResultColumn;
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::{Edit, Plan, Relation, Step};

/// What a plan may become, and what is told of it before.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewLimits {
    /// Most rows of a result. 50 million by default.
    pub max_rows: u64,
    /// Most rows of a join for each row of the working table, on average. 100 by default. A join with no more rows than both
    /// its tables have together is never stopped by this: one row with a thousand partners is no explosion.
    pub max_fan_out: f64,
    /// First rows shown. 10 by default.
    pub sample_rows: usize,
    /// What is not needed to decide (keys without a partner, the first rows) is left out once this has passed. 20 seconds by
    /// default.
    pub extras_within: Duration,
    /// Words for columns that were asked for: a step that leaves one out is warned of. None by default.
    pub asked_for: Vec<String>,
}

impl Default for PreviewLimits {
    fn default() -> Self {
        let (max_rows, max_fan_out, sample_rows) = (50_000_000, 100.0, 10);
        Self { max_rows, max_fan_out, sample_rows, extras_within: Duration::from_secs(20), asked_for: Vec::new() }
    }
}

/// What a plan would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanPreview {
    /// The query that carries it out.
    pub sql: String,
    /// Rows of the source.
    pub rows_in: u64,
    /// What each step does, in their order.
    pub steps: Vec<StepPreview>,
    /// Rows of the result.
    pub rows_out: u64,
    /// Columns of the result.
    pub columns: Vec<ResultColumn>,
    /// The first rows of the result, each with its values in the order of `columns`; none when it is stopped or
    /// has taken long.
    pub sample: Vec<Vec<Json>>,
    /// What whoever relies on the result should know.
    pub warnings: Vec<PlanWarning>,
    /// Why it is not run as it stands, and what to do instead.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<String>,
    /// Cells read as NULL, tables read in part.
    pub notes: Vec<Note>,
    /// Time it took to find this out, in milliseconds.
    pub elapsed_ms: f64,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepPreview {
    /// One sentence.
    pub does: Message,
    /// Rows after it; none after a step that is stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<u64>,
    /// What else there is to know: keys without a partner, columns that stay empty or are left out; a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub facts: Vec<String>,
}

/// Something that an analyst would want to know before relying on a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanWarning {
    /// The step, from 1.
    pub step: usize,
    /// What kind of thing.
    pub kind: WarningKind,
    /// One sentence.
    pub text: String,
    /// A change of the plan that puts it right, where one is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<Box<Edit>>,
}

/// Kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A step that changes nothing.
    NoChange,
    /// A step that leaves no row, or a condition that no row meets.
    NothingLeft,
    /// A join that repeats rows.
    RowsMultiplied,
    /// Most rows have no partner.
    MostUnmatched,
    /// Keys that would find more partners in their normal form.
    KeysAsWritten,
    /// Keys of two types, which are compared as they are written.
    KeysOfTwoTypes,
    /// A column whose parts have different types, and which becomes text.
    ColumnBecomesText,
    /// A mean of what is a mean already.
    MeanOfMeans,
    /// Rows of totals among the rows they sum up.
    TotalsAmongParts,
    /// Numbers of different units that are computed together.
    MixedUnits,
    /// What tells rows apart is left out.
    KeyDropped,
    /// A column that was asked for is left out.
    TargetDropped,
    /// Text that is computed with, of which some is no number; text of numbers that is ordered as text.
    TextAsNumbers,
}

/// What `plan` would do.
///
/// # Errors
/// Those of [`super::plan_sql`]; [`Error::Interrupted`]; what reading the tables meets.
pub fn plan_preview(context: &LakeContext, plan: &Plan, limits: &PreviewLimits) -> Result<PlanPreview> {
    let started = Instant::now();
    plan.check()?;
    let mut counter = Counter::new(context, limits);
    let sql = counter.compiler.compile(plan)?;
    let rows_in = counter.source(&plan.relation)?;
    let mut rows = Some(rows_in);
    let mut steps = Vec::new();
    let mut after = Relation::of(plan.relation.source.clone());
    for step in &plan.relation.steps {
        after.steps.push(step.clone());
        let mut facts = Vec::new();
        let before = rows;
        if let Some(before) = before {
            (rows, facts) = counter.last_step(&after, before)?;
            counter.lost_columns(&after)?;
        }
        steps.push(StepPreview { does: does(step, before, rows), rows, facts });
    }
    let rows_out = rows.unwrap_or(0);
    if counter.stopped.is_none() && rows_out > limits.max_rows {
        counter.stopped = Some(too_many_rows(rows_out, limits.max_rows));
    }
    let most_rows = if counter.stopped.is_some() || !counter.has_time() { 0 } else { limits.sample_rows };
    let from_kept = counter.compiler.compile(plan)?;
    let (columns, sample) = first_rows(context, &from_kept, most_rows, &mut counter.notes)?;
    let Counter { mut notes, warnings, stopped, .. } = counter;
    notes.retain(|note| note.concerns(&sql, &columns));
    let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(PlanPreview { sql, rows_in, steps, rows_out, columns, sample, warnings, stopped, notes, elapsed_ms })
}

/// What a step does, with the rows that a filter keeps of those before it.
fn does(step: &Step, before: Option<u64>, after: Option<u64>) -> Message {
    match (step, before, after) {
        (Step::Filter(condition), Some(before), Some(after)) if after > 0 => {
            message!("keeps the {} of {} whose {}", after, Message::counted(before, "row"), condition.whose())
        }
        _ => step.message(),
    }
}

impl PlanPreview {
    /// Rows of the result; `None` where it is stopped, since they were not made.
    pub fn rows(&self) -> Option<u64> {
        self.stopped.is_none().then_some(self.rows_out)
    }

    /// Whether it has steps after the first `known`, and none of them changes anything.
    pub fn changes_nothing_after(&self, known: usize) -> bool {
        let idle = |step: usize| {
            let of_step = |warning: &PlanWarning| warning.step == step && warning.kind == WarningKind::NoChange;
            self.warnings.iter().any(of_step)
        };
        known < self.steps.len() && (known + 1..=self.steps.len()).all(idle)
    }
}

/// The reason why a result of `rows` rows is refused.
pub(super) fn too_many_rows(rows: u64, most: u64) -> String {
    format!("it would give {rows} rows, more than the {most} allowed; filter or aggregate first")
}

/// The columns of the answer to `sql`, and its first rows.
fn first_rows(
    context: &LakeContext,
    sql: &str,
    most_rows: usize,
    notes: &mut Vec<Note>,
) -> Result<(Vec<ResultColumn>, Vec<Vec<Json>>)> {
    let answer = with_memory(Strategy::InOrder, context, |strategy| {
        let mut rows = context.query_by(sql, Some(most_rows), strategy)?;
        let columns = rows.columns().to_vec();
        let mut sample = Vec::new();
        while most_rows > 0
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
fn values(batch: &RecordBatch) -> Result<Vec<Vec<Json>>> {
    let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    let mut text = Vec::new();
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut text);
    writer.write(batch).and_then(|()| writer.finish()).map_err(|error| internal(&error))?;
    drop(writer);
    let rows: Vec<Map<String, Json>> = serde_json::from_slice(&text).map_err(|error| internal(&error))?;
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let in_order =
        |mut row: Map<String, Json>| names.iter().map(|name| row.remove(name).unwrap_or(Json::Null)).collect();
    Ok(rows.into_iter().map(in_order).collect())
}
