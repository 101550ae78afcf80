//! `lakeward eval DIR --voice`

use super::args::{Arguments, EvalCommand};
use super::lake::{self, built_in};
use super::progress::Bar;
use super::{Status, printer};
use lakeward::Place;
use lakeward_core::error::{Error, Result};
use lakeward_eval::benchmark::Task;
use lakeward_eval::model_gain::{VoiceOptions, measure};
use lakeward_eval::{layout, systems::Systems};
use lakeward_models::llm::LanguageModel;
use lakeward_search::RankingWeights;

/// Measures how much the configured language model improves the results.
pub fn run(arguments: &Arguments, command: &EvalCommand) -> Result<Status> {
    let weights = match &command.weights {
        Some(path) => RankingWeights::load(path)?,
        None => RankingWeights::shipped().clone(),
    };
    let scratch = tempfile::tempdir().map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))?;
    let index_folder = command.keep_index.clone().unwrap_or_else(|| scratch.path().to_path_buf());
    let place = Place { lake: command.folder.clone(), index: index_folder, fast: false };
    let config = place.config()?;
    let Some(model) = lake::model(arguments, &place, &config)? else {
        return Err(Error::Usage("no language model is configured: name one with --llm-model and --llm-url".into()));
    };
    let bar = Bar::new(arguments.quiet)?;
    let benchmark = command.form.apply(layout::read(&command.folder)?, scratch.path())?;
    let systems = Systems::over(&benchmark, built_in(), weights, command.keep_index.as_deref());
    let ranked = benchmark.queries.iter().any(|labelled| labelled.query.task != Task::Signals);
    let index = if ranked { Some(systems.index(&bar)?.0) } else { None };
    let options = VoiceOptions {
        queries: command.queries as usize,
        candidates: config.llm.candidates,
        k: command.k as usize,
        seed: command.seed,
    };
    let access = model.access();
    let new_model = || LanguageModel::new(access.chat, access.prompts, config.llm.limits(), access.cache);
    let report = measure(&benchmark, index.as_deref(), &options, &new_model, &bar)?;
    bar.finish();
    if arguments.json {
        printer::json(&report)?
    } else {
        printer::evaluation::voice(&report)
    }
    Ok(Status::Done)
}
