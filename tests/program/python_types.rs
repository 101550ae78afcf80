//! The dataclasses of the Python package are those that the answers' JSON Schemas make.

use std::process::Command;

#[test]
fn the_python_types_are_those_of_the_answers() {
    let script = std::path::Path::new(crate::REPOSITORY).join("scripts/python_types.py");
    let mut command = Command::new("python3");
    command.arg(script).args(["--check", "--program", env!("CARGO_BIN_EXE_lakeward")]);
    let checked = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no python3 here");
            return;
        }
        outcome => outcome.expect("the script runs"),
    };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
