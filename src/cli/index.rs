//! `lakeward index LAKE`

use super::args::{Arguments, IndexCommand};
use super::{Status, cluster, interrupt, lake, printer, shards};
use lakeward_core::error::Result;
use lakeward_core::monitor::StopWhen;
use lakeward_index::build::{BuildOptions, BuildStats};
use lakeward_index::watch::watch;

/// Builds or updates the index and reports what was read, repaired and skipped; with `--watch`, repeats after every change.
pub fn run(arguments: &Arguments, command: &IndexCommand) -> Result<Status> {
    if let Some(step) = &command.step {
        return shards::run(arguments, step);
    }
    if let Some(scheduler) = &command.on {
        return cluster::index(arguments, command, scheduler);
    }
    let place = lakeward::Place { fast: command.fast, ..lake::place(arguments, command.lake.as_deref())? };
    let sample_rows = command.sample_rows.map(u64::from);
    let records = command.records.clone();
    let (rebuild, repair) = (command.rebuild, command.repair);
    let options = BuildOptions { rebuild, repair, records, sample_rows, ..BuildOptions::default() };
    let stats = lake::build(arguments, &place, &options)?;
    report(arguments, &stats)?;
    if !command.watch || stats.unread + stats.texts_unread > 0 {
        return Ok(status(&stats));
    }
    if !arguments.quiet {
        printer::narrate(&format!("watching `{}`; Ctrl-C stops", place.lake.display()));
    }
    let mut latest = status(&stats);
    watch(&place.lake, &place.index, &StopWhen(interrupt::requested), || {
        match lake::build(arguments, &place, &BuildOptions { sample_rows, ..BuildOptions::default() }) {
            Ok(stats) => {
                if stats.did_something() {
                    report(arguments, &stats)?;
                }
                latest = status(&stats);
            }
            // Another writer or a full disk: reported, and retried at the next change.
            Err(error) => printer::error(&error, arguments.json),
        }
        Ok(())
    })?;
    // The user ended the watch: no error.
    Ok(if latest == Status::Interrupted { Status::Done } else { latest })
}

pub(super) fn report(arguments: &Arguments, stats: &BuildStats) -> Result<()> {
    if arguments.json {
        printer::json(stats)?;
    } else if !arguments.quiet || stats.is_partial() {
        printer::build_summary(stats);
    }
    Ok(())
}

fn status(stats: &BuildStats) -> Status {
    match stats {
        stats if stats.unread + stats.texts_unread > 0 => Status::Interrupted,
        stats if stats.is_partial() => Status::InPart,
        _ => Status::Done,
    }
}
