//! Whether the time of a run is over: the only thing that a run asks about time, so that it can be recorded and
//! replayed.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place in a run where it may end: before a search, a verdict, a plan or the final order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// The plan at hand, from 1.
    pub iteration: usize,
    /// Searches done in it; more than any number of searches behind them.
    pub step: usize,
}

/// Says whether the time of a run is over.
pub trait Clock {
    /// Whether it is over at a moment. Once it was, it stays so at all later ones.
    fn is_over(&self, at: Moment) -> bool;

    /// The first moment at which it was over.
    fn over_at(&self) -> Option<Moment>;
}

/// The time that passes.
#[derive(Debug)]
pub struct LiveClock {
    started: Instant,
    allowed: Duration,
    over_at: Mutex<Option<Moment>>,
}

impl LiveClock {
    /// Begins now; over after `seconds` (a time below 0, or no number, is over at once).
    pub fn start(seconds: f64) -> Self {
        let endless = if seconds > 0.0 { Duration::MAX } else { Duration::ZERO };
        let allowed = Duration::try_from_secs_f64(seconds).unwrap_or(endless);
        Self { started: Instant::now(), allowed, over_at: Mutex::new(None) }
    }
}

impl Clock for LiveClock {
    fn is_over(&self, at: Moment) -> bool {
        let mut over_at = self.over_at.lock().unwrap_or_else(PoisonError::into_inner);
        if over_at.is_none() && self.started.elapsed() >= self.allowed {
            *over_at = Some(at);
        }
        over_at.is_some()
    }

    fn over_at(&self) -> Option<Moment> {
        *self.over_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answers of another run's clock.
#[derive(Debug)]
pub struct RecordedClock(Option<Moment>);

impl RecordedClock {
    /// The clock of the run whose trace has this [`over_at`](super::RunTrace::over_at).
    pub fn new(over_at: Option<Moment>) -> Self {
        Self(over_at)
    }
}

impl Clock for RecordedClock {
    fn is_over(&self, at: Moment) -> bool {
        self.0.is_some_and(|over_at| at >= over_at)
    }

    fn over_at(&self) -> Option<Moment> {
        self.0
    }
}
