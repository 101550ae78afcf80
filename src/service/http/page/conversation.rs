//! A conversation: its turns with their answers, its operations, and what can be done next.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Redirect;
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{Fault, Form, Visitor, grid, page as whole, text, told};
use crate::service::http::actions::{self, Turn};
use crate::service::http::app::{App, LOOK, READ};
use crate::service::mcp;
use crate::service::percent::{percent_decoded, percent_encoded};
use lakeward::usage::{self, Did};
use lakeward::{RankedOperation, RankedTable, Recommendation, Session};
use lakeward_agent::recommend::RecordFact;
use lakeward_agent::session::transcript::{demand_line, understood};
use lakeward_core::request::{Label, OperationKind};
use lakeward_core::text::counted;

/// Tables of an answer that are shown.
const TABLES: usize = 10;

/// Pairs of columns that are shown.
const ALIGNED: usize = 30;

/// Turns before the latest whose answers can be unfolded.
const FOLDED: usize = 3;

/// What the forms of a conversation need.
pub struct Forms<'a> {
    visitor: &'a Visitor,
    session: &'a Session,
}

/// A turn.
#[derive(Deserialize)]
pub struct Asked {
    text: String,
    revision: u64,
}

/// A table that is accepted or rejected.
#[derive(Deserialize)]
pub struct Chosen {
    /// Its id, encoded as in an address: a browser would change some characters of a field.
    table: String,
    accepted: bool,
    revision: u64,
}

/// The number of a demand, from 1.
#[derive(Deserialize)]
pub struct Forgotten {
    demand: usize,
    revision: u64,
}

/// A change of this state of a conversation.
#[derive(Deserialize)]
pub struct Of {
    revision: u64,
}

/// The page.
pub async fn page(State(app): State<Arc<App>>, visitor: Visitor, Path(id): Path<String>) -> Result<Markup, Fault> {
    let session = app.work(&visitor.user, LOOK, move |lake, _| {
        let mut session = lake.sessions().open(&id)?;
        // It comes from a file, which is not trusted.
        for turn in &mut session.turns {
            if let Some(answer) = turn.recommendation.take() {
                turn.recommendation = Some(lake.gate().admit(answer)?.into_inner());
            }
        }
        Ok(session)
    });
    let session = session.await?;
    let forms = Forms { visitor: &visitor, session: &session };
    let first = session.turns.first().map_or(session.id.as_str(), |turn| turn.text.as_str());
    let last = session.turns.len().saturating_sub(1);
    Ok(whole(
        first,
        Some(&visitor),
        &html! {
            h1 { "Conversation " (session.id) }
            @for (place, turn) in session.turns.iter().enumerate() {
                section.turn aria-label={ "Turn " (turn.number) } {
                    h2.said { (text(&turn.text)) }
                    div.answer {
                        @match &turn.recommendation {
                            Some(found) if place == last => (answer(found, Some(&forms))),
                            Some(found) if place + FOLDED >= last => details { summary { "Answer" } (answer(found, None)) },
                            _ => p { (counted(turn.tables.len() as u64, "table")) " shown" },
                        }
                    }
                }
            }
            @if let Some(why) = app.model_not_asked(&visitor.user) { p { (why) } }
            (memory(&forms))
            (steps(&forms))
            h2 id="next" { "Next" }
            form.ask method="post" action={ "/sessions/" (session.id) "/ask" } data-wait="Looking for tables" {
                (forms.fields())
                label for="text" { "Say what to change, choose, or do next" }
                textarea id="text" name="text" rows="2" required maxlength="4000" {}
                p { button.main { "Send" } }
            }
        },
    ))
}

impl Forms<'_> {
    /// The fields that every form of a conversation has.
    pub fn fields(&self) -> Markup {
        html! { (self.visitor.field()) input type="hidden" name="revision" value=(self.session.revision); }
    }
}

/// An answer; with `forms` its operations and tables can be used.
pub fn answer(found: &Recommendation, forms: Option<&Forms<'_>>) -> Markup {
    let question = found.operations.first().filter(|first| first.kind == OperationKind::Clarify);
    html! {
        p.why { "Understood: " (text(&understood(&found.signals))) }
        @if found.nothing_found {
            p class="warn" { "Nothing in the lake seems to answer this; these are but the nearest." }
        }
        @if !found.summary.is_empty() && !found.nothing_found {
            p { @for sentence in &found.summary { (text(&sentence.cited())) " " } }
        }
        @if let Some(question) = question.and_then(|first| first.question.as_ref()) {
            p { strong { (text(&question.text)) } }
            ol { @for choice in &question.choices { li { (text(&choice.label)) } } }
            p { "Answer with the number, or in your own words." }
        }
        @if found.worth_showing().next().is_some() {
            h3 { "Operations" }
            ol.cards.answers {
                @for (place, operation) in found.worth_showing().enumerate() {
                    (operation_line(place + 1, operation, forms))
                }
            }
        }
        @if !found.tables.is_empty() {
            h3 { "Tables" }
            ol.cards.answers { @for table in found.tables.iter().take(TABLES) { (table_line(table, forms)) } }
        }
        @let (records, respects) = RecordFact::table(&found.facts);
        @if records.len() > 1 {
            table {
                thead { tr { th scope="col" { "" } @for record in &records {
                    th scope="col" { (text(&record.title)) " " span.why { (text(&record.cited())) } }
                } } }
                tbody { @for (about, facts) in &respects {
                    tr { th scope="row" { (about) } @for fact in facts { td { (text(&fact.map(RecordFact::told).unwrap_or_default())) } } }
                } }
            }
        }
        @let is_tabled = |note: &String| records.len() > 1 && found.facts.iter().any(|fact| fact.line() == *note);
        @for note in found.notes.iter().filter(|note| !is_tabled(note)) { p { (text(note)) } }
    }
}

fn operation_line(number: usize, operation: &RankedOperation, forms: Option<&Forms<'_>>) -> Markup {
    html! {
        li {
            strong { (operation.kind.name()) } " " span.badge { (format!("{:.0} %", 100.0 * operation.score)) }
            p.why { (told(&operation.reason)) }
            @for unmet in operation.preconditions.iter().filter(|condition| !condition.met) {
                p.why { "Not yet: " (told(&unmet.what)) }
            }
            @if let Some(forms) = forms.filter(|_| operation.runnable.is_some()) {
                a.button href={ "/sessions/" (forms.session.id) "/preview?operation=" (number) } { "Preview operation " (number) }
            }
        }
    }
}

/// The probability that a table serves the request, in words and as a bar.
pub fn meter(relevance: f64) -> Markup {
    html! { span.meter { (bar(relevance, &format!("serves with probability {relevance:.2}"))) } }
}

/// The address of a dataset, where it has one on the web.
fn address_of(table: &RankedTable) -> Option<&str> {
    let known = [table.link.as_deref(), Some(table.citation.as_str())];
    known.into_iter().flatten().find(|text| text.starts_with("https://") || text.starts_with("http://"))
}

fn table_line(table: &RankedTable, forms: Option<&Forms<'_>>) -> Markup {
    let evidence = &table.evidence;
    html! {
        li {
            a.title href={ "/table?id=" (percent_encoded(&table.table)) @if let Some(forms) = forms { "&seen=" (usage::answer_of(forms.session)) } } { (text(&table.title)) }
            @if table.accepted { " " span.badge { "accepted" } }
            @if let Some(relevance) = evidence.search.as_ref().and_then(|found| found.relevance) { (meter(relevance)) }
            p.why {
                code { (text(&table.table)) }
                @if table.record { " (catalogue record)" } @else { ", " (counted(table.rows, "row")) }
                ", utility " (format!("{:.2}", table.utility.total))
            }
            @if table.record {
                p.why { "Cite: " (text(&table.citation)) @if let Some(link) = address_of(table) { " " a href=(link) rel="noopener noreferrer" { (text(link)) } } }
            }
            p.why { (told(&table.reason)) }
            @if let Some(join) = &evidence.join {
                p.why {
                    (text(&join.query_column)) " = " (text(&join.column)) " "
                    (bar(join.containment, &format!("{:.0} % of the values", 100.0 * join.containment)))
                }
            }
            @if let Some(union) = &evidence.union {
                details {
                    summary { (counted(union.alignment.len() as u64, "column")) " of the same meaning" }
                    (grid("Columns of the same meaning", &["Yours", "Its", "Fit"].map(str::to_string), &union.alignment.iter().take(ALIGNED).map(|pair| {
                        vec![(text(&pair.query_column), false), (text(&pair.column), false), (format!("{:.2}", pair.score), true)]
                    }).collect::<Vec<_>>()))
                }
            }
            @if let Some(forms) = forms {
                div.row {
                    @for (accepted, word) in [(true, "Accept"), (false, "Reject")] {
                        form method="post" action={ "/sessions/" (forms.session.id) "/choose" } {
                            (forms.fields())
                            input type="hidden" name="table" value=(percent_encoded(&table.table));
                            input type="hidden" name="accepted" value=(accepted);
                            button.quiet aria-label={ (word) " " (text(&table.title)) } { (word) }
                        }
                    }
                }
            }
        }
    }
}

/// What was asked for, each with a button that takes it away.
fn memory(forms: &Forms<'_>) -> Markup {
    let session = forms.session;
    html! {
        @if !session.demands.is_empty() {
            h2 { "Remembered" }
            ul.chips {
                @for (place, demand) in session.demands.iter().enumerate() {
                    @let said = text(&demand_line(demand));
                    li {
                        form method="post" action={ "/sessions/" (session.id) "/forget" } {
                            (forms.fields())
                            input type="hidden" name="demand" value=(place + 1);
                            span { (said) } button aria-label={ "Forget " (said) } { "×" }
                        }
                    }
                }
            }
        }
    }
}

/// A share as a bar, with its words.
pub fn bar(share: f64, words: &str) -> Markup {
    let width = (100.0 * share.clamp(0.0, 1.0)).round();
    html! {
        svg.bar width="100" height="10" role="img" aria-label=(words) viewBox="0 0 100 10" {
            rect.track width="100" height="10" rx="3" {}
            rect width=(width) height="10" rx="3" {}
        }
        " " (words)
    }
}

fn steps(forms: &Forms<'_>) -> Markup {
    let session = forms.session;
    html! {
        @if !session.steps.is_empty() {
            h2 { "Operations that were run" }
            ol.cards {
                @for step in &session.steps {
                    li {
                        strong { (step.plan.kind().name()) } ": " (counted(step.rows, "row")) ", "
                        (counted(step.columns.len() as u64, "column"))
                        @if step.undone { " – taken back" } @else {
                            @let address = format!("/api/v1/sessions/{}/result?step={}&format=", session.id, step.number);
                            div.row {
                                a.button href={ "/sessions/" (session.id) "/result?step=" (step.number) } { "Look at result " (step.number) }
                                a.button href={ (address) "csv" } { "Download step " (step.number) " as CSV" }
                                a.button href={ (address) "parquet" } { "as Parquet" }
                            }
                        }
                        details { summary { "SQL" } pre { (step.sql) } }
                    }
                }
            }
            div.row {
                @if session.steps.iter().any(|step| !step.undone) {
                    a.button href={ "/sessions/" (session.id) "/preview" } { "Change its steps" }
                    form method="post" action={ "/sessions/" (session.id) "/undo" } {
                        (forms.fields())
                        button { "Take the latest operation back" }
                    }
                }
                @if session.steps.last().is_some_and(|step| step.undone) {
                    form method="post" action={ "/sessions/" (session.id) "/redo" } {
                        (forms.fields())
                        button { "Make the operation again that was taken back last" }
                    }
                }
            }
        }
    }
}

/// Forgets something that was asked for.
pub async fn forget(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(of): Form<Forgotten>,
) -> Result<Redirect, Fault> {
    let revision = (id.clone(), Some(of.revision));
    app.change(&visitor.user, revision, LOOK, move |_, _, session| actions::forget(session, of.demand)).await?;
    Ok(back(&id))
}

/// The next turn.
pub async fn ask(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(asked): Form<Asked>,
) -> Result<Redirect, Fault> {
    let turn = Turn { text: asked.text, ..Turn::default() };
    let of = (id.clone(), Some(asked.revision));
    let asked = app.change(&visitor.user, of, READ, move |lake, stop, session| actions::ask(lake, stop, session, turn));
    let (answer, session) = asked.await?;
    app.counted(&visitor.user, answer);
    keep_shown(&app, &session);
    Ok(back(&id))
}

/// Keeps what the latest turn of `session` shows, where that is allowed.
pub fn keep_shown(app: &App, session: &Session) {
    if let (Some(log), Some(turn)) = (&app.usage, session.turns.last()) {
        let nothing = turn.recommendation.as_ref().is_some_and(|found| found.nothing_found);
        log.show(&usage::answer_of(session), &turn.text, turn.tables.iter().cloned(), nothing, String::new());
    }
}

/// Accepts or rejects a table.
pub async fn choose(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(chosen): Form<Chosen>,
) -> Result<Redirect, Fault> {
    let of = (id.clone(), Some(chosen.revision));
    let accepted = chosen.accepted;
    let done = app.change(&visitor.user, of, LOOK, move |lake, _, session| {
        let id = percent_decoded(&chosen.table).unwrap_or(chosen.table);
        let table = mcp::table_id(lake, &id)?;
        if chosen.accepted {
            session.accept(&table)
        } else {
            session.reject(&table)
        }
        Ok(table)
    });
    let (table, session) = done.await?;
    if let Some(log) = app.usage.as_ref().filter(|_| accepted) {
        log.add(&usage::answer_of(&session), Did::Accepted, [table]);
    }
    Ok(back(&id))
}

/// Takes the latest operation back.
pub async fn undo(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(of): Form<Of>,
) -> Result<Redirect, Fault> {
    step_back(&app, visitor, id, of, false).await
}

/// Makes the operation again that was taken back last.
pub async fn redo(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Form(of): Form<Of>,
) -> Result<Redirect, Fault> {
    step_back(&app, visitor, id, of, true).await
}

async fn step_back(app: &App, visitor: Visitor, id: String, of: Of, again: bool) -> Result<Redirect, Fault> {
    let of = (id.clone(), Some(of.revision));
    app.change(&visitor.user, of, LOOK, move |_, _, session| actions::undo(session, again)).await?;
    Ok(back(&id))
}

/// To the end of the conversation.
pub fn back(id: &str) -> Redirect {
    Redirect::to(&format!("/sessions/{}#next", percent_encoded(id)))
}
