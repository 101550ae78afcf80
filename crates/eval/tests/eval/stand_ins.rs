//! Models that are none behave as others do.

use std::time::Duration;

use lakeward_eval::stand_in::{KINDS, StandIn};
use lakeward_models::llm::listwise::Listed;
use lakeward_models::llm::{Chat, ChatCall, FailureKind, Message, Role};
use serde_json::{Value, json};

use crate::chat_behaviour::{chat_behaves, chat_behaves_on, question};

const TIME: Duration = Duration::from_secs(1);

#[test]
fn a_stand_in_behaves() {
    let ids: Vec<String> = Listed::of("ports", 3).iter().map(|(id, _)| id.to_string()).collect();
    let cards: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
    let content = format!("request: \"ports\"\ncandidates: {}\n", Value::from(cards));
    let ranking = ChatCall { messages: vec![Message { role: Role::User, content }], ..question() };
    for kind in KINDS {
        let model = StandIn::named(kind).expect("a stand-in");
        // It only orders, and only what it was told of.
        chat_behaves(&model, TIME, Err(FailureKind::Refused));
        chat_behaves_on(&ranking, &model, TIME, Err(FailureKind::Refused));
        model.knows("ports", &[0.0, 2.0, 1.0]);
        let answer = model.complete(&ranking, TIME).expect("an order").text;
        chat_behaves_on(&ranking, &model, TIME, Ok(&answer));
        let order: Value = serde_json::from_str(&answer).expect("JSON");
        let mut ordered: Vec<&str> =
            order["ranking"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        ordered.sort_unstable();
        let mut known: Vec<&str> = ids.iter().map(String::as_str).collect();
        known.sort_unstable();
        assert_eq!(ordered, known, "{kind}");
    }
}
