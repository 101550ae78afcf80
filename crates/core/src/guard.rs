//! Turns panics of other crates on hostile bytes into values.
//!
//! Decoders may panic on damaged files instead of returning an error. [`guarded`] catches the panic; [`quiet_hook`] keeps its standard
//! message off the user's terminal.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

thread_local! {
    /// Number of guards that the current thread is inside.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The guarded work panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

/// Runs `work`; a panic is returned as [`Panicked`]. Do not use what `work` was changing after that.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    outcome.map_err(|_| Panicked)
}

/// After this call, panics inside [`guarded`] print nothing; others print as before. For binaries; call once.
pub fn quiet_hook() {
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        if DEPTH.get() == 0 {
            before(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_value_and_the_thread_goes_on() {
        assert_eq!(guarded(|| 1), Ok(1));
        let empty: Vec<u8> = Vec::new();
        assert_eq!(guarded(|| empty[std::hint::black_box(3)]), Err(Panicked));
        assert_eq!(DEPTH.get(), 0);
    }
}
