//! Requests with `Prefer: respond-async` (RFC 7240) become jobs: 202 with their address at once, then server-sent events
//! (WHATWG HTML, section 9.2) that go on after `Last-Event-ID`, the answer as it would have been sent, and DELETE to cancel.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;

use super::MOST_BODY_BYTES;
use super::app::{App, Caller};
use super::download::Parts;
use super::refusal::Refusal;
use super::users::User;
use crate::messages;
use crate::service::Failure;
use crate::service::jobs::{Job, JobDocument, JobEvent};

/// Largest answer that is kept.
const MOST_ANSWER_BYTES: usize = 16 << 20;
/// A connection on which nothing happened is written to after this time, so that nobody in between closes it.
const ALIVE: Duration = Duration::from_secs(10);
/// Events that wait for a client.
const WAITING: usize = 4;

/// Answers at once where the client prefers that.
pub async fn in_background(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let prefer = request.headers().get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let is_async =
        prefer.flat_map(|value| value.split([',', ';'])).any(|it| it.trim().eq_ignore_ascii_case("respond-async"));
    let user = request.extensions().get::<User>().filter(|_| is_async && request.method() == Method::POST);
    let Some(owner) = user.map(|user| user.name.clone()) else { return next.run(request).await };
    begun(&app, owner, request, next).await.unwrap_or_else(IntoResponse::into_response)
}

async fn begun(app: &Arc<App>, owner: Option<Arc<str>>, request: Request, next: Next) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    // It has to be here before the answer is: clients stop sending then.
    let body = to_bytes(body, MOST_BODY_BYTES).await;
    let body = body.map_err(|error| Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string(), None))?;
    let job = app.jobs.begin(owner).map_err(|error| app.refusal(&error.into()))?;
    let job = job.ok_or_else(|| app.refusal(&Failure::Busy))?;
    let (kept, request) = (Arc::clone(&job), Request::from_parts(parts, Body::from(body)));
    let language = messages::current();
    tokio::spawn(messages::within(language, async move {
        let (head, body) = Arc::clone(&kept).scope(next.run(request)).await.into_parts();
        let answer = match to_bytes(body, MOST_ANSWER_BYTES).await {
            Ok(body) => (head.status, head.headers, body),
            Err(_) => (
                StatusCode::INSUFFICIENT_STORAGE,
                HeaderMap::new(),
                Bytes::from_static(b"the answer is too large to be kept"),
            ),
        };
        kept.finish(answer);
    }));
    let headers = [
        (header::LOCATION, format!("/api/v1/jobs/{}", job.id)),
        ("preference-applied".parse().unwrap_or(header::PRAGMA), "respond-async".into()),
    ];
    Ok((StatusCode::ACCEPTED, headers, Json(job.document())).into_response())
}

fn found(caller: &Caller, id: &str) -> Result<Arc<Job>, Refusal> {
    let job = caller.app.jobs.of(caller.user.name.as_deref(), id);
    let hint = "answers are kept for 10 minutes";
    job.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "there is no such job", Some(hint)))
}

/// What is known of a job.
pub async fn job(caller: Caller, Path(id): Path<String>) -> Result<Json<JobDocument>, Refusal> {
    Ok(Json(found(&caller, &id)?.document()))
}

/// Asks a job to stop.
pub async fn cancel(caller: Caller, Path(id): Path<String>) -> Result<Json<JobDocument>, Refusal> {
    let job = found(&caller, &id)?;
    job.cancel();
    Ok(Json(job.document()))
}

/// The answer, as it would have been sent.
pub async fn answer(caller: Caller, Path(id): Path<String>) -> Result<Response, Refusal> {
    let job = found(&caller, &id)?;
    match job.answer() {
        Some(answer) => Ok(answer.into_response()),
        None => Ok((StatusCode::ACCEPTED, [(header::RETRY_AFTER, "1")], Json(job.document())).into_response()),
    }
}

/// What happens to a job, as server-sent events.
pub async fn events(caller: Caller, Path(id): Path<String>, headers: HeaderMap) -> Result<impl IntoResponse, Refusal> {
    let mut events = found(&caller, &id)?.events();
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let mut seen: usize = last.unwrap_or(0);
    let (sender, parts) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        loop {
            let new: Vec<JobEvent> = events.borrow_and_update().iter().skip(seen).cloned().collect();
            for event in new {
                seen = event.number;
                let data = serde_json::to_string(&event).unwrap_or_default();
                let frame = format!("id: {seen}\nevent: {}\ndata: {data}\n\n", event.state.name());
                if sender.send(Ok(Bytes::from(frame))).await.is_err() || event.state.is_end() {
                    return;
                }
            }
            // Who had seen the end asks in vain.
            if events.borrow().last().is_some_and(|last| last.state.is_end()) {
                return;
            }
            let silent = tokio::time::timeout(ALIVE, events.changed()).await;
            match silent {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) if sender.send(Ok(Bytes::from_static(b": \n\n"))).await.is_ok() => {}
                Err(_) => return,
            }
        }
    });
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))], Body::new(Parts(parts))))
}
