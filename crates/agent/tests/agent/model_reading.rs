//! Requests as a language model reads them: its plan is applied, checked against what is there, repaired once, and left aside where it does
//! not hold or is not trusted.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::{Agent, Request};
use lakeward_core::plan::Plan;
use lakeward_models::embed::StaticModel;
use lakeward_models::llm::config::{LlmConfig, Share};
use lakeward_models::llm::{Chat, ChatAnswer, ChatCall, ChatFailure, FailureKind, Prompts, Role};
use serde_json::{Value, json};

use super::replay::{indexed, lake};

const TABLE: &str = "population/gapminder/gap_1962";

/// Gives these readings in turn, and remembers what it was asked; to everything else it fails.
struct Reader {
    answers: Vec<Value>,
    asked: Mutex<Vec<String>>,
}

impl Reader {
    fn new(answers: &[Value]) -> Self {
        Self { answers: answers.to_vec(), asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("what was asked").clone()
    }
}

impl Chat for Reader {
    fn id(&self) -> &str {
        "reader@nowhere"
    }

    fn complete(&self, call: &ChatCall, _: Duration) -> Result<ChatAnswer, ChatFailure> {
        let mut asked = self.asked.lock().expect("what was asked");
        let answer = self.answers.get(asked.len()).filter(|_| call.answer == "reading");
        let user = call.messages.iter().rfind(|message| message.role == Role::User).expect("a question");
        asked.push(user.content.clone());
        let text = answer.ok_or_else(|| ChatFailure::new(FailureKind::Unreachable, "it has said all it had to say"))?;
        Ok(ChatAnswer { text: text.to_string(), usage: None })
    }
}

fn reading(plan: Value) -> Value {
    json!({"acts": ["refine"], "operation": "Aggregate", "intention": "Summarization", "plan": plan})
}

fn by_continent(table: &str, column: &str) -> Value {
    let measure = json!({"function": "median", "of": {"column": column}});
    json!({
        "source": {"table": table},
        "steps": [{"group": {"keys": [{"of": {"column": "continent"}}], "measures": [measure]}}],
    })
}

/// The answer to a request over [`TABLE`] by a model that is trusted as far as `trust`.
fn answer(chat: &Reader, text: &str, llm: LlmConfig) -> Recommendation {
    let place = indexed();
    let sessions = SessionStore::new(Path::new("unused"));
    let access = Some(ModelAccess { chat, prompts: Prompts::shipped(), cache: None });
    let config = Config { llm, ..Config::default() };
    let agent = Agent::new(lake(), &place.index, StaticModel::builtin(), config, sessions).with_model(access);
    let request = Request { text: text.into(), table: Some(TABLE.into()), k: 5, ..Request::default() };
    agent.turn(&mut Session::new("s", "lake"), &request).expect("an answer").into_inner()
}

fn trusted(trust: f64) -> LlmConfig {
    LlmConfig { reading: Some(trust), ..LlmConfig::default() }
}

fn first_plan(answer: &Recommendation) -> Option<&Plan> {
    answer.operations.first()?.runnable.as_ref()
}

fn plan(relation: &Value) -> Plan {
    let mut plan = relation.clone();
    plan["version"] = json!(1);
    Plan::from_json(&plan.to_string()).expect("a plan")
}

#[test]
fn its_plan_is_proposed_and_nothing_else_is_asked() {
    let meant = by_continent(TABLE, "gdpPercap");
    let chat = Reader::new(&[reading(meant.clone())]);
    let answer = answer(&chat, "middling prosperity, landmass by landmass", trusted(1.0));
    assert_eq!(first_plan(&answer), Some(&plan(&meant)), "{:?}", answer.operations.first());
    assert_eq!(chat.asked().len(), 1);
    assert!(answer.operations[0].preconditions.iter().all(|condition| condition.met));
}

#[test]
fn what_its_plan_changes_is_proposed_whatever_it_calls_the_whole() {
    let africa = json!({"compare": {
        "left": {"column": "continent"}, "comparison": "equal", "right": {"value": "Africa"},
    }});
    let meant = json!({"source": {"table": TABLE}, "steps": [{"filter": africa}]});
    let mut called = reading(meant.clone());
    called["operation"] = json!("Join");
    let answer = answer(&Reader::new(&[called]), "Africa only", trusted(1.0));
    assert_eq!(first_plan(&answer), Some(&plan(&meant)), "{:?}", answer.operations.first());
}

#[test]
fn what_does_not_hold_is_said_once_and_then_the_built_in_reader_reads() {
    let text = "the mean of gdpPercap for each continent";
    let (wrong, right) = (by_continent(TABLE, "wealth"), by_continent(TABLE, "gdpPercap"));
    let chat = Reader::new(&[reading(wrong.clone()), reading(right.clone())]);
    let repaired = answer(&chat, text, trusted(1.0));
    assert_eq!(first_plan(&repaired), Some(&plan(&right)));
    assert!(chat.asked()[1].contains("wealth"), "{}", chat.asked()[1]);
    let chat = Reader::new(&[reading(wrong.clone()), reading(wrong)]);
    let built_in = answer(&chat, text, trusted(1.0));
    let mut without = by_continent(TABLE, "gdpPercap");
    without["steps"][0]["group"]["measures"][0]["function"] = json!("mean");
    assert_eq!(first_plan(&built_in), Some(&plan(&without)));
    assert!(built_in.notes.iter().any(|note| note.contains("did not help with reading the request")));
}

#[test]
fn it_names_only_tables_that_it_was_shown() {
    let elsewhere = by_continent("film/no_such_table", "gdpPercap");
    let chat = Reader::new(&[reading(elsewhere.clone()), reading(elsewhere)]);
    let answer = answer(&chat, "the mean of gdpPercap for each continent", trusted(1.0));
    assert!(
        first_plan(&answer).is_some_and(|plan| plan.inputs().iter().all(|input| input.to_string().contains(TABLE)))
    );
    assert!(chat.asked()[1].contains("none of the tables given"));
}

#[test]
fn an_empty_result_is_asked_about_once() {
    let filter = |continent: &str| {
        let value = json!({"compare": {
            "left": {"column": "continent"}, "comparison": "equal", "right": {"value": continent},
        }});
        json!({"source": {"table": TABLE}, "steps": [{"filter": value}]})
    };
    let chat = Reader::new(&[reading(filter("Afrika")), reading(filter("Africa"))]);
    let answer = answer(&chat, "nur Afrika", trusted(1.0));
    assert_eq!(first_plan(&answer), Some(&plan(&filter("Africa"))));
}

#[test]
fn a_model_that_is_not_trusted_is_not_asked() {
    let chat = Reader::new(&[reading(by_continent(TABLE, "pop"))]);
    let answer = answer(&chat, "the mean of gdpPercap for each continent", trusted(0.0));
    assert!(!chat.asked().iter().any(|asked| asked.contains("earlier_plans: ")) && first_plan(&answer).is_some());
}

/// Of which the built-in reader is hardly sure.
const UNSURE: &str = "pop or gdp for the ones over there unless the later figure beats it, sort of per continent";

#[test]
fn a_plan_of_a_model_that_was_not_measured_is_said_to_be_one() {
    let meant = by_continent(TABLE, "pop");
    let chat = Reader::new(&[reading(meant.clone())]);
    let answer = answer(&chat, UNSURE, LlmConfig::default());
    assert_eq!(first_plan(&answer), Some(&plan(&meant)));
    let preconditions = &answer.operations[0].preconditions;
    assert!(
        preconditions.iter().any(|condition| !condition.met && condition.what.contains("model check")),
        "{preconditions:?}"
    );
}

#[test]
fn acts_and_wishes_of_a_model_that_was_not_measured_change_nothing() {
    for acts in [json!(["chat"]), json!(["undo"]), json!(["new"])] {
        let says = json!({"acts": acts, "operation": "Union", "intention": "Prediction"});
        let with = answer(&Reader::new(&[says]), UNSURE, LlmConfig::default());
        let without = answer(&Reader::new(&[]), UNSURE, trusted(0.0));
        assert_eq!(with.signals, without.signals);
        assert_eq!(with.operations, without.operations);
    }
}

#[test]
fn values_of_cells_are_told_only_where_that_is_allowed() {
    let chat = Reader::new(&[]);
    answer(&chat, "by continent", trusted(1.0));
    assert!(chat.asked()[0].contains("continent: text") && !chat.asked()[0].contains("Oceania"));
    let chat = Reader::new(&[]);
    answer(&chat, "by continent", LlmConfig { share: Share::Values, ..trusted(1.0) });
    assert!(chat.asked()[0].contains("Oceania"));
}
