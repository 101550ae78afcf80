//! Which table each description belongs to.
//!
//! A location in a sidecar becomes one of four keys, tried in this order when a table is looked up: the path in the lake
//! that a relative location gives; its file name, for tables in or below the sidecar's folder (the only key for URLs and for
//! paths that lead out of the folder); the sidecar's own stem (`x.jsonld` beside `x.csv`); the sidecar's folder, where the
//! sidecar describes one dataset and names no table file at all.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::value::{get, has_type, items};
use super::{
    ColumnMetadata, Dataset, TableMetadata, ckan, clean, csvw, dcat, frictionless, readme, schema_org, standards,
};
use crate::storage::File;

/// Largest sidecar that is read, in bytes.
const LARGEST_SIDECAR_BYTES: u64 = 32 << 20;
/// Most locations of one file that are indexed.
const MOST_LOCATIONS: usize = 1024;

/// The descriptions of the tables of one lake, by table.
#[derive(Debug, Default)]
pub struct MetadataIndex {
    described: Vec<TableMetadata>,
    /// Positions in `described` by key; where several sidecars give one key, the first wins.
    by_path: HashMap<String, usize>,
    by_name: HashMap<(String, String), usize>,
    by_stem: HashMap<(String, String), usize>,
    by_folder: HashMap<String, usize>,
    /// Of README files, which describe what nothing else does, also in folders below.
    by_readme: HashMap<String, usize>,
}

impl MetadataIndex {
    /// Reads the `sidecars` (paths below the lake `root`, with or without `root` in front) in order of their paths. Also returns
    /// the ones that could not be read, each with the reason. No other file is read.
    pub fn read(root: &Path, sidecars: &[PathBuf]) -> (Self, Vec<(PathBuf, String)>) {
        let mut index = MetadataIndex::default();
        let mut problems = Vec::new();
        let mut sidecars: Vec<&PathBuf> = sidecars.iter().collect();
        sidecars.sort();
        for sidecar in sidecars {
            if let Err(reason) = index.read_one(root, sidecar) {
                problems.push((sidecar.clone(), reason));
            }
        }
        (index, problems)
    }

    /// Adds what tables say of themselves, by their paths in the lake; where sidecars say something else, that counts less.
    pub fn add_described(&mut self, described: Vec<(String, TableMetadata)>) {
        for (path, own) in described {
            let own = cleaned(own);
            if own == TableMetadata::default() {
                continue;
            }
            let whole = match self.get(&path) {
                Some(sidecar) => own.or(sidecar),
                None => own,
            };
            let at = self.store(whole);
            self.by_path.insert(normal_key(&path), at);
        }
    }

    /// The description of the table in the file `relative_path` (in the lake, `/`-separated, with its extension).
    pub fn get(&self, relative_path: &str) -> Option<&TableMetadata> {
        let path = normal_key(relative_path);
        let (folder, name) = split_path(&path);
        let stem = stem_of(name).to_string();
        let by_name =
            || ancestors(folder).find_map(|folder| self.by_name.get(&(folder.to_string(), name.to_lowercase())));
        let at = self.by_path.get(&path).or_else(by_name);
        let at = at.or_else(|| self.by_stem.get(&(folder.to_string(), stem)));
        // A table may be a folder.
        let at = at.or_else(|| self.by_folder.get(&path)).or_else(|| self.by_folder.get(folder));
        let by_readme = || ancestors(&path).find_map(|folder| self.by_readme.get(folder));
        at.or_else(by_readme).and_then(|at| self.described.get(*at))
    }

    /// Number of tables and folders described.
    pub fn len(&self) -> usize {
        self.described.len()
    }

    /// Whether no sidecar described anything.
    pub fn is_empty(&self) -> bool {
        self.described.is_empty()
    }

    fn read_one(&mut self, root: &Path, sidecar: &Path) -> Result<(), String> {
        let relative = match sidecar.strip_prefix(root) {
            Ok(relative) => relative,
            Err(_) if sidecar.is_absolute() => return Err("it lies outside the lake".into()),
            Err(_) => sidecar,
        };
        if relative.components().any(|part| part == Component::ParentDir) {
            return Err("it lies outside the lake".into());
        }
        let relative_path = relative;
        let relative = relative_path.to_string_lossy().replace('\\', "/");
        let name = split_path(&relative).1.to_lowercase();
        if readme::is_readme(&name) {
            let bytes = bytes_of(&root.join(relative_path))?;
            self.add_readme(&relative, readme::read(&String::from_utf8_lossy(&bytes), is_table_file));
            return Ok(());
        }
        let document = load(&root.join(relative_path))?;
        let datasets = read_document(&relative, &document)?;
        let is_alone = datasets.len() == 1;
        for dataset in datasets {
            self.add(&relative, dataset, is_alone);
        }
        Ok(())
    }

    fn add(&mut self, sidecar: &str, mut dataset: Dataset, is_alone: bool) {
        let (folder, name) = split_path(sidecar);
        dataset.whole.file = Some(sidecar.to_string());
        if is_alone && !dataset.names_tables() {
            let at = self.store(dataset.whole.clone());
            let stem = stem_of(name).to_string();
            if is_generic(&stem) {
                self.by_folder.entry(folder.to_string()).or_insert(at);
            } else {
                self.by_stem.entry((folder.to_string(), stem)).or_insert(at);
            }
        }
        let tables =
            dataset.files.iter().filter(|file| file.locations.iter().any(|place| is_table_file(place))).count();
        for mut file in dataset.files {
            file.metadata.complete_from(&dataset.whole, tables);
            let at = self.store(file.metadata);
            for location in file.locations.iter().take(MOST_LOCATIONS) {
                self.add_location(folder, location, at);
            }
        }
    }

    /// The README of a folder; what that of the lake is called and is about says too little of each of its tables.
    fn add_readme(&mut self, file: &str, mut dataset: Dataset) {
        let folder = split_path(file).0.to_string();
        dataset.whole.file = Some(file.to_string());
        let mut general = dataset.whole.clone();
        if folder.is_empty() {
            (general.title, general.description) = (None, None);
        }
        let says_nothing =
            TableMetadata { standard: general.standard, file: general.file.clone(), ..Default::default() };
        if general != says_nothing {
            let at = self.store(general);
            self.by_readme.entry(folder).or_insert(at);
        }
        self.add(file, Dataset { files: dataset.files, whole: dataset.whole, ..Dataset::default() }, false);
    }

    fn store(&mut self, metadata: TableMetadata) -> usize {
        self.described.push(metadata);
        self.described.len() - 1
    }

    fn add_location(&mut self, folder: &str, location: &str, at: usize) {
        for location in [location.to_string(), percent_decoded(location)] {
            if let Some(path) = path_inside(folder, &location) {
                self.by_path.entry(normal_key(&path)).or_insert(at);
            }
            if let Some(name) = file_name_of(&location) {
                self.by_name.entry((folder.to_string(), name)).or_insert(at);
            }
        }
    }
}

/// The tables of a lake, by the keys under which a document beside them describes them.
#[derive(Default)]
pub(super) struct Tables {
    folders: HashSet<String>,
    stems: HashSet<(String, String)>,
}

impl Tables {
    /// Those with these paths below the lake.
    pub fn of<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut tables = Self::default();
        for path in paths.map(normal_key) {
            let (folder, name) = split_path(&path);
            tables.stems.insert((folder.to_string(), stem_of(name).to_string()));
            // A table may be a folder.
            tables.folders.extend([folder.to_string(), path]);
        }
        tables
    }

    /// Whether one has the name of the document at `sidecar`, or, of a document that stands for its folder, is there.
    pub fn are_beside(&self, sidecar: &str) -> bool {
        let (folder, name) = split_path(sidecar);
        let stem = stem_of(name).to_string();
        match is_generic(&stem) {
            true => self.folders.contains(folder),
            false => self.stems.contains(&(folder.to_string(), stem)),
        }
    }
}

/// Whether the `document` at `sidecar` is of one dataset that names no table file: it describes what is beside it.
pub(super) fn describes_beside(sidecar: &str, document: &Value) -> bool {
    read_document(sidecar, document).is_ok_and(|datasets| datasets.len() == 1 && !datasets[0].names_tables())
}

impl Dataset {
    fn names_tables(&self) -> bool {
        self.files.iter().any(|file| file.locations.iter().any(|place| is_table_file(place)))
    }
}

/// What a table says of itself, cut and cleaned.
fn cleaned(own: TableMetadata) -> TableMetadata {
    let stated =
        |text: Option<String>, clean: fn(&str) -> String| text.map(|text| clean(&text)).filter(|text| !text.is_empty());
    let column = |(name, column): (String, ColumnMetadata)| {
        let description = stated(column.description, clean::paragraphs)?;
        Some((name, ColumnMetadata { description: Some(description), ..ColumnMetadata::default() }))
    };
    TableMetadata {
        title: stated(own.title, clean::line),
        description: stated(own.description, clean::paragraphs),
        columns: own.columns.into_iter().filter_map(column).take(clean::MOST_COLUMNS).collect(),
        ..TableMetadata::default()
    }
}

/// Reads and parses a sidecar.
fn load(path: &Path) -> Result<Value, String> {
    let bytes = bytes_of(path)?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    serde_json::from_slice(text).map_err(|error| format!("not valid JSON: {error}"))
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(LARGEST_SIDECAR_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST_SIDECAR_BYTES {
        return Err(format!("larger than {} MB", LARGEST_SIDECAR_BYTES >> 20));
    }
    Ok(bytes)
}

/// Reads a document according to the standard it follows.
pub(super) fn read_document(sidecar: &str, document: &Value) -> Result<Vec<Dataset>, String> {
    let name = split_path(sidecar).1.to_lowercase();
    let implied = name.strip_suffix("-metadata.json").filter(|table| is_table_file(table));
    let resources = get(document, &["resources"]);
    let data = get(document, &["data"]);
    let research = || [document, data, get(data, &["Content", "content"])];
    let datasets = if let Some(dataset) = research().into_iter().find_map(standards::of_json) {
        vec![dataset]
    } else if name.ends_with("-metadata.json") && is_csvw(document, implied) || is_csvw(document, None) {
        let stem = sidecar.strip_suffix("-metadata.json").map(|table| split_path(table).1);
        csvw::read(document, implied.and(stem))
    } else if document.get("result").is_some_and(|result| result.is_object() || result.is_array())
        || ckan::is_package(document)
    {
        ckan::read(document)
    } else if resources.is_array() {
        let is_package = |resource: &Value| ["path", "data", "schema"].iter().any(|key| resource.get(key).is_some());
        let is_frictionless = name.starts_with("datapackage")
            || document.get("profile").is_some()
            || document.get("$schema").is_some()
            || (items(resources).any(is_package) && document.get("metadata_created").is_none());
        if is_frictionless { frictionless::read(document) } else { ckan::read(document) }
    } else if is_dcat(document) {
        dcat::read(document)
    } else if has_type(document, "Dataset")
        || document.is_array()
        || !get(document, &["@graph", "@context", "@type"]).is_null()
    {
        schema_org::read(document)
    } else if name.starts_with("datapackage") {
        frictionless::read(document)
    } else {
        Vec::new()
    };
    if datasets.is_empty() { Err("it follows no metadata standard known here".into()) } else { Ok(datasets) }
}

fn is_csvw(document: &Value, implied: Option<&str>) -> bool {
    let has_context = mentions(get(document, &["@context"]), "/ns/csvw");
    has_context || !get(document, &["tableSchema"]).is_null() || (implied.is_some() && document.is_object())
}

pub(super) fn is_dcat(document: &Value) -> bool {
    let has_keys = |node: &Value| {
        node.as_object().is_some_and(|map| map.keys().any(|key| key.starts_with("dcat:") || key.contains("/ns/dcat#")))
            || items(get(node, &["@type"]))
                .filter_map(Value::as_str)
                .any(|kind| kind.starts_with("dcat:") || kind.contains("/ns/dcat#"))
    };
    let mentions_dcat = ["@context", "conformsTo", "describedBy"].iter().any(|key| {
        let value = get(document, &[key]);
        mentions(value, "dcat") || mentions(value, "project-open-data") || mentions(value, "data.json")
    });
    let has_catalogue = document.get("dataset").is_some_and(Value::is_array) && document.get("@context").is_none();
    has_catalogue || mentions_dcat || items(document).chain(items(get(document, &["@graph"]))).take(64).any(has_keys)
}

/// Whether a context (a text, or a list or object of texts) contains `part`.
fn mentions(value: &Value, part: &str) -> bool {
    match value {
        Value::String(text) => text.contains(part),
        Value::Array(list) => list.iter().take(64).any(|item| item.as_str().is_some_and(|text| text.contains(part))),
        Value::Object(map) => map.values().take(256).any(|item| item.as_str().is_some_and(|text| text.contains(part))),
        _ => false,
    }
}

/// `location` as a path in the lake, if it is a relative path that stays in the sidecar's folder.
fn path_inside(folder: &str, location: &str) -> Option<String> {
    let location = location.strip_prefix("file:").unwrap_or(location).replace('\\', "/");
    if location.starts_with('/') || location.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let depth = parts.len();
    for part in location.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            if parts.len() <= depth {
                return None;
            }
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    (parts.len() > depth).then(|| parts.join("/"))
}

/// A path in the form used for comparison: without a leading `./` and without the compression's extension.
fn normal_key(path: &str) -> String {
    let path = path.trim_start_matches("./");
    let lower = path.to_ascii_lowercase();
    let packed = [".gz", ".zst"].iter().find(|extension| lower.ends_with(*extension));
    path[..path.len() - packed.map_or(0, |extension| extension.len())].to_string()
}

/// The file name at the end of a location, in lower case and without the compression's extension, if it is a table's.
pub(super) fn file_name_of(location: &str) -> Option<String> {
    let bare = location.split(['?', '#']).next().unwrap_or(location);
    let name = normal_key(bare.rsplit(['/', '\\']).next().unwrap_or(bare)).to_lowercase();
    is_table_file(&name).then_some(name)
}

fn is_table_file(location: &str) -> bool {
    let bare = location.split(['?', '#']).next().unwrap_or(location);
    !extensions_of(bare).is_empty()
}

/// Folder (without the last `/`) and file name.
fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The known file extensions that `path` ends with, with their dots: `.csv.gz`.
fn extensions_of(path: &str) -> &str {
    const KNOWN: &[&str] = &[
        "csv", "tsv", "psv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "arrow", "feather", "ipc", "gz", "zst",
    ];
    let mut end = path.len();
    while let Some(dot) = path[..end].rfind('.') {
        let extension = path[dot + 1..end].to_ascii_lowercase();
        if dot == 0 || path[..dot].ends_with('/') || !KNOWN.contains(&extension.as_str()) {
            break;
        }
        end = dot;
    }
    &path[end..]
}

fn stem_of(name: &str) -> &str {
    let stem = name[..name.len() - extensions_of(name).len()].trim_end_matches(".jsonld");
    [".croissant", "-croissant", ".metadata", "-metadata", ".meta", ".schema", ".dcat"]
        .iter()
        .find_map(|ending| stem.strip_suffix(ending))
        .unwrap_or(stem)
}

/// Whether a sidecar's stem stands for its folder and not for one table.
fn is_generic(stem: &str) -> bool {
    let stem = stem.to_lowercase();
    [
        "datapackage",
        "metadata",
        "croissant",
        "dataset",
        "package",
        "package_show",
        "data",
        "index",
        "catalog",
        "catalogue",
        "dcat",
        "ckan",
        "schema",
        "readme",
        "csv",
        "ro-crate",
        "about",
        "info",
    ]
    .contains(&stem.as_str())
}

/// `folder` and every folder above it, nearest first, ending with the lake itself (`""`).
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| (!folder.is_empty()).then(|| split_path(folder).0))
}

/// `text` with `%20` and the like decoded; unchanged if the result is not valid UTF-8.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.filter(|_| bytes[at] == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_string())
}
