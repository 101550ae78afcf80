//! Building an index beside Python: told how far it is, ended by Ctrl-C.
//!
//! A build that is asked to stop commits what it has read, which can take longer than whoever pressed Ctrl-C waits: the call
//! raises at once, and the next build of the same index waits for the commit.

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

/// What the build is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wishes {
    rebuild: bool,
    repair: bool,
    records: Option<PathBuf>,
    sample_rows: Option<u64>,
}

/// Builds or updates an index and opens it: the lake and what was done. `progress` is called now and then with the files to
/// read, their bytes, the bytes read and what is being done; what it raises ends the build.
#[pyfunction]
pub fn build(
    py: Python<'_>,
    path: PathBuf,
    index: Option<PathBuf>,
    wishes: Wishes,
    model: ModelChoice,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Lake, Found)> {
    let Wishes { rebuild, repair, records, sample_rows } = wishes;
    let options = BuildOptions { rebuild, repair, records, sample_rows };
    let seen = Arc::new(Progress::default());
    let told = Arc::clone(&seen);
    let work = move |stop: &Stop| {
        let place = place(Some(&path), index.as_deref())?;
        let _turn = Turn::take(&place.index, stop)?;
        let monitor = Listener { progress: &told, stop };
        let (lakeward, stats) = Lakeward::build(place, &options, &monitor)?;
        if stop.asked() {
            return Err(Error::Interrupted);
        }
        Ok((model.given_to(lakeward)?, Answer::new(to_string(&stats), None)?))
    };
    let tick = |py: Python<'_>| match &progress {
        Some(progress) => progress.call1(py, seen.values()).map(drop),
        None => Ok(()),
    };
    let (lakeward, answer) = work::run_with(py, work, tick)?;
    Ok((Lake::new(lakeward), answer.into_found(py)?))
}

/// How far a build is.
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

struct Listener<'a> {
    progress: &'a Progress,
    stop: &'a Stop,
}

impl Monitor for Listener<'_> {
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
        self.stop.asked()
    }
}

/// Index folders that this process is writing.
static WRITTEN: LazyLock<(Mutex<HashSet<PathBuf>>, Condvar)> = LazyLock::new(Default::default);

/// The right to write an index, among the threads of this process.
struct Turn(PathBuf);

impl Turn {
    /// Waits until no other thread writes the index in `folder`.
    fn take(folder: &Path, stop: &Stop) -> Result<Self> {
        let folder = std::path::absolute(folder).map_err(|error| Error::io("read", folder, error))?;
        let (written, changed) = &*WRITTEN;
        let mut guard = written.lock().unwrap_or_else(PoisonError::into_inner);
        while !guard.insert(folder.clone()) {
            if stop.asked() {
                return Err(Error::Interrupted);
            }
            guard = changed.wait_timeout(guard, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(Self(folder))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (written, changed) = &*WRITTEN;
        written.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        changed.notify_all();
    }
}
