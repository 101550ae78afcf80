//! The result of a step as a file that is sent while it is read.

use std::fs::File;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::mpsc::{self, Receiver};

use crate::service::{Stop, query_context};
use lakeward::{Lakeward, Session};
use lakeward_agent::execution;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::Input;
use lakeward_operate::export;

/// Bytes of a part.
const PART: usize = 64 << 10;
/// Parts that wait for the client.
const WAITING: usize = 4;

/// The form of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// UTF-8 with a header.
    #[default]
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }
}

/// A file to send, and its name.
pub struct Download {
    file: File,
    bytes: u64,
    name: String,
    format: Format,
}

impl Download {
    /// The result of step `number` of `session`, of its latest one by default.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such step; those of writing it in `format`.
    pub fn of(lake: &Lakeward, stop: &Stop, session: &Session, number: Option<usize>, format: Format) -> Result<Self> {
        let latest = || session.steps.iter().rev().find(|step| !step.undone).map(|step| step.number);
        let number = number.or_else(latest).ok_or_else(|| Error::usage("no operation was run in this session"))?;
        let (store, name) = (lake.sessions(), format!("{}-result-{number}.{}", session.id, format.extension()));
        let stored = store.step_path(session, number)?;
        let failed = |error| Error::io("read", &stored, error);
        let file = match format {
            Format::Parquet => File::open(&stored).map_err(failed)?,
            Format::Csv => {
                let context = query_context(lake, stop)?;
                execution::connect(&context, &store, session)?;
                let folder = tempfile::tempdir().map_err(failed)?;
                let path = folder.path().join("result.csv");
                export(&context, &Input::Step(number), &path, false)?;
                // The folder goes; what is open can still be read.
                File::open(&path).map_err(failed)?
            }
        };
        let bytes = file.metadata().map_err(failed)?.len();
        Ok(Self { file, bytes, name, format })
    }
}

impl IntoResponse for Download {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.format.media_type()));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(self.bytes));
        // Names of sessions have letters, digits, `-`, `_` and `.` only.
        if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", self.name)) {
            headers.insert(header::CONTENT_DISPOSITION, value);
        }
        let (sender, parts) = mpsc::channel(WAITING);
        let mut file = self.file;
        tokio::task::spawn_blocking(move || {
            loop {
                let mut part = vec![0; PART];
                let read = file.read(&mut part).map(|count| {
                    part.truncate(count);
                    Bytes::from(part)
                });
                let last = read.as_ref().map_or(true, Bytes::is_empty);
                // A client that has gone takes nothing more.
                if read.as_ref().is_ok_and(Bytes::is_empty) || sender.blocking_send(read).is_err() || last {
                    return;
                }
            }
        });
        (headers, Body::new(Parts(parts))).into_response()
    }
}

/// The parts as the body of a response.
pub struct Parts(pub Receiver<io::Result<Bytes>>);

impl hyper::body::Body for Parts {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|part| part.map(|part| part.map(Frame::data)))
    }
}
