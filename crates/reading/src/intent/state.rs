//! What is in force after a turn.
//!
//! One demand a role: what was said last counts, within a turn too (`Ontario. No, wait. Quebec`). What is only
//! inferred does not push out what was stated, unless something was taken back before it in the turn. What is refused
//! or to be forgotten goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conflict::Conflict;
use super::reading::{Fact, TurnReading};
use super::retraction::FOCUS;
use lakeward_core::request::{Demand, Demanded, Intent, RequestedYears, TurnWords};
use lakeward_core::role::Role;

/// Entries kept of each list of words; the first says what all is about and stays.
const MOST_SAID: usize = 200;
/// Refused values kept.
const MOST_REFUSED: usize = 200;
/// Things of one demand.
const MOST_THINGS: usize = 100;
/// Fields that say whom or what data describes.
const ENTITIES: [&str; 8] = ["species", "organism", "organisms", "taxon", "taxa", "entity", "population", "cohort"];

/// What a turn changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// Demands that came into force or were changed, as they are now.
    pub set: Vec<Demand>,
    /// Demands that went: replaced, refused or forgotten.
    pub removed: Vec<Demand>,
    /// Stated values that met others of earlier turns. The later ones are in force; whether that was meant can be
    /// asked.
    pub conflicts: Vec<Conflict>,
}

/// Brings the facts of a turn into force.
pub fn apply(reading: &TurnReading, intent: &mut Intent) -> Changes {
    let retracts = reading.facts.iter().any(|fact| matches!(fact, Fact::Retracted));
    let mut state = State { intent, changes: Changes::default(), turn: reading.turn, retracts, retracted: false };
    for fact in &reading.facts {
        state.fact(fact);
    }
    let State { intent, mut changes, .. } = state;
    // What was set and replaced within the turn was never in force.
    changes.set.retain(|set| intent.demands.contains(set));
    changes.removed.retain(|removed| removed.turn != reading.turn);
    for list in [&mut intent.topics, &mut intent.measures, &mut intent.columns_wanted, &mut intent.columns_excluded] {
        if list.len() > MOST_SAID {
            list.drain(1..=list.len() - MOST_SAID);
        }
    }
    let over = intent.refused.len().saturating_sub(MOST_REFUSED);
    intent.refused.drain(..over);
    changes
}

struct State<'i> {
    intent: &'i mut Intent,
    changes: Changes,
    turn: usize,
    /// Whether anything is taken back in the turn …
    retracts: bool,
    /// … and before the fact at hand.
    retracted: bool,
}

impl State<'_> {
    fn fact(&mut self, fact: &Fact) {
        let turn = self.turn;
        let said = |text: &String| TurnWords { text: text.clone(), turn };
        match fact {
            Fact::Retracted => self.retracted = true,
            Fact::Demanded { demand, also } => self.demand(demand, *also),
            Fact::Refused(refused) => self.refuse(refused),
            Fact::Forgotten(role) => self.forget(role),
            Fact::Words { text, .. } => self.intent.topics.push(said(text)),
            Fact::Answers(count) => self.intent.answers = Some(*count),
            Fact::Task(text) => self.intent.task = Some(said(text)),
            Fact::Modality(text) => self.intent.data.modality = Some(said(text)),
            Fact::Annotation(text) => self.intent.data.annotation = Some(said(text)),
            Fact::Measure(text) => add(&mut self.intent.measures, said(text)),
            Fact::Column(text) => {
                remove(&mut self.intent.columns_excluded, text);
                add(&mut self.intent.columns_wanted, said(text));
            }
            Fact::NoColumn(text) => {
                remove(&mut self.intent.columns_wanted, text);
                add(&mut self.intent.columns_excluded, said(text));
            }
        }
    }

    fn demand(&mut self, demand: &Demand, also: bool) {
        let before = self.intent.demands.iter().position(|known| known.role == demand.role);
        let mut now = demand.clone();
        if let Some(at) = before {
            let old = &self.intent.demands[at];
            if old.hard && !demand.hard && !self.retracted {
                return;
            }
            let earlier = old.turn < self.turn;
            let together = (earlier && !self.retracts).then(|| together(&old.value, &demand.value, also)).flatten();
            let asks = old.hard && demand.hard && !self.retracts && !is_same(&old.value, &demand.value);
            let old = self.intent.demands.remove(at);
            match together {
                Some(value) => {
                    now.value = value;
                    now.hard &= old.hard;
                }
                None => {
                    if asks && earlier {
                        self.changes.conflicts.push(Conflict { before: old.clone(), now: now.clone() });
                    } else if let Some(open) = self.changes.conflicts.iter_mut().find(|open| open.now.role == now.role)
                    {
                        open.now = now.clone();
                    }
                    self.changes.removed.push(old);
                }
            }
        }
        if let Demanded::Values(things) = &now.value {
            self.intent.refused.retain(|refused| refused.role != now.role || !shares(&refused.value, things));
        }
        if ENTITIES.contains(&now.role.name()) {
            self.intent.data.entity = Some(TurnWords { text: now.said.clone(), turn: self.turn });
        }
        self.intent.demands.push(now.clone());
        self.changes.set.push(now);
    }

    fn refuse(&mut self, refused: &Demand) {
        let Demanded::Values(unwanted) = &refused.value else { return };
        let at = self.intent.demands.iter().position(|known| known.role == refused.role);
        if let Some(at) = at.filter(|at| shares(&self.intent.demands[*at].value, unwanted)) {
            self.changes.removed.push(self.intent.demands[at].clone());
            let demand = &mut self.intent.demands[at];
            if let Demanded::Values(things) = &mut demand.value {
                things.retain(|thing| !unwanted.iter().any(|other| is_one(thing, other)));
            }
            if demand.value == Demanded::Values(Vec::new()) {
                self.intent.demands.remove(at);
            } else {
                self.changes.set.push(demand.clone());
            }
        }
        self.intent.refused.retain(|known| known.role != refused.role || !shares(&known.value, unwanted));
        self.intent.refused.push(refused.clone());
    }

    fn forget(&mut self, role: &Role) {
        let (forgotten, kept) = self.intent.demands.drain(..).partition(|demand| demand.role == *role);
        self.intent.demands = kept;
        let mut forgotten: Vec<Demand> = forgotten;
        self.changes.removed.append(&mut forgotten);
        self.changes.conflicts.retain(|conflict| conflict.now.role != *role);
        self.intent.refused.retain(|refused| refused.role != *role);
        if role.name() == FOCUS {
            let first = self.intent.topics.iter().map(|said| said.turn).min();
            self.intent.topics.retain(|said| Some(said.turn) == first);
        }
        if *role == Role::Dimension {
            self.intent.columns_wanted.clear();
            self.intent.columns_excluded.clear();
        }
    }
}

/// What two demands of one role are together, where they can both hold without contradiction: a start and an end;
/// what is wanted `also`.
fn together(before: &Demanded, now: &Demanded, also: bool) -> Option<Demanded> {
    match (before, now) {
        (Demanded::Period(RequestedYears::StartsIn(from)), Demanded::Period(RequestedYears::EndsIn(to)))
        | (Demanded::Period(RequestedYears::EndsIn(to)), Demanded::Period(RequestedYears::StartsIn(from)))
            if from <= to =>
        {
            Some(Demanded::Period(RequestedYears::Exactly { from: *from, to: *to }))
        }
        (Demanded::Values(before), Demanded::Values(now)) if also => Some(Demanded::Values(union(before, now))),
        _ => None,
    }
}

/// All things of both, each once.
pub(super) fn union(before: &[Vec<String>], now: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut things = before.to_vec();
    things.extend(now.iter().filter(|thing| !before.iter().any(|known| is_one(known, thing))).cloned());
    things.truncate(MOST_THINGS);
    things
}

/// Whether two lists of values are of one thing.
fn is_one(left: &[String], right: &[String]) -> bool {
    left.iter().any(|value| right.contains(value))
}

fn shares(demanded: &Demanded, things: &[Vec<String>]) -> bool {
    match demanded {
        Demanded::Values(own) => own.iter().any(|thing| things.iter().any(|other| is_one(thing, other))),
        Demanded::Period(_) => false,
    }
}

fn is_same(left: &Demanded, right: &Demanded) -> bool {
    match (left, right) {
        (Demanded::Values(left), Demanded::Values(right)) => {
            let within = |some: &[Vec<String>], all: &[Vec<String>]| {
                some.iter().all(|thing| all.iter().any(|other| is_one(thing, other)))
            };
            within(left, right) && within(right, left)
        }
        _ => left == right,
    }
}

fn add(list: &mut Vec<TurnWords>, said: TurnWords) {
    remove(list, &said.text);
    list.push(said);
}

fn remove(list: &mut Vec<TurnWords>, text: &str) {
    list.retain(|known| known.text.to_lowercase() != text.to_lowercase());
}
