//! Waiting for a query so that the user can stop it.
//!
//! Who waits is asked at every wake-up whether to stop; a thread that sleeps between ticks sees to it that there is one at
//! least twenty times a second, however long the next batch takes.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use lakeward_core::error::{Error, Result};

/// Time between two questions.
const TICK: Duration = Duration::from_millis(50);

type Slot = Mutex<Option<Waker>>;

/// Asks whether the user wants to stop.
pub struct Stop {
    asked: Box<dyn Fn() -> bool + Send + Sync>,
    waiting: Arc<Slot>,
}

impl Stop {
    /// Stops when `asked` says so.
    pub fn when(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let waiting = Arc::new(Slot::default());
        let weak = Arc::downgrade(&waiting);
        std::thread::spawn(move || tick(&weak));
        Self { asked: Box::new(asked), waiting }
    }

    /// The outcome of `future`, unless the user stops it before.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T> {
        let mut future = pin!(future);
        poll_fn(|task| {
            if (self.asked)() {
                return Poll::Ready(Err(Error::Interrupted));
            }
            *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.waker().clone());
            future.as_mut().poll(task).map(Ok)
        })
        .await
    }
}

/// Wakes who waits, until nobody is left who could.
fn tick(waiting: &Weak<Slot>) {
    loop {
        std::thread::sleep(TICK);
        let Some(waiting) = waiting.upgrade() else { return };
        let waker = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
