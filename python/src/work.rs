//! Long work for Python: on its own thread with the GIL released, while the calling thread checks for Ctrl-C.
//!
//! Python handles a signal only while its main thread runs Python code. So the caller wakes every [`TICK`], lets Python handle
//! signals, and returns at once if that raises; the thread runs on until it sees [`Stop::requested`], and its result is
//! discarded. Before it writes, it must call [`Stop::begin_writing`], so that a call that raised has no effect.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use lakeward_core::Error;

use lakeward_core::Result;
use pyo3::prelude::*;

use crate::errors::exception;

/// How often Python gets to handle signals.
pub const TICK: Duration = Duration::from_millis(50);

const RUNNING: u8 = 0;
const REQUESTED: u8 = 1;
const WRITING: u8 = 2;

/// The state of the work: running, requested to stop, or writing. Cheap to clone; clones share the state.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Whether the caller has requested a stop and returned.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Acquire) == REQUESTED
    }

    /// Whether the result may be written: not if the caller has returned. From now on the caller can return only after the
    /// work has ended.
    pub fn begin_writing(&self) -> bool {
        self.0.compare_exchange(RUNNING, WRITING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Requests a stop; returns whether the caller may return before the work has ended.
    fn request(&self) -> bool {
        self.0.compare_exchange(RUNNING, REQUESTED, Ordering::AcqRel, Ordering::Acquire) != Err(WRITING)
    }
}

/// Runs `work` and returns its result.
///
/// # Errors
/// The error of `work` as a Python exception; the exception of a signal handler, such as `KeyboardInterrupt`.
pub fn run<T: Send + 'static>(py: Python<'_>, work: impl FnOnce(&Stop) -> Result<T> + Send + 'static) -> PyResult<T> {
    run_with(py, work, |_| Ok(()))
}

/// [`run`], with a call of `tick` every [`TICK`]; an exception from it also ends the work.
///
/// # Errors
/// Those of [`run`] and of `tick`.
pub fn run_with<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let stop = Stop::default();
    let thread_stop = stop.clone();
    let (sender, mut receiver) = sync_channel(1);
    let thread = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&thread_stop)));
        // Fails if the caller has returned.
        let _ = sender.send(outcome);
    };
    std::thread::Builder::new()
        .name("lakeward".into())
        .spawn(thread)
        .map_err(|error| exception(py, &Error::Internal(format!("the system cannot start a thread: {error}"))))?;
    let mut raised: Option<PyErr> = None;
    loop {
        let (returned, outcome) = py.detach(move || {
            let outcome = receiver.recv_timeout(TICK);
            (receiver, outcome)
        });
        receiver = returned;
        match outcome {
            Ok(outcome) => {
                // Raise the exception of a signal that arrived during the writing.
                if let Some(raised) = raised {
                    return Err(raised);
                }
                return ended(outcome).map_err(|error| exception(py, &error));
            }
            Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| tick(py)) {
                    if stop.request() {
                        return Err(error);
                    }
                    raised = Some(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(exception(py, &Error::Internal("a thread ended without a result".into())));
            }
        }
    }
}

fn ended<T>(outcome: std::thread::Result<Result<T>>) -> Result<T> {
    outcome.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(|message| message.to_string());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error::Internal(message.unwrap_or_else(|| "a thread panicked".into())))
    })
}
