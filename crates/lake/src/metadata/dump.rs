//! Catalogues in a lake without the data they describe: recognises their files, and reads the datasets of a JSON document
//! as records.
//!
//! A lake whose only files are catalogues is read as catalogues: lines of records under a usual name, CKAN's answers to
//! `package_search`, `package_list` and `package_show`, DCAT's `data.json`. In a lake with tables the same files are read as
//! usual: as a table of lines, or as a description of tables.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;

use super::index::{file_name_of, read_document};
use super::{Dataset, Facet, TableMetadata, clean};
use crate::reader;
use crate::source::{self, Compression, Format, LakeFile, LakeListing};
use lakeward_core::error::{Error, Result};

/// Largest document that is read, in bytes: parsed, it takes about ten times as much memory.
const LARGEST_DUMP_BYTES: u64 = 256 << 20;
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

/// A dataset of a document.
pub(super) struct Dumped {
    pub id: String,
    pub metadata: TableMetadata,
    /// Names of its files, in lower case.
    pub files: Vec<String>,
}

/// The files of a lake that holds only catalogues, as paths below its root; empty if the lake holds anything else.
pub fn catalogues_alone(root: &Path, listing: &LakeListing) -> Vec<String> {
    let mut names = Vec::new();
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
            let below = path.strip_prefix(root).unwrap_or(path);
            names.push(below.to_string_lossy().replace('\\', "/"));
        }
    }
    names.sort();
    names
}

/// Whether the file has a usual name of a file of records, and its first lines are records.
fn has_records(file: &LakeFile) -> bool {
    let name = file.relative.rsplit('/').next().unwrap_or_default().to_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    if !NAMES.contains(&stem) {
        return false;
    }
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
        if !has_id || !has_title {
            return false;
        }
        records += 1;
    }
    records > 0
}

/// Whether a document lists datasets as CKAN and DCAT do.
fn is_dump(path: &Path) -> bool {
    let small = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST_DUMP_BYTES);
    small && load(path).is_ok_and(|document| lists_datasets(&document))
}

fn lists_datasets(document: &Value) -> bool {
    let is_answer = document.get("success").is_some_and(Value::is_boolean) && document.get("result").is_some();
    let has_catalogue = document.get("dataset").or_else(|| document.get("dcat:dataset")).is_some_and(Value::is_array);
    let graph = document.get("@graph").and_then(Value::as_array);
    let in_graph =
        graph.is_some_and(|nodes| nodes.iter().take(1024).any(|node| super::value::has_type(node, "Dataset")));
    is_answer || has_catalogue || in_graph
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
    is_document(path)
}

/// Whether `path` is read as one document and not as lines.
pub(super) fn is_document(path: &Path) -> bool {
    source::classify(path).is_some_and(|(format, packed)| format == Format::Json && packed == Compression::None)
        || path.extension().is_some_and(|extension| extension == "jsonld")
}

/// The datasets of the document at `path`, called `name` in the lake.
///
/// # Errors
/// [`Error::Unreadable`] where it is no JSON, too large, or lists no datasets.
pub(super) fn read(path: &Path, name: &str) -> Result<Vec<Dumped>> {
    let unreadable = |reason: String| Error::unreadable(path, reason);
    let document = load(path).map_err(unreadable)?;
    let datasets = read_document(name, &document).map_err(unreadable)?;
    let mut taken = HashSet::new();
    Ok(datasets.into_iter().filter_map(|dataset| dumped(dataset, name, &mut taken)).collect())
}

fn dumped(dataset: Dataset, name: &str, taken: &mut HashSet<String>) -> Option<Dumped> {
    let Dataset { id, whole, files, formats } = dataset;
    let named = [id.as_deref(), whole.identifier.as_deref(), whole.title.as_deref()];
    let id = named.into_iter().flatten().map(short_id).find(|id| !id.is_empty())?;
    let id = (1..).map(|number| if number == 1 { id.clone() } else { format!("{id}~{number}") });
    let id = id.take(taken.len() + 1).find(|id| !taken.contains(id))?;
    taken.insert(id.clone());
    let mut metadata = TableMetadata { file: Some(name.to_string()), ..whole };
    let mut values: Vec<String> = Vec::new();
    for format in formats {
        if !format.is_empty() && format.len() <= 64 && values.len() < 64 && !values.contains(&format) {
            values.push(format);
        }
    }
    if !values.is_empty() {
        metadata.facets.push(Facet { field: "format".into(), values, cut_short: false });
    }
    let locations = files.iter().flat_map(|file| &file.locations);
    let files = locations.take(1024).filter_map(|location| file_name_of(location)).collect();
    Some(Dumped { id, metadata, files })
}

/// A dataset's id from `text`: the last part of an address, else the whole text.
fn short_id(text: &str) -> String {
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
        let read = read(&path, "list.json").unwrap();
        let ids: Vec<&str> = read.iter().map(|dumped| dumped.id.as_str()).collect();
        assert_eq!(ids, ["bus-stops", "bus-stops~2", "trees/x"]);
        assert_eq!(short_id("https://a.b/c/d-e/?x=1"), "d-e");
    }
}
