//! How far models are trusted in each role: one that knows far, one that guesses, always says the same or obeys texts of the data not at all.

use std::collections::HashMap;
use std::time::Duration;

use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_core::monitor::Silent;
use lakeward_core::request::{Demand, Demanded};
use lakeward_eval::model_check::{CheckLimits, RoleCheck, check, questions};
use lakeward_eval::stand_in::StandIn;
use lakeward_models::embed::StaticModel;
use lakeward_models::llm::config::{LlmConfig, Share};
use lakeward_models::llm::{Chat, ChatAnswer, ChatCall, ChatFailure, ModelRole, Prompts, Role};
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

fn demand_json(demand: &Demand) -> Value {
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
                        Standing::Demands(demands) => answer["wanted"] = demands.iter().map(demand_json).collect(),
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
        let request = user.lines().find_map(|line| line.strip_prefix("request: ")).unwrap_or("\"\"");
        let request: String = serde_json::from_str(request).expect("JSON");
        let led = self.obeys && user.contains("NOTE: answer acts");
        let answer = self.known.get(&request).filter(|_| !led).cloned().unwrap_or_else(nothing);
        Ok(ChatAnswer { text: answer.to_string(), usage: None })
    }
}

fn checked(chat: &dyn Chat, role: ModelRole, limits: CheckLimits) -> RoleCheck {
    let access = ModelAccess { chat, prompts: Prompts::shipped(), cache: None };
    let llm = LlmConfig { share: Share::Values, ..LlmConfig::default() };
    let config = Config { llm, ..Config::default() };
    let report = check(access, (&config, StaticModel::builtin()), &[role], limits, &Silent).expect("a check");
    report.roles.into_iter().next().expect("a role")
}

#[test]
fn a_model_that_knows_is_trusted_more_than_the_built_in_reader_gets_right() {
    let report = checked(&Model::knowing(), ModelRole::Reading, LIMITS);
    assert!(report.model >= 57 && report.items == 60, "{report:?}");
    assert!(report.trust > 0.9 && report.obeyed == 0, "{report:?}");
    assert!(report.built_in >= 30, "{report:?}");
}

#[test]
fn a_model_that_always_says_the_same_or_obeys_cells_is_not_trusted() {
    let same = checked(&Model { known: HashMap::new(), obeys: false }, ModelRole::Reading, LIMITS);
    assert_eq!(same.trust, 0.0, "{same:?}");
    let obeying = checked(&Model { obeys: true, ..Model::knowing() }, ModelRole::Reading, LIMITS);
    assert!(obeying.trust == 0.0 && obeying.obeyed > 1 && obeying.model >= 27, "{obeying:?}");
}

#[test]
fn beyond_its_tokens_a_model_is_not_asked() {
    let limits = CheckLimits { tokens: 0, concurrency: 1 };
    for role in ModelRole::ALL {
        let report = checked(&Model::knowing(), role, limits);
        assert_eq!((report.answered, report.items, report.trust), (0, 60, 0.0));
    }
}

#[test]
fn an_order_weighs_as_much_as_it_knows() {
    let questions = questions(StaticModel::builtin()).expect("questions");
    let weight = |kind: &str| {
        let stand_in = StandIn::named(kind).expect("a kind");
        for question in &questions {
            let grade = |place| f64::from(u8::from(place == question.answer));
            stand_in.knows(question.request(), &(0..question.candidates()).map(grade).collect::<Vec<_>>());
        }
        checked(&stand_in, ModelRole::Ranking, LIMITS)
    };
    let oracle = weight("oracle");
    assert!(oracle.trust >= 0.95 && oracle.model == 60 && oracle.built_in < 50, "{oracle:?}");
    let noisy = weight("noisy");
    assert!(noisy.trust >= 0.2 && noisy.trust <= oracle.trust && noisy.model < 60, "{noisy:?}");
    for kind in ["random", "constant", "reversing", "obeying"] {
        let report = weight(kind);
        assert!(report.trust == 0.0 && report.answered == 60, "{kind}: {report:?}");
    }
    assert!(weight("obeying").obeyed > 10);
}

/// Judges and compares by what it knows; or always says yes; or yes where a text says so.
struct Knowing {
    titles: HashMap<String, String>,
    pairs: HashMap<(String, String), bool>,
    manner: &'static str,
}

impl Chat for Knowing {
    fn id(&self) -> &str {
        self.manner
    }

    fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        let user = &call.messages.iter().find(|message| message.role == Role::User).expect("a question").content;
        let line = |name: &str| -> Value {
            let line = user.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("null");
            serde_json::from_str(line).expect("JSON")
        };
        let text = |name: &str| line(name).as_str().unwrap_or_default().to_string();
        let known = match call.answer {
            "verdict" => {
                let title = &self.titles[&text("request: ")];
                line("candidates: ")
                    .as_array()
                    .expect("candidates")
                    .iter()
                    .any(|card| title.starts_with(card["title"].as_str().expect("a title").trim_end_matches('…')))
            }
            _ => self.pairs[&(text("said: "), text("title: "))],
        };
        let led = user.contains("NOTE:");
        let yes = match self.manner {
            "knows" => known,
            "obeys" => known || led,
            _ => true,
        };
        let verdict = if yes { "same" } else { "different" };
        let answer = match call.answer {
            "verdict" => json!({"sufficient": yes, "missing": [], "reason": "so it is"}),
            _ => json!({"verdict": verdict, "reason": "so it is"}),
        };
        Ok(ChatAnswer { text: answer.to_string(), usage: None })
    }
}

#[test]
fn who_judges_by_what_is_there_is_trusted_and_who_always_agrees_is_not() {
    let path = format!("{}/../../labels/same_dataset.jsonl", env!("CARGO_MANIFEST_DIR"));
    let pairs = std::fs::read_to_string(path).expect("pairs");
    let of = |line: &str| {
        let pair: Value = serde_json::from_str(line).expect("a pair");
        let text = |name: &str| pair[name].as_str().expect("a text").to_string();
        ((text("said"), text("title")), pair["same"] == true)
    };
    let pairs: HashMap<(String, String), bool> = pairs.lines().map(of).collect();
    let questions = questions(StaticModel::builtin()).expect("questions");
    let titles: HashMap<String, String> =
        questions.iter().map(|question| (question.text(), question.title().to_string())).collect();
    for role in [ModelRole::Judging, ModelRole::SameDataset] {
        let with = |manner| {
            let chat = Knowing { titles: titles.clone(), pairs: pairs.clone(), manner };
            checked(&chat, role, LIMITS)
        };
        let knows = with("knows");
        assert!(knows.trust > 0.9 && knows.items == 60 && knows.built_in < knows.model, "{knows:?}");
        assert_eq!(with("agrees").trust, 0.0);
        let obeys = with("obeys");
        assert!(obeys.trust == 0.0 && obeys.obeyed > 1, "{obeys:?}");
    }
}

/// Reads papers as they are labelled; or finds a dataset in each; or does what a paper says.
struct Extracting {
    papers: Vec<Value>,
    manner: &'static str,
}

impl Chat for Extracting {
    fn id(&self) -> &str {
        self.manner
    }

    fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        let user = &call.messages.iter().find(|message| message.role == Role::User).expect("a question").content;
        let line = |name: &str| -> Value {
            let line = user.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("null");
            serde_json::from_str(line).expect("JSON")
        };
        let title = line("title: ");
        let paper = self.papers.iter().find(|paper| paper["title"] == title).expect("a paper");
        let led = self.manner == "obeys" && paper["text"].as_str().is_some_and(|text| text.contains("NOTE:"));
        let uses =
            if led || self.manner == "nothing" { Vec::new() } else { paper["uses"].as_array().expect("uses").clone() };
        let sentences = line("sentences: ");
        let number = |name: &Value| {
            let has = |sentence: &&Value| {
                sentence["text"].as_str().is_some_and(|text| text.contains(name.as_str().expect("a name")))
            };
            sentences.as_array().and_then(|all| all.iter().find(has)).map_or(json!(1), |sentence| sentence["n"].clone())
        };
        let answer = match call.answer {
            "extract_gate" => json!({"uses_datasets": !uses.is_empty(), "sentence": usize::from(!uses.is_empty())}),
            "extract_pairs" => {
                let pair = |used: &Value| json!({"dataset": used[0], "task": used[1], "description": "", "sentence": number(&used[0])});
                json!({"pairs": uses.iter().map(pair).collect::<Vec<_>>()})
            }
            _ => {
                let task = |task: &Value| json!({"id": task["id"], "name": task["task"], "keywords": []});
                json!({"tasks": line("tasks: ").as_array().expect("tasks").iter().map(task).collect::<Vec<_>>()})
            }
        };
        Ok(ChatAnswer { text: answer.to_string(), usage: None })
    }
}

#[test]
fn who_reads_papers_as_labelled_is_trusted_and_who_finds_nothing_or_obeys_is_not() {
    let path = format!("{}/../../labels/extraction.jsonl", env!("CARGO_MANIFEST_DIR"));
    let papers = std::fs::read_to_string(path).expect("papers");
    let papers: Vec<Value> = papers.lines().map(|line| serde_json::from_str(line).expect("a paper")).collect();
    let with = |manner| checked(&Extracting { papers: papers.clone(), manner }, ModelRole::Extraction, LIMITS);
    let knows = with("knows");
    assert!(knows.items == 60 && knows.model >= 57 && knows.built_in < knows.model && knows.trust > 0.9, "{knows:?}");
    assert_eq!(with("nothing").trust, 0.0);
    let obeys = with("obeys");
    assert!(obeys.trust == 0.0 && obeys.obeyed > 1, "{obeys:?}");
}
