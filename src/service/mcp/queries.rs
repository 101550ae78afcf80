//! The tools that compute: a query, and what an operation would do. Neither changes anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::{Answer, Listing, Page, Paging, json_bytes, lake_text};
use super::cards::{CELL, NAME};
use super::names;
use super::searches::generation;
use crate::service::{Stop, query_context};
use lakeward::Lakeward;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Plan;
use lakeward_core::request::Input;
use lakeward_operate::{CellForm, PlanPreview, PreviewLimits, plan_preview, texts};

/// Rows of a query unless the caller asks for more.
const DEFAULT_ROWS: usize = 50;
/// Rows of a query at most.
const MOST_ROWS: usize = 500;
/// Columns of a result that are shown.
const MOST_COLUMNS: usize = 30;
/// Characters of the SQL of an operation.
const SQL: usize = 800;
/// Notes and warnings shown.
const NOTES: usize = 5;
/// Characters of a note.
const NOTE: usize = 200;

/// A query.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Query {
    /// One read-only query: SELECT, WITH, VALUES, DESCRIBE or EXPLAIN. `describe_table` gives the name of a table in SQL.
    pub sql: String,
    /// Rows of the answer: 50 by default, at most 500.
    #[serde(default)]
    pub max_rows: Option<usize>,
    /// Tokens that the answer may have: 2000 by default, at most 8000.
    #[serde(default)]
    pub max_tokens: Option<u32>,
}

/// An operation to preview: one of an answer, or a plan.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct PreviewOperation {
    /// The `session` of an answer of `ask`; with `operation`.
    #[serde(default)]
    pub session: Option<String>,
    /// The number of one of its operations.
    #[serde(default)]
    pub operation: Option<usize>,
    /// Instead of these, a plan; the resource `lake://schema/plan` has its JSON Schema.
    #[serde(default)]
    pub plan: Option<Map<String, Value>>,
    /// Tokens that the answer may have: 2000 by default, at most 8000.
    #[serde(default)]
    pub max_tokens: Option<u32>,
}

/// The result of a query.
#[derive(Debug, Serialize)]
pub struct ResultCard {
    /// The columns, in the order of the cells.
    pub columns: Vec<String>,
    /// Cells read as missing, tables read in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What an operation would do.
#[derive(Debug, Serialize)]
pub struct PreviewCard {
    /// Rows of the source.
    pub rows_in: u64,
    /// Rows of the result.
    pub rows_out: u64,
    /// The first columns of the result.
    pub columns: Vec<String>,
    /// What to know before relying on the result.
    pub warnings: Vec<String>,
    /// Why it would not be run as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The query that it is.
    pub sql: String,
}

/// One step of an operation.
#[derive(Debug, Serialize)]
pub struct StepCard {
    pub does: String,
    /// Rows after it.
    pub rows: Option<u64>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
}

/// The rows of a query. There is no next page: rows of two runs need not have one order.
pub fn query(lake: &Lakeward, stop: &Stop, asked: &Query) -> Result<Answer<Vec<String>, ResultCard>> {
    let paging = Paging { cursor: None, max_tokens: asked.max_tokens };
    let page = Page::of(&paging, &asked.sql, generation(lake))?;
    let limit = asked.max_rows.unwrap_or(DEFAULT_ROWS).clamp(1, MOST_ROWS);
    let context = query_context(lake, stop)?;
    let mut rows = context.query(&asked.sql, Some(limit))?;
    let all = rows.columns().len();
    let columns = rows.columns().iter().take(MOST_COLUMNS).map(|column| lake_text(&column.name, NAME / 2)).collect();
    let mut items: Vec<Vec<String>> = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        let cells = texts(&batch, CellForm::Shown)?;
        let row = |row: &Vec<String>| row.iter().take(MOST_COLUMNS).map(|cell| lake_text(cell, CELL)).collect();
        items.extend(cells.iter().map(row));
    }
    let truncated = rows.truncated();
    drop(rows);
    let notes = context.notes().iter().take(NOTES).map(|note| lake_text(&note.to_string(), NOTE)).collect();
    let total = (!truncated).then_some(items.len());
    let about = Some(ResultCard { columns, notes });
    let mut answer = page.answer(Listing { about, items, total, more: truncated, hint: String::new() });
    answer.next_cursor = None;
    answer.hint = match (answer.truncated, all > MOST_COLUMNS) {
        (true, _) => {
            "not all rows are shown: aggregate, filter or sort in the query, or raise `max_tokens` and `max_rows`"
                .into()
        }
        (false, true) => format!("the first {MOST_COLUMNS} of {all} columns: name those that you need"),
        (false, false) => "all rows are shown".into(),
    };
    Ok(answer)
}

/// The plan that `asked` holds, over tables of the lake alone.
///
/// # Errors
/// [`Error::Usage`] for no plan and for one that reads anything else, [`Error::UnknownTable`] with the nearest ids.
pub fn given_plan(lake: &Lakeward, plan: Map<String, Value>) -> Result<Plan> {
    let plan = Plan::from_json(&Value::Object(plan).to_string())?;
    for input in plan.inputs() {
        match input {
            Input::Table(id) => drop(names::table_id(lake, id)?),
            _ => return Err(Error::usage("a plan of a tool reads tables of the lake: `{\"table\": ID}`")),
        }
    }
    Ok(plan)
}

/// What `plan` would do, step by step, without its rows.
pub fn preview(
    lake: &Lakeward,
    stop: &Stop,
    plan: &Plan,
    max_tokens: Option<u32>,
) -> Result<Answer<StepCard, PreviewCard>> {
    let context = query_context(lake, stop)?;
    let limits = PreviewLimits { sample_rows: 0, ..PreviewLimits::default() };
    let found = plan_preview(&context, plan, &limits)?;
    let page = Page::of(&Paging { cursor: None, max_tokens }, "preview", generation(lake))?;
    let items = found.steps.iter().map(|step| StepCard {
        does: lake_text(&step.does, NOTE),
        rows: step.rows,
        facts: step.facts.iter().take(NOTES).map(|fact| lake_text(fact, NOTE)).collect(),
    });
    let items: Vec<StepCard> = items.collect();
    let total = Some(items.len());
    let hint = "nothing was stored; run `about.sql` with `query` to see rows".to_string();
    let mut about = card(&found);
    while json_bytes(&about) > page.about_bytes() && about.columns.pop().is_some() {}
    let mut answer = page.answer(Listing { about: Some(about), items, total, more: false, hint });
    answer.next_cursor = None;
    Ok(answer)
}

fn card(found: &PlanPreview) -> PreviewCard {
    let columns = found.columns.iter().take(MOST_COLUMNS).map(|column| lake_text(&column.name, NAME / 2));
    PreviewCard {
        rows_in: found.rows_in,
        rows_out: found.rows_out,
        columns: columns.collect(),
        warnings: found.warnings.iter().take(NOTES).map(|warning| lake_text(&warning.text, NOTE)).collect(),
        stopped: found.stopped.as_ref().map(|reason| lake_text(reason, NOTE)),
        sql: lake_text(&found.sql, SQL),
    }
}
