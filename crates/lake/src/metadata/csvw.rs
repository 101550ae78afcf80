//! CSV on the Web: `x.csv-metadata.json`, `csv-metadata.json`, table groups.

use serde_json::Value;

use super::clean::MOST_COLUMNS;
use super::value::{get, identifier, items, line, paragraphs, period, places, tags, text};
use super::{ColumnMetadata, Dataset, DescribedFile, Standard, TableMetadata};

/// Reads a table description or a group of them. `implied`: the table that the sidecar's own name implies.
pub(super) fn read(document: &Value, implied: Option<&str>) -> Vec<Dataset> {
    let mut whole = TableMetadata { standard: Some(Standard::Csvw), ..describe(document) };
    let shared = columns(document);
    let tables: Vec<&Value> = items(get(document, &["tables"])).filter(|table| table.is_object()).collect();
    if tables.is_empty() {
        let location = line(document, &["url"]).or_else(|| implied.map(str::to_string));
        let metadata = TableMetadata { columns: shared, ..TableMetadata::default() };
        let files = location
            .into_iter()
            .map(|location| DescribedFile { locations: vec![location], metadata: metadata.clone() });
        return vec![Dataset { files: files.collect(), whole, ..Dataset::default() }];
    }
    whole.columns = shared;
    let files = tables.into_iter().map(|table| DescribedFile {
        locations: items(get(table, &["url"])).filter_map(text).collect(),
        metadata: TableMetadata { columns: columns(table), ..describe(table) },
    });
    vec![Dataset { files: files.collect(), whole, ..Dataset::default() }]
}

fn describe(node: &Value) -> TableMetadata {
    TableMetadata {
        title: line(node, &["title", "label", "name"]),
        description: paragraphs(node, &["description", "abstract", "comment"]),
        tags: tags(node, &["keyword", "keywords", "subject", "theme"]),
        publisher: line(node, &["publisher", "creator"]),
        licence: line(node, &["license", "rights"]),
        identifier: identifier(node, &["identifier", "@id"]),
        source_url: line(node, &["source", "landingPage"]),
        issued: line(node, &["issued", "created", "datePublished"]),
        modified: line(node, &["modified", "dateModified"]),
        spatial: places(node, &["spatial", "coverage"]),
        temporal: period(node, &["temporal"]),
        ..TableMetadata::default()
    }
}

/// Columns by their name in the file: the first of `titles`, which CSVW compares with headers, else `name`.
fn columns(table: &Value) -> std::collections::BTreeMap<String, ColumnMetadata> {
    let described = items(get(get(table, &["tableSchema"]), &["columns"])).take(MOST_COLUMNS);
    described
        .filter_map(|column| {
            let name = line(column, &["titles"]).or_else(|| line(column, &["name"]))?;
            let metadata = ColumnMetadata {
                title: line(column, &["title", "label"]),
                description: paragraphs(column, &["description", "comment"]),
                unit: line(column, &["unit", "unitText", "hasUnit", "unitMeasure"]),
            };
            Some((name, metadata))
        })
        .collect()
}
