//! Long work that a client need not wait for: it is told a number at once, watches what happens, and fetches the answer or cancels.
//!
//! A [`Job`] keeps all that happened, each event with a number, so that whoever lost the connection goes on where they were. Work finds the
//! job it is part of in its task, not in its parameters: every request can be a job.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{Notify, watch};

use super::random_id::random_id;
use lakeward_core::error::Result;

/// Jobs at once; an answer that nobody fetched counts until it is [`KEPT`] no more.
const MOST_JOBS: usize = 200;
/// How long an answer is kept.
const KEPT: Duration = Duration::from_secs(600);

tokio::task_local! {
    static CURRENT: Arc<Job>;
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It has begun, or waits for a thread.
    Waiting,
    /// It is worked on.
    Running,
    /// There is an answer.
    Done,
    /// There is an error.
    Failed,
    /// It was cancelled before it could change anything.
    Cancelled,
}

impl JobState {
    /// The name of its events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more happens.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// Something that happened to a job.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct JobEvent {
    /// From 1.
    pub number: usize,
    /// Where the job stands since.
    pub state: JobState,
    /// Milliseconds after its begin.
    pub elapsed_ms: f64,
    /// What it is busy with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<&'static str>,
    /// The HTTP status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The page that the answer leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// What is known of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobDocument {
    /// Its id.
    pub job: String,
    /// All that happened, oldest first.
    pub events: Vec<JobEvent>,
}

/// An answer that was not sent yet.
pub type Kept = (axum::http::StatusCode, axum::http::HeaderMap, axum::body::Bytes);

#[derive(Debug)]
pub struct Job {
    /// Its id, which nobody can guess.
    pub id: String,
    owner: Option<Arc<str>>,
    began: Instant,
    cancelled: AtomicBool,
    cancel: Notify,
    events: watch::Sender<Vec<JobEvent>>,
    answer: Mutex<Option<(Instant, Kept)>>,
}

impl Job {
    /// The job that this task is part of.
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Runs `work` as part of this job.
    pub async fn scope<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self, work).await
    }

    /// Whether it is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Asks it to stop; what has changed something already is finished.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.cancel.notify_one();
    }

    /// Ends when `job` is cancelled; never without one.
    pub async fn cancelled(job: Option<&Self>) {
        match job {
            Some(job) if !job.is_cancelled() => job.cancel.notified().await,
            Some(_) => {}
            None => std::future::pending().await,
        }
    }

    /// Adds an event, unless it repeats the one before.
    pub fn tell(&self, state: JobState, what: Option<&'static str>) {
        self.add(|number, elapsed_ms| JobEvent { number, state, elapsed_ms, what, status: None, location: None });
    }

    fn add(&self, event: impl FnOnce(usize, f64) -> JobEvent) {
        self.events.send_if_modified(|events| {
            let event = event(events.len() + 1, self.began.elapsed().as_secs_f64() * 1000.0);
            let is_new = events
                .last()
                .is_none_or(|last| !last.state.is_end() && (last.state, last.what) != (event.state, event.what));
            if is_new {
                events.push(event);
            }
            is_new
        });
    }

    /// Keeps the answer, which ends the job.
    pub fn finish(&self, answer: Kept) {
        let (status, location) = (answer.0, answer.1.get(axum::http::header::LOCATION));
        let location = location.and_then(|value| value.to_str().ok()).map(str::to_string);
        let state = match status {
            status if status.as_u16() < 400 => JobState::Done,
            _ if self.is_cancelled() => JobState::Cancelled,
            _ => JobState::Failed,
        };
        *lock(&self.answer) = Some((Instant::now(), answer));
        let status = Some(status.as_u16());
        self.add(|number, elapsed_ms| JobEvent { number, state, elapsed_ms, what: None, status, location });
    }

    /// The answer, once there is one.
    pub fn answer(&self) -> Option<Kept> {
        lock(&self.answer).as_ref().map(|(_, answer)| answer.clone())
    }

    /// All that happened, and whatever comes.
    pub fn events(&self) -> watch::Receiver<Vec<JobEvent>> {
        self.events.subscribe()
    }

    pub fn document(&self) -> JobDocument {
        JobDocument { job: self.id.clone(), events: self.events.borrow().clone() }
    }

    fn is_over(&self) -> bool {
        lock(&self.answer).as_ref().is_some_and(|(since, _)| since.elapsed() > KEPT)
    }
}

#[derive(Debug, Default)]
pub struct Jobs(Mutex<HashMap<String, Arc<Job>>>);

impl Jobs {
    /// A new job of `owner`; `None` if there are too many.
    ///
    /// # Errors
    /// [`lakeward_core::error::Error::Internal`] if the system gives no random numbers.
    pub fn begin(&self, owner: Option<Arc<str>>) -> Result<Option<Arc<Job>>> {
        let mut jobs = lock(&self.0);
        jobs.retain(|_, job| !job.is_over());
        if jobs.len() >= MOST_JOBS {
            return Ok(None);
        }
        let id = random_id::<16>()?;
        let job = Arc::new(Job {
            id: id.clone(),
            owner,
            began: Instant::now(),
            cancelled: AtomicBool::new(false),
            cancel: Notify::new(),
            events: watch::Sender::new(Vec::new()),
            answer: Mutex::default(),
        });
        job.tell(JobState::Waiting, None);
        jobs.insert(id, Arc::clone(&job));
        Ok(Some(job))
    }

    /// The job `id`, if it is one of `owner`.
    pub fn of(&self, owner: Option<&str>, id: &str) -> Option<Arc<Job>> {
        lock(&self.0).get(id).filter(|job| job.owner.as_deref() == owner && !job.is_over()).cloned()
    }

    /// Asks all to stop.
    pub fn cancel(&self) {
        lock(&self.0).values().for_each(|job| job.cancel());
    }

    /// How many are not over.
    pub fn running(&self) -> usize {
        lock(&self.0).values().filter(|job| lock(&job.answer).is_none()).count()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held cannot have left half a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
