//! One demand, looked up in the index: which records meet it, and which do so in part.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::weights::RecordWeights;
use lakeward_core::error::Result;
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::respect::Respect;
use lakeward_index::{LakeIndex, TableSet};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::metadata::RecordFacets;

/// Things demanded in one role that are looked at.
const MOST_THINGS: usize = 32;

/// Whether a record meets a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DemandState {
    /// In full; what was refused is not there.
    Met,
    /// In part, or perhaps.
    Partly,
    /// Not; what was refused is there.
    Violated,
    /// The record says nothing in this role.
    Unsaid,
}

/// A demand with whether a record meets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DemandCheck {
    /// In which role.
    pub role: Respect,
    /// The words it was read from.
    pub said: String,
    /// Whether it was stated and not only inferred.
    pub hard: bool,
    /// Whether it was refused and not demanded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// Whether it is met.
    pub state: DemandState,
}

impl DemandCheck {
    /// The demand in words: `place (Ontario)`.
    pub(super) fn words(&self) -> Message {
        let role = Message::name(self.role.to_string());
        match self.refused {
            true => message!("no {} ({})", role, &self.said),
            false => message!("{} ({})", role, &self.said),
        }
    }
}

/// A demand with the records that meet it.
pub(super) struct Check<'a> {
    pub demand: &'a Demand,
    pub refused: bool,
    /// For each thing demanded the records that have it.
    things: Vec<TableSet>,
    /// Records that count in part where they have it not, and how much.
    nearly: Option<(TableSet, f32)>,
}

/// What a record says at all.
pub(super) struct ReportedRoles {
    roles: Vec<Respect>,
    has_years: bool,
}

impl ReportedRoles {
    pub fn of(dataset: &Dataset, years: (Option<i32>, Option<i32>)) -> Self {
        let nothing = Default::default();
        let facets = RecordFacets::of(dataset.metadata().unwrap_or(&nothing), dataset.path());
        let has_years = years.0.is_some() || years.1.is_some();
        Self { roles: facets.values.into_iter().map(|(role, _)| role).collect(), has_years }
    }
}

impl<'a> Check<'a> {
    /// Looks up `demand`.
    pub fn of(index: &LakeIndex, demand: &'a Demand, weights: &RecordWeights) -> Result<Self> {
        let none = index.facets()?.none();
        let mut things = Vec::new();
        let (set, share) = match &demand.value {
            Demanded::Values(_) | Demanded::AnyOf(_) => {
                for ways in demand.value.things().iter().take(MOST_THINGS) {
                    let mut set = none.clone();
                    for value in ways {
                        index.add_tables_with(&demand.role, value, &mut set)?;
                    }
                    things.push(set);
                }
                (index.cut_short(&demand.role)?, weights.perhaps_cut_off)
            }
            Demanded::Words => (none, 0.0),
            Demanded::Period(requested) if demand.role == Respect::Published => {
                let mut met = none.clone();
                for year in index.facets()?.values_of(&demand.role) {
                    if year.parse().is_ok_and(|year| is_published(*requested, year)) {
                        index.add_tables_with(&demand.role, year, &mut met)?;
                    }
                }
                things.push(met);
                (none, 0.0)
            }
            Demanded::Period(requested) => {
                let share = |first, last| years_met(*requested, first, last, weights.reached_year);
                let (mut met, mut reached) = (none.clone(), none);
                index.add_tables_in_years(&mut met, |first, last| share(first, last) == 1.0)?;
                if matches!(requested, RequestedYears::StartsIn(_) | RequestedYears::EndsIn(_)) {
                    index.add_tables_in_years(&mut reached, |first, last| {
                        (f32::MIN_POSITIVE..1.0).contains(&share(first, last))
                    })?;
                }
                things.push(met);
                (reached, weights.reached_year)
            }
        };
        let nearly = (!set.is_empty()).then_some((set, share));
        Ok(Self { demand, refused: demand.avoid, things, nearly })
    }

    /// Share of the things demanded that the record at `place` has, 0..=1; 1 where nothing is demanded.
    pub fn share(&self, place: usize) -> f32 {
        if self.things.is_empty() {
            return 1.0;
        }
        let near = self.nearly.as_ref().filter(|(set, _)| set.contains_place(place)).map_or(0.0, |(_, share)| *share);
        let of = |set: &TableSet| if set.contains_place(place) { 1.0 } else { near };
        self.things.iter().map(of).sum::<f32>() / self.things.len() as f32
    }

    /// Adds `weight` times the share of the things demanded that each record of `among` has; nothing where nothing is demanded.
    pub fn add_shares(&self, among: &TableSet, weight: f32, sums: &mut [f32]) {
        let weight = weight / self.things.len() as f32;
        for set in &self.things {
            let mut having = set.clone();
            having.intersect(among);
            having.places().for_each(|place| sums[place] += weight);
            if let Some((near, share)) = &self.nearly {
                let mut near = near.clone();
                near.intersect(among);
                near.subtract(set);
                near.places().for_each(|place| sums[place] += weight * share);
            }
        }
    }

    /// Whether the record at `place` has all things of it.
    pub fn has_all(&self, place: usize) -> bool {
        self.things.iter().all(|set| set.contains_place(place))
    }

    /// Whether it is a filter that the record at `place` does not pass.
    pub fn violated(&self, place: usize) -> bool {
        self.demand.is_held_to() && self.has_all(place) == self.refused
    }

    /// The records that have all things of it, and those that may have some.
    pub fn sets(&self, all: &TableSet) -> (TableSet, TableSet) {
        let (mut every, mut some) = (all.clone(), all.clone());
        some.clear();
        for set in &self.things {
            every.intersect(set);
            some.unite(set);
        }
        if let Some((set, _)) = &self.nearly {
            some.unite(set);
        }
        some.intersect(all);
        (every, some)
    }

    /// Whether the record at `place`, which says what `reported` says, meets it.
    pub fn outcome(&self, place: usize, reported: &ReportedRoles) -> DemandCheck {
        let says = match self.demand.value {
            Demanded::Period(_) if self.demand.role != Respect::Published => reported.has_years,
            Demanded::Period(_) => reported.roles.contains(&Respect::Published),
            Demanded::Values(_) | Demanded::AnyOf(_) | Demanded::Words => reported.roles.contains(&self.demand.role),
        };
        let share = self.share(place);
        let state = match (self.has_all(place), self.refused) {
            (true, false) => DemandState::Met,
            (true, true) => DemandState::Violated,
            (false, true) => DemandState::Met,
            (false, false) if share > 0.0 => DemandState::Partly,
            (false, false) if !says => DemandState::Unsaid,
            (false, false) => DemandState::Violated,
        };
        let Demand { role, said, hard, .. } = self.demand;
        DemandCheck { role: role.clone(), said: said.clone(), hard: *hard, refused: self.refused, state }
    }
}

/// Whether what was published in `year` was in the years wanted: a year is published in, it is not covered.
fn is_published(requested: RequestedYears, year: i32) -> bool {
    let (from, to) = requested.bounds();
    from.is_none_or(|from| year >= from) && to.is_none_or(|to| year <= to)
}

/// Whether a record of `first..=last` covers the years wanted: 1, 0, or `reached` where it covers the year and does not begin or
/// end in it.
#[inline]
fn years_met(requested: RequestedYears, first: i32, last: i32, reached: f32) -> f32 {
    let edge = |year: i32, own: i32| match year == own {
        true => 1.0,
        false if (first..=last).contains(&year) => reached,
        false => 0.0,
    };
    match requested {
        RequestedYears::Cover { from, to } => f32::from(first <= from && last >= to),
        RequestedYears::Exactly { from, to } => f32::from((first, last) == (from, to)),
        RequestedYears::StartsIn(year) => edge(year, first),
        RequestedYears::EndsIn(year) => edge(year, last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_met_wholly_by_reach_or_not() {
        let wants = |requested| {
            [(2000, 2010), (2005, 2010), (2000, 2005)].map(|(first, last)| years_met(requested, first, last, 0.5))
        };
        assert_eq!(wants(RequestedYears::Cover { from: 2001, to: 2004 }), [1.0, 0.0, 1.0]);
        assert_eq!(wants(RequestedYears::Exactly { from: 2000, to: 2005 }), [0.0, 0.0, 1.0]);
        assert_eq!(wants(RequestedYears::StartsIn(2005)), [0.5, 1.0, 0.5]);
        assert_eq!(wants(RequestedYears::EndsIn(2010)), [1.0, 1.0, 0.0]);
        let published = |requested| [2019, 2020, 2021].map(|year| is_published(requested, year));
        assert_eq!(published(RequestedYears::StartsIn(2020)), [false, true, true]);
        assert_eq!(published(RequestedYears::EndsIn(2020)), [true, true, false]);
        assert_eq!(published(RequestedYears::Cover { from: 2020, to: 2020 }), [false, true, false]);
    }
}
