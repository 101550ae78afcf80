//! `lakeward ask TEXT`

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, AskCommand};
use super::lake::{Place, embedder};
use super::{Status, printer};
use crate::agent::{Agent, Request};
use crate::error::{Error, Result};
use crate::recommend::Recommendation;
use crate::session::{Session, SessionStore};

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
    pub recommendation: Recommendation,
    /// Time to answer with the index open, in milliseconds.
    pub elapsed_ms: f64,
}

/// Answers one request, alone or as the next turn of a session.
pub fn run(arguments: &Arguments, command: &AskCommand) -> Result<Status> {
    let place = Place::of(arguments, None)?;
    let index = place.open(arguments)?;
    let store = SessionStore::new(&place.index);
    let lake = place.lake.to_string_lossy();
    let mut session = match &command.session {
        Some(name) => match store.open(name) {
            Err(Error::UnknownSession { .. }) => store.create(Some(name), &lake)?,
            opened => opened?,
        },
        None => Session::new("", lake),
    };
    let agent = Agent::new(&place.lake, &index, embedder(), place.config()?, store.clone());
    let request = Request {
        text: command.text.join(" "),
        table: command.table.clone(),
        column: command.column.clone(),
        k: command.answers.k as usize,
    };
    let started = Instant::now();
    let recommendation = agent.turn(&mut session, &request)?;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
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
            elapsed_ms,
        };
        printer::json(&document)?;
    } else {
        printer::recommendation::screen(&recommendation);
        if command.answers.explain {
            printer::recommendation::why(&recommendation);
        }
        if !arguments.quiet {
            next(command, elapsed_ms);
        }
    }
    Ok(if found { Status::Done } else { Status::NothingFound })
}

/// What to type next, on stderr.
fn next(command: &AskCommand, elapsed_ms: f64) {
    let next = match (&command.session, command.answers.explain) {
        (Some(session), _) => format!("`lakeward repl --session {session}` goes on and carries operations out"),
        (None, true) => "`lakeward repl` carries operations out".into(),
        (None, false) => "`--explain` shows every term, `lakeward repl` carries operations out".into(),
    };
    printer::narrate(&format!("answered in {elapsed_ms:.0} ms; {next}"));
}
