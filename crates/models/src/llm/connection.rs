//! The one connection to a server: bounded responses, retries within the time of a call, no redirects, no requests to servers that the user
//! did not name.

use std::future::Future;
use std::time::{Duration, Instant};

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{AUTHORIZATION, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::call::{ChatFailure, FailureKind};
use super::complaint::Complaint;
use super::server::{self, Key, Manners, Server};
use lakeward_core::error::{Error, Result};
use lakeward_http::{innermost, wait_of};

/// Maximum bytes of a response; a larger one violates the protocol.
const MOST_BYTES: usize = 4 << 20;
/// Maximum bytes of an error response, and the time to read it.
const COMPLAINT_BYTES: usize = 64 << 10;
const COMPLAINT_TIME: Duration = Duration::from_secs(1);
/// Maximum time to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// The first pause before a retry; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(250);

tokio::task_local! {
    /// The deadline of the question that a task sends.
    static DEADLINE: Instant;
}

/// The connection to one server.
pub(crate) struct Connection {
    /// `model@host`.
    pub id: String,
    client: Client<OpenAIConfig>,
    /// Present until the connection is dropped.
    runtime: Option<Runtime>,
    gate: Semaphore,
    key: Option<Key>,
}

/// Why a question has no answer.
pub(crate) struct CallError {
    /// The failure for the caller.
    pub failure: ChatFailure,
    /// The server's message, if it concerns a part of the question.
    pub complaint: Option<String>,
}

impl Connection {
    /// Prepares a connection to `server`; sends nothing yet.
    ///
    /// # Errors
    /// [`Error::Usage`] for an invalid address or key, or if TLS is unavailable.
    pub fn to(server: &Server, manners: Manners) -> Result<Self> {
        let url = server::parse(&server.url)?;
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (host, _) => host.unwrap_or_default().to_string(),
        };
        let http = http_client(&url, &host)?;
        let key = server.key.as_ref().map(Key::header).transpose()?.flatten();
        // Its defaults come from `OPENAI_*`, which the user may have set for another program: all are overridden.
        let config = OpenAIConfig::new()
            .with_api_base(url.as_str().trim_end_matches('/'))
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        let (sender, retries) = (http.clone(), manners.retries);
        let service = tower::service_fn(move |request| send(sender.clone(), request, key.clone(), retries));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|_| Error::Internal("no thread for the connection to the language model".into()))?;
        Ok(Self {
            id: format!("{}@{host}", server.model),
            client: Client::build(http, config).with_http_service(service),
            runtime: Some(runtime),
            gate: Semaphore::new(manners.concurrency.max(1)),
            key: server.key.clone(),
        })
    }

    /// The client that creates the futures for [`Connection::ask`].
    pub fn client(&self) -> &Client<OpenAIConfig> {
        &self.client
    }

    /// The outcome of one question within `timeout`, including the time in the queue.
    pub fn ask<T>(
        &self,
        timeout: Duration,
        question: impl Future<Output = Result<T, OpenAIError>>,
    ) -> Result<T, CallError> {
        self.within(timeout, async {
            let _turn = self.gate.acquire().await;
            question.await
        })
    }

    /// The outcome of one question within `timeout` after its time in the queue: for work that must all be done.
    pub fn ask_in_turn<T>(
        &self,
        timeout: Duration,
        question: impl Future<Output = Result<T, OpenAIError>>,
    ) -> Result<T, CallError> {
        let _turn = self.runtime.as_ref().map(|runtime| runtime.block_on(self.gate.acquire()));
        self.within(timeout, question)
    }

    fn within<T>(
        &self,
        timeout: Duration,
        question: impl Future<Output = Result<T, OpenAIError>>,
    ) -> Result<T, CallError> {
        let timed = async {
            let deadline = Instant::now() + timeout;
            tokio::time::timeout(timeout, DEADLINE.scope(deadline, question)).await
        };
        let outcome = self.runtime.as_ref().map(|runtime| runtime.block_on(timed));
        match outcome {
            Some(Ok(outcome)) => outcome.map_err(|error| self.call_error(&error)),
            _ => {
                let waited = format!("gave no answer within {}", seconds(timeout));
                Err(CallError { failure: self.failure(FailureKind::TimedOut, &waited), complaint: None })
            }
        }
    }

    /// A failure whose message begins with the name of the server.
    pub fn failure(&self, kind: FailureKind, what: &str) -> ChatFailure {
        // The key is removed before the message is cut, which might leave half a key, and after it is cleaned, which might join its parts.
        let ChatFailure { kind, message } = ChatFailure::new(kind, &self.without_key(&format!("`{}` {what}", self.id)));
        ChatFailure { kind, message: self.without_key(&message) }
    }

    /// `text` without the key.
    pub fn without_key(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_string(), |key| key.hidden_in(text))
    }

    /// Translates an error of the client.
    fn call_error(&self, error: &OpenAIError) -> CallError {
        let boxed = match error {
            OpenAIError::Boxed(boxed) => Some(boxed),
            _ => None,
        };
        if let Some(complaint) = boxed.and_then(|boxed| boxed.downcast_ref::<Complaint>()) {
            let failure = self.failure(complaint.kind(), &complaint.to_string());
            let complaint = complaint.is_of_the_question().then(|| complaint.words.clone());
            return CallError { failure, complaint };
        }
        let (kind, what) = match error {
            OpenAIError::Reqwest(error) if error.is_connect() => {
                (FailureKind::Unreachable, format!("cannot be reached: {}", innermost(error)))
            }
            OpenAIError::Reqwest(error) if error.is_timeout() => {
                (FailureKind::TimedOut, "does not answer in time".to_string())
            }
            OpenAIError::Reqwest(error) if error.is_request() => {
                (FailureKind::Broken, format!("returned an invalid HTTP response: {}", innermost(error)))
            }
            OpenAIError::Reqwest(error) => {
                (FailureKind::Broken, format!("returned a truncated response: {}", innermost(error)))
            }
            OpenAIError::JSONDeserialize(error, _) => {
                (FailureKind::Broken, format!("returned a response that is not in the OpenAI protocol: {error}"))
            }
            other => (FailureKind::Broken, other.to_string()),
        };
        CallError { failure: self.failure(kind, &what), complaint: None }
    }
}

impl Drop for Connection {
    /// Without waiting: a hanging name server would delay the end of the program.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn http_client(url: &Url, host: &str) -> Result<reqwest::Client> {
    lakeward_http::client(CONNECT, Some(url))
        .build()
        .map_err(|error| Error::usage(format!("cannot prepare a connection to `{host}`: {}", innermost(&error))))
}

/// Sends a request until there is a usable response, the retries are used up, or no time is left for another.
async fn send(
    http: reqwest::Client,
    request: HttpRequestFactory,
    key: Option<HeaderValue>,
    retries: u32,
) -> Result<Response, OpenAIError> {
    let mut wait = FIRST_WAIT;
    let mut left = retries;
    loop {
        let mut request = request.build().await?;
        request.headers_mut().remove(AUTHORIZATION);
        if let Some(key) = &key {
            request.headers_mut().insert(AUTHORIZATION, key.clone());
        }
        let (error, pause) = match http.execute(request).await {
            Ok(response) if response.status().is_success() => return bounded(response).await,
            Ok(response) => {
                let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
                let requested = header.and_then(wait_of);
                let mut complaint = complaint(response).await;
                let is_temporary = complaint.is_passing();
                let pause = requested.unwrap_or(wait);
                if let Some(requested) = requested.filter(|requested| is_temporary && *requested >= time_left()) {
                    complaint.words.push_str(&format!(" (it asks to wait {})", seconds(requested)));
                }
                (OpenAIError::Boxed(Box::new(complaint)), is_temporary.then_some(pause))
            }
            // A server that hangs up may have restarted; one that cannot be reached is not retried.
            Err(error) => {
                let is_temporary = error.is_request() && !error.is_connect();
                (OpenAIError::Reqwest(error), is_temporary.then_some(wait))
            }
        };
        match pause {
            Some(pause) if left > 0 && pause < time_left() => tokio::time::sleep(pause).await,
            _ => return Err(error),
        }
        left -= 1;
        wait *= 2;
    }
}

fn time_left() -> Duration {
    DEADLINE.try_with(|deadline| deadline.saturating_duration_since(Instant::now())).unwrap_or_default()
}

/// The seconds of `Retry-After`; a date is ignored.
/// The error in a response, as far as it arrives in time.
async fn complaint(mut response: Response) -> Complaint {
    let status = response.status();
    if status.is_redirection() {
        let place = response.headers().get(LOCATION).and_then(|place| place.to_str().ok()).unwrap_or("nowhere");
        let words =
            format!("it redirects to `{place}`, and redirects are not followed; set that address if it is yours");
        return Complaint::of(status, words.as_bytes());
    }
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk[..chunk.len().min(COMPLAINT_BYTES - body.len())]);
            if body.len() == COMPLAINT_BYTES {
                break;
            }
        }
    };
    // On a timeout, the part received so far is used.
    let _ = tokio::time::timeout(COMPLAINT_TIME, reading).await;
    Complaint::of(status, &body)
}

/// The response with its whole body, of at most [`MOST_BYTES`].
async fn bounded(mut response: Response) -> Result<Response, OpenAIError> {
    let too_large = || OpenAIError::Boxed("returned more than 4 MB".into());
    if response.content_length().is_some_and(|bytes| bytes > MOST_BYTES as u64) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(OpenAIError::Reqwest)? {
        if body.len() + chunk.len() > MOST_BYTES {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    let whole = http::Response::builder().status(StatusCode::OK).body(body);
    Ok(Response::from(whole.map_err(|error| OpenAIError::InvalidArgument(error.to_string()))?))
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64().ceil())
}
