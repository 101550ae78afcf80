//! The operations of a conversation that were run: numbered cards, each with what was done, its files, and its first rows.

use maud::{Markup, html};

use super::conversation::{Done, Forms};
use super::fresh::FreshColumns;
use super::layout::{grid, marked, phrase, text};
use crate::messages::{count, fill, in_language, say};
use lakeward::{LakeContext, Session};
use lakeward_agent::session::Step;
use lakeward_core::error::Result;
use lakeward_core::plan;
use lakeward_core::request::{Input, Label, OperationKind};
use lakeward_operate::{CellForm, table_rows, texts};

/// Rows and columns of a result that a card shows.
const ROWS: usize = 3;
const COLUMNS: usize = 8;
/// Steps of a plan that a card tells.
const STEPS: usize = 4;

/// The first rows of a result, and what is new in it.
pub struct FirstRows {
    step: usize,
    columns: FreshColumns,
    /// Each with whether it is a number.
    rows: Vec<Vec<(String, bool)>>,
}

/// The first rows of the latest result that stands; `context` knows the session's steps.
///
/// # Errors
/// Those of reading its file.
pub fn first_rows(context: &LakeContext, session: &Session) -> Result<Option<FirstRows>> {
    let Some(step) = session.steps.iter().rev().find(|step| !step.undone) else { return Ok(None) };
    let columns = FreshColumns::of(context, before(session, step), &step.plan, step.columns.clone())?;
    let mut found = table_rows(context, &Input::Step(step.number))?;
    let numeric: Vec<bool> = found.columns().iter().map(|column| column.is_numeric).collect();
    let mut rows = Vec::new();
    while rows.len() < ROWS
        && let Some(batch) = found.next_batch()?
    {
        let left = batch.slice(0, batch.num_rows().min(ROWS - rows.len()));
        rows.extend(texts(&left, CellForm::Shown)?);
    }
    let cell = |row: &Vec<String>, place: usize| {
        Some((text(row.get(place)?), numeric.get(place).copied().unwrap_or_default()))
    };
    let shown = |row: Vec<String>| {
        columns.shown.iter().take(COLUMNS).filter_map(|column| cell(&row, column.place)).collect::<Vec<_>>()
    };
    let rows = rows.into_iter().map(shown).collect();
    Ok(Some(FirstRows { step: step.number, columns, rows }))
}

/// The step whose result a step went on from.
fn before<'a>(session: &'a Session, step: &Step) -> Option<&'a Step> {
    session.steps[..step.number - 1].iter().rev().find(|before| step.plan.continues(&before.plan))
}

/// What was done as the operation was called that was offered; of a plan that was changed, by what it adds to the one before.
fn kind(session: &Session, step: &Step) -> OperationKind {
    let offered =
        session.turns.iter().rev().filter_map(|turn| turn.recommendation.as_ref()).find_map(|answer| {
            answer.operations.iter().find(|operation| operation.runnable.as_ref() == Some(&step.plan))
        });
    if let Some(operation) = offered {
        return operation.kind;
    }
    let of = |step: &plan::Step| match step {
        plan::Step::Join(_) => Some(OperationKind::Join),
        plan::Step::Union(_) => Some(OperationKind::Union),
        plan::Step::Group(_) | plan::Step::Pivot(_) => Some(OperationKind::Aggregate),
        _ => None,
    };
    new_steps(session, step).iter().rev().find_map(of).unwrap_or(OperationKind::Filter)
}

fn new_steps<'a>(session: &'a Session, step: &'a Step) -> &'a [plan::Step] {
    let known = before(session, step).map_or(0, |before| before.plan.relation.steps.len());
    &step.plan.relation.steps[known..]
}

fn what_was_done(session: &Session, step: &Step) -> String {
    let steps = new_steps(session, step);
    let mut words: Vec<String> =
        steps.iter().take(STEPS).map(|step| in_language(&step.message()).into_owned()).collect();
    if steps.len() > STEPS {
        words.push(fill("{} more", &[&count((steps.len() - STEPS) as u64, "step")]));
    }
    if words.is_empty() { say("shows the table as it is").into() } else { words.join(say(", then ")) }
}

/// The addresses of a result's files, as buttons.
pub fn downloads(session: &str, number: usize) -> Markup {
    let address = format!("/api/v1/sessions/{session}/result?step={number}&format=");
    html! {
        a.button href={ (address) "csv" } { (fill("Download result {} as CSV", &[&number.to_string()])) }
        a.button href={ (address) "parquet" } { (say("as Parquet")) }
    }
}

/// The cards, with the rows of the latest result or why they cannot be read.
pub fn cards(forms: &Forms<'_>, rows: &Result<Option<FirstRows>>) -> Markup {
    let session = forms.session;
    html! {
        @if !session.steps.is_empty() {
            h2 id="results" { (say("Results")) }
            ol.cards { @for step in &session.steps { (card(forms, step, rows)) } }
            div.row {
                @if session.steps.iter().any(|step| !step.undone) {
                    a.button href={ "/sessions/" (session.id) "/preview" } { (say("Change its steps")) }
                    form method="post" action={ "/sessions/" (session.id) "/undo" } {
                        (forms.fields())
                        button { (say("Take the latest operation back")) }
                    }
                }
                @if session.steps.last().is_some_and(|step| step.undone) {
                    form method="post" action={ "/sessions/" (session.id) "/redo" } {
                        (forms.fields())
                        button { (say("Make the operation again that was taken back last")) }
                    }
                }
            }
        }
    }
}

fn card(forms: &Forms<'_>, step: &Step, rows: &Result<Option<FirstRows>>) -> Markup {
    let (session, number) = (forms.session, step.number);
    html! {
        li id={ "result-" (number) } tabindex="-1" {
            strong { (fill("Result {}", &[&number.to_string()])) } " · " (say(kind(session, step).name()))
            @if step.undone { " " span.badge.no { (say("taken back")) } }
            p.why { (marked(&what_was_done(session, step))) " → " (count(step.rows, "row")) ", " (count(step.columns.len() as u64, "column")) }
            @match forms.done {
                Done::Ran(ran) if ran == number => p.done role="status" { (say("It was run: this is its result.")) },
                Done::AlreadyRan(ran) if ran == number => p.done role="status" { (say("It was run already, and not again: this is its result.")) },
                Done::SteppedBack(moved) if moved == number && !step.undone => p.done role="status" { (say("It was made again: it is the working table.")) },
                Done::SteppedBack(moved) if moved == number => p.done role="status" { (say("It was taken back; its result is no longer the working table.")) },
                _ => {},
            }
            @if !step.undone {
                @match rows {
                    Ok(Some(first)) if first.step == number => (sample(first, step.rows)),
                    Err(error) if session.steps.iter().rev().find(|step| !step.undone) == Some(step) => {
                        p.warn { (phrase("Its rows cannot be read: {}.", &[marked(&error.to_string())])) }
                    },
                    _ => {},
                }
                div.row {
                    a.button href={ "/sessions/" (session.id) "/result?step=" (number) } { (fill("Look at result {}", &[&number.to_string()])) }
                    (downloads(&session.id, number))
                }
            }
            details { summary { "SQL" } pre { (step.sql) } }
        }
    }
}

fn sample(first: &FirstRows, rows: u64) -> Markup {
    let shown: Vec<Markup> = first.columns.shown.iter().take(COLUMNS).map(super::fresh::Fresh::head).collect();
    let columns = match first.columns.shown.len() {
        all if all > COLUMNS => fill(", {} of {} columns", &[&COLUMNS.to_string(), &all.to_string()]),
        _ => String::new(),
    };
    let name = fill("The first {} of {}", &[&first.rows.len().to_string(), &rows.to_string()]) + &columns;
    html! { @if !first.rows.is_empty() { (grid(&name, &shown, &first.rows)) } }
}
