//! Ctrl-C: the first asks the work to stop at the next safe place, the second ends the process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use lakeward_core::error::{Error, Result};

static ASKED: AtomicBool = AtomicBool::new(false);
static INSTALLED: Once = Once::new();

/// From now on the first Ctrl-C is remembered; further calls change nothing.
pub fn listen() -> Result<()> {
    let mut outcome = Ok(());
    INSTALLED.call_once(|| {
        outcome = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
    outcome.map_err(|error| Error::Internal(error.to_string()))
}

/// Forgets that the user asked to stop: what was asked to stop has stopped.
pub fn clear() {
    ASKED.store(false, Ordering::Relaxed);
}

/// Whether the user asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
