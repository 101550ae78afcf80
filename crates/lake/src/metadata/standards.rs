//! How a record is told to follow a standard of catalogues of research data, and read by it.

use serde_json::{Value, json};

use super::clean;
use super::mapping::Mapping;
use super::mappings::{DATACITE, DATAVERSE, ISO_19115, OAI_DC, SCIENCE_DB};
use super::parts::{Unused, UnusedReason};
use super::path::{Paths, at};
use super::record_facets::Fields;
use super::value::{get, items, line};
use super::xml::Element;
use super::{Dataset, Standard};

/// Elements of XML that hold a record: of OAI-PMH, DataCite, ISO 19115, Dublin Core.
pub(super) const ELEMENTS: [&str; 6] = ["record", "resource", "MD_Metadata", "MI_Metadata", "dc", "error"];

/// What a record came to.
pub(super) enum Read {
    /// A dataset; of a harvest, where a later record of the same id stands for an earlier one.
    Dataset(Box<Dataset>, bool),
    /// It says that the dataset of this id is deleted.
    Deleted(String),
    /// It cannot be used, for this reason.
    Not(String),
}

/// The mapping that a value follows, told by the fields that only its standard has; and the part of it that it describes.
fn mapping_of(node: &Value) -> Option<(&'static Mapping, &Value)> {
    let has =
        |node: &Value, names: &[&str]| names.iter().any(|name| node.get(*name).is_some_and(|value| !value.is_null()));
    let attributes = &node["attributes"];
    Some(if attributes.is_object() && has(attributes, &["titles", "doi", "creators"]) {
        (&DATACITE, attributes)
    } else if has(node, &["titles"])
        && has(node, &["creators", "publicationYear", "doi", "identifiers", "descriptions"])
    {
        (&DATACITE, node)
    } else if has(node, &["datasetVersion"])
        || has(node, &["global_id"]) && has(node, &["name"])
        || node["latestVersion"]["metadataBlocks"].is_object()
        || node["metadataBlocks"].is_object()
    {
        (&DATAVERSE, node)
    } else if has(node, &["dataSetId", "dataSetPublishDate"])
        || has(node, &["titleEn", "titleZh"]) && has(node, &["cstr", "doi", "taxonomy"])
    {
        (&SCIENCE_DB, node)
    } else {
        return None;
    })
}

/// Whether a value of JSON is a record of one of these standards.
pub(super) fn is_record(node: &Value) -> bool {
    mapping_of(node).is_some()
}

/// The dataset of a value of JSON that is a record of one of these standards.
pub(super) fn of_json(node: &Value) -> Option<Dataset> {
    let (mapping, described) = mapping_of(node)?;
    let exported = (mapping.standard == Standard::Dataverse).then(|| as_exported(described));
    let mut dataset = mapping.dataset(exported.as_ref().unwrap_or(described));
    if let (None, Some(id)) = (&dataset.id, line(node, &["id"])) {
        dataset.whole.unused.retain(|unused| unused.reason != UnusedReason::NoId);
        dataset.id = Some(id);
    }
    Some(dataset)
}

/// A dataset of Dataverse in the form of its export, as its API may answer: `latestVersion` stands for `datasetVersion`, or a version stands
/// alone; and with the minor number of its version.
fn as_exported(node: &Value) -> Value {
    let mut exported = node.clone();
    if let Some(version) = exported.get_mut("latestVersion").map(Value::take) {
        exported["datasetVersion"] = version;
        exported.as_object_mut().map(|map| map.remove("latestVersion"));
    } else if node["metadataBlocks"].is_object() {
        exported = json!({ "datasetVersion": exported });
    }
    let number = |node: &Value, major: &str, minor: &str| {
        let minor = node.get(minor).filter(|minor| minor.is_u64())?;
        Some(json!(format!("{}.{minor}", line(node, &[major])?)))
    };
    if let Some(number) = number(&exported, "majorVersion", "minorVersion") {
        exported["majorVersion"] = number;
    }
    if let Some(number) = number(&exported["datasetVersion"], "versionNumber", "versionMinorNumber") {
        exported["datasetVersion"]["versionNumber"] = number;
    }
    exported
}

/// What an element of XML came to.
pub(super) fn of_xml(element: Element) -> Read {
    let Element { name, value, broken, flaws, .. } = element;
    if let Some(broken) = broken {
        return Read::Not(broken);
    }
    let (header, body) = match name.as_str() {
        "error" => {
            let code = line(&value, &["code"]).unwrap_or_else(|| "error".into());
            let words = super::value::text(&value).map(|words| clean::line(&words)).unwrap_or_default();
            return Read::Not(format!("the server answered `{code}`: {words}"));
        }
        "record" => (Some(get(&value, &["header"])), get(&value, &["metadata"])),
        _ => (None, &value),
    };
    let id = header.and_then(|header| line(header, &["identifier"]));
    if let (Some(id), Some("deleted")) = (&id, header.and_then(|header| header.get("status")?.as_str())) {
        return Read::Deleted(id.clone());
    }
    let within = |paths: Paths| paths.iter().flat_map(|path| at(body, path)).find(|value| value.is_object());
    let found = match name.as_str() {
        "resource" => Some((&DATACITE, body)),
        "MD_Metadata" | "MI_Metadata" => Some((&ISO_19115, body)),
        "dc" => Some((&OAI_DC, body)),
        _ => within(&["resource", "payload.resource", "oai_datacite.payload.resource"])
            .map(|node| (&DATACITE, node))
            .or_else(|| within(&["MD_Metadata", "MI_Metadata"]).map(|node| (&ISO_19115, node)))
            .or_else(|| within(&["dc"]).map(|node| (&OAI_DC, node))),
    };
    let Some((mapping, node)) = found else {
        let what = if id.is_some() {
            "its metadata follow no standard known here"
        } else {
            "it is no record of a standard known here"
        };
        return Read::Not(what.into());
    };
    let mut dataset = mapping.dataset(node);
    if dataset.whole.title.is_none() && dataset.whole.description.is_none() {
        return Read::Not("it has neither title nor description".into());
    }
    for flaw in flaws {
        Unused::note(&mut dataset.whole.unused, "record", flaw, None);
    }
    let is_harvested = id.is_some();
    if let Some(id) = id {
        dataset.whole.unused.retain(|unused| unused.reason != UnusedReason::NoId);
        dataset.whole.add_identifier(&id);
        let sets = items(get(header.unwrap_or(&Value::Null), &["setSpec"])).filter_map(super::value::text);
        let mut fields = Fields::with(std::mem::take(&mut dataset.whole.facets));
        fields.add_texts("set", sets);
        dataset.whole.facets = fields.facets;
        dataset.id = Some(id);
    }
    Read::Dataset(Box::new(dataset), is_harvested)
}
