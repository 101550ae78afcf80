//! Threads for blocking work, with a bounded queue and deadlines.
//!
//! A piece of work that is late or whose caller has gone is asked to stop; it keeps its thread until it has, so that no more work
//! runs at once than there are threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::failure::Failure;
use super::jobs::{Job, JobState};
use lakeward_core::error::{Error, Result};

/// Pieces of work that may wait, for each thread.
const WAITING: usize = 32;

/// The request to stop a piece of work, and where it says what it is busy with.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Whether the caller no longer waits.
    left: Arc<AtomicBool>,
    /// The job that the work is part of.
    job: Option<Arc<Job>>,
}

impl Stop {
    /// Whether the work should stop.
    pub fn requested(&self) -> bool {
        self.left.load(Ordering::Relaxed) || self.job.as_ref().is_some_and(|job| job.is_cancelled())
    }

    /// Tells whoever watches the job what it is busy with, in some words.
    pub fn begin(&self, what: &'static str) {
        if let Some(job) = &self.job {
            job.tell(JobState::Running, Some(what));
        }
    }

    /// An error if the work should stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check(&self) -> Result<()> {
        if self.requested() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Requests the stop when the caller no longer waits.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.left.store(true, Ordering::Relaxed);
    }
}

/// The threads.
pub struct Workers {
    threads: usize,
    running: Arc<Semaphore>,
    /// Permits for all that runs or waits.
    places: Arc<Semaphore>,
}

impl Workers {
    /// At most `threads` pieces of work run at once.
    pub fn new(threads: usize) -> Self {
        let threads = threads.max(1);
        let places = threads * (1 + WAITING);
        Self { threads, running: Arc::new(Semaphore::new(threads)), places: Arc::new(Semaphore::new(places)) }
    }

    /// Pieces of work that run or wait.
    pub fn occupied(&self) -> usize {
        self.threads * (1 + WAITING) - self.places.available_permits()
    }

    /// The outcome of `work`.
    ///
    /// # Errors
    /// [`Failure::Busy`] if too much is waiting, [`Failure::Late`] if it is not done within `deadline`, and the error of `work`.
    pub async fn run<T: Send + 'static>(
        &self,
        deadline: Duration,
        work: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let end = Instant::now() + deadline;
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Failure::Busy)?;
        let stop = Stop { left: Arc::default(), job: Job::current() };
        let thread = tokio::select! {
            thread = timeout_at(end, Arc::clone(&self.running).acquire_owned()) => thread,
            () = Job::cancelled(stop.job.as_deref()) => return Err(Error::Interrupted.into()),
        };
        let thread = thread.map_err(|_| Failure::Late(deadline))?.map_err(|_| Failure::Busy)?;
        let _guard = StopOnDrop(stop.clone());
        let running = tokio::task::spawn_blocking(move || {
            let outcome = work(&stop);
            // The place first: who waits for the thread may look at the places at once.
            drop((place, thread));
            outcome
        });
        match timeout_at(end, running).await {
            Err(_) => Err(Failure::Late(deadline)),
            Ok(Ok(outcome)) => outcome.map_err(Failure::from),
            Ok(Err(panic)) => Err(Failure::from(Error::Internal(format!("the work ended early: {panic}")))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn work_that_is_late_is_stopped_and_keeps_its_thread_until_it_ends() {
        run(async {
            let workers = Workers::new(1);
            let wait = |stop: &Stop| {
                while !stop.requested() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            };
            let late = workers.run(Duration::from_millis(20), wait).await;
            assert!(matches!(late, Err(Failure::Late(_))), "{late:?}");
            assert_eq!(workers.run(Duration::from_secs(5), |_| Ok(7)).await.unwrap(), 7);
            assert_eq!(workers.occupied(), 0);
        });
    }

    #[test]
    fn a_full_queue_refuses_at_once() {
        run(async {
            let workers = Arc::new(Workers::new(1));
            let wait = |stop: &Stop| {
                while !stop.requested() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            };
            let tasks: Vec<_> = (0..=WAITING)
                .map(|_| {
                    let workers = Arc::clone(&workers);
                    tokio::spawn(async move { workers.run(Duration::from_millis(200), wait).await })
                })
                .collect();
            while workers.occupied() <= WAITING {
                tokio::task::yield_now().await;
            }
            assert!(matches!(workers.run(Duration::from_secs(5), |_| Ok(())).await, Err(Failure::Busy)));
            for task in tasks {
                assert!(task.await.unwrap().is_err());
            }
        });
    }

    #[test]
    fn a_panic_is_an_error() {
        let outcome = run(Workers::new(1).run(Duration::from_secs(5), |_| -> Result<()> { panic!("planned") }));
        assert!(matches!(outcome, Err(Failure::Lake(Error::Internal(_)))), "{outcome:?}");
    }
}
