//! Which records of a catalogue meet a user's requirement, taken literally.

use std::collections::HashMap;

use super::{GoalRecord, Requirement};
use lakeward_core::request::RequestedYears;
use lakeward_core::respect::Respect;

/// Records by their values.
pub struct Catalogue<'a> {
    /// The records.
    pub records: &'a [GoalRecord],
    values: HashMap<(&'a Respect, &'a str), Vec<u32>>,
    by_role: HashMap<&'a Respect, Vec<&'a str>>,
}

impl<'a> Catalogue<'a> {
    /// Over `records`.
    pub fn new(records: &'a [GoalRecord]) -> Self {
        let mut values: HashMap<(&Respect, &str), Vec<u32>> = HashMap::new();
        for (place, record) in (0u32..).zip(records) {
            for (role, value) in &record.facets.values {
                add(values.entry((role, value)).or_default(), place);
            }
        }
        let mut by_role: HashMap<&Respect, Vec<&str>> = HashMap::new();
        for (role, value) in values.keys() {
            by_role.entry(role).or_default().push(value);
        }
        by_role.values_mut().for_each(|values| values.sort_unstable());
        Self { records, values, by_role }
    }

    /// The records that meet `requirement`, in order.
    pub fn meeting(&self, requirement: &Requirement) -> Vec<u32> {
        match requirement {
            // Nobody else has these words in this order; what it narrows is not counted.
            Requirement::Plan(_) | Requirement::Written(_) => {
                (0u32..).zip(self.records).map(|(place, _)| place).collect()
            }
            Requirement::Value(role, value) => self.values.get(&(role, value.as_str())).cloned().unwrap_or_default(),
            Requirement::Years(years) => {
                let places = (0u32..).zip(self.records);
                places.filter(|(_, record)| covers(record, *years)).map(|(place, _)| place).collect()
            }
        }
    }

    /// All values in a role, by name.
    pub fn values(&self, role: &Respect) -> &[&'a str] {
        self.by_role.get(role).map_or(&[], Vec::as_slice)
    }
}

fn add(list: &mut Vec<u32>, place: u32) {
    if list.last() != Some(&place) {
        list.push(place);
    }
}

/// The intersection of two sorted lists.
pub(super) fn both(a: &[u32], b: &[u32]) -> Vec<u32> {
    a.iter().copied().filter(|place| b.binary_search(place).is_ok()).collect()
}

fn covers(record: &GoalRecord, years: RequestedYears) -> bool {
    let (first, last) = (record.facets.first_year, record.facets.last_year);
    match years {
        RequestedYears::Cover { from, to } => {
            first.is_some_and(|first| first <= from) && last.is_some_and(|last| last >= to)
        }
        RequestedYears::Exactly { from, to } => first == Some(from) && last == Some(to),
        RequestedYears::StartsIn(year) => first == Some(year),
        RequestedYears::EndsIn(year) => last == Some(year),
    }
}
