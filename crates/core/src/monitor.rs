//! Progress of long work, and requests to stop it.
//!
//! Work reports to one [`Monitor`]. A stage begins with its name and, if known, its total; it advances, and lasts until the next one
//! begins. Work checks [`Monitor::is_stopped`] at points where it can stop and keep what is done. The idea is from conserve.

/// The total of a stage, counted by [`Monitor::advance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// Unknown.
    Unknown,
    /// This many steps.
    Steps(u64),
    /// This many files; progress is counted in bytes.
    Files {
        /// Number of files.
        files: u64,
        /// Their total size.
        bytes: u64,
    },
}

/// Watches long work and may request it to stop; called from several threads.
pub trait Monitor: Sync {
    /// Begins the stage `name` and ends the one before it.
    fn begin(&self, name: &str, total: Total);

    /// Adds `amount` to the stage's progress.
    fn advance(&self, amount: u64);

    /// Whether the work should stop as soon as it can.
    fn is_stopped(&self) -> bool;

    /// `what` has been written to disk. Tests kill the work here; progress bars ignore it.
    fn note(&self, _what: &str) {}
}

/// Shows nothing and never stops.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Monitor for Silent {
    fn begin(&self, _name: &str, _total: Total) {}
    fn advance(&self, _amount: u64) {}
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Shows nothing and stops when its function returns true.
#[derive(Debug, Clone, Copy)]
pub struct StopWhen<F>(pub F);

impl<F: Fn() -> bool + Sync> Monitor for StopWhen<F> {
    fn begin(&self, _name: &str, _total: Total) {}
    fn advance(&self, _amount: u64) {}
    fn is_stopped(&self) -> bool {
        (self.0)()
    }
}
