//! CKAN's `package_show`, with or without the envelope `{"success": true, "result": …}`.

use serde_json::Value;

use super::clean::MOST_COLUMNS;
use super::mappings::CKAN;
use super::record_facets::{Fields, is_address};
use super::value::{get, identifier, items, line, paragraphs, period, places, places_in, tags, text};
use super::{ColumnMetadata, Dataset, DescribedFile, Standard, TableMetadata, TimeCovered};

/// Reads one package, or the packages of a `package_search`.
pub(super) fn read(document: &Value) -> Vec<Dataset> {
    let result = match document.get("result") {
        Some(result) if result.is_object() || result.is_array() => result,
        _ => document,
    };
    let found = result.get("results").unwrap_or(result);
    items(found).filter(|package| package.is_object() || package.is_string()).map(package).collect()
}

/// Whether `node` is a package by the fields that only CKAN has.
pub(super) fn is_package(node: &Value) -> bool {
    let has = |name: &str| node.get(name).is_some_and(|value| !value.is_null());
    let is_of_portal = has("metadata_created") || has("num_resources") || has("license_title") && has("notes");
    (has("name") || has("title")) && (has("resources") || has("notes")) && is_of_portal
}

/// Fields of a package that are no facets: stored in a field of [`TableMetadata`], or about the portal and not the data.
const NO_FACETS: [&str; 39] = [
    "title",
    "title_translated",
    "name",
    "notes",
    "notes_translated",
    "description",
    "tags",
    "keywords",
    "groups",
    "organization",
    "author",
    "author_email",
    "maintainer",
    "maintainer_email",
    "license_title",
    "license",
    "doi",
    "identifier",
    "cstr",
    "landing_page",
    "issued",
    "date_published",
    "metadata_created",
    "modified",
    "date_updated",
    "metadata_modified",
    "spatial_text",
    "spatial",
    "geographic_coverage",
    "temporal",
    "temporal_coverage",
    "time_coverage",
    "resources",
    "extras",
    "relationships_as_subject",
    "relationships_as_object",
    "state",
    "type",
    "version",
];

fn fields(package: &Value) -> Fields {
    let Value::Object(map) = package else { return Fields::default() };
    let mut fields = Fields::of(map, |name| !NO_FACETS.contains(&name));
    for extra in items(get(package, &["extras"])) {
        if let Some(key) = text(get(extra, &["key"])) {
            let lower = key.to_lowercase();
            if !is_address(&lower) && !lower.contains("spatial") && !NO_FACETS.contains(&lower.as_str()) {
                fields.add(&key, get(extra, &["value"]));
            }
        }
    }
    fields
}

pub(super) fn package(package: &Value) -> Dataset {
    if let Some(name) = package.as_str() {
        // A `package_list` holds only names.
        let title = super::clean::line(&name.replace(['-', '_'], " "));
        let whole = TableMetadata { title: Some(title), standard: Some(Standard::Ckan), ..TableMetadata::default() };
        return Dataset { id: Some(name.to_string()), whole, ..Dataset::default() };
    }
    let fields = fields(package);
    let extra_of = |name: &str| {
        items(get(package, &["extras"])).find_map(|extra| {
            let is_named = text(get(extra, &["key"])).is_some_and(|key| key.to_lowercase() == name);
            is_named.then(|| text(get(extra, &["value"])))?.map(|value| super::clean::line(&value))
        })
    };
    let extra = |names: &[&str]| names.iter().find_map(|name| extra_of(name));
    const PLACES: [&str; 5] = ["spatial-text", "spatial_text", "spatial_name", "geographic_coverage", "spatial"];
    let mut whole = TableMetadata {
        tags: tags(package, &["tags", "keywords", "groups"]),
        identifier: identifier(package, &["doi", "identifier", "cstr", "uri"])
            .or_else(|| extra(&["doi", "identifier", "guid", "uri", "dcat_identifier"]).and_then(known_identifier)),
        spatial: {
            let own = PLACES.iter().map(|name| places(package, &[name]));
            let others = PLACES.iter().map(|name| places_in(extra_of(name)));
            own.chain(others).find(|places| !places.is_empty()).unwrap_or_default()
        },
        temporal: period(package, &["temporal", "temporal_coverage", "time_coverage"])
            .or_else(|| TimeCovered::of(&extra(&["temporal", "temporal_coverage"])?))
            .or_else(|| {
                let start = extra(&["temporal_start", "temporal_coverage-from"]);
                TimeCovered::between(start, extra(&["temporal_end", "temporal_coverage-to"]))
            }),
        facets: fields.facets,
        first_year: fields.first_year,
        last_year: fields.last_year,
        standard: Some(Standard::Ckan),
        ..TableMetadata::default()
    };
    CKAN.fill(package, &mut whole);
    CKAN.add_names(package, &mut whole);
    let resources = || items(get(package, &["resources"])).filter(|resource| resource.is_object());
    let formats = resources().filter_map(|resource| line(resource, &["format"])).collect();
    Dataset { id: text(get(package, &["name", "id"])), whole, files: resources().map(resource).collect(), formats }
}

fn known_identifier(text: String) -> Option<String> {
    identifier(&serde_json::json!({ "id": text }), &["id"])
}

fn resource(resource: &Value) -> DescribedFile {
    let name = text(get(resource, &["name"]));
    let format = text(get(resource, &["format"])).map(|format| format.trim_start_matches('.').to_lowercase());
    let mut locations: Vec<String> =
        ["url", "path", "name"].iter().filter_map(|key| text(get(resource, &[key]))).collect();
    // Portals save a file under the resource's name or id.
    if let Some(format) = format.filter(|format| !format.is_empty() && !format.contains(['/', ' '])) {
        let stems = [name, text(get(resource, &["id"]))].into_iter().flatten();
        locations.extend(stems.map(|stem| format!("{stem}.{format}")));
    }
    let mut metadata = TableMetadata {
        title: line(resource, &["name_translated", "name", "title"]),
        description: paragraphs(resource, &["description_translated", "description"]),
        source_url: line(resource, &["url"]),
        issued: line(resource, &["issued", "created"]),
        modified: line(resource, &["last_modified", "modified"]),
        ..TableMetadata::default()
    };
    for field in items(get(get(resource, &["schema", "datastore_fields"]), &["fields"])).take(MOST_COLUMNS) {
        if let Some(name) = line(field, &["name", "id"]) {
            metadata.columns.insert(name, column(field));
        }
    }
    DescribedFile { locations, metadata }
}

fn column(field: &Value) -> ColumnMetadata {
    let info = get(field, &["info"]);
    ColumnMetadata {
        title: line(field, &["title"]).or_else(|| line(info, &["label"])),
        description: paragraphs(field, &["description"]).or_else(|| paragraphs(info, &["notes"])),
        unit: line(field, &["unit"]).or_else(|| line(info, &["unit"])),
    }
}
