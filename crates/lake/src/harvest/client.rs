//! Asks an OAI-PMH server, one request at a time.

use std::time::{Duration, Instant};

use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{StatusCode, Url};
use tokio::runtime::{Builder, Runtime};

use super::page::Page;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_http::{innermost, wait_of};

/// Largest answer that is read, in bytes.
const MOST_BYTES: usize = 64 << 20;
const CONNECT: Duration = Duration::from_secs(20);
/// Longest silence of a server while it answers.
const SILENCE: Duration = Duration::from_secs(120);
/// Times that a request is made again.
const RETRIES: u32 = 5;
/// First wait before that; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait that a server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// How often a stop is looked for while waiting.
const TICK: Duration = Duration::from_millis(100);
const MOST_REDIRECTS: usize = 5;

pub(super) struct Client<'m> {
    url: Url,
    http: reqwest::Client,
    runtime: Runtime,
    pause: Duration,
    latest: Option<Instant>,
    monitor: &'m dyn Monitor,
    pub retries: u64,
    pub read_bytes: u64,
}

/// Why a request brought no page, and after what wait it can be made again.
struct Failed {
    reason: String,
    again: Option<Option<Duration>>,
}

impl<'m> Client<'m> {
    pub fn new(url: &str, pause: Duration, monitor: &'m dyn Monitor) -> Result<Self> {
        let wrong = |why: &str| {
            Error::usage(format!("`{}` is no address of a repository: {why}", lakeward_core::text::shown(url, 200)))
        };
        let url = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong("it does not begin with http:// or https://"));
        }
        let host = url.host_str().unwrap_or_default().to_string();
        let builder =
            lakeward_http::client(CONNECT, Some(&url)).read_timeout(SILENCE).redirect(Policy::custom(move |attempt| {
                // The server that was named, and no other.
                let same = attempt.url().host_str() == Some(&host) && attempt.previous().len() <= MOST_REDIRECTS;
                if same { attempt.follow() } else { attempt.stop() }
            }));
        let http = builder.build().map_err(|error| wrong(&innermost(&error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Self { url, http, runtime, pause, latest: None, monitor, retries: 0, read_bytes: 0 })
    }

    /// What the server answers to `asked`, whole.
    ///
    /// # Errors
    /// [`Error::Server`] where it does not answer, also not when asked again; [`Error::Interrupted`].
    pub fn page(&mut self, asked: &[(&str, &str)]) -> Result<(Vec<u8>, Page)> {
        let mut wait = FIRST_WAIT;
        for left in (0..=RETRIES).rev() {
            if let Some(latest) = self.latest {
                self.sleep(self.pause.saturating_sub(latest.elapsed()))?;
            }
            let answered = self.once(asked);
            self.latest = Some(Instant::now());
            let failed = match answered {
                Ok(bytes) => match Page::read(&bytes) {
                    Ok(page) => return Ok((bytes, page)),
                    // Cut on the way, or a page of maintenance.
                    Err(reason) => Failed { reason, again: Some(None) },
                },
                Err(failed) => failed,
            };
            if self.monitor.is_stopped() {
                return Err(Error::Interrupted);
            }
            match failed.again {
                Some(requested) if left > 0 => {
                    let pause = requested.unwrap_or(wait);
                    if pause > LONGEST_WAIT {
                        return Err(self.failed(format!("{}; it asks to wait {} s", failed.reason, pause.as_secs())));
                    }
                    self.retries += 1;
                    self.sleep(pause)?;
                    wait *= 2;
                }
                _ => return Err(self.failed(failed.reason)),
            }
        }
        Err(self.failed("it does not answer".to_string()))
    }

    /// The error that the server's answer cannot be used.
    pub fn failed(&self, reason: String) -> Error {
        Error::Server { url: self.url.to_string(), reason: lakeward_core::text::shown(&reason, 300).to_string() }
    }

    fn once(&mut self, asked: &[(&str, &str)]) -> std::result::Result<Vec<u8>, Failed> {
        let mut url = self.url.clone();
        url.query_pairs_mut().extend_pairs(asked);
        let (http, monitor) = (self.http.clone(), self.monitor);
        let reading = async move {
            let again = |error: &reqwest::Error| Failed { reason: innermost(error), again: Some(None) };
            let mut response = http.get(url).send().await.map_err(|error| again(&error))?;
            let status = response.status();
            if !status.is_success() {
                let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
                let requested = header.and_then(wait_of);
                let passes = status.is_server_error()
                    || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
                return Err(Failed { reason: format!("it answered {status}"), again: passes.then_some(requested) });
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(|error| again(&error))? {
                if body.len() + chunk.len() > MOST_BYTES {
                    let reason = format!("it answered with more than {} MB", MOST_BYTES >> 20);
                    return Err(Failed { reason, again: None });
                }
                body.extend_from_slice(&chunk);
            }
            Ok(body)
        };
        let stopped = async move {
            while !monitor.is_stopped() {
                tokio::time::sleep(TICK).await;
            }
        };
        let read = self.runtime.block_on(async {
            tokio::select! {
                read = reading => read,
                () = stopped => Err(Failed { reason: "interrupted".into(), again: None }),
            }
        })?;
        self.read_bytes += read.len() as u64;
        Ok(read)
    }

    fn sleep(&self, time: Duration) -> Result<()> {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if self.monitor.is_stopped() {
                return Err(Error::Interrupted);
            }
            std::thread::sleep(left.min(TICK));
        }
        Ok(())
    }
}
