//! The `lakeward` command: parse, run, exit code; nothing else.

mod cli;
mod messages;
mod service;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
