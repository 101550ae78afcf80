//! The JSON endpoints: the façade's documents, as the command line prints them with `--json`.

mod lake;
mod sessions;

use std::sync::Arc;

use axum::Json;
use axum::routing::{MethodRouter, delete, get};

use super::app::App;
use super::background;
use super::endpoint::{Endpoint, SchemaOf, schema};
use super::refusal::Refusal;
use crate::service::jobs::JobDocument;

type Answer<T> = Result<Json<T>, Refusal>;

/// An endpoint that changes nothing.
fn read(
    path: &'static str,
    summary: &'static str,
    query: Option<SchemaOf>,
    answer: Option<SchemaOf>,
    handler: MethodRouter<Arc<App>>,
) -> Endpoint {
    Endpoint { method: "get", path, summary, query, body: None, answer, handler }
}

/// An endpoint that takes a body.
fn write(
    path: &'static str,
    summary: &'static str,
    body: SchemaOf,
    answer: SchemaOf,
    handler: MethodRouter<Arc<App>>,
) -> Endpoint {
    Endpoint { method: "post", path, summary, query: None, body: Some(body), answer: Some(answer), handler }
}

/// All endpoints.
pub fn endpoints() -> Vec<Endpoint> {
    let jobs = vec![
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
    ];
    [lake::endpoints(), sessions::endpoints(), jobs].into_iter().flatten().collect()
}
