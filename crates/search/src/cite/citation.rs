//! The content of a citation of a table or record, independent of its format.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::text::years::{LIKELY, years};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::identifier::{Identifier, OwnIdentifier, version};
use lakeward_lake::metadata::{Standard, TableMetadata};

/// A day, a month or a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CitedDate {
    /// The year.
    pub year: u16,
    /// The month, 1 to 12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub month: Option<u8>,
    /// The day, 1 to 31.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<u8>,
}

/// A person or an organisation that made something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Author {
    /// The family name of a person whose record tells it, else the whole name.
    pub name: String,
    /// The given name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
}

/// The citation of a table or record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// Its id in the catalogue.
    pub table: String,
    /// Its title.
    pub title: String,
    /// Its creators, where the record tells them from the publisher; else the publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creator: Option<String>,
    /// The creators one by one, where the record tells them from the publisher.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub creators: Vec<Author>,
    /// Who publishes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// When it was published, else last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<CitedDate>,
    /// The publisher's identifier, else `own`.
    pub identifier: Identifier,
    /// Identifies this content, even if the publisher's identifier stands for other content later:
    /// `lakeward:<lake>/<table>@<hash>`.
    pub own: String,
    /// The version as its publisher states it, else the leading digits of the hash of its content, which `own` has.
    pub version: String,
    /// Its web address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Whether it is a record of a catalogue: its data is not in the lake, and the version is that of the record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
}

impl Citation {
    /// The citation of a table or record of the lake called `lake`.
    pub fn of(dataset: &Dataset, lake: &str) -> Self {
        let none = TableMetadata::default();
        let metadata = dataset.metadata().unwrap_or(&none);
        let identifier = Identifier::of_publisher(dataset.citation());
        let url = identifier.url().or_else(|| metadata.source_url.clone().filter(|url| url.starts_with("http")));
        let creators = creators(metadata);
        let date = |text: &Option<String>| text.as_deref().and_then(CitedDate::of);
        Self {
            table: dataset.id().to_string(),
            title: dataset.title(),
            creator: joined(&creators).or_else(|| metadata.publisher.clone()),
            creators,
            publisher: metadata.publisher.clone(),
            issued: date(&metadata.issued).or_else(|| date(&metadata.modified)),
            identifier,
            own: OwnIdentifier::of(lake, dataset.id(), dataset.content()).to_string(),
            version: metadata.version.clone().unwrap_or_else(|| version(dataset.content())),
            url,
            licence: metadata.licence.clone(),
            record: dataset.is_record(),
        }
    }

    /// A key for bibliographies: letters, digits and `_`; it changes only with the identifier.
    pub fn key(&self) -> String {
        const MOST_LETTERS: usize = 40;
        let named = match &self.identifier {
            Identifier::Own(own) => own.table.rsplit('/').next().unwrap_or(&own.table).to_string(),
            Identifier::Url(url) => url.rsplit('/').next().unwrap_or(url).to_string(),
            other => other.to_string().trim_start_matches("https://doi.org/").to_string(),
        };
        let plain: String = named.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let plain: String = plain.trim_matches('_').chars().take(MOST_LETTERS).collect();
        // Names that differ only in punctuation must get different keys.
        let hash = blake3::hash(self.identifier.to_string().as_bytes()).to_hex();
        let name = if plain.is_empty() { "data" } else { plain.as_str() };
        format!("{name}_{}", &hash.as_str()[..6])
    }
}

/// The people and organisations that a record names as creators.
fn creators(metadata: &TableMetadata) -> Vec<Author> {
    let named = |field: &'static str| {
        metadata.facets.iter().filter(move |facet| facet.field == field).flat_map(|facet| &facet.values)
    };
    if metadata.standard == Some(Standard::Record) {
        return Vec::new();
    }
    named("creator").map(|name| Author::of(name, named("institution").any(|known| known == name))).collect()
}

/// The first of them in one text.
fn joined(creators: &[Author]) -> Option<String> {
    const MOST: usize = 6;
    let others = if creators.len() > MOST { "; et al." } else { "" };
    let named: Vec<String> = creators.iter().take(MOST).map(Author::inverted).collect();
    (!named.is_empty()).then(|| format!("{}{others}", named.join("; ")))
}

impl Author {
    /// The author called `name`. *Family, Given* is a person, unless it is known as an organisation or has a word that joins names.
    fn of(name: &str, is_organisation: bool) -> Self {
        let parts = name.split_once(',').map(|(family, given)| (family.trim(), given.trim()));
        let is_person = |(family, given): &(&str, &str)| {
            let is_joined = |part: &str| part.split(' ').any(|word| ["and", "&", "of", "for"].contains(&word));
            !is_organisation
                && !family.is_empty()
                && !given.is_empty()
                && !given.contains(',')
                && !is_joined(family)
                && !is_joined(given)
        };
        match parts.filter(is_person) {
            Some((family, given)) => Self { name: family.to_string(), given: Some(given.to_string()) },
            None => Self { name: name.to_string(), given: None },
        }
    }

    /// The name with the family name first.
    pub fn inverted(&self) -> String {
        match &self.given {
            Some(given) => format!("{}, {given}", self.name),
            None => self.name.clone(),
        }
    }
}

impl CitedDate {
    /// The ISO 8601 date at the beginning of `text` (`2019`, `2019-03`, `2019-03-07T…`), else the first year in it.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let number = |from: usize, to: usize| -> Option<u16> {
            let digits = text.get(from..to)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let ends = |at: usize| !text[at..].starts_with(|c: char| c.is_ascii_digit());
        if let Some(year) = number(0, 4).filter(|year| LIKELY.contains(&i32::from(*year)) && ends(4)) {
            let part = |from: usize, most: u16| {
                let dashed = text.get(from..=from) == Some("-") && text.is_char_boundary(from + 3);
                let number = number(from + 1, from + 3).filter(|number| dashed && (1..=most).contains(number));
                number.filter(|_| ends(from + 3)).and_then(|number| u8::try_from(number).ok())
            };
            let month = part(4, 12);
            let day = month.and_then(|_| part(7, 31));
            return Some(Self { year, month, day });
        }
        let year = years(text, LIKELY).next().and_then(|year| u16::try_from(year).ok())?;
        Some(Self { year, month: None, day: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persons_have_two_names_and_organisations_one() {
        let read = |name: &str| Author::of(name, name.contains("Centre")).given;
        assert_eq!(read("Dushi, Edmond").as_deref(), Some("Edmond"));
        let one = [
            "Geodata Centre, Oslo",
            "Barnes and Noble, Inc.",
            "Zhang Fawei",
            "A, B, C",
            ", x",
            "University of Oslo, Norway",
        ];
        assert_eq!(one.map(read), [const { None }; 6]);
    }

    #[test]
    fn dates_are_parsed_as_precisely_as_given() {
        let date = |text: &str| CitedDate::of(text).map(|date| (date.year, date.month, date.day));
        assert_eq!(date("2012-08-01"), Some((2012, Some(8), Some(1))));
        assert_eq!(date("2012-08-01T00:00:00Z"), Some((2012, Some(8), Some(1))));
        assert_eq!(date("2012-08"), Some((2012, Some(8), None)));
        assert_eq!(date("2012"), Some((2012, None, None)));
        assert_eq!(date("2012-13-01"), Some((2012, None, None)));
        assert_eq!(date("1 August 2012"), Some((2012, None, None)));
        assert_eq!(date("01/08/2012"), Some((2012, None, None)));
        assert_eq!(date("20120801"), None);
        assert_eq!(date("2012-é"), Some((2012, None, None)));
        assert_eq!(date("soon"), None);
    }
}
