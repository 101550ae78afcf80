//! Frictionless Data Package (`datapackage.json`, versions 1 and 2).

use serde_json::Value;

use super::clean::MOST_COLUMNS;
use super::value::{get, identifier, items, line, paragraphs, tags, text};
use super::{ColumnMetadata, Dataset, DescribedFile, Standard, TableMetadata};

/// Reads a data package; a lone resource descriptor counts as a package of one.
pub(super) fn read(document: &Value) -> Vec<Dataset> {
    let whole = TableMetadata { standard: Some(Standard::Frictionless), ..describe(document) };
    let files = items(get(document, &["resources"])).filter(|resource| resource.is_object()).map(file).collect();
    vec![Dataset { whole, files, ..Dataset::default() }]
}

fn describe(node: &Value) -> TableMetadata {
    TableMetadata {
        title: line(node, &["title"]),
        description: paragraphs(node, &["description"]),
        tags: tags(node, &["keywords"]),
        publisher: publisher(node),
        licence: items(get(node, &["licenses", "license"])).find_map(|licence| match licence {
            Value::Object(_) => line(licence, &["title", "name", "path"]),
            other => text(other).map(|name| super::clean::line(&name)),
        }),
        identifier: identifier(node, &["id", "doi", "homepage"]),
        source_url: line(node, &["homepage"]),
        issued: line(node, &["created"]),
        modified: line(node, &["modified", "updated", "last_updated"]),
        spatial: super::value::places(node, &["spatial"]),
        temporal: super::value::period(node, &["temporal"]),
        ..TableMetadata::default()
    }
}

/// The contributor in the role of publisher, else the first one, else the first source.
fn publisher(node: &Value) -> Option<String> {
    let is_publisher = |person: &&Value| {
        let roles = items(get(person, &["roles", "role"])).filter_map(Value::as_str);
        roles.into_iter().any(|role| role.eq_ignore_ascii_case("publisher"))
    };
    let people = get(node, &["contributors"]);
    let named = |person: &Value| line(person, &["title", "name", "organization"]);
    items(people).filter(is_publisher).find_map(named).or_else(|| {
        items(people)
            .chain(items(get(node, &["publisher", "author"])))
            .chain(items(get(node, &["sources"])))
            .find_map(|person| named(person).or_else(|| person.as_str().map(super::clean::line)))
    })
}

fn file(resource: &Value) -> DescribedFile {
    let mut metadata = describe(resource);
    // A resource's name is an identifier for machines, not one to cite.
    metadata.identifier = None;
    for field in items(get(get(resource, &["schema"]), &["fields"])).take(MOST_COLUMNS) {
        if let Some(name) = line(field, &["name"]) {
            metadata.columns.insert(name, column(field));
        }
    }
    let paths = items(get(resource, &["path", "url"])).filter_map(text);
    DescribedFile { locations: paths.collect(), metadata }
}

fn column(field: &Value) -> ColumnMetadata {
    ColumnMetadata {
        title: line(field, &["title"]),
        description: paragraphs(field, &["description"]),
        unit: line(field, &["unit", "units", "unitText", "unitCode"]),
    }
}
