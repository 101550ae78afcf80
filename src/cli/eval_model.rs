//! `lakeward eval DIR --voice`

use super::args::{Arguments, EvalCommand};
use super::lake::{self, built_in};
use super::progress::Bar;
use super::{Status, printer};
use lakeward::Place;
use lakeward::model::Model;
use lakeward_agent::model::ModelAccess;
use lakeward_core::error::{Error, Result};
use lakeward_eval::model_check::{CheckLimits, check, questions};
use lakeward_eval::model_gain::{VoiceOptions, measure};
use lakeward_eval::stand_in::StandIn;
use lakeward_eval::systems::Systems;
use lakeward_models::llm::config::Share;
use lakeward_models::llm::{LanguageModel, ModelRole, Prompts};
use lakeward_search::RankingWeights;

/// Measures how much the configured language model improves the results.
pub fn run(arguments: &Arguments, command: &EvalCommand) -> Result<Status> {
    let weights = match &command.weights {
        Some(path) => RankingWeights::load(path)?,
        None => RankingWeights::shipped().clone(),
    };
    let scratch = tempfile::tempdir().map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))?;
    let index_folder = command.keep_index.clone().unwrap_or_else(|| scratch.path().to_path_buf());
    let place = Place { lake: command.folder.clone(), index: index_folder, fast: false, shard: None };
    let config = place.config()?;
    let model = match &command.stand_in {
        Some(_) => None,
        None => lake::model(arguments, &place, &config)?,
    };
    let stand_in = command.stand_in.as_deref().map(StandIn::named).transpose()?;
    let access = match (&model, &stand_in) {
        (Some(model), _) => model.access(),
        (None, Some(stand_in)) => ModelAccess { chat: stand_in, prompts: Prompts::shipped(), cache: None },
        (None, None) => {
            return Err(Error::usage("no language model is configured: name one with --llm-model and --llm-url"));
        }
    };
    let bar = Bar::new(arguments.quiet)?;
    let benchmark = super::eval::read(command)?;
    let benchmark = command.form.apply(benchmark, scratch.path())?;
    let weight = match &stand_in {
        // A model is measured before it is trusted.
        Some(stand_in) => {
            for question in questions(built_in())? {
                let grades: Vec<f64> =
                    (0..question.candidates()).map(|place| f64::from(u8::from(place == question.answer))).collect();
                stand_in.knows(question.request(), &grades);
            }
            let limits = CheckLimits { tokens: u64::MAX, concurrency: 1 };
            let checked = check(access, (&config, built_in()), &[ModelRole::Ranking], limits, &bar)?;
            checked.roles.first().map(|role| role.trust)
        }
        None => config.llm.ranking,
    };
    let systems = Systems::over(&benchmark, built_in(), weights, command.keep_index.as_deref());
    let (index, _) = systems.index(&bar)?;
    let graph = systems.task_graph(&index)?;
    let share = if stand_in.is_some() { Share::Values } else { model.as_ref().map_or(config.llm.share, Model::share) };
    let options = VoiceOptions {
        queries: command.queries as usize,
        candidates: config.llm.candidates,
        weight,
        share,
        k: command.k as usize,
        seed: command.seed,
    };
    let new_model = || LanguageModel::new(access.chat, access.prompts, config.llm.limits(), access.cache);
    let report = measure(&benchmark, (&index, graph.as_deref()), &options, (&new_model, stand_in.as_ref()), &bar)?;
    bar.finish();
    if arguments.json {
        printer::json(&report)?
    } else {
        printer::evaluation::voice(&report)
    }
    Ok(Status::Done)
}
