//! `lakeward signals FILE` and `lakeward train signals`

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{SignalsCommand, TrainPaths};
use super::{Status, printer};
use lakeward_agent::config::ConversationConfig;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{Purpose, write_atomic};
use lakeward_reading::reader::this_year;
use lakeward_reading::signals::training::{self, HeldOut, TrainingReport};
use lakeward_reading::signals::{Signals, read_conversation};

/// A line of the file: a request, or a dialogue of several.
#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    text: Option<String>,
    turns: Option<Vec<Turn>>,
}

#[derive(Debug, Deserialize)]
struct Turn {
    text: String,
}

/// The output for a line: the signals of the request, or of each turn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SignalsLine {
    /// The id from the file.
    pub id: String,
    /// The signals of a request.
    #[serde(flatten)]
    pub signals: Option<Signals>,
    /// The signals of a dialogue's turns, each read with the turns before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<Vec<Signals>>,
}

/// Prints the signals of every request of a file, one JSON line each.
pub fn run(command: &SignalsCommand) -> Result<Status> {
    let text = read(&command.file)?;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let usage = |reason: String| Error::usage(format!("line {} of `{}`: {reason}", at + 1, command.file.display()));
        let line: Line = serde_json::from_str(line).map_err(|error| usage(error.to_string()))?;
        let (window, this_year) = (ConversationConfig::default().window, this_year());
        let (signals, turns) = match (line.text, line.turns) {
            (Some(text), None) => (read_conversation(&[&text], window, this_year).pop(), None),
            (None, Some(turns)) => {
                let texts: Vec<&str> = turns.iter().map(|turn| turn.text.as_str()).collect();
                (None, Some(read_conversation(&texts, window, this_year)))
            }
            _ => return Err(usage("it needs either `text` or `turns`".into())),
        };
        printer::json_line(&SignalsLine { id: line.id, signals, turns })?;
    }
    Ok(Status::Done)
}

/// Trains the signal model and prints its scores on held-out requests.
pub fn train(json: bool, paths: &TrainPaths) -> Result<Status> {
    let requests = training::parse(&read(&paths.labels)?)?;
    let (model, report) = training::train(&requests)?;
    write_atomic(&paths.out, Purpose::Output, &model.to_bytes())?;
    if json {
        printer::json(&report)?;
        return Ok(Status::Done);
    }
    let TrainingReport { requests, features, operation, intention } = &report;
    printer::line(&format!("{requests} requests, {features} features, ten folds"));
    for (what, held_out) in [("operation", operation), ("intention", intention)] {
        print(what, held_out);
    }
    Ok(Status::Done)
}

fn print(what: &str, held_out: &HeldOut) {
    printer::line(&format!(
        "\n{what}: macro-F1 {:.3}, calibration error {:.3}\n",
        held_out.macro_f1, held_out.calibration_error
    ));
    printer::line(&format!("| true \\ predicted | {} |", held_out.labels.join(" | ")));
    printer::line(&format!("|---|{}", "---|".repeat(held_out.labels.len())));
    for (label, row) in held_out.labels.iter().zip(&held_out.confusion) {
        let counts: Vec<String> = row.iter().map(u32::to_string).collect();
        printer::line(&format!("| {label} | {} |", counts.join(" | ")));
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Error::io("read", path, error))
}
