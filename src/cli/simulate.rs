//! `lakeward simulate`

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::args::{Arguments, SimulateCommand};
use super::conversation::LakewardConversation;
use super::progress::Bar;
use super::sessions::write_new;
use super::{Status, lake, printer};
use lakeward::model::Model;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::text::counted;
use lakeward_eval::evaluate::asking;
use lakeward_eval::provenance::Produced;
use lakeward_eval::simulation::{
    ConversationReport, ConversationScores, Dialogue, Patience, SimulationOptions, converse, dialogues, goal_records,
};

/// Makes dialogues over the catalogue, writes or prints them, or runs them against the agent.
pub fn run(arguments: &Arguments, command: &SimulateCommand) -> Result<Status> {
    let lakeward = lake::open_with_model(arguments)?;
    let records = goal_records(lakeward.index())?;
    let options = SimulationOptions {
        dialogues: command.dialogues as usize,
        seed: command.seed,
        same_turn: command.same_turn,
        later_turn: command.later_turn,
        plans: command.plans.as_deref().map(plans).transpose()?.unwrap_or_default(),
        banks: command.phrases.clone(),
        ..SimulationOptions::default()
    };
    let simulated = dialogues(&records, &options)?;
    if simulated.len() < options.dialogues && options.plans.is_empty() && !arguments.quiet {
        let what = counted(simulated.len() as u64, "dialogue");
        printer::note(&format!(
            "only {what}: no more records say enough for a plan and have fields that tell them from most others"
        ));
    }
    if let Some(path) = &command.out {
        write(path, &simulated)?;
        if !arguments.quiet {
            printer::note(&format!("{} written to `{}`", counted(simulated.len() as u64, "dialogue"), path.display()));
        }
    } else if !command.run {
        for dialogue in &simulated {
            printer::json_line(&dialogue.line())?;
        }
    }
    if !command.run {
        return Ok(Status::Done);
    }
    let patience = Patience { turns: command.turns as usize, looks_at: command.looks_at as usize };
    let bar = Bar::new(arguments.quiet)?;
    bar.begin(&asking("lakeward"), Total::Steps(simulated.len() as u64));
    let mut conversed = Vec::with_capacity(simulated.len());
    for dialogue in &simulated {
        if bar.is_stopped() {
            return Err(Error::Interrupted);
        }
        conversed.push((dialogue, converse(dialogue, &mut LakewardConversation::new(&lakeward), patience)?));
        bar.advance(1);
    }
    bar.finish();
    let report = ConversationReport {
        produced: Produced::by_reader(lakeward.model().map(Model::access)),
        records: records.len(),
        seed: command.seed,
        most_turns: patience.turns,
        looks_at: patience.looks_at,
        groups: ConversationScores::of_all(&conversed),
    };
    if arguments.json {
        printer::json(&report)?;
    } else {
        printer::evaluation::conversations(&report);
    }
    Ok(Status::Done)
}

/// The plans in a file, by the record that they want.
fn plans(path: &Path) -> Result<HashMap<String, Vec<String>>> {
    #[derive(Deserialize)]
    struct Line {
        id: String,
        turns: Vec<String>,
    }
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    let mut plans = HashMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let usage = |error| Error::usage(format!("line {} of `{}`: {error}", at + 1, path.display()));
        let Line { id, turns } = serde_json::from_str(line).map_err(usage)?;
        plans.insert(id, turns);
    }
    if plans.is_empty() {
        return Err(Error::usage(format!("`{}` has no plan", path.display())));
    }
    Ok(plans)
}

/// Writes the dialogues to `path` and the judgments to `qrels.txt` beside it; neither file may exist.
fn write(path: &Path, simulated: &[Dialogue]) -> Result<()> {
    let judgments = path.with_file_name("qrels.txt");
    if judgments.exists() {
        return Err(Error::usage(format!("`{}` exists; name a file in another folder", judgments.display())));
    }
    let lines: Vec<String> = simulated.iter().map(|dialogue| dialogue.line().to_string()).collect();
    write_new(path, &format!("{}\n", lines.join("\n")))?;
    let lines: Vec<String> = simulated.iter().map(Dialogue::qrel).collect();
    write_new(&judgments, &format!("{}\n", lines.join("\n")))
}
