//! The result of an operation: its first rows, a chart of two of its columns, its files.

use std::sync::Arc;

use axum::extract::{Path, State};
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{Fault, Visitor, grid, page as whole, text};
use crate::service::http::app::{App, READ};
use crate::service::http::chart::{Chart, ChartKind, MOST_BARS};
use crate::service::http::endpoint::Query;
use crate::service::percent::percent_encoded;
use crate::service::query_context;
use lakeward_agent::execution;
use lakeward_core::error::Error;
use lakeward_core::request::Input;
use lakeward_core::text::counted;
use lakeward_operate::{CellForm, ResultColumn, table_rows, texts};

/// Rows that are shown, and rows that a chart draws.
const ROWS: usize = 50;
const DRAWN: usize = 2_000;
/// Columns that are shown.
const COLUMNS: usize = 30;

/// The step, and the chart of its result.
#[derive(Deserialize)]
pub struct Of {
    step: usize,
    #[serde(default)]
    kind: ChartKind,
    x: Option<usize>,
    y: Option<usize>,
}

/// The page.
pub async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(of): Query<Of>,
) -> Result<Markup, Fault> {
    let number = of.step;
    let found = app.work(&visitor.user, READ, move |lake, stop| {
        let (context, store) = (query_context(lake, stop)?, lake.sessions());
        let session = store.open(&id)?;
        let step = session.step(number).filter(|step| !step.undone);
        let step = step.ok_or_else(|| Error::Usage(format!("the conversation has no result {number}")))?.clone();
        execution::connect(&context, &store, &session)?;
        let mut found = table_rows(&context, &Input::Step(number))?;
        let (columns, mut rows) = (found.columns().to_vec(), Vec::new());
        while let Some(batch) = found.next_batch()?.filter(|_| rows.len() < DRAWN) {
            rows.extend(texts(&batch, CellForm::Data)?);
        }
        rows.truncate(DRAWN);
        Ok((session.id, step, columns, rows))
    });
    let (id, step, columns, rows) = found.await?;
    let heads: Vec<String> = columns.iter().take(COLUMNS).map(|column| text(&column.name)).collect();
    let cells = |row: &Vec<String>| {
        row.iter().zip(&columns).take(COLUMNS).map(|(cell, column)| (text(cell), column.is_numeric)).collect()
    };
    let shown: Vec<Vec<(String, bool)>> = rows.iter().take(ROWS).map(cells).collect();
    let address = format!("/sessions/{}/result", percent_encoded(&id));
    let file = format!("/api/v1/sessions/{id}/result?step={number}&format=");
    Ok(whole(
        &format!("Result {number}"),
        Some(&visitor),
        &html! {
            p { a href={ "/sessions/" (id) } { "← Conversation" } }
            h1 { "Result of step " (number) }
            p {
                (counted(step.rows, "row")) ", " (counted(columns.len() as u64, "column")) ". "
                a.button href={ (file) "csv" } { "Download as CSV" } " " a.button href={ (file) "parquet" } { "as Parquet" }
            }
            (drawn(&of, &address, &columns, &rows))
            h2 { "Rows" }
            @if step.rows as usize > shown.len() { p { "The first " (shown.len()) " of " (step.rows) "." } }
            (grid("Rows of the result", &heads, &shown))
        },
    ))
}

/// The chart with the form that changes it; nothing where no column has numbers.
fn drawn(of: &Of, address: &str, columns: &[ResultColumn], rows: &[Vec<String>]) -> Markup {
    let numeric = |place: &usize| columns.get(*place).is_some_and(|column| column.is_numeric);
    let x = of.x.filter(|x| *x < columns.len()).unwrap_or(0);
    let Some(y) = of.y.filter(numeric).or_else(|| (0..columns.len()).find(|place| *place != x && numeric(place)))
    else {
        return html! {};
    };
    let most = if of.kind == ChartKind::Bar { MOST_BARS } else { DRAWN };
    let point = |row: &Vec<String>| {
        Some((row.get(x)?.clone(), row.get(y)?.parse().ok()?)).filter(|(_, y): &(String, f64)| y.is_finite())
    };
    let points: Vec<(String, f64)> = rows.iter().filter_map(point).take(most).collect();
    let left = rows.len() - points.len();
    let chart = Chart { kind: of.kind, names: [&columns[x].name, &columns[y].name], points };
    let choice = |name: &str, label: &str, chosen: usize, numbers: bool| {
        html! {
            div {
                label for=(name) { (label) }
                select id=(name) name=(name) {
                    @for (place, column) in columns.iter().enumerate().filter(|(_, column)| !numbers || column.is_numeric) {
                        option value=(place) selected[place == chosen] { (text(&column.name)) }
                    }
                }
            }
        }
    };
    html! {
        h2 { "Chart" }
        form.row method="get" action=(address) {
            input type="hidden" name="step" value=(of.step);
            div {
                label for="kind" { "Form" }
                select id="kind" name="kind" {
                    @for (kind, name) in ChartKind::ALL { option value=(name) selected[kind == of.kind] { (name) } }
                }
            }
            (choice("x", "Along", x, false))
            (choice("y", "Up (a number)", y, true))
            div { button { "Draw" } }
        }
        div.scroll tabindex="0" role="region" aria-label="Chart" { (chart.svg()) }
        @if left > 0 { p.why { (chart.points.len()) " of the first " (counted(rows.len() as u64, "row")) " drawn." } }
    }
}
