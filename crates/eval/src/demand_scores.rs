//! Scores of the constraints extracted from a dialogue's turns against the author's gold constraints.
//!
//! Facets are right or wrong as a whole, by role; scores are micro-averaged over all turns. Topics and aspects are free text
//! and are scored by the words they share with the gold.

use std::collections::BTreeMap;

use serde_json::Value;

use super::baseline::words::{Analysis, Vocabulary};
use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::role::Role;

/// The constraints of one turn, or of several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gold {
    /// By role; years under `period`.
    pub facets: BTreeMap<Role, GoldFacet>,
    /// The topic.
    pub topic: Option<String>,
    /// The aspect of the topic.
    pub aspect: Option<String>,
}

/// The gold of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoldFacet {
    /// All of these values.
    Values(Vec<String>),
    /// Years.
    Period(RequestedYears),
}

impl Gold {
    /// Reads a turn's `constraints`: `{"geography": "Ontario", "period": {"from": 2001, "to": 2010}, "dimensions":
    /// ["Sex"], …}`. Fields are mapped by [`Role::of_field`]; invalid values are left out.
    pub fn read(constraints: &Value) -> Self {
        let mut gold = Gold::default();
        for (name, value) in constraints.as_object().into_iter().flatten() {
            let text = value.as_str().map(String::from);
            match name.as_str() {
                "topic" => gold.topic = text,
                "aspect" => gold.aspect = text,
                "period" => {
                    let years = years(value).map(GoldFacet::Period);
                    gold.facets.extend(years.map(|years| (Role::from(name.clone()), years)));
                }
                _ => {
                    let list = value.as_array().map(|list| list.iter().filter_map(Value::as_str).map(String::from));
                    let values: Vec<String> = list.map_or_else(|| text.into_iter().collect(), Iterator::collect);
                    if !values.is_empty() {
                        gold.facets.insert(Role::of_field(name), GoldFacet::Values(values));
                    }
                }
            }
        }
        gold
    }

    /// Adds the constraints of a later turn, which override earlier ones.
    pub fn follow(&mut self, later: &Gold) {
        self.facets.extend(later.facets.iter().map(|(role, facet)| (role.clone(), facet.clone())));
        self.topic = later.topic.clone().or(self.topic.take());
        self.aspect = later.aspect.clone().or(self.aspect.take());
    }
}

/// `{"start": 1990}`, `{"end": 2005}`, `{"from": 1990, "to": 2005}`, the last with `"exact": true` for no other years.
fn years(value: &Value) -> Option<RequestedYears> {
    let year = |name: &str| value.get(name).and_then(Value::as_i64).and_then(|year| i32::try_from(year).ok());
    let exact = value.get("exact").and_then(Value::as_bool).unwrap_or(false);
    match (year("from"), year("to"), year("start"), year("end")) {
        (Some(from), Some(to), ..) if exact => Some(RequestedYears::Exactly { from, to }),
        (Some(from), Some(to), ..) => Some(RequestedYears::Cover { from, to }),
        (_, _, Some(start), _) => Some(RequestedYears::StartsIn(start)),
        (_, _, _, Some(end)) => Some(RequestedYears::EndsIn(end)),
        _ => None,
    }
}

/// Whether the extracted facet equals the gold: the same set of values, ignoring case, or the same years.
pub fn is_right(meant: &GoldFacet, read: &Demanded) -> bool {
    match (meant, read) {
        (GoldFacet::Period(meant), Demanded::Period(read)) => meant == read,
        (GoldFacet::Values(meant), Demanded::Values(things)) => {
            let is = |thing: &Vec<String>, value: &String| {
                thing.iter().any(|known| known.to_lowercase() == value.to_lowercase())
            };
            let all = meant.iter().all(|value| things.iter().any(|thing| is(thing, value)));
            all && things.iter().all(|thing| meant.iter().any(|value| is(thing, value)))
        }
        _ => false,
    }
}

/// Numbers of facets in the gold, extracted, and extracted correctly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FacetCounts {
    /// Extracted correctly.
    pub right: usize,
    /// Extracted.
    pub read: usize,
    /// In the gold.
    pub meant: usize,
}

impl FacetCounts {
    /// F1 = 2·right / (read + meant), 0..=1; 0 without any facet.
    pub fn f1(self) -> f64 {
        if self.read + self.meant == 0 { 0.0 } else { 2.0 * self.right as f64 / (self.read + self.meant) as f64 }
    }

    fn add(&mut self, other: Self) {
        self.right += other.right;
        self.read += other.read;
        self.meant += other.meant;
    }
}

/// Counts by role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetScores {
    /// Of each role that is in the gold or was extracted.
    pub by_role: BTreeMap<Role, FacetCounts>,
}

impl FacetScores {
    /// Counts one comparison; returns the roles that are wrong: extracted but not in the gold, in the gold but not extracted, or
    /// with another value.
    pub fn add<'d>(&mut self, meant: &Gold, read: impl Iterator<Item = &'d Demand>) -> Vec<Role> {
        let read: BTreeMap<&Role, &Demanded> = read.map(|demand| (&demand.role, &demand.value)).collect();
        let mut roles: Vec<&Role> = meant.facets.keys().chain(read.keys().copied()).collect();
        roles.sort_unstable();
        roles.dedup();
        let mut wrong = Vec::new();
        for role in roles {
            let (meant, read) = (meant.facets.get(role), read.get(role));
            let right = meant.zip(read).is_some_and(|(meant, read)| is_right(meant, read));
            let counts = FacetCounts {
                right: usize::from(right),
                read: usize::from(read.is_some()),
                meant: usize::from(meant.is_some()),
            };
            self.by_role.entry(role.clone()).or_default().add(counts);
            if !right {
                wrong.push(role.clone());
            }
        }
        wrong
    }

    /// Adds the counts of others.
    pub fn merge(&mut self, other: &Self) {
        for (role, counts) in &other.by_role {
            self.by_role.entry(role.clone()).or_default().add(*counts);
        }
    }

    /// The summed counts of several roles, for their micro-F1.
    pub fn of(&self, is_counted: impl Fn(&Role) -> bool) -> FacetCounts {
        let mut sum = FacetCounts::default();
        self.by_role.iter().filter(|(role, _)| is_counted(role)).for_each(|(_, counts)| sum.add(*counts));
        sum
    }
}

/// F1 of the words of two texts, as bags of stems without stop words: 2·|m ∩ r| / (|m| + |r|); 0 if both are empty.
pub fn token_f1(meant: &str, read: &str) -> f64 {
    let mut stems = Vocabulary::new(Analysis::English);
    let mut of = |text: &str| {
        let mut ids = Vec::new();
        stems.add(text, &mut ids);
        ids
    };
    let (meant, mut read) = (of(meant), of(read));
    let words = meant.len() + read.len();
    let mut shared = 0;
    for stem in &meant {
        if let Some(at) = read.iter().position(|other| other == stem) {
            read.swap_remove(at);
            shared += 1;
        }
    }
    if words == 0 { 0.0 } else { 2.0 * shared as f64 / words as f64 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facets_are_right_as_a_whole() {
        let gold = Gold::read(&json!({
            "topic": "wheat", "geography": "Ontario", "period": {"from": 2001, "to": 2010},
            "dimensions": ["Age", "Sex"], "x": 3
        }));
        assert_eq!((gold.topic.as_deref(), gold.facets.len()), (Some("wheat"), 3));
        let demand = |role: Role, value: Demanded| Demand { role, value, hard: true, turn: 1, said: String::new() };
        let thing = |name: &str| vec![name.to_string()];
        let read = [
            demand(Role::Place, Demanded::Values(vec![vec!["Ont.".into(), "ontario".into()]])),
            demand(Role::Dimension, Demanded::Values(vec![thing("Sex")])),
            demand(Role::Subject, Demanded::Values(vec![thing("Crops")])),
        ];
        let mut scores = FacetScores::default();
        let wrong = scores.add(&gold, read.iter());
        assert_eq!(wrong.iter().map(Role::name).collect::<Vec<_>>(), ["subject", "dimension", "period"]);
        assert_eq!(scores.of(|_| true), FacetCounts { right: 1, read: 3, meant: 3 });
        assert_eq!(scores.of(|role| *role == Role::Place).f1(), 1.0);
        assert_eq!(
            [("prices of wheat", "wheat price"), ("a", "b"), ("", "")].map(|(m, r)| token_f1(m, r)),
            [1.0, 0.0, 0.0]
        );
    }
}
