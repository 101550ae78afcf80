//! `lakeward train reader`: the examples that the reader of turns is trained on, made by the program that reads with it.

use std::fs;
use std::io::Write;

use super::args::{Arguments, ReaderExamples};
use super::{Status, lake, printer};
use lakeward_agent::known_table;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose};
use lakeward_reading::reader::BuiltInPieces;
use lakeward_reading::reader::annotated::{conversations, examples};

/// Writes one example for each annotated turn: the model's input, and what it should answer.
pub fn run(arguments: &Arguments, paths: &ReaderExamples) -> Result<Status> {
    let lakeward = lake::open(arguments)?;
    let read = |error| Error::io("read", &paths.labels, error);
    let mut files: Vec<_> = fs::read_dir(&paths.labels)
        .map_err(read)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(read))
        .collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let out = AtomicFile::create(&paths.examples, Purpose::Output)?;
    let mut lines = std::io::BufWriter::new(out.handle()?);
    let failed = |error| Error::io("write", &paths.examples, error);
    let (mut turns, mut lost) = (0, 0);
    for file in &files {
        let text = fs::read_to_string(file).map_err(|error| Error::io("read", file, error))?;
        let named = |error: Error| Error::Usage(format!("`{}`: {error}", file.display()));
        let writer = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for conversation in conversations(&text).map_err(named)? {
            let table = match &conversation.table {
                Some(id) => Some(known_table(lakeward.index(), id)?),
                None => None,
            };
            let (found, without_place) = examples(&conversation, table.as_ref(), &BuiltInPieces);
            lost += without_place;
            turns += found.len();
            for mut example in found {
                example["writer"] = writer.clone().into();
                example["c"] = conversation.id.clone().into();
                writeln!(lines, "{example}").map_err(failed)?;
            }
        }
    }
    lines.flush().map_err(failed)?;
    drop(lines);
    out.replace()?;
    printer::note(&format!("{turns} turns of {} writers; {lost} spans have no place in a plan", files.len()));
    Ok(Status::Done)
}
