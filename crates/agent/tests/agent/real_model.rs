//! The whole path to a language model on a real server, small and slow: that questions and answers have the shapes both
//! sides mean, and that limits hold. How good the answers are is not looked at. `scripts/serve_model.py` is such a server;
//! `LAKEWARD_TEST_LLM_URL` and `LAKEWARD_TEST_LLM_MODEL` say where it is, without them nothing is tested.

#![allow(clippy::print_stdout, reason = "what a call costs is worth reading, and a skipped test says why")]

use std::collections::HashSet;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{Embedder, EmbedderExt, RemoteModel, dot};
use lakeward_models::llm::{
    AnswerShape, CallOutcome, Chat, ChatCall, FailureKind, LanguageModel, Limits, Manners, Message, OpenAiChat,
    PromptUse, Prompts, Refusal, Role, Server, Unanswered,
};
use lakeward_search::text_search::{SearchOptions, search};
use serde::Deserialize;
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    calls: 4,
    tokens: 20_000,
    time: Duration::from_secs(60),
    call_time: Duration::from_secs(60),
    money: None,
    question_price: 0.0,
    answer_price: 0.0,
};
const MANNERS: Manners = Manners { retries: 1, concurrency: 1 };

/// The server answers one question at a time: tests that wait for each other would measure that.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The server, or nothing with the reason printed.
fn server() -> Option<Server> {
    let Ok(url) = std::env::var("LAKEWARD_TEST_LLM_URL") else {
        println!("skipped: LAKEWARD_TEST_LLM_URL names no server");
        return None;
    };
    let model = std::env::var("LAKEWARD_TEST_LLM_MODEL").unwrap_or_else(|_| "default".into());
    Some(Server { url, model, key: None })
}

fn chat() -> Option<OpenAiChat> {
    server().map(|server| OpenAiChat::connect(&server, MANNERS).expect("a connection"))
}

/// An object with these members, all required and no others.
fn object(members: Value) -> Value {
    let names: Vec<String> = members.as_object().expect("members").keys().cloned().collect();
    json!({"type": "object", "properties": members, "required": names, "additionalProperties": false})
}

fn texts(most: usize) -> Value {
    json!({"type": "array", "items": {"type": "string", "maxLength": 80}, "minItems": 1, "maxItems": most})
}

/// Asks, prints what it cost, and holds the answer against `accept`; two tries of one question, as everywhere.
fn ask(chat: &OpenAiChat, of: PromptUse, values: &[(&str, Value)], members: Value, accept: impl Fn(&Value) -> bool) {
    let model = LanguageModel::new(chat, Prompts::shipped(), LIMITS, None);
    let shape = AnswerShape { name: of.name(), schema: object(members), max_tokens: 160 };
    let started = Instant::now();
    let answer = model.ask(of, values, shape, |answer: Value| {
        if accept(&answer) { Ok(answer) } else { Err(Refusal::new("it is not in the closed set")) }
    });
    let (spent, took) = (model.spent(), started.elapsed());
    println!(
        "{}: {} calls, {} + {} tokens, {:.1} s",
        of.name(),
        spent.calls,
        spent.usage.prompt_tokens,
        spent.usage.answer_tokens,
        took.as_secs_f64()
    );
    let answer = answer.unwrap_or_else(|error| panic!("{}: {error}: {:#?}", of.name(), model.calls()));
    assert!(answer.is_object());
    assert!(took < LIMITS.time + Duration::from_secs(5));
    assert!(spent.usage.prompt_tokens > 50 && spent.usage.answer_tokens > 2, "the server counts");
}

#[test]
fn plans() {
    let _turn = turn();
    let Some(chat) = chat() else { return };
    let request = ("request", json!("Add each town's mayor to my table of towns"));
    ask(
        &chat,
        PromptUse::Plan,
        &[request, ("memory", Value::Null), ("previous", Value::Null), ("most_queries", json!(2))],
        json!({
            "queries": {
                "type": "array", "minItems": 1, "maxItems": 2,
                "items": object(json!({"text": {"type": "string", "maxLength": 80}, "aim": {"type": "string", "maxLength": 80}})),
            },
            "must_have": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 2},
        }),
        |answer| answer["queries"].as_array().is_some_and(|queries| (1..=2).contains(&queries.len())),
    );
}

/// Five tables as a ranking is asked for.
fn candidates() -> Value {
    let table = |id: &str, title: &str, columns: &[&str], why: &str| json!({"id": id, "title": title, "columns": columns, "why": why});
    json!([
        table("c01", "Mayors of towns", &["town", "mayor", "since"], "town: 97% of the values"),
        table("c02", "Bus stops", &["stop", "lat", "lon"], "no column matches"),
        table("c03", "Town budgets", &["town", "year", "budget"], "town: 60% of the values"),
        table("c04", "Wine prices", &["wine", "price"], "no column matches"),
        table("c05", "Elections", &["town", "party", "votes"], "town: 88% of the values"),
    ])
}

#[test]
fn rankings_and_reports() {
    let _turn = turn();
    let Some(chat) = chat() else { return };
    let request = ("request", json!("Add each town's mayor to my table of towns"));
    let ids = ["c01", "c02", "c03", "c04", "c05"];
    ask(
        &chat,
        PromptUse::Rerank,
        &[
            request.clone(),
            ("operation", json!("Join")),
            ("intention", json!("Integration")),
            ("specification", Value::Null),
            ("table", json!({"columns": ["town", "population"]})),
            ("candidates", candidates()),
        ],
        json!({"ranking": {"type": "array", "items": {"enum": ids}, "minItems": 1, "maxItems": 5}}),
        |answer| {
            let ranking: Vec<&str> =
                answer["ranking"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            // Doubled ones are counted once: this model cannot be talked out of them.
            let known: HashSet<&str> = ranking.iter().copied().filter(|id| ids.contains(id)).collect();
            !known.is_empty() && ranking.iter().all(|id| known.contains(id))
        },
    );
    ask(
        &chat,
        PromptUse::Evaluate,
        &[request, ("plan", json!({"queries": ["mayors of towns"], "must_have": []})), ("candidates", candidates())],
        json!({"sufficient": {"type": "boolean"}, "missing": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 2}, "reason": {"type": "string", "maxLength": 120}}),
        |answer| answer["sufficient"].is_boolean(),
    );
}

#[test]
fn questions_and_summaries() {
    let _turn = turn();
    let Some(chat) = chat() else { return };
    let record = json!({"title": "Mayors of towns", "columns": [{"name": "town", "values": ["Ghent", "Liège"]}, {"name": "since"}], "rows": 581});
    ask(
        &chat,
        PromptUse::PseudoQueries,
        &[("record", record), ("least", json!(2)), ("most", json!(3))],
        json!({
            "questions": texts(3),
            "unknown": {"type": "array", "items": {"enum": ["subject", "place", "period", "unit", "licence"]}, "maxItems": 3},
        }),
        |answer| answer["questions"].as_array().is_some_and(|questions| (1..=3).contains(&questions.len())),
    );
    ask(
        &chat,
        PromptUse::Clarify,
        &[
            ("request", json!("show me prices")),
            ("question", json!("Which prices?")),
            ("choices", json!(["Wine prices", "House prices"])),
        ],
        json!({"question": {"type": "string", "maxLength": 150}}),
        |answer| answer["question"].as_str().is_some_and(|question| !question.trim().is_empty()),
    );
    ask(
        &chat,
        PromptUse::Memory,
        &[
            (
                "turns",
                json!([{"request": "house prices in Ghent", "accepted": ["houses"]}, {"request": "only since 2010"}]),
            ),
            ("wanted", json!([{"about": "period", "words": "since 2010"}, {"about": "place", "words": "Ghent"}])),
            ("most_words", json!(30)),
        ],
        json!({"summary": {"type": "string", "maxLength": 250}}),
        |answer| answer["summary"].is_string(),
    );
}

#[derive(Deserialize)]
struct Picked {
    pick: String,
}

#[test]
fn a_refused_answer_is_mended_by_the_list_of_what_is_valid() {
    let _turn = turn();
    let Some(chat) = chat() else { return };
    let model = LanguageModel::new(&chat, Prompts::shipped(), LIMITS, None);
    // The shape allows what the closed set refuses at first, so that the first answer is refused whatever it is.
    let schema = object(json!({"pick": {"enum": ["c01", "c02", "c03"]}}));
    let shape = AnswerShape { name: "pick", schema, max_tokens: 20 };
    let tries = std::cell::Cell::new(0);
    let values = [("request", json!("wine")), ("question", json!("Which?")), ("choices", json!(["c01", "c02", "c03"]))];
    let picked = model.ask(PromptUse::Clarify, &values, shape, |picked: Picked| {
        tries.set(tries.get() + 1);
        if tries.get() == 1 {
            let valid = ["c01", "c02", "c03"].map(str::to_string).to_vec();
            return Err(Refusal { problem: format!("{} is taken", picked.pick), valid });
        }
        Ok(picked.pick)
    });
    assert!(matches!(picked.as_deref(), Ok("c01" | "c02" | "c03")), "{picked:?}");
    let calls = model.calls();
    assert!(matches!(calls[0].outcome, CallOutcome::Refused(_)) && calls[1].outcome == CallOutcome::Accepted);
    assert_eq!((calls.len(), model.spent().refused), (2, 1));
    println!("repair: {} + {} tokens", calls[1].usage.prompt_tokens, calls[1].usage.answer_tokens);
}

fn call(content: String, max_tokens: u32) -> ChatCall {
    let messages = vec![Message { role: Role::User, content }];
    let schema = object(json!({"text": {"type": "string"}}));
    ChatCall { messages, answer: "text", schema, max_tokens, part: Default::default() }
}

#[test]
fn too_long_a_question_and_too_short_a_time() {
    let _turn = turn();
    let Some(chat) = chat() else { return };
    let failure = chat.complete(&call("12 ".repeat(12_000), 10), Duration::from_secs(30)).expect_err("a failure");
    assert_eq!(failure.kind, FailureKind::TooLong, "{failure}");
    let started = Instant::now();
    let failure =
        chat.complete(&call("Write a long story.".into(), 2_000), Duration::from_secs(2)).expect_err("a failure");
    assert_eq!(failure.kind, FailureKind::TimedOut, "{failure}");
    assert!(started.elapsed() < Duration::from_secs(4));
    let failure =
        chat.complete(&call("Write a long story.".into(), 8), Duration::from_secs(30)).expect_err("a failure");
    assert_eq!(failure.kind, FailureKind::Unfinished, "{failure}");
    let limits = Limits { tokens: 100, ..LIMITS };
    let model = LanguageModel::new(&chat, Prompts::shipped(), limits, None);
    let shape = AnswerShape { name: "text", schema: object(json!({"text": {"type": "string"}})), max_tokens: 50 };
    let answer = model.ask(PromptUse::Clarify, &[], shape, |answer: Value| Ok::<_, Refusal>(answer));
    assert_eq!(answer, Err(Unanswered::Limit("tokens")));
    assert_eq!(model.spent().calls, 0);
}

#[test]
fn vectors_of_a_small_lake() {
    let _turn = turn();
    let Some(server) = server() else { return };
    let model = RemoteModel::connect(&server, MANNERS, Duration::from_secs(60)).expect("an embedding model");
    let again = RemoteModel::connect(&server, MANNERS, Duration::from_secs(60)).expect("an embedding model");
    assert_eq!(model.id(), again.id());
    let (mayor, long) = (model.embed("mayor"), model.embed(&"vineyard 12 ".repeat(5_000)));
    assert!((dot(&mayor, &mayor) - 1.0).abs() < 1e-3 && long.iter().any(|value| *value != 0.0));
    let (folder, place) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    for (name, text) in [
        ("mayors.csv", "town,mayor\nGhent,Mathias\nLiège,Willy\n"),
        ("wines.csv", "wine,price\nMerlot,12.5\nRiesling,9\n"),
        ("stops.csv", "stop,lat,lon\nKorenmarkt,51.05,3.72\nZuid,51.04,3.73\n"),
    ] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let started = Instant::now();
    build(folder.path(), place.path(), &model, &BuildOptions::default(), &Silent).expect("an index");
    println!("embedding: three tables indexed in {:.1} s", started.elapsed().as_secs_f64());
    let index = LakeIndex::open(place.path(), model.id()).expect("an index");
    let found = search(&index, &model, "mayor of a town", &SearchOptions::new(3)).expect("tables");
    assert_eq!(found[0].table, "mayors");
    assert!(found[0].cosine > 0.0 && model.failure().is_none());
    println!("embedding: cosines {:?}", found.iter().map(|found| (&found.table, found.cosine)).collect::<Vec<_>>());
    assert!(LakeIndex::open(place.path(), "another").is_err());
}
