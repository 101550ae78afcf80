//! Files of records: recognises them in a lake, and reads the datasets of a JSON document one by one.
//!
//! A file is one of records by what it holds, whatever lies beside it: lines of records of a known standard, CKAN's answers to
//! `package_search`, `package_list` and `package_show`, DCAT's `data.json`, datasets of schema.org, answers of DataCite, Dataverse and Science
//! Data Bank, and XML of OAI-PMH, DataCite and ISO 19115. Two are ambiguous: lines in our own form may be a table, and are one beside other
//! tables; a document of one dataset describes the table of its name or of its folder, where there is one, and is then no record.
//!
//! The list of datasets in a document is read item by item, so that memory does not depend on how many there are; only a document
//! whose datasets refer to each other (`@graph`) is read as a whole.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rayon::prelude::*;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::index::{Tables, describes_beside, file_name_of, is_dcat, read_document};
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
const LISTS: [&str; 11] =
    ["data", "items", "result", "results", "dataset", "records", "list", "Content", "content", "hits", "datasets"];
/// Nesting of such keys.
const MOST_LISTS_DEPTH: usize = 4;
/// Beginning of an XML file in which it is told by its elements.
const PEEKED_ELEMENTS: usize = 4;
const PEEKED_XML_BYTES: u64 = 64 << 20;
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
/// Beginning of a JSON file in which one of [`MARKS`] has to be, in bytes, and items of its list that are checked.
const MARKED_BYTES: u64 = 64 << 10;
const PEEKED_ITEMS: usize = 16;
/// Keys of which every document of records has one, so that a table of JSON is not parsed to its end.
const MARKS: [&[u8]; 17] = [
    b"\"@type\"",
    b"\"@graph\"",
    b"\"dataset\"",
    b":dataset\"",
    b"\"result\"",
    b"\"titles\"",
    b"\"creators\"",
    b"\"doi\"",
    b"\"datasetVersion\"",
    b"\"latestVersion\"",
    b"\"metadataBlocks\"",
    b"\"global_id\"",
    b"\"dataSetId\"",
    b"\"titleEn\"",
    b"\"titleZh\"",
    b"\"resources\"",
    b"\"metadata_created\"",
];
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

/// The files of records below `root`, as paths below it, sorted. What is known of a file that `is_table` is not looked at again.
pub fn record_files(root: &Path, listing: &LakeListing, is_table: &(dyn Fn(&LakeFile) -> bool + Sync)) -> Vec<String> {
    let kind = |file: &LakeFile| if is_table(file) { Kind::Table } else { kind(file) };
    let kinds: Vec<Kind> = listing.files.par_iter().map(kind).collect();
    let is_alone = !kinds.contains(&Kind::Table);
    let is_records = |kind: Kind| kind == Kind::Records || kind == Kind::OwnLines && is_alone;
    let (records, tables): (Vec<_>, Vec<_>) = listing.files.iter().zip(kinds).partition(|(_, kind)| is_records(*kind));
    let tables = Tables::of(tables.iter().map(|(file, _)| file.relative.as_str()));
    let mut names: Vec<String> = records.into_iter().map(|(file, _)| file.relative.clone()).collect();
    names.par_extend(listing.sidecars.par_iter().filter(|path| is_dump(path)).filter_map(|path| {
        let name = below(root, path);
        let describes = tables.are_beside(&name) && load(path).is_ok_and(|document| describes_beside(&name, &document));
        (!describes).then_some(name)
    }));
    names.par_extend(listing.catalogues.par_iter().filter(|path| is_xml_dump(path)).map(|path| below(root, path)));
    names.sort();
    names
}

/// What a file of a lake holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Records of a known standard.
    Records,
    /// Lines with an id and a title under a usual name, which may be records.
    OwnLines,
    Table,
}

fn kind(file: &LakeFile) -> Kind {
    match file.format {
        Format::NdJson => kind_of_lines(file),
        Format::Json if is_dump(&file.path) => Kind::Records,
        _ => Kind::Table,
    }
}

/// Why each of the files of XML and RDF in `listing` that is not among `records`, which are sorted, is not read.
pub fn unread_catalogues(root: &Path, listing: &LakeListing, records: &[String]) -> Vec<(PathBuf, String)> {
    let unread = listing.catalogues.iter().filter(|path| records.binary_search(&below(root, path)).is_err());
    let reason = |path: &Path| match source::is_rdf(path) {
        true => "RDF is read as JSON-LD, not as RDF/XML or Turtle",
        false => "it holds no record of a standard known here",
    };
    unread.map(|path| (path.clone(), reason(path).to_string())).collect()
}

fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Whether an XML file has records of a standard known here.
fn is_xml_dump(path: &Path) -> bool {
    let Ok(input) = reader::open_text(path) else { return false };
    let (mut seen, mut is_known) = (0, false);
    xml::each_element(input.take(PEEKED_XML_BYTES), &standards::ELEMENTS, |element| {
        seen += 1;
        is_known = !matches!(standards::of_xml(element), standards::Read::Not(_));
        !is_known && seen < PEEKED_ELEMENTS
    });
    is_known
}

/// What the first lines are.
fn kind_of_lines(file: &LakeFile) -> Kind {
    let name = file.relative.rsplit('/').next().unwrap_or_default().to_lowercase();
    // A large one comes in numbered parts: `records-003.jsonl`.
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_');
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(is_number);
    let is_usual = NAMES.contains(&stem);
    let Ok(input) = reader::open_unpacked(&file.path) else { return Kind::Table };
    let mut input = BufReader::new(input.take(PEEKED_BYTES));
    let (mut records, mut own) = (0, 0);
    for _ in 0..PEEKED_LINES {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line).is_err() || !line.ends_with(b"\n") && records + own > 0 {
            break;
        }
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line);
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        let has_id = value.get("id").is_some_and(|id| id.is_string() || id.is_number());
        let has_title = ["title", "name"].iter().any(|key| value.get(key).is_some_and(Value::is_string));
        match standards::is_record(&value) {
            true => records += 1,
            false if is_usual && has_id && has_title => own += 1,
            false => return Kind::Table,
        }
    }
    match (records, own) {
        (0, 0) => Kind::Table,
        (_, 0) => Kind::Records,
        _ => Kind::OwnLines,
    }
}

/// Whether a document is a dataset or lists datasets, as CKAN, DCAT, schema.org and the catalogues of research data write them.
fn is_dump(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let Ok(input) = reader::open_text(path) else { return false };
    if input.take(MARKED_BYTES).read_to_end(&mut beginning).is_err()
        || !MARKS.iter().any(|mark| memchr::memmem::find(&beginning, mark).is_some())
    {
        return false;
    }
    let (mut seen, mut is_known) = (0, false);
    let _ = each_item(path, &mut |key, item| {
        seen += 1;
        is_known = is_dataset(key, &item);
        !is_known && seen < PEEKED_ITEMS
    });
    let small = || crate::storage::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST_DUMP_BYTES);
    let is_object = beginning.trim_ascii_start().starts_with(b"{");
    is_known || is_object && small() && load(path).is_ok_and(|document| holds_datasets(&document))
}

/// Whether an item of the list under `key` is a dataset.
fn is_dataset(key: &str, node: &Value) -> bool {
    const OF_DCAT: [&str; 7] =
        ["identifier", "description", "distribution", "keyword", "publisher", "landingPage", "@id"];
    let in_catalogue = || key == "dataset" && OF_DCAT.iter().any(|name| !value::get(node, &[name]).is_null());
    let has_title = || value::line(node, &["title", "name"]).is_some();
    standards::is_record(node) || ckan::is_package(node) || is_linked(node) || in_catalogue() && has_title()
}

/// Whether a node of JSON-LD is a dataset.
fn is_linked(node: &Value) -> bool {
    node.get("@type").is_some()
        && value::has_type(node, "Dataset")
        && value::line(node, &["name", "title", "headline", "description"]).is_some()
}

/// Whether a document that is read as a whole is a dataset or holds some.
fn holds_datasets(document: &Value) -> bool {
    let result = &document["result"];
    let in_answer = result.get("results").unwrap_or(result);
    let is_answered = |node: &Value| {
        let is_named = || value::line(node, &["name"]).and(value::line(node, &["title"])).is_some();
        node.is_string() || is_named() || ckan::is_package(node)
    };
    let is_answer = document.get("success").is_some_and(Value::is_boolean) && value::items(in_answer).any(is_answered);
    let graph = value::items(value::get(document, &["@graph"]));
    let mut catalogued = graph.chain([document]).flat_map(|node| value::items(value::get(node, &["dataset"])));
    // A reference is followed when they are read.
    let is_reference = |node: &Value| node.as_object().is_some_and(|map| map.len() == 1 && map.contains_key("@id"));
    is_answer
        || standards::is_record(document)
        || standards::is_record(&document["data"])
        || ckan::is_package(document)
        || schema_org::nodes(document).any(is_linked)
        || catalogued.any(|node| is_reference(node) || is_dataset("dataset", node))
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
    let (mut number, mut continues, mut refers) = (0, true, false);
    let read = each_item(path, &mut |key, item| {
        let is_reference = || item.is_string() || item.as_object().is_some_and(|map| map.len() == 1);
        refers = number == 0 && (key == "dataset" && is_reference() || key.is_empty() && is_dcat(&item));
        if refers {
            return false;
        }
        number += 1;
        continues = each(self::item(key, &item, number));
        continues
    });
    match read {
        _ if !continues => return Ok(()),
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
        _ if ckan::is_package(node) => found(ckan::package(node), true),
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
