//! DCAT catalogues: Project Open Data `data.json`, and DCAT-AP in JSON-LD, nested or as a flat `@graph`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::mappings::DCAT;
use super::parts::{Unused, UnusedReason};
use super::record_facets::Fields;
use super::value::{
    get, has_type, identifier, is_blank_node, items, line, local_name, paragraphs, period, places, tags, text,
};
use super::{Dataset, DescribedFile, Standard, TableMetadata};

/// Reads every dataset of a catalogue, or a single dataset.
pub(super) fn read(document: &Value) -> Vec<Dataset> {
    let below = items(document).flat_map(|node| items(get(node, &["@graph"])));
    // An expanded document is the list of its nodes.
    let graph: Vec<&Value> = below.chain(items(document).filter(|_| document.is_array())).collect();
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
const NO_FACETS: [&str; 31] = [
    "title",
    "name",
    "description",
    "keyword",
    "theme",
    "publisher",
    "creator",
    "license",
    "rights",
    "accessrights",
    "accrualperiodicity",
    "language",
    "identifier",
    "otheridentifier",
    "landingpage",
    "page",
    "issued",
    "modified",
    "spatial",
    "temporal",
    "distribution",
    "contactpoint",
    "version",
    "versioninfo",
    "isreferencedby",
    "relation",
    "references",
    "type",
    "@type",
    "@id",
    "@context",
];

pub(super) fn dataset(node: &Value, nodes: &HashMap<&str, &Value>) -> Dataset {
    let node = &with_references(node, nodes, &OF_DATASETS);
    let fields = node.as_object().map(|map| Fields::of(map, |name| !NO_FACETS.contains(&name))).unwrap_or_default();
    let publisher = items(get(node, &["publisher", "creator"])).next().and_then(text);
    let mut whole = TableMetadata {
        tags: tags(node, &["keyword", "theme"]),
        publisher: publisher.map(|name| super::clean::line(&name)),
        identifier: identifier(node, &["identifier", "otherIdentifier", "@id", "landingPage"]),
        spatial: places(node, &["spatial"]),
        temporal: period(node, &["temporal"]),
        first_year: fields.first_year,
        last_year: fields.last_year,
        standard: Some(Standard::Dcat),
        ..TableMetadata::default()
    };
    for (name, value) in node.as_object().into_iter().flatten() {
        let name = local_name(name);
        let is_known = NO_FACETS.contains(&name.to_lowercase().as_str()) || DCAT.fields().any(|known| known == name);
        if !is_known && !fields.facets.iter().any(|facet| facet.field == name) {
            Unused::note(&mut whole.unused, name, UnusedReason::UnknownField, text(value).as_deref());
        }
    }
    whole.facets = fields.facets;
    let formats = DCAT.fill(node, &mut whole);
    let distributions = || items(get(node, &["distribution"])).filter(|node| node.is_object());
    // The name of a blank node holds in its document alone.
    let id = text(get(node, &["identifier", "@id"])).filter(|id| !is_blank_node(id));
    Dataset { id, whole, files: distributions().map(file).collect(), formats }
}

/// Fields of a dataset, and of a distribution, of which more than the name of what they refer to is read. No dataset is below them, so what
/// they come to is bounded.
const OF_DATASETS: [&str; 14] = [
    "creator",
    "publisher",
    "theme",
    "distribution",
    "spatial",
    "temporal",
    "identifier",
    "otherIdentifier",
    "license",
    "rights",
    "accessRights",
    "accrualPeriodicity",
    "language",
    "provenance",
];
const OF_DISTRIBUTIONS: [&str; 4] = ["format", "mediaType", "license", "rights"];

/// `node` with what its fields `followed` refer to in place of them, each under its local name.
fn with_references(node: &Value, nodes: &HashMap<&str, &Value>, followed: &[&str]) -> Value {
    let Value::Object(map) = node else { return node.clone() };
    let mut whole = Map::new();
    for (key, value) in map {
        let name = local_name(key);
        if !followed.contains(&name) {
            whole.insert(key.clone(), value.clone());
            continue;
        }
        for item in items(value) {
            let named = resolve(item, nodes);
            let named = match name {
                "distribution" => with_references(named, nodes, &OF_DISTRIBUTIONS),
                _ => term(named).map_or_else(|| named.clone(), Value::String),
            };
            // `dct:identifier` and `adms:identifier` have one local name.
            if let Value::Array(list) = whole.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
                list.push(named);
            }
        }
    }
    Value::Object(whole)
}

/// The themes of European data portals, by code (<http://publications.europa.eu/resource/authority/data-theme>).
const THEMES: [(&str, &str); 13] = [
    ("AGRI", "Agriculture, fisheries, forestry and food"),
    ("ECON", "Economy and finance"),
    ("EDUC", "Education, culture and sport"),
    ("ENER", "Energy"),
    ("ENVI", "Environment"),
    ("GOVE", "Government and public sector"),
    ("HEAL", "Health"),
    ("INTR", "International issues"),
    ("JUST", "Justice, legal system and public safety"),
    ("REGI", "Regions and cities"),
    ("SOCI", "Population and society"),
    ("TECH", "Science and technology"),
    ("TRAN", "Transport"),
];

/// The term that an address of the EU's Publications Office or of IANA's media types stands for, where nothing else names it.
fn term(node: &Value) -> Option<String> {
    let address = match node {
        Value::String(address) => address,
        Value::Object(map) if map.len() == 1 => map.get("@id")?.as_str()?,
        _ => return None,
    };
    if let Some((_, media_type)) = address.split_once("iana.org/assignments/media-types/") {
        return Some(media_type.to_string());
    }
    let (table, code) = address.split_once("publications.europa.eu/resource/authority/")?.1.split_once('/')?;
    let theme = || THEMES.iter().find(|(theme, _)| *theme == code).map(|(_, label)| label.to_string());
    match table {
        "data-theme" => theme(),
        "frequency" => Some(code.to_lowercase().replace('_', " ")),
        "file-type" | "language" => Some(code.to_string()),
        _ => None,
    }
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
