//! `lakeward train fields`

use std::fs;

use super::args::FieldPaths;
use super::train_reader::{conversations_in, files};
use super::{Status, printer};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{Purpose, write_atomic};
use lakeward_reading::fields::training::{self, FieldReport};

/// Trains the model of fields and prints its scores on questions of writers left out.
pub fn run(json: bool, paths: &FieldPaths) -> Result<Status> {
    let text = fs::read_to_string(&paths.labels).map_err(|error| Error::io("read", &paths.labels, error))?;
    let questions = training::parse(&text)?;
    let mut searches = Vec::new();
    for (_, file) in files(std::slice::from_ref(&paths.turns), &[])? {
        searches.extend(conversations_in(&file)?.iter().flat_map(training::searches));
    }
    let (model, report) = training::train(&questions, &searches)?;
    write_atomic(&paths.out, Purpose::Output, &model.to_bytes())?;
    if json {
        printer::json(&report)?;
        return Ok(Status::Done);
    }
    let FieldReport { questions, searches, words, .. } = report;
    printer::line(&format!("{questions} questions and {searches} searches, {words} words and pairs, writers left out"));
    for (what, figure) in [
        ("among the labels", report.among),
        ("the first label", report.first),
        ("among the labels, by a model that saw them", report.among_kept_in),
        ("calibration error", report.calibration_error),
        ("questions taken for ones about a record", report.taken_for_questions),
        ("searches taken for them", report.searches_taken_for_questions),
    ] {
        printer::line(&format!("{figure:.3} {what}"));
    }
    Ok(Status::Done)
}
