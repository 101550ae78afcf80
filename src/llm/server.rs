//! Which server is asked, and the one connection to it: bounded answers, retries within the time of a call, no redirects.

use std::fmt;
use std::future::Future;
use std::time::{Duration, Instant};

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::call::{ChatFailure, FailureKind};
use crate::error::{Error, Result};

/// Bytes of an answer that are read; a larger one is none of this protocol.
const MOST_BYTES: usize = 4 << 20;
/// Time for a connection, at the most.
const CONNECT: Duration = Duration::from_secs(5);
/// The first wait before asking again; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// A key: never shown, stored or logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key, without white space around it.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_string())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A server and what to ask there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The base URL, with `/v1` where the server has it.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The key, where it wants one.
    pub key: Option<Key>,
}

/// How a server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manners {
    /// How often a question is sent again to a server that is busy or failed.
    pub retries: u32,
    /// Questions at a time.
    pub concurrency: usize,
}

tokio::task_local! {
    /// When the question that a task sends must have its answer.
    static DEADLINE: Instant;
}

/// The connection to one server.
pub(crate) struct Connection {
    /// `model@host`.
    pub id: String,
    client: Client<OpenAIConfig>,
    runtime: Runtime,
    gate: Semaphore,
    key: Option<Key>,
}

impl Connection {
    /// Prepares to ask `server`; nothing is sent yet.
    pub fn to(server: &Server, manners: Manners) -> Result<Self> {
        let url = parse(&server.url)?;
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (host, _) => host.unwrap_or_default().to_string(),
        };
        // Another part of the process may have chosen one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            // A redirect would take the request's text to a server that nobody named.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("lakeward/", env!("CARGO_PKG_VERSION")));
        if url.scheme() == "http" {
            // Then a machine without root certificates will do.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| {
            Error::Usage(format!("no connection to `{host}` can be prepared: {}", innermost(&error)))
        })?;
        let retries = manners.retries;
        let service = tower::service_fn(move |request| send(http.clone(), request, retries));
        let key = server.key.as_ref().map_or("none", |key| key.0.as_str());
        let config = OpenAIConfig::new().with_api_base(url.as_str().trim_end_matches('/')).with_api_key(key);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|_| Error::Internal("no thread for the connection to the language model".into()))?;
        Ok(Self {
            id: format!("{}@{host}", server.model),
            client: Client::with_config(config).with_http_service(service),
            runtime,
            gate: Semaphore::new(manners.concurrency.max(1)),
            key: server.key.clone(),
        })
    }

    /// The client that `ask` is given its futures by.
    pub fn client(&self) -> &Client<OpenAIConfig> {
        &self.client
    }

    /// The outcome of one question within `timeout`, the wait for its turn included.
    pub fn ask<T>(
        &self,
        timeout: Duration,
        question: impl Future<Output = Result<T, OpenAIError>>,
    ) -> Result<T, ChatFailure> {
        let deadline = Instant::now() + timeout;
        let asked = async {
            let _turn = self.gate.acquire().await;
            question.await
        };
        let outcome = self.runtime.block_on(tokio::time::timeout(timeout, DEADLINE.scope(deadline, asked)));
        match outcome {
            Ok(outcome) => outcome.map_err(|error| self.failure(&error)),
            Err(_) => {
                let waited = format!("no answer from `{}` within {}", self.id, seconds(timeout));
                Err(ChatFailure::new(FailureKind::TimedOut, &waited))
            }
        }
    }

    /// An error in the analyst's words; a server that repeats the key does not get it through.
    fn failure(&self, error: &OpenAIError) -> ChatFailure {
        let ChatFailure { kind, message } = failure(&self.id, error);
        match &self.key {
            Some(Key(key)) if !key.is_empty() => ChatFailure { kind, message: message.replace(key.as_str(), "…") },
            _ => ChatFailure { kind, message },
        }
    }
}

/// The base URL of a server, checked: `http` or `https`, with a host, without user and password.
pub(crate) fn parse(text: &str) -> Result<Url> {
    let wrong =
        |what: &str| Error::Usage(format!("the language model's address {what}; one is http://127.0.0.1:8080/v1"));
    let url = Url::parse(text.trim()).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("is no web address"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("must not hold a user or password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("must end with its path"));
    }
    Ok(url)
}

/// Whether a server is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Sends a request until there is an answer to keep, the retries are used up or the time does not allow another.
async fn send(http: reqwest::Client, request: HttpRequestFactory, retries: u32) -> Result<Response, OpenAIError> {
    let mut wait = FIRST_WAIT;
    for attempt in 0.. {
        let outcome = http.execute(request.build().await?).await;
        let again = attempt < retries;
        let pause = match &outcome {
            Ok(response) if is_passing(response.status()) => asked_to_wait(response.headers()).unwrap_or(wait),
            // One that hangs up may have restarted; one that is not there is not there.
            Err(error) if error.is_request() && !error.is_connect() => wait,
            _ => return bounded(outcome.map_err(OpenAIError::Reqwest)?).await,
        };
        let left = DEADLINE.try_with(|deadline| deadline.saturating_duration_since(Instant::now())).unwrap_or_default();
        if !again || pause >= left {
            return bounded(outcome.map_err(OpenAIError::Reqwest)?).await;
        }
        tokio::time::sleep(pause).await;
        wait *= 2;
    }
    Err(OpenAIError::InvalidArgument("no attempt".into()))
}

/// Whether a status says that the same question may be answered later.
fn is_passing(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS
        || (status.is_server_error()
            && !matches!(status, StatusCode::NOT_IMPLEMENTED | StatusCode::INSUFFICIENT_STORAGE))
}

/// What `Retry-After` says, in seconds; a date is not looked at.
fn asked_to_wait(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// The response with its whole body, no larger than [`MOST_BYTES`].
async fn bounded(mut response: Response) -> Result<Response, OpenAIError> {
    let mut head = http::Response::builder().status(response.status());
    if let Some(kind) = response.headers().get(reqwest::header::CONTENT_TYPE) {
        head = head.header(reqwest::header::CONTENT_TYPE, kind.clone());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(OpenAIError::Reqwest)? {
        if body.len() + chunk.len() > MOST_BYTES {
            return Err(OpenAIError::InvalidArgument(TOO_LARGE.into()));
        }
        body.extend_from_slice(&chunk);
    }
    let whole = head.body(body).map_err(|error| OpenAIError::InvalidArgument(error.to_string()))?;
    Ok(Response::from(whole))
}

const TOO_LARGE: &str = "an answer of more than 4 MB";

/// What an error of the client means.
fn failure(id: &str, error: &OpenAIError) -> ChatFailure {
    let told = |kind, what: String| ChatFailure::new(kind, &what);
    match error {
        OpenAIError::Reqwest(error) if error.is_timeout() => {
            told(FailureKind::TimedOut, format!("`{id}` does not answer in time"))
        }
        OpenAIError::Reqwest(error) if error.is_connect() => {
            told(FailureKind::Unreachable, format!("no server answers for `{id}`: {}", innermost(error)))
        }
        OpenAIError::Reqwest(error) => {
            told(FailureKind::Broken, format!("the answer of `{id}` was cut off: {}", innermost(error)))
        }
        OpenAIError::ApiError(answer) => {
            let (status, api) = (answer.status_code, &answer.api_error);
            let kind = match (status, api.code.as_deref()) {
                (StatusCode::TOO_MANY_REQUESTS, _) => FailureKind::Busy,
                _ if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => FailureKind::ServerError,
                (_, Some("context_length_exceeded")) => FailureKind::TooLong,
                _ if api.r#type.as_deref() == Some("exceed_context_size_error") => FailureKind::TooLong,
                _ => FailureKind::Refused,
            };
            told(kind, format!("`{id}` answers {}: {}", status.as_u16(), api.message))
        }
        OpenAIError::JSONDeserialize(error, _) => {
            told(FailureKind::Broken, format!("`{id}` gives no answer of the OpenAI protocol: {error}"))
        }
        OpenAIError::InvalidArgument(what) if what == TOO_LARGE => {
            told(FailureKind::Broken, format!("`{id}` gives {TOO_LARGE}"))
        }
        other => told(FailureKind::Broken, format!("`{id}`: {other}")),
    }
}

/// The cause that says most: a client's errors wrap each other.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64().ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        assert!(is_loopback(&parse("http://127.0.0.1:8080/v1").unwrap()));
        assert!(is_loopback(&parse("http://localhost/v1").unwrap()) && is_loopback(&parse("http://[::1]:9/").unwrap()));
        assert!(!is_loopback(&parse("https://localhost.example.org/v1").unwrap()));
        for wrong in ["", "127.0.0.1", "file:///etc/passwd", "http://", "https://u:p@host/v1", "http://host/v1?key=1"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("address"), "{wrong}");
        }
    }

    #[test]
    fn keys_are_not_shown() {
        let server = Server { url: "http://h".into(), model: "m".into(), key: Some(Key::new("sk-secret\n")) };
        assert!(!format!("{server:?}").contains("secret"));
    }
}
