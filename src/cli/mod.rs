//! The command line: arguments, one function per command, and the printer. The only code that prints.
//!
//! Data goes to stdout; progress, summaries and errors go to stderr. Exit codes: 0 done, 1 nothing suitable found,
//! 2 usage or configuration, 3 lake or index fault, 4 done in part, 130 interrupted.

mod args;
mod ask;
mod augment;
mod cite;
mod cluster;
mod completions;
mod config;
mod conversation;
mod eval;
mod eval_feedback;
mod eval_model;
mod eval_turns;
mod features;
mod graph_feedback;
mod harvest;
mod index;
mod interrupt;
mod lake;
mod manual;
mod mcp;
mod model;
mod note;
mod papers;
mod plan;
mod printer;
mod profile;
mod progress;
mod repl;
mod replay;
mod row_sink;
mod schema;
mod search;
mod serve;
mod sessions;
mod shards;
mod signals;
mod simulate;
mod sql;
mod task;
mod timing;
mod train_fields;
mod train_reader;
mod tune;
mod usage;
mod verify;

#[cfg(test)]
pub(crate) use repl::command;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use args::{Arguments, Command};
use lakeward_core::error::{Error, ErrorKind};
use lakeward_core::guard;

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Done,
    NothingFound,
    InPart,
    Interrupted,
    /// An error that was already reported; the exit code.
    Reported(u8),
}

impl Status {
    fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::NothingFound => 1,
            Status::InPart => 4,
            Status::Interrupted => 130,
            Status::Reported(code) => code,
        }
    }
}

fn exit_code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::User => 2,
        ErrorKind::Lake | ErrorKind::Internal => 3,
        ErrorKind::Interrupted => 130,
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    guard::quiet_hook();
    let arguments = Arguments::parse();
    let json = arguments.json;
    let started = Instant::now();
    let outcome = run(&arguments);
    if arguments.timing {
        timing::step("done", started);
        timing::memory();
    }
    match outcome {
        Ok(status) => ExitCode::from(status.code()),
        Err(error) => {
            printer::error(&error, json);
            ExitCode::from(exit_code(&error))
        }
    }
}

fn run(arguments: &Arguments) -> Result<Status, Error> {
    match &arguments.command {
        Command::Index(command) => index::run(arguments, command),
        Command::Cluster(command) => cluster::run(command),
        Command::Harvest(command) => harvest::run(arguments, command),
        Command::Ask(command) => ask::run(arguments, command),
        Command::Search(command) => search::text(arguments, command),
        Command::Columns(command) => search::columns(arguments, command),
        Command::Join(command) => search::join(arguments, command),
        Command::Union(command) => search::union(arguments, command),
        Command::Features(command) => features::run(arguments, command),
        Command::Correlate(command) => search::correlate(arguments, command),
        Command::Profile(command) => profile::run(arguments, command),
        Command::Tables(command) => profile::tables(arguments, command),
        Command::Cite(command) => cite::cite(arguments, command),
        Command::Resolve(command) => cite::resolve(arguments, command),
        Command::Copies(command) => profile::copies(arguments, command),
        Command::Note(command) => note::run(arguments, command),
        Command::Sql(command) => sql::run(arguments, command),
        Command::Plan(command) => plan::run(arguments, command),
        Command::Signals(command) => signals::run(command),
        Command::Model(command) => model::run(arguments, command),
        Command::Config(command) => config::run(arguments, command),
        Command::Train(command) => match &command.what {
            args::Trained::Signals(paths) => signals::train(arguments.json, paths),
            args::Trained::Fields(paths) => train_fields::run(arguments.json, paths),
            args::Trained::Reader(paths) => train_reader::run(arguments, paths),
        },
        Command::Eval(command) if command.voice => eval_model::run(arguments, command),
        Command::Eval(command) if command.learning => eval_feedback::run(arguments, command),
        Command::Eval(command) => eval::run(arguments, command),
        Command::Simulate(command) => simulate::run(arguments, command),
        Command::Tune(command) => tune::run(arguments, command),
        Command::Augment(command) => augment::run(arguments, command),
        Command::Task(command) => task::search(arguments, command),
        Command::Graph(command) => task::graph(arguments, command),
        Command::Repl(command) => repl::run(arguments, command),
        Command::Serve(command) => serve::run(arguments, command),
        Command::Usage(command) => usage::run(arguments, command),
        Command::Mcp(command) => mcp::run(arguments, command),
        Command::Sessions(command) => sessions::run(arguments, command),
        Command::Replay(command) => replay::run(arguments, command),
        Command::Verify => verify::run(arguments),
        Command::Schema(command) => schema::run(command),
        Command::Completions(command) => completions::run(command),
        Command::Manual(command) => manual::run(command),
        Command::Papers(command) => papers::run(arguments, command),
        Command::ReadPdf { path } => papers::read_pdf(path),
    }
}
