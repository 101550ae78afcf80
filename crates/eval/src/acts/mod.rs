//! Scores what turns over a catalogue do: a folder with `acts.jsonl`, an utterance a line, the turns before it, the act that it is
//! labelled with and its effect. The turns before are put to the agent one by one, with the lists that the file says were shown, then the
//! utterance; its first act counts, and what it changed ([`effect`]).

mod effect;
mod facets;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::labels::LabelScores;
use super::lakeward_system::LakeIndexOf;
use super::layout::lines::{bad_line, file_of, read_json};
use super::provenance::Produced;
pub use effect::{Counted, EffectPart, EffectScores};
use effect::{GoldEffect, Observed, parts};
use lakeward_agent::Request;
use lakeward_agent::session::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::monitor::{Monitor, Total};
use lakeward_core::request::Act;

const FILE: &str = "acts.jsonl";
/// Answers shown after a turn.
const SHOWN: usize = 5;

/// Scores of the acts of utterances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActScores {
    /// What was measured.
    #[serde(flatten)]
    pub produced: Produced,
    /// Utterances scored.
    pub turns: u64,
    /// The acts; where the file has one name for two of ours (`accept` for picking, too), ours is taken for it.
    pub acts: LabelScores,
    /// What they change, if the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<EffectScores>,
    /// Ids of the utterances that were read as another act, with the act read.
    pub wrong: Vec<(String, Act)>,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    context: Vec<Before>,
    text: String,
    act: String,
    #[serde(flatten)]
    effect: GoldEffect,
}

#[derive(Deserialize)]
struct Before {
    role: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    results: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    id: String,
}

/// Whether `folder` has acts to score.
pub fn is_one(folder: &Path) -> bool {
    file_of(folder, FILE).is_some() && file_of(folder, "queries.jsonl").is_none()
}

/// Puts the conversations of `folder` to an agent over `index`; `None` where the file has no line.
///
/// # Errors
/// [`Error::Benchmark`] for an unreadable line or an unknown act; errors of the agent's turns.
pub fn score(folder: &Path, index: &LakeIndexOf<'_>, monitor: &dyn Monitor) -> Result<Option<ActScores>> {
    let path = folder.join(FILE);
    let mut lines: Vec<(Line, Act)> = Vec::new();
    read_json(&path, |number, line: Line| {
        let act = labelled(&line.act);
        let act = act.ok_or_else(|| bad_line(&path, number, &format!("unknown act `{}`", line.act)))?;
        lines.push((line, act));
        Ok(())
    })?;
    monitor.begin("reading acts", Total::Steps(lines.len() as u64));
    let agent = index.agent(index.weights())?;
    let (mut cases, mut wrong, mut effects) = (Vec::new(), Vec::new(), Vec::new());
    for (line, act) in &lines {
        if monitor.is_stopped() {
            return Err(Error::Interrupted);
        }
        let say = |session: &mut Session, text: &str| {
            agent.turn(session, &Request { text: text.to_string(), table: None, column: None, k: SHOWN })
        };
        let mut session = Session::new("eval", "lake");
        let mut states = vec![Vec::new()];
        for before in &line.context {
            if before.role == "user" {
                say(&mut session, &before.text)?;
                states.push(session.demands.clone());
            } else if let Some(latest) = session.turns.last_mut() {
                latest.tables = before.results.iter().map(|shown| shown.id.clone()).collect();
            }
        }
        let before = session.clone();
        let answer = say(&mut session, &line.text)?;
        let read = match answer.signals.acts.first().copied().unwrap_or(Act::Unclear) {
            Act::Pick => Act::Accept,
            other => other,
        };
        let observed = Observed { before: &before, after: &session, answer: &answer, states: &states };
        if let Some(parts) = parts(&line.effect, &observed) {
            effects.push((line.id.clone(), *act, parts));
        }
        cases.push((*act, read));
        if read != *act {
            wrong.push((line.id.clone(), read));
        }
        monitor.advance(1);
    }
    let effects = EffectScores::of(&effects);
    let (produced, turns) = (Produced::by_reader(None), cases.len() as u64);
    Ok(LabelScores::of(&cases).map(|acts| ActScores { produced, turns, acts, effects, wrong }))
}

/// The act of a label of the file.
fn labelled(name: &str) -> Option<Act> {
    match name {
        "new_topic" => Some(Act::New),
        "ask_about_result" => Some(Act::Ask),
        "small_talk" => Some(Act::Chat),
        name => Act::of(name),
    }
}
