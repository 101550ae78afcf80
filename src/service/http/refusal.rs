//! A request that is refused or fails, as a response: a status, and the document that the command line prints for an error.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::service::Failure;
use lakeward::Session;
use lakeward::documents::ErrorDocument;
use lakeward_core::error::{Error, ErrorKind};
use lakeward_core::message::Message;

/// Why a request has no answer.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    /// What failed.
    pub document: RefusalDocument,
    /// When to ask again.
    pub retry_after: Option<Duration>,
    /// A name that is not known, with the nearest ones that are.
    pub unknown: Option<Box<(String, Vec<String>)>>,
}

/// What failed, as the extension of a response: pages show it in words.
#[derive(Debug, Clone)]
pub struct Notice {
    /// What failed.
    pub error: Message,
    /// What to do next.
    pub hint: Option<Message>,
    /// A name that is not known, with the nearest ones that are.
    pub unknown: Option<(String, Vec<String>)>,
}

/// A refusal as a document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RefusalDocument {
    /// The error.
    #[serde(flatten)]
    pub error: ErrorDocument,
    /// The newer state of the session, if somebody else has changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<Session>>,
}

impl Refusal {
    /// A refusal of the user's request.
    pub fn new(status: StatusCode, error: impl Into<Message>, hint: Option<&str>) -> Self {
        let error = ErrorDocument { error: error.into(), kind: "user", hint: hint.map(Message::from) };
        Self { status, document: RefusalDocument { error, session: None }, retry_after: None, unknown: None }
    }

    /// The same, to be asked again after `wait`.
    pub fn after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    /// The refusal for `failure` about the lake in the folder `lake`, whose path is not told.
    pub fn of(failure: &Failure, lake: &std::path::Path) -> Self {
        let (status, kind) = match failure {
            Failure::Busy => (StatusCode::SERVICE_UNAVAILABLE, "user"),
            Failure::Late(_) => (StatusCode::GATEWAY_TIMEOUT, "user"),
            Failure::Lake(error) => (status(error), ErrorDocument::of(error).kind),
        };
        let error = ErrorDocument { error: failure.message(lake), kind, hint: failure.hint(lake) };
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(Duration::from_secs(2));
        let unknown = match failure {
            Failure::Lake(
                Error::UnknownTable { name, nearest, .. }
                | Error::UnknownColumn { name, nearest, .. }
                | Error::UnknownSession { id: name, nearest, .. },
            ) => Some(Box::new((name.clone(), nearest.clone()))),
            _ => None,
        };
        Self { status, document: RefusalDocument { error, session: None }, retry_after, unknown }
    }

    /// What a page says of it.
    pub fn notice(&self) -> Notice {
        let ErrorDocument { error, hint, .. } = &self.document.error;
        Notice { error: error.clone(), hint: hint.clone(), unknown: self.unknown.as_deref().cloned() }
    }
}

fn status(error: &Error) -> StatusCode {
    match error {
        Error::UnknownTable { .. } | Error::UnknownColumn { .. } | Error::UnknownSession { .. } => {
            StatusCode::NOT_FOUND
        }
        Error::SessionChanged { .. } => StatusCode::CONFLICT,
        _ => match error.kind() {
            ErrorKind::User => StatusCode::BAD_REQUEST,
            ErrorKind::Interrupted => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Lake | ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let notice = self.notice();
        let mut response = (self.status, Json(self.document)).into_response();
        response.extensions_mut().insert(notice);
        if let Some(wait) = self.retry_after {
            let seconds = HeaderValue::from(wait.as_secs().max(1));
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<JsonRejection> for Refusal {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text(), None)
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text(), None)
    }
}
