//! What a model on another machine is told: nothing that only cells say, unless the user shares values.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_agent::{Agent, Request};
use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_models::llm::config::{LlmConfig, Share};
use lakeward_models::llm::{Chat, ChatAnswer, ChatCall, ChatFailure, Prompts};

use super::replay::Sensible;

/// Only cells have these texts.
const OF_CELLS: [&str; 4] = ["zelqua", "orvandel", "kor", "prt"];

/// Answers as [`Sensible`] does, and keeps all that it is told.
struct Listening {
    sensible: Sensible,
    prompts: Mutex<Vec<(&'static str, String)>>,
}

impl Chat for Listening {
    fn id(&self) -> &str {
        self.sensible.id()
    }

    fn complete(&self, call: &ChatCall, timeout: Duration) -> Result<ChatAnswer, ChatFailure> {
        let text: Vec<&str> = call.messages.iter().map(|message| message.content.as_str()).collect();
        self.prompts.lock().expect("prompts").push((call.answer, text.join("\n").to_lowercase()));
        self.sensible.complete(call, timeout)
    }
}

/// All prompts of a conversation over landings of fish, in which what is said stands for other texts of cells.
fn prompts(share: Share) -> Vec<(&'static str, String)> {
    let lake = tempfile::tempdir().expect("a folder");
    let mut landings = String::from("harbour,country,tonnes,day\n");
    let mut harbours = String::from("harbour,region,berths\n");
    for row in 0..60 {
        let (harbour, country) = if row % 3 == 0 { ("Zelqua", "KOR") } else { ("Orvandel", "PRT") };
        writeln!(landings, "{harbour},{country},{},2019-03-{:02}", row + 3, row % 28 + 1).expect("a row");
        if row < 2 {
            writeln!(harbours, "{},coast {row},{}", ["Zelqua", "Orvandel"][row], row + 4).expect("a row");
        }
    }
    std::fs::write(lake.path().join("landings.csv"), landings).expect("a file");
    std::fs::write(lake.path().join("harbours.csv"), harbours).expect("a file");
    let at = lake.path().join(".lakeward");
    build(lake.path(), &at, StaticModel::builtin(), &BuildOptions::default(), &Silent).expect("a build");
    let index = LakeIndex::open(&at, StaticModel::builtin().id()).expect("an index");
    let chat = Listening { sensible: Sensible { operation: "Filter" }, prompts: Mutex::default() };
    let access = Some(ModelAccess { chat: &chat, prompts: Prompts::shipped(), cache: None });
    let llm = LlmConfig {
        share,
        reading: Some(0.0),
        ranking: Some(0.5),
        judging: Some(0.5),
        calls_per_turn: 50,
        ..LlmConfig::default()
    };
    let mut session = Session::new("s", "lake");
    let sessions = SessionStore::new(Path::new("unused"));
    for (text, table, reading) in [
        ("tonnes of fish that boats landed", None, 0.0),
        ("only what came from South Korea", Some("landings"), 0.0),
        ("and per day", None, 1.0),
    ] {
        let config = Config { llm: LlmConfig { reading: Some(reading), ..llm.clone() }, ..Config::default() };
        let agent =
            Agent::new(lake.path(), &index, StaticModel::builtin(), config, sessions.clone()).with_model(access);
        let request = Request { text: text.into(), table: table.map(Into::into), k: 5, ..Request::default() };
        agent.turn(&mut session, &request).expect("an answer");
    }
    chat.prompts.into_inner().expect("prompts")
}

#[test]
fn what_only_cells_say_goes_to_another_machine_only_where_values_are_shared() {
    let told = prompts(Share::Schema);
    for kind in ["reading", "query_plan", "verdict", "ranking", "answer"] {
        assert!(told.iter().any(|(of, _)| *of == kind), "no prompt for {kind}");
    }
    for (kind, text) in &told {
        let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
        let leaked = OF_CELLS.iter().find(|value| words.contains(value));
        assert!(leaked.is_none(), "{leaked:?} in the prompt for {kind}: {text}");
    }
    let is_masked = |text: &String| text.contains("\"value #1\"");
    assert!(told.iter().any(|(_, text)| is_masked(text)), "the condition on a country stands for its text");
    let shared = prompts(Share::Values);
    assert!(OF_CELLS.iter().all(|value| shared.iter().any(|(_, text)| text.contains(value))));
}
