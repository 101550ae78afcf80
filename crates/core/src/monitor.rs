//! Long work and whoever watches it: what a progress bar shows, and the wish to stop.
//!
//! Work reports to one [`Monitor`]. A stage begins with its name and, where it is known, its total; it advances, and lasts until the
//! next one begins. Work asks [`Monitor::is_stopped`] at places where it can stop and keep what is done. The idea is conserve's.

/// What a stage has to do, and what [`Monitor::advance`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// Nobody knows.
    Unknown,
    /// So many steps.
    Steps(u64),
    /// So many files; progress is counted in their bytes.
    Files {
        /// How many.
        files: u64,
        /// Their length together.
        bytes: u64,
    },
}

/// Watches long work and may ask it to stop; called from several threads.
pub trait Monitor: Sync {
    /// The stage called `name` begins, and the one before it is over.
    fn begin(&self, name: &str, total: Total);

    /// So much more of the stage's total is done.
    fn advance(&self, amount: u64);

    /// Whether the work is to stop as soon as it can.
    fn is_stopped(&self) -> bool;

    /// `what` has been written to the disk. Tests kill the work here; a progress bar has no use for it.
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

/// Shows nothing and stops when its function says so.
#[derive(Debug, Clone, Copy)]
pub struct StopWhen<F>(pub F);

impl<F: Fn() -> bool + Sync> Monitor for StopWhen<F> {
    fn begin(&self, _name: &str, _total: Total) {}
    fn advance(&self, _amount: u64) {}
    fn is_stopped(&self) -> bool {
        (self.0)()
    }
}
