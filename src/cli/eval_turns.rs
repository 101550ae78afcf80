//! `lakeward eval DIR` of turns: what they do over a catalogue, and the tables that conversations end with.

use std::collections::BTreeMap;

use super::args::{Arguments, EvalCommand};
use super::conversation::LakewardAnalyst;
use super::lake::{self, built_in};
use super::progress::Bar;
use super::{Status, printer};
use lakeward::model::Model;
use lakeward::{Lakeward, Place};
use lakeward_core::error::{Error, Result};
use lakeward_eval::provenance::Produced;
use lakeward_eval::systems::Systems;
use lakeward_eval::{acts, layout, outcomes};
use lakeward_search::RankingWeights;

/// Scores the acts of a benchmark's utterances over the catalogue of `--corpus`, and their effects.
pub fn acts(arguments: &Arguments, command: &EvalCommand) -> Result<Status> {
    let Some(corpus) = &command.corpus else {
        return Err(Error::usage("acts are read over a catalogue: name the folder of its records with `--corpus`"));
    };
    let bar = Bar::new(arguments.quiet)?;
    let benchmark = layout::read(corpus)?;
    let systems =
        Systems::over(&benchmark, built_in(), RankingWeights::shipped().clone(), command.keep_index.as_deref());
    let scores = acts::score(&command.folder, &systems.index(&bar)?.0, &bar)?;
    bar.finish();
    let Some(scores) = scores else { return Ok(Status::NothingFound) };
    match arguments.json {
        true => printer::json(&scores)?,
        false => printer::turns::acts(&scores, command.per_query),
    }
    Ok(Status::Done)
}

/// Has a benchmark's conversations over the lakes of `--over`, and scores the tables that they end with.
pub fn outcomes(arguments: &Arguments, command: &EvalCommand) -> Result<Status> {
    let names = outcomes::lakes(&command.folder)?;
    let folders: BTreeMap<&str, _> = command.over.iter().map(|(name, folder)| (name.as_str(), folder)).collect();
    if let Some(missing) = names.iter().find(|name| !folders.contains_key(name.as_str())) {
        let all = names.join("`, `");
        let what = format!("the conversations are about the lakes `{all}`: give each with `--over {missing}=DIR`");
        return Err(Error::usage(what));
    }
    let scratch = super::eval::scratch_folder()?;
    let bar = Bar::new(arguments.quiet)?;
    let mut analysts = BTreeMap::new();
    let mut produced = None;
    for name in names {
        let mut lakeward = Lakeward::open_at(Place::new(folders[name.as_str()], None)?)?;
        if command.llm {
            lakeward = lakeward.with_model(&lake::options_of(arguments))?;
        }
        produced.get_or_insert_with(|| Produced::by_reader(lakeward.model().map(Model::access)));
        let lakeward = lakeward.with_sessions_apart(&scratch.path().join(analysts.len().to_string()));
        let analyst = LakewardAnalyst::new(lakeward);
        analysts.insert(name, if command.unrun { analyst.only_looking() } else { analyst });
    }
    let Some(produced) = produced else { return Ok(Status::NothingFound) };
    let report = outcomes::score(&command.folder, &mut analysts, produced, command.seed, &bar)?;
    bar.finish();
    match arguments.json {
        true => printer::json(&report)?,
        false => printer::turns::outcomes(&report, command.per_query),
    }
    Ok(Status::Done)
}
