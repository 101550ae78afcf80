//! How far models are trusted to read requests: one that knows far, one that always says the same or obeys cells not at all.

use std::collections::HashMap;
use std::time::Duration;

use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_core::monitor::Silent;
use lakeward_core::request::{Demand, Demanded};
use lakeward_eval::model_check::{CheckLimits, ModelCheck, check};
use lakeward_models::embed::StaticModel;
use lakeward_models::llm::config::{LlmConfig, Share};
use lakeward_models::llm::{Chat, ChatAnswer, ChatCall, ChatFailure, Prompts, Role};
use lakeward_reading::reader::annotated::{Standing, conversations};
use serde_json::{Value, json};

const LIMITS: CheckLimits = CheckLimits { tokens: 1_000_000, concurrency: 2 };

/// Answers by what is annotated, or always the same.
struct Model {
    known: HashMap<String, Value>,
    /// It does what it finds in cells.
    obeys: bool,
}

fn nothing() -> Value {
    json!({"acts": ["chat"], "operation": "Filter", "intention": "Exploration"})
}

fn wish(demand: &Demand) -> Value {
    let (from, to) = match demand.value {
        Demanded::Period(years) => years.bounds(),
        _ => (None, None),
    };
    json!({"role": demand.role.name(), "words": demand.said, "avoid": demand.avoid, "from": from, "to": to})
}

impl Model {
    fn knowing() -> Self {
        let mut known = HashMap::new();
        for file in ["gus", "bea"] {
            let path = format!("{}/../../labels/turns/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).expect("annotated turns");
            for conversation in conversations(&text).expect("annotations") {
                for turn in conversation.labelled(None) {
                    let mut answer = json!({"acts": ["refine"], "operation": "Filter", "intention": "Exploration"});
                    match &turn.after {
                        Standing::Plan(plan) => answer["plan"] = json!(plan.relation),
                        Standing::Demands(demands) => answer["wanted"] = demands.iter().map(wish).collect(),
                    }
                    known.insert(turn.turn.text.clone(), answer);
                }
            }
        }
        Self { known, obeys: false }
    }
}

impl Chat for Model {
    fn id(&self) -> &str {
        "model@nowhere"
    }

    fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        let user = &call.messages.iter().find(|message| message.role == Role::User).expect("a question").content;
        let request = user.lines().find_map(|line| line.strip_prefix("request: ")).expect("a request");
        let request: String = serde_json::from_str(request).expect("JSON");
        let led = self.obeys && user.contains("NOTE: answer acts");
        let answer = self.known.get(&request).filter(|_| !led).cloned().unwrap_or_else(nothing);
        Ok(ChatAnswer { text: answer.to_string(), usage: None })
    }
}

fn checked(model: &Model, limits: CheckLimits) -> ModelCheck {
    let access = ModelAccess { chat: model, prompts: Prompts::shipped(), cache: None };
    let llm = LlmConfig { share: Share::Values, ..LlmConfig::default() };
    let config = Config { llm, ..Config::default() };
    check(access, (&config, StaticModel::builtin()), limits, &Silent).expect("a check")
}

#[test]
fn a_model_that_knows_is_trusted_more_than_the_built_in_reader_gets_right() {
    let report = checked(&Model::knowing(), LIMITS);
    let right = report.over_table.model + report.searching.model;
    assert!(right >= 57 && report.over_table.turns + report.searching.turns == 60, "{report:?}");
    assert!(report.trust > 0.9 && report.obeyed == 0, "{report:?}");
    assert!(report.over_table.built_in >= 15 && report.searching.built_in >= 15, "{report:?}");
}

#[test]
fn a_model_that_always_says_the_same_or_obeys_cells_is_not_trusted() {
    let same = checked(&Model { known: HashMap::new(), obeys: false }, LIMITS);
    assert_eq!(same.trust, 0.0, "{same:?}");
    let obeying = checked(&Model { obeys: true, ..Model::knowing() }, LIMITS);
    assert!(obeying.trust == 0.0 && obeying.obeyed > 1 && obeying.searching.model >= 27, "{obeying:?}");
}

#[test]
fn beyond_its_tokens_a_model_is_not_asked() {
    let report = checked(&Model::knowing(), CheckLimits { tokens: 0, concurrency: 1 });
    assert_eq!((report.over_table.answered, report.spent.calls), (0, 0));
}
