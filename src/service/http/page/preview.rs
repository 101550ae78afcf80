//! What an operation would do, step by step, before it is run.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Redirect;
use maud::{Markup, html};
use serde::Deserialize;

use super::conversation::back;
use super::layout::{Fault, Form, Visitor, page as whole, text};
use crate::service::http::actions::{self, What};
use crate::service::http::app::{App, READ, RUN};
use crate::service::http::endpoint::Query;
use lakeward_core::text::counted;
use lakeward_operate::PlanPreview;
use serde_json::Value;

/// Columns of the sample.
const COLUMNS: usize = 30;

/// The operation that is meant.
#[derive(Deserialize)]
pub struct Operation {
    operation: usize,
}

/// The operation to run, of this state of the conversation.
#[derive(Deserialize)]
pub struct Run {
    operation: usize,
    revision: u64,
}

/// The page.
pub async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(of): Query<Operation>,
) -> Result<Markup, Fault> {
    let number = of.operation;
    let found = app.work(&visitor.user, READ, move |lake, stop| {
        let session = lake.sessions().open(&id)?;
        let plan = actions::plan(lake, &session, What { operation: Some(number), ..What::default() })?;
        Ok((actions::preview(lake, stop, &session, &plan)?, session))
    });
    let (preview, session) = found.await?;
    Ok(whole(
        "Preview",
        Some(&visitor),
        &html! {
            h1 { "Operation " (number) ": what it would do" }
            p { (counted(preview.rows_in, "row")) " before." }
            ol {
                @for step in &preview.steps {
                    li {
                        (text(&step.does))
                        @if let Some(rows) = step.rows { " → " (counted(rows, "row")) }
                        @for fact in &step.facts { p class="why" { (text(fact)) } }
                    }
                }
            }
            @for warning in &preview.warnings { p class="warn" { "Step " (warning.step) ": " (text(&warning.text)) } }
            @match &preview.stopped {
                Some(reason) => p class="warn" role="alert" { "Not run as it stands: " (text(reason)) },
                None => form method="post" action={ "/sessions/" (session.id) "/run" } {
                    (visitor.field())
                    input type="hidden" name="revision" value=(session.revision);
                    input type="hidden" name="operation" value=(number);
                    button { "Run it: " (counted(preview.rows_out, "row")) ", " (counted(preview.columns.len() as u64, "column")) }
                },
            }
            (sample(&preview))
            details { summary { "SQL" } pre { (preview.sql) } }
            p { a href={ "/sessions/" (session.id) } { "Back to the conversation" } }
        },
    ))
}

fn sample(preview: &PlanPreview) -> Markup {
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(value) => text(value),
        other => text(&other.to_string()),
    };
    html! {
        @if !preview.sample.is_empty() {
            div class="scroll" tabindex="0" role="region" aria-label="First rows" {
                table {
                    caption { "First rows" }
                    thead { tr { @for column in preview.columns.iter().take(COLUMNS) { th scope="col" { (text(&column.name)) } } } }
                    tbody {
                        @for row in &preview.sample {
                            tr { @for value in row.iter().take(COLUMNS) { td class=[value.is_number().then_some("number")] { (cell(value)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// Runs the operation.
pub async fn run(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(of): Form<Run>,
) -> Result<Redirect, Fault> {
    let what = What { operation: Some(of.operation), ..What::default() };
    app.change(&visitor.user, (id.clone(), Some(of.revision)), RUN, move |lake, stop, session| {
        let plan = actions::plan(lake, session, what)?;
        actions::run(lake, stop, session, &plan)
    })
    .await?;
    Ok(back(&id))
}
