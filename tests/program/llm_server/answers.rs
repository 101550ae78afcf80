//! Answers that come as they should and say what they must not: the closed set, one repair, and the shapes of messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use lakeward_models::llm::{FailureKind, LanguageModel, Limits, Manners, OpenAiChat, Prompts, Unanswered};
use serde_json::{Value, json};

use crate::chat_behaviour::chat_behaves;

use super::server::{Reply, Server, body, complains, completion, says};
use super::{LIMITS, TIME, asked_of, at, connect, failure, ids, rank};

fn message(message: &Value, finish: &str) -> (FailureKind, String) {
    let answer = completion(message, finish);
    failure(&Server::new(move |_, _| body(200, &answer)))
}

#[test]
fn a_model_on_a_server_behaves() {
    let asked = |server: &Server, expected| {
        let manners = Manners { retries: 1, concurrency: 4 };
        let chat = OpenAiChat::connect(&at(&server.url()), manners).expect("a connection");
        chat_behaves(&chat, TIME, expected);
    };
    asked(&Server::new(|_, _| says("{}")), Ok("{}"));
    asked(&Server::new(|_, _| complains(401, "who are\nyou?")), Err(FailureKind::Refused));
    asked(&Server::new(|_, _| complains(500, "it fell over")), Err(FailureKind::ServerError));
    asked(&Server::new(|_, _| Reply::Hangs(Vec::new())), Err(FailureKind::TimedOut));
}

#[test]
fn unknown_and_doubled_ids_are_repaired_once() {
    for (wrong, problem) in [
        ("{\"ranking\": [\"c09\"]}", "is no candidate"),
        ("{\"ranking\": [\"c01\", \"c01\"]}", "stands there twice"),
        ("{\"order\": [\"c01\"]}", "not of the asked shape"),
        ("[\"c01\"]", "no JSON object"),
        ("I would rank c01 first.", "no JSON object"),
    ] {
        let mended = Server::new(move |number, _| says(if number == 0 { wrong } else { "{\"ranking\": [\"c03\"]}" }));
        let outcome = asked_of(&connect(&mended.url()));
        assert_eq!((outcome.answer, outcome.calls), (Ok(ids(&["c03"])), 2), "{wrong}");
        let second = &mended.asked()[1].body["messages"];
        let error = second.as_array().and_then(|all| all.last()).map(|last| last["content"].to_string());
        assert!(error.is_some_and(|error| error.contains(problem)), "{second}");
        let stubborn = Server::new(move |_, _| says(wrong));
        let outcome = asked_of(&connect(&stubborn.url()));
        assert!(
            matches!(&outcome.answer, Err(Unanswered::Contract(why)) if why.contains(problem)),
            "{:?}",
            outcome.answer
        );
        assert_eq!(outcome.calls, 2);
    }
}

#[test]
fn a_text_of_megabytes_is_refused_and_not_sent_back() {
    let server = Server::new(|_, _| says(&"{\"ranking\": [\"c01\"]} ".repeat(100_000)));
    let outcome = asked_of(&connect(&server.url()));
    assert!(matches!(outcome.answer, Err(Unanswered::Contract(_))), "{:?}", outcome.answer);
    assert!(server.asked()[1].body.to_string().len() < 20_000);
}

#[test]
fn messages_without_an_answer() {
    let text = json!({"content": "{\"ranking\": [\"c0"});
    assert_eq!(message(&text, "length").0, FailureKind::Unfinished);
    assert_eq!(message(&text, "content_filter").0, FailureKind::Declined);
    assert_eq!(message(&json!({"content": null}), "stop").0, FailureKind::Broken);
    assert_eq!(message(&json!({"content": " \n"}), "stop").0, FailureKind::Broken);
    let (kind, line) = message(&json!({"content": null, "refusal": "I can't\nhelp"}), "stop");
    assert_eq!(kind, FailureKind::Declined);
    assert!(line.ends_with("declines: I can't help"), "{line}");
    let calls = json!({"content": null, "tool_calls": [{"id": "1", "function": {"name": "rank", "arguments": "{}"}}]});
    let (kind, line) = message(&calls, "tool_calls");
    assert!(kind == FailureKind::Broken && line.contains("called a tool"), "{line}");
    for none in [json!({"choices": []}), json!({"choices": [{}]}), json!({})] {
        assert_eq!(failure(&Server::new(move |_, _| body(200, &none))).0, FailureKind::Broken);
    }
}

#[test]
fn shapes_that_some_servers_use_are_understood() {
    let parts =
        json!({"content": [{"type": "text", "text": "{\"ranking\": "}, {"type": "text", "text": "[\"c02\"]}"}]});
    let server = Server::new(move |_, _| body(200, &completion(&parts, "stop")));
    assert_eq!(asked_of(&connect(&server.url())).answer, Ok(ids(&["c02"])));
    for usage in [json!(null), json!({"prompt_tokens": -3, "completion_tokens": "many"}), json!([])] {
        let mut answer = completion(&json!({"content": "{\"ranking\": [\"c02\"]}"}), "stop");
        answer["usage"] = usage;
        let server = Server::new(move |_, _| body(200, &answer));
        let chat = connect(&server.url());
        let model = LanguageModel::new(&chat, Prompts::shipped(), LIMITS, None);
        assert_eq!(rank(&model), Ok(ids(&["c02"])));
        assert!(model.spent().usage.tokens() > 100, "estimated where nobody counts");
    }
}

#[test]
fn the_time_of_a_turn_is_the_time_of_its_calls_together() {
    let server =
        Server::new(|_, _| Reply::After(Duration::from_millis(600), Box::new(says("{\"ranking\": [\"c09\"]}"))));
    let chat = connect(&server.url());
    let limits = Limits { time: Duration::from_millis(900), ..LIMITS };
    let model = LanguageModel::new(&chat, Prompts::shipped(), limits, None);
    let started = std::time::Instant::now();
    let answer = rank(&model);
    assert!(matches!(&answer, Err(Unanswered::Failed(failure)) if failure.kind == FailureKind::TimedOut), "{answer:?}");
    assert!(started.elapsed() < TIME);
}

#[test]
fn threads_ask_at_once_and_no_more_than_allowed() {
    const PATIENCE: Duration = Duration::from_secs(60);
    let server =
        Server::new(|_, _| Reply::After(Duration::from_millis(60), Box::new(says("{\"ranking\": [\"c02\"]}"))));
    let chat = OpenAiChat::connect(&at(&server.url()), Manners { retries: 0, concurrency: 3 }).expect("a connection");
    // How many at once is what counts: a machine that stands still for a while changes nothing.
    let patient = Limits { time: PATIENCE, call_time: PATIENCE, ..LIMITS };
    let right = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let model = LanguageModel::new(&chat, Prompts::shipped(), patient, None);
                right.fetch_add(usize::from(rank(&model) == Ok(ids(&["c02"]))), Ordering::SeqCst);
            });
        }
    });
    assert_eq!((right.into_inner(), server.asked().len()), (12, 12));
    assert!((2..=3).contains(&server.most_at_once()), "{}", server.most_at_once());
    // One model shared by threads counts all their calls.
    let model = LanguageModel::new(&chat, Prompts::shipped(), Limits { calls: 6, ..patient }, None);
    thread::scope(|scope| (0..6).for_each(|_| _ = scope.spawn(|| rank(&model).expect("an answer"))));
    assert_eq!(model.spent().calls, 6);
}

#[test]
fn who_waits_for_a_turn_waits_within_the_time() {
    let server = Server::new(|_, _| Reply::Hangs(Vec::new()));
    let chat = OpenAiChat::connect(&at(&server.url()), Manners { retries: 2, concurrency: 1 }).expect("a connection");
    thread::scope(|scope| (0..3).for_each(|_| _ = scope.spawn(|| assert!(asked_of(&chat).answer.is_err()))));
}
