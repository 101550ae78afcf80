//! What is in force while a turn is read, as parts that can be taken out and put in; and what the turn has replaced, by
//! comparing what was in force before it and after.

use std::collections::BTreeMap;

use super::period::Period;
use super::place;
use super::words::stems;
use lakeward_core::request::{Constraints, Override, TimeRange};

/// The constraints in force, in parts.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// What the data is about.
    pub topic: Option<String>,
    /// Names of places.
    pub places: Vec<String>,
    /// The period.
    pub period: Option<Period>,
    /// What one row stands for, parts with hyphens between.
    pub grain: Option<String>,
    /// Columns wanted.
    pub columns: Vec<String>,
    /// Things unwanted.
    pub excluded: Vec<String>,
    /// What this turn has taken out, whatever it was.
    pub refused: Vec<String>,
}

impl State {
    /// The parts of `constraints`.
    pub fn of(constraints: &Constraints) -> Self {
        State {
            topic: constraints.topic.clone(),
            places: constraints.geography.as_deref().map(place::split).unwrap_or_default(),
            period: constraints.time_range.as_ref().and_then(|range| Period::parse(&range.to_string())),
            grain: constraints.granularity.clone(),
            columns: constraints.required_columns.clone(),
            excluded: constraints.excluded.clone(),
            refused: Vec::new(),
        }
    }

    /// Notes that `thing` is unwanted.
    pub fn exclude(&mut self, thing: String) {
        let words = stems(&thing);
        if !self.excluded.iter().any(|known| stems(known) == words) {
            self.excluded.push(thing);
        }
    }

    /// The constraints in force after turn `turn`, and what of `before` is no longer so. What did not change keeps its wording.
    pub fn finish(self, turn: usize, before: &Constraints) -> (Constraints, Vec<Override>) {
        let was = State::of(before);
        let keep = |same: bool, old: &Option<String>, new: Option<String>| if same { old.clone() } else { new };
        let geography = (!self.places.is_empty()).then(|| self.places.join(", "));
        let range = self.period.as_ref().map(|period| TimeRange::new(period.text()));
        let mut after = Constraints {
            geography: keep(self.places == was.places, &before.geography, geography),
            time_range: if self.period == was.period { before.time_range.clone() } else { range },
            topic: self.topic,
            granularity: self.grain,
            required_columns: self.columns,
            excluded: self.excluded,
            set_in_turn: BTreeMap::new(),
        };
        let (old, new) = (demands(before), demands(&after));
        let since = |key: &str| before.set_in_turn.get(key).copied().unwrap_or(turn.saturating_sub(1).max(1));
        let gone = old.iter().filter(|(key, (_, value))| new.get(*key).is_none_or(|(_, other)| other != value));
        let overrides = gone.map(|(key, (field, value))| Override {
            constraint: (*field).to_string(),
            was: value.clone(),
            set_in_turn: since(key),
        });
        let overrides = overrides.collect();
        for (key, (_, value)) in &new {
            let kept = old.get(key).is_some_and(|(_, other)| other == value);
            after.set_in_turn.insert(key.clone(), if kept { since(key) } else { turn });
        }
        (after, overrides)
    }
}

/// Each demand by its key in [`Constraints::set_in_turn`]: field and text.
fn demands(constraints: &Constraints) -> BTreeMap<String, (&'static str, String)> {
    let range = constraints.time_range.as_ref().map(TimeRange::to_string);
    let single = [
        ("topic", &constraints.topic),
        ("geography", &constraints.geography),
        ("time_range", &range),
        ("granularity", &constraints.granularity),
    ];
    let lists = [("required_columns", &constraints.required_columns), ("excluded", &constraints.excluded)];
    let single = single.into_iter().filter_map(|(field, text)| Some((field.to_string(), (field, text.clone()?))));
    let listed = lists
        .into_iter()
        .flat_map(|(field, items)| items.iter().map(move |item| (format!("{field}: {item}"), (field, item.clone()))));
    single.chain(listed).collect()
}
