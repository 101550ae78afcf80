//! The result of an operation: its first rows, a chart of two of its columns, its files.

use axum::extract::Path;
use maud::{Markup, html};
use serde::Deserialize;

use super::fault::Fault;
use super::layout::{Visitor, grid, page as whole, text};
use super::results::downloads;
use crate::messages::{count, fill, say};
use crate::service::http::app::READ;
use crate::service::http::chart::{Chart, ChartKind, MOST_BARS};
use crate::service::http::endpoint::Query;
use crate::service::percent::percent_encoded;
use crate::service::query_context;
use lakeward::LakeContext;
use lakeward_agent::execution;
use lakeward_core::error::{Error, Result as Outcome};
use lakeward_core::request::Input;
use lakeward_operate::{CellForm, ResultColumn, table_rows, texts};

/// Rows of a page, and rows that a chart of lines or points draws.
const ROWS: usize = 50;
const DRAWN: usize = 2_000;
/// Rows among which the largest are looked for.
const LOOKED_AT: usize = 1_000_000;
/// Columns that are shown.
const COLUMNS: usize = 30;

/// The step, the chart of its result, and the first row that is shown.
#[derive(Clone, Deserialize)]
pub struct Of {
    step: usize,
    #[serde(default)]
    kind: ChartKind,
    x: Option<usize>,
    y: Option<usize>,
    #[serde(default)]
    from: usize,
}

/// The points of a chart: the first rows, or of bars the largest where there are more than are drawn.
struct Drawn {
    /// Places of the two columns.
    axes: [usize; 2],
    points: Vec<(String, f64)>,
    /// Rows that have both values, as far as they were looked at.
    rows: usize,
    is_largest: bool,
}

pub async fn page(visitor: Visitor, Path(id): Path<String>, Query(of): Query<Of>) -> Result<Markup, Fault> {
    let asked = of.clone();
    let found = visitor.work(READ, move |lake, stop| {
        let (context, store) = (query_context(lake, stop)?, lake.sessions());
        let session = store.open(&id)?;
        let step = session.step(asked.step).filter(|step| !step.undone);
        let step = step.ok_or_else(|| Error::usage(format!("the conversation has no result {}", asked.step)))?.clone();
        execution::connect(&context, &store, &session)?;
        let (columns, rows) = rows(&context, asked.step, asked.from)?;
        let drawn = drawn(&context, &asked, &columns)?;
        Ok((session.id, step, columns, rows, drawn))
    });
    let (id, step, columns, rows, drawn) = found.await?;
    let heads: Vec<String> = columns.iter().take(COLUMNS).map(|column| text(&column.name)).collect();
    let address = format!("/sessions/{}/result", percent_encoded(&id));
    Ok(whole(
        &fill("Result {}", &[&of.step.to_string()]),
        Some(&visitor),
        &html! {
            p { a href={ "/sessions/" (id) "#result-" (of.step) } { (say("← Conversation")) } }
            h1 { (fill("Result {}", &[&of.step.to_string()])) }
            p { (count(step.rows, "row")) ", " (count(columns.len() as u64, "column")) }
            div.row { (downloads(&id, of.step)) }
            @if let Some(drawn) = &drawn { (chart(&of, &address, &columns, drawn)) }
            h2 id="rows" tabindex="-1" { (say("Rows")) }
            (pages(&of, &address, step.rows as usize, rows.len()))
            (grid(say("Rows of the result"), &heads, &rows))
        },
    ))
}

/// The columns of a result, and a page of its rows, each cell with whether it is a number.
#[allow(clippy::type_complexity, reason = "the cells of a table")]
fn rows(context: &LakeContext, step: usize, from: usize) -> Outcome<(Vec<ResultColumn>, Vec<Vec<(String, bool)>>)> {
    let mut found = table_rows(context, &Input::Step(step))?;
    let columns = found.columns().to_vec();
    let (mut skipped, mut rows) = (0, Vec::new());
    while rows.len() < ROWS
        && let Some(batch) = found.next_batch()?
    {
        let start = from.saturating_sub(skipped).min(batch.num_rows());
        skipped += start;
        let page = batch.slice(start, (batch.num_rows() - start).min(ROWS - rows.len()));
        let cells = |row: Vec<String>| {
            let cells = row.iter().zip(&columns).take(COLUMNS);
            cells.map(|(cell, column)| (text(cell), column.is_numeric)).collect::<Vec<_>>()
        };
        rows.extend(texts(&page, CellForm::Data)?.into_iter().map(cells));
    }
    Ok((columns, rows))
}

/// Which rows are shown, with links to those before and after.
fn pages(of: &Of, address: &str, all: usize, shown: usize) -> Markup {
    let link = |from: usize, words: &'static str| {
        let axis = |name: &str, place: Option<usize>| place.map(|it| format!("&{name}={it}")).unwrap_or_default();
        let kind = ChartKind::ALL.iter().find(|(kind, _)| *kind == of.kind).map_or("bar", |(_, name)| name);
        let chart = format!("&kind={kind}{}{}", axis("x", of.x), axis("y", of.y));
        html! { a.button href={ (address) "?step=" (of.step) "&from=" (from) (chart) "#rows" } { (say(words)) } }
    };
    html! {
        @if all > shown {
            nav.row aria-label=(say("Rows")) {
                @if of.from > 0 { (link(0, "First")) (link(of.from.saturating_sub(ROWS), "Previous")) }
                span {
                    @if shown == 0 { (fill("There are only {}.", &[&count(all as u64, "row")])) } @else { (fill("{} to {} of {}", &[of.from + 1, of.from + shown, all].map(|it| it.to_string()).each_ref().map(String::as_str))) }
                }
                @if of.from + shown < all && shown > 0 {
                    (link(of.from + ROWS, "Next")) (link((all - 1) / ROWS * ROWS, "Last"))
                }
            }
        }
    }
}

/// What the chart draws; none where no column has numbers.
fn drawn(context: &LakeContext, of: &Of, columns: &[ResultColumn]) -> Outcome<Option<Drawn>> {
    let numeric = |place: &usize| columns.get(*place).is_some_and(|column| column.is_numeric);
    let x = of.x.filter(|x| *x < columns.len()).unwrap_or(0);
    let Some(y) = of.y.filter(numeric).or_else(|| (0..columns.len()).find(|place| *place != x && numeric(place)))
    else {
        return Ok(None);
    };
    let is_bar = of.kind == ChartKind::Bar;
    let (most, looked_at) = if is_bar { (MOST_BARS, LOOKED_AT) } else { (DRAWN, DRAWN) };
    let mut found = table_rows(context, &Input::Step(of.step))?;
    let (mut points, mut rows) = (Vec::<(String, f64)>::new(), 0);
    let mut is_largest = false;
    while let Some(batch) = found.next_batch()?.filter(|_| rows < looked_at) {
        let batch = batch.project(&[x, y]).map_err(|error| Error::Internal(error.to_string()))?;
        for row in texts(&batch, CellForm::Data)? {
            let [name, value] = row.as_slice() else { continue };
            let Some(value) = value.parse().ok().filter(|value: &f64| value.is_finite()) else { continue };
            rows += 1;
            points.push((name.clone(), value));
        }
        // The largest so far, in their order; the rest cannot be among them any more.
        if is_bar && points.len() > most {
            points.sort_by(|a, b| b.1.total_cmp(&a.1));
            is_largest = true;
            points.truncate(most);
        }
    }
    points.truncate(most);
    Ok(Some(Drawn { axes: [x, y], points, rows, is_largest }))
}

/// The chart with the form that changes it.
fn chart(of: &Of, address: &str, columns: &[ResultColumn], drawn: &Drawn) -> Markup {
    let [x, y] = drawn.axes;
    let chart = Chart { kind: of.kind, names: [&columns[x].name, &columns[y].name], points: drawn.points.clone() };
    let choice = |name: &str, label: &'static str, chosen: usize, numbers: bool| {
        html! {
            div {
                label for=(name) { (say(label)) }
                select id=(name) name=(name) {
                    @for (place, column) in columns.iter().enumerate().filter(|(_, column)| !numbers || column.is_numeric) {
                        option value=(place) selected[place == chosen] { (text(&column.name)) }
                    }
                }
            }
        }
    };
    html! {
        h2 { (say("Chart")) }
        form.row method="get" action=(address) {
            input type="hidden" name="step" value=(of.step);
            div {
                label for="kind" { (say("Form")) }
                select id="kind" name="kind" {
                    @for (kind, name) in ChartKind::ALL { option value=(name) selected[kind == of.kind] { (say(name)) } }
                }
            }
            (choice("x", "Along", x, false))
            (choice("y", "Up (a number)", y, true))
            div { button { (say("Draw")) } }
        }
        div.scroll tabindex="0" role="region" aria-label=(say("Chart")) { (chart.svg()) }
        @if drawn.rows > drawn.points.len() {
            p.why {
                @let (drawn_points, rows) = (drawn.points.len().to_string(), drawn.rows.to_string());
                @if drawn.is_largest && drawn.rows >= LOOKED_AT { (fill("The {} largest of the first {}.", &[&drawn_points, &rows])) }
                @else if drawn.is_largest { (fill("The {} largest of {}.", &[&drawn_points, &rows])) }
                @else { (fill("The first {} rows with both values.", &[&drawn_points])) }
            }
        }
    }
}
