//! What a command cost, for `--timing`: time, and memory where the system tells (Linux).

use std::fs;
use std::time::Instant;

use super::printer;

/// Says on stderr how long it took since `started` to do `what`.
pub fn step(what: &str, started: Instant) {
    printer::narrate(&format!("{what} in {:.1} ms", started.elapsed().as_secs_f64() * 1000.0));
}

/// Says on stderr how much memory the process holds.
pub fn memory() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let parts = (kilobytes("VmHWM"), kilobytes("RssAnon"), kilobytes("RssFile"));
    if let (Some(peak), Some(own), Some(mapped)) = parts {
        printer::narrate(&format!(
            "{} resident at most; now {} own and {} mapped from files, which the system takes back when it needs to",
            printer::bytes(peak << 10),
            printer::bytes(own << 10),
            printer::bytes(mapped << 10)
        ));
    }
}
