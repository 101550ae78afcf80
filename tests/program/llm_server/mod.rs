//! The language model client against servers of every temper, all of them on this machine: whatever one does, the question
//! ends within its time with the right kind of failure and one clear line.

mod answers;
mod datasets;
mod dialects;
mod documents;
mod embeddings;
mod failures;
mod parts;
mod privacy;
pub(crate) mod recorded;
pub(crate) mod server;

use std::time::{Duration, Instant};

use lakeward_models::llm::{
    AnswerShape, FailureKind, Key, LanguageModel, Limits, Manners, OpenAiChat, PromptUse, Prompts, Refusal, Unanswered,
};
use serde::Deserialize;
use serde_json::{Value, json};

use server::Server;

/// A key that must not be seen anywhere.
const KEY: &str = "sk-0123456789-very-secret";
/// The time for a question in these tests.
const TIME: Duration = Duration::from_millis(1_500);
/// What asking costs beside: two slow cores under load.
const SLACK: Duration = Duration::from_millis(1_000);

const LIMITS: Limits = Limits {
    calls: 4,
    tokens: 100_000,
    time: TIME,
    call_time: TIME,
    money: None,
    question_price: 0.0,
    answer_price: 0.0,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ranked {
    ranking: Vec<String>,
}

fn at(url: &str) -> lakeward_models::llm::Server {
    lakeward_models::llm::Server { url: url.into(), model: "drill".into(), key: Some(Key::new(KEY)) }
}

fn connect(url: &str) -> OpenAiChat {
    OpenAiChat::connect(&at(url), Manners { retries: 2, concurrency: 2 }).expect("a connection")
}

fn shape() -> AnswerShape {
    let schema: Value = json!({
        "type": "object", "additionalProperties": false, "required": ["ranking"],
        "properties": {"ranking": {"type": "array", "items": {"enum": ["c01", "c02", "c03"]}}},
    });
    AnswerShape { name: "ranking", schema, max_tokens: 50 }
}

/// Asks for an order of three candidates; unknown and doubled ids are refused.
fn rank(model: &LanguageModel<'_>) -> Result<Vec<String>, Unanswered> {
    model.ask(PromptUse::Rerank, &[("request", json!("ports"))], shape(), |ranked: Ranked| {
        let valid = ["c01", "c02", "c03"];
        let refused = |problem: String| Refusal { problem, valid: valid.map(str::to_string).to_vec() };
        for (place, id) in ranked.ranking.iter().enumerate() {
            if !valid.contains(&id.as_str()) {
                return Err(refused(format!("`{id}` is no candidate")));
            }
            if ranked.ranking[..place].contains(id) {
                return Err(refused(format!("`{id}` stands there twice")));
            }
        }
        Ok(ranked.ranking)
    })
}

/// What a question became, checked for what holds whatever the server does: the time, one line, no key.
struct Outcome {
    answer: Result<Vec<String>, Unanswered>,
    took: Duration,
    calls: usize,
}

fn asked_of(chat: &OpenAiChat) -> Outcome {
    let model = LanguageModel::new(chat, Prompts::shipped(), LIMITS, None);
    let started = Instant::now();
    let answer = rank(&model);
    let took = started.elapsed();
    assert!(took < TIME + SLACK, "took {took:?}");
    let records = serde_json::to_string(&model.calls()).expect("records");
    assert!(!records.contains(KEY) && !format!("{:?} {answer:?}", model.calls()).contains(KEY), "{records}");
    if let Err(error) = &answer {
        let line = error.to_string();
        assert!(!line.contains('\n') && line.len() < 700 && !line.contains(KEY), "{line}");
        assert_eq!(model.trouble().map(|(_, trouble)| trouble).as_ref(), Some(error));
    }
    Outcome { answer, took, calls: model.spent().calls }
}

/// The failure that a server's behaviour leads to, with its line.
fn failure(server: &Server) -> (FailureKind, String) {
    let outcome = asked_of(&connect(&server.url()));
    match outcome.answer {
        Err(Unanswered::Failed(failure)) => (failure.kind, failure.message),
        other => panic!("{other:?}"),
    }
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}
