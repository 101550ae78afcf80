//! Values of records' fields that divide the present answers best: what to narrow them by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::question::entropy;
use lakeward_core::answer::in_order;
use lakeward_core::role::Role;
use lakeward_core::text::shown;
use lakeward_lake::dataset::Dataset;
use lakeward_lake::metadata::RecordFacets;

/// Answers that are looked at.
const LOOKED_AT: usize = 30;
/// Fields and values of one that are told.
const MOST_FIELDS: usize = 4;
const MOST_VALUES: usize = 4;
/// Fields that are asked about; the names of others may mean anything.
const ROLES: [Role; 8] = [
    Role::Place,
    Role::Subject,
    Role::Source,
    Role::Licence,
    Role::Format,
    Role::Frequency,
    Role::Status,
    Role::Published,
];

/// A field of the records found, with the values that divide them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct Narrowing {
    /// In which respect.
    pub role: Role,
    /// Its most frequent values among the best answers.
    pub values: Vec<NarrowingValue>,
    /// How much the value tells of which answer it is, in bits.
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
    /// half have, divides nothing.
    pub(crate) fn of<'d>(records: impl Iterator<Item = &'d Dataset>) -> Vec<Self> {
        let facets: Vec<RecordFacets> = records
            .take(LOOKED_AT)
            .filter_map(|record| Some(RecordFacets::of(record.metadata()?, record.path())))
            .collect();
        let mut found: Vec<Self> = ROLES.into_iter().filter_map(|role| Self::by(role, &facets)).collect();
        found.sort_by(|a, b| b.information.total_cmp(&a.information).then_with(|| a.role.cmp(&b.role)));
        found.truncate(MOST_FIELDS);
        found
    }

    fn by(role: Role, facets: &[RecordFacets]) -> Option<Self> {
        let mut counts: Vec<NarrowingValue> = Vec::new();
        let mut having = 0;
        for record in facets {
            let mut own = record.values.iter().filter(|(known, _)| *known == role).peekable();
            having += usize::from(own.peek().is_some());
            for (_, value) in own {
                match counts.iter_mut().find(|known| known.value == *value) {
                    Some(known) => known.answers += 1,
                    None => counts.push(NarrowingValue { value: value.clone(), answers: 1 }),
                }
            }
        }
        counts.retain(|value| value.answers < facets.len());
        // What each answer has alone tells them apart, but nobody knows it beforehand.
        if counts.len() < 2 || having * 2 < facets.len() || counts.iter().all(|value| value.answers == 1) {
            return None;
        }
        let weights: Vec<f64> = counts.iter().map(|value| value.answers as f64).collect();
        counts.sort_by(|a, b| b.answers.cmp(&a.answers).then_with(|| a.value.cmp(&b.value)));
        let information = entropy(&weights);
        counts.truncate(MOST_VALUES);
        Some(Self { role, values: counts, information })
    }

    /// The field with its values in a line: `place: Norway (12), Kenya (3)`.
    pub fn line(&self) -> String {
        let values: Vec<String> =
            self.values.iter().map(|value| format!("{} ({})", shown(&value.value, 60), value.answers)).collect();
        format!("{}: {}", self.role, values.join(", "))
    }
}
