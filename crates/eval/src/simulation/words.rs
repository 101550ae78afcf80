//! The text of a user's turn, in the phrases of his bank.

use super::phrases::{Bank, PLANS, PUBLISHED};
use super::script::{Script, Statement};
use super::{Requirement, gold_key};
use crate::compare::SplitMix;
use lakeward_core::request::RequestedYears;
use lakeward_core::respect::Respect;

/// Words shorter than this are not misspelt.
const LONG_WORD: usize = 6;

/// The user's reaction to the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// No results yet, or he looks at none.
    Begins,
    /// His record is not among them, or he cannot tell.
    Unhappy,
    /// His record is among them.
    Content,
}

/// The user's text in turn `turn` of his script, from 0.
pub fn utterance(bank: &Bank, script: &Script, turn: usize, mood: Mood, random: &mut SplitMix) -> String {
    let mut parts: Vec<String> = reaction(bank, mood, random).into_iter().collect();
    for statement in script.turns.get(turn).into_iter().flatten() {
        match statement {
            Statement::Says(requirement) | Statement::Misstates(requirement) => {
                parts.push(phrase(bank, requirement, random))
            }
            Statement::Slips { wrong, right } => {
                parts.push(phrase(bank, wrong, random));
                parts.extend(one(bank.slip, random));
                parts.push(phrase(bank, right, random));
            }
            Statement::Corrects { right, .. } => {
                parts.extend(one(bank.correction, random).map(|phrase| phrase.replacen("{}", about(right), 1)));
                parts.push(phrase(bank, right, random));
            }
        }
    }
    finished(bank, &parts.join(" "), random)
}

/// A repeated requirement.
pub fn again(bank: &Bank, requirement: &Requirement, random: &mut SplitMix) -> String {
    let parts: Vec<String> = one(bank.again, random).into_iter().chain([phrase(bank, requirement, random)]).collect();
    finished(bank, &parts.join(" "), random)
}

/// Rejects a table in the results, by its title.
pub fn refusal(bank: &Bank, title: &str, random: &mut SplitMix) -> String {
    one(bank.refusal, random).map(|phrase| phrase.replacen("{}", title, 1)).unwrap_or_default()
}

fn reaction(bank: &Bank, mood: Mood, random: &mut SplitMix) -> Option<String> {
    match mood {
        Mood::Begins => None,
        Mood::Unhappy => one(bank.wrong, random),
        Mood::Content => one(bank.many, random),
    }
}

fn one(phrases: &[&str], random: &mut SplitMix) -> Option<String> {
    random.one(phrases).map(ToString::to_string)
}

/// The user's word for what `requirement` is about.
fn about(requirement: &Requirement) -> &str {
    match requirement {
        Requirement::Plan(_) | Requirement::Written(_) => "plan",
        Requirement::Years(_) => "years",
        Requirement::Value(Respect::Place, _) => "place",
        Requirement::Value(Respect::Source | Respect::Institution, _) => "source",
        Requirement::Value(Respect::Dimension, _) => "breakdown",
        Requirement::Value(role, _) => gold_key(role),
    }
}

fn phrase(bank: &Bank, requirement: &Requirement, random: &mut SplitMix) -> String {
    let filled = |phrases: &[&str], values: &[String], random: &mut SplitMix| {
        let mut text = one(phrases, random).unwrap_or_else(|| "{}".into());
        for value in values {
            text = text.replacen("{}", value, 1);
        }
        text
    };
    match requirement {
        Requirement::Written(text) => text.clone(),
        Requirement::Plan(text) => filled(PLANS, &[in_sentence(text)], random),
        Requirement::Years(years) => {
            let (phrases, values) = match years {
                RequestedYears::Cover { from, to } => (bank.cover, vec![from, to]),
                RequestedYears::Exactly { from, to } => (bank.exactly, vec![from, to]),
                RequestedYears::StartsIn(year) => (bank.starts, vec![year]),
                RequestedYears::EndsIn(year) => (bank.ends, vec![year]),
            };
            let values: Vec<String> = values.into_iter().map(ToString::to_string).collect();
            filled(phrases, &values, random)
        }
        Requirement::Value(role, value) => {
            let lower = value.to_lowercase();
            let phrases = match role {
                Respect::Place => bank.place,
                Respect::Source | Respect::Institution => bank.source,
                Respect::Frequency => bank.frequency,
                Respect::Status if ["current", "active", "maintained"].contains(&lower.as_str()) => bank.current,
                Respect::Status if ["archived", "inactive", "discontinued"].contains(&lower.as_str()) => bank.archived,
                Respect::Status => bank.status,
                Respect::Dimension => bank.dimension,
                Respect::Format => bank.format,
                Respect::Licence => bank.licence,
                Respect::Published => PUBLISHED,
                Respect::Subject
                | Respect::Topic
                | Respect::Period
                | Respect::Grain
                | Respect::Column
                | Respect::Other(_) => bank.subject,
            };
            // Names keep their case; common nouns are lower-cased as in a sentence.
            let value = match role {
                Respect::Frequency | Respect::Dimension | Respect::Subject => in_sentence(value),
                _ => value.clone(),
            };
            filled(phrases, &[value], random)
        }
    }
}

/// `text` as inside a sentence: its first letter in lower case, unless the first word is an abbreviation.
fn in_sentence(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_string(),
    }
}

/// A text as its user types it.
fn finished(bank: &Bank, text: &str, random: &mut SplitMix) -> String {
    let mut text = text.to_string();
    if bank.misspelt > 0.0 {
        let words: Vec<String> = text.split(' ').map(|word| misspelt(word, bank.misspelt, random)).collect();
        text = words.join(" ");
    }
    if bank.small { text.to_lowercase() } else { text }
}

/// A long word, possibly with two letters swapped or one removed; never the first or the last.
fn misspelt(word: &str, share: f64, random: &mut SplitMix) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() < LONG_WORD || !letters.iter().all(|c| c.is_alphabetic()) || !random.happens(share) {
        return word.to_string();
    }
    let place = 1 + random.below(letters.len() - 3);
    if random.happens(0.5) {
        letters.swap(place, place + 1);
    } else {
        letters.remove(place);
    }
    letters.into_iter().collect()
}
