//! Peak memory of the process, if the operating system reports it (Linux).

use std::fs;

/// Resets the peak, so that [`peak_bytes`] covers only what follows. If that is not permitted, it keeps covering the whole
/// process.
pub fn forget_peak() {
    // Failure is harmless: the figure is then an upper bound.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Peak resident memory, in bytes.
pub fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}
