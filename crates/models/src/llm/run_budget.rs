//! The budget of a run over many tables or documents, in addition to the limits of each turn; it also stops the run after repeated
//! failures.

use std::sync::{Mutex, PoisonError};

use super::contract::Spent;

/// After this many consecutive items without an answer, the model is not called any more.
const MOST_FAILURES: u32 = 3;

/// The limits of a whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunLimits {
    /// Tokens of questions and answers.
    pub tokens: Option<u64>,
    /// Cost, in the currency of the prices.
    pub money: Option<f64>,
}

/// The part of its [`RunLimits`] that a run has used; shared between threads.
#[derive(Debug, Default)]
pub struct RunBudget {
    limits: RunLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    calls: u64,
    tokens: u64,
    money: f64,
    /// Consecutive items without an answer.
    failures: u32,
    /// The last failure.
    trouble: String,
}

impl RunBudget {
    /// A budget of `limits`, of which nothing is used yet.
    pub fn new(limits: RunLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Whether the model may be called for another item.
    ///
    /// # Errors
    /// Why not, in one clause.
    pub fn allowed(&self) -> Result<(), String> {
        let state = self.state();
        if state.failures >= MOST_FAILURES {
            return Err(state.trouble.clone());
        }
        if self.limits.tokens.is_some_and(|most| state.tokens >= most) {
            return Err("the limit of tokens for the run is reached".into());
        }
        if self.limits.money.is_some_and(|most| state.money >= most) {
            return Err("the limit of money for the run is reached".into());
        }
        Ok(())
    }

    /// Adds the resources used for one item, and its failure, if any.
    pub fn settle(&self, spent: Spent, trouble: Option<&str>) {
        let mut state = self.state();
        state.calls += spent.calls as u64;
        state.tokens = state.tokens.saturating_add(spent.usage.tokens());
        state.money += spent.money;
        match trouble {
            Some(trouble) => {
                state.failures += 1;
                state.trouble = trouble.to_string();
            }
            None => state.failures = 0,
        }
    }

    /// Number of consecutive items without an answer, up to the last one.
    pub fn failures(&self) -> u32 {
        self.state().failures
    }

    /// Calls and tokens so far.
    pub fn spent(&self) -> (u64, u64) {
        let state = self.state();
        (state.calls, state.tokens)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Usage;

    #[test]
    fn a_run_ends_at_its_limits_and_after_failures_in_a_row() {
        let spent =
            Spent { calls: 2, usage: Usage { prompt_tokens: 60, answer_tokens: 40 }, money: 0.5, ..Spent::default() };
        let of = |limits| {
            let budget = RunBudget::new(limits);
            budget.settle(spent, None);
            budget
        };
        assert!(of(RunLimits::default()).allowed().is_ok());
        assert!(of(RunLimits { tokens: Some(100), money: None }).allowed().unwrap_err().contains("tokens"));
        assert!(of(RunLimits { tokens: None, money: Some(0.4) }).allowed().unwrap_err().contains("money"));
        let budget = of(RunLimits::default());
        budget.settle(spent, Some("no answer"));
        budget.settle(spent, Some("no answer"));
        assert!(budget.allowed().is_ok());
        budget.settle(spent, Some("still none"));
        assert_eq!((budget.allowed(), budget.failures(), budget.spent()), (Err("still none".into()), 3, (8, 400)));
    }
}
