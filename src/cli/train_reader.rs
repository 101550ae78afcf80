//! `lakeward train reader`: the examples that the reader of turns is trained on, made by the program that reads with it; and how often the
//! built-in reader comes to what annotated turns come to.

use std::cell::OnceCell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{Arguments, ReaderExamples};
use super::{Status, lake, printer};
use lakeward::Lakeward;
use lakeward_agent::known_table;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Intention, OperationKind};
use lakeward_core::store::{AtomicFile, Purpose, write_atomic};
use lakeward_reading::reader::BuiltInPieces;
use lakeward_reading::reader::annotated::{
    Conversation, KnownTable, TurnCheck, checked, classes, conversations, examples, request_example, search_acts,
};
use lakeward_reading::reader::annotated_pairs::turns_beside;

/// Confidences below which the reader could say that it is unsure.
const DOUBTS: [f64; 7] = [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];

/// Writes one example for each annotated turn: the model's input, and what it should answer; or checks the built-in reader.
pub fn run(arguments: &Arguments, options: &ReaderExamples) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    if let Some(file) = &options.search_acts {
        return write_search_acts(options, file);
    }
    let Some(file) = &options.examples else { return check(arguments.json, &lakeward, options) };
    let out = AtomicFile::create(file, Purpose::Output)?;
    let mut lines = std::io::BufWriter::new(out.handle()?);
    let failed = |error| Error::io("write", file, error);
    writeln!(lines, "{}", classes()).map_err(failed)?;
    let (mut turns, mut lost) = (0, 0);
    for_each(&lakeward, options, |writer, conversation, table| {
        let (found, without_place) = examples(conversation, table, &BuiltInPieces);
        lost += without_place;
        turns += found.len();
        for mut example in found {
            example["writer"] = writer.into();
            example["c"] = conversation.id.clone().into();
            writeln!(lines, "{example}").map_err(failed)?;
        }
        Ok(())
    })?;
    let mut requests = 0;
    for file in &options.requests {
        for request in requests_of(file)? {
            requests += 1;
            writeln!(lines, "{request}").map_err(failed)?;
        }
    }
    lines.flush().map_err(failed)?;
    drop(lines);
    out.replace()?;
    printer::note(&format!("{turns} turns and {requests} requests; {lost} spans have no place in a plan"));
    Ok(Status::Done)
}

/// Writes the vector and the act of each turn without a table.
fn write_search_acts(options: &ReaderExamples, file: &Path) -> Result<Status> {
    let mut text = String::new();
    for (writer, labels) in files(&options.labels, &options.writer)? {
        for mut line in conversations_in(&labels)?.iter().flat_map(search_acts) {
            line["writer"] = writer.clone().into();
            text.push_str(&format!("{line}\n"));
        }
    }
    write_atomic(file, Purpose::Output, text.as_bytes())?;
    Ok(Status::Done)
}

/// A line of labelled requests: one, or the turns of a dialogue.
#[derive(Deserialize)]
#[serde(untagged)]
enum Requests {
    Dialogue {
        id: String,
        turns: Vec<Request>,
    },
    One {
        id: String,
        #[serde(flatten)]
        request: Request,
    },
}

#[derive(Deserialize)]
struct Request {
    text: String,
    operation: OperationKind,
    intention: Intention,
}

/// The examples of a file of labelled requests, each read with the turn before it.
fn requests_of(file: &Path) -> Result<Vec<serde_json::Value>> {
    let text = fs::read_to_string(file).map_err(|error| Error::io("read", file, error))?;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let usage = |error| Error::usage(format!("line {} of `{}`: {error}", at + 1, file.display()));
        let (id, requests) = match serde_json::from_str(line).map_err(usage)? {
            Requests::Dialogue { id, turns } => (id, turns),
            Requests::One { id, request } => (id, vec![request]),
        };
        let mut previous = "";
        for request in &requests {
            let said = (request.text.as_str(), previous);
            let mut example = request_example(said, request.operation, request.intention, &BuiltInPieces);
            example["writer"] = "requests".into();
            example["c"] = id.clone().into();
            found.push(example);
            previous = &request.text;
        }
    }
    Ok(found)
}

/// Every conversation with its writer and what is known of its table.
fn for_each(
    lakeward: &Lakeward,
    options: &ReaderExamples,
    mut take: impl FnMut(&str, &Conversation, Option<&KnownTable<'_>>) -> Result<()>,
) -> Result<()> {
    for (writer, file) in files(&options.labels, &options.writer)? {
        for conversation in conversations_in(&file)? {
            let table = match &conversation.table {
                Some(id) => Some(known_table(lakeward.index(), id)?),
                None => None,
            };
            take(&writer, &conversation, table.as_ref())?;
        }
    }
    Ok(())
}

/// The writers of some folders with their files, in order; only `writers` where some are named.
pub(super) fn files(folders: &[PathBuf], writers: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for folder in folders {
        let read = |error| Error::io("read", folder, error);
        for entry in fs::read_dir(folder).map_err(read)? {
            files.push(entry.map_err(read)?.path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let writer_of = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    files.retain(|file| writers.is_empty() || writers.contains(&writer_of(file)));
    Ok(files.into_iter().map(|file| (writer_of(&file), file)).collect())
}

pub(super) fn conversations_in(file: &Path) -> Result<Vec<Conversation>> {
    let text = fs::read_to_string(file).map_err(|error| Error::io("read", file, error))?;
    conversations(&text).map_err(|error| Error::usage(format!("`{}`: {error}", file.display())))
}

/// How often the built-in reader comes to what the annotation comes to.
#[derive(Debug, Serialize, JsonSchema)]
struct ReaderCheck {
    /// `over a table` or `looking for one`.
    kind: &'static str,
    /// Annotated turns.
    turns: usize,
    /// Share with the annotated act, 0..=1.
    act: f64,
    /// Share with the same plan and tables, or the same demands.
    same: f64,
    /// For each confidence below which doubt would be said: share of the right turns that would be warned of, and of all turns that would be
    /// wrong and silent.
    doubt: Vec<[f64; 3]>,
}

/// Prints turns beside tables that they are not about; the lake has a table for each made-up one, its name begins with that of the conversation and `--`.
fn other_tables(lakeward: &Lakeward, options: &ReaderExamples) -> Result<Status> {
    const DEPTH: usize = 50;
    let failure = OnceCell::new();
    let search = |text: &str| {
        let conversation = |id: &str| id.split("--").next().unwrap_or_default().to_string();
        match lakeward.search(text, DEPTH) {
            Ok(found) => {
                let found = found.into_inner().into_iter();
                found.map(|answer| (conversation(&answer.table), answer.relevance.unwrap_or(0.0))).collect()
            }
            Err(error) => {
                failure.get_or_init(|| error);
                Vec::new()
            }
        }
    };
    for (writer, file) in files(&options.labels, &options.writer)? {
        for pair in turns_beside(&conversations_in(&file)?, &search) {
            let mut line = serde_json::to_value(pair).unwrap_or_default();
            line["writer"] = writer.clone().into();
            printer::json_line(&line)?;
        }
    }
    failure.into_inner().map_or(Ok(Status::Done), Err)
}

fn check(json: bool, lakeward: &Lakeward, options: &ReaderExamples) -> Result<Status> {
    if options.other_tables {
        return other_tables(lakeward, options);
    }
    let mut all: Vec<TurnCheck> = Vec::new();
    for_each(lakeward, options, |_, conversation, table| {
        all.extend(checked(conversation, table));
        Ok(())
    })?;
    for wrong in all.iter().filter(|check| options.wrong && !check.same) {
        let [text, right, ours] = &wrong.text;
        printer::line(&format!("{text}\n    meant {right}\n    read  {ours}  ({:.2})", wrong.certainty));
    }
    for (over_table, kind) in [(true, "over a table"), (false, "looking for one")] {
        let of_kind: Vec<&TurnCheck> = all.iter().filter(|check| check.over_table == over_table).collect();
        let report = report(kind, &of_kind);
        if json {
            printer::json_line(&report)?;
            continue;
        }
        printer::line(&format!("{kind}: {} turns, act {:.3}, all right {:.3}", report.turns, report.act, report.same));
        for [below, warned, silent] in &report.doubt {
            printer::line(&format!(
                "  doubt below {below:.1}: right but warned {warned:.3}, wrong and silent {silent:.3}"
            ));
        }
    }
    Ok(Status::Done)
}

fn report(kind: &'static str, checks: &[&TurnCheck]) -> ReaderCheck {
    let share = |is: &dyn Fn(&TurnCheck) -> bool, of: &dyn Fn(&TurnCheck) -> bool| {
        let among = checks.iter().filter(|check| of(check)).count().max(1);
        checks.iter().filter(|check| of(check) && is(check)).count() as f64 / among as f64
    };
    let doubt = DOUBTS.map(|below| {
        let warned = |check: &TurnCheck| check.lost || check.certainty < below;
        [below, share(&warned, &|check| check.same), share(&|check| !check.same && !warned(check), &|_| true)]
    });
    ReaderCheck {
        kind,
        turns: checks.len(),
        act: share(&|check| check.act, &|_| true),
        same: share(&|check| check.same, &|_| true),
        doubt: doubt.to_vec(),
    }
}
