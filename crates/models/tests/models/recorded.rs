//! The model that answers from records.

use std::time::Duration;

use lakeward_models::llm::{
    CallOutcome, CallRecord, Chat, ChatCall, ChatFailure, FailureKind, ModelPart, PartedChat, Recorded, Usage,
};

use crate::chat_behaviour::{TIMES, chat_behaves, chat_behaves_on, question};

const TIME: Duration = Duration::from_secs(1);

fn recorded(answer: Option<&str>, failure: Option<ChatFailure>) -> Recorded {
    let record = CallRecord {
        prompt: "port@1".into(),
        key: question().key("model@host"),
        messages: question().messages,
        answer: answer.map(str::to_string),
        failure,
        outcome: CallOutcome::Accepted,
        usage: Usage::default(),
        elapsed_ms: 1.0,
        cached: false,
    };
    Recorded::of("model@host", &vec![record; TIMES])
}

#[test]
fn recorded_answers_and_failures_behave() {
    let model = recorded(Some("{}"), None);
    chat_behaves(&model, TIME, Ok("{}"));
    // Each was recorded once for each time.
    assert_eq!(model.complete(&question(), TIME).map_err(|failure| failure.kind), Err(FailureKind::NotRecorded));
    let busy = ChatFailure::new(FailureKind::Busy, "too many requests\nat once");
    chat_behaves(&recorded(None, Some(busy)), TIME, Err(FailureKind::Busy));
    chat_behaves(&recorded(None, None), TIME, Err(FailureKind::Broken));
    chat_behaves(&Recorded::of("model@host", &[]), TIME, Err(FailureKind::NotRecorded));
}

#[test]
fn models_for_parts_of_the_work_behave() {
    let parted = || {
        let busy = ChatFailure::new(FailureKind::Busy, "too many requests");
        let ranker: Box<dyn Chat> = Box::new(recorded(None, Some(busy)));
        PartedChat::new(Box::new(recorded(Some("{}"), None)), vec![(ModelPart::Ranker, ranker)])
    };
    chat_behaves(&parted(), TIME, Ok("{}"));
    let ranking = ChatCall { part: ModelPart::Ranker, ..question() };
    chat_behaves_on(&ranking, &parted(), TIME, Err(FailureKind::Busy));
}
