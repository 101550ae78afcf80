//! A simulated user: rule-based, seeded, over any catalogue with facets, so that conversational systems can be evaluated on
//! one's own data.
//!
//! The user has a goal record ([`GoalRecord`]) and a script about it ([`script`]): a plan that wants it, in words that its title does not have,
//! and values that few other records have. He withholds most of them at first, reveals one or two per turn, sometimes misspeaks and
//! corrects himself in the same turn or a later one, and words them with one of several banks of phrases ([`phrases`]), one of them
//! hasty, with misspellings. Written to a file, his dialogues are a benchmark ([`Dialogue::line`]); live ([`converse()`]) he looks
//! at the results, accepts the record when it is shown, rejects others, and gives up after some turns.
//!
//! He knows only what the catalogue says about a record; nothing here depends on a benchmark or a system's internals.

mod catalogue;
mod converse;
mod phrases;
mod report;
mod script;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::compare::SplitMix;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::RequestedYears;
use lakeward_core::respect::Respect;
use lakeward_index::LakeIndex;
use lakeward_lake::metadata::RecordFacets;

pub use catalogue::Catalogue;
pub use converse::{Conversation, Conversed, Patience, Reply, converse};
pub use phrases::BANKS;
pub use report::{ConversationReport, ConversationScores};
pub use script::{Script, Statement};

/// A record that may be a user's goal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoalRecord {
    /// Its id in the catalogue.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it says of its content and method.
    pub text: String,
    /// Its facets, which can be requested by field.
    pub facets: RecordFacets,
}

/// A requirement of a user about a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// A plan that wants it, in words of its description and method that its title does not have.
    Plan(String),
    /// What somebody has written who plans what it is for.
    Written(String),
    /// This value in this role.
    Value(Respect, String),
    /// These years.
    Years(RequestedYears),
}

/// How dialogues are generated.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationOptions {
    /// Number of dialogues.
    pub dialogues: usize,
    /// Seed; the same seed over the same catalogue gives the same dialogues.
    pub seed: u64,
    /// Maximum number of statements about a record, besides its plan.
    pub most_said: usize,
    /// Share of dialogues in which the user corrects himself in the same turn, 0..=1.
    pub same_turn: f64,
    /// Share of dialogues in which he does so in a later turn.
    pub later_turn: f64,
    /// Plans that people have written, turn by turn, each for the record with this id: where there are any, users tell these and no others are made.
    pub plans: HashMap<String, Vec<String>>,
    /// Banks of phrases to use, by name; all if empty.
    pub banks: Vec<String>,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            dialogues: 100,
            seed: 1,
            most_said: 6,
            same_turn: 0.2,
            later_turn: 0.3,
            plans: HashMap::new(),
            banks: Vec::new(),
        }
    }
}

/// A user with his goal record and his script.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    /// Its id: `sim-0001`.
    pub id: String,
    /// The id of the goal record.
    pub goal: String,
    /// The name of his bank of phrases.
    pub bank: &'static str,
    /// His statements, turn by turn.
    pub script: Script,
    /// Seed of his wording.
    pub seed: u64,
}

/// Records of a snapshot as goals, sorted by id, including tables of the lake.
///
/// # Errors
/// [`Error::DamagedIndex`].
pub fn goal_records(index: &LakeIndex) -> Result<Vec<GoalRecord>> {
    let mut goals = Vec::with_capacity(index.len());
    for table in index.tables() {
        // Bypasses the index's cache of entries, which reading all of them would evict.
        let dataset = index.segment(table.segment)?.tables.dataset(table.table)?;
        let facets = dataset.metadata().map(|metadata| RecordFacets::of(metadata, dataset.path())).unwrap_or_default();
        let said = dataset.metadata().map(|metadata| [&metadata.description, &metadata.method]);
        // Lines of fields as text keep their values only.
        let value = |line: &str| match line.split_once(": ") {
            Some((field, value)) if !field.contains(' ') => value.to_string(),
            _ => line.to_string(),
        };
        let lines = said.into_iter().flatten().flatten().flat_map(|text| text.lines()).map(value);
        let text = lines.collect::<Vec<_>>().join(" ");
        goals.push(GoalRecord { id: dataset.id().to_string(), title: dataset.title(), text, facets });
    }
    goals.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(goals)
}

/// Dialogues over `records`, each about a different one as long as there are enough distinguishable ones.
///
/// # Errors
/// [`Error::Usage`] for an unknown bank, invalid shares, and a catalogue in which no record is distinguishable.
pub fn dialogues(records: &[GoalRecord], options: &SimulationOptions) -> Result<Vec<Dialogue>> {
    let banks = banks(options)?;
    let share = |share: f64| (0.0..=1.0).contains(&share);
    if !share(options.same_turn) || !share(options.later_turn) || options.same_turn + options.later_turn > 1.0 {
        return Err(Error::usage("shares of corrections lie between 0 and 1, and so does their sum"));
    }
    let catalogue = Catalogue::new(records);
    let mut random = SplitMix(options.seed);
    let mut order: Vec<usize> = (0..records.len()).collect();
    if !options.plans.is_empty() {
        order.retain(|goal| options.plans.contains_key(&records[*goal].id));
    }
    random.shuffle(&mut order);
    let mut made: Vec<Dialogue> = Vec::with_capacity(options.dialogues);
    let mut useful: Vec<usize> = Vec::new();
    let mut fresh = order.into_iter();
    while made.len() < options.dialogues {
        // Records of a small catalogue are reused.
        let (goal, is_fresh) = match fresh.next() {
            Some(goal) => (goal, true),
            None if !options.plans.is_empty() => break,
            None => match random.one(&useful) {
                Some(goal) => (*goal, false),
                None => break,
            },
        };
        let Some(script) = Script::of(&catalogue, goal, options, &mut random) else {
            if is_fresh || made.is_empty() {
                continue;
            }
            break;
        };
        if is_fresh {
            useful.push(goal);
        }
        let bank = random.one(&banks).copied().unwrap_or(BANKS[0].name);
        let id = format!("sim-{:04}", made.len() + 1);
        made.push(Dialogue { id, goal: records[goal].id.clone(), bank, script, seed: random.next() });
    }
    if made.is_empty() && options.dialogues > 0 {
        let what = "no record of this catalogue says enough, besides its title, for a plan and has fields that tell it from most others";
        return Err(Error::usage(what));
    }
    Ok(made)
}

fn banks(options: &SimulationOptions) -> Result<Vec<&'static str>> {
    let names: Vec<&'static str> = BANKS.iter().map(|bank| bank.name).collect();
    if options.banks.is_empty() {
        return Ok(names);
    }
    let known = |name: &String| names.iter().copied().find(|known| known == name);
    match options.banks.iter().find(|name| known(name).is_none()) {
        Some(unknown) => {
            let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            Err(Error::usage(format!("there are no phrases called `{unknown}`: {}", all.join(", "))))
        }
        None => Ok(options.banks.iter().filter_map(known).collect()),
    }
}

impl Dialogue {
    /// The dialogue as a line of `queries.jsonl`: the user's texts, with the gold of every turn. He says nothing of results that he does not see:
    /// "none of these" would hide his record from whoever has just shown it.
    pub fn line(&self) -> Value {
        let mut random = SplitMix(self.seed);
        let bank = phrases::named(self.bank);
        let turns: Vec<Value> = (0..self.script.turns.len())
            .map(|turn| {
                let text = words::utterance(bank, &self.script, turn, words::Mood::Begins, &mut random);
                json!({"text": text, "constraints": self.script.gold(turn)})
            })
            .collect();
        json!({
            "id": self.id,
            "task": "dialogue",
            "turns": turns,
            "correction": self.script.correction.name(),
            "phrases": self.bank,
        })
    }

    /// Its line of `qrels.txt`.
    pub fn qrel(&self) -> String {
        format!("{} 0 {} 1", self.id, self.goal)
    }
}

/// The key of a role in a benchmark's gold.
fn gold_key(role: &Respect) -> &str {
    match role {
        Respect::Place => "geography",
        Respect::Source => "survey",
        Respect::Dimension => "dimensions",
        other => other.name(),
    }
}

/// Adds a requirement to the gold of a turn.
fn add_gold(gold: &mut Map<String, Value>, requirement: &Requirement) {
    match requirement {
        Requirement::Plan(text) | Requirement::Written(text) => _ = gold.insert("plan".into(), json!(text)),
        Requirement::Value(Respect::Dimension, value) => {
            let list = gold.entry("dimensions").or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(json!(value));
            }
        }
        Requirement::Value(role, value) => _ = gold.insert(gold_key(role).to_string(), json!(value)),
        Requirement::Years(years) => {
            let period = match years {
                RequestedYears::Cover { from, to } => json!({"from": from, "to": to}),
                RequestedYears::Exactly { from, to } => json!({"from": from, "to": to, "exact": true}),
                RequestedYears::StartsIn(year) => json!({"start": year}),
                RequestedYears::EndsIn(year) => json!({"end": year}),
            };
            gold.insert("period".into(), period);
        }
    }
}
