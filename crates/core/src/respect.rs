//! The respects in which a request can ask for datasets: named fields of catalogue records (place, subject, survey, frequency), and what
//! only a request has (topic, period, grain, columns).
//!
//! Publishers name the same field in many ways, so the field name determines the [`Respect`]; a field with an unknown
//! name is its own respect.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::words;

/// In which respect a dataset is wanted, and what a field of a record means. Serialised by name: `place`, `subject`,
/// …, or the field's own name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Respect {
    /// Places: countries, regions, cities.
    Place,
    /// Subjects, themes, tags.
    Subject,
    /// Surveys, publishers, authors.
    Source,
    /// Organisations in which the data was made, which need not publish it.
    Institution,
    /// How often the data is measured or released.
    Frequency,
    /// Whether the data is maintained.
    Status,
    /// Dimensions by which the data can be broken down.
    Dimension,
    /// File formats.
    Format,
    /// Licences.
    Licence,
    /// The year in which the data was published, which is not what it covers.
    Published,
    /// What the data is about, in the words of the request.
    Topic,
    /// The years covered.
    Period,
    /// What one row stands for: `county`, `month`, `patient`.
    Grain,
    /// Columns that there must be.
    Column,
    /// A field with an unknown name.
    Other(String),
}

/// Field names, by their first word, for each role.
const NAMES: [(Respect, &[&str]); 10] = [
    (
        Respect::Place,
        &[
            "geography",
            "geographic",
            "spatial",
            "place",
            "places",
            "region",
            "regions",
            "country",
            "location",
            "territory",
            "city",
            "state",
            "province",
            "area",
            "jurisdiction",
            "coverage",
        ],
    ),
    (
        Respect::Subject,
        &[
            "subject",
            "subjects",
            "theme",
            "themes",
            "category",
            "categories",
            "topic",
            "topics",
            "tag",
            "tags",
            "keyword",
            "keywords",
            "domain",
            "group",
            "groups",
            "discipline",
            "field",
            "taxonomy",
        ],
    ),
    (
        Respect::Source,
        &[
            "survey",
            "surveys",
            "source",
            "sources",
            "publisher",
            "author",
            "authors",
            "organization",
            "organisation",
            "provider",
            "agency",
            "producer",
            "program",
            "programme",
            "creator",
            "maintainer",
            "owner",
        ],
    ),
    (Respect::Institution, &["institution", "institutions", "affiliation", "affiliations"]),
    (Respect::Frequency, &["frequency", "periodicity", "accrualperiodicity", "interval", "accrual", "cadence"]),
    (Respect::Status, &["status", "lifecycle", "archived"]),
    (
        Respect::Dimension,
        &[
            "dimension",
            "dimensions",
            "variable",
            "variables",
            "column",
            "columns",
            "breakdown",
            "breakdowns",
            "attribute",
            "attributes",
        ],
    ),
    (Respect::Format, &["format", "formats", "mediatype", "filetype"]),
    (Respect::Licence, &["license", "licence", "rights"]),
    (Respect::Published, &["published"]),
];

impl Respect {
    /// The role of a field, from the first word of its name: `accrual periodicity` is the frequency, `Erhebung` is its
    /// own respect.
    pub fn of_field(name: &str) -> Self {
        let lower = name.trim().to_lowercase();
        let first = words(&lower).next().unwrap_or_default();
        let known = NAMES.iter().find(|(_, names)| names.contains(&first));
        known.map_or(Self::Other(lower), |(role, _)| role.clone())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Place => "place",
            Self::Subject => "subject",
            Self::Source => "source",
            Self::Institution => "institution",
            Self::Frequency => "frequency",
            Self::Status => "status",
            Self::Dimension => "dimension",
            Self::Format => "format",
            Self::Licence => "licence",
            Self::Published => "published",
            Self::Topic => "topic",
            Self::Period => "period",
            Self::Grain => "grain",
            Self::Column => "column",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for Respect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Respect {
    type Err = std::convert::Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(name.to_string()))
    }
}

impl From<String> for Respect {
    fn from(name: String) -> Self {
        const OF_REQUESTS: [Respect; 4] = [Respect::Topic, Respect::Period, Respect::Grain, Respect::Column];
        let mut known = NAMES.iter().map(|(role, _)| role).chain(&OF_REQUESTS);
        known.find(|role| role.name() == name).cloned().unwrap_or(Self::Other(name))
    }
}

impl From<Respect> for String {
    fn from(role: Respect) -> Self {
        role.name().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_follows_from_the_first_word_of_its_name() {
        let role = |name: &str| Respect::of_field(name).name().to_string();
        assert_eq!(
            ["Geography", "geo_level", "surveys", "accrualPeriodicity", "license_title"].map(role),
            ["place", "geo_level", "source", "frequency", "licence"]
        );
        let read: Respect = serde_json::from_str("\"subject\"").unwrap();
        assert_eq!(
            (read, serde_json::to_string(&Respect::Other("x".into())).unwrap()),
            (Respect::Subject, "\"x\"".into())
        );
    }
}
