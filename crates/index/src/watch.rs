//! Keeping an index fresh: updates it whenever the files of the lake change.
//!
//! The operating system reports changes (`notify`); where it cannot, because the lake is too large for its watches, the lake
//! is looked through every half minute. Changes come in bursts, so an update waits until there is quiet for a moment. What was
//! reported is only the reason to look: the update itself compares every file with the index. Some file systems report
//! nothing (network mounts among them), so an update also comes every ten minutes whatever was heard.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};

use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::Monitor;

/// Quiet after which a burst of changes is over.
const QUIET: Duration = Duration::from_millis(300);
/// A burst is not waited out for longer.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How often it is asked whether to stop.
const HEARTBEAT: Duration = Duration::from_millis(200);
/// Updates without a reported change.
const UNASKED: Duration = Duration::from_secs(600);
/// How often the lake is looked through where changes are not reported.
const POLLING: Duration = Duration::from_secs(30);

/// Calls `update` once, and again after every change below `lake`, until it fails or `monitor` says to stop. Hidden files and
/// what lies in `index`, the folder of the index, are no changes.
///
/// # Errors
/// What `update` returns, and [`Error::Io`] when the lake cannot be watched at all.
pub fn watch(lake: &Path, index: &Path, monitor: &dyn Monitor, mut update: impl FnMut() -> Result<()>) -> Result<()> {
    // Events come with real paths.
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

/// A watcher of all of `lake`, alive as long as the value.
fn watcher(lake: &Path, sender: Sender<notify::Result<Event>>) -> Result<Box<dyn Watcher>> {
    let told = RecommendedWatcher::new(sender.clone(), Config::default()).and_then(|mut watcher| {
        watcher.watch(lake, RecursiveMode::Recursive)?;
        Ok(watcher)
    });
    if let Ok(watcher) = told {
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
    /// Waits for a burst of changes and its end; `false` when it is time to stop.
    fn wait(&mut self, monitor: &dyn Monitor) -> bool {
        let unasked = Instant::now() + UNASKED;
        let mut burst: Option<Instant> = None;
        loop {
            if monitor.is_stopped() {
                return false;
            }
            if burst.is_some_and(|began| began.elapsed() > LONGEST_WAIT) || Instant::now() > unasked {
                return true;
            }
            match self.receiver.recv_timeout(if burst.is_some() { QUIET } else { HEARTBEAT }) {
                Ok(event) if self.matters(&event) => _ = burst.get_or_insert_with(Instant::now),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if burst.is_some() => return true,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(HEARTBEAT),
            }
        }
    }

    fn matters(&self, event: &notify::Result<Event>) -> bool {
        // A watcher in trouble may have missed something.
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

    /// The lake changes once; the index changes and hidden files come and go without an update.
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
