//! Scripts that use the service as other programs do: the official MCP client, a browser.

use std::path::Path;
use std::process::Command;

use crate::REPOSITORY;

/// What a test says that cannot run.
pub const SKIPPED: &str = "skipped: LAKEWARD_TEST_SERVICE_PYTHON names no Python with the packages of CONTRIBUTING.md";

/// Runs a script of this folder with the Python that `LAKEWARD_TEST_SERVICE_PYTHON` names; false if it names none.
pub fn run_script(name: &str, arguments: &[&str]) -> bool {
    let Some(python) = std::env::var_os("LAKEWARD_TEST_SERVICE_PYTHON") else { return false };
    let script = Path::new(REPOSITORY).join("tests/program/service").join(name);
    let run = Command::new(python).arg(script).args(arguments).output().expect("Python");
    let (stdout, stderr) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{stdout}\n{stderr}");
    true
}
