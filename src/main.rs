//! The `lakeward` command: parse, run, exit code; nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    lakeward::cli::main()
}
