//! What a request does with a lake and a session, for the JSON endpoints and the page alike.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::service::{Stop, mcp, query_context};
use lakeward::answers::SearchAnswer;
use lakeward::documents::{AskDocument, CiteDocument, CorrelationDocument, Document, JoinDocument};
use lakeward::{Lakeward, Plan, Request, Session};
use lakeward_agent::execution;
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Edit;
use lakeward_core::request::Input;
use lakeward_core::text::counted;
use lakeward_operate::{Outcome, PlanPreview, PlanWarning, PreviewLimits, plan_preview};

/// Answers of a search at most.
const MOST_ANSWERS: usize = 200;
/// Answers of a search by default.
const DEFAULT_ANSWERS: usize = 10;

/// A turn of a conversation.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The request in plain words; may be empty where a table is given.
    #[serde(default)]
    pub text: String,
    /// Id of the table of the lake to start from.
    #[serde(default)]
    pub table: Option<String>,
    /// Its key column.
    #[serde(default)]
    pub column: Option<String>,
    /// Tables to recommend.
    #[serde(default)]
    pub k: Option<usize>,
    /// The `revision` of the session that the turn is about: a newer one is a conflict.
    #[serde(default)]
    pub revision: Option<u64>,
}

/// What to compute: one of these.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct What {
    /// The number of an operation of the session's latest answer.
    #[serde(default)]
    pub operation: Option<usize>,
    /// A plan, over tables of the lake and steps of the session.
    #[serde(default)]
    pub plan: Option<Plan>,
    /// A change of the working table's plan.
    #[serde(default)]
    pub edit: Option<Edit>,
    /// The `revision` of the session that it is about: a newer one is a conflict.
    #[serde(default)]
    pub revision: Option<u64>,
}

/// An operation that was carried out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunDocument {
    /// The session's step that holds the result.
    pub step: usize,
    /// The session's revision after it.
    pub revision: u64,
    /// What whoever relies on the result should know.
    pub warnings: Vec<PlanWarning>,
    /// What it made.
    pub outcome: Outcome,
}

/// How many answers `k` asks for.
pub fn answers(k: Option<usize>) -> usize {
    k.unwrap_or(DEFAULT_ANSWERS).clamp(1, MOST_ANSWERS)
}

/// Tables that answer a text.
pub fn search(lake: &Lakeward, text: &str, k: Option<usize>) -> Result<Document<SearchAnswer>> {
    let started = Instant::now();
    let answers = lake.search(text, answers(k))?;
    let mut document = Document::new(text.to_string(), answers, started);
    let calibration = &lake.config().ranking.calibration;
    document.nothing_found = !document.answers.iter().any(|answer| answer.may_serve(calibration));
    Ok(document)
}

/// Tables to join with one of the lake.
pub fn join(lake: &Lakeward, table: &str, columns: &[String], k: Option<usize>) -> Result<JoinDocument> {
    let started = Instant::now();
    let query = mcp::query_table(lake, table)?;
    let columns = query.columns_named(columns)?;
    let found = lake.join(&query, &columns, answers(k))?;
    Ok(JoinDocument::new(table.to_string(), &query, &columns, found, started))
}

/// Columns of the lake that go with a column of one of its tables.
pub fn correlate(
    lake: &Lakeward,
    table: &str,
    target: &str,
    key: &[String],
    k: Option<usize>,
) -> Result<CorrelationDocument> {
    let started = Instant::now();
    let query = mcp::query_table(lake, table)?;
    let found = lake.correlate(&query, query.column(target)?, &query.columns_named(key)?, answers(k))?;
    Ok(CorrelationDocument::new(table.to_string(), found, started))
}

/// The answer to a turn, as the next one of `session`.
pub fn ask(lake: &Lakeward, stop: &Stop, session: &mut Session, turn: Turn) -> Result<AskDocument> {
    let started = Instant::now();
    stop.begin("looking for tables and operations");
    let table = turn.table.as_deref().map(|name| mcp::table_id(lake, name)).transpose()?;
    let request = Request { text: turn.text, table, column: turn.column, k: turn.k.unwrap_or(0) };
    let (answer, provenance) = lake.ask(session, &request)?;
    Ok(AskDocument::new(request.text, session, answer, &provenance, started))
}

/// The plan that `what` means.
///
/// # Errors
/// [`Error::Usage`] if it means none or several, or reads a file outside the lake.
pub fn plan(lake: &Lakeward, session: &Session, what: What) -> Result<Plan> {
    let plan = match (what.operation, what.plan, what.edit) {
        (Some(number), None, None) => return operation(lake, session, None, number),
        (None, Some(plan), None) => plan,
        (None, None, Some(edit)) => {
            let before = session.plan().ok_or_else(|| Error::usage("there is no working table to change yet"))?;
            before.edited(&edit).map_err(|error| Error::usage(error.to_string()))?
        }
        _ => return Err(Error::usage("give one of `operation`, `plan` and `edit`")),
    };
    allowed(lake, plan)
}

/// The plan of operation `number` of the answer to the turn with the number `turn`, of the latest one by default.
///
/// # Errors
/// [`Error::Usage`] if there is no such answer or operation, or it cannot be run.
pub fn operation(lake: &Lakeward, session: &Session, turn: Option<usize>, number: usize) -> Result<Plan> {
    let found = match turn {
        Some(turn) => session.turns.iter().find(|other| other.number == turn),
        None => session.latest(),
    };
    let answer = found.and_then(|turn| turn.recommendation.as_ref()).ok_or_else(|| {
        Error::usage(match turn {
            Some(turn) => format!("answer {turn} is not kept any more: ask for it again"),
            None => "there is no answer yet: ask for something first".into(),
        })
    })?;
    // It comes from a session's file, which is not trusted.
    let plan = lake.gate().admit(answer.clone())?.plan(number)?.clone();
    allowed(lake, plan)
}

/// `plan`, if a service may carry it out.
fn allowed(lake: &Lakeward, plan: Plan) -> Result<Plan> {
    plan.check()?;
    for input in plan.inputs() {
        match input {
            Input::Table(id) => drop(mcp::table_id(lake, id)?),
            Input::Step(_) => {}
            Input::File(_) => return Err(Error::usage("a plan of the service reads no files outside the lake")),
        }
    }
    Ok(plan)
}

/// What `plan` would do, with its first rows.
pub fn preview(lake: &Lakeward, stop: &Stop, session: &Session, plan: &Plan) -> Result<PlanPreview> {
    let context = query_context(lake, stop)?;
    execution::connect(&context, &lake.sessions(), session)?;
    stop.begin("computing what it would do");
    plan_preview(&context, plan, &execution::limits(session))
}

/// Carries `plan` out as the next step of `session`.
pub fn run(lake: &Lakeward, stop: &Stop, session: &mut Session, plan: &Plan) -> Result<(Vec<PlanWarning>, Outcome)> {
    let (context, store) = (query_context(lake, stop)?, lake.sessions());
    let limits = PreviewLimits { sample_rows: 0, ..execution::limits(session) };
    execution::connect(&context, &store, session)?;
    stop.begin("checking what it would do");
    let preview = execution::preview(&context, session, plan, &limits)?;
    stop.begin("carrying it out");
    let outcome = execution::run(&context, &store, session, plan, &limits)?;
    Ok((preview.warnings, outcome))
}

/// Forgets the demand with this number, from 1.
///
/// # Errors
/// [`Error::Usage`] if there is none.
pub fn forget(session: &mut Session, number: usize) -> Result<()> {
    match number {
        1.. if number <= session.demands.len() => drop(session.demands.remove(number - 1)),
        _ => {
            return Err(Error::usage(format!(
                "{} remembered; there is no number {number}",
                counted(session.demands.len() as u64, "demand")
            )));
        }
    }
    Ok(())
}

/// The citations of the tables that `id` names, in all forms.
///
/// # Errors
/// Those of [`CiteDocument::of`]; [`Error::UnknownTable`] with the nearest ids for what names none.
pub fn cite(lake: &Lakeward, id: &str) -> Result<CiteDocument> {
    let document = CiteDocument::of(lake, &[id.to_string()])?;
    if document.citations.is_empty() {
        lake.index().find(id)?;
    }
    Ok(document)
}

/// Takes the latest step of `session` back, or makes the one `again` that was taken back last.
pub fn undo(session: &mut Session, again: bool) -> Result<()> {
    session.step_back(again).map(|_| ())
}
