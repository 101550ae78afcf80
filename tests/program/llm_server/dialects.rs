//! Servers that do not know a part of the question: it is left out from then on.

use serde_json::Value;

use super::server::{Asked, Reply, Server, complains, says};
use super::{asked_of, connect, failure, ids};

const GOOD: &str = "{\"ranking\": [\"c01\"]}";

/// The kinds of structure that were asked for, in order.
fn structures(asked: &[Asked]) -> Vec<String> {
    let kind = |asked: &Asked| asked.body["response_format"]["type"].as_str().unwrap_or("none").to_string();
    asked.iter().map(kind).collect()
}

#[test]
fn without_schemas_and_without_objects() {
    let server = Server::new(|_, asked| match asked.body.get("response_format") {
        Some(_) => complains(400, "This response_format is unavailable now"),
        None => says(GOOD),
    });
    let chat = connect(&server.url());
    assert_eq!(asked_of(&chat).answer, Ok(ids(&["c01"])));
    assert_eq!(structures(&server.asked()), ["json_schema", "json_object", "none"]);
    assert_eq!(asked_of(&chat).answer, Ok(ids(&["c01"])));
    assert_eq!(structures(&server.asked())[3..], ["none"], "it is remembered");
}

#[test]
fn objects_but_no_schemas() {
    let listed = r#"{"detail": [{"loc": ["body", "response_format", "type"], "msg": "unexpected value", "input": {"temperature": 0}}]}"#;
    let server = Server::new(|_, asked| match asked.body["response_format"]["type"].as_str() {
        Some("json_schema") => Reply::Says(422, "", listed.into()),
        _ => says(GOOD),
    });
    let chat = connect(&server.url());
    assert!(asked_of(&chat).answer.is_ok() && asked_of(&chat).answer.is_ok());
    assert_eq!(structures(&server.asked()), ["json_schema", "json_object", "json_object"]);
    assert_eq!(server.asked()[2].body["temperature"], 0, "what it can take is still said");
}

#[test]
fn other_names_and_parts_that_are_not_wanted() {
    let server = Server::new(|_, asked| {
        let has = |name: &str| asked.body.get(name).is_some();
        if has("max_tokens") {
            return complains(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
        }
        if has("temperature") {
            return complains(400, "Unsupported value: 'temperature' does not support 0 with this model.");
        }
        if has("seed") {
            let body = r#"{"error": {"message": "Unknown parameter", "param": "seed"}}"#;
            return Reply::Says(400, "", body.into());
        }
        says(GOOD)
    });
    let chat = connect(&server.url());
    assert!(asked_of(&chat).answer.is_ok() && asked_of(&chat).answer.is_ok());
    let asked = server.asked();
    assert_eq!(asked.len(), 5);
    let last = &asked[4].body;
    assert_eq!(last["max_completion_tokens"], 50);
    assert!(["max_tokens", "temperature", "seed"].iter().all(|name| last.get(name).is_none()), "{last}");
    assert_eq!(last["response_format"]["json_schema"]["strict"], Value::Bool(true));
}

#[test]
fn a_refusal_that_is_not_about_the_question_changes_nothing() {
    for status in [401, 403, 404] {
        let server = Server::new(move |_, _| complains(status, "the temperature of this seed"));
        failure(&server);
        assert_eq!(server.asked().len(), 1, "{status}");
    }
    let always = Server::new(|_, _| complains(400, "the max_completion_tokens, temperature and seed of it"));
    let (_, line) = failure(&always);
    assert!(line.contains("answers 400"), "{line}");
    assert_eq!(always.asked().len(), 6, "each part is left out once, no more");
}

#[test]
fn what_was_left_out_for_nothing_is_asked_for_again() {
    let server = Server::new(|number, _| if number < 3 { complains(400, "no such model") } else { says(GOOD) });
    let chat = connect(&server.url());
    assert!(asked_of(&chat).answer.is_err() && asked_of(&chat).answer.is_ok());
    assert_eq!(structures(&server.asked())[3], "json_schema");
}
