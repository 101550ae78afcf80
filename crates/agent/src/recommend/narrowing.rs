//! Values of records' fields that divide the present answers best: what to narrow them by.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::answer::in_order;
use lakeward_core::respect::Respect;
use lakeward_core::text::shown;
use lakeward_index::FacetIndex;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::metadata::RecordFacets;

/// Answers that are looked at.
const LOOKED_AT: usize = 30;
/// Fields and values of one that are told.
const MOST_FIELDS: usize = 4;
const MOST_VALUES: usize = 4;
/// Fields that are asked about; the names of others may mean anything.
const ROLES: [Respect; 9] = [
    Respect::Place,
    Respect::Subject,
    Respect::Source,
    Respect::Institution,
    Respect::Licence,
    Respect::Format,
    Respect::Frequency,
    Respect::Status,
    Respect::Published,
];

/// A field of the records found, with the values that divide them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct Narrowing {
    /// In which respect.
    pub role: Respect,
    /// Its most frequent values among the best answers.
    pub values: Vec<NarrowingValue>,
    /// How much the values that can be chosen tell of which answer it is, in bits.
    pub information: f64,
}

/// A value, and of how many of the best answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct NarrowingValue {
    /// The value as in the catalogue.
    pub value: String,
    /// The best answers that have it.
    pub answers: usize,
}

impl Narrowing {
    /// The fields that divide `records`, best answers first, the most telling field first. What all of them have, and what fewer than
    /// half have, guides nobody. Values that `known` says mean the same are one.
    pub(crate) fn of<'d>(records: impl Iterator<Item = &'d Dataset>, known: &FacetIndex) -> Vec<Self> {
        let mut facets: Vec<RecordFacets> = records
            .take(LOOKED_AT)
            .filter_map(|record| Some(RecordFacets::of(record.metadata()?, record.path())))
            .collect();
        for (role, value) in facets.iter_mut().flat_map(|record| &mut record.values) {
            if let Some(first) = known.alike(role, value).into_iter().min() {
                *value = first.to_string();
            }
        }
        let mut found: Vec<Self> = ROLES.into_iter().filter_map(|role| Self::by(role, &facets)).collect();
        found.sort_by(|a, b| b.information.total_cmp(&a.information).then_with(|| a.role.cmp(&b.role)));
        found.truncate(MOST_FIELDS);
        found
    }

    fn by(role: Respect, facets: &[RecordFacets]) -> Option<Self> {
        // Each value with the places of the answers that have it.
        let mut having: Vec<(&str, Vec<usize>)> = Vec::new();
        for (place, record) in facets.iter().enumerate() {
            for (_, value) in record.values.iter().filter(|(known, _)| *known == role) {
                match having.iter_mut().find(|(known, _)| known == value) {
                    Some((_, places)) if places.last() == Some(&place) => {}
                    Some((_, places)) => places.push(place),
                    None => having.push((value, vec![place])),
                }
            }
        }
        // What one answer has alone nobody knows beforehand, what all have divides nothing, and of values that go together one is enough.
        having.retain(|(_, places)| places.len() > 1 && places.len() < facets.len());
        having.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(b.0)));
        let mut apart: Vec<(&str, Vec<usize>)> = Vec::new();
        for (value, places) in having {
            if apart.iter().all(|(_, known)| *known != places) {
                apart.push((value, places));
            }
        }
        // The others can be asked for in words only.
        apart.truncate(MOST_VALUES);
        let values_of = |place: usize| -> Vec<usize> {
            (0..apart.len()).filter(|value| apart[*value].1.contains(&place)).collect()
        };
        let mut groups: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        (0..facets.len()).for_each(|place| *groups.entry(values_of(place)).or_default() += 1.0);
        let without = groups.get(&Vec::new()).copied().unwrap_or_default();
        if apart.len() < 2 || without * 2.0 > facets.len() as f64 {
            return None;
        }
        // An answer with none of the values is none that can be chosen.
        groups.remove(&Vec::new());
        let entropy = |answers: f64| -(answers / facets.len() as f64) * (answers / facets.len() as f64).log2();
        let information = groups.into_values().map(entropy).sum();
        let value =
            |(value, places): &(&str, Vec<usize>)| NarrowingValue { value: value.to_string(), answers: places.len() };
        let values = apart.iter().map(value).collect();
        Some(Self { role, values, information })
    }

    /// How a turn chooses a value of the field: `place: Norway`.
    pub fn choice(&self, value: &NarrowingValue) -> String {
        format!("{}: {}", self.role, value.value)
    }

    /// Its values with the number of answers that have each: `Norway (12), Kenya (3)`.
    pub fn values_line(&self) -> String {
        let value = |value: &NarrowingValue| format!("{} ({})", shown(&value.value, 60), value.answers);
        self.values.iter().map(value).collect::<Vec<_>>().join(", ")
    }
}
