//! The cost of a command, for `--timing`: time, and memory where the system reports it (Linux).

use std::fs;
use std::time::Instant;

use super::printer;

/// Prints to stderr the time since `started` that `what` took.
pub fn step(what: &str, started: Instant) {
    printer::narrate(&format!("{what} in {:.1} ms", started.elapsed().as_secs_f64() * 1000.0));
}

/// Prints to stderr the memory use of the process.
pub fn memory() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let parts = (kilobytes("VmHWM"), kilobytes("RssAnon"), kilobytes("RssFile"));
    if let (Some(peak), Some(private), Some(mapped)) = parts {
        printer::narrate(&format!(
            "peak memory {}; now {} private and {} mapped from files, which the system can reclaim",
            printer::bytes(peak << 10),
            printer::bytes(private << 10),
            printer::bytes(mapped << 10)
        ));
    }
}
