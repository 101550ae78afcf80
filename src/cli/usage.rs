//! `lakeward usage`: how the answers of the service were used.

use super::args::{Arguments, UsageCommand};
use super::{Status, lake, printer};
use lakeward::usage::{self, UsageReport};
use lakeward_core::error::Result;
use lakeward_core::text::counted;

/// Prints the report, or removes what it is made of.
pub fn run(arguments: &Arguments, command: &UsageCommand) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let index = &lakeward.place().index;
    if command.forget {
        usage::forget(index)?;
        return Ok(Status::Done);
    }
    let (events, unread) = usage::events(index)?;
    if unread > 0 && !arguments.quiet {
        printer::note(&format!("{} cannot be read", counted(unread as u64, "line")));
    }
    let report = UsageReport::of(&events);
    if arguments.json {
        printer::json(&report)?;
        return Ok(Status::Done);
    }
    if events.is_empty() {
        if !arguments.quiet {
            printer::note(
                "nothing was kept; `[usage]` with `record = true` in `lakeward.toml` lets `lakeward serve` keep how its answers are used",
            );
        }
        return Ok(Status::NothingFound);
    }
    let of = |count: usize| format!("{count} ({:.0} %)", 100.0 * count as f64 / report.shown.max(1) as f64);
    printer::line(&format!("answers with tables: {}", report.shown));
    printer::line(&format!("something opened, accepted or used: {}", of(report.clicked)));
    printer::line(&format!("accepted: {}, used in an operation: {}", of(report.accepted), of(report.ran)));
    printer::line(&format!("mean reciprocal rank of the best one: {:.3}", report.mean_reciprocal_rank));
    if let Some(compared) = &report.comparison {
        let (answers, a, b) = (counted(compared.answers as u64, "answer"), compared.a, compared.b);
        printer::line(&format!(
            "two rankings, {answers} with clicks: the one in use won {a}, the other {b} (p = {:.3})",
            compared.p
        ));
    }
    if !report.unanswered.is_empty() {
        printer::line("without an answer:");
    }
    for request in &report.unanswered {
        let why = if request.nothing_found { "nothing found" } else { "nothing opened" };
        printer::safe_line(&format!("  {} × {} ({why})", request.times, request.request));
    }
    Ok(Status::Done)
}
