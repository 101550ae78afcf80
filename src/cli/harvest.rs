//! `lakeward harvest URL`

use std::path::PathBuf;
use std::time::Duration;

use super::args::{Arguments, HarvestCommand};
use super::{Status, interrupt, printer, progress};
use lakeward_core::error::{Error, Result};
use lakeward_core::text::{counted, shown};
use lakeward_lake::harvest::{HarvestOptions, HarvestStats, harvest};

/// Harvests a repository and says how far it came.
pub fn run(arguments: &Arguments, command: &HarvestCommand) -> Result<Status> {
    interrupt::listen()?;
    let HarvestCommand { url, into, format, set, from, pause } = command;
    let pause = Duration::try_from_secs_f64(*pause)
        .map_err(|_| Error::usage(format!("`--pause {pause}` is no number of seconds")))?;
    if let Some(date) = from.as_ref().filter(|date| !is_day(date)) {
        return Err(Error::usage(format!("`--from {}` is no date such as 2021-03-01", shown(date, 40))));
    }
    let folder = into.clone().unwrap_or_else(|| PathBuf::from(host_of(url)));
    let (url, format, set, from) = (url.clone(), format.clone(), set.clone(), from.clone());
    let options = HarvestOptions { url, folder, format, set, from, pause };
    let bar = progress::Bar::new(arguments.quiet)?;
    let outcome = harvest(&options, &bar);
    bar.finish();
    let stats = outcome?;
    if arguments.json {
        printer::json(&stats)?;
    } else if !arguments.quiet || !stats.complete {
        summary(&stats, &options);
    }
    Ok(match (stats.complete, interrupt::requested()) {
        (true, _) => Status::Done,
        (false, true) => Status::Interrupted,
        (false, false) => Status::InPart,
    })
}

fn summary(stats: &HarvestStats, options: &HarvestOptions) {
    let since = stats.from.as_deref().map(|from| format!(" changed since {}", shown(from, 40))).unwrap_or_default();
    let resumed = if stats.resumed { ", resumed" } else { "" };
    printer::narrate(&format!(
        "run {}{resumed}: {}{since} in {}, {} deleted ({}, {} requests retried, {:.1} s) in `{}`",
        stats.run,
        counted(stats.records, "record"),
        counted(stats.pages, "page"),
        stats.deleted,
        printer::bytes(stats.read_bytes),
        stats.retries,
        stats.elapsed_ms as f64 / 1000.0,
        options.folder.display()
    ));
    match &stats.ended {
        Some(reason) => printer::narrate(&format!("not complete: {}; run it again to go on", shown(reason, 300))),
        None => printer::narrate(&format!("`lakeward index {}` reads them", options.folder.display())),
    }
}

fn is_day(date: &str) -> bool {
    date.len() == 10
        && date.char_indices().all(|(at, c)| if matches!(at, 4 | 7) { c == '-' } else { c.is_ascii_digit() })
}

/// The name of the server, as a folder's.
fn host_of(url: &str) -> String {
    let host = url.split("://").nth(1).unwrap_or(url).split(['/', ':', '?']).next().unwrap_or_default();
    let plain: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect();
    if plain.trim_matches('.').is_empty() { "harvest".into() } else { plain }
}
