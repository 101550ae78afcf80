//! `lakeward completions SHELL`: the script that lets a shell complete the program's commands and options.

use std::io;

use clap::CommandFactory;
use clap_complete::generate;

use super::Status;
use super::args::{Arguments, CompletionsCommand};
use lakeward_core::error::Result;

/// Prints the completion script of a shell.
pub fn run(command: &CompletionsCommand) -> Result<Status> {
    generate(command.shell, &mut Arguments::command(), "lakeward", &mut io::stdout());
    Ok(Status::Done)
}
