//! Sessions of a user, and what is done in them.

use axum::Json;
use axum::extract::Path;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, file, read, write};
use crate::service::http::actions::{self, RunDocument, Turn, What};
use crate::service::http::app::{Caller, LOOK, READ, RUN};
use crate::service::http::download::{Download, Format};
use crate::service::http::endpoint::{Body, Endpoint, Query};
use crate::service::http::refusal::Refusal;
use crate::service::mcp;
use lakeward::Session;
use lakeward::documents::{AskDocument, SessionList};
use lakeward_operate::PlanPreview;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewSession {
    /// Its name; by default the date and a number.
    name: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Of {
    /// The `revision` of the session that it is about: a newer one is a conflict.
    revision: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choice {
    /// Id of a table of the lake.
    table: String,
    /// Whether it serves, else it is not shown again.
    accepted: bool,
    /// The `revision` of the session that it is about: a newer one is a conflict.
    revision: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forgotten {
    /// The number of the demand among those in force, from 1.
    demand: usize,
    /// The `revision` of the session that it is about: a newer one is a conflict.
    revision: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
struct ResultFile {
    /// The step, from 1; the latest by default.
    step: Option<usize>,
    /// `csv` or `parquet`.
    #[serde(default)]
    format: Format,
}

async fn sessions(caller: Caller) -> Answer<SessionList> {
    let list = caller.work(LOOK, |lake, _| {
        let store = lake.sessions();
        Ok(SessionList::new(&store, store.list()?))
    });
    list.await.map(Json)
}

async fn new_session(caller: Caller, Body(of): Body<NewSession>) -> Answer<Session> {
    caller.may_write()?;
    caller
        .work(LOOK, move |lake, _| lake.sessions().create(of.name.as_deref(), &lake.place().lake.to_string_lossy()))
        .await
        .map(Json)
}

async fn session(caller: Caller, Path(id): Path<String>) -> Answer<Session> {
    caller.work(LOOK, move |lake, _| lake.sessions().open(&id)).await.map(Json)
}

async fn ask_in(caller: Caller, Path(id): Path<String>, Body(turn): Body<Turn>) -> Answer<AskDocument> {
    let of = (id, turn.revision);
    let (answer, _) =
        caller.change(of, READ, move |lake, stop, session| actions::ask(lake, stop, session, turn)).await?;
    Ok(Json(caller.counted(answer)))
}

async fn preview(caller: Caller, Path(id): Path<String>, Body(what): Body<What>) -> Answer<PlanPreview> {
    caller
        .work(READ, move |lake, stop| {
            let session = lake.sessions().open(&id)?;
            let plan = actions::plan(lake, &session, what)?;
            actions::preview(lake, stop, &session, &plan)
        })
        .await
        .map(Json)
}

async fn run(caller: Caller, Path(id): Path<String>, Body(what): Body<What>) -> Answer<RunDocument> {
    let of = (id, what.revision);
    let ran = caller.change(of, RUN, move |lake, stop, session| {
        let plan = actions::plan(lake, session, what)?;
        actions::run(lake, stop, session, &plan)
    });
    let ((warnings, outcome), session) = ran.await?;
    Ok(Json(RunDocument { step: session.steps.len(), revision: session.revision, warnings, outcome }))
}

async fn undo(caller: Caller, Path(id): Path<String>, Body(of): Body<Of>) -> Answer<Session> {
    let undone = caller.change((id, of.revision), LOOK, |_, _, session| actions::undo(session, false));
    undone.await.map(|((), session)| Json(session))
}

async fn redo(caller: Caller, Path(id): Path<String>, Body(of): Body<Of>) -> Answer<Session> {
    let redone = caller.change((id, of.revision), LOOK, |_, _, session| actions::undo(session, true));
    redone.await.map(|((), session)| Json(session))
}

async fn forget(caller: Caller, Path(id): Path<String>, Body(of): Body<Forgotten>) -> Answer<Session> {
    let forgot = caller.change((id, of.revision), LOOK, move |_, _, session| actions::forget(session, of.demand));
    forgot.await.map(|((), session)| Json(session))
}

async fn choose(caller: Caller, Path(id): Path<String>, Body(of): Body<Choice>) -> Answer<Session> {
    let chosen = caller.change((id, of.revision), LOOK, move |lake, _, session| {
        let table = mcp::table_id(lake, &of.table)?;
        if of.accepted {
            session.accept(&table)
        } else {
            session.reject(&table)
        }
        Ok(())
    });
    chosen.await.map(|((), session)| Json(session))
}

async fn result(
    caller: Caller,
    Path(id): Path<String>,
    Query(of): Query<ResultFile>,
) -> Result<impl IntoResponse, Refusal> {
    caller.work(READ, move |lake, stop| Download::of(lake, stop, &lake.sessions().open(&id)?, of.step, of.format)).await
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        read::<(), SessionList>("/api/v1/sessions", "The sessions of this user", get(sessions)),
        write::<NewSession, Session>("/api/v1/sessions", "A new session", post(new_session)),
        read::<(), Session>("/api/v1/sessions/{id}", "A session", get(session)),
        write::<Turn, AskDocument>("/api/v1/sessions/{id}/ask", "The next turn of a session", post(ask_in)),
        write::<What, PlanPreview>("/api/v1/sessions/{id}/preview", "What an operation would do", post(preview)),
        write::<What, RunDocument>(
            "/api/v1/sessions/{id}/run",
            "Carries an operation out; its result is the working table",
            post(run),
        ),
        write::<Of, Session>("/api/v1/sessions/{id}/undo", "Takes the latest operation back", post(undo)),
        write::<Of, Session>(
            "/api/v1/sessions/{id}/redo",
            "Makes the operation again that was taken back last",
            post(redo),
        ),
        write::<Forgotten, Session>(
            "/api/v1/sessions/{id}/forget",
            "Forgets something that was asked for",
            post(forget),
        ),
        write::<Choice, Session>("/api/v1/sessions/{id}/choose", "Accepts or rejects a table", post(choose)),
        file::<ResultFile>("/api/v1/sessions/{id}/result", "The result of an operation as a file", get(result)),
    ]
}
