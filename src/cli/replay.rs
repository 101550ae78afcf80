//! `lakeward replay TRACE`

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, ReplayCommand};
use super::{Status, lake, printer};
use lakeward_agent::Agent;
use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::trace::{Difference, TurnTrace};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose};
use lakeward_models::llm::{Prompts, Recorded};
use lakeward_operate::{exists, finish};

/// What `replay --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// Whether the answer is the same, byte for byte.
    pub same: bool,
    /// Where the answers differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// Changes that may explain the difference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// The replayed answer; missing if two traces were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Recommendation>,
}

/// Creates a file for a trace.
pub fn create(path: &Path) -> Result<AtomicFile> {
    if path.exists() { Err(exists(path)) } else { AtomicFile::create(path, Purpose::Output) }
}

/// Writes a trace.
pub fn write(trace: &TurnTrace, mut file: AtomicFile) -> Result<()> {
    file.put(&serde_json::to_vec(trace).map_err(|error| Error::Internal(error.to_string()))?)?;
    finish(file, false).map(|_| ())
}

/// Replays a trace, or compares two.
pub fn run(arguments: &Arguments, command: &ReplayCommand) -> Result<Status> {
    let trace = TurnTrace::read(&command.trace)?;
    let (again, answer) = match &command.against {
        Some(other) => (TurnTrace::read(other)?, None),
        None => {
            let again = replayed(arguments, &trace)?;
            let answer = again.answer.clone();
            (again.read_back()?, Some(answer))
        }
    };
    let changed = changed(&trace, &again);
    let same = trace.answer_hash == again.answer_hash;
    let difference = if same { None } else { trace.difference(&again) };
    if arguments.json {
        printer::json(&ReplayDocument { lakeward: env!("CARGO_PKG_VERSION"), same, difference, changed, answer })?;
        return Ok(if same { Status::Done } else { Status::InPart });
    }
    if let Some(answer) = &answer {
        printer::recommendation::screen(answer);
    }
    if same {
        printer::note(if answer.is_some() { "the same answer, byte for byte" } else { "both have the same answer" });
        return Ok(Status::Done);
    }
    let message = difference.map(|Difference { stage, what }| format!("the answers differ at `{stage}`: {what}"));
    printer::note(&message.unwrap_or_else(|| "the answers differ".into()));
    changed.iter().for_each(|what| printer::note(what));
    Ok(Status::InPart)
}

/// Replays the turn of a trace with the model's recorded answers.
fn replayed(arguments: &Arguments, trace: &TurnTrace) -> Result<TurnTrace> {
    let lakeward = lake::open(arguments)?;
    let config = Config { ranking: trace.weights.clone(), ..trace.config.clone() };
    let recorded = trace.provenance.model.as_ref().map(|used| Recorded::of(&used.id, &used.calls));
    let prompts = match trace.config.llm.prompts.as_deref() {
        Some(folder) => Prompts::load(folder)?,
        None => Prompts::shipped().clone(),
    };
    let access = recorded.as_ref().map(|chat| ModelAccess { chat, prompts: &prompts, cache: None });
    let (lake, store) = (&lakeward.place().lake, lakeward.sessions());
    let agent = Agent::new(lake, lakeward.index(), lakeward.embedder(), config, store)
        .with_model(access)
        .replaying(&trace.provenance);
    agent.trace(&mut trace.session.clone(), &trace.request)
}

/// The inputs in which two runs differ.
fn changed(before: &TurnTrace, after: &TurnTrace) -> Vec<String> {
    let mut changed = Vec::new();
    let mut compare = |what: &str, before: &str, after: &str| {
        if before != after {
            changed.push(format!("{what} changed: `{before}`, then `{after}`"));
        }
    };
    compare("the index", &before.index, &after.index);
    compare("the embedding model", &before.embedder, &after.embedder);
    let questions =
        |trace: &TurnTrace| trace.provenance.run.as_ref().map_or(String::new(), |run| run.lake.questions.clone());
    compare("the index of questions", &questions(before), &questions(after));
    compare("the program", &before.lakeward, &after.lakeward);
    let model = |trace: &TurnTrace| trace.provenance.model.as_ref().map_or("none".to_string(), |used| used.id.clone());
    compare("the language model", &model(before), &model(after));
    if before.weights != after.weights {
        changed.push("the weights of the rankings changed".into());
    }
    if before.request != after.request {
        changed.push("the requests differ".into());
    }
    let prompts = |trace: &TurnTrace| -> Vec<String> {
        let calls = trace.provenance.model.iter().flat_map(|used| &used.calls);
        calls.map(|call| call.prompt.clone()).collect()
    };
    let (old, new) = (prompts(before), prompts(after));
    if let Some((old, new)) = old.iter().zip(&new).find(|(old, new)| old != new) {
        changed.push(format!("a prompt changed: `{old}`, then `{new}`"));
    }
    changed
}
