//! Sessions of a user, and what is done in them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, read, write};
use crate::service::http::actions::{self, RunDocument, Turn, What};
use crate::service::http::app::{App, LOOK, READ, RUN, may_write};
use crate::service::http::download::{Download, Format};
use crate::service::http::endpoint::{Body, Endpoint, Query, schema};
use crate::service::http::refusal::Refusal;
use crate::service::http::users::User;
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

async fn sessions(State(app): State<Arc<App>>, user: Extension<User>) -> Answer<SessionList> {
    let list = app.work(&user, LOOK, |lake, _| {
        let store = lake.sessions();
        Ok(SessionList::new(&store, store.list()?))
    });
    list.await.map(Json)
}

async fn new_session(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Body(of): Body<NewSession>,
) -> Answer<Session> {
    may_write(&user)?;
    app.work(&user, LOOK, move |lake, _| {
        lake.sessions().create(of.name.as_deref(), &lake.place().lake.to_string_lossy())
    })
    .await
    .map(Json)
}

async fn session(State(app): State<Arc<App>>, user: Extension<User>, Path(id): Path<String>) -> Answer<Session> {
    app.work(&user, LOOK, move |lake, _| lake.sessions().open(&id)).await.map(Json)
}

async fn ask_in(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Path(id): Path<String>,
    Body(turn): Body<Turn>,
) -> Answer<AskDocument> {
    let of = (id, turn.revision);
    let (answer, _) =
        app.change(&user, of, READ, move |lake, stop, session| actions::ask(lake, stop, session, turn)).await?;
    Ok(Json(app.counted(&user, answer)))
}

async fn preview(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Path(id): Path<String>,
    Body(what): Body<What>,
) -> Answer<PlanPreview> {
    app.work(&user, READ, move |lake, stop| {
        let session = lake.sessions().open(&id)?;
        let plan = actions::plan(lake, &session, what)?;
        actions::preview(lake, stop, &session, &plan)
    })
    .await
    .map(Json)
}

async fn run(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Path(id): Path<String>,
    Body(what): Body<What>,
) -> Answer<RunDocument> {
    let of = (id, what.revision);
    let ran = app.change(&user, of, RUN, move |lake, stop, session| {
        let plan = actions::plan(lake, session, what)?;
        actions::run(lake, stop, session, &plan)
    });
    let ((warnings, outcome), session) = ran.await?;
    Ok(Json(RunDocument { step: session.steps.len(), revision: session.revision, warnings, outcome }))
}

async fn undo(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Path(id): Path<String>,
    Body(of): Body<Of>,
) -> Answer<Session> {
    let undone = app.change(&user, (id, of.revision), LOOK, |_, _, session| actions::undo(session, false));
    undone.await.map(|((), session)| Json(session))
}

async fn redo(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Path(id): Path<String>,
    Body(of): Body<Of>,
) -> Answer<Session> {
    let redone = app.change(&user, (id, of.revision), LOOK, |_, _, session| actions::undo(session, true));
    redone.await.map(|((), session)| Json(session))
}

async fn forget(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Path(id): Path<String>,
    Body(of): Body<Forgotten>,
) -> Answer<Session> {
    let forgot = app.change(&user, (id, of.revision), LOOK, move |_, _, session| actions::forget(session, of.demand));
    forgot.await.map(|((), session)| Json(session))
}

async fn choose(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Path(id): Path<String>,
    Body(of): Body<Choice>,
) -> Answer<Session> {
    let chosen = app.change(&user, (id, of.revision), LOOK, move |lake, _, session| {
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
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Path(id): Path<String>,
    Query(of): Query<ResultFile>,
) -> Result<impl IntoResponse, Refusal> {
    app.work(&user, READ, move |lake, stop| Download::of(lake, stop, &lake.sessions().open(&id)?, of.step, of.format))
        .await
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        read("/api/v1/sessions", "The sessions of this user", None, Some(schema::<SessionList>), get(sessions)),
        write("/api/v1/sessions", "A new session", schema::<NewSession>, schema::<Session>, post(new_session)),
        read("/api/v1/sessions/{id}", "A session", None, Some(schema::<Session>), get(session)),
        write(
            "/api/v1/sessions/{id}/ask",
            "The next turn of a session",
            schema::<Turn>,
            schema::<AskDocument>,
            post(ask_in),
        ),
        write(
            "/api/v1/sessions/{id}/preview",
            "What an operation would do",
            schema::<What>,
            schema::<PlanPreview>,
            post(preview),
        ),
        write(
            "/api/v1/sessions/{id}/run",
            "Carries an operation out; its result is the working table",
            schema::<What>,
            schema::<RunDocument>,
            post(run),
        ),
        write(
            "/api/v1/sessions/{id}/undo",
            "Takes the latest operation back",
            schema::<Of>,
            schema::<Session>,
            post(undo),
        ),
        write(
            "/api/v1/sessions/{id}/redo",
            "Makes the operation again that was taken back last",
            schema::<Of>,
            schema::<Session>,
            post(redo),
        ),
        write(
            "/api/v1/sessions/{id}/forget",
            "Forgets something that was asked for",
            schema::<Forgotten>,
            schema::<Session>,
            post(forget),
        ),
        write(
            "/api/v1/sessions/{id}/choose",
            "Accepts or rejects a table",
            schema::<Choice>,
            schema::<Session>,
            post(choose),
        ),
        read(
            "/api/v1/sessions/{id}/result",
            "The result of an operation as a file",
            Some(schema::<ResultFile>),
            None,
            get(result),
        ),
    ]
}
