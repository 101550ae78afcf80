//! Building an index from Python: with progress, and stopped by Ctrl-C.
//!
//! A stopped build commits what it has read, which can take longer than the user wants to wait: the call raises at once, and
//! the next build of the same index waits for the commit.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};

use lakeward::Lakeward;
use lakeward_core::Error;
use lakeward_core::Result;
use lakeward_core::monitor::{Monitor, Total};
use lakeward_index::build::BuildOptions;
use pyo3::prelude::*;
use serde_json::to_string;

use crate::found::{Answer, Found};
use crate::lake::{Lake, ModelChoice, place};
use crate::work::{self, Stop, TICK};

/// The arguments of a build.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct BuildArguments {
    rebuild: bool,
    repair: bool,
    records: Option<PathBuf>,
    sample_rows: Option<u64>,
}

/// Builds or updates an index and opens it; returns the lake and the build's statistics. `progress` is called regularly with
/// the number of files to read, their bytes, the bytes read and the phase; an exception from it ends the build.
#[pyfunction]
pub fn build(
    py: Python<'_>,
    path: PathBuf,
    index: Option<PathBuf>,
    arguments: BuildArguments,
    model: ModelChoice,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Lake, Found)> {
    let BuildArguments { rebuild, repair, records, sample_rows } = arguments;
    let options = BuildOptions { rebuild, repair, records, sample_rows, ..BuildOptions::default() };
    let state = Arc::new(Progress::default());
    let reported = Arc::clone(&state);
    let work = move |stop: &Stop| {
        let place = place(Some(&path), index.as_deref())?;
        let _permit = WritePermit::acquire(&place.index, stop)?;
        let monitor = ProgressMonitor { progress: &reported, stop };
        let (lakeward, stats) = Lakeward::build(place, &options, &monitor)?;
        if stop.requested() {
            return Err(Error::Interrupted);
        }
        Ok((model.apply_to(lakeward)?, Answer::new(to_string(&stats), None)?))
    };
    let tick = |py: Python<'_>| match &progress {
        Some(progress) => progress.call1(py, state.values()).map(drop),
        None => Ok(()),
    };
    let (lakeward, answer) = work::run_with(py, work, tick)?;
    Ok((Lake::new(lakeward), answer.into_found(py)?))
}

/// The progress of a build.
#[derive(Default)]
struct Progress {
    files: AtomicU64,
    total_bytes: AtomicU64,
    read_bytes: AtomicU64,
    phase: Mutex<String>,
}

impl Progress {
    fn values(&self) -> (u64, u64, u64, String) {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let number = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (number(&self.files), number(&self.total_bytes), number(&self.read_bytes), phase)
    }

    fn set_phase(&self, phase: &str) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase.to_string();
    }
}

struct ProgressMonitor<'a> {
    progress: &'a Progress,
    stop: &'a Stop,
}

impl Monitor for ProgressMonitor<'_> {
    fn begin(&self, name: &str, total: Total) {
        if let Total::Files { files, bytes } = total {
            self.progress.files.store(files, Ordering::Relaxed);
            self.progress.total_bytes.store(bytes, Ordering::Relaxed);
        }
        self.progress.set_phase(name);
    }

    fn advance(&self, amount: u64) {
        self.progress.read_bytes.fetch_add(amount, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stop.requested()
    }
}

/// Index folders that this process is writing.
static WRITTEN: LazyLock<(Mutex<HashSet<PathBuf>>, Condvar)> = LazyLock::new(Default::default);

/// The right of one thread of this process to write an index.
struct WritePermit(PathBuf);

impl WritePermit {
    /// Waits until no other thread writes the index in `folder`.
    fn acquire(folder: &Path, stop: &Stop) -> Result<Self> {
        let folder = std::path::absolute(folder).map_err(|error| Error::io("read", folder, error))?;
        let (written, changed) = &*WRITTEN;
        let mut guard = written.lock().unwrap_or_else(PoisonError::into_inner);
        while !guard.insert(folder.clone()) {
            if stop.requested() {
                return Err(Error::Interrupted);
            }
            guard = changed.wait_timeout(guard, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(Self(folder))
    }
}

impl Drop for WritePermit {
    fn drop(&mut self) {
        let (written, changed) = &*WRITTEN;
        written.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        changed.notify_all();
    }
}
