//! schema.org `Dataset` in JSON-LD, and Croissant, which adds record sets whose fields are columns of files.

use serde_json::Value;

use super::clean::MOST_COLUMNS;
use super::mappings::SCHEMA_ORG;
use super::value::{get, has_type, identifier, items, line, local_name, paragraphs, period, places, tags, text};
use super::{ColumnMetadata, Dataset, DescribedFile, Standard, TableMetadata};

/// Reads every `Dataset` of the document.
pub(super) fn read(document: &Value) -> Vec<Dataset> {
    nodes(document).filter(|node| has_type(node, "Dataset")).map(dataset).collect()
}

/// The nodes that may be datasets: at the top, in a list, in `@graph`, in a catalogue's `dataset`, in a feed or list of items, or what a
/// page is about.
pub(super) fn nodes(document: &Value) -> impl Iterator<Item = &Value> {
    const BELOW: [&str; 5] = ["@graph", "dataset", "itemListElement", "dataFeedElement", "mainEntity"];
    let below = items(document).flat_map(|node| BELOW.iter().flat_map(|name| items(get(node, &[name]))));
    // An item of a list may be wrapped.
    let wrapped = |node| [get(node, &["item"]), node].into_iter().find(|node: &&Value| node.is_object());
    items(document).chain(below.filter_map(wrapped))
}

fn dataset(node: &Value) -> Dataset {
    let is_croissant = !get(node, &["recordSet"]).is_null();
    let mut whole = describe(node);
    whole.standard = Some(if is_croissant { Standard::Croissant } else { Standard::SchemaOrg });
    let formats = SCHEMA_ORG.fill(node, &mut whole);
    SCHEMA_ORG.note_unknown(node, &mut whole);
    for variable in items(get(node, &["variableMeasured"])).take(MOST_COLUMNS) {
        if let Some(name) = text(variable).map(|name| super::clean::line(&name)).filter(|name| !name.is_empty()) {
            whole.columns.insert(name, column(variable));
        }
    }
    let records: Vec<&Value> = items(get(node, &["recordSet"])).collect();
    // A file set is a pattern over files; its fields do not describe a single file.
    let files = items(get(node, &["distribution"])).filter(|file| file.is_object() && !has_type(file, "FileSet"));
    let files = files.map(|distribution| file(distribution, &records)).collect();
    Dataset { id: text(get(node, &["@id", "identifier", "url"])), whole, files, formats }
}

fn describe(node: &Value) -> TableMetadata {
    let mut described = TableMetadata {
        tags: tags(node, &["keywords", "about"]),
        identifier: identifier(node, &["identifier", "sameAs", "@id", "url"]),
        spatial: places(node, &["spatialCoverage", "spatial"]),
        temporal: period(node, &["temporalCoverage", "temporal"]),
        ..TableMetadata::default()
    };
    SCHEMA_ORG.fill_texts(node, &mut described);
    described
}

fn file(distribution: &Value, records: &[&Value]) -> DescribedFile {
    let mut metadata = TableMetadata { identifier: None, ..describe(distribution) };
    metadata.source_url = line(distribution, &["contentUrl", "url"]);
    let locations: Vec<String> =
        ["contentUrl", "@id", "name", "url"].iter().filter_map(|name| text(get(distribution, &[name]))).collect();
    // A file object's name is usually its file name, which is no title.
    metadata.title = metadata.title.filter(|title| !locations.iter().any(|place| is_file_name(title, place)));
    let names = [text(get(distribution, &["@id"])), text(get(distribution, &["name"]))];
    for record in records {
        for field in items(get(record, &["field"])).take(MOST_COLUMNS) {
            let source = get(field, &["source"]);
            let object = text(get(source, &["fileObject", "distribution"]));
            if !object.is_some_and(|object| names.iter().flatten().any(|name| same_node(name, &object))) {
                continue;
            }
            let header = line(get(source, &["extract"]), &["column"]);
            if let Some(name) = header.or_else(|| field_name(field)) {
                if metadata.description.is_none() {
                    metadata.description = paragraphs(record, &["description"]);
                }
                metadata.columns.insert(name, column(field));
            }
        }
    }
    DescribedFile { locations, metadata }
}

fn is_file_name(title: &str, location: &str) -> bool {
    location.rsplit('/').next().is_some_and(|name| name == title) && title.contains('.')
}

/// Croissant writes references as `{"@id": "x"}`, `"x"` or, in its first version, `"#{x}"`.
fn same_node(name: &str, reference: &str) -> bool {
    reference == name || reference.trim_start_matches("#{").trim_end_matches('}') == name
}

fn field_name(field: &Value) -> Option<String> {
    let name = line(field, &["name"])?;
    Some(local_name(&name).to_string())
}

fn column(node: &Value) -> ColumnMetadata {
    ColumnMetadata {
        title: line(node, &["alternateName"]),
        description: paragraphs(node, &["description"]),
        unit: line(node, &["unitText", "unitCode", "unit"]),
    }
}
