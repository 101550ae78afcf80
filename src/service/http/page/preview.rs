//! What a plan would do, step by step, before it is run; and a step changed.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::conversation::{after, to_place};
use super::edit::{self, Choices, Sent};
use super::fault::{Fault, alert, capitalised, nearest};
use super::fresh::{Fresh, FreshColumns};
use super::layout::{Form, Visitor, grid, marked, page as whole, phrase, said, text};
use crate::messages::{count, fill, in_language, say};
use crate::service::http::actions::{self, What};
use crate::service::http::app::{LOOK, READ, RUN};
use crate::service::http::endpoint::Query;
use crate::service::http::refusal::Refusal;
use crate::service::query_context;
use lakeward::usage::{self, Did};
use lakeward::{Lakeward, Plan, Session};
use lakeward_agent::execution;
use lakeward_agent::session::transcript::input_name;
use lakeward_core::error::{Error, Result as Outcome};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::{Condition, Edit, Step};
use lakeward_core::request::Input;
use lakeward_operate::PlanPreview;

/// Columns of the sample.
const COLUMNS: usize = 30;
/// Names of new columns in a heading.
const NAMED: usize = 3;
/// Tables that a step is offered to take in.
const TABLES: usize = 150;

/// The operation that is meant and the turn whose answer has it; the working table as it is without one.
#[derive(Deserialize)]
pub struct Operation {
    operation: Option<usize>,
    turn: Option<usize>,
}

/// A plan with what there is to know of it.
struct Previewed {
    preview: PlanPreview,
    plan: Plan,
    session: Session,
    fresh: FreshColumns,
    choices: Choices,
    /// Why it cannot be run.
    refused: Option<Message>,
}

pub async fn page(visitor: Visitor, Path(id): Path<String>, Query(of): Query<Operation>) -> Result<Markup, Fault> {
    let Operation { operation, turn } = of;
    let plan = move |lake: &Lakeward, session: &Session| match operation {
        Some(number) => actions::operation(lake, session, turn, number),
        None => session.plan().ok_or_else(|| Error::usage("there is no working table to change yet")),
    };
    let found = previewed(&visitor, id, plan).await?;
    let latest = found.session.latest().map(|turn| turn.number);
    let stale = turn.filter(|turn| operation.is_some() && latest != Some(*turn)).map(|turn| {
        html! {
            p.warn role="status" {
                (phrase("This is operation {} of answer {}. The conversation has gone on since: {}.", &[
                    html! { (operation.unwrap_or_default()) }, html! { (turn) },
                    html! { a href={ "/sessions/" (found.session.id) "#answer-" (latest.unwrap_or_default()) } { (say("see its latest answer")) } },
                ]))
            }
        }
    });
    let title = match operation {
        Some(number) => fill("Operation {}: {}", &[&number.to_string(), &heading(&found)]),
        None => say("The working table: how it is made").to_string(),
    };
    Ok(shown(&visitor, &found, &title, &stale.unwrap_or_default(), &[]))
}

/// The page of a plan with a change; of the plan before it, with what was typed, if it cannot be changed so.
pub async fn edited(
    visitor: Visitor,
    Path(id): Path<String>,
    Form(sent): Form<Vec<(String, String)>>,
) -> Result<Response, Fault> {
    let fields = sent.clone();
    let changed = move |lake: &Lakeward, _: &Session| {
        actions::plan(lake, &lake.new_session(), What { plan: Some(edit::edited(&fields)?), ..What::default() })
    };
    let problem = match previewed(&visitor, id.clone(), changed).await {
        Ok(found) => {
            let title = fill("Changed operation: {}", &[&heading(&found)]);
            return Ok(shown(&visitor, &found, &title, &html! {}, &[]).into_response());
        }
        Err(problem) => problem,
    };
    let fields = sent.clone();
    let before = move |lake: &Lakeward, _: &Session| {
        actions::plan(lake, &lake.new_session(), What { plan: Some(edit::plan(&fields)?), ..What::default() })
    };
    let Ok(found) = previewed(&visitor, id, before).await else { return Err(problem.into()) };
    let refused = problem.notice();
    let (address, common) = form_of(&visitor, &found);
    let instead = |name: &str| {
        let typed = refused.unknown.as_ref().map_or("", |(typed, _)| typed);
        edit::instead(&address, &common, &sent, typed, name)
    };
    let alert = html! { (alert(&refused)) (nearest(&refused, instead)) };
    Ok((problem.status, shown(&visitor, &found, say("Not changed: the operation before"), &alert, &sent))
        .into_response())
}

async fn previewed(
    visitor: &Visitor,
    id: String,
    plan: impl FnOnce(&Lakeward, &Session) -> Outcome<Plan> + Send + 'static,
) -> Result<Previewed, Refusal> {
    let found = visitor.work(READ, move |lake, stop| {
        let session = lake.sessions().open(&id)?;
        let plan = plan(lake, &session)?;
        let preview = actions::preview(lake, stop, &session, &plan)?;
        let context = query_context(lake, stop)?;
        execution::connect(&context, &lake.sessions(), &session)?;
        let names = preview.columns.iter().map(|column| column.name.clone()).collect();
        let before = match session.working() {
            Some(Input::Step(number)) => session.step(number).filter(|step| step.plan != plan),
            _ => None,
        };
        let fresh = FreshColumns::of(&context, before, &plan, names)?;
        let choices = Choices::of(&context, &plan, offered_tables(lake, &session)?);
        let refused = match (&preview.stopped, execution::changes_working_table(&session, &plan, &preview)) {
            (Some(reason), _) => Some(message!("not run as it stands: {}", reason)),
            (None, Err(error)) => Some(error.message()),
            (None, Ok(())) => None,
        };
        Ok(Previewed { preview, plan, session, fresh, choices, refused })
    });
    found.await
}

/// Tables that a step may take in instead: those of the latest answer, then others of the lake.
fn offered_tables(lake: &Lakeward, session: &Session) -> Outcome<Vec<String>> {
    let mut tables = session.latest().map(|turn| turn.tables.clone()).unwrap_or_default();
    let index = lake.index();
    for table in index.tables().take(TABLES) {
        let id = index.id(table)?;
        if tables.len() < TABLES && !tables.iter().any(|known| known == id) {
            tables.push(id.to_string());
        }
    }
    Ok(tables)
}

/// What a plan does, in the names of the columns that it brings, else in numbers.
fn heading(found: &Previewed) -> String {
    let (preview, fresh) = (&found.preview, &found.fresh);
    let (added, new) = (fresh.added(), fresh.new_steps.min(found.plan.relation.steps.len()));
    let steps = &found.plan.relation.steps[found.plan.relation.steps.len() - new..];
    let computes = steps.iter().any(|step| matches!(step, Step::Group(_) | Step::Pivot(_)));
    if !added.is_empty() {
        let more = added.len().saturating_sub(NAMED);
        let mut names: Vec<String> = added.iter().take(NAMED).map(|name| text(name)).collect();
        names.extend((more > 0).then(|| fill("{} more", &[&more.to_string()])));
        let last = names.pop().unwrap_or_default();
        let names = match names.is_empty() {
            true => last,
            false => fill("{} and {}", &[&names.join(", "), &last]),
        };
        return fill(if computes { "computes {}" } else { "adds {}" }, &[&names]);
    }
    let columns = preview.columns.len();
    match () {
        () if columns < fresh.before => {
            fill("keeps {} of {}", &[&columns.to_string(), &count(fresh.before as u64, "column")])
        }
        () if preview.rows_out < preview.rows_in => {
            fill("{} of {}", &[&preview.rows_out.to_string(), &count(preview.rows_in, "row")])
        }
        () => count(preview.rows_out, "row"),
    }
}

/// What a remedy does, as the words of a button.
fn remedied(edit: &Edit) -> String {
    match edit {
        Edit::Remove { step } => fill("Take step {} out", &[&step.to_string()]),
        Edit::Replace { with, .. } => fill("Put it right: {}", &[&text(&in_language(&with.message()))]),
        Edit::Add { step: Step::Filter(Condition::Not(totals)), .. } => {
            fill("Leave out: {}", &[&text(&in_language(&totals.message()))])
        }
        Edit::Add { step, .. } => fill("Add a step: {}", &[&text(&in_language(&step.message()))]),
        _ => say("Put it right").into(),
    }
}

/// The address of the forms that change a plan, and the fields that all have.
fn form_of(visitor: &Visitor, found: &Previewed) -> (String, Markup) {
    let common = html! {
        (visitor.field())
        input type="hidden" name="revision" value=(found.session.revision);
        (edit::field(&found.plan))
    };
    (format!("/sessions/{}/preview", found.session.id), common)
}

fn shown(visitor: &Visitor, found: &Previewed, title: &str, problem: &Markup, sent: &Sent) -> Markup {
    let Previewed { preview, plan, session, fresh, choices, refused } = found;
    let (address, common) = form_of(visitor, found);
    whole(
        title,
        Some(visitor),
        &html! {
            p { a href={ "/sessions/" (session.id) } { (say("← Conversation")) } }
            h1 { (title) }
            (problem)
            ol.flow {
                li { strong { (text(&in_language(&input_name(&plan.relation.source)))) } ": " (count(preview.rows_in, "row")) }
                @for (place, step) in preview.steps.iter().enumerate() {
                    li {
                        (said(&step.does))
                        @if let Some(rows) = step.rows { " → " strong { (count(rows, "row")) } }
                        @for fact in &step.facts { p.why { (marked(fact)) } }
                        @if let Some(step) = plan.relation.steps.get(place) { (edit::forms(&address, &common, place, step, choices, sent)) }
                    }
                }
            }
            (choices.lists())
            @for warning in &preview.warnings {
                div.warn {
                    p { (phrase("Step {}: {}", &[html! { (warning.step) }, marked(&warning.text)])) }
                    @if let Some(edit) = &warning.remedy { (edit::remedy(&address, &common, edit, &remedied(edit))) }
                }
            }
            @match refused {
                Some(reason) => p.warn role="alert" { (marked(&capitalised(&in_language(reason)))) (say(".")) },
                None => form method="post" action={ "/sessions/" (session.id) "/run" } data-wait=(say("Running")) {
                    (common)
                    button.main { (fill("Run it: {}, {}", &[&count(preview.rows_out, "row"), &count(preview.columns.len() as u64, "column")])) }
                },
            }
            (sample(preview, fresh))
            details { summary { "SQL" } pre { (preview.sql) } }
        },
    )
}

fn sample(preview: &PlanPreview, fresh: &FreshColumns) -> Markup {
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(value) => text(value),
        other => text(&other.to_string()),
    };
    let shown = || fresh.shown.iter().take(COLUMNS);
    let heads: Vec<Markup> = shown().map(Fresh::head).collect();
    let row = |row: &Vec<Value>| {
        shown().filter_map(|column| row.get(column.place)).map(|value| (cell(value), value.is_number())).collect()
    };
    let rows: Vec<Vec<(String, bool)>> = preview.sample.iter().map(row).collect();
    html! { @if !rows.is_empty() { (grid(say("First rows"), &heads, &rows)) } }
}

/// Runs the plan; whoever sends it again is led to its result.
pub async fn run(
    visitor: Visitor,
    Path(id): Path<String>,
    Form(sent): Form<Vec<(String, String)>>,
) -> Result<Response, Fault> {
    let revision = sent.iter().find(|(name, _)| name == "revision").and_then(|(_, value)| value.parse().ok());
    let fields = sent.clone();
    let ran = visitor.change((id.clone(), revision), RUN, move |lake, stop, session| {
        let what = What { plan: Some(edit::plan(&fields)?), ..What::default() };
        let plan = actions::plan(lake, session, what)?;
        actions::run(lake, stop, session, &plan).map(|_| plan)
    });
    let ran = ran.await;
    if let (Some(log), Ok((plan, session))) = (&visitor.app.usage, &ran) {
        let tables = plan.tables().map(str::to_string);
        log.add(&usage::answer_of(session), Did::Ran, tables);
    }
    if let (Err(_), Ok(plan)) = (&ran, edit::plan(&sent)) {
        let name = id.clone();
        let known = visitor.work(LOOK, move |lake, _| {
            let session = lake.sessions().open(&name)?;
            let steps = session.steps.iter().rev();
            Ok(steps.filter(|step| !step.undone && step.plan == plan).map(|step| step.number).next())
        });
        if let Ok(Some(number)) = known.await {
            return Ok(to_place(&id, &format!("?again={number}#result-{number}")));
        }
    }
    let to = |_: &Plan, session: &Session| format!("?ran={0}#result-{0}", session.steps.len());
    after(&visitor, &id, ran, to, "").await
}
