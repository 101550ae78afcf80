//! Turns with a language model: its voice, its absence, its failures; and traces that give the same answer without it.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::trace::TurnTrace;
use lakeward_agent::{Agent, Request};
use lakeward_core::monitor::Silent;
use lakeward_core::request::OperationKind;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_models::llm::config::LlmConfig;
use lakeward_models::llm::{
    Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, OpenAiChat, Prompts, Recorded, Role, Server, Usage,
};
use serde_json::{Value, json};

pub struct Place {
    _folder: tempfile::TempDir,
    pub index: LakeIndex,
}

pub fn lake() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../lake"))
}

pub fn indexed() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    build(lake(), folder.path(), StaticModel::builtin(), &BuildOptions::default(), &Silent).expect("a build");
    let index = LakeIndex::open(folder.path(), StaticModel::builtin().id()).expect("an index");
    Place { _folder: folder, index }
}

fn agent<'a>(place: &'a Place, llm: LlmConfig, chat: Option<&'a dyn Chat>) -> Agent<'a> {
    let sessions = SessionStore::new(Path::new("unused"));
    let access = chat.map(|chat| ModelAccess { chat, prompts: Prompts::shipped(), cache: None });
    let config = Config { llm, ..Config::default() };
    Agent::new(lake(), &place.index, StaticModel::builtin(), config, sessions).with_model(access)
}

fn asking(text: &str) -> Request {
    Request { text: text.into(), k: 10, ..Request::default() }
}

/// A sensible model: reads requests as it is told to, plans the request and one thing more, orders candidates by their titles'
/// letters.
pub struct Sensible {
    pub operation: &'static str,
}

impl Chat for Sensible {
    fn id(&self) -> &str {
        "sensible@nowhere"
    }

    fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        let user = &call.messages.iter().find(|message| message.role == Role::User).expect("a question").content;
        let line = |name: &str| {
            let found = user.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("null");
            serde_json::from_str::<Value>(found).expect("JSON")
        };
        let answer = match call.answer {
            "reading" => {
                let topic = json!({"role": "topic", "words": line("request: "), "avoid": false});
                json!({
                    "acts": ["new"], "operation": self.operation, "intention": "Exploration", "wanted": [topic],
                })
            }
            "query_plan" => {
                let more = json!({"text": "passengers of airlines", "aim": "airlines"});
                json!({"queries": [{"text": line("request: "), "aim": "all"}, more], "must_have": []})
            }
            "verdict" => json!({"sufficient": true, "missing": [], "reason": "all parts are there"}),
            "ranking" => {
                let cards = line("candidates: ");
                let mut cards: Vec<&Value> = cards.as_array().expect("candidates").iter().collect();
                cards.sort_by_key(|card| card["title"].to_string());
                json!({"ranking": cards.iter().map(|card| &card["id"]).collect::<Vec<_>>()})
            }
            "answer" => {
                let first = &line("tables: ")[0];
                let text = format!("{} serves the request.", first["title"].as_str().expect("a title"));
                let evidence = &first["evidence"][0]["id"];
                let sentence = json!({"text": text, "tables": ["t1"], "evidence": [evidence]});
                let invented = json!({"text": "It covers 1873 to 1904.", "tables": ["t1"], "evidence": [evidence]});
                let nothing = json!({"text": "It is the best there is.", "tables": [], "evidence": []});
                json!({"sentences": [sentence, invented, nothing]})
            }
            other => return Err(ChatFailure::new(FailureKind::Unreachable, &format!("asked for {other}"))),
        };
        let usage = Some(Usage { prompt_tokens: 100, answer_tokens: 10 });
        Ok(ChatAnswer { text: answer.to_string(), usage })
    }
}

/// Fails in one way, and counts.
struct Failing(FailureKind, AtomicUsize);

impl Chat for Failing {
    fn id(&self) -> &str {
        "failing@nowhere"
    }

    fn complete(&self, _: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Err(ChatFailure::new(self.0, "no server answers for `failing@nowhere`"))
    }
}

/// Gives one text to every question.
struct Saying(&'static str);

impl Chat for Saying {
    fn id(&self) -> &str {
        "saying@nowhere"
    }

    fn complete(&self, _: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        Ok(ChatAnswer { text: self.0.into(), usage: None })
    }
}

fn answer(place: &Place, llm: LlmConfig, chat: Option<&dyn Chat>, text: &str) -> Recommendation {
    agent(place, llm, chat).turn(&mut Session::new("s", "lake"), &asking(text)).expect("an answer").into_inner()
}

#[test]
fn a_model_that_fails_costs_one_line_and_nothing_else() {
    let place = indexed();
    let text = "which airports have the most delays?";
    let alone = answer(&place, LlmConfig::default(), None, text);
    for kind in [FailureKind::Unreachable, FailureKind::TimedOut, FailureKind::Busy, FailureKind::Broken] {
        let failing = Failing(kind, AtomicUsize::new(0));
        // Trusted, so that it is asked to read first of all.
        let trusted = LlmConfig { reading: Some(1.0), ..LlmConfig::default() };
        let with = answer(&place, trusted, Some(&failing), text);
        assert_eq!(failing.1.load(Ordering::Relaxed), 1, "asked again after {kind:?}");
        assert_eq!(with.notes.len(), alone.notes.len() + 1, "{:?}", with.notes);
        assert!(with.notes.iter().any(|note| note.contains("reading the request")), "{:?}", with.notes);
        assert_eq!(Recommendation { notes: alone.notes.clone(), ..with }, alone);
    }
    // What is no answer of any contract: repaired once each time, then left.
    for said in
        ["", "yes", "{}", "[1, 2]", "{\"ranking\": [\"c99\"]}", "{\"operation\": \"Delete\", \"intention\": \"All\"}"]
    {
        let with = answer(&place, LlmConfig::default(), Some(&Saying(said)), text);
        assert_eq!(with.notes.len(), alone.notes.len() + 1, "{said}: {:?}", with.notes);
        assert_eq!(Recommendation { notes: alone.notes.clone(), ..with }, alone, "{said}");
    }
}

#[test]
fn a_model_has_a_voice_as_loud_as_it_is_set() {
    let place = indexed();
    let text = "airlines";
    let model = Sensible { operation: "Aggregate" };
    let silent = LlmConfig { ranking: Some(0.0), reading: Some(0.0), ..LlmConfig::default() };
    let alone = answer(&place, silent.clone(), None, text);
    let with = answer(&place, silent, Some(&model), text);
    assert_eq!(with.signals, alone.signals);
    let loud = answer(
        &place,
        LlmConfig { ranking: Some(1.0), reading: Some(1.0), ..LlmConfig::default() },
        Some(&model),
        text,
    );
    assert_eq!(loud.signals.operation.label, OperationKind::Aggregate);
    assert!(loud.tables.iter().any(|table| table.model_rank.is_some()));
    let titles: Vec<&str> = loud.tables.iter().map(|table| table.title.as_str()).collect();
    assert!(titles.is_sorted(), "the whole order is the model's: {titles:?}");
}

#[test]
fn what_a_model_writes_without_evidence_is_struck_out() {
    let place = indexed();
    let text = "which airlines fly to which airports?";
    let alone = answer(&place, LlmConfig::default(), None, text);
    let template = alone.summary.first().expect("a sentence");
    assert!(!template.by_model && template.cites.contains(&alone.tables[0].table), "{template:?}");
    assert!(alone.summary.iter().all(|sentence| !sentence.evidence.is_empty()));
    let with = answer(&place, LlmConfig::default(), Some(&Sensible { operation: "Filter" }), text);
    let [sentence] = with.summary.as_slice() else { panic!("{:?}", with.summary) };
    assert!(sentence.by_model && sentence.cites == [with.tables[0].table.clone()], "{sentence:?}");
    assert!(with.tables[0].reason.starts_with(sentence.evidence[0].trim_end_matches('…')), "{sentence:?}");
    assert!(with.notes.iter().any(|note| note.contains("2 sentences of the model")), "{:?}", with.notes);
}

#[test]
fn a_trace_gives_the_same_answer_without_the_model() {
    let place = indexed();
    let model = Sensible { operation: "Filter" };
    let llm = LlmConfig { ranking: Some(0.6), reading: Some(0.95), ..LlmConfig::default() };
    let mut session = Session::new("s", "lake");
    let agent_with = agent(&place, llm, Some(&model));
    agent_with.turn(&mut session, &asking("delays of flights")).expect("a first turn");
    let trace = agent_with.trace(&mut session, &asking("only those with the weather of that day")).expect("a trace");
    let used = trace.provenance.model.as_ref().expect("a model");
    assert!(used.calls.len() >= 3 && used.spent.usage.prompt_tokens >= 300);
    assert!(trace.provenance.run.is_some());
    let lists: Vec<&str> = trace.provenance.lists.iter().map(|list| list.by.as_str()).collect();
    assert!(lists.contains(&"search") && lists.contains(&"utility") && lists.contains(&"answer"), "{lists:?}");

    // As it is read from its file.
    let read = trace.read_back().expect("a trace");
    let recorded = Recorded::of(&used.id, &used.calls);
    let config = Config { ranking: read.weights.clone(), ..read.config.clone() };
    let sessions = SessionStore::new(Path::new("unused"));
    let access = Some(ModelAccess { chat: &recorded, prompts: Prompts::shipped(), cache: None });
    let replaying = Agent::new(lake(), &place.index, StaticModel::builtin(), config, sessions)
        .with_model(access)
        .replaying(&read.provenance);
    let again = replaying.trace(&mut read.session.clone(), &read.request).expect("a replay");
    assert_eq!(again.answer_hash, trace.answer_hash, "{:?}", read.difference(&again.read_back().expect("a trace")));

    // Another model answers otherwise, and the trace says from where on.
    let other = Sensible { operation: "Join" };
    let llm = LlmConfig { ranking: Some(0.6), reading: Some(0.95), ..LlmConfig::default() };
    let elsewhere =
        agent(&place, llm, Some(&other)).trace(&mut read.session.clone(), &read.request).expect("another trace");
    let difference = read.difference(&elsewhere.read_back().expect("a trace")).expect("a difference");
    assert_eq!(difference.stage, "signals");
    // Without a model, too, a trace has the whole search, and names the step in which it parts from another.
    let alone = || agent(&place, LlmConfig::default(), None).trace(&mut Session::new("s", "lake"), &asking("airlines"));
    let one = alone().expect("a trace").read_back().expect("a trace");
    let run = one.provenance.run.as_ref().expect("a run");
    assert!(run.iterations[0].candidates.channels.iter().any(|list| list.channel == "words" && !list.hits.is_empty()));
    assert!(!run.iterations[0].report.reason.is_empty());
    assert_eq!(one.difference(&alone().expect("a trace").read_back().expect("a trace")), None);
    let mut parted = one.clone();
    let run = parted.provenance.run.as_mut().expect("a run");
    run.iterations[0].candidates.channels[0].hits.remove(0);
    let difference = one.difference(&parted).expect("a difference");
    assert_eq!(difference.stage, "channel words for `airlines`", "{}", difference.what);
}

#[test]
fn a_turn_with_reading_ranking_and_answer_is_short() {
    /// As [`Sensible`], without counting tokens: they are estimated, a token for three bytes, more than servers count.
    struct Uncounted(Sensible);
    impl Chat for Uncounted {
        fn id(&self) -> &str {
            self.0.id()
        }

        fn complete(&self, call: &ChatCall, time: Duration) -> Result<ChatAnswer, ChatFailure> {
            Ok(ChatAnswer { usage: None, ..self.0.complete(call, time)? })
        }
    }
    let place = indexed();
    let model = Uncounted(Sensible { operation: "Filter" });
    // A judge of no weight: no plans are asked for.
    let llm = || LlmConfig { reading: Some(1.0), ranking: Some(1.0), judging: Some(0.0), ..LlmConfig::default() };
    let asked = |text: &str, llm| {
        let turn = agent(&place, llm, Some(&model)).trace(&mut Session::new("s", "lake"), &asking(text));
        turn.expect("a trace").read_back().expect("a trace").provenance.model.expect("a model").calls
    };
    for (text, candidates) in
        [("population of each country over the years", 30), ("delays of flights by airport and carrier", 25)]
    {
        let calls = asked(text, llm());
        let prompts: Vec<&str> = calls.iter().filter_map(|call| call.prompt.split('@').next()).collect();
        // What is said of rows is read once more over the table that was found, as in a turn with a table at hand.
        assert!(
            prompts == ["read", "rerank", "answer"] || prompts == ["read", "rerank", "read", "answer"],
            "{prompts:?}"
        );
        let shown = &calls[1].messages.last().expect("a question").content;
        assert!(shown.matches("\"title\":").count() >= candidates, "{shown}");
        let once = [&calls[0], &calls[1], &calls[calls.len() - 1]];
        let tokens: u64 = once.iter().map(|call| call.usage.prompt_tokens).sum();
        assert!(tokens <= 6_000, "{text}: {tokens}");
    }
    // Where nothing was asked before, the best are listed a second time.
    let calls = asked("delays of flights by airport and carrier", LlmConfig { reading: Some(0.0), ..llm() });
    assert_eq!(calls.iter().filter(|call| call.prompt.starts_with("rerank")).count(), 2);
}

#[test]
fn a_file_that_is_no_trace_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.json");
    for (text, what) in [
        ("", "is no trace"),
        ("{\"version\": 99}", "version 99"),
        ("{\"version\": 4}", "version 4"),
        ("{\"version\": 5}", "is no trace"),
        ("[]", "is no trace"),
        ("{\"version\": 5, \"answer\": \u{0}}", "is no trace"),
    ] {
        std::fs::write(&file, text).expect("a file");
        let error = TurnTrace::read(&file).expect_err("no trace").to_string();
        assert!(error.contains(what) && error.contains("t.json"), "{error}");
    }
}

#[test]
fn a_real_model_is_replayed_byte_for_byte() {
    let (Ok(url), Ok(model)) = (std::env::var("LAKEWARD_TEST_LLM_URL"), std::env::var("LAKEWARD_TEST_LLM_MODEL"))
    else {
        eprintln!("skipped: LAKEWARD_TEST_LLM_URL and LAKEWARD_TEST_LLM_MODEL are not set");
        return;
    };
    let chat =
        OpenAiChat::connect(&Server { url, model, key: None }, LlmConfig::default().manners()).expect("an address");
    let place = indexed();
    let llm = LlmConfig { candidates: 4, seconds_per_turn: 300.0, timeout_seconds: 200.0, ..LlmConfig::default() };
    let (alone, with) = (agent(&place, llm.clone(), None), agent(&place, llm, Some(&chat)));
    let request = asking("sleep of mammals by diet");
    let trace = with.trace(&mut Session::new("s", "lake"), &request).expect("a trace");
    let used = trace.provenance.model.as_ref().expect("a model");
    assert!(used.spent.usage.tokens() > 0 && !used.calls.is_empty());
    // It takes no table away, and what it wants searched besides does not come first.
    let without = alone.turn(&mut Session::new("s", "lake"), &request).expect("an answer");
    assert!(with_ids(&without).is_subset(&with_ids(&trace.answer)));
    assert_eq!(trace.answer.tables[0].table, without.tables[0].table);
    let recorded = Recorded::of(&used.id, &used.calls);
    let again = agent(&place, trace.config.llm.clone(), Some(&recorded));
    let again = again.replaying(&trace.provenance).trace(&mut trace.session.clone(), &request).expect("a replay");
    assert_eq!(again.answer_hash, trace.answer_hash);
}

fn with_ids(answer: &Recommendation) -> std::collections::BTreeSet<&str> {
    answer.tables.iter().map(|table| table.table.as_str()).collect()
}
