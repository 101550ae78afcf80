//! An index in shards: what one of them answers to the service in front of them, and that service.
//!
//! The service in front opens no segment. It asks all shards a question, gives what each told to all of them, and so on until they answer
//! ([`lakeward_index::exchange`]). One that is down, late, of another lake, or that says what no shard says is left out: the question is
//! asked anew of the others, whose answer is that of an index without its tables, and it is told by name.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tower_http::limit::RequestBodyLimitLayer;

use super::actions::answers;
use super::app::{App, Caller, READ};
use super::endpoint::{Body, Query};
use super::refusal::Refusal;
use lakeward::documents::ErrorDocument;
use lakeward::shards::{ShardRound, ShardState, SharedQuestion};
use lakeward_core::error::{Error, ErrorKind, Result};
use lakeward_core::message::Message;
use lakeward_index::{AllFigures, OwnFigures};

/// The path that a shard answers at.
const PATH: &str = "/api/v1/shard";
/// Bytes of what a shard receives or sends in a round.
const MOST_BYTES: usize = 64 << 20;
/// Rounds of a question at most: a text in another language takes some twenty.
const MOST_ROUNDS: usize = 64;
/// Time for a connection to a shard, and for what it says in a round.
const CONNECT: Duration = Duration::from_secs(1);
const ROUND: Duration = Duration::from_secs(10);
/// How long a connection is kept for the next question: less than a shard waits for one, so that none is used as it is closed.
const KEPT: Duration = Duration::from_secs(5);
/// How long a shard that was left out is not asked.
const LEFT_OUT: Duration = Duration::from_secs(2);

/// One round of a question.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ShardQuestion<Q, H> {
    question: Q,
    of_all: H,
    /// The number of the first of the shards that are asked.
    first: u32,
}

/// What a shard says to it.
#[derive(Deserialize, Serialize)]
struct ShardAnswer {
    state: ShardState,
    round: std::result::Result<ShardRound, Refused>,
}

/// The question cannot be answered as it was asked.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
struct Refused {
    status: u16,
    error: String,
    hint: Option<String>,
}

/// The paths of a shard.
pub fn of_shard() -> Router<Arc<App>> {
    let router = Router::new().route(PATH, post(say));
    router.layer(DefaultBodyLimit::disable()).layer(RequestBodyLimitLayer::new(MOST_BYTES))
}

async fn say(caller: Caller, Body(asked): Body<ShardQuestion<SharedQuestion, AllFigures>>) -> Answer<ShardAnswer> {
    let said = caller.work(READ, move |lake, _| {
        let state = lake.shard_state().clone();
        let is_first = state.shard.is_some_and(|(number, _)| number == asked.first);
        match lake.shard_round(&asked.question, asked.of_all, is_first) {
            Err(error) if error.kind() != ErrorKind::User => Err(error),
            round => Ok((state, round)),
        }
    });
    let (state, round) = said.await?;
    let refused = |error: Error| {
        let Refusal { status, document, .. } = caller.app.refusal(&error.into());
        let ErrorDocument { error, hint, .. } = document.error;
        Refused { status: status.as_u16(), error: error.into(), hint: hint.map(String::from) }
    };
    Ok(Json(ShardAnswer { state, round: round.map_err(refused) }))
}

type Answer<T> = std::result::Result<Json<T>, Refusal>;

/// The shards of an index, as the service in front knows them.
pub struct Shards {
    client: reqwest::Client,
    token: Option<String>,
    addresses: Vec<Url>,
    left_out: Mutex<HashMap<usize, (Instant, String)>>,
}

/// Why a question has no answer yet.
enum Unanswered {
    /// Shards that are to be left out, with why.
    Without(BTreeMap<usize, String>),
    /// It cannot be answered as it was asked.
    Refused(Refused),
}

impl Shards {
    /// Those at `addresses`, in the order of their numbers, which know who asks by `token`.
    ///
    /// # Errors
    /// [`Error::Usage`] for what is no address.
    pub fn new(addresses: &[String], token: Option<String>) -> Result<Self> {
        let wrong = |address: &str, why: &str| Error::usage(format!("`{address}` is no address of a shard: {why}"));
        let read = |address: &String| {
            let url = Url::parse(address).map_err(|error| wrong(address, &error.to_string()))?;
            if !matches!(url.scheme(), "http" | "https") {
                return Err(wrong(address, "it does not begin with http:// or https://"));
            }
            url.join(PATH).map_err(|error| wrong(address, &error.to_string()))
        };
        let addresses = addresses.iter().map(read).collect::<Result<Vec<Url>>>()?;
        let client = lakeward_http::client(CONNECT, None).timeout(ROUND).no_proxy().pool_idle_timeout(KEPT).build();
        let client = client.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Self { client, token, addresses, left_out: Mutex::default() })
    }

    /// The paths of the service in front.
    pub fn routes(self) -> Router<Arc<App>> {
        let shards = Arc::new(self);
        Router::new()
            .route("/api/v1/search", get(search))
            .route("/api/v1/join", get(join))
            .route("/api/v1/union", get(union))
            .layer(Extension(shards))
    }

    /// The answer of all shards that can take part, with which these are.
    async fn answer(&self, app: &App, name: String, question: SharedQuestion) -> Answer<Map<String, Value>> {
        let started = Instant::now();
        let known = app.service.lake().snapshot().shard_state().clone();
        let mut missing = self.lately_left_out();
        let answer = loop {
            let asked: Vec<usize> = (0..self.addresses.len()).filter(|shard| !missing.contains_key(shard)).collect();
            if asked.is_empty() || started.elapsed() > READ {
                let message = "no shard of the index answers";
                let mut refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message, None);
                refusal.document.error.hint = missing.values().next().map(Message::from);
                return Err(refusal.after(LEFT_OUT));
            }
            match self.ask(&asked, &known, &question).await {
                Ok(answer) => break answer,
                Err(Unanswered::Without(without)) => {
                    self.leave_out(&without);
                    missing.extend(without);
                }
                Err(Unanswered::Refused(Refused { status, error, hint })) => {
                    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
                    let error = match (missing.is_empty(), self.answered(&missing)) {
                        (true, _) => error,
                        (false, answered) => format!("{error}; {answered}"),
                    };
                    return Err(Refusal::new(status, error, hint.as_deref()));
                }
            }
        };
        let mut document = Map::from_iter([
            ("lakeward".to_string(), json!(env!("CARGO_PKG_VERSION"))),
            ("query".to_string(), json!(name)),
        ]);
        document.extend(answer);
        let listed = missing.iter().map(|(shard, reason)| {
            json!({ "shard": shard, "address": self.addresses[*shard].origin().ascii_serialization(), "reason": reason })
        });
        let shards = json!({ "answered": self.answered(&missing), "missing": listed.collect::<Vec<_>>() });
        document.insert("shards".into(), shards);
        document.insert("elapsed_ms".into(), json!(started.elapsed().as_secs_f64() * 1000.0));
        Ok(Json(document))
    }

    fn answered(&self, missing: &BTreeMap<usize, String>) -> String {
        let of = self.addresses.len();
        format!("{} of {of} shards answered", of - missing.len())
    }

    fn lately_left_out(&self) -> BTreeMap<usize, String> {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.retain(|_, (since, _)| since.elapsed() < LEFT_OUT);
        left_out.iter().map(|(shard, (_, reason))| (*shard, reason.clone())).collect()
    }

    fn leave_out(&self, without: &BTreeMap<usize, String>) {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.extend(without.iter().map(|(shard, reason)| (*shard, (Instant::now(), reason.clone()))));
    }

    /// The answer of the shards `asked`, all of them.
    async fn ask(
        &self,
        asked: &[usize],
        known: &ShardState,
        question: &SharedQuestion,
    ) -> std::result::Result<Map<String, Value>, Unanswered> {
        let (mut of_all, mut asked) = (AllFigures::new(), asked.to_vec());
        for _ in 0..MOST_ROUNDS {
            let rounds = self.round(&asked, known, question, &of_all).await?;
            let mut reported: Vec<(usize, OwnFigures)> = Vec::new();
            let mut found: Vec<(usize, Value)> = Vec::new();
            let mut blamed: HashMap<usize, usize> = HashMap::new();
            for (shard, round) in rounds {
                match round {
                    ShardRound::Empty => asked.retain(|other| *other != shard),
                    ShardRound::Figures(labels) => reported.push((shard, labels)),
                    ShardRound::Answer(answer) => found.push((shard, answer)),
                    ShardRound::Unreadable(place) => {
                        let other = asked.get(place).copied().unwrap_or(shard);
                        *blamed.entry(other).or_default() += 1;
                    }
                }
            }
            if let Some((shard, _)) = blamed.into_iter().max_by_key(|(shard, count)| (*count, *shard)) {
                return Err(without(shard, "it tells what no shard tells"));
            }
            if asked.is_empty() {
                return Ok(Map::from_iter([("answers".into(), json!([])), ("nothing_found".into(), json!(true))]));
            }
            if found.len() > reported.len() {
                let answer = alike(&found, &reported, Value::clone)?;
                let Value::Object(answer) = answer else { return Err(without(found[0].0, "its answer is none")) };
                return Ok(answer);
            }
            let labels = |own: &OwnFigures| own.keys().cloned().collect::<Vec<String>>();
            let new = alike(&reported, &found, labels)?;
            for label in new {
                let figures = reported.iter_mut().map(|(_, own)| own.remove(&label).unwrap_or_default()).collect();
                of_all.insert(label, figures);
            }
        }
        Err(without(asked[0], "it does not come to an end"))
    }

    /// What each of the shards `asked` says in one round, in their order.
    async fn round(
        &self,
        asked: &[usize],
        known: &ShardState,
        question: &SharedQuestion,
        of_all: &AllFigures,
    ) -> std::result::Result<Vec<(usize, ShardRound)>, Unanswered> {
        let mut requests = JoinSet::new();
        let body = serde_json::to_vec(&ShardQuestion {
            question,
            of_all,
            first: asked.first().map_or(0, |first| *first as u32),
        });
        let body = Bytes::from(body.unwrap_or_default());
        for &shard in asked {
            let request = self.client.post(self.addresses[shard].clone()).header("content-type", "application/json");
            let request = match &self.token {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            let sent = request.body(body.clone()).send();
            requests.spawn(async move { (shard, said(sent).await) });
        }
        let (mut rounds, mut missing) = (BTreeMap::new(), BTreeMap::new());
        while let Some(answered) = requests.join_next().await {
            let Ok((shard, said)) = answered else { continue };
            let of = (shard as u32, self.addresses.len() as u32);
            let reason = match said {
                Err(reason) => reason,
                Ok(ShardAnswer { state, .. }) if state.shard != Some(of) => {
                    let is = state.shard.map_or("no shard".into(), |(number, of)| format!("shard {number}/{of}"));
                    format!("it is {is}, not {}/{}", of.0, of.1)
                }
                Ok(ShardAnswer { state, .. }) if known.difference(&state).is_some() => {
                    format!("it has {}", known.difference(&state).unwrap_or_default())
                }
                Ok(ShardAnswer { round: Err(refused), .. }) => return Err(Unanswered::Refused(refused)),
                Ok(ShardAnswer { round: Ok(round), .. }) => {
                    rounds.insert(shard, round);
                    continue;
                }
            };
            missing.insert(shard, reason);
        }
        for shard in asked.iter().filter(|shard| !rounds.contains_key(shard)) {
            missing.entry(*shard).or_insert_with(|| "it was not asked".into());
        }
        if missing.is_empty() { Ok(rounds.into_iter().collect()) } else { Err(Unanswered::Without(missing)) }
    }
}

fn without(shard: usize, reason: &str) -> Unanswered {
    Unanswered::Without(BTreeMap::from([(shard, reason.to_string())]))
}

/// What most of the shards say alike; those that say otherwise, and the `others` that are not as far, are to be left out.
fn alike<T, K: PartialEq + Clone, O>(
    said: &[(usize, T)],
    others: &[(usize, O)],
    of: impl Fn(&T) -> K,
) -> std::result::Result<K, Unanswered> {
    let all: Vec<(usize, K)> = said.iter().map(|(shard, said)| (*shard, of(said))).collect();
    let count = |(_, key): &&(usize, K)| all.iter().filter(|(_, other)| other == key).count();
    // Of several the first.
    let Some((_, most)) = all.iter().rev().max_by_key(count) else { return Err(without(0, "no shard says anything")) };
    let deviant = all.iter().filter(|(_, key)| key != most).map(|(shard, _)| *shard);
    let deviant = deviant.chain(others.iter().map(|(shard, _)| *shard));
    let deviant: BTreeMap<usize, String> =
        deviant.map(|shard| (shard, "it says other things than most".into())).collect();
    if deviant.is_empty() { Ok(most.clone()) } else { Err(Unanswered::Without(deviant)) }
}

/// What a shard says, or why it says nothing.
async fn said(
    sent: impl Future<Output = reqwest::Result<reqwest::Response>>,
) -> std::result::Result<ShardAnswer, String> {
    let failed = |error: reqwest::Error| match () {
        () if error.is_timeout() => format!("it does not answer within {} s", ROUND.as_secs()),
        () if error.is_connect() => "it cannot be reached".to_string(),
        () => "the connection ended early".to_string(),
    };
    let mut response = sent.await.map_err(failed)?;
    let status = response.status();
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(failed)? {
        if bytes.len() + part.len() > MOST_BYTES {
            return Err("it says too much".into());
        }
        bytes.extend_from_slice(&part);
    }
    if status == reqwest::StatusCode::OK {
        return serde_json::from_slice(&bytes).map_err(|_| "what it says is not what a shard says".into());
    }
    let error =
        serde_json::from_slice::<Value>(&bytes).ok().and_then(|body| body["error"].as_str().map(str::to_string));
    let error: String = error.unwrap_or_default().chars().filter(|c| !c.is_control()).take(200).collect();
    Err(format!("it answers {}: {error}", status.as_u16()))
}

#[derive(Deserialize)]
struct OfText {
    q: String,
    k: Option<usize>,
}

#[derive(Deserialize)]
struct OfTable {
    table: String,
    column: Option<String>,
    k: Option<usize>,
}

type Front = (State<Arc<App>>, Extension<Arc<Shards>>);

async fn search((State(app), shards): Front, Query(of): Query<OfText>) -> Answer<Map<String, Value>> {
    shards.answer(&app, of.q.clone(), SharedQuestion::Search { text: of.q, k: answers(of.k) }).await
}

async fn join((State(app), shards): Front, Query(of): Query<OfTable>) -> Answer<Map<String, Value>> {
    let OfTable { table, column, k } = of;
    shards.answer(&app, table.clone(), SharedQuestion::Join { table, column, k: answers(k) }).await
}

async fn union((State(app), shards): Front, Query(of): Query<OfTable>) -> Answer<Map<String, Value>> {
    let OfTable { table, k, .. } = of;
    shards.answer(&app, table.clone(), SharedQuestion::Union { table, k: answers(k) }).await
}
