//! Long work beside Python: on a thread of its own with the GIL released, while the calling thread listens for Ctrl-C.
//!
//! Python hears a signal only where its main thread runs Python. So the caller wakes every [`TICK`], lets Python handle what
//! came, and leaves at once when that raises; the thread goes on unheard until it sees [`Stop::asked`]. What it would write
//! at its end it must ask for first ([`Stop::begin_writing`]): a call that raised leaves nothing behind.

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
const ASKED: u8 = 1;
const WRITING: u8 = 2;

/// Whether the caller still waits for the work. Cheap to clone; clones speak of the same work.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Whether the caller has left.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Acquire) == ASKED
    }

    /// Whether what was worked out may be written: not when the caller has left. From now on it can leave only when the work
    /// has ended.
    pub fn begin_writing(&self) -> bool {
        self.0.compare_exchange(RUNNING, WRITING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Asks the work to end; says whether the caller may leave.
    fn ask(&self) -> bool {
        self.0.compare_exchange(RUNNING, ASKED, Ordering::AcqRel, Ordering::Acquire) != Err(WRITING)
    }
}

/// The outcome of `work`.
///
/// # Errors
/// What `work` fails with, as a Python exception; what a signal's handler raises, such as `KeyboardInterrupt`.
pub fn run<T: Send + 'static>(py: Python<'_>, work: impl FnOnce(&Stop) -> Result<T> + Send + 'static) -> PyResult<T> {
    run_with(py, work, |_| Ok(()))
}

/// [`run`], with a call of `tick` every [`TICK`]; what it raises ends the work too.
///
/// # Errors
/// Those of [`run`] and of `tick`.
pub fn run_with<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let stop = Stop::default();
    let seen = stop.clone();
    let (sender, mut receiver) = sync_channel(1);
    let thread = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&seen)));
        // Nobody hears it when the caller has left.
        let _ = sender.send(outcome);
    };
    std::thread::Builder::new()
        .name("lakeward".into())
        .spawn(thread)
        .map_err(|error| exception(py, &Error::Internal(format!("the system gives no thread: {error}"))))?;
    let mut raised: Option<PyErr> = None;
    loop {
        let (back, outcome) = py.detach(move || {
            let outcome = receiver.recv_timeout(TICK);
            (receiver, outcome)
        });
        receiver = back;
        match outcome {
            Ok(outcome) => {
                // A signal that came while something was written is not lost.
                if let Some(raised) = raised {
                    return Err(raised);
                }
                return ended(outcome).map_err(|error| exception(py, &error));
            }
            Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| tick(py)) {
                    if stop.ask() {
                        return Err(error);
                    }
                    raised = Some(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(exception(py, &Error::Internal("a thread ended without a word".into())));
            }
        }
    }
}

fn ended<T>(outcome: std::thread::Result<Result<T>>) -> Result<T> {
    outcome.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<&str>().map(|words| words.to_string());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error::Internal(words.unwrap_or_else(|| "a thread panicked".into())))
    })
}
