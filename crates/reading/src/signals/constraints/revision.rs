//! What is in force while a turn is read, as parts that can be taken out and put in; and what the turn has replaced, by
//! comparing what was in force before it and after.

use std::collections::BTreeMap;

use super::words::stems;
use lakeward_core::request::{Constraints, Override, Period};

/// The constraints in force, in parts.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// What the data is about.
    pub topic: Option<String>,
    /// Names of places.
    pub places: Vec<String>,
    /// The period.
    pub period: Option<Period>,
    /// What one row stands for, part by part.
    pub grain: Vec<String>,
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
            places: constraints.geography.clone(),
            period: constraints.time_range.clone(),
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

    /// The constraints in force after turn `turn`, and what of `before` is no longer so.
    pub fn finish(self, turn: usize, before: &Constraints) -> (Constraints, Vec<Override>) {
        let mut after = Constraints {
            geography: self.places,
            time_range: self.period.and_then(plainest),
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

/// A period as it is said most simply: a span of one year is the year, one without ends is none.
fn plainest(period: Period) -> Option<Period> {
    match period {
        Period::Span { from: None, to: None } => None,
        Period::Span { from: Some(first), to: Some(last) } if first == last => Some(Period::Years(vec![first])),
        period => Some(period),
    }
}

/// Each demand by its key in [`Constraints::set_in_turn`]: field and text.
fn demands(constraints: &Constraints) -> BTreeMap<String, (&'static str, String)> {
    let places = (!constraints.geography.is_empty()).then(|| constraints.geography.join(", "));
    let single = [
        ("topic", constraints.topic.clone()),
        ("geography", places),
        ("time_range", constraints.time_range.as_ref().map(Period::to_string)),
        ("granularity", constraints.grain()),
    ];
    let lists = [("required_columns", &constraints.required_columns), ("excluded", &constraints.excluded)];
    let single = single.into_iter().filter_map(|(field, text)| Some((field.to_string(), (field, text?))));
    let listed = lists
        .into_iter()
        .flat_map(|(field, items)| items.iter().map(move |item| (format!("{field}: {item}"), (field, item.clone()))));
    single.chain(listed).collect()
}
