//! Output: lists that fit the terminal, profiles, summaries, errors with hints; and JSON.
//!
//! Text from the lake passes through [`shown`], so that no cell, header or file name can move the cursor or hide text.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the one place that prints")]

mod build;
pub mod conversation;
pub mod evaluation;
pub mod feedback;
pub mod listing;
pub mod papers;
pub mod plan;
pub mod recommendation;
pub mod task_path;
pub mod turns;
mod variants;

use std::io::{IsTerminal, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

pub use build::build_summary;

use crate::messages::{self, fill, in_language, say};
use lakeward::documents::{ErrorDocument, FeatureDocument, NoteList};
use lakeward_core::error::{Error, Result};
use lakeward_core::text::{counted, shown};
use lakeward_lake::composite_key::CompositeKey;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::grain::GrainKind;
use lakeward_lake::notes::TableNote;
use lakeward_lake::profile::ColumnProfile;
use lakeward_lake::reader::RepairKind;
use lakeward_operate::ResultColumn;
use lakeward_search::{ColumnAnswer, CopyGroup, CorrelationAnswer, JoinAnswer, SearchAnswer, UnionAnswer};

/// Width of lists when stdout is no terminal.
const PLAIN_WIDTH: u16 = 120;
/// A reported terminal width below this is taken for wrong.
const LEAST_WIDTH: u16 = 20;
/// Characters of a cell shown in a list.
const CELL_WIDTH: usize = 100;
/// Characters of a line of text.
const LINE_WIDTH: usize = 10_000;
/// With less room for each column, a list of rows would be unreadable.
const LEAST_COLUMN_WIDTH: usize = 9;

/// Writes to stdout; a closed pipe (as after `| head`) ends the process silently.
fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if writeln!(stdout, "{text}").and_then(|()| stdout.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Writes to stderr; a failed write is ignored.
pub fn narrate(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// One line on stdout.
pub fn line(text: &str) {
    out(text);
}

/// One line on stdout, made safe to show.
pub fn safe_line(text: &str) {
    out(&shown(text, LINE_WIDTH));
}

/// One important line on stderr, printed even with `--quiet`.
pub fn note(text: &str) {
    narrate(&shown(text, LINE_WIDTH));
}

/// Whole lines of CSV or JSON on stdout: byte for byte into a file or pipe, made safe to show on a terminal.
pub fn data(lines: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let written = if stdout.is_terminal() {
        String::from_utf8_lossy(lines).lines().try_for_each(|line| writeln!(stdout, "{}", shown(line, LINE_WIDTH)))
    } else {
        stdout.write_all(lines)
    };
    if written.and_then(|()| stdout.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Rows of a query below their header; `before`: rows already shown. If there are too many columns, prints one record per row.
pub fn rows(columns: &[ResultColumn], rows: &[Vec<String>], before: usize) {
    let mut table = list();
    let width = usize::from(table.width().unwrap_or(PLAIN_WIDTH));
    if columns.len() * LEAST_COLUMN_WIDTH > width {
        for (place, row) in rows.iter().enumerate() {
            out(&format!("row {}", before + place + 1));
            let mut record = list();
            for (column, cell) in columns.iter().zip(row) {
                record.add_row([format!("  {}", shown(&column.name, 40)), shown(cell, CELL_WIDTH)]);
            }
            out(&record.trim_fmt());
        }
        return;
    }
    table.set_header(columns.iter().map(|column| shown(&column.name, 40)));
    for row in rows {
        table.add_row(row.iter().map(|cell| shown(cell, CELL_WIDTH)));
    }
    let numeric: Vec<usize> = (0..columns.len()).filter(|column| columns[*column].is_numeric).collect();
    right_align(&mut table, &numeric);
    out(&table.trim_fmt());
}

/// `document` as JSON on stdout, indented on a terminal.
pub fn json(document: &impl Serialize) -> Result<()> {
    let pretty = std::io::stdout().is_terminal();
    let text = if pretty { serde_json::to_string_pretty(document) } else { serde_json::to_string(document) };
    out(&text.map_err(|error| Error::Internal(error.to_string()))?);
    Ok(())
}

/// A document on one line of stdout.
pub fn json_line(document: &impl Serialize) -> Result<()> {
    out(&serde_json::to_string(document).map_err(|error| Error::Internal(error.to_string()))?);
    Ok(())
}

/// Prints an error with its sources and its hint to stderr.
pub fn error(error: &Error, as_json: bool) {
    let document = ErrorDocument::of(error);
    if as_json {
        if let Ok(text) = serde_json::to_string(&document) {
            narrate(&text);
        }
        return;
    }
    let ErrorDocument { error: text, hint, .. } = document;
    narrate(&format!("{}: {}", say("error"), shown(&in_language(&text), 2000)));
    if let Some(hint) = hint {
        narrate(&format!("{}: {}", say("hint"), shown(&in_language(&hint), 2000)));
    }
}

fn list() -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    // Some terminals do not know their width and say 0.
    if !std::io::stdout().is_terminal() || table.width().is_none_or(|width| width < LEAST_WIDTH) {
        table.set_width(PLAIN_WIDTH);
    }
    table
}

fn right_align(table: &mut Table, columns: &[usize]) {
    for column in columns {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Says before the nearest tables that none of them seems to be what is asked for.
pub fn nothing_found() {
    out(say("nothing in this lake seems to answer that; the nearest it has:"));
    out("");
}

/// Elapsed time and the next step, on stderr.
pub fn after_answers(count: usize, elapsed_ms: f64, next: &str) {
    let elapsed = format!("{elapsed_ms:.0}");
    if count == 0 {
        narrate(&fill("nothing suitable found ({} ms)", &[&elapsed]));
    } else {
        let answers = messages::count(count as u64, "answer");
        narrate(&fill("{} in {} ms; {}", &[&answers, &elapsed, next]));
    }
}

/// The evidence of a text answer.
pub fn search_answer(answer: &SearchAnswer) -> Vec<String> {
    let rank = |rank: Option<u32>| rank.map_or("–".to_string(), |rank| rank.to_string());
    let mut lines = vec![
        shown(&answer.title, 200),
        format!(
            "lexical: rank {} (BM25 {:.2}); vectors: rank {} (cosine {:.2})",
            rank(answer.lexical_rank),
            answer.lexical_score.unwrap_or(0.0),
            rank(answer.dense_rank),
            answer.cosine
        ),
    ];
    for named in &answer.named_values {
        lines.push(format!("`{}` has `{}`", shown(&named.column, 80), shown(&named.value, 80)));
    }
    for matched in &answer.matched {
        lines.push(format!("{} matches {}", matched.field.name(), shown(&matched.words.join(", "), 200)));
    }
    lines.push(match answer.record {
        true => "a record: its data is not in the lake, rows and columns are unknown".into(),
        false => format!("columns: {}", shown(&answer.columns.join(", "), 300)),
    });
    lines.push(cited_as(&answer.citation));
    lines
}

/// The line with a table's citation.
pub fn cited_as(citation: &str) -> String {
    format!("cited as {}", shown(citation, 300))
}

/// The evidence of a join answer.
pub fn join_answer(answer: &JoinAnswer) -> Vec<String> {
    let exactness = if answer.exact { "exact" } else { "not exact" };
    let several = answer.on.len() > 1;
    let mut lines = vec![shown(&answer.reason, 400)];
    for pair in &answer.on {
        let alone = if several { format!(" ({:.3} of yours by itself)", pair.containment) } else { String::new() };
        lines.push(format!("on: {} = {}{alone}", shown(&pair.query_column, 80), shown(&pair.column, 80)));
    }
    let what = if several { "combinations" } else { "values" };
    lines.extend([
        format!(
            "containment: {:.3} of yours ({:.3} as written), {:.3} of theirs; Jaccard {:.3}; {} {what} shared ({exactness})",
            answer.containment,
            answer.containment_as_written,
            answer.containment_of_candidate,
            answer.jaccard,
            answer.shared_values
        ),
        format!("key: uniqueness {:.3}, fan-out {:.2} rows per key", answer.uniqueness, answer.fan_out),
    ]);
    for matched in &answer.matches {
        let theirs = matched.candidate.as_deref().unwrap_or("(the same after normalisation)");
        let difference = matched.difference.map(|difference| format!(" ({difference})")).unwrap_or_default();
        lines.push(format!("match: {} = {}{difference}", shown(&matched.query, 60), shown(theirs, 60)));
    }
    for matched in &answer.variant_matches {
        let (ours, theirs) = (shown(&matched.query, 60), shown(&matched.candidate, 60));
        lines.push(format!("similar, not equal: {ours} / {theirs} ({})", matched.variation));
    }
    lines.push(format!("adds: {}", shown(&answer.adds.join(", "), 300)));
    lines.push(cited_as(&answer.citation));
    lines
}

/// The evidence of a column.
pub fn column_answer(answer: &ColumnAnswer) -> Vec<String> {
    let features = &answer.features;
    let mut lines = vec![
        shown(&answer.title, 200),
        shown(&answer.reason, 800),
        format!(
            "words {:.2}, values {:.2}, meaning {:.2} and {:.2}, table {:.2}",
            features.words, features.values, features.about, features.likeness, features.table
        ),
    ];
    lines.extend(answer.description.as_deref().map(|text| shown(text, 300)));
    let values = shown(&answer.values.join(", "), 200);
    lines.push(format!("{} different values in {} rows: {values}", answer.distinct, answer.rows));
    lines.push(cited_as(&answer.citation));
    lines
}

/// The evidence of a correlation.
pub fn correlation_answer(answer: &CorrelationAnswer) -> Vec<String> {
    let figure = |name: &str, value: Option<f64>| value.map(|value| format!("; {name} {value:.2}")).unwrap_or_default();
    let mut lines = vec![
        shown(&answer.reason, 800),
        format!(
            "strength {:.3} [{:.3}, {:.3}] over {} keys{}{}",
            answer.strength,
            answer.low,
            answer.high,
            answer.keys,
            figure("Pearson", answer.pearson),
            figure("bits", answer.information_bits)
        ),
        format!("{:.1}% of what looks like this is chance", 100.0 * answer.false_discovery_rate),
    ];
    let controlled = [
        figure("without time", answer.without_time),
        figure("of changes", answer.of_changes),
        figure("without size", answer.without_size),
    ];
    if let Some(controlled) = controlled.concat().strip_prefix("; ") {
        lines.push(format!("ρ {controlled}"));
    }
    let (coverage, aggregate, rows) = (100.0 * answer.coverage, &answer.aggregate, answer.fan_out);
    lines.push(format!("{coverage:.1}% of your rows get a value: {aggregate} of {rows:.2} rows a key"));
    lines.push(cited_as(&answer.citation));
    lines
}

/// A table of features: what each adds, what was left out, and the steps.
pub fn features(document: &FeatureDocument) {
    let table = &document.table;
    if table.features.is_empty() {
        out(&format!("no column of the lake helps to predict `{}`", shown(&table.target, 80)));
    }
    for (number, feature) in table.features.iter().enumerate() {
        let name = shown(&feature.name, 80);
        out(&format!("{}. {name}: {} of `{}`", number + 1, feature.aggregate, shown(&feature.found.table, 80)));
        let gain = feature.gain.as_ref().map_or_else(|| "not tried with a model".into(), ToString::to_string);
        out(&format!("   {}", shown(&gain, LINE_WIDTH)));
        out(&format!("   {}", shown(&feature.found.reason, LINE_WIDTH)));
    }
    if let Some(gain) = table.gain.as_ref().filter(|_| table.features.len() > 1) {
        out(&format!("together: {}", shown(&gain.to_string(), LINE_WIDTH)));
    }
    for left_out in &table.left_out {
        let (table, column) = (shown(&left_out.table, 80), shown(&left_out.column, 80));
        out(&format!("left out: {column} of `{table}`: {}", shown(&left_out.reason, 300)));
    }
    table.notes.iter().for_each(|text| note(text));
    let counts = (table.tested, table.rows, document.elapsed_ms);
    narrate(&format!("{} columns tested; {} rows, as before; {:.0} ms", counts.0, counts.1, counts.2));
}

/// Suggests the likeliest composite key for the next search, on stderr.
pub fn suggest_key(keys: &[CompositeKey]) {
    if let Some(key) = keys.first() {
        let columns: Vec<String> = key.columns.iter().map(|name| as_csv_field(name)).collect();
        narrate(&format!("no single column is a key; try --column {}", shown(&quoted(&columns.join(",")), 400)));
    }
}

fn as_csv_field(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_string() }
}

/// An argument quoted for a shell.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-,.:/+@".contains(c);
    if argument.chars().all(plain) { argument.to_string() } else { format!("'{}'", argument.replace('\'', "'\\''")) }
}

/// The evidence of a union answer.
pub fn union_answer(answer: &UnionAnswer) -> Vec<String> {
    let mut lines = vec![shown(&answer.reason, 400)];
    for pair in &answer.alignment {
        lines.push(format!(
            "{} ↔ {}  {:.2} (name {:.2}, values {:.2}, meaning {:.2})",
            shown(&pair.query_column, 60),
            shown(&pair.column, 60),
            pair.score,
            pair.name,
            pair.values,
            pair.meaning
        ));
    }
    for (what, columns) in [("only in yours", &answer.unmatched), ("only in theirs", &answer.extra)] {
        if !columns.is_empty() {
            lines.push(format!("{what}: {}", shown(&columns.join(", "), 300)));
        }
    }
    lines.push(cited_as(&answer.citation));
    lines
}

/// A table with its copies.
pub fn copies(group: &CopyGroup) {
    out(&format!("{}  ({})", shown(&group.current, 200), counted(group.rows, "row")));
    for copy in &group.copies {
        let rows = counted(copy.rows, "row");
        out(&format!("   {}  ({rows}): {}", shown(&copy.table, 200), shown(&copy.reason, LINE_WIDTH)));
    }
}

/// What users say of tables.
pub fn notes(list: &NoteList) {
    for note in &list.notes {
        let gone = if list.gone.contains(&note.table) { "  (not in the lake now)" } else { "" };
        out(&format!("{}{gone}", shown(&note.table, 200)));
        own_note(note);
    }
}

/// What users say of a table, as theirs.
pub fn own_note(note: &TableNote) {
    let about = Some(note.about()).filter(|about| !about.is_empty());
    about.iter().for_each(|about| out(&format!("your note: {}", shown(about, LINE_WIDTH))));
    for (column, text) in &note.columns {
        out(&format!("your note on `{}`: {}", shown(column, 80), shown(text, LINE_WIDTH)));
    }
}

/// The profile of a table, or the metadata of a record.
pub fn profile(dataset: &Dataset, composite_keys: &[CompositeKey]) {
    out(&format!("{}  ({})", shown(dataset.id().as_str(), 200), shown(&dataset.title(), 200)));
    if let Some(description) = dataset.metadata().and_then(|metadata| metadata.description.as_deref()) {
        out(&shown(description, 600));
    }
    let Some(entry) = dataset.table() else {
        out("a record of a catalogue: its data is not in the lake, rows and columns are unknown");
        return;
    };
    let profile = &entry.profile;
    let grain = match profile.grain.kind {
        GrainKind::Instance => "one row is an instance",
        GrainKind::Aggregate => "one row is an aggregate",
    };
    let evidence = profile.grain.evidence.join("; ");
    let evidence = if evidence.is_empty() { String::new() } else { format!(" ({})", shown(&evidence, 300)) };
    let rows = entry.report.sample.map_or_else(|| format!("{} rows", profile.rows), |sample| sample.to_string());
    out(&format!("{rows}, {} columns; {grain}{evidence}", profile.columns.len()));
    if let Some(parts) = &entry.report.parts {
        out(&parts.to_string());
    }
    if entry.report.sample.is_some() {
        out("sampled: everything below is based on those rows");
    }
    if !profile.keys.is_empty() {
        out(&format!("keys: {}", shown(&profile.keys.join(", "), 300)));
    }
    if !composite_keys.is_empty() {
        let keys: Vec<String> = composite_keys.iter().map(|key| key.columns.join(" + ")).collect();
        let checked = composite_keys.iter().find(|key| !key.complete);
        let checked = checked.map_or(String::new(), |key| format!(" (on the first {} rows)", key.rows));
        out(&format!("composite keys: {}{checked}", shown(&keys.join(", "), 300)));
    }
    if let Some(time) = &profile.time {
        out(&format!("time: {} to {} ({})", shown(&time.from, 40), shown(&time.to, 40), shown(&time.column, 60)));
    }
    if let Some(places) = &profile.places {
        let examples = shown(&places.examples.join(", "), 120);
        out(&format!("places: {} in {}: {examples} …", places.distinct, shown(&places.column, 60)));
    }
    if let Some(dialect) = &entry.report.dialect {
        let delimiter = dialect.delimiter.map_or("none".to_string(), |delimiter| format!("{delimiter:?}"));
        let above = match dialect.preamble_lines {
            0 => String::new(),
            1 => ", 1 line above the table".to_string(),
            lines => format!(", {lines} lines above the table"),
        };
        out(&format!("read as: {}, delimiter {delimiter}{above}", dialect.encoding));
    }
    for repair in entry.report.repairs.iter().filter(|repair| repair.kind != RepairKind::RowLimit) {
        out(&format!("repaired: {}", shown(&repair.to_string(), 300)));
    }
    for column in &profile.columns {
        let decisions = column.decisions();
        if !decisions.is_empty() {
            out(&format!("{}: {}", shown(&column.name, 40), shown(&decisions.join("; "), 300)));
        }
    }
    out("");
    let mut table = list();
    table.set_header(["column", "type", "missing", "distinct", "key", "range", "values"]);
    for column in &profile.columns {
        table.add_row(profile_row(column));
    }
    right_align(&mut table, &[2, 3, 4]);
    out(&table.trim_fmt());
}

fn profile_row(column: &ColumnProfile) -> [String; 7] {
    let kind = match &column.semantic {
        Some(semantic) => format!("{}, {}", name_of(column.logical), name_of(semantic)),
        None => name_of(column.logical),
    };
    let missing = if column.missing == 0 { String::new() } else { percent(column.missing, column.rows) };
    let about = if column.distinct_exact { "" } else { "~" };
    let range = match (&column.min, &column.max) {
        (Some(min), Some(max)) => format!("{} … {}", shown(min, 24), shown(max, 24)),
        _ => column.patterns.first().map(|(pattern, _)| shown(pattern, 24)).unwrap_or_default(),
    };
    let values: Vec<String> = column.top.iter().take(4).map(|(value, _)| shown(value, 24)).collect();
    [
        shown(&column.name, 40),
        kind,
        missing,
        format!("{about}{}", column.distinct),
        format!("{:.2}", column.key_likeness),
        range,
        values.join(", "),
    ]
}

fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if share < 1.0 { "<1%".to_string() } else { format!("{share:.0}%") }
}

/// The name of an enum value as JSON writes it.
fn name_of(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_string)).unwrap_or_default()
}

/// A number of bytes with a readable unit.
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}
