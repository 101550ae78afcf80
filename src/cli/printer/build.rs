//! The summary of a build, on stderr: counts, and the files that were repaired, cut or skipped.

use super::{bytes, narrate};
use lakeward_core::text::{counted, shown};
use lakeward_index::build::BuildStats;
use lakeward_lake::reader::Repair;

/// Files listed individually in a summary.
const LISTED_FILES: usize = 10;

/// Prints the summary of a build to stderr.
pub fn build_summary(stats: &BuildStats) {
    let seconds = stats.elapsed_ms as f64 / 1000.0;
    narrate(&format!(
        "{} tables, {} columns in the index ({} added, {} changed, {} removed, {}{} unchanged; {} read in {seconds:.1} s)",
        stats.tables,
        stats.columns,
        stats.added,
        stats.changed,
        stats.removed,
        if stats.renamed > 0 { format!("{} renamed, ", stats.renamed) } else { String::new() },
        stats.unchanged,
        bytes(stats.read_bytes)
    ));
    if stats.records > 0 {
        narrate(&format!("{} records of data outside the lake", stats.records));
    }
    if stats.records_left_out > 0 {
        narrate(&format!("{} lines of the records are not usable", stats.records_left_out));
    }
    if stats.records_replaced + stats.records_deleted > 0 {
        let (replaced, deleted) = (stats.records_replaced, stats.records_deleted);
        narrate(&format!(
            "{replaced} records replaced by later ones of their harvest, {deleted} deleted at their source"
        ));
    }
    for flaw in &stats.record_flaws {
        let first = shown(&flaw.first, 120);
        narrate(&format!("{} used in part: {} (first: {first})", counted(flaw.records, "record"), flaw.reason));
    }
    if stats.sampled > 0 {
        narrate(&format!("{} tables were sampled: only their first rows are in the index", stats.sampled));
    }
    if stats.repaired_segments > 0 {
        narrate(&format!("{} damaged parts of the index were replaced", stats.repaired_segments));
    }
    if stats.unread > 0 {
        narrate(&format!("interrupted: {} files are not read yet; run the command again to finish", stats.unread));
    }
    if stats.texts_unread > 0 {
        let unread = counted(stats.texts_unread, "table");
        narrate(&format!(
            "interrupted: the texts of {unread} are not read yet, so searches compare words and static vectors; run the command again to go on"
        ));
    }
    let (lost, repaired): (Vec<_>, Vec<_>) = stats.repaired.iter().partition(|(_, repairs)| loses_cells(repairs));
    if !repaired.is_empty() {
        narrate(&format!(
            "{} tables were repaired while reading (`--json` lists them, `profile TABLE` shows how)",
            repaired.len()
        ));
    }
    list_files("cells left out", lost.iter().map(|(path, repairs)| (path.as_str(), losses(repairs))));
    list_files("read in part", stats.partial.iter().map(|file| (file.path.as_str(), file.reason.clone())));
    list_files("skipped", stats.skipped.iter().map(|file| (file.path.as_str(), file.reason.clone())));
    list_files("not usable", stats.problems.iter().map(|(path, reason)| (path.as_str(), reason.clone())));
}

/// Whether cells are missing but no rows.
fn loses_cells(repairs: &[Repair]) -> bool {
    let rows = repairs.iter().any(|repair| repair.kind.loses_rows());
    !rows && repairs.iter().any(|repair| repair.kind.loses_data())
}

fn losses(repairs: &[Repair]) -> String {
    let losses: Vec<String> =
        repairs.iter().filter(|repair| repair.kind.loses_data()).map(ToString::to_string).collect();
    losses.join("; ")
}

fn list_files<'a>(what: &str, files: impl ExactSizeIterator<Item = (&'a str, String)>) {
    let count = files.len();
    for (path, reason) in files.take(LISTED_FILES) {
        narrate(&format!("{what}: {}: {}", shown(path, 200), shown(&reason, 300)));
    }
    if count > LISTED_FILES {
        narrate(&format!("{what}: {} more (`--json` lists them)", count - LISTED_FILES));
    }
}
