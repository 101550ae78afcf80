//! The one connection to a server: bounded answers, retries within the time of a call, no redirects, nothing sent that the
//! user did not name.

use std::future::Future;
use std::time::{Duration, Instant};

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::call::{ChatFailure, FailureKind};
use super::complaint::Complaint;
use super::server::{self, Key, Manners, Server};
use lakeward_core::error::{Error, Result};

/// Bytes of an answer that are read; a larger one is none of this protocol.
const MOST_BYTES: usize = 4 << 20;
/// Bytes of a complaint that are read, and the time for them.
const COMPLAINT_BYTES: usize = 64 << 10;
const COMPLAINT_TIME: Duration = Duration::from_secs(1);
/// Time for a connection, at the most.
const CONNECT: Duration = Duration::from_secs(5);
/// The first wait before asking again; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(250);

tokio::task_local! {
    /// When the question that a task sends must have its answer.
    static DEADLINE: Instant;
}

/// The connection to one server.
pub(crate) struct Connection {
    /// `model@host`.
    pub id: String,
    client: Client<OpenAIConfig>,
    /// There until the connection is dropped.
    runtime: Option<Runtime>,
    gate: Semaphore,
    key: Option<Key>,
}

/// Why a question has no answer.
pub(crate) struct Unmet {
    /// For whoever asked.
    pub failure: ChatFailure,
    /// What the server complains about, where it is a part of the question.
    pub complaint: Option<String>,
}

impl Connection {
    /// Prepares to ask `server`; nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address or a key that is none, or where TLS cannot be had.
    pub fn to(server: &Server, manners: Manners) -> Result<Self> {
        let url = server::parse(&server.url)?;
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (host, _) => host.unwrap_or_default().to_string(),
        };
        let http = http_client(&url, &host)?;
        let key = server.key.as_ref().map(Key::header).transpose()?.flatten();
        // Its defaults come from `OPENAI_*`, which the user may have set for another program: nothing of them is left.
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

    /// The client that [`Connection::ask`] is given its futures by.
    pub fn client(&self) -> &Client<OpenAIConfig> {
        &self.client
    }

    /// The outcome of one question within `timeout`, the wait for its turn included.
    pub fn ask<T>(
        &self,
        timeout: Duration,
        question: impl Future<Output = Result<T, OpenAIError>>,
    ) -> Result<T, Unmet> {
        self.within(timeout, async {
            let _turn = self.gate.acquire().await;
            question.await
        })
    }

    /// The outcome of one question within `timeout` once it is its turn: for work of which all has to be done.
    pub fn ask_in_turn<T>(
        &self,
        timeout: Duration,
        question: impl Future<Output = Result<T, OpenAIError>>,
    ) -> Result<T, Unmet> {
        let _turn = self.runtime.as_ref().map(|runtime| runtime.block_on(self.gate.acquire()));
        self.within(timeout, question)
    }

    fn within<T>(&self, timeout: Duration, question: impl Future<Output = Result<T, OpenAIError>>) -> Result<T, Unmet> {
        let timed = async {
            let deadline = Instant::now() + timeout;
            tokio::time::timeout(timeout, DEADLINE.scope(deadline, question)).await
        };
        let outcome = self.runtime.as_ref().map(|runtime| runtime.block_on(timed));
        match outcome {
            Some(Ok(outcome)) => outcome.map_err(|error| self.unmet(&error)),
            _ => {
                let waited = format!("gives no answer within {}", seconds(timeout));
                Err(Unmet { failure: self.failure(FailureKind::TimedOut, &waited), complaint: None })
            }
        }
    }

    /// A failure in a clause that begins with the name of the server.
    pub fn failure(&self, kind: FailureKind, what: &str) -> ChatFailure {
        // Before it is cut, which might leave half a key, and after it is cleaned, which might put one together.
        let ChatFailure { kind, message } = ChatFailure::new(kind, &self.without_key(&format!("`{}` {what}", self.id)));
        ChatFailure { kind, message: self.without_key(&message) }
    }

    /// `text` without the key.
    pub fn without_key(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_string(), |key| key.hidden_in(text))
    }

    /// What an error of the client means.
    fn unmet(&self, error: &OpenAIError) -> Unmet {
        let boxed = match error {
            OpenAIError::Boxed(boxed) => Some(boxed),
            _ => None,
        };
        if let Some(complaint) = boxed.and_then(|boxed| boxed.downcast_ref::<Complaint>()) {
            let failure = self.failure(complaint.kind(), &complaint.to_string());
            let complaint = complaint.is_of_the_question().then(|| complaint.words.clone());
            return Unmet { failure, complaint };
        }
        let (kind, what) = match error {
            OpenAIError::Reqwest(error) if error.is_connect() => {
                (FailureKind::Unreachable, format!("cannot be reached: {}", innermost(error)))
            }
            OpenAIError::Reqwest(error) if error.is_timeout() => {
                (FailureKind::TimedOut, "does not answer in time".to_string())
            }
            OpenAIError::Reqwest(error) if error.is_request() => {
                (FailureKind::Broken, format!("gives no answer of HTTP: {}", innermost(error)))
            }
            OpenAIError::Reqwest(error) => {
                (FailureKind::Broken, format!("gives an answer that is cut off: {}", innermost(error)))
            }
            OpenAIError::JSONDeserialize(error, _) => {
                (FailureKind::Broken, format!("gives no answer of the OpenAI protocol: {error}"))
            }
            other => (FailureKind::Broken, other.to_string()),
        };
        Unmet { failure: self.failure(kind, &what), complaint: None }
    }
}

impl Drop for Connection {
    /// A name server that hangs would hold up the end of the program.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn http_client(url: &Url, host: &str) -> Result<reqwest::Client> {
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
    if server::is_loopback(url) {
        // A proxy has another idea of this machine.
        builder = builder.no_proxy();
    }
    builder
        .build()
        .map_err(|error| Error::Usage(format!("no connection to `{host}` can be prepared: {}", innermost(&error))))
}

/// Sends a request until there is an answer to keep, the retries are used up or the time does not allow another.
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
                let asked = asked_to_wait(response.headers());
                let mut complaint = complaint(response).await;
                let passing = complaint.is_passing();
                let pause = asked.unwrap_or(wait);
                if let Some(asked) = asked.filter(|asked| passing && *asked >= time_left()) {
                    complaint.words.push_str(&format!(" (it asks to wait {})", seconds(asked)));
                }
                (OpenAIError::Boxed(Box::new(complaint)), passing.then_some(pause))
            }
            // One that hangs up may have restarted; one that is not there is not there.
            Err(error) => {
                let passing = error.is_request() && !error.is_connect();
                (OpenAIError::Reqwest(error), passing.then_some(wait))
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

/// What `Retry-After` says, in seconds; a date is not looked at.
fn asked_to_wait(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// What an answer without success says, as far as it comes soon.
async fn complaint(mut response: Response) -> Complaint {
    let status = response.status();
    if status.is_redirection() {
        let place = response.headers().get(LOCATION).and_then(|place| place.to_str().ok()).unwrap_or("nowhere");
        let words = format!("it sends to `{place}`, where nothing is sent; name that address if it is yours");
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
    // What has come by then will do.
    let _ = tokio::time::timeout(COMPLAINT_TIME, reading).await;
    Complaint::of(status, &body)
}

/// The response with its whole body, no larger than [`MOST_BYTES`].
async fn bounded(mut response: Response) -> Result<Response, OpenAIError> {
    let too_large = || OpenAIError::Boxed("gives an answer of more than 4 MB".into());
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
