//! A record's facets: the values of its named fields, which a request can filter by exactly, and the years it covers.
//!
//! Values are a text, each text of a list, each of an object's `members`, and the name of each object of a list. Texts that
//! are stored elsewhere (titles, descriptions), addresses, identifiers and dates are left out; a date becomes the first or
//! last year where its field's name says which one it is. The meaning of the values is not interpreted here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::clean;
use super::mapping::is_date;
use super::value;
use super::{Standard, TableMetadata, TimeCovered};
use crate::source;
use lakeward_core::respect::Respect;
use lakeward_core::text::name_words;
use lakeward_core::text::years::{STATED, year_of_date, years};

/// Most fields of one record.
const MOST_FIELDS: usize = 64;
/// Most values of one field; a longer list is marked as cut short.
const MOST_VALUES: usize = 256;
/// Most bytes of all values of one record.
const MOST_BYTES: usize = 16 << 10;
/// Longest value, in bytes; longer texts are descriptions.
const LONGEST_VALUE_BYTES: usize = 200;
/// Longest name of a field, in bytes.
const LONGEST_FIELD_BYTES: usize = 64;
/// Fields of people and organisations, and of what is measured.
const WORDS: [&str; 5] = ["institution", "creator", "contributor", "funder", "variable"];
/// The field of the year of publication.
const PUBLISHED: &str = "published";
/// Words of a field's name that mark a date as the start of the time covered …
const BEGINS: [&str; 6] = ["start", "starts", "begin", "beginning", "from", "first"];
/// … and as its end.
const ENDS: [&str; 6] = ["end", "ends", "ending", "to", "last", "until"];

/// The values that a record has under one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Facet {
    /// The field's name as written, at most 64 bytes.
    pub field: String,
    /// Values in the order of the record, each once and at most 200 bytes; at most 256.
    pub values: Vec<String>,
    /// Whether the publisher's list is longer than this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
}

/// The facets of a record, and the first and last year that it covers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub facets: Vec<Facet>,
    pub first_year: Option<i32>,
    pub last_year: Option<i32>,
    bytes: usize,
}

impl Fields {
    /// The facets and years of `record`, from the fields whose local name, in lower case, `is_facet` accepts.
    pub fn of(record: &Map<String, Value>, is_facet: impl Fn(&str) -> bool) -> Self {
        let mut fields = Fields::default();
        for (key, value) in record {
            let name = value::local_name(key);
            let lower = name.to_lowercase();
            if !is_address(&lower) && is_facet(&lower) {
                fields.add(name, value);
            }
        }
        fields
    }

    /// Adds the `value` of the field `name`.
    pub fn add(&mut self, name: &str, value: &Value) {
        if let Some(year) = scalar(value).as_deref().and_then(year_of_date) {
            let words = name_words(name);
            let has_word = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
            if has_word(&BEGINS) {
                self.first_year = Some(self.first_year.map_or(year, |known| known.min(year)));
            } else if has_word(&ENDS) {
                self.last_year = Some(self.last_year.map_or(year, |known| known.max(year)));
            }
            return;
        }
        if value.is_number() || value.is_boolean() || self.facets.len() >= MOST_FIELDS {
            return;
        }
        let field = clean::line(name);
        if field.is_empty() || field.len() > LONGEST_FIELD_BYTES {
            return;
        }
        let mut facet = Facet { field, values: Vec::new(), cut_short: false };
        let members = value.get("members").and_then(Value::as_array);
        if let (Some(members), Some(all)) = (members, value.get("n").and_then(Value::as_u64)) {
            facet.cut_short = all > members.len() as u64;
        }
        match (value, members) {
            (_, Some(list)) | (Value::Array(list), None) => {
                facet.cut_short |= list.len() > value::MOST_ITEMS;
                list.iter().take(value::MOST_ITEMS).for_each(|item| self.push(&mut facet, item));
            }
            _ => self.push(&mut facet, value),
        }
        if !facet.values.is_empty() {
            self.facets.push(facet);
        }
    }

    /// Fields to which more are added.
    pub fn with(facets: Vec<Facet>) -> Self {
        let bytes = facets.iter().flat_map(|facet| &facet.values).map(String::len).sum();
        Self { facets, bytes, ..Self::default() }
    }

    /// Adds `texts` as values of the field `name`.
    pub fn add_texts(&mut self, name: &str, texts: impl Iterator<Item = String>) {
        let mut facet = Facet { field: name.to_string(), values: Vec::new(), cut_short: false };
        texts.for_each(|text| self.push(&mut facet, &Value::String(text)));
        if !facet.values.is_empty() && self.facets.len() < MOST_FIELDS {
            self.facets.push(facet);
        }
    }

    fn push(&mut self, facet: &mut Facet, item: &Value) {
        if item.is_number() || item.is_boolean() {
            return;
        }
        let Some(text) = value::text(item) else { return };
        if text.len() > 4 * LONGEST_VALUE_BYTES {
            return;
        }
        let text = clean::line(&text);
        let is_value = !text.is_empty()
            && text.len() <= LONGEST_VALUE_BYTES
            && !text.contains("://")
            && !text.starts_with(['{', '[']);
        if !is_value || facet.values.contains(&text) {
            return;
        }
        if facet.values.len() >= MOST_VALUES || self.bytes + text.len() > MOST_BYTES {
            facet.cut_short = true;
            return;
        }
        self.bytes += text.len();
        facet.values.push(text);
    }
}

/// Whether a field of this name (in lower case) holds identifiers or addresses.
pub(super) fn is_address(name: &str) -> bool {
    ["id", "ids", "url", "uri", "href", "hash"].iter().any(|end| name.ends_with(end))
}

/// The text of a string or of a whole number.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_string()),
        Value::Number(number) if number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}

impl TableMetadata {
    /// All (field, value) pairs that a request can filter by, each once; and the fields whose lists are cut short. `path` is the
    /// table's file, whose format is also such a value; `None` for a record.
    pub fn fields(&self, path: Option<&str>) -> (Vec<(&str, &str)>, Vec<&str>) {
        let mut fields: Vec<(&str, &str)> = Vec::new();
        let named = self
            .facets
            .iter()
            .flat_map(|facet| facet.values.iter().map(|value| (facet.field.as_str(), value.as_str())));
        fields.extend(named);
        fields.extend(self.tags.iter().map(|tag| ("tag", tag.as_str())));
        let publisher = self.publisher.as_deref().filter(|name| name.len() <= LONGEST_VALUE_BYTES);
        fields.extend(publisher.map(|name| ("publisher", name)));
        fields.extend(
            self.licence.as_deref().filter(|name| name.len() <= LONGEST_VALUE_BYTES).map(|name| ("licence", name)),
        );
        let places = self.spatial.iter().filter(|place| place.len() <= LONGEST_VALUE_BYTES);
        fields.extend(places.map(|place| ("spatial", place.as_str())));
        fields.extend(path.and_then(format_of).map(|format| ("format", format)));
        fields.extend(self.published().map(|year| (PUBLISHED, year)));
        let cut = self.facets.iter().filter(|facet| facet.cut_short).map(|facet| facet.field.as_str()).collect();
        (fields, cut)
    }

    /// What is searched for as words beside title, description, tags and publisher: who made the data, and where. Our own form of a record has
    /// these in its description.
    pub fn words_beside(&self) -> impl Iterator<Item = &String> {
        let is_standard = self.standard != Some(Standard::Record);
        let named = self.facets.iter().filter(move |facet| is_standard && WORDS.contains(&facet.field.as_str()));
        let places = self.spatial.iter().filter(move |_| is_standard);
        named.flat_map(|facet| &facet.values).chain(places)
    }

    /// The year of publication as it is written.
    pub fn published(&self) -> Option<&str> {
        let issued = self.issued.as_deref().filter(|issued| is_date(issued))?;
        let year = years(issued, STATED).next()?.to_string();
        let at = issued.find(&year)?;
        issued.get(at..at + year.len())
    }

    /// First and last year covered, each where known.
    pub fn years(&self) -> (Option<i32>, Option<i32>) {
        let (first, last) = self.temporal.as_ref().map_or((None, None), TimeCovered::years);
        (self.first_year.or(first), self.last_year.or(last))
    }
}

/// All values of one record that a request can filter by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordFacets {
    /// Values in the order of the record, each once per role.
    pub values: Vec<(Respect, String)>,
    /// First year covered, where it is known.
    pub first_year: Option<i32>,
    /// Last year covered, where it is known.
    pub last_year: Option<i32>,
    /// Roles whose list the publisher cut short: the record may also have values that are not listed.
    pub cut_short: Vec<Respect>,
}

impl RecordFacets {
    /// The facets in the `metadata` of a record, or of the table in the file `path`.
    pub fn of(metadata: &TableMetadata, path: Option<&str>) -> Self {
        let (fields, cut) = metadata.fields(path);
        let (first_year, last_year) = metadata.years();
        let mut facets = RecordFacets { first_year, last_year, ..Self::default() };
        for (field, value) in fields {
            let named = (Respect::of_field(field), value.to_string());
            if !facets.values.contains(&named) {
                facets.values.push(named);
            }
        }
        for role in cut.into_iter().map(Respect::of_field) {
            if !facets.cut_short.contains(&role) {
                facets.cut_short.push(role);
            }
        }
        facets
    }
}

fn format_of(path: &str) -> Option<&'static str> {
    let (format, _) = source::classify_table(path)?;
    Some(match format {
        source::Format::Csv => "CSV",
        source::Format::Parquet => "Parquet",
        source::Format::NdJson => "JSON lines",
        source::Format::Json => "JSON",
        source::Format::ArrowIpc => "Arrow",
        source::Format::Avro => "Avro",
        source::Format::Orc => "ORC",
        source::Format::Workbook => "Workbook",
        source::Format::Sqlite => "SQLite",
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(record: Value) -> Fields {
        Fields::of(record.as_object().unwrap(), |name| name != "title")
    }

    #[test]
    fn fields_become_values_and_dates_years() {
        let found = fields(json!({
            "title": "x", "start": "1999-01-01", "end": "2011-01-01", "date": "2012-08-01", "frequency": "Annual",
            "subjects": ["Government", "Labour", "Government"], "geography": {"n": 3, "members": ["Canada", "Ontario"]},
            "dimensions": [{"name": "Sex", "members": ["Female"]}, {"name": "Age"}], "source_id": "q", "rows": 12,
            "page": "https://a.b/c", "where": {"en": "Niger", "fr": "le Niger"}, "end_year": 2013,
        }));
        let named: Vec<(&str, String, bool)> =
            found.facets.iter().map(|facet| (facet.field.as_str(), facet.values.join("|"), facet.cut_short)).collect();
        assert_eq!(
            named,
            [
                ("dimensions", "Sex|Age".to_string(), false),
                ("frequency", "Annual".to_string(), false),
                ("geography", "Canada|Ontario".to_string(), true),
                ("subjects", "Government|Labour".to_string(), false),
                ("where", "Niger".to_string(), false),
            ]
        );
        assert_eq!((found.first_year, found.last_year), (Some(1999), Some(2013)));
    }

    #[test]
    fn hostile_records_stay_within_bounds() {
        let many: Vec<String> = (0..100_000).map(|number| format!("value {number}")).collect();
        let mut record =
            json!({"list": many, "long": "x".repeat(100_000), "deep": [[[[["x"]]]]], "n": {"members": 5, "n": "x"}});
        for number in 0..1000 {
            record[format!("field {number}")] = json!("\u{202e}a\u{0}b");
        }
        record["x".repeat(5000)] = json!("a");
        let found = fields(record);
        assert!(found.facets.len() <= MOST_FIELDS);
        let list = found.facets.iter().find(|facet| facet.field == "list");
        assert!(list.is_none_or(|list| list.cut_short && list.values.len() <= MOST_VALUES));
        assert!(found.facets.iter().flat_map(|facet| &facet.values).all(|value| value.len() <= LONGEST_VALUE_BYTES));
        assert!(found.facets.iter().any(|facet| facet.values == ["a b"]));
    }

    #[test]
    fn sidecar_metadata_becomes_facets() {
        let metadata = TableMetadata {
            tags: vec!["air".into()],
            publisher: Some("ICAO".into()),
            spatial: vec!["Niger".into(), "Chad".into()],
            temporal: TimeCovered::of("2009-02-01/2015"),
            ..TableMetadata::default()
        };
        let facets = RecordFacets::of(&metadata, Some("a/b.csv.gz"));
        let named: Vec<String> = facets.values.iter().map(|(role, value)| format!("{role}={value}")).collect();
        assert_eq!(named, ["subject=air", "source=ICAO", "place=Niger", "place=Chad", "format=CSV"]);
        assert_eq!((facets.first_year, facets.last_year), (Some(2009), Some(2015)));
        let years = |text: &str| TimeCovered::of(text).map(|time| time.years());
        assert_eq!(years("between 2010 and 2012, 20 towns"), Some((Some(2010), Some(2012))));
        assert_eq!(years("2010-01-01/"), Some((Some(2010), None)));
        assert_eq!(years("../2015"), Some((None, Some(2015))));
        assert_eq!(years("always"), Some((None, None)));
        assert_eq!((years(" "), years("/")), (None, None));
    }

    #[test]
    fn only_dates_are_dates() {
        assert_eq!(["1999", "1999-01", "1999-01-02T00:00:00Z"].map(year_of_date), [Some(1999); 3]);
        assert_eq!(["19990", "1999-2000", "199", "19é9", "1999 cars", ""].map(year_of_date), [None; 6]);
    }
}
