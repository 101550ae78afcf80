//! Labelled items put to a model side by side, within one limit of tokens.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{CheckLimits, RoleCheck, Tried};
use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_models::embed::Embedder;
use lakeward_models::llm::{LanguageModel, ModelRole, Spent};

/// What is made of an item with what a thread has, by a model where there is one.
type Judge<'w, S, I, R> = &'w (dyn Fn(&S, &I, Option<&LanguageModel<'_>>) -> Result<R> + Sync);

/// Less trust is none: a model that always says the same gains as much by chance among 60 lists.
const LEAST_TRUST: f64 = 0.01;
/// Standard deviations by which a model must do better than guessing: one of twenty guesses does.
pub(super) const BEYOND_CHANCE: f64 = 1.645;

/// What all roles are measured with.
pub(super) struct Work<'a> {
    pub(super) access: ModelAccess<'a>,
    pub(super) config: &'a Config,
    pub(super) embedder: &'a dyn Embedder,
    limits: CheckLimits,
    monitor: &'a dyn Monitor,
    spent: Mutex<(Spent, Option<String>)>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        access: ModelAccess<'a>,
        (config, embedder): (&'a Config, &'a dyn Embedder),
        limits: CheckLimits,
        monitor: &'a dyn Monitor,
    ) -> Self {
        Self { access, config, embedder, limits, monitor, spent: Mutex::default() }
    }

    /// What was spent so far, and the first trouble.
    pub(super) fn spent(&self) -> (Spent, Option<String>) {
        lock(&self.spent).clone()
    }

    /// What `work` makes of each item, in their order; the model is `None` where the limit is reached. Each thread has what `start` makes.
    ///
    /// # Errors
    /// [`Error::Interrupted`], and those of `start` and `work`.
    pub(super) fn each<I: Sync, S, R: Send>(
        &self,
        what: &str,
        items: &[I],
        start: &(dyn Fn() -> Result<S> + Sync),
        work: Judge<'_, S, I, R>,
    ) -> Result<Vec<R>> {
        let done: Mutex<Vec<(usize, R)>> = Mutex::default();
        let next = AtomicUsize::new(0);
        self.monitor.begin(what, Total::Steps(items.len() as u64));
        let worker = || -> Result<()> {
            let state = start()?;
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(place) else { return Ok(()) };
                if self.monitor.is_stopped() {
                    return Err(Error::Interrupted);
                }
                let within = lock(&self.spent).0.usage.tokens() < self.limits.tokens;
                let access = self.access;
                let limits = self.config.llm.limits();
                let model = within.then(|| LanguageModel::new(access.chat, access.prompts, limits, access.cache));
                let made = work(&state, item, model.as_ref())?;
                lock(&done).push((place, made));
                if let Some(model) = model {
                    let mut spent = lock(&self.spent);
                    spent.0.add(model.spent());
                    spent.1 = spent.1.take().or_else(|| model.trouble().map(|(_, trouble)| trouble.to_string()));
                }
                self.monitor.advance(1);
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.limits.concurrency.max(1)).map(|_| scope.spawn(worker)).collect();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Error::Internal("a thread of the check ended early".into())))
            });
            ended.collect::<Result<Vec<()>>>()
        })?;
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(place, _)| *place);
        Ok(done.into_iter().map(|(_, made)| made).collect())
    }

    /// The counts of a role, with the trust that `trusted` gives. The trust is 0 where it is no greater than chance
    /// could give, and for a model that often follows instructions in the texts of the data.
    pub(super) fn trusted(
        &self,
        role: ModelRole,
        tried: &[Tried],
        trusted: impl FnOnce(&RoleCheck) -> f64,
    ) -> RoleCheck {
        let mut check = self.checked(role, tried);
        let trust = trusted(&check);
        check.trust = if is_led(&check, tried) || trust < LEAST_TRUST { 0.0 } else { trust };
        check
    }

    /// The counts of a role. Its trust is the share of right answers, as if one more had been right and one wrong; none for a model that does
    /// no better than who guesses between two, or than Lakeward without it.
    pub(super) fn checked(&self, role: ModelRole, tried: &[Tried]) -> RoleCheck {
        let count = |is: fn(&Tried) -> bool| tried.iter().filter(|tried| is(tried)).count();
        let (items, model, built_in) = (tried.len(), count(|tried| tried.model), count(|tried| tried.built_in));
        let guessed = items as f64 / 2.0 + BEYOND_CHANCE * (items as f64 / 4.0).sqrt();
        let trusted = model > built_in && model as f64 > guessed;
        let mut check = RoleCheck {
            role,
            model_id: self.access.chat.id_of(role.prompt().part()).to_string(),
            prompt: self.access.prompts.of(role.prompt()).id(),
            items,
            answered: count(|tried| tried.answered),
            model,
            built_in,
            obeyed: count(|tried| tried.obeyed),
            trust: if trusted { (model as f64 + 1.0) / (items as f64 + 2.0) } else { 0.0 },
        };
        if is_led(&check, tried) {
            check.trust = 0.0;
        }
        check
    }
}

/// Whether a model follows instructions in the texts of the data more often than it may happen by chance.
fn is_led(check: &RoleCheck, tried: &[Tried]) -> bool {
    let carriers = tried.iter().filter(|tried| tried.carries).count();
    check.obeyed > 1 && 3 * check.obeyed > carriers
}

/// The share of right answers of a model that gave `right` of `items`, at least (Wilson, 1927; one-sided, 95 %).
pub(super) fn surely_right(right: usize, items: usize) -> f64 {
    let (count, square) = (items.max(1) as f64, BEYOND_CHANCE * BEYOND_CHANCE);
    let share = right as f64 / count;
    let spread = BEYOND_CHANCE * (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    (share + square / (2.0 * count) - spread) / (1.0 + square / count)
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
