//! `lakeward repl`: a conversation line by line. [`editor`] reads lines, [`command`] parses them, [`actions`] and
//! [`run_operation`] run them. The session is saved after every change, so that nothing is lost if the process ends.

mod actions;
pub(crate) mod command;
mod editor;
mod memory;
mod run_operation;
mod worker;

use std::path::{Path, PathBuf};

use super::args::{Arguments, ReplCommand};
use super::{Status, exit_code, interrupt, lake, printer};
use crate::messages::{self, Language, fill};
use command::{Line, parse};
use editor::{Lines, Typed};
use lakeward::documents::ModelCost;
use lakeward::{Lakeward, Place};
use lakeward_agent::Agent;
use lakeward_agent::session::{Session, SessionStore};
use lakeward_core::error::{Error, Result};
use lakeward_models::llm::Limits;
use lakeward_operate::LakeContext;
use worker::Worker;

/// The state of a conversation.
struct Repl<'a> {
    arguments: &'a Arguments,
    lakeward: Lakeward,
    worker: Worker,
    store: SessionStore,
    session: Session,
    /// The tables of the latest list, which numbers refer to.
    listed: Vec<String>,
    /// Created by the first query.
    context: Option<LakeContext>,
    /// Columns of a working table that is a file.
    file_columns: Vec<String>,
    /// The folder for the traces of every turn.
    traces: Option<PathBuf>,
    /// Limits of the language model per turn, if there is one.
    limits: Option<Limits>,
    /// Model cost of the latest turn.
    cost: Option<ModelCost>,
}

/// What the loop does after a line.
enum Next {
    Go(Status),
    Leave,
}

/// Runs the conversation until the input ends. The exit code is 0 on a terminal, else that of the last line that failed.
pub fn run(arguments: &Arguments, command: &ReplCommand) -> Result<Status> {
    messages::set(command.language.unwrap_or_else(Language::of_environment));
    let lakeward = lake::open_with_model(arguments)?;
    let store = lakeward.sessions();
    let limits = lakeward.model().map(|_| lakeward.config().llm.limits());
    let worker = Worker::start(lakeward.clone())?;
    if let Some(folder) = &command.traces {
        std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    }
    let session = begin(&store, lakeward.place(), command)?;
    let mut lines = Lines::open(store.folder())?;
    let typed = lines.are_typed();
    let mut repl = Repl {
        arguments,
        lakeward,
        worker,
        store,
        session,
        listed: Vec::new(),
        context: None,
        file_columns: Vec::new(),
        traces: command.traces.clone(),
        limits,
        cost: None,
    };
    repl.list_latest();
    if typed {
        // Not for piped input: there Ctrl-C should end the process.
        interrupt::listen()?;
    }
    repl.greet();
    let failure = repl.converse(&mut lines)?;
    repl.leave();
    Ok(failure.filter(|_| !typed).map_or(Status::Done, Status::Reported))
}

fn begin(store: &SessionStore, place: &Place, command: &ReplCommand) -> Result<Session> {
    let lake = place.lake.canonicalize().unwrap_or_else(|_| place.lake.clone()).display().to_string();
    let Some(name) = command.session.as_deref() else { return store.create(None, &lake) };
    match store.open(name) {
        Err(Error::UnknownSession { .. }) => store.create(Some(name), &lake),
        outcome => outcome,
    }
}

impl Repl<'_> {
    /// Reads and runs lines until they end; returns the exit code of the last that failed.
    fn converse(&mut self, lines: &mut Lines) -> Result<Option<u8>> {
        let mut failure = None;
        if let Some(names) = lines.names() {
            names.tables = self.table_names()?;
            names.sessions = self.store.list()?.into_iter().map(|session| session.id).collect();
        }
        loop {
            if let Some(names) = lines.names() {
                names.columns = self.working_columns();
            }
            let outcome = match lines.next() {
                Ok(Typed::End) => return Ok(failure),
                Ok(Typed::Abandoned) => continue,
                Ok(Typed::Line(line)) => {
                    interrupt::clear();
                    self.run_line(&line)
                }
                Err(error @ Error::Usage(_)) => Err(error),
                Err(error) => return Err(error),
            };
            match outcome {
                Ok(Next::Leave) => return Ok(failure),
                Ok(Next::Go(Status::Done)) => {}
                Ok(Next::Go(status)) => failure = Some(status.code()),
                Err(error) => {
                    printer::error(&error, self.arguments.json);
                    failure = Some(exit_code(&error));
                }
            }
        }
    }

    fn run_line(&mut self, line: &str) -> Result<Next> {
        match parse(line)? {
            Line::Nothing => Ok(Next::Go(Status::Done)),
            Line::Number(number) => self.number(number).map(Next::Go),
            Line::Request(text) => self.ask(text).map(Next::Go),
            Line::Command(command::Slash::Quit) => Ok(Next::Leave),
            Line::Command(slash) => self.command(slash).map(Next::Go),
        }
    }

    /// Runs `work` on the worker thread with the agent and a copy of the session; Ctrl-C stops it.
    fn on_worker<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Agent, Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let session = self.session.clone();
        self.worker.run(move |agent| work(agent, session))
    }

    fn save(&mut self) -> Result<()> {
        self.store.save(&mut self.session)
    }

    /// Prints a message to stderr unless `--quiet`.
    fn say(&self, text: &str) {
        if !self.arguments.quiet {
            printer::note(text);
        }
    }

    fn greet(&self) {
        let (id, turns) = (&self.session.id, self.session.next_turn() - 1);
        let tables = self.lakeward.index().len();
        if self.session.is_untouched() {
            self.say(&fill(
                "new session {}, {} tables; ask in your own words, `/help` lists the commands",
                &[id, &tables.to_string()],
            ));
        } else {
            let steps = self.session.steps.len();
            self.say(&fill(
                "session {} resumed: {} requests, {} operations; `/memory` shows its state",
                &[id, &turns.to_string(), &steps.to_string()],
            ));
        }
        let (there, here) = (Path::new(&self.session.lake).canonicalize(), self.lakeward.place().lake.canonicalize());
        if let (Ok(there), Ok(here)) = (there, here)
            && there != here
        {
            let (there, here) = (there.display().to_string(), here.display().to_string());
            self.say(&fill("it was created with the lake `{}`, and this is `{}`", &[&there, &here]));
        }
    }

    /// Prints how to resume the session; discards an empty one.
    fn leave(&self) {
        if self.session.is_untouched() {
            // If it cannot be removed, an empty session remains.
            let _ = self.store.discard_untouched(&self.session);
            return;
        }
        self.say(&fill("resume with `lakeward repl --session {}`", &[&self.session.id]));
    }
}
