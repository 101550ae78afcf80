//! What is asked of the lake.

use std::time::Instant;

use axum::Json;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, read, write};
use crate::service::http::actions::{self, Turn};
use crate::service::http::app::{Caller, LOOK, READ};
use crate::service::http::endpoint::{Body, Endpoint, Query};
use crate::service::http::lake_map::{LakeMap, MapOf};
use crate::service::{mcp, query_context};
use lakeward::answers::{Resolution, SearchAnswer};
use lakeward::documents::{
    AskDocument, CiteDocument, CorrelationDocument, Document, FeatureDocument, JoinDocument, SqlDocument, TableList,
    TableReport,
};
use lakeward_search::{ColumnAnswer, UnionAnswer};

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

async fn search(caller: Caller, Query(of): Query<OfText>) -> Answer<Document<SearchAnswer>> {
    caller.work(LOOK, move |lake, _| actions::search(lake, &of.q, of.k)).await.map(Json)
}

async fn columns(caller: Caller, Query(of): Query<OfText>) -> Answer<Document<ColumnAnswer>> {
    caller
        .work(LOOK, move |lake, _| {
            let started = Instant::now();
            let answers = lake.columns(&of.q, actions::answers(of.k))?;
            Ok(Document::new(of.q, answers, started))
        })
        .await
        .map(Json)
}

async fn join(caller: Caller, Query(of): Query<OfTable>) -> Answer<JoinDocument> {
    let columns: Vec<String> = of.column.into_iter().collect();
    caller.work(READ, move |lake, _| actions::join(lake, &of.table, &columns, of.k)).await.map(Json)
}

async fn union(caller: Caller, Query(of): Query<OfTable>) -> Answer<Document<UnionAnswer>> {
    caller
        .work(READ, move |lake, _| {
            let started = Instant::now();
            let query = mcp::query_table(lake, &of.table)?;
            Ok(Document::new(of.table, lake.union(&query, actions::answers(of.k))?, started))
        })
        .await
        .map(Json)
}

async fn correlate(caller: Caller, Query(of): Query<OfTarget>) -> Answer<CorrelationDocument> {
    let key: Vec<String> = of.key.into_iter().collect();
    caller.work(READ, move |lake, _| actions::correlate(lake, &of.table, &of.target, &key, of.k)).await.map(Json)
}

async fn features(caller: Caller, Query(of): Query<OfTarget>) -> Answer<FeatureDocument> {
    caller.work(READ, move |lake, stop| mcp::features(lake, stop, of.table, &of.target, of.key, of.k)).await.map(Json)
}

async fn tables(caller: Caller, Query(of): Query<Containing>) -> Answer<TableList> {
    caller
        .work(LOOK, move |lake, _| TableList::containing(lake.index(), of.containing.as_deref().unwrap_or_default()))
        .await
        .map(Json)
}

async fn profile(caller: Caller, Query(of): Query<OneTable>) -> Answer<TableReport> {
    caller.work(READ, move |lake, _| TableReport::of(lake, &mcp::table_id(lake, &of.table)?)).await.map(Json)
}

async fn resolve(caller: Caller, Query(of): Query<Identifier>) -> Answer<Resolution> {
    caller.work(LOOK, move |lake, _| lake.resolve(&of.id)).await.map(Json)
}

async fn cite(caller: Caller, Query(of): Query<Identifier>) -> Answer<CiteDocument> {
    caller.work(LOOK, move |lake, _| actions::cite(lake, &of.id)).await.map(Json)
}

async fn map(caller: Caller, Query(of): Query<MapOf>) -> Answer<LakeMap> {
    let maps = caller.app.maps.clone();
    caller.work(READ, move |lake, stop| maps.of(lake, stop, &of)).await.map(Json)
}

async fn sql(caller: Caller, Body(of): Body<Sql>) -> Answer<SqlDocument> {
    caller
        .work(READ, move |lake, stop| {
            let started = Instant::now();
            let context = query_context(lake, stop)?;
            let rows = context.query(&of.query, Some(of.limit.unwrap_or(DEFAULT_ROWS).clamp(1, MOST_ROWS)))?;
            SqlDocument::read(&of.query, &context, rows, started)
        })
        .await
        .map(Json)
}

async fn ask(caller: Caller, Body(turn): Body<Turn>) -> Answer<AskDocument> {
    let asked = caller.work(READ, move |lake, stop| actions::ask(lake, stop, &mut lake.new_session(), turn));
    Ok(Json(caller.counted(asked.await?)))
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        read::<OfText, Document<SearchAnswer>>("/api/v1/search", "Tables that match words", get(search)),
        read::<OfText, Document<ColumnAnswer>>("/api/v1/columns", "Columns that hold what words say", get(columns)),
        read::<OfTable, JoinDocument>("/api/v1/join", "Tables that share key values with a table", get(join)),
        read::<OfTable, Document<UnionAnswer>>(
            "/api/v1/union",
            "Tables whose rows could be appended to a table",
            get(union),
        ),
        read::<OfTarget, CorrelationDocument>(
            "/api/v1/correlate",
            "Columns of the lake that go with a column of a table",
            get(correlate),
        ),
        read::<OfTarget, FeatureDocument>(
            "/api/v1/features",
            "A table of features for a model of a column, as a plan, with what each adds; `k` is 3 by default, at most 10",
            get(features),
        ),
        read::<Containing, TableList>("/api/v1/tables", "The tables of the lake", get(tables)),
        read::<OneTable, TableReport>("/api/v1/profile", "What is in a table", get(profile)),
        read::<Identifier, Resolution>("/api/v1/resolve", "The table that an identifier names", get(resolve)),
        read::<Identifier, CiteDocument>("/api/v1/cite", "Citations of what an identifier names", get(cite)),
        read::<MapOf, LakeMap>(
            "/api/v1/map",
            "Tables by topic, with those they can be joined with or appended to",
            get(map),
        ),
        write::<Sql, SqlDocument>("/api/v1/sql", "The rows of one read-only query", post(sql)),
        write::<Turn, AskDocument>(
            "/api/v1/ask",
            "Tables and operations for a request that belongs to no session",
            post(ask),
        ),
    ]
}
