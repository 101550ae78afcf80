//! `lakeward ask TEXT`

use std::time::Instant;

use super::args::{Arguments, AskCommand};
use super::search::status_of;
use super::{Status, lake, printer, replay};
use lakeward::documents::{AskDocument, ModelCost};
use lakeward_agent::Request;
use lakeward_core::error::{Error, Result};

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
    let document = AskDocument::new(request.text, &session, recommendation, &provenance, started);
    if command.session.is_some() {
        store.save(&mut session)?;
    }
    let recommendation = &document.recommendation;
    if arguments.json {
        printer::json(&document)?;
    } else {
        printer::recommendation::screen(recommendation);
        if command.answers.explain {
            printer::recommendation::why(recommendation);
        }
        if !arguments.quiet {
            next(command, document.elapsed_ms, document.model.as_ref());
        }
    }
    Ok(if recommendation.nothing_found { Status::NothingFound } else { status_of(&recommendation.tables) })
}

/// What to type next, on stderr.
fn next(command: &AskCommand, elapsed_ms: f64, cost: Option<&ModelCost>) {
    let next = match (&command.session, command.answers.explain) {
        (Some(session), _) => format!("`lakeward repl --session {session}` continues and runs operations"),
        (None, true) => "`lakeward repl` runs operations".into(),
        (None, false) => "`--explain` shows every score term, `lakeward repl` runs operations".into(),
    };
    let model = cost.map(|cost| format!(" ({})", printer::conversation::model_cost(cost))).unwrap_or_default();
    printer::narrate(&format!("answered in {elapsed_ms:.0} ms{model}; {next}"));
}
