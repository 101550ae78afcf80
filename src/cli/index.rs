//! `lakeward index LAKE`

use super::args::{Arguments, IndexCommand};
use super::lake::Place;
use super::{Status, printer};
use crate::error::Result;
use crate::index::build::BuildOptions;

/// Builds or updates the index and says what was read, mended and skipped.
pub fn run(arguments: &Arguments, command: &IndexCommand) -> Result<Status> {
    let place = Place::of(arguments, command.lake.as_deref())?;
    let stats = place.build(arguments, &BuildOptions { rebuild: command.rebuild })?;
    if arguments.json {
        printer::json(&stats)?;
    } else if !arguments.quiet || stats.is_partial() {
        printer::build_summary(&stats);
    }
    Ok(match &stats {
        stats if stats.unread > 0 => Status::Interrupted,
        stats if stats.is_partial() => Status::InPart,
        _ => Status::Done,
    })
}
