//! What every [`Chat`] promises: the same answer on every thread, or a failure of its kind in one clean line, within the time; and an
//! id that does not change.

use std::time::{Duration, Instant};

use lakeward_models::llm::{Chat, ChatCall, FailureKind, Message, Role};
use serde_json::json;

/// How often [`chat_behaves`] asks.
pub const TIMES: usize = 6;
/// What asking may take beside its time: two slow cores under load.
const SLACK: Duration = Duration::from_secs(2);

/// The question that [`chat_behaves`] asks.
pub fn question() -> ChatCall {
    ChatCall {
        part: Default::default(),
        messages: vec![
            Message { role: Role::System, content: "Answer with JSON.".into() },
            Message { role: Role::User, content: "Which port? \u{202e}\"quoted\" 東京\n".into() },
        ],
        answer: "port",
        schema: json!({"type": "object", "additionalProperties": false, "required": [], "properties": {}}),
        max_tokens: 20,
    }
}

/// Asks `chat` six times, from several threads; each time it says `expected`.
pub fn chat_behaves(chat: &dyn Chat, time: Duration, expected: Result<&str, FailureKind>) {
    chat_behaves_on(&question(), chat, time, expected);
}

/// The same with another question.
pub fn chat_behaves_on(call: &ChatCall, chat: &dyn Chat, time: Duration, expected: Result<&str, FailureKind>) {
    let id = chat.id().to_string();
    assert!(!id.is_empty() && !id.contains(char::is_whitespace), "{id}");
    assert_eq!(call.key(&id), call.clone().key(&id));
    assert_ne!(call.key(&id), call.key("another model"));
    let ask = || {
        let started = Instant::now();
        let answer = chat.complete(call, time);
        assert!(started.elapsed() < time + SLACK, "{id}: {:?}", started.elapsed());
        match (answer, expected) {
            (Ok(answer), Ok(text)) => assert_eq!(answer.text, text, "{id}"),
            (Err(failure), Err(kind)) => {
                assert_eq!(failure.kind, kind, "{id}: {failure}");
                let line = failure.to_string();
                assert!(!line.is_empty() && !line.contains('\n') && line.chars().count() <= 300, "{id}: {line:?}");
            }
            (answer, expected) => panic!("{id}: {answer:?}, not {expected:?}"),
        }
    };
    ask();
    std::thread::scope(|scope| (0..TIMES - 2).for_each(|_| _ = scope.spawn(ask)));
    ask();
    assert_eq!(chat.id(), id, "the id changed");
}
