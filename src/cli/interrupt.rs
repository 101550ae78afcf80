//! Ctrl-C: the first requests a stop at the next safe point, the second ends the process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use lakeward_core::error::{Error, Result};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static INSTALLED: Once = Once::new();

/// Installs the Ctrl-C handler; further calls do nothing.
pub fn listen() -> Result<()> {
    let mut outcome = Ok(());
    INSTALLED.call_once(|| {
        outcome = ctrlc::set_handler(|| {
            if REQUESTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
    outcome.map_err(|error| Error::Internal(error.to_string()))
}

/// Clears the request to stop, once the work has stopped.
pub fn clear() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// Whether the user has requested a stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
