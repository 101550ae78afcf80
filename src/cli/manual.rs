//! `lakeward manual FOLDER`: a manual page for the program and for each of its commands.

use clap::CommandFactory;
use clap_mangen::generate_to;

use super::Status;
use super::args::{Arguments, ManualCommand};
use lakeward_core::error::{Error, Result};

/// Writes the pages to a folder, which is created if missing.
pub fn run(command: &ManualCommand) -> Result<Status> {
    let folder = command.folder.as_path();
    std::fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, error))?;
    generate_to(Arguments::command(), folder).map_err(|error| Error::io("write", folder, error))?;
    Ok(Status::Done)
}
