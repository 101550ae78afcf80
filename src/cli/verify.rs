//! `lakeward verify`

use schemars::JsonSchema;
use serde::Serialize;

use super::args::Arguments;
use super::{Status, lake, printer};
use lakeward_core::error::{Error, Result};
use lakeward_index::verify::{Damage, verify};

/// What `--json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Verification {
    /// Files checked.
    pub files: u64,
    /// Bytes checked.
    pub read_bytes: u64,
    /// Files whose content is not what was written.
    pub damaged: Vec<Damage>,
}

/// Reads every byte of the index and lists damaged files.
pub fn run(arguments: &Arguments) -> Result<Status> {
    let place = lake::place(arguments, None)?;
    let (files, read_bytes, damaged) = verify(&place.index)?;
    let first = damaged.first().map(|damage| (damage.file.clone(), damage.reason.clone()));
    let count = damaged.len();
    if arguments.json {
        printer::json(&Verification { files, read_bytes, damaged })?;
    } else {
        for damage in &damaged {
            printer::line(&format!("damaged: {}: {}", damage.file, damage.reason));
        }
        printer::line(&format!("{files} files, {} checked, {count} damaged", printer::bytes(read_bytes)));
    }
    match first {
        None => Ok(Status::Done),
        Some((file, reason)) => Err(Error::damaged(&place.index_address().join(file), reason)),
    }
}
