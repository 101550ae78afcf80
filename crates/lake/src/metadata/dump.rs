//! Catalogues in a lake without the data they describe: recognises their files, and reads the datasets of a JSON document
//! one by one.
//!
//! A lake whose only files are catalogues is read as catalogues: lines of records under a usual name or of a known standard, CKAN's answers
//! to `package_search`, `package_list` and `package_show`, DCAT's `data.json`, answers of DataCite, Dataverse and Science Data Bank, and
//! XML of OAI-PMH, DataCite and ISO 19115. In a lake with tables the same files are read as usual: as a table of lines, or as a
//! description of tables.
//!
//! The list of datasets in a document is read item by item, so that memory does not depend on how many there are; only a document
//! whose datasets refer to each other (`@graph`) is read as a whole.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::index::{file_name_of, read_document};
use super::xml::{self, Bounded};
use super::{Dataset, DescribedFile, Facet, TableMetadata, ckan, clean, dcat, schema_org, standards, value};
use crate::reader;
use crate::source::{self, Compression, Format, LakeFile, LakeListing};
use lakeward_core::error::{Error, Result};

/// Largest document that is read as a whole, in bytes: parsed, it takes about ten times as much memory.
const LARGEST_DUMP_BYTES: u64 = 256 << 20;
/// Largest item of a list of datasets, in bytes.
const LARGEST_ITEM_BYTES: u64 = 32 << 20;
/// Keys below which a document has its list of datasets.
const LISTS: [&str; 10] =
    ["data", "items", "result", "results", "dataset", "records", "list", "Content", "hits", "datasets"];
/// Nesting of such keys.
const MOST_LISTS_DEPTH: usize = 4;
/// Beginning of an XML file in which it is told by its elements.
const PEEKED_ELEMENTS: usize = 4;
/// Usual names of files with one record per line, without extensions.
const NAMES: [&str; 9] = [
    "corpus",
    "records",
    "catalog",
    "catalogue",
    "datasets",
    "metadata",
    "packages",
    "package_search",
    "dataset_records",
];
/// Lines checked.
const PEEKED_LINES: usize = 16;
/// Bytes read for that check.
const PEEKED_BYTES: u64 = 1 << 20;
/// Longest id generated here, in bytes.
const LONGEST_ID_BYTES: usize = 200;

/// How a file of records is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Lines,
    Json,
    Xml,
}

/// The form of the file at `path`, by its name.
pub(super) fn form(path: &Path) -> Form {
    let is_json = source::classify(path)
        .is_some_and(|(format, packed)| format == Format::Json && packed == Compression::None)
        || path.extension().is_some_and(|extension| extension == "jsonld");
    match (source::is_xml(path), is_json) {
        (true, _) => Form::Xml,
        (false, true) => Form::Json,
        (false, false) => Form::Lines,
    }
}

/// An item of a document's list of datasets; `number` counts from 1.
pub(super) enum Item {
    /// A dataset. `is_renamed`: datasets of its standard may share an id.
    Dataset { number: u64, dataset: Box<Dataset>, is_renamed: bool },
    /// It cannot be used.
    Not { number: u64, reason: String },
}

/// The files of a lake that holds only catalogues, as paths below its root; empty if the lake holds anything else.
pub fn catalogues_alone(root: &Path, listing: &LakeListing) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for file in &listing.files {
        let is_catalogue = match file.format {
            Format::NdJson => has_records(file),
            Format::Json => is_dump(&file.path),
            _ => false,
        };
        if !is_catalogue {
            return Vec::new();
        }
        names.push(file.relative.clone());
    }
    for path in &listing.sidecars {
        if is_dump(path) {
            names.push(below(root, path));
        }
    }
    names.extend(listing.catalogues.iter().filter(|path| is_xml_dump(path)).map(|path| below(root, path)));
    names.sort();
    names
}

fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Whether an XML file has records of a standard known here.
fn is_xml_dump(path: &Path) -> bool {
    let Ok(input) = reader::open_text(path) else { return false };
    let (mut seen, mut is_known) = (0, false);
    xml::each_element(input, &standards::ELEMENTS, |element| {
        seen += 1;
        is_known = !matches!(standards::of_xml(element), standards::Read::Not(_));
        !is_known && seen < PEEKED_ELEMENTS
    });
    is_known
}

/// Whether the file has a usual name of a file of records, and its first lines are records.
fn has_records(file: &LakeFile) -> bool {
    let name = file.relative.rsplit('/').next().unwrap_or_default().to_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let is_usual = NAMES.contains(&stem);
    let Ok(input) = reader::open_unpacked(&file.path) else { return false };
    let mut input = BufReader::new(input.take(PEEKED_BYTES));
    let mut records = 0;
    for _ in 0..PEEKED_LINES {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line).is_err() || !line.ends_with(b"\n") && records > 0 {
            break;
        }
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line);
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        let has_id = value.get("id").is_some_and(|id| id.is_string() || id.is_number());
        let has_title = ["title", "name"].iter().any(|key| value.get(key).is_some_and(Value::is_string));
        if !(standards::is_record(&value) || is_usual && has_id && has_title) {
            return false;
        }
        records += 1;
    }
    records > 0
}

/// Whether a document lists datasets as CKAN and DCAT do.
fn is_dump(path: &Path) -> bool {
    let mut is_known = false;
    let _ = each_item(path, &mut |_, item| {
        is_known = standards::is_record(&item);
        false
    });
    if is_known {
        return true;
    }
    let small = crate::storage::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST_DUMP_BYTES);
    small && load(path).is_ok_and(|document| lists_datasets(&document))
}

fn lists_datasets(document: &Value) -> bool {
    let is_answer = document.get("success").is_some_and(Value::is_boolean) && document.get("result").is_some();
    let has_catalogue = document.get("dataset").or_else(|| document.get("dcat:dataset")).is_some_and(Value::is_array);
    let graph = document.get("@graph").and_then(Value::as_array);
    let in_graph =
        graph.is_some_and(|nodes| nodes.iter().take(1024).any(|node| super::value::has_type(node, "Dataset")));
    is_answer || has_catalogue || in_graph || standards::is_record(document) || standards::is_record(&document["data"])
}

fn load(path: &Path) -> std::result::Result<Value, String> {
    let mut bytes = Vec::new();
    let input = reader::open_unpacked(path).map_err(|error| error.to_string())?;
    input.take(LARGEST_DUMP_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST_DUMP_BYTES {
        return Err(format!("larger than {} MB", LARGEST_DUMP_BYTES >> 20));
    }
    serde_json::from_slice(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes))
        .map_err(|error| format!("not valid JSON: {error}"))
}

/// Whether a file of records also describes files of the lake, as a catalogue of CKAN or DCAT does.
pub fn describes_files(path: &Path) -> bool {
    form(path) == Form::Json
}

/// Calls `each` with the datasets of the document at `path`, called `name` in the lake, until it returns false.
///
/// # Errors
/// [`Error::Unreadable`] where it is no JSON or lists no datasets, and where it is too large to be read as a whole and has to be.
pub(super) fn each_dataset(path: &Path, name: &str, each: &mut dyn FnMut(Item) -> bool) -> Result<()> {
    let (mut number, mut goes_on, mut refers) = (0, true, false);
    let read = each_item(path, &mut |key, item| {
        refers =
            key == "dataset" && number == 0 && (item.is_string() || item.as_object().is_some_and(|map| map.len() == 1));
        if refers {
            return false;
        }
        number += 1;
        goes_on = each(self::item(key, &item, number));
        goes_on
    });
    match read {
        _ if !goes_on => return Ok(()),
        Err(reason) if number > 0 && !refers => {
            each(Item::Not { number: number + 1, reason: format!("the file ends in an error: {reason}") });
            return Ok(());
        }
        Ok(()) if number > 0 => return Ok(()),
        _ => {}
    }
    let unreadable = |reason: String| Error::unreadable(path, reason);
    let document = load(path).map_err(unreadable)?;
    let datasets = read_document(name, &document).map_err(unreadable)?;
    for (number, dataset) in (1..).zip(datasets) {
        if !each(Item::Dataset { number, dataset: Box::new(dataset), is_renamed: true }) {
            break;
        }
    }
    Ok(())
}

/// What an item of the list under `key` is.
fn item(key: &str, node: &Value, number: u64) -> Item {
    let found = |dataset, is_renamed| Item::Dataset { number, dataset: Box::new(dataset), is_renamed };
    if let Some(dataset) = standards::of_json(node) {
        return found(dataset, false);
    }
    let is_object = node.is_object();
    match key {
        "result" | "results" if is_object || node.is_string() => found(ckan::package(node), true),
        // A catalogue of schema.org has its datasets under the same name.
        "dataset" if !value::get(node, &["title"]).is_null() => found(dcat::dataset(node, &HashMap::new()), true),
        _ if value::has_type(node, "Dataset") => match schema_org::read(node).into_iter().next() {
            Some(dataset) => found(dataset, true),
            None => Item::Not { number, reason: "it describes no dataset".into() },
        },
        "dataset" if is_object => found(dcat::dataset(node, &HashMap::new()), true),
        _ => Item::Not { number, reason: "it follows no metadata standard known here".into() },
    }
}

/// Calls `each` with the items of the document's list of datasets and the key that the list is under, until it returns false.
fn each_item(path: &Path, each: &mut dyn FnMut(&str, Value) -> bool) -> std::result::Result<(), String> {
    let input = reader::open_text(path).map_err(|error| error.to_string())?;
    let left = Rc::new(Cell::new(LARGEST_ITEM_BYTES));
    let mut json = serde_json::Deserializer::from_reader(Bounded { input, left: Rc::clone(&left) });
    let walk = Walk { key: "", depth: 0, left: &left, each };
    walk.deserialize(&mut json).map_err(|error| error.to_string())
}

/// Walks to the lists of a document and through them.
struct Walk<'a> {
    key: &'a str,
    depth: usize,
    left: &'a Cell<u64>,
    each: &'a mut dyn FnMut(&str, Value) -> bool,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of datasets")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let key = value::local_name(&key);
            if LISTS.contains(&key) && self.depth < MOST_LISTS_DEPTH {
                map.next_value_seed(Walk { key, depth: self.depth + 1, left: self.left, each: &mut *self.each })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            self.left.set(LARGEST_ITEM_BYTES);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        while let Some(item) = list.next_element::<Value>()? {
            self.left.set(LARGEST_ITEM_BYTES);
            if !(self.each)(self.key, item) {
                return Err(A::Error::custom("no more is wanted"));
            }
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<(), E> {
        Ok(())
    }
}

/// The names of files that a dataset has, in lower case.
pub(super) fn file_names(files: &[DescribedFile]) -> Vec<String> {
    let locations = files.iter().flat_map(|file| &file.locations);
    locations.take(1024).filter_map(|location| file_name_of(location)).collect()
}

impl TableMetadata {
    /// Adds the formats of its files as a facet.
    pub(super) fn add_formats(&mut self, formats: Vec<String>) {
        let mut values: Vec<String> = Vec::new();
        for format in formats {
            if !format.is_empty() && format.len() <= 64 && values.len() < 64 && !values.contains(&format) {
                values.push(format);
            }
        }
        if !values.is_empty() {
            self.facets.push(Facet { field: "format".into(), values, cut_short: false });
        }
    }
}

/// A dataset's id from `text`: the last part of an address, else the whole text.
pub(super) fn short_id(text: &str) -> String {
    let text = clean::line(text);
    let last = if text.contains("://") {
        text.split(['?', '#']).next().unwrap_or(&text).trim_end_matches('/').rsplit('/').next().unwrap_or(&text)
    } else {
        &text
    };
    let id = last.replace("//", "/");
    id[..id.floor_char_boundary(LONGEST_ID_BYTES)].trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(files: &[(&str, &str)]) -> Vec<String> {
        let lake = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(lake.path().join(name), text).unwrap();
        }
        catalogues_alone(lake.path(), &source::list_files(lake.path()).unwrap())
    }

    const LINE: &str = "{\"id\": \"a\", \"title\": \"Airports\"}\n";
    const CKAN: &str =
        r#"{"success": true, "result": {"count": 1, "results": [{"name": "air-ports", "title": "Air"}]}}"#;

    #[test]
    fn only_lakes_without_other_files_are_read_as_catalogues() {
        assert_eq!(alone(&[("corpus.jsonl", LINE)]), ["corpus.jsonl"]);
        assert_eq!(alone(&[("corpus.jsonl", LINE), ("search.json", CKAN)]), ["corpus.jsonl", "search.json"]);
        assert_eq!(alone(&[("data.json", r#"{"dataset": [{"title": "x", "identifier": "y"}]}"#)]), ["data.json"]);
        assert!(alone(&[("corpus.jsonl", LINE), ("a.csv", "a,b\n1,2\n")]).is_empty());
        // Tables of lines.
        assert!(alone(&[("films.jsonl", LINE)]).is_empty());
        assert!(alone(&[("corpus.jsonl", "{\"id\": 1, \"x\": 2}\n")]).is_empty());
        assert!(alone(&[("corpus.jsonl", "")]).is_empty());
        assert!(alone(&[("rows.json", "[{\"id\": 1, \"title\": \"x\"}]")]).is_empty());
    }

    #[test]
    fn datasets_of_a_document_have_ids_of_their_own() {
        let lake = tempfile::tempdir().unwrap();
        let path = lake.path().join("list.json");
        std::fs::write(&path, r#"{"success": true, "result": ["bus-stops", "bus-stops", 7, "trees//x"]}"#).unwrap();
        let read = super::super::Records::read(&path, "list.json").unwrap();
        assert_eq!((read.len(), read.left_out), (3, 1), "{:?}", read.problems);
        let (_, records) = read.divide(&[]).unwrap();
        let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(ids, ["bus-stops", "bus-stops~2", "trees/x"]);
        assert_eq!(short_id("https://a.b/c/d-e/?x=1"), "d-e");
    }
}
