//! `lakeward eval DIR --learning`

use super::args::{Arguments, EvalCommand};
use super::lake::built_in;
use super::progress::Bar;
use super::{Status, printer};
use lakeward_core::error::{Error, Result};
use lakeward_eval::feedback::{FeedbackOptions, measure};
use lakeward_eval::{layout, systems::Systems};
use lakeward_search::RankingWeights;

/// Measures how much learning from simulated sessions improves the results.
pub fn run(arguments: &Arguments, command: &EvalCommand) -> Result<Status> {
    let weights = match &command.weights {
        Some(path) => RankingWeights::load(path)?,
        None => RankingWeights::shipped().clone(),
    };
    let scratch = tempfile::tempdir().map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))?;
    let bar = Bar::new(arguments.quiet)?;
    let benchmark = command.form.apply(layout::read(&command.folder)?, scratch.path())?;
    let systems = Systems::over(&benchmark, built_in(), weights, command.keep_index.as_deref());
    let (index, _) = systems.index(&bar)?;
    let options = FeedbackOptions { k: command.k as usize, seed: command.seed, weight: command.task_weight };
    let report = measure(&benchmark, &index, &options, &bar)?;
    bar.finish();
    if arguments.json {
        printer::json(&report)?
    } else {
        printer::feedback::report(&report)
    }
    Ok(Status::Done)
}
