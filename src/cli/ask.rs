//! `lakeward ask TEXT`

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, AskCommand};
use super::{Status, lake, printer, replay};
use lakeward_agent::Request;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::trace::ModelUse;
use lakeward_core::error::{Error, Result};
use lakeward_models::llm::Spent;
use lakeward_search::cite::Checked;

/// What `ask --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AskDocument {
    /// The program's version.
    pub lakeward: &'static str,
    /// The request as typed.
    pub request: String,
    /// The session it belongs to, where it has one.
    pub session: Option<String>,
    /// The number of the turn, from 1.
    pub turn: usize,
    /// The answer.
    #[serde(flatten)]
    pub recommendation: Checked<Recommendation>,
    /// The language model that helped, with what it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelCost>,
    /// Time to answer with the index open, in milliseconds.
    pub elapsed_ms: f64,
}

/// A language model, with what it cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelCost {
    /// Model and server.
    pub id: String,
    /// What it cost.
    #[serde(flatten)]
    pub spent: Spent,
}

impl ModelCost {
    /// The cost of what was asked.
    pub fn of(used: &ModelUse) -> Self {
        Self { id: used.id.clone(), spent: used.spent }
    }
}

/// Answers one request, alone or as the next turn of a session.
pub fn run(arguments: &Arguments, command: &AskCommand) -> Result<Status> {
    let lakeward = lake::open_with_model(arguments)?;
    let store = lakeward.sessions();
    let lake = lakeward.place().lake.to_string_lossy();
    let mut session = match &command.session {
        Some(name) => match store.open(name) {
            Err(Error::UnknownSession { .. }) => store.create(Some(name), &lake)?,
            opened => opened?,
        },
        None => lakeward.new_session(),
    };
    let agent = lakeward.agent();
    let trace_file = command.trace.as_deref().map(replay::create).transpose()?;
    let request = Request {
        text: command.text.join(" "),
        table: command.table.clone(),
        column: command.column.clone(),
        k: command.answers.k.map_or(0, |k| k as usize),
    };
    let started = Instant::now();
    let (recommendation, provenance) = match trace_file {
        None => agent.traced_turn(&mut session, &request)?,
        Some(file) => {
            let trace = agent.trace(&mut session, &request)?;
            replay::write(&trace, file)?;
            (lakeward.gate().admit(trace.answer)?, trace.provenance)
        }
    };
    let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    let cost = provenance.model.as_ref().map(ModelCost::of);
    if command.session.is_some() {
        store.save(&mut session)?;
    }
    let found = !recommendation.tables.is_empty();
    if arguments.json {
        let document = AskDocument {
            lakeward: env!("CARGO_PKG_VERSION"),
            request: request.text,
            turn: session.latest().map_or(1, |turn| turn.number),
            session: command.session.clone(),
            recommendation,
            model: cost,
            elapsed_ms,
        };
        printer::json(&document)?;
    } else {
        printer::recommendation::screen(&recommendation);
        if command.answers.explain {
            printer::recommendation::why(&recommendation);
        }
        if !arguments.quiet {
            next(command, elapsed_ms, cost.as_ref());
        }
    }
    Ok(if found { Status::Done } else { Status::NothingFound })
}

/// What to type next, on stderr.
fn next(command: &AskCommand, elapsed_ms: f64, cost: Option<&ModelCost>) {
    let next = match (&command.session, command.answers.explain) {
        (Some(session), _) => format!("`lakeward repl --session {session}` goes on and carries operations out"),
        (None, true) => "`lakeward repl` carries operations out".into(),
        (None, false) => "`--explain` shows every term, `lakeward repl` carries operations out".into(),
    };
    let model = cost.map(|cost| format!(" ({})", printer::conversation::model_cost(cost))).unwrap_or_default();
    printer::narrate(&format!("answered in {elapsed_ms:.0} ms{model}; {next}"));
}
