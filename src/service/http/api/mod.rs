//! The JSON endpoints: the façade's documents, as the command line prints them with `--json`.

mod lake;
mod sessions;

use std::sync::Arc;

use axum::Json;
use axum::routing::{MethodRouter, delete, get};
use schemars::JsonSchema;

use super::app::App;
use super::background;
use super::endpoint::{Endpoint, schema};
use super::refusal::Refusal;
use crate::service::jobs::JobDocument;

type Answer<T> = Result<Json<T>, Refusal>;

type Handler = MethodRouter<Arc<App>>;

/// An endpoint that changes nothing, with the parameters `Q` and the answer `A`.
fn read<Q: JsonSchema, A: JsonSchema>(path: &'static str, summary: &'static str, handler: Handler) -> Endpoint {
    let (query, answer) = (schema::<Q>, Some(schema::<A> as _));
    Endpoint { method: "get", path, summary, query, body: None, answer, handler }
}

/// One whose answer is a file.
fn file<Q: JsonSchema>(path: &'static str, summary: &'static str, handler: Handler) -> Endpoint {
    Endpoint { answer: None, ..read::<Q, ()>(path, summary, handler) }
}

/// An endpoint that takes the body `B`.
fn write<B: JsonSchema, A: JsonSchema>(path: &'static str, summary: &'static str, handler: Handler) -> Endpoint {
    Endpoint { method: "post", body: Some(schema::<B>), ..read::<(), A>(path, summary, handler) }
}

pub fn endpoints() -> Vec<Endpoint> {
    let jobs = vec![
        read::<(), JobDocument>("/api/v1/jobs/{id}", "What happened to a job", get(background::job)),
        file::<()>("/api/v1/jobs/{id}/events", "The same as server-sent events", get(background::events)),
        file::<()>("/api/v1/jobs/{id}/answer", "The answer of a job", get(background::answer)),
        Endpoint {
            method: "delete",
            ..read::<(), JobDocument>("/api/v1/jobs/{id}", "Asks a job to stop", delete(background::cancel))
        },
    ];
    [lake::endpoints(), sessions::endpoints(), jobs].into_iter().flatten().collect()
}
