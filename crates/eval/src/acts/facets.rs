//! Whether the facets of a request change as they should: places, period, frequency, status and format by value; what it is about, in the words
//! of the analyst, softly.
//!
//! What the gold standard changes is compared as it is after the utterance, so that a turn is not charged with what an earlier one
//! misread; what it does not change must stay as it was.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::effect::Observed;
use crate::free_text::{Texts, places, tokens};
use lakeward_core::request::{Demand, Demanded};
use lakeward_core::respect::Respect;

/// Words are taken for the same, or as gone, from this F1 or below this share on.
const SOFT: f64 = 0.5;

type Words = BTreeSet<String>;

/// A request in force, facet by facet.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct GoldRequest {
    /// What is not wanted.
    #[serde(default)]
    not: BTreeMap<String, Texts>,
    #[serde(flatten)]
    wanted: BTreeMap<String, Texts>,
}

/// A facet that is compared by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Facet {
    Geography,
    Period,
    Frequency,
    Status,
    Format,
}

impl Facet {
    const ALL: [Self; 5] = [Self::Geography, Self::Period, Self::Frequency, Self::Status, Self::Format];

    fn name(self) -> &'static str {
        match self {
            Self::Geography => "geography",
            Self::Period => "period",
            Self::Frequency => "frequency",
            Self::Status => "status",
            Self::Format => "format",
        }
    }

    fn of(role: &Respect) -> Option<Self> {
        match role {
            Respect::Place => Some(Self::Geography),
            Respect::Period => Some(Self::Period),
            Respect::Frequency => Some(Self::Frequency),
            Respect::Status => Some(Self::Status),
            Respect::Format => Some(Self::Format),
            _ => None,
        }
    }

    /// The words of a value.
    fn words(self, text: &str) -> Words {
        match self {
            Self::Geography => places(text),
            // Years as the gold standard writes them: `2014-`, `-2040`, `2010-2020`.
            Self::Period if text.chars().all(|c| c.is_ascii_digit() || c == '-') => Words::from([text.to_string()]),
            _ => tokens([text]),
        }
    }
}

/// A thing that is wanted, in each of the ways to write it.
type Thing = Vec<Words>;

/// What demands want or avoid in a facet.
fn things(facet: Facet, demands: &[Demand], avoid: bool) -> Vec<Thing> {
    let own = demands.iter().filter(|demand| demand.avoid == avoid && Facet::of(&demand.role) == Some(facet));
    let mut things: Vec<Thing> = Vec::new();
    for demand in own {
        match &demand.value {
            Demanded::Words => things.push(vec![facet.words(&demand.said)]),
            Demanded::Period(years) => {
                let [from, to] = <[Option<i32>; 2]>::from(years.bounds());
                let end = |year: Option<i32>| year.map_or(String::new(), |year| year.to_string());
                things.push(vec![facet.words(&format!("{}-{}", end(from), end(to)))]);
            }
            Demanded::Values(_) | Demanded::AnyOf(_) => {
                let values = demand.value.things();
                things.extend(values.iter().map(|ways| {
                    let said = (values.len() == 1).then_some(&demand.said);
                    ways.iter().chain(said).map(|text| facet.words(text)).collect::<Thing>()
                }));
            }
        }
    }
    things.sort();
    things
}

/// What demands of other facets say, word by word.
fn words(demands: &[Demand], avoid: bool) -> Words {
    let own = demands.iter().filter(|demand| demand.avoid == avoid && Facet::of(&demand.role).is_none());
    tokens(own.map(|demand| demand.said.as_str()))
}

fn gold_things(facet: Facet, of: &BTreeMap<String, Texts>) -> Vec<Words> {
    let said = of.get(facet.name()).map(Texts::texts).unwrap_or_default();
    said.into_iter().map(|text| facet.words(text)).collect()
}

fn gold_words(of: &BTreeMap<String, Texts>) -> Words {
    let own = of.iter().filter(|(name, _)| Facet::ALL.iter().all(|facet| facet.name() != *name));
    tokens(own.flat_map(|(_, said)| said.texts()))
}

/// Whether the facets are right after the utterance; `gold` is the request before and after it.
pub fn are_right(gold: [&GoldRequest; 2], observed: &Observed<'_>) -> bool {
    let observed = [observed.before.demands.as_slice(), observed.after.demands.as_slice()];
    Facet::ALL.into_iter().all(|facet| is_right(facet, gold, observed)) && texts_are_right(gold, observed)
}

fn is_right(facet: Facet, gold: [&GoldRequest; 2], observed: [&[Demand]; 2]) -> bool {
    let [gold_before, gold_after] = gold.map(|request| gold_things(facet, &request.wanted));
    let [before, after] = observed.map(|demands| things(facet, demands, false));
    let is_as_gold = match gold_before == gold_after {
        true => before == after,
        false => after.len() == gold_after.len() && gold_after.iter().all(|value| has(&after, value)),
    };
    let [not_before, not_after] = gold.map(|request| gold_things(facet, &request.not));
    let [avoided_before, avoided] = observed.map(|demands| things(facet, demands, true));
    // A value that was in force and is no longer is as good as one that is avoided.
    let is_negated = |value: &Words| has(&avoided, value) || (has(&before, value) && !has(&after, value));
    let mut new = avoided.iter().filter(|thing| !avoided_before.contains(thing));
    is_as_gold
        && not_after.iter().filter(|value| !not_before.contains(value)).all(is_negated)
        && not_before.iter().filter(|value| !not_after.contains(value)).all(|value| !has(&avoided, value))
        && new.all(|thing| not_after.iter().any(|value| thing.contains(value)))
}

fn has(things: &[Thing], value: &Words) -> bool {
    things.iter().any(|thing| thing.contains(value))
}

fn texts_are_right(gold: [&GoldRequest; 2], observed: [&[Demand]; 2]) -> bool {
    let [gold_before, gold_after] = gold.map(|request| gold_words(&request.wanted));
    let [not_before, not_after] = gold.map(|request| gold_words(&request.not));
    let [before, after] = observed.map(|demands| words(demands, false));
    let [avoided_before, avoided] = observed.map(|demands| words(demands, true));
    let (gold_gone, negated) = (less(&gold_before, &gold_after), less(&not_after, &not_before));
    let (new, new_avoided) = (less(&after, &before), less(&avoided, &avoided_before));
    let was_in_force = share(&negated, &before) >= SOFT && share(&negated, &after) < SOFT;
    let is_negated = match negated.is_empty() {
        true => new_avoided.is_empty(),
        false => alike(&negated, &new_avoided) || (was_in_force && new_avoided.is_empty()),
    };
    let is_gone = match gold_gone.is_empty() {
        true => less(&before, &after).is_empty(),
        false => share(&gold_gone, &after) < SOFT,
    };
    alike(&less(&gold_after, &gold_before), &new)
        && is_gone
        && is_negated
        && share(&less(&not_before, &not_after), &avoided) < SOFT
}

fn less(a: &Words, b: &Words) -> Words {
    a.difference(b).cloned().collect()
}

/// The share of `words` that are in `others`; 0 without words.
fn share(words: &Words, others: &Words) -> f64 {
    words.intersection(others).count() as f64 / words.len().max(1) as f64
}

/// Whether the F1 of two sets of words is enough; two empty ones are alike.
fn alike(a: &Words, b: &Words) -> bool {
    let both = a.len() + b.len();
    both == 0 || 2.0 * a.intersection(b).count() as f64 / both as f64 >= SOFT
}
