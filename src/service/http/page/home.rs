//! The first page: a request, and the conversations there are.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::answer::answer;
use super::command::{Command, command};
use super::conversation::{keep_shown, to_place};
use super::fault::{Fault, alert, nearest};
use super::layout::{Form, Visitor, page as whole, phrase, text, typed};
use crate::messages::{count, say};
use crate::service::http::actions::{self, Turn};
use crate::service::http::app::{LOOK, READ};
use crate::service::http::endpoint::Query;
use crate::service::http::refusal::Refusal;
use crate::service::http::users::Rights;
use crate::service::percent::percent_encoded;
use lakeward_agent::recommend::fit;
use lakeward_agent::session::{SessionState, SessionSummary};
use lakeward_core::error::Result as Outcome;
use lakeward_index::LakeIndex;
use lakeward_lake::profile::ColumnProfile;

/// Examples, and tables that are looked at for them.
const EXAMPLES: usize = 3;
const LOOKED_AT: usize = 16;
/// Most groups of an example.
const MOST_GROUPS: u64 = 60;
/// Conversations that are listed.
const LISTED: usize = 30;

/// What the fields are filled with.
#[derive(Default, Deserialize)]
pub struct Filled {
    #[serde(default)]
    text: String,
    #[serde(default)]
    table: String,
}

pub async fn page(visitor: Visitor, Query(filled): Query<Filled>) -> Result<Markup, Fault> {
    shown(&visitor, &filled, None).await
}

/// The page with what could not be done, and with what was typed.
async fn page_with_problem(visitor: &Visitor, filled: Filled, problem: Refusal) -> Result<Response, Fault> {
    match shown(visitor, &filled, Some(&problem)).await {
        Ok(page) => Ok((problem.status, page).into_response()),
        Err(_) => Err(problem.into()),
    }
}

async fn shown(visitor: &Visitor, filled: &Filled, problem: Option<&Refusal>) -> Result<Markup, Fault> {
    let (name, tables, sessions, examples) = visitor
        .work(LOOK, |lake, _| {
            let index = lake.index();
            Ok((index.manifest().lake.clone(), index.len(), lake.sessions().list()?, examples(index)?))
        })
        .await?;
    let with_table = |name: &str| {
        let address = format!("/?text={}&table={}", percent_encoded(&filled.text), percent_encoded(name));
        html! { a.button href=(address) { (text(name)) } }
    };
    Ok(whole(
        say("Ask"),
        Some(visitor),
        &html! {
            h1 { (say("What do you want to do?")) }
            @if let Some(message) = problem.map(Refusal::notice) { (alert(&message)) (nearest(&message, with_table)) }
            form.ask method="post" action="/ask" data-wait=(say("Looking for tables")) {
                (visitor.field())
                label for="text" { (say("Your task or question, in your own words")) }
                textarea id="text" name="text" rows="3" required maxlength="4000" autofocus { (typed(&filled.text)) }
                label for="table" { (say("The table you start from, if you have one")) }
                input id="table" name="table" type="text" value=(text(&filled.table)) maxlength="600";
                p { button.main { (say("Ask")) } }
            }
            p.why {
                (phrase("The lake {} has {}: {} or {}.", &[
                    html! { strong { (text(&name)) } }, html! { (count(tables as u64, "dataset")) },
                    html! { a href="/search" { (say("search or list them")) } }, html! { a href="/map" { (say("look at their map")) } },
                ]))
            }
            @if !examples.is_empty() {
                h2 { (say("For example")) }
                ul { @for example in &examples {
                    li {
                        a href={ "/?text=" (percent_encoded(&example.text)) "&table=" (percent_encoded(&example.table)) } { (text(&example.text)) }
                        span.why { (phrase(", starting from {}", &[html! { (text(&example.title)) }])) }
                    }
                } }
            }
            @if !sessions.is_empty() {
                h2 { (say("Conversations")) }
                ul.cards { @for session in sessions.iter().take(LISTED) { (line(session)) } }
            }
        },
    ))
}

/// A request that tables of this lake can answer.
struct Example {
    text: String,
    table: String,
    title: String,
}

/// Requests made of the columns and values of some tables.
fn examples(index: &LakeIndex) -> Outcome<Vec<Example>> {
    let every = (index.len() / LOOKED_AT).max(1);
    let mut examples: Vec<Example> = Vec::new();
    for table in index.tables().step_by(every).take(LOOKED_AT) {
        if examples.len() == EXAMPLES {
            break;
        }
        let dataset = index.dataset(table)?;
        let Some(entry) = dataset.table() else { continue };
        let columns = &entry.profile.columns;
        let is_group = |column: &&ColumnProfile| fit::is_group(column) && (2..=MOST_GROUPS).contains(&column.distinct);
        let group = columns.iter().find(is_group);
        let measure = columns.iter().find(|column| fit::is_measure(column));
        let text = match (examples.len(), group, measure) {
            (0, Some(group), Some(measure)) => format!("the mean {} for each {}", measure.name, group.name),
            (1, Some(group), _) => match group.top.first() {
                Some((value, _)) => format!("only the rows where the {} is {value}", group.name),
                None => continue,
            },
            (2, ..) if !entry.profile.keys.is_empty() => "tables to join with it".to_string(),
            _ => continue,
        };
        examples.push(Example { text, table: dataset.id().as_str().to_string(), title: dataset.title().to_string() });
    }
    Ok(examples)
}

fn line(session: &SessionSummary) -> Markup {
    html! {
        @if let SessionState::Readable { turns, steps, first_request, .. } = &session.state {
            li {
                a href={ "/sessions/" (session.id) } { (text(first_request.as_deref().unwrap_or(&session.id))) }
                p.why { (count(*turns as u64, "turn")) ", " (count(*steps as u64, "operation")) }
            }
        }
    }
}

/// Answers a request: in a new conversation, for those who only read without one.
pub async fn ask(visitor: Visitor, Form(asked): Form<Filled>) -> Result<Response, Fault> {
    if let Some(command) = command(&asked.text) {
        let message = match command {
            Command::Message(message) => message,
            _ => "there is no conversation yet that a command could be about: begin one in your own words".into(),
        };
        let problem = Refusal::new(StatusCode::BAD_REQUEST, message, None);
        return page_with_problem(&visitor, asked, problem).await;
    }
    let table = Some(asked.table.trim().to_string()).filter(|table| !table.is_empty());
    let turn = Turn { text: asked.text.clone(), table, ..Turn::default() };
    if visitor.user.rights == Rights::Read {
        let found = visitor.work(READ, move |lake, stop| actions::ask(lake, stop, &mut lake.new_session(), turn));
        return match found.await.map(|found| visitor.counted(found)) {
            Ok(found) => {
                let main = html! { h1 { (text(&found.request)) } (answer(&found.recommendation, None)) };
                Ok(whole(say("Answer"), Some(&visitor), &main).into_response())
            }
            Err(problem) => page_with_problem(&visitor, asked, problem).await,
        };
    }
    let made = visitor.work(READ, move |lake, stop| {
        let store = lake.sessions();
        let mut session = store.create(None, &lake.place().lake.to_string_lossy())?;
        let asked = actions::ask(lake, stop, &mut session, turn);
        let asked = asked.and_then(|answer| stop.check().and_then(|()| store.save(&mut session)).map(|()| answer));
        if asked.is_err() {
            // Nothing happened in it.
            let _ = store.discard_untouched(&session);
        }
        asked.map(|answer| (answer, session))
    });
    match made.await {
        Ok((answer, session)) => {
            visitor.counted(answer);
            keep_shown(&visitor, &session);
            Ok(to_place(&session.id, "#answer-1"))
        }
        Err(problem) => page_with_problem(&visitor, asked, problem).await,
    }
}
