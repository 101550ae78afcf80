//! What a plan would do, step by step, before it is run; and a step changed.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Redirect;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::conversation::back;
use super::edit;
use super::layout::{Fault, Form, Visitor, grid, page as whole, text, told};
use crate::service::http::actions::{self, What};
use crate::service::http::app::{App, READ, RUN};
use crate::service::http::endpoint::Query;
use lakeward::usage::{self, Did};
use lakeward::{Plan, Session};
use lakeward_core::error::{Error, Result as Outcome};
use lakeward_core::request::Input;
use lakeward_core::text::counted;
use lakeward_operate::PlanPreview;

/// Columns of the sample.
const COLUMNS: usize = 30;

/// The operation that is meant; the working table as it is without one.
#[derive(Deserialize)]
pub struct Operation {
    operation: Option<usize>,
}

/// The page of an operation.
pub async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(of): Query<Operation>,
) -> Result<Markup, Fault> {
    let number = of.operation;
    let plan = move |lake: &_, session: &Session| match number {
        Some(_) => actions::plan(lake, session, What { operation: number, ..What::default() }),
        None => session.plan().ok_or_else(|| Error::Usage("there is no working table to change yet".into())),
    };
    let title = number.map_or("The working table".to_string(), |number| format!("Operation {number}"));
    shown(&app, &visitor, id, &title, plan).await
}

/// The page of a plan with a change.
pub async fn edited(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Markup, Fault> {
    let plan = move |lake: &_, session: &Session| {
        actions::plan(lake, session, What { plan: Some(edit::edited(&fields)?), ..What::default() })
    };
    shown(&app, &visitor, id, "Changed operation", plan).await
}

async fn shown(
    app: &App,
    visitor: &Visitor,
    id: String,
    title: &str,
    plan: impl FnOnce(&lakeward::Lakeward, &Session) -> Outcome<Plan> + Send + 'static,
) -> Result<Markup, Fault> {
    let found = app.work(&visitor.user, READ, move |lake, stop| {
        let session = lake.sessions().open(&id)?;
        let plan = plan(lake, &session)?;
        Ok((actions::preview(lake, stop, &session, &plan)?, plan, session))
    });
    let (preview, plan, session) = found.await?;
    let common = html! {
        (visitor.field())
        input type="hidden" name="revision" value=(session.revision);
        (edit::field(&plan))
    };
    let address = format!("/sessions/{}/preview", session.id);
    Ok(whole(
        title,
        Some(visitor),
        &html! {
            p { a href={ "/sessions/" (session.id) } { "← Conversation" } }
            h1 { (title) ": what it would do" }
            ol.flow {
                li { strong { (text(&lakeward_agent::session::transcript::input_name(&plan.relation.source))) } ": " (counted(preview.rows_in, "row")) }
                @for (place, step) in preview.steps.iter().enumerate() {
                    li {
                        (told(&step.does))
                        @if let Some(rows) = step.rows { " → " strong { (counted(rows, "row")) } }
                        @for fact in &step.facts { p.why { (told(fact)) } }
                        @if let Some(step) = plan.relation.steps.get(place) { (edit::forms(&address, &common, place + 1, step)) }
                    }
                }
            }
            @for warning in &preview.warnings { p.warn { "Step " (warning.step) ": " (told(&warning.text)) } }
            @match &preview.stopped {
                Some(reason) => p.warn role="alert" { "Not run as it stands: " (told(reason)) },
                None => form method="post" action={ "/sessions/" (session.id) "/run" } data-wait="Running" {
                    (common)
                    button.main { "Run it: " (counted(preview.rows_out, "row")) ", " (counted(preview.columns.len() as u64, "column")) }
                },
            }
            (sample(&preview))
            details { summary { "SQL" } pre { (preview.sql) } }
        },
    ))
}

fn sample(preview: &PlanPreview) -> Markup {
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(value) => text(value),
        other => text(&other.to_string()),
    };
    let heads: Vec<String> = preview.columns.iter().take(COLUMNS).map(|column| text(&column.name)).collect();
    let row = |row: &Vec<Value>| row.iter().take(COLUMNS).map(|value| (cell(value), value.is_number())).collect();
    let rows: Vec<Vec<(String, bool)>> = preview.sample.iter().map(row).collect();
    html! { @if !rows.is_empty() { (grid("First rows", &heads, &rows)) } }
}

/// Runs the plan.
pub async fn run(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Redirect, Fault> {
    let revision = fields.iter().find(|(name, _)| name == "revision").and_then(|(_, value)| value.parse().ok());
    let ran = app.change(&visitor.user, (id.clone(), revision), RUN, move |lake, stop, session| {
        let what = What { plan: Some(edit::plan(&fields)?), ..What::default() };
        let plan = actions::plan(lake, session, what)?;
        actions::run(lake, stop, session, &plan).map(|_| plan)
    });
    let (plan, session) = ran.await?;
    if let Some(log) = &app.usage {
        let tables = plan.inputs().into_iter().filter_map(|input| match input {
            Input::Table(id) => Some(id.clone()),
            Input::File(_) | Input::Step(_) => None,
        });
        log.add(&usage::answer_of(&session), Did::Ran, tables);
    }
    Ok(back(&id))
}
