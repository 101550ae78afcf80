//! The first page: a request, and the conversations there are.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::conversation::{answer, keep_shown};
use super::layout::{Fault, Form, Visitor, page as whole, text};
use crate::service::http::actions::{self, Turn};
use crate::service::http::app::{App, LOOK, READ};
use crate::service::http::endpoint::Query;
use crate::service::http::users::Rights;
use lakeward_agent::session::{SessionState, SessionSummary};
use lakeward_core::text::counted;

/// Conversations that are listed.
const LISTED: usize = 30;

/// A request.
#[derive(Deserialize)]
pub struct Asked {
    text: String,
    #[serde(default)]
    table: String,
}

/// The table that a request is to start from.
#[derive(Deserialize)]
pub struct From {
    #[serde(default)]
    table: String,
}

/// The page.
pub async fn page(State(app): State<Arc<App>>, visitor: Visitor, Query(from): Query<From>) -> Result<Markup, Fault> {
    let (name, tables, sessions) = app
        .work(&visitor.user, LOOK, |lake, _| {
            let index = lake.index();
            Ok((index.manifest().lake.clone(), index.len(), lake.sessions().list()?))
        })
        .await?;
    Ok(whole(
        "Ask",
        Some(&visitor),
        &html! {
            h1 { "What do you want to do?" }
            form.ask method="post" action="/ask" data-wait="Looking for tables" {
                (visitor.field())
                label for="text" { "Your task or question, in your own words" }
                textarea id="text" name="text" rows="3" required maxlength="4000" {}
                label for="table" { "The table you start from, if you have one" }
                input id="table" name="table" type="text" value=(text(&from.table)) maxlength="600";
                p { button.main { "Ask" } }
            }
            p.why {
                "The lake " strong { (text(&name)) } " has " (counted(tables as u64, "dataset")) ": "
                a href="/search" { "search it by words" } " or " a href="/map" { "look at its map" } "."
            }
            @if !sessions.is_empty() {
                h2 { "Conversations" }
                ul.cards { @for session in sessions.iter().take(LISTED) { (line(session)) } }
            }
        },
    ))
}

fn line(session: &SessionSummary) -> Markup {
    html! {
        @if let SessionState::Readable { turns, steps, first_request, .. } = &session.state {
            li {
                a href={ "/sessions/" (session.id) } { (text(first_request.as_deref().unwrap_or(&session.id))) }
                p.why { (counted(*turns as u64, "turn")) ", " (counted(*steps as u64, "operation")) }
            }
        }
    }
}

/// Answers a request: in a new conversation, for those who only read without one.
pub async fn ask(State(app): State<Arc<App>>, visitor: Visitor, Form(asked): Form<Asked>) -> Result<Response, Fault> {
    let table = Some(asked.table.trim().to_string()).filter(|table| !table.is_empty());
    let turn = Turn { text: asked.text, table, ..Turn::default() };
    if visitor.user.rights == Rights::Read {
        let found =
            app.work(&visitor.user, READ, move |lake, stop| actions::ask(lake, stop, &mut lake.new_session(), turn));
        let found = app.counted(&visitor.user, found.await?);
        let main = html! { h1 { (text(&found.request)) } (answer(&found.recommendation, None)) };
        return Ok(whole("Answer", Some(&visitor), &main).into_response());
    }
    let made = app.work(&visitor.user, READ, move |lake, stop| {
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
    let (answer, session) = made.await?;
    app.counted(&visitor.user, answer);
    keep_shown(&app, &session);
    Ok(Redirect::to(&format!("/sessions/{}", session.id)).into_response())
}
