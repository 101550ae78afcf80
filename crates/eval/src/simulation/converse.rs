//! The live user: he says a turn, looks at the results, and continues, accepts or gives up.

use std::time::Instant;

use super::script::Statement;
use super::words::{Mood, again, refusal, utterance};
use super::{Dialogue, Requirement, phrases};
use crate::benchmark::Grades;
use crate::compare::SplitMix;
use crate::dialogue::{final_ranking, turn_of_success};
use crate::evaluate::TURN_CUTS;
use lakeward_core::error::Result;

/// Probability that the user rejects the first result.
const TURNS_DOWN: f64 = 0.3;
/// Maximum number of tables in an answer.
const SHOWN: usize = 10;

/// A system's answer in a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Ids and titles of the results, best first.
    pub shown: Vec<(String, String)>,
    /// Tokens of a language model used.
    pub tokens: u64,
}

/// A system in a conversation.
pub trait Conversation {
    /// Answers the next turn.
    ///
    /// # Errors
    /// Anything that prevents an answer.
    fn say(&mut self, text: &str) -> Result<Reply>;

    /// Tells the system that the user rejects this table.
    fn turn_down(&mut self, table: &str);
}

/// How long a user continues and how many results he looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Turns after which he gives up.
    pub turns: usize,
    /// He accepts his record if it is among this many first results.
    pub looks_at: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self { turns: 8, looks_at: 3 }
    }
}

/// The result of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversed {
    /// The user's texts.
    pub said: Vec<String>,
    /// Whether he found his record among the results he looks at.
    pub accepted: bool,
    /// Number of tables that he rejected.
    pub turned_down: usize,
    /// Rank of his record, from 1, in the concatenated lists, the last turn's first.
    pub rank: Option<usize>,
    /// First turn with the record among the first 1, 3 and 5; the number of turns + 2 if there is none.
    pub turn_of_success: [usize; 3],
    /// Time of each answer, in milliseconds.
    pub latencies_ms: Vec<f64>,
    /// Tokens of a language model.
    pub tokens: u64,
}

/// Lets the user of `dialogue` talk with `system`.
///
/// # Errors
/// Those of [`Conversation::say`].
pub fn converse(dialogue: &Dialogue, system: &mut dyn Conversation, patience: Patience) -> Result<Conversed> {
    let bank = phrases::named(dialogue.bank);
    let mut random = SplitMix(dialogue.seed);
    let mut said: Vec<String> = Vec::new();
    let mut lists: Vec<Vec<String>> = Vec::new();
    let (mut latencies_ms, mut tokens, mut turned_down, mut accepted) = (Vec::new(), 0, 0, false);
    let mut mood = Mood::Begins;
    let mut rejection: Option<String> = None;
    for turn in 0..patience.turns.max(1) {
        let mut text = match turn < dialogue.script.turns.len() {
            true => utterance(bank, &dialogue.script, turn, mood, &mut random),
            false => match random.one(&final_requirements(dialogue)) {
                Some(requirement) => again(bank, requirement, &mut random),
                None => break,
            },
        };
        if let Some(rejection) = rejection.take() {
            text = format!("{rejection} {text}");
        }
        let started = Instant::now();
        let reply = system.say(&text)?;
        latencies_ms.push(started.elapsed().as_secs_f64() * 1000.0);
        tokens += reply.tokens;
        said.push(text);
        let shown: Vec<String> = reply.shown.iter().take(SHOWN).map(|(id, _)| id.clone()).collect();
        let place = shown.iter().position(|id| *id == dialogue.goal);
        lists.push(shown);
        if place.is_some_and(|place| place < patience.looks_at) {
            accepted = true;
            break;
        }
        mood = if place.is_some() { Mood::Content } else { Mood::Unhappy };
        if let Some((first, title)) = reply.shown.first().filter(|(id, _)| *id != dialogue.goal)
            && random.happens(TURNS_DOWN)
        {
            system.turn_down(first);
            turned_down += 1;
            rejection = Some(refusal(bank, title, &mut random));
        }
    }
    let grades = Grades::from([(dialogue.goal.clone(), 1)]);
    let turn_of_success = TURN_CUTS.map(|k| turn_of_success(&lists, &grades, k));
    let rank = final_ranking(&lists).iter().position(|id| *id == dialogue.goal).map(|place| place + 1);
    Ok(Conversed { said, accepted, turned_down, rank, turn_of_success, latencies_ms, tokens })
}

/// The user's final requirements.
fn final_requirements(dialogue: &Dialogue) -> Vec<Requirement> {
    let statements = dialogue.script.turns.iter().flatten();
    let right = statements.filter_map(|statement| match statement {
        Statement::Says(requirement) => Some(requirement.clone()),
        Statement::Slips { right, .. } | Statement::Corrects { right, .. } => Some(right.clone()),
        Statement::Misstates(_) => None,
    });
    right.collect()
}
