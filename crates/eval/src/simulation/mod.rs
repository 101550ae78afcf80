//! A simulated user: rule based, seeded, over any catalogue with facets, so that a system that converses can be measured on
//! one's own data.
//!
//! The user has one record in mind ([`GoalRecord`]) and what he wants of it ([`script`]): enough that no other record of the
//! catalogue meets it all. He withholds most of it at first, reveals one or two things a turn, sometimes misspeaks and
//! corrects himself in the same turn or a later one, and words it by one of several banks of phrases ([`phrases`]), one of them
//! hasty, with misspellings. Written down, his dialogues are a benchmark ([`Dialogue::line`]); in person ([`converse()`]) he looks
//! at what is shown, takes the record when it is there, turns others down, and gives up after some turns.
//!
//! What he knows of a record is what the catalogue says; nothing here knows a benchmark or reads how a system works.

mod catalogue;
mod converse;
mod phrases;
mod report;
mod script;
#[cfg(test)]
mod tests;
mod words;

use serde_json::{Map, Value, json};

use super::compare::SplitMix;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::RequestedYears;
use lakeward_core::role::Role;
use lakeward_index::LakeIndex;
use lakeward_lake::metadata::RecordFacets;

pub use catalogue::Catalogue;
pub use converse::{Conversation, Conversed, Patience, Reply, converse};
pub use phrases::BANKS;
pub use report::{ConversationReport, ConversationScores};
pub use script::{Script, Statement};

/// A record that a user may have in mind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoalRecord {
    /// Its id in the catalogue.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What can be asked of it by field.
    pub facets: RecordFacets,
}

/// What a user wants of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// It is about this: words of its title that stand together.
    Topic(String),
    /// More of its title.
    Aspect(String),
    /// This value in this role.
    Value(Role, String),
    /// These years.
    Years(RequestedYears),
}

/// How dialogues are made.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationOptions {
    /// Dialogues wanted.
    pub dialogues: usize,
    /// Seed; the same seed over the same catalogue gives the same dialogues.
    pub seed: u64,
    /// Things said of a record at the most, beside its topic.
    pub most_said: usize,
    /// Share of dialogues in which the user corrects himself in the same turn, 0..=1.
    pub same_turn: f64,
    /// Share of dialogues in which he does in a later turn.
    pub later_turn: f64,
    /// Banks of phrases to use, by name; all where none is named.
    pub banks: Vec<String>,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self { dialogues: 100, seed: 1, most_said: 6, same_turn: 0.2, later_turn: 0.3, banks: Vec::new() }
    }
}

/// A user with his record and all that he is going to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    /// Its id: `sim-0001`.
    pub id: String,
    /// The id of the record that he has in mind.
    pub goal: String,
    /// How he words it.
    pub bank: &'static str,
    /// What he says, turn by turn.
    pub script: Script,
    /// Seeds his wording.
    pub seed: u64,
}

/// Records of a snapshot as goals, by id. Tables of the lake are among them.
///
/// # Errors
/// [`Error::DamagedIndex`].
pub fn goal_records(index: &LakeIndex) -> Result<Vec<GoalRecord>> {
    let mut goals = Vec::with_capacity(index.len());
    for table in index.tables() {
        // Not through the index's own store of entries, which all of them would empty.
        let dataset = index.segment(table.segment)?.catalog.dataset(table.table)?;
        let facets = dataset.metadata().map(|said| RecordFacets::of(said, dataset.path())).unwrap_or_default();
        goals.push(GoalRecord { id: dataset.id().to_string(), title: dataset.title(), facets });
    }
    goals.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(goals)
}

/// Dialogues over `records`, each about another one as long as there are enough that can be told apart.
///
/// # Errors
/// [`Error::Usage`] for an unknown bank, shares that are none, and a catalogue in which no record can be told from the others.
pub fn dialogues(records: &[GoalRecord], options: &SimulationOptions) -> Result<Vec<Dialogue>> {
    let banks = banks(options)?;
    let share = |share: f64| (0.0..=1.0).contains(&share);
    if !share(options.same_turn) || !share(options.later_turn) || options.same_turn + options.later_turn > 1.0 {
        return Err(Error::Usage("shares of corrections lie between 0 and 1, and so does their sum".into()));
    }
    let catalogue = Catalogue::new(records);
    let mut random = SplitMix(options.seed);
    let mut order: Vec<usize> = (0..records.len()).collect();
    random.shuffle(&mut order);
    let mut made: Vec<Dialogue> = Vec::with_capacity(options.dialogues);
    let mut useful: Vec<usize> = Vec::new();
    let mut fresh = order.into_iter();
    while made.len() < options.dialogues {
        // A small catalogue serves again and again.
        let (goal, is_fresh) = match fresh.next() {
            Some(goal) => (goal, true),
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
        let what = "no record of this catalogue can be told from the others by its title and fields";
        return Err(Error::Usage(what.into()));
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
            Err(Error::Usage(format!("there are no phrases called `{unknown}`: {}", all.join(", "))))
        }
        None => Ok(options.banks.iter().filter_map(known).collect()),
    }
}

impl Dialogue {
    /// The dialogue as a line of `queries.jsonl`: what the user says whatever he is shown, with the gold of every turn.
    pub fn line(&self) -> Value {
        let mut random = SplitMix(self.seed);
        let bank = phrases::named(self.bank);
        let turns: Vec<Value> = (0..self.script.turns.len())
            .map(|turn| {
                let text = words::utterance(bank, &self.script, turn, words::Mood::of_turn(turn), &mut random);
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

/// The key under which a benchmark's gold has a role.
fn gold_key(role: &Role) -> &str {
    match role {
        Role::Place => "geography",
        Role::Source => "survey",
        Role::Dimension => "dimensions",
        other => other.name(),
    }
}

/// Adds what is wanted to the gold of a turn.
fn add_gold(gold: &mut Map<String, Value>, wanted: &Wish) {
    match wanted {
        Wish::Topic(text) => _ = gold.insert("topic".into(), json!(text)),
        Wish::Aspect(text) => _ = gold.insert("aspect".into(), json!(text)),
        Wish::Value(Role::Dimension, value) => {
            let list = gold.entry("dimensions").or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(json!(value));
            }
        }
        Wish::Value(role, value) => _ = gold.insert(gold_key(role).to_string(), json!(value)),
        Wish::Years(years) => {
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
