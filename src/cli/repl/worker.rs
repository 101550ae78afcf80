//! The thread that the agent works on, so that Ctrl-C can leave it alone: then what it does ends unheard, nothing of it is
//! kept, and another thread takes its place.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::cli::interrupt;
use lakeward::Lakeward;
use lakeward_agent::Agent;
use lakeward_core::error::{Error, Result};
use lakeward_models::embed::EmbedderExt;

/// How often whoever waits looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(20);

type Job = Box<dyn FnOnce(&Agent) + Send>;

/// An agent on a thread of its own.
pub struct Worker {
    lakeward: Lakeward,
    jobs: Sender<Job>,
}

impl Worker {
    /// An agent that waits for work.
    ///
    /// # Errors
    /// [`Error::Internal`] when the system gives no thread.
    pub fn start(lakeward: Lakeward) -> Result<Self> {
        let (jobs, receiver) = channel::<Job>();
        let own = lakeward.clone();
        let spawned = std::thread::Builder::new().spawn(move || {
            let agent = own.agent();
            for job in receiver {
                // A server that was down may be back.
                own.embedder().retry();
                job(&agent);
            }
        });
        spawned.map_err(|error| Error::Internal(format!("the system gives no thread: {error}")))?;
        Ok(Self { lakeward, jobs })
    }

    /// What `work` comes to.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the user asked to stop; those of `work`.
    pub fn carry_out<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Agent) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = channel();
        let job: Job = Box::new(move |agent| {
            // Nobody waits any more where it was interrupted.
            let _ = sender.send(work(agent));
        });
        // A thread that is gone drops the job, which is seen below.
        let _ = self.jobs.send(job);
        let error = loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if interrupt::asked() => break Error::Interrupted,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Error::Internal("the turn broke off".into()),
            }
        };
        *self = Self::start(self.lakeward.clone())?;
        Err(error)
    }
}
