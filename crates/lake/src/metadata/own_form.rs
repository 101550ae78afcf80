//! Our own form of a record: one flat JSON object, `{"id", "title", "description", "tags", "author", "date", "section", …}`.
//!
//! Values under unknown keys are facets, and are appended to the description as text, so that search finds them: portals have many names
//! for the same things. Keys of identifiers and addresses are left out.

use serde_json::Value;

use super::mapping::{Mapping, NOTHING};
use super::record_facets::{Fields, is_address};
use super::{Standard, TableMetadata, clean, value};

/// Bytes of text taken from unknown keys.
const OTHER_TEXT_BYTES: usize = 4096;
/// Nesting depth down to which texts under such a key are searched.
const MOST_DEPTH: usize = 4;
/// Keys of publishers, authors where there is none; facets too, as there may be several.
const PUBLISHERS: [&str; 6] = ["publisher", "organization", "organisation", "author", "authors", "creator"];

const OWN: Mapping = Mapping {
    standard: Standard::Record,
    title: &["title", "name", "section"],
    description: &["description", "notes", "abstract", "summary"],
    method: &["method", "methodology", "methods"],
    tags: &["tags", "keywords", "keyword", "themes", "theme", "subjects"],
    taxonomy: &["taxonomy"],
    publisher: &PUBLISHERS,
    institutions: &["institutions", "organizations", "organisations"],
    licence: &["license", "licence"],
    identifiers: &["doi", "cstr", "handle", "ark", "identifier", "identifiers"],
    address: &["url", "landingPage", "landing_page", "link"],
    issued: &["date", "issued", "published"],
    modified: &["modified", "updated"],
    version: &["version"],
    spatial: &["spatial"],
    period: &["temporal"],
    related: &["related", "related_papers", "related_works", "papers"],
    files: &["files"],
    sizes: &["size"],
    ..NOTHING
};

/// The metadata of a record.
pub(super) fn metadata(record: &Value) -> TableMetadata {
    let fields = record.as_object().map(|record| Fields::of(record, is_facet)).unwrap_or_default();
    let Fields { facets, first_year, last_year, .. } = fields;
    let tags = value::tags(record, OWN.tags);
    let mut metadata = TableMetadata {
        tags,
        facets,
        first_year,
        last_year,
        standard: Some(Standard::Record),
        ..TableMetadata::default()
    };
    OWN.fill(record, &mut metadata);
    let section = value::line(record, &["section"]).filter(|_| value::line(record, &["title", "name"]).is_some());
    if let (Some(title), Some(section)) = (&metadata.title, section) {
        metadata.title = Some(clean::line(&format!("{title} — {section}")));
    }
    let other = other_text(record);
    if !other.is_empty() {
        let description = metadata.description.take().map(|text| text + "\n").unwrap_or_default();
        metadata.description = Some(clean::paragraphs(&format!("{description}{other}")));
    }
    metadata
}

/// Whether a field of this name has a place of its own. Institutions are searched for as words, too.
fn is_known(name: &str) -> bool {
    OWN.fields().filter(|known| !OWN.institutions.contains(known)).any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether the field `name` is stored as a facet: unknown fields are, and those of publishers and authors.
fn is_facet(name: &str) -> bool {
    PUBLISHERS.iter().any(|known| known.eq_ignore_ascii_case(name)) || !is_known(name)
}

/// The texts under unknown keys, one key per line.
fn other_text(record: &Value) -> String {
    let mut text = String::new();
    for (key, value) in record.as_object().into_iter().flatten() {
        let lower = value::local_name(key).to_lowercase();
        if is_address(&lower) || is_known(&lower) {
            continue;
        }
        let mut line = String::new();
        add_texts(value, MOST_DEPTH, &mut line);
        if !line.is_empty() && text.len() < OTHER_TEXT_BYTES {
            text.push_str(&format!("{key}: {line}\n"));
        }
    }
    text
}

fn add_texts(value: &Value, depth: usize, line: &mut String) {
    if depth == 0 || line.len() > OTHER_TEXT_BYTES {
        return;
    }
    match value {
        Value::String(text) => {
            let separator = if line.is_empty() { "" } else { "; " };
            line.push_str(separator);
            line.push_str(&text[..text.floor_char_boundary(OTHER_TEXT_BYTES)]);
        }
        Value::Array(list) => list.iter().for_each(|item| add_texts(item, depth - 1, line)),
        Value::Object(map) => map.values().for_each(|item| add_texts(item, depth - 1, line)),
        _ => {}
    }
}
