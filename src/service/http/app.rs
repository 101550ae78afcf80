//! What all handlers share: the service, its users, the addresses it answers to, sessions that are being changed, figures, the log.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;

use super::lake_map::LakeMaps;
use super::metrics::Metrics;
use super::refusal::Refusal;
use super::users::{Rights, User, Users};
use crate::service::jobs::Jobs;
use crate::service::{Failure, Service, Stop};
use lakeward::documents::AskDocument;
use lakeward::usage::UsageLog;
use lakeward::{Lakeward, Session};
use lakeward_core::error::{Error, Result};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_search::RankingWeights;

/// Time for what is answered from the index.
pub const LOOK: Duration = Duration::from_secs(15);
/// Time for what reads files or asks a model.
pub const READ: Duration = Duration::from_secs(60);
/// Time for an operation to run.
pub const RUN: Duration = Duration::from_secs(300);
/// Locks of sessions that are kept.
const MOST_LOCKS: usize = 1_000;

/// Takes a line about a request and the status of its answer.
pub type RequestLog = Box<dyn Fn(&str, u16) + Send + Sync>;
type SessionLock = Arc<tokio::sync::Mutex<()>>;
/// A user's name and a session's.
type SessionKey = (Option<Arc<str>>, String);

/// The shared state.
pub struct App {
    /// The lake and its threads.
    pub service: Arc<Service>,
    /// Who may ask.
    pub users: Users,
    /// Values of `Host` that are answered to.
    pub hosts: BTreeSet<String>,
    /// Name of the cookie: cookies do not tell ports apart.
    pub cookie: String,
    /// Figures.
    pub metrics: Metrics,
    /// Work whose caller comes back for the answer.
    pub jobs: Jobs,
    /// What was found for maps of the lake.
    pub maps: LakeMaps,
    /// What is kept of how answers are used, if the settings allow it.
    pub usage: Option<UsageLog>,
    /// Another ranking that is compared with the one in use.
    pub compared: Option<RankingWeights>,
    /// Takes one line for each request, with the status of its answer.
    pub log: RequestLog,
    /// Whoever changes a session holds its lock.
    changing: Mutex<HashMap<SessionKey, SessionLock>>,
}

impl App {
    /// The state at the start.
    ///
    /// # Errors
    /// Those of reading the weights that are to be compared.
    pub fn new(
        service: Arc<Service>,
        users: Users,
        (hosts, port): (BTreeSet<String>, u16),
        log: RequestLog,
    ) -> Result<Self> {
        let lake = service.lake().in_use();
        let usage = UsageLog::of(&lake);
        let compare = lake.config().usage.compare.as_ref().filter(|_| usage.is_some());
        let compared = compare.map(|path| RankingWeights::load(path)).transpose()?;
        let cookie = format!("lakeward_{port}");
        let (metrics, jobs, maps) = (Metrics::default(), Jobs::default(), LakeMaps::default());
        Ok(Self {
            service,
            users,
            hosts,
            cookie,
            metrics,
            jobs,
            maps,
            usage,
            compared,
            log,
            changing: Mutex::default(),
        })
    }

    pub fn refusal(&self, failure: &Failure) -> Refusal {
        Refusal::of(failure, &self.service.lake().in_use().place().lake)
    }

    fn lock_of(&self, user: &User, id: &str) -> SessionLock {
        let mut changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if changing.len() >= MOST_LOCKS {
            changing.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        Arc::clone(changing.entry((user.name.clone(), id.to_string())).or_default())
    }
}

/// Who asks, with all that the service has.
#[derive(Clone)]
pub struct Caller {
    /// The shared state.
    pub app: Arc<App>,
    pub user: User,
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> std::result::Result<Self, Refusal> {
        let user = parts.extensions.get::<User>().cloned();
        let user = user.ok_or_else(|| Refusal::new(StatusCode::UNAUTHORIZED, "nobody is logged in", None))?;
        Ok(Self { app: Arc::clone(app), user })
    }
}

impl Caller {
    /// The outcome of `work` on the lake, with the sessions of the user.
    pub async fn work<T: Send + 'static>(
        &self,
        deadline: Duration,
        work: impl FnOnce(&Lakeward, &Stop) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Refusal> {
        let (user, has_model) = (self.user.clone(), self.app.users.may_ask_model(&self.user));
        let outcome = self.app.service.work(deadline, move |lake, stop| {
            let lake = user.lake(lake);
            if has_model { work(&lake, stop) } else { work(&lake.without_model(), stop) }
        });
        outcome.await.map_err(|failure| self.app.refusal(&failure))
    }

    /// Counts what the language model cost for `answer`, and hands it on.
    pub fn counted(&self, mut answer: AskDocument) -> AskDocument {
        match &answer.model {
            Some(model) => self.app.users.spend(&self.user, model.spent.usage.tokens()),
            None => answer.model_not_asked = self.model_not_asked().map(String::from),
        }
        answer
    }

    /// Why the user is answered without the language model, where there is one.
    pub fn model_not_asked(&self) -> Option<Message> {
        let App { service, users, .. } = &*self.app;
        let is_used_up = service.lake().in_use().model().is_some() && !users.may_ask_model(&self.user);
        is_used_up.then(|| message!("your tokens of the language model for a day are used up: it is not asked"))
    }

    /// Changes the session `id` of the user, which is saved if `work` succeeds. With `revision` only if that is still its state. Two changes of
    /// one session wait for each other; another process's change in between is a conflict, told with the newer state.
    pub async fn change<T: Send + 'static>(
        &self,
        (id, revision): (String, Option<u64>),
        deadline: Duration,
        work: impl FnOnce(&Lakeward, &Stop, &mut Session) -> Result<T> + Send + 'static,
    ) -> std::result::Result<(T, Session), Refusal> {
        self.may_write()?;
        let began = Instant::now();
        let lock = self.app.lock_of(&self.user, &id);
        let held = tokio::time::timeout(deadline, lock.lock_owned()).await;
        let held = held.map_err(|_| self.app.refusal(&Failure::Late(deadline)))?;
        let name = id.clone();
        let changed = self.work(deadline.saturating_sub(began.elapsed()), move |lake, stop| {
            let store = lake.sessions();
            let mut session = store.open(&name)?;
            if revision.is_some_and(|revision| revision != session.revision) {
                return Err(Error::SessionChanged { id: name });
            }
            let outcome = work(lake, stop, &mut session)?;
            // Whoever was told that nothing happened finds it so.
            stop.check()?;
            store.save(&mut session)?;
            drop(held);
            Ok((outcome, session))
        });
        match changed.await {
            Err(mut refusal) if refusal.status == StatusCode::CONFLICT => {
                let newer = self.work(LOOK, move |lake, _| lake.sessions().open(&id)).await;
                refusal.document.session = newer.ok().map(Box::new);
                Err(refusal)
            }
            outcome => outcome,
        }
    }

    /// Refuses users who may only read.
    pub fn may_write(&self) -> std::result::Result<(), Refusal> {
        if self.user.rights == Rights::Write {
            return Ok(());
        }
        let hint = "`rights = \"write\"` in the token file allows sessions";
        Err(Refusal::new(StatusCode::FORBIDDEN, "this user may only read, and sessions are written", Some(hint)))
    }
}
