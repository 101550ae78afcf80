//! How much memory the process held at most, where the system tells it (Linux).

use std::fs;

/// Forgets the most memory held so far, so that [`peak_bytes`] speaks of what follows. Where that is not allowed, it goes on
/// speaking of the whole process.
pub fn forget_peak() {
    // Nothing depends on it: without, the figure is an upper bound.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory resident at one time, in bytes.
pub fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}
