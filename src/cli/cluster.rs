//! `lakeward cluster` and `lakeward index --on`: hand over to the program `lakeward-cluster`, which is built apart (`cluster/`).

use std::env::{self, consts};
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use super::Status;
use super::args::{Arguments, ClusterCommand, IndexCommand};
use lakeward::Place;
use lakeward_core::error::{Error, Result};

/// The program.
const CLUSTER: &str = "lakeward-cluster";
/// Names this program to it.
const PROGRAM: &str = "LAKEWARD_PROGRAM";

/// Runs a part of a cluster.
pub fn run(command: &ClusterCommand) -> Result<Status> {
    let mut cluster = cluster();
    cluster.args(&command.arguments);
    hand_over(cluster)
}

/// Has the cluster of `scheduler` build an index.
pub fn index(arguments: &Arguments, command: &IndexCommand, scheduler: &str) -> Result<Status> {
    let lake = match command.lake.clone().or_else(|| arguments.lake.clone()) {
        Some(lake) => lake,
        None => Place::nearest()?,
    };
    let mut cluster = cluster();
    cluster.arg("index").arg(lake).args(["--on", scheduler]);
    let mut option = |name: &str, value: Option<&OsStr>| {
        if let Some(value) = value {
            cluster.arg(name).arg(value);
        }
    };
    option("-n", command.shards.map(|count| count.to_string()).as_deref().map(OsStr::new));
    option("--index", arguments.index.as_deref().map(OsStr::new));
    cluster.args(arguments.json.then_some("--json")).args(arguments.quiet.then_some("--quiet"));
    // What is left is for `lakeward index shards`.
    cluster.arg("--").args(command.fast.then_some("--fast"));
    if let Some(rows) = command.sample_rows {
        cluster.args(["--sample-rows", &rows.to_string()]);
    }
    if let Some(records) = &command.records {
        cluster.arg("--records").arg(records);
    }
    hand_over(cluster)
}

/// The program beside this one, else the one on PATH; whatever it runs is this one.
fn cluster() -> Command {
    let this = env::current_exe().ok();
    let beside = this.as_ref().map(|this| this.with_file_name(format!("{CLUSTER}{}", consts::EXE_SUFFIX)));
    let mut cluster = Command::new(beside.filter(|beside| beside.is_file()).unwrap_or_else(|| PathBuf::from(CLUSTER)));
    if let (Some(this), None) = (this, env::var_os(PROGRAM)) {
        cluster.env(PROGRAM, this);
    }
    cluster
}

/// Becomes the program, so that signals and exit code are its own.
#[cfg(unix)]
fn hand_over(mut cluster: Command) -> Result<Status> {
    Err(failed(&std::os::unix::process::CommandExt::exec(&mut cluster)))
}

#[cfg(not(unix))]
fn hand_over(mut cluster: Command) -> Result<Status> {
    let status = cluster.status().map_err(|error| failed(&error))?;
    Ok(Status::Reported(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(3)))
}

fn failed(error: &io::Error) -> Error {
    Error::usage(match error.kind() {
        io::ErrorKind::NotFound => format!(
            "`{CLUSTER}` is neither beside this program nor on PATH; build it (`cargo build --release` in the folder `cluster` of Lakeward's sources) and put it there"
        ),
        _ => format!("`{CLUSTER}` cannot be run: {error}"),
    })
}
