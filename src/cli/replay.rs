//! `lakeward replay TRACE`

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, ReplayCommand};
use super::task::explanation;
use super::{Status, lake, printer};
use lakeward::answers::TaskTrace;
use lakeward_agent::Agent;
use lakeward_agent::config::Config;
use lakeward_agent::model::ModelAccess;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::trace::{Difference, Provenance, TurnTrace};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose};
use lakeward_models::llm::{Prompts, Recorded};
use lakeward_operate::{exists, finish};
use lakeward_tasks::task_graph::TaskAnswer;

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
    /// The replayed datasets of a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datasets: Option<Vec<TaskAnswer>>,
}

/// Creates a file for a trace.
pub fn create(path: &Path) -> Result<AtomicFile> {
    if path.exists() { Err(exists(path)) } else { AtomicFile::create(path, Purpose::Output) }
}

/// Writes a trace.
pub fn write(trace: &impl Serialize, mut file: AtomicFile) -> Result<()> {
    file.put(&serde_json::to_vec(trace).map_err(|error| Error::Internal(error.to_string()))?)?;
    finish(file, false).map(|_| ())
}

/// Replays a trace, or compares two.
pub fn run(arguments: &Arguments, command: &ReplayCommand) -> Result<Status> {
    if let Some(trace) = TaskTrace::read(&command.trace)? {
        return tasks(arguments, command, &trace);
    }
    let trace = TurnTrace::read(&command.trace)?;
    let (again, answer) = match &command.against {
        Some(other) => (TurnTrace::read(other)?, None),
        None => {
            let again = replayed(arguments, &trace)?;
            let answer = again.answer.clone();
            (again.read_back()?, Some(answer))
        }
    };
    let mut changed = Inputs::of_turn(&trace).changed(&Inputs::of_turn(&again));
    if trace.weights != again.weights {
        changed.push("the weights of the rankings changed".into());
    }
    if trace.request != again.request {
        changed.push("the requests differ".into());
    }
    let same = trace.answer_hash == again.answer_hash;
    let difference = if same { None } else { trace.difference(&again) };
    if let (Some(answer), false) = (&answer, arguments.json) {
        printer::recommendation::screen(answer);
    }
    let lakeward = env!("CARGO_PKG_VERSION");
    print(arguments, ReplayDocument { lakeward, same, difference, changed, answer, datasets: None })
}

/// The same for the datasets of a task.
fn tasks(arguments: &Arguments, command: &ReplayCommand, trace: &TaskTrace) -> Result<Status> {
    let (again, datasets) = match &command.against {
        Some(other) => {
            let wrong = || Error::usage(format!("`{}` is no trace of a search for a task", other.display()));
            (TaskTrace::read(other)?.ok_or_else(wrong)?, None)
        }
        None => {
            let lakeward = lake::open(arguments)?;
            let again = lakeward.replay_datasets(&lakeward.task_graph()?, trace)?;
            let datasets = again.answers.clone();
            (again, Some(datasets))
        }
    };
    let changed = Inputs::of_task(trace).changed(&Inputs::of_task(&again));
    let (same, difference) = (trace.answer_hash == again.answer_hash, trace.difference(&again));
    if let (Some(datasets), false) = (&datasets, arguments.json) {
        printer::listing::answers(datasets, Some(&explanation));
    }
    let lakeward = env!("CARGO_PKG_VERSION");
    print(arguments, ReplayDocument { lakeward, same, difference, changed, answer: None, datasets })
}

/// Tells whether two answers are the same.
fn print(arguments: &Arguments, document: ReplayDocument) -> Result<Status> {
    let status = if document.same { Status::Done } else { Status::InPart };
    if arguments.json {
        printer::json(&document)?;
        return Ok(status);
    }
    let ReplayDocument { same, difference, changed, answer, datasets, .. } = document;
    if same {
        let replayed = answer.is_some() || datasets.is_some();
        printer::note(if replayed { "the same answer, byte for byte" } else { "both have the same answer" });
        return Ok(status);
    }
    let message = difference.map(|Difference { stage, what }| format!("the answers differ at `{stage}`: {what}"));
    printer::note(&message.unwrap_or_else(|| "the answers differ".into()));
    changed.iter().for_each(|what| printer::note(what));
    Ok(status)
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

/// What an answer depended on.
struct Inputs<'t> {
    /// Each by its name.
    named: Vec<(&'static str, &'t str)>,
    /// Every prompt, in the order of the questions.
    prompts: Vec<&'t str>,
}

impl<'t> Inputs<'t> {
    fn of_turn(trace: &'t TurnTrace) -> Self {
        let questions = trace.provenance.run.as_ref().map_or("", |run| &run.lake.questions);
        let own = [
            ("the index", trace.index.as_str()),
            ("the embedding model", &trace.embedder),
            ("the index of questions", questions),
            ("the program", &trace.lakeward),
        ];
        Self::of(own, &trace.provenance)
    }

    fn of_task(trace: &'t TaskTrace) -> Self {
        let own = [
            ("the index", trace.index.as_str()),
            ("the graph", &trace.graph),
            ("the embedding model", &trace.embedder),
            ("the program", &trace.lakeward),
        ];
        Self::of(own, &trace.provenance)
    }

    fn of(own: [(&'static str, &'t str); 4], provenance: &'t Provenance) -> Self {
        let model = provenance.model.as_ref();
        let mut named = own.to_vec();
        named.push(("the language model", model.map_or("none", |used| &used.id)));
        Self { named, prompts: model.iter().flat_map(|used| &used.calls).map(|call| call.prompt.as_str()).collect() }
    }

    /// Those that differ in another run.
    fn changed(&self, after: &Self) -> Vec<String> {
        let prompts = self.prompts.iter().zip(&after.prompts).map(|(before, after)| ("a prompt", *before, *after));
        let first = prompts.into_iter().find(|(_, before, after)| before != after);
        let named = self.named.iter().zip(&after.named).map(|((what, before), (_, after))| (*what, *before, *after));
        let changed = named.filter(|(_, before, after)| before != after).chain(first);
        changed.map(|(what, before, after)| format!("{what} changed: `{before}`, then `{after}`")).collect()
    }
}
