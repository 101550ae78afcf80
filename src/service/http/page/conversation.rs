//! A conversation: its turns with their answers, its results, and what can be done next. Whoever did something is led to what came of it.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::answer::answer;
use super::command;
use super::fault::{Fault, alert};
use super::layout::{Form, Visitor, page as whole, phrase, text, typed};
use super::memory::{memory, roles};
use super::results::{self, FirstRows};
use crate::messages::{fill, in_language, say};
use crate::service::http::actions::{self, Turn};
use crate::service::http::app::{LOOK, READ};
use crate::service::http::endpoint::Query;
use crate::service::http::refusal::Refusal;
use crate::service::percent::{percent_decoded, percent_encoded};
use crate::service::{mcp, query_context};
use lakeward::Session;
use lakeward::usage::{self, Did};
use lakeward_agent::execution;
use lakeward_core::error::{Error, Result as Outcome};
use lakeward_core::text::shown;

/// Bytes of earlier answers that are on the page whole; others are opened on a page of their own.
const FOLDED: usize = 12_000;
/// Characters of a title.
const TITLE: usize = 120;

/// What the forms of a conversation need.
pub struct Forms<'a> {
    /// Who looks at it.
    pub visitor: &'a Visitor,
    /// The conversation.
    pub session: &'a Session,
    /// What was done last.
    pub done: Done,
    /// The respects in which the catalogue can be asked for something.
    pub roles: &'a [String],
}

impl Forms<'_> {
    /// The fields that every form of a conversation has.
    pub fn fields(&self) -> Markup {
        html! { (self.visitor.field()) input type="hidden" name="revision" value=(self.session.revision); }
    }
}

/// What was done last, which is told where its outcome stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Done {
    /// Nothing that is to be told.
    #[default]
    Nothing,
    /// This table was accepted or rejected.
    Chose(String),
    /// The operation with this result was run.
    Ran(usize),
    /// The same, which was asked for again.
    AlreadyRan(usize),
    /// The operation with this result was taken back, or made again.
    SteppedBack(usize),
}

impl Done {
    /// Whether it is about this table.
    pub fn is_about(&self, table: &str) -> bool {
        matches!(self, Self::Chose(id) if id == table)
    }
}

/// What the address of a conversation says besides: what was done, or what is to be asked again.
#[derive(Debug, Default, Deserialize)]
pub struct Besides {
    chose: Option<String>,
    ran: Option<usize>,
    again: Option<usize>,
    back: Option<usize>,
    /// The number of a turn whose request is to be asked again.
    ask: Option<usize>,
    /// The number of an earlier turn whose answer is to be shown.
    open: Option<usize>,
}

impl Besides {
    fn done(&self) -> Done {
        match self {
            Self { chose: Some(table), .. } => Done::Chose(table.clone()),
            Self { ran: Some(number), .. } => Done::Ran(*number),
            Self { again: Some(number), .. } => Done::AlreadyRan(*number),
            Self { back: Some(number), .. } => Done::SteppedBack(*number),
            _ => Done::Nothing,
        }
    }
}

/// A turn.
#[derive(Deserialize)]
pub struct RequestForm {
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

/// A change of this state of a conversation.
#[derive(Deserialize)]
pub struct Of {
    revision: u64,
}

pub async fn page(visitor: Visitor, Path(id): Path<String>, Query(besides): Query<Besides>) -> Result<Markup, Fault> {
    let Opened { session, rows, roles } = opened(&visitor, id).await?;
    let again = besides.ask.and_then(|number| session.turns.iter().find(|turn| turn.number == number));
    let typed = again.map(|turn| turn.text.clone()).unwrap_or_default();
    let forms = Forms { visitor: &visitor, session: &session, done: besides.done(), roles: &roles };
    Ok(shown_with(&forms, &rows, (None, besides.open), &typed))
}

/// The page of the newest state with what could not be done, and with what was typed.
pub async fn page_with_problem(visitor: &Visitor, id: &str, problem: Refusal, typed: &str) -> Result<Response, Fault> {
    let Ok(Opened { session, rows, roles }) = opened(visitor, id.to_string()).await else {
        return Err(problem.into());
    };
    let forms = Forms { visitor, session: &session, done: Done::Nothing, roles: &roles };
    Ok((problem.status, shown_with(&forms, &rows, (Some(&problem), None), typed)).into_response())
}

/// A conversation as a page needs it.
pub struct Opened {
    /// The conversation.
    pub session: Session,
    /// The first rows of its latest result.
    rows: Outcome<Option<FirstRows>>,
    /// The respects in which the catalogue can be asked for something.
    roles: Vec<String>,
}

/// The conversation `id` of the visitor.
pub async fn opened(visitor: &Visitor, id: String) -> Result<Opened, Refusal> {
    let opened = visitor.work(READ, move |lake, stop| {
        let mut session = lake.sessions().open(&id)?;
        // It comes from a file, which is not trusted.
        for turn in &mut session.turns {
            if let Some(answer) = turn.recommendation.take() {
                turn.recommendation = Some(lake.gate().admit(answer)?.into_inner());
            }
        }
        let rows = match session.steps.is_empty() {
            true => Ok(None),
            false => {
                let context = query_context(lake, stop)?;
                execution::connect(&context, &lake.sessions(), &session)
                    .and_then(|()| results::first_rows(&context, &session))
            }
        };
        if let Err(Error::Interrupted) = rows {
            return Err(Error::Interrupted);
        }
        Ok(Opened { session, rows, roles: roles(lake)? })
    });
    opened.await
}

fn shown_with(
    forms: &Forms<'_>,
    rows: &Outcome<Option<FirstRows>>,
    (problem, open): (Option<&Refusal>, Option<usize>),
    box_text: &str,
) -> Markup {
    let session = forms.session;
    let first = session.turns.first().map_or(session.id.as_str(), |turn| turn.text.as_str());
    let last = session.turns.len().saturating_sub(1);
    // What was typed stays where it was typed, with what there is to say of it.
    let is_of_form = !box_text.is_empty();
    let folded = folded(session, open);
    let refused = problem.map(problem_alert);
    whole(
        first,
        Some(forms.visitor),
        &html! {
            h1 { (shown(first, TITLE)) }
            p.why { (phrase("Conversation {}", &[html! { (session.id) }])) }
            @if let Some(refused) = refused.as_ref().filter(|_| !is_of_form) { (refused) }
            @for (place, turn) in session.turns.iter().enumerate() {
                section.turn aria-label=(fill("Turn {}", &[&turn.number.to_string()])) {
                    h2.said { (text(&turn.text)) }
                    div.answer id={ "answer-" (turn.number) } tabindex="-1" role="group" aria-label=(fill("Answer {}", &[&turn.number.to_string()])) {
                        @if place == last { (memory(forms)) }
                        @match &turn.recommendation {
                            Some(found) if place == last => (answer(found, Some(forms))),
                            _ => (folded[place]),
                        }
                    }
                }
            }
            @if let Some(why) = forms.visitor.model_not_asked() { p { (in_language(&why)) } }
            (results::cards(forms, rows))
            h2 id="next" { (say("Next")) }
            @if let Some(refused) = refused.as_ref().filter(|_| is_of_form) { (refused) }
            form.ask method="post" action={ "/sessions/" (session.id) "/ask" } data-wait=(say("Looking for tables")) {
                (forms.fields())
                label for="text" { (say("Say what to change, choose, or do next")) }
                textarea id="text" name="text" rows="2" required maxlength="4000" autofocus[is_of_form] { (typed(box_text)) }
                p { button.main { (say("Send")) } }
            }
        },
    )
}

/// The answers as they are when they are not the latest, by the place of their turn; that of the turn `open` is unfolded.
fn folded(session: &Session, open: Option<usize>) -> Vec<Markup> {
    let mut left = FOLDED;
    let mut all: Vec<Markup> = session.turns.iter().rev().enumerate().map(|(before, turn)| {
        // The latest is shown as it is.
        if before == 0 && turn.recommendation.is_some() {
            return html! {};
        }
        let is_open = open == Some(turn.number);
        let whole = turn.recommendation.as_ref().map(|found| answer(found, None));
        let fits = |whole: &Markup| is_open || whole.0.len() <= left;
        let inside = match whole {
            Some(whole) if fits(&whole) => {
                left = left.saturating_sub(whole.0.len());
                whole
            }
            Some(_) => html! { p { a href={ "/sessions/" (session.id) "?open=" (turn.number) "#answer-" (turn.number) } { (say("Show this answer")) } } },
            None if turn.tables.is_empty() => html! { p { (say("No table was shown.")) } },
            None => html! { ul { @for id in &turn.tables { li { a href={ "/table?id=" (percent_encoded(id)) } { (text(id)) } } } } },
        };
        html! { details open[is_open] { summary { (say("Answer")) } (inside) } }
    }).collect();
    all.reverse();
    all
}

/// What could not be done, in words of the page.
fn problem_alert(problem: &Refusal) -> Markup {
    match problem.status {
        StatusCode::CONFLICT => html! {
            div.warn role="alert" {
                p { (say("The conversation went on in another tab or program, so this was not done. Here is its newest state.")) }
                @if problem.document.session.is_some() { p { (say("What you typed is kept below: send it again if it still fits.")) } }
            }
        },
        _ => alert(&problem.notice()),
    }
}

/// To what came of a change, `to` in the address of the conversation; if it failed, to the newest state with what was `typed`.
pub async fn after<T>(
    visitor: &Visitor,
    id: &str,
    changed: Result<(T, Session), Refusal>,
    to: impl FnOnce(&T, &Session) -> String,
    typed: &str,
) -> Result<Response, Fault> {
    match changed {
        Ok((done, session)) => Ok(to_place(id, &to(&done, &session))),
        Err(problem) => page_with_problem(visitor, id, problem, typed).await,
    }
}

/// To a place of a conversation, such as `#results`.
pub fn to_place(id: &str, place: &str) -> Response {
    Redirect::to(&format!("/sessions/{}{place}", percent_encoded(id))).into_response()
}

/// The next turn.
pub async fn ask(visitor: Visitor, Path(id): Path<String>, Form(asked): Form<RequestForm>) -> Result<Response, Fault> {
    let typed = asked.text.clone();
    if let Some(command) = command::command(&typed) {
        return command::carried_out(&visitor, &id, asked.revision, command, &typed).await;
    }
    let turn = Turn { text: asked.text, ..Turn::default() };
    let of = (id.clone(), Some(asked.revision));
    let asked = visitor.change(of, READ, move |lake, stop, session| actions::ask(lake, stop, session, turn));
    let asked = asked.await.map(|(answer, session)| {
        keep_shown(&visitor, &session);
        (visitor.counted(answer), session)
    });
    let to = |_: &_, session: &Session| {
        let turn = session.next_turn() - 1;
        match session.latest().and_then(|turn| turn.recommendation.as_ref()) {
            Some(answer) if answer.carry_out => format!("/preview?turn={turn}&operation=1"),
            _ => format!("#answer-{turn}"),
        }
    };
    after(&visitor, &id, asked, to, &typed).await
}

/// Keeps what the latest turn of `session` shows, where that is allowed.
pub fn keep_shown(visitor: &Visitor, session: &Session) {
    if let (Some(log), Some(turn)) = (&visitor.app.usage, session.turns.last()) {
        let nothing = turn.recommendation.as_ref().is_some_and(|found| found.nothing_found);
        log.show(&usage::answer_of(session), &turn.text, turn.tables.iter().cloned(), nothing, String::new());
    }
}

/// Accepts or rejects a table.
pub async fn choose(visitor: Visitor, Path(id): Path<String>, Form(chosen): Form<Chosen>) -> Result<Response, Fault> {
    let of = (id.clone(), Some(chosen.revision));
    let accepted = chosen.accepted;
    let done = visitor.change(of, LOOK, move |lake, _, session| {
        let id = percent_decoded(&chosen.table).unwrap_or(chosen.table);
        let table = mcp::table_id(lake, &id)?;
        if chosen.accepted {
            session.accept(&table)
        } else {
            session.reject(&table)
        }
        Ok(table)
    });
    let done = done.await;
    if let (Some(log), Ok((table, session))) = (visitor.app.usage.as_ref().filter(|_| accepted), &done) {
        log.add(&usage::answer_of(session), Did::Accepted, [table.clone()]);
    }
    let to = |table: &String, session: &Session| {
        let shown = session.latest().and_then(|turn| turn.tables.iter().position(|id| id == table));
        let place = shown.map(|place| format!("#table-{}", place + 1)).unwrap_or_default();
        format!("?chose={}{place}", percent_encoded(table))
    };
    after(&visitor, &id, done, to, "").await
}

/// Takes the latest operation back.
pub async fn undo(visitor: Visitor, Path(id): Path<String>, Form(of): Form<Of>) -> Result<Response, Fault> {
    step_back(&visitor, &id, of.revision, false, "").await
}

/// Makes the operation again that was taken back last.
pub async fn redo(visitor: Visitor, Path(id): Path<String>, Form(of): Form<Of>) -> Result<Response, Fault> {
    step_back(&visitor, &id, of.revision, true, "").await
}

/// Takes the latest operation back, or makes the one `again` that was taken back last; `typed` is what was typed for that.
pub async fn step_back(
    visitor: &Visitor,
    id: &str,
    revision: u64,
    again: bool,
    typed: &str,
) -> Result<Response, Fault> {
    let of = (id.to_string(), Some(revision));
    let moved = visitor.change(of, LOOK, move |_, _, session| Ok(session.step_back(again)?.number));
    let to = |number: &usize, _: &Session| format!("?back={number}#result-{number}");
    after(visitor, id, moved.await, to, typed).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_read_from_the_address() {
        let done = |besides: Besides| besides.done();
        assert_eq!(done(Besides::default()), Done::Nothing);
        assert!(done(Besides { chose: Some("a".into()), ..Besides::default() }).is_about("a"));
        assert_eq!(done(Besides { again: Some(2), ..Besides::default() }), Done::AlreadyRan(2));
    }
}
