//! The thread that runs the agent, so that Ctrl-C can abandon it: its result is then discarded, and a new thread replaces it.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::cli::interrupt;
use lakeward::Lakeward;
use lakeward_agent::Agent;
use lakeward_core::error::{Error, Result};
use lakeward_models::embed::EmbedderExt;

/// How often the waiting caller checks for Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

type Job = Box<dyn FnOnce(&Agent) + Send>;

/// An agent on its own thread.
pub struct Worker {
    lakeward: Lakeward,
    jobs: Sender<Job>,
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`Error::Internal`] if the system cannot start a thread.
    pub fn start(lakeward: Lakeward) -> Result<Self> {
        let (jobs, receiver) = channel::<Job>();
        let lake = lakeward.clone();
        let spawned = std::thread::Builder::new().spawn(move || {
            let agent = lake.agent();
            for job in receiver {
                // A server that was down may be back.
                lake.embedder().retry();
                job(&agent);
            }
        });
        spawned.map_err(|error| Error::Internal(format!("the system cannot start a thread: {error}")))?;
        Ok(Self { lakeward, jobs })
    }

    /// Runs `work` and returns its result.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the user requested a stop; those of `work`.
    pub fn run<T: Send + 'static>(&mut self, work: impl FnOnce(&Agent) -> Result<T> + Send + 'static) -> Result<T> {
        let (sender, receiver) = channel();
        let job: Job = Box::new(move |agent| {
            // Fails if the caller was interrupted and no longer waits.
            let _ = sender.send(work(agent));
        });
        // If the thread has ended, the job is dropped, which `recv_timeout` below reports.
        let _ = self.jobs.send(job);
        let error = loop {
            match receiver.recv_timeout(POLL_INTERVAL) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if interrupt::requested() => break Error::Interrupted,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    break Error::Internal("the worker thread ended unexpectedly".into());
                }
            }
        };
        *self = Self::start(self.lakeward.clone())?;
        Err(error)
    }
}
