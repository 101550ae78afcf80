//! One stated value against another of an earlier turn: the question that settles it, and what the answer means.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::state::union;
use super::turn::Turn;
use lakeward_core::request::{Demand, Demanded, Intent, RequestedYears};

/// Two stated demands in one role, of which nothing says that the later takes the earlier back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// Of the earlier turn.
    pub before: Demand,
    /// Of this turn; in force until the question is answered.
    pub now: Demand,
}

/// What an answer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// The earlier demand stays.
    Keep,
    /// The later demand takes its place.
    Replace,
    /// Both are wanted.
    Both,
}

impl Conflict {
    /// The question: `Keep 2015 onward, or replace it by 2010?`
    pub fn question(&self) -> String {
        let [before, now] = self.readings();
        format!("Keep {before}, or replace it by {now}?")
    }

    /// How the earlier and the later demand are named in the question.
    pub fn readings(&self) -> [String; 2] {
        [self.before.value.to_string(), self.now.value.to_string()]
    }

    /// What an answer decides: `keep`, `the old one`, `replace`, `both`, or the name of one of them. `None` where it
    /// says nothing of it; then it is to be read as any other turn.
    pub fn answered(&self, answer: &str) -> Option<Settlement> {
        const KEEP: [&str; 8] = ["keep", "old", "older", "earlier", "former", "previous", "original", "stay"];
        const REPLACE: [&str; 9] =
            ["replace", "new", "newer", "latter", "later", "change", "switch", "update", "latest"];
        let turn = Turn::new(answer);
        let all: Vec<&str> = turn.words.iter().map(|word| word.low.as_str()).collect();
        if all.contains(&"both") {
            return Some(Settlement::Both);
        }
        let named = |demand: &Demand| is_named(&demand.value, &all) && !is_refused(&demand.value, &all);
        let (keeps, replaces) = (affirmed(&all, &KEEP), affirmed(&all, &REPLACE));
        match (named(&self.before), named(&self.now)) {
            // `replace Ontario` names what is to go.
            (true, false) if replaces != Some(true) => return Some(Settlement::Keep),
            (false, true) => return Some(Settlement::Replace),
            _ => {}
        }
        match (keeps, replaces) {
            (Some(true), None | Some(false)) | (None, Some(false)) => Some(Settlement::Keep),
            (None | Some(false), Some(true)) | (Some(false), None) => Some(Settlement::Replace),
            _ if named(&self.before) && named(&self.now) => Some(Settlement::Both),
            _ => None,
        }
    }

    /// Brings the decision into force, as of turn `turn`. `false`, and nothing changes, where the later demand is no
    /// longer in force.
    pub fn settle(&self, settlement: Settlement, intent: &mut Intent, turn: usize) -> bool {
        let in_force = |demand: &&mut Demand| demand.role == self.now.role && demand.value == self.now.value;
        let Some(demand) = intent.demands.iter_mut().find(in_force) else { return false };
        match settlement {
            Settlement::Keep => *demand = self.before.clone(),
            Settlement::Replace => demand.turn = turn,
            Settlement::Both => {
                demand.value = both(&self.before.value, &self.now.value);
                demand.said = format!("{} and {}", self.before.said, self.now.said);
                demand.turn = turn;
            }
        }
        true
    }
}

/// Whether one of the words is said (`Some(true)`) or denied: `not the old one`, `don't replace it`.
fn affirmed(answer: &[&str], words: &[&str]) -> Option<bool> {
    let at = answer.iter().position(|word| words.contains(word))?;
    let before = if at > 0 && answer[at - 1] == "the" { at - 1 } else { at };
    Some(before == 0 || !matches!(answer[before - 1], "not" | "don't" | "never"))
}

/// Both things; of periods the years that both lie in.
fn both(before: &Demanded, now: &Demanded) -> Demanded {
    match (before, now) {
        (Demanded::Values(before), Demanded::Values(now)) => Demanded::Values(union(before, now)),
        (Demanded::Period(before), Demanded::Period(now)) => {
            let (left, right) = (ends(*before), ends(*now));
            Demanded::Period(RequestedYears::Cover { from: left.0.min(right.0), to: left.1.max(right.1) })
        }
        _ => now.clone(),
    }
}

fn ends(years: RequestedYears) -> (i32, i32) {
    match years {
        RequestedYears::Cover { from, to } | RequestedYears::Exactly { from, to } => (from, to),
        RequestedYears::StartsIn(year) | RequestedYears::EndsIn(year) => (year, year),
    }
}

/// The ways to name it, each as its words.
fn names(value: &Demanded) -> Vec<Vec<String>> {
    let words = |text: &str| Turn::new(text).words.into_iter().map(|word| word.low).collect();
    match value {
        Demanded::Values(things) => things.iter().flatten().map(|value| words(value)).collect(),
        Demanded::Period(years) => {
            let (from, to) = ends(*years);
            vec![if from == to { vec![from.to_string()] } else { vec![from.to_string(), to.to_string()] }]
        }
    }
}

fn is_named(value: &Demanded, answer: &[&str]) -> bool {
    let has = |name: &Vec<String>| !name.is_empty() && name.iter().all(|word| answer.contains(&word.as_str()));
    names(value).iter().any(has)
}

/// Whether the answer has it behind `not`.
fn is_refused(value: &Demanded, answer: &[&str]) -> bool {
    let first = |name: &Vec<String>| name.first().and_then(|word| answer.iter().position(|known| known == word));
    names(value).iter().filter_map(first).any(|at| at > 0 && answer[at - 1] == "not")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::role::Role;

    fn demand(value: Demanded) -> Demand {
        Demand { role: Role::Place, value, hard: true, turn: 1, said: String::new() }
    }

    fn place(name: &str) -> Demand {
        demand(Demanded::Values(vec![vec![name.to_string()]]))
    }

    #[test]
    fn answers_settle_a_conflict() {
        use Settlement::{Both, Keep, Replace};
        let conflict = Conflict { before: place("Ontario"), now: place("British Columbia") };
        for (answer, expected) in [
            ("keep it", Some(Keep)),
            ("The old one, please", Some(Keep)),
            ("Ontario", Some(Keep)),
            ("keep british columbia", Some(Replace)),
            ("replace", Some(Replace)),
            ("not the old one", Some(Replace)),
            ("don't replace it", Some(Keep)),
            ("both", Some(Both)),
            ("Ontario and British Columbia", Some(Both)),
            ("British Columbia, not Ontario", Some(Replace)),
            ("replace Ontario by British Columbia", Some(Replace)),
            ("make it monthly", None),
            ("", None),
        ] {
            assert_eq!(conflict.answered(answer), expected, "{answer}");
        }
        let mut intent = Intent { demands: vec![conflict.now.clone()], ..Intent::default() };
        assert!(conflict.settle(Both, &mut intent, 3));
        let names = |name: &str| vec![name.to_string()];
        assert_eq!(intent.demands[0].value, Demanded::Values(vec![names("Ontario"), names("British Columbia")]));
        assert!(!conflict.settle(Keep, &mut intent, 4));
    }

    #[test]
    fn years_are_named_as_people_do() {
        let years = |years: RequestedYears| demand(Demanded::Period(years));
        let now = RequestedYears::Cover { from: 2010, to: 2010 };
        let conflict = Conflict { before: years(RequestedYears::StartsIn(2015)), now: years(now) };
        assert_eq!(conflict.question(), "Keep 2015 onward, or replace it by 2010?");
        assert_eq!(conflict.answered("2015"), Some(Settlement::Keep));
    }
}
