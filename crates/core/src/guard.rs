//! Panics of other crates on hostile bytes, turned into values.
//!
//! Decoders of damaged files may panic where they should return an error. [`guarded`] runs them so that the panic ends there;
//! [`quiet_hook`] keeps the standard message of such an expected panic off the user's terminal.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

thread_local! {
    /// How many guards the current thread is inside of.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The guarded work panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

/// Runs `work`; its panic becomes a value. What `work` was changing must not be used after that.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    outcome.map_err(|_| Panicked)
}

/// From now on a panic inside [`guarded`] prints nothing; any other prints as before. For binaries; call once.
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
