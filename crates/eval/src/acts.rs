//! Scores what turns over a catalogue do: a folder with `acts.jsonl`, an utterance a line, the turns before it and the act that it is
//! labelled with. The turns before are put to the agent one by one, then the utterance; its first act counts. The answers shown are the
//! agent's own: the lists of the file are another system's.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::labels::LabelScores;
use super::lakeward_system::LakeIndexOf;
use super::layout::lines::{bad_line, file_of, read_json};
use lakeward_agent::Request;
use lakeward_agent::session::Session;
use lakeward_core::error::Result;
use lakeward_core::request::Act;

const FILE: &str = "acts.jsonl";
/// Answers shown after a turn.
const SHOWN: usize = 5;

/// Scores of the acts of utterances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActScores {
    /// Utterances scored.
    pub turns: u64,
    /// The acts; where the file has one name for two of ours (`accept` for picking, too), ours is taken for it.
    pub acts: LabelScores,
    /// Ids of the utterances that were read as another act, with the act read.
    pub wrong: Vec<(String, Act)>,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    context: Vec<Before>,
    text: String,
    act: String,
}

#[derive(Deserialize)]
struct Before {
    role: String,
    #[serde(default)]
    text: String,
}

/// Whether `folder` has acts to score.
pub fn is_one(folder: &Path) -> bool {
    file_of(folder, FILE).is_some() && file_of(folder, "queries.jsonl").is_none()
}

/// Puts the conversations of `folder` to an agent over `index`; `None` where the file has no line.
///
/// # Errors
/// [`lakeward_core::Error::Benchmark`] for an unreadable line or an unknown act; errors of the agent's turns.
pub fn score(folder: &Path, index: &LakeIndexOf<'_>) -> Result<Option<ActScores>> {
    let path = folder.join(FILE);
    let mut lines: Vec<(Line, Act)> = Vec::new();
    read_json(&path, |number, line: Line| {
        let act = labelled(&line.act);
        let act = act.ok_or_else(|| bad_line(&path, number, &format!("unknown act `{}`", line.act)))?;
        lines.push((line, act));
        Ok(())
    })?;
    let agent = index.agent(index.weights())?;
    let (mut cases, mut wrong) = (Vec::new(), Vec::new());
    for (line, act) in &lines {
        let mut session = Session::new("eval", "lake");
        let before = line.context.iter().filter(|turn| turn.role == "user").map(|turn| turn.text.as_str());
        let mut read = None;
        for text in before.chain([line.text.as_str()]) {
            let request = Request { text: text.to_string(), table: None, column: None, k: SHOWN };
            read = agent.turn(&mut session, &request)?.signals.acts.first().copied();
        }
        let read = match read.unwrap_or(Act::Unclear) {
            Act::Pick => Act::Accept,
            other => other,
        };
        cases.push((*act, read));
        if read != *act {
            wrong.push((line.id.clone(), read));
        }
    }
    Ok(LabelScores::of(&cases).map(|acts| ActScores { turns: cases.len() as u64, acts, wrong }))
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
