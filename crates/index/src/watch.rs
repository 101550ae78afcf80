//! Keeps an index up to date: updates it whenever the files of the lake change.
//!
//! The operating system reports changes (`notify`); if it cannot, because the lake is too large for its watches, the lake is polled every
//! half minute. Changes come in bursts, so an update waits for a quiet moment. A report only triggers the update, which compares every file
//! with the index. Some file systems report nothing (such as network mounts), so an update also runs every ten minutes in any case.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};

use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;
use lakeward_lake::storage::Address;

/// A burst of changes ends after this long without one.
const QUIET: Duration = Duration::from_millis(300);
/// Maximum wait for the end of a burst.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How often to check whether to stop.
const HEARTBEAT: Duration = Duration::from_millis(200);
/// Interval of updates without a reported change.
const REFRESH_INTERVAL: Duration = Duration::from_secs(600);
/// Polling interval if changes are not reported.
const POLLING: Duration = Duration::from_secs(30);

/// Calls `update` once, and again after every change below `lake`, until it fails or `monitor` stops it. Hidden files and files in `index`,
/// the folder of the index, do not count as changes.
///
/// # Errors
/// Errors of `update`, and [`Error::Io`] if the lake cannot be watched at all.
pub fn watch(lake: &Path, index: &Path, monitor: &dyn Monitor, mut update: impl FnMut() -> Result<()>) -> Result<()> {
    if Address::is(lake) {
        let reason =
            format!("`{}` does not report changes; run `lakeward index` again when there are some", lake.display());
        return Err(Error::usage(reason));
    }
    // Events contain canonical paths.
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let lake = real(lake);
    let (sender, receiver) = mpsc::channel();
    let _watcher = watcher(&lake, sender)?;
    update()?;
    let mut changes = Changes { lake, index: real(index), receiver };
    while changes.wait(monitor) {
        update()?;
    }
    Ok(())
}

/// A watcher of all of `lake`; it stops when dropped.
fn watcher(lake: &Path, sender: Sender<notify::Result<Event>>) -> Result<Box<dyn Watcher>> {
    let native = RecommendedWatcher::new(sender.clone(), Config::default()).and_then(|mut watcher| {
        watcher.watch(lake, RecursiveMode::Recursive)?;
        Ok(watcher)
    });
    if let Ok(watcher) = native {
        return Ok(Box::new(watcher));
    }
    let failed = |error: notify::Error| Error::io("watch", lake, std::io::Error::other(error.to_string()));
    let config = Config::default().with_poll_interval(POLLING);
    let mut watcher = PollWatcher::new(sender, config).map_err(failed)?;
    watcher.watch(lake, RecursiveMode::Recursive).map_err(failed)?;
    Ok(Box::new(watcher))
}

struct Changes {
    lake: PathBuf,
    index: PathBuf,
    receiver: Receiver<notify::Result<Event>>,
}

impl Changes {
    /// Waits for a burst of changes and its end; `false` if it is time to stop.
    fn wait(&mut self, monitor: &dyn Monitor) -> bool {
        let refresh_time = Instant::now() + REFRESH_INTERVAL;
        let mut burst: Option<Instant> = None;
        loop {
            if monitor.is_stopped() {
                return false;
            }
            if burst.is_some_and(|began| began.elapsed() > LONGEST_WAIT) || Instant::now() > refresh_time {
                return true;
            }
            match self.receiver.recv_timeout(if burst.is_some() { QUIET } else { HEARTBEAT }) {
                Ok(event) if self.is_relevant(&event) => _ = burst.get_or_insert_with(Instant::now),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if burst.is_some() => return true,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(HEARTBEAT),
            }
        }
    }

    fn is_relevant(&self, event: &notify::Result<Event>) -> bool {
        // After an error the watcher may have missed something.
        let Ok(event) = event else { return true };
        if event.need_rescan() {
            return true;
        }
        let reading = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
        !reading && event.paths.iter().any(|path| !self.is_hidden(path))
    }

    fn is_hidden(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.lake).unwrap_or(path);
        path.starts_with(&self.index)
            || below.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicU32, Ordering};

    use lakeward_core::monitor::StopWhen;

    use super::*;

    /// The lake changes once; changes of the index and of hidden files cause no update.
    #[test]
    fn a_change_brings_one_update_and_the_index_none() {
        let lake = tempfile::tempdir().unwrap();
        let index = lake.path().join(".lakeward");
        fs::create_dir(&index).unwrap();
        let updates = AtomicU32::new(0);
        let started = Instant::now();
        let stop = StopWhen(|| updates.load(Ordering::Relaxed) >= 2 || started.elapsed() > Duration::from_secs(20));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while updates.load(Ordering::Relaxed) == 0 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                for round in 0..10 {
                    fs::write(index.join("manifest.json"), round.to_string()).unwrap();
                    fs::write(lake.path().join(".hidden"), round.to_string()).unwrap();
                }
                std::thread::sleep(QUIET * 3);
                assert_eq!(updates.load(Ordering::Relaxed), 1, "an update without a change");
                for round in 0..10 {
                    fs::write(lake.path().join("table.csv"), format!("a,b\n{round},1\n")).unwrap();
                }
            });
            let update = || {
                updates.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            watch(lake.path(), &index, &stop, update).unwrap();
        });
        assert_eq!(updates.load(Ordering::Relaxed), 2);
    }
}
