//! The `lakeward` command: parse, run, exit code; nothing else.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
