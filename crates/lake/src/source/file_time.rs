//! Times of files: when one last changed, and whether that time will tell a change to come.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The later of the times at which the content and the attributes were changed: a file that replaces another (`cp -p`,
/// `rsync -t`, `mv`) keeps its older modification time, never its change time. Nanoseconds since 1970; 0 when unknown.
pub fn time_of_change(meta: &fs::Metadata) -> u64 {
    let written = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let written_ns = written.and_then(|age| u64::try_from(age.as_nanos()).ok()).unwrap_or(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let changed_ns = meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec());
        written_ns.max(u64::try_from(changed_ns).unwrap_or(0))
    }
    #[cfg(not(unix))]
    written_ns
}

/// Modification times closer than this to the time of reading are not trusted: file system clocks tick, some every 10 ms, and a file written
/// twice within one tick keeps its time.
const TICK_NS: u64 = 100_000_000;

/// The modification time to store for a file that is about to be read: 0 if the file could change again without a new time, so that the
/// next update checks the content. (Git calls such files racy.)
pub fn settled_time(modified_ns: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos());
    let now = u64::try_from(now).unwrap_or(u64::MAX);
    if modified_ns.saturating_add(TICK_NS) >= now { 0 } else { modified_ns }
}
