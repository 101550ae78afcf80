//! DCAT catalogues: Project Open Data `data.json`, and DCAT-AP in JSON-LD, nested or as a flat `@graph`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::mappings::DCAT;
use super::record_facets::Fields;
use super::value::{get, has_type, identifier, items, line, local_name, paragraphs, period, places, tags, text};
use super::{Dataset, DescribedFile, Standard, TableMetadata};

/// Reads every dataset of a catalogue, or a single dataset.
pub(super) fn read(document: &Value) -> Vec<Dataset> {
    let graph: Vec<&Value> = items(document).flat_map(|node| items(get(node, &["@graph"]))).collect();
    let nodes: HashMap<&str, &Value> =
        graph.iter().filter_map(|node| node.get("@id").and_then(Value::as_str).map(|id| (id, *node))).collect();
    let catalogues = items(document).chain(graph.iter().copied());
    let listed: Vec<&Value> =
        catalogues.flat_map(|node| items(get(node, &["dataset"]))).map(|node| resolve(node, &nodes)).collect();
    let alone = items(document).chain(graph.iter().copied()).filter(|node| has_type(node, "Dataset"));
    let mut datasets = Vec::new();
    let mut known = HashSet::new();
    for node in listed.into_iter().chain(alone).filter(|node| node.is_object()) {
        if known.insert(std::ptr::from_ref(node)) {
            datasets.push(dataset(node, &nodes));
        }
    }
    datasets
}

/// The node that a reference `{"@id": …}` or `"…"` names, if the graph has it; else `node` itself.
fn resolve<'a>(node: &'a Value, nodes: &HashMap<&str, &'a Value>) -> &'a Value {
    let id = match node {
        Value::String(id) => Some(id.as_str()),
        Value::Object(map) if map.len() == 1 => map.get("@id").and_then(Value::as_str),
        _ => None,
    };
    id.and_then(|id| nodes.get(id).copied()).unwrap_or(node)
}

/// Fields of a dataset that are no facets, in lower case: stored in a field of [`TableMetadata`], or about the record and not
/// the data.
const NO_FACETS: [&str; 20] = [
    "title",
    "name",
    "description",
    "keyword",
    "theme",
    "publisher",
    "creator",
    "license",
    "rights",
    "identifier",
    "landingpage",
    "page",
    "issued",
    "modified",
    "spatial",
    "temporal",
    "distribution",
    "contactpoint",
    "type",
    "@type",
];

pub(super) fn dataset(node: &Value, nodes: &HashMap<&str, &Value>) -> Dataset {
    let publisher = items(get(node, &["publisher", "creator"])).next().map(|publisher| resolve(publisher, nodes));
    let fields = node.as_object().map(|map| Fields::of(map, |name| !NO_FACETS.contains(&name))).unwrap_or_default();
    let mut whole = TableMetadata {
        tags: tags(node, &["keyword", "theme"]),
        publisher: publisher.and_then(text).map(|name| super::clean::line(&name)),
        identifier: identifier(node, &["identifier", "@id", "landingPage"]),
        spatial: places(node, &["spatial"]),
        temporal: period(node, &["temporal"]),
        facets: fields.facets,
        first_year: fields.first_year,
        last_year: fields.last_year,
        standard: Some(Standard::Dcat),
        ..TableMetadata::default()
    };
    DCAT.fill(&with_references(node, nodes), &mut whole);
    let distributions = || {
        let resolved = items(get(node, &["distribution"])).map(|distribution| resolve(distribution, nodes));
        resolved.filter(|node| node.is_object())
    };
    let formats = distributions().filter_map(|node| line(node, &["format", "mediaType"])).collect();
    // The name of a blank node holds in its document alone.
    let id = text(get(node, &["identifier", "@id"])).filter(|id| !id.starts_with("_:"));
    Dataset { id, whole, files: distributions().map(file).collect(), formats }
}

/// `node` with what its references name in place of them, as far as more than their names is read.
fn with_references<'v>(node: &'v Value, nodes: &HashMap<&str, &'v Value>) -> Cow<'v, Value> {
    const FOLLOWED: [&str; 3] = ["creator", "theme", "distribution"];
    let mut node = Cow::Borrowed(node);
    for name in FOLLOWED {
        let named: Vec<&Value> = items(get(&node, &[name])).collect();
        let resolved: Vec<&Value> = named.iter().map(|value| resolve(value, nodes)).collect();
        if named.iter().zip(&resolved).all(|(named, resolved)| std::ptr::eq(*named, *resolved)) {
            continue;
        }
        let resolved: Value = resolved.into_iter().cloned().collect();
        if let Value::Object(map) = node.to_mut() {
            map.retain(|key, _| local_name(key) != name);
            map.insert(name.to_string(), resolved);
        }
    }
    node
}

fn file(distribution: &Value) -> DescribedFile {
    let addresses = || items(get(distribution, &["downloadURL"])).chain(items(get(distribution, &["accessURL"])));
    let locations: Vec<String> = addresses().chain(items(get(distribution, &["title"]))).filter_map(text).collect();
    let metadata = TableMetadata {
        title: line(distribution, &["title"]),
        description: paragraphs(distribution, &["description"]),
        licence: line(distribution, &["license"]),
        source_url: line(distribution, &["downloadURL", "accessURL"]),
        issued: line(distribution, &["issued"]),
        modified: line(distribution, &["modified"]),
        ..TableMetadata::default()
    };
    DescribedFile { locations, metadata }
}
