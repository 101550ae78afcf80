//! The JSON endpoints: the façade's documents, as the command line prints them with `--json`.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, State};
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Deserialize;

use super::actions::{self, RunDocument, Turn, What};
use super::app::{App, LOOK, READ, RUN, may_write};
use super::background;
use super::download::{Download, Format};
use super::endpoint::{Body, Endpoint, Query, schema};
use super::lake_map::{LakeMap, MapOf};
use super::refusal::Refusal;
use super::users::User;
use crate::service::jobs::JobDocument;
use crate::service::{mcp, query_context};
use lakeward::documents::{
    AskDocument, CiteDocument, CorrelationDocument, Document, FeatureDocument, JoinDocument, SessionList, SqlDocument,
    TableList, TableReport,
};
use lakeward::{Resolution, SearchAnswer, Session};
use lakeward_operate::PlanPreview;
use lakeward_search::{ColumnAnswer, UnionAnswer};

type Answer<T> = Result<Json<T>, Refusal>;

/// Rows of a query by default, as of the command line.
const DEFAULT_ROWS: usize = 500;
/// Rows of a query at most: an answer is held in memory.
const MOST_ROWS: usize = 10_000;

#[derive(Deserialize, JsonSchema)]
struct OfText {
    /// What is looked for, in plain words.
    q: String,
    /// Answers: 10 by default, at most 200.
    k: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
struct OfTable {
    /// Id of a table of the lake.
    table: String,
    /// Its key column, or several separated by commas.
    column: Option<String>,
    /// Answers: 10 by default, at most 200.
    k: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
struct OfTarget {
    /// Id of a table of the lake.
    table: String,
    /// Its column to be explained.
    target: String,
    /// Its key column, or two separated by a comma.
    key: Option<String>,
    /// Answers: 10 by default, at most 200.
    k: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
struct OneTable {
    /// Id of a table of the lake.
    table: String,
}

#[derive(Deserialize, JsonSchema)]
struct Containing {
    /// Only ids that contain this.
    containing: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Identifier {
    /// An identifier, or the id of a table.
    id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sql {
    /// One read-only query.
    query: String,
    /// Rows: 500 by default, at most 10000.
    limit: Option<usize>,
}

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

async fn search(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Query(of): Query<OfText>,
) -> Answer<Document<SearchAnswer>> {
    app.work(&user, LOOK, move |lake, _| actions::search(lake, &of.q, of.k)).await.map(Json)
}

async fn columns(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Query(of): Query<OfText>,
) -> Answer<Document<ColumnAnswer>> {
    app.work(&user, LOOK, move |lake, _| {
        let started = Instant::now();
        let answers = lake.columns(&of.q, actions::answers(of.k))?;
        Ok(Document::new(of.q, answers, started))
    })
    .await
    .map(Json)
}

async fn join(State(app): State<Arc<App>>, user: Extension<User>, Query(of): Query<OfTable>) -> Answer<JoinDocument> {
    let columns: Vec<String> = of.column.into_iter().collect();
    app.work(&user, READ, move |lake, _| actions::join(lake, &of.table, &columns, of.k)).await.map(Json)
}

async fn union(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Query(of): Query<OfTable>,
) -> Answer<Document<UnionAnswer>> {
    app.work(&user, READ, move |lake, _| {
        let started = Instant::now();
        let query = mcp::query_table(lake, &of.table)?;
        Ok(Document::new(of.table, lake.union(&query, actions::answers(of.k))?, started))
    })
    .await
    .map(Json)
}

async fn correlate(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Query(of): Query<OfTarget>,
) -> Answer<CorrelationDocument> {
    let key: Vec<String> = of.key.into_iter().collect();
    app.work(&user, READ, move |lake, _| actions::correlate(lake, &of.table, &of.target, &key, of.k)).await.map(Json)
}

async fn features(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Query(of): Query<OfTarget>,
) -> Answer<FeatureDocument> {
    app.work(&user, READ, move |lake, stop| mcp::features(lake, stop, of.table, &of.target, of.key, of.k))
        .await
        .map(Json)
}

async fn tables(State(app): State<Arc<App>>, user: Extension<User>, Query(of): Query<Containing>) -> Answer<TableList> {
    app.work(&user, LOOK, move |lake, _| {
        TableList::containing(lake.index(), of.containing.as_deref().unwrap_or_default())
    })
    .await
    .map(Json)
}

async fn profile(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Query(of): Query<OneTable>,
) -> Answer<TableReport> {
    app.work(&user, READ, move |lake, _| TableReport::of(lake, &mcp::table_id(lake, &of.table)?)).await.map(Json)
}

async fn resolve(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Query(of): Query<Identifier>,
) -> Answer<Resolution> {
    app.work(&user, LOOK, move |lake, _| lake.resolve(&of.id)).await.map(Json)
}

async fn cite(
    State(app): State<Arc<App>>,
    user: Extension<User>,
    Query(of): Query<Identifier>,
) -> Answer<CiteDocument> {
    app.work(&user, LOOK, move |lake, _| actions::cite(lake, &of.id)).await.map(Json)
}

async fn map(State(app): State<Arc<App>>, user: Extension<User>, Query(of): Query<MapOf>) -> Answer<LakeMap> {
    let maps = app.maps.clone();
    app.work(&user, READ, move |lake, stop| maps.of(lake, stop, &of)).await.map(Json)
}

async fn sql(State(app): State<Arc<App>>, user: Extension<User>, Body(of): Body<Sql>) -> Answer<SqlDocument> {
    app.work(&user, READ, move |lake, stop| {
        let started = Instant::now();
        let context = query_context(lake, stop)?;
        let rows = context.query(&of.query, Some(of.limit.unwrap_or(DEFAULT_ROWS).clamp(1, MOST_ROWS)))?;
        SqlDocument::read(&of.query, &context, rows, started)
    })
    .await
    .map(Json)
}

async fn ask(State(app): State<Arc<App>>, user: Extension<User>, Body(turn): Body<Turn>) -> Answer<AskDocument> {
    let asked = app.work(&user, READ, move |lake, stop| actions::ask(lake, stop, &mut lake.new_session(), turn));
    Ok(Json(app.counted(&user, asked.await?)))
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

/// All endpoints.
pub fn endpoints() -> Vec<Endpoint> {
    let read = |path, summary, query, answer, handler| Endpoint {
        method: "get",
        path,
        summary,
        query,
        body: None,
        answer,
        handler,
    };
    let write = |path, summary, body, answer, handler| Endpoint {
        method: "post",
        path,
        summary,
        query: None,
        body: Some(body),
        answer: Some(answer),
        handler,
    };
    vec![
        read(
            "/api/v1/search",
            "Tables that match words",
            Some(schema::<OfText>),
            Some(schema::<Document<SearchAnswer>>),
            get(search),
        ),
        read(
            "/api/v1/columns",
            "Columns that hold what words say",
            Some(schema::<OfText>),
            Some(schema::<Document<ColumnAnswer>>),
            get(columns),
        ),
        read(
            "/api/v1/join",
            "Tables that share key values with a table",
            Some(schema::<OfTable>),
            Some(schema::<JoinDocument>),
            get(join),
        ),
        read(
            "/api/v1/union",
            "Tables whose rows could be appended to a table",
            Some(schema::<OfTable>),
            Some(schema::<Document<UnionAnswer>>),
            get(union),
        ),
        read(
            "/api/v1/correlate",
            "Columns of the lake that go with a column of a table",
            Some(schema::<OfTarget>),
            Some(schema::<CorrelationDocument>),
            get(correlate),
        ),
        read(
            "/api/v1/features",
            "A table of features for a model of a column, as a plan, with what each adds; `k` is 3 by default, at most 10",
            Some(schema::<OfTarget>),
            Some(schema::<FeatureDocument>),
            get(features),
        ),
        read(
            "/api/v1/tables",
            "The tables of the lake",
            Some(schema::<Containing>),
            Some(schema::<TableList>),
            get(tables),
        ),
        read(
            "/api/v1/profile",
            "What is in a table",
            Some(schema::<OneTable>),
            Some(schema::<TableReport>),
            get(profile),
        ),
        read(
            "/api/v1/resolve",
            "The table that an identifier names",
            Some(schema::<Identifier>),
            Some(schema::<Resolution>),
            get(resolve),
        ),
        read(
            "/api/v1/cite",
            "Citations of what an identifier names",
            Some(schema::<Identifier>),
            Some(schema::<CiteDocument>),
            get(cite),
        ),
        read(
            "/api/v1/map",
            "Tables by topic, with those they can be joined with or appended to",
            Some(schema::<MapOf>),
            Some(schema::<LakeMap>),
            get(map),
        ),
        write("/api/v1/sql", "The rows of one read-only query", schema::<Sql>, schema::<SqlDocument>, post(sql)),
        write(
            "/api/v1/ask",
            "Tables and operations for a request that belongs to no session",
            schema::<Turn>,
            schema::<AskDocument>,
            post(ask),
        ),
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
        read("/api/v1/jobs/{id}", "What happened to a job", None, Some(schema::<JobDocument>), get(background::job)),
        read("/api/v1/jobs/{id}/events", "The same as server-sent events", None, None, get(background::events)),
        read("/api/v1/jobs/{id}/answer", "The answer of a job", None, None, get(background::answer)),
        Endpoint {
            method: "delete",
            ..read(
                "/api/v1/jobs/{id}",
                "Asks a job to stop",
                None,
                Some(schema::<JobDocument>),
                delete(background::cancel),
            )
        },
    ]
}
