//! Pairs of tables as CSV: LakeBench's own files and those of SANTOS, TUS and UGEN.
//!
//! LakeBench (Deng et al., PVLDB 2024): `*_query.csv` with `query_table[,query_column]`, `*_ground_truth.csv` with
//! `query_table,candidate_table[,query_column,candidate_column]`, the tables in a folder next to them; most query tables are among
//! the searchable ones. SANTOS and similar: `query_table,data_lake_table[,unionable]`, folders `query/` and `datalake/`.
//! The published files have repeated headers, pairs of a table with itself and names of missing tables: these are counted,
//! reported and not used.
//!
//! Table names are looked up among the files in the folders; they are never opened as paths.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::documents::{Document, documents};
use super::judgments::grade_of;
use super::lines::{bad_file, bad_line};
use super::name_of;
use crate::benchmark::{BenchQuery, Benchmark, LabelledQuery, LayoutKind, Problems, Task};
use lakeward_core::error::{Error, Result};

/// Folders that hold the searchable tables, most informative first.
const LAKE_FOLDERS: [&str; 7] = ["datalake", "data_lake", "lake", "tables", "tables_all", "benchmark", "data"];
/// Folders that hold query tables or query lists.
const QUERY_FOLDERS: [&str; 3] = ["query", "queries", "query_tables"];
/// Folders that may hold lists, besides the folder itself.
const LIST_FOLDERS: [&str; 6] = ["query", "queries", "ground_truth", "groundtruth", "gt", "labels"];
/// Headers of the candidate table.
const CANDIDATES: [&str; 4] = ["candidate_table", "data_lake_table", "lake_table", "target_table"];
/// Headers of a grade.
const GRADES: [&str; 5] = ["grade", "label", "unionable", "manual_unionable", "relevance"];
/// Maximum number of lists checked in a folder, so that a folder of a million tables is not opened file by file.
const MAX_LISTS: usize = 2000;
/// Maximum size of a list, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum size of a list's header, in bytes.
const MAX_HEADER_BYTES: u64 = 64 << 10;

/// A CSV file that lists queries or pairs.
struct List {
    path: PathBuf,
    task: Task,
    columns: Columns,
}

/// Positions of the columns in a list.
struct Columns {
    query_table: usize,
    candidate_table: Option<usize>,
    query_column: Option<usize>,
    grade: Option<usize>,
    headers: Vec<String>,
}

/// Which of the two layouts the lists of `folder` have; `None` without a list of pairs.
///
/// # Errors
/// [`Error::Io`] if the folder cannot be listed, [`Error::Benchmark`] if the benchmarks are in subfolders.
pub fn kind_of(folder: &Path) -> Result<Option<LayoutKind>> {
    let lists = lists(folder)?;
    let pairs: Vec<&List> = lists.iter().filter(|list| list.columns.candidate_table.is_some()).collect();
    if pairs.is_empty() {
        let deeper: Vec<String> = subfolders(folder)?
            .into_iter()
            .filter(|inner| self::lists(inner).is_ok_and(|lists| !lists.is_empty()))
            .map(|inner| format!("`{}`", inner.display()))
            .collect();
        if deeper.is_empty() {
            return Ok(None);
        }
        return Err(bad_file(
            folder,
            format!("the lists of queries are in subfolders; use one of {}", deeper.join(", ")),
        ));
    }
    let of_lake = pairs.iter().any(|list| list.columns.headers.iter().any(|header| header == "data_lake_table"));
    Ok(Some(if of_lake { LayoutKind::Pairs } else { LayoutKind::Lakebench }))
}

/// Reads the benchmark in `folder`.
///
/// # Errors
/// As [`super::read`].
pub fn read(folder: &Path, kind: LayoutKind) -> Result<Benchmark> {
    let lake = lake_of(folder)?;
    let mut reading = Reading {
        lake: Names::new(documents(&lake)?),
        queries: match query_folder(folder, &lake) {
            Some(queries) => Names::new(documents(&queries)?),
            None => Names::default(),
        },
        benchmark: Benchmark {
            name: name_of(folder),
            layout: kind,
            queries: Vec::new(),
            qrels: HashMap::new(),
            unjudged: HashMap::new(),
            lake: Some(lake),
            corpus: None,
            papers: Vec::new(),
            problems: Problems::default(),
        },
        places: HashMap::new(),
    };
    let (pairs, listed): (Vec<List>, Vec<List>) =
        lists(folder)?.into_iter().partition(|list| list.columns.candidate_table.is_some());
    for list in &listed {
        reading.take_queries(list)?;
    }
    for list in &pairs {
        let is_listed = listed.iter().any(|queries| queries.task == list.task);
        reading.take_pairs(list, is_listed)?;
    }
    let Reading { mut benchmark, .. } = reading;
    for labelled in &benchmark.queries {
        if !benchmark.qrels.contains_key(&labelled.query.id) {
            benchmark.problems.add("queries without a usable pair; not scored", &labelled.query.id);
        }
    }
    Ok(benchmark)
}

/// Files by name.
#[derive(Default)]
struct Names {
    documents: Vec<Document>,
    /// By file name, by file name without its extension, and by id; the first file of a name wins.
    places: HashMap<String, usize>,
}

impl Names {
    fn new(documents: Vec<Document>) -> Self {
        let mut places = HashMap::new();
        let file_name = |document: &Document| {
            document.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        };
        for (place, document) in documents.iter().enumerate() {
            places.entry(file_name(document)).or_insert(place);
        }
        for (place, document) in documents.iter().enumerate() {
            places.entry(document.id.clone()).or_insert(place);
            let stem = document.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            places.entry(stem.unwrap_or_default()).or_insert(place);
        }
        Self { documents, places }
    }

    fn get(&self, name: &str) -> Option<&Document> {
        let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
        self.places.get(name).or_else(|| self.places.get(last)).map(|place| &self.documents[*place])
    }
}

struct Reading {
    lake: Names,
    queries: Names,
    benchmark: Benchmark,
    /// Positions of the queries by id; `None` for queries that were left out.
    places: HashMap<String, Option<usize>>,
}

impl Reading {
    fn take_queries(&mut self, list: &List) -> Result<()> {
        let problems = each_record(list, &mut |_, cells, _| {
            self.query(list, cells);
            Ok(())
        })?;
        self.benchmark.problems.merge(&problems);
        Ok(())
    }

    fn take_pairs(&mut self, list: &List, is_listed: bool) -> Result<()> {
        let problems = each_record(list, &mut |at, cells, problems: &mut Problems| {
            let id = query_id(list, cells);
            if is_listed && !self.places.contains_key(&id) {
                problems.add("pairs whose query is in no list of queries; not used", &id);
                return Ok(());
            }
            let place = if is_listed { self.places[&id] } else { self.query(list, cells) };
            if place.is_none() {
                problems.add("pairs whose query table is missing; not used", at);
                return Ok(());
            }
            let candidate = list.columns.candidate_table.map_or("", |column| cells[column]);
            if candidate == cells[list.columns.query_table] {
                problems.add("pairs of a table with itself; not used", at);
                return Ok(());
            }
            let Some(document) = self.lake.get(candidate) else {
                problems.add("pairs whose answer is not in the lake; not used", &format!("{at} {candidate}"));
                return Ok(());
            };
            let grade = match list.columns.grade.map(|column| cells[column]) {
                None => 1,
                Some(text) => {
                    grade_in_words(text).ok_or_else(|| format!("`{text}` is not a grade: it must be a whole number"))?
                }
            };
            if self.benchmark.qrels.entry(id).or_default().insert(document.id.clone(), grade).is_some() {
                problems.add("pairs of tables given more than once, as for several columns; they count once", at);
            }
            Ok(())
        })?;
        self.benchmark.problems.merge(&problems);
        Ok(())
    }

    /// The position of the query of a line, known or new; `None` if its table is missing.
    fn query(&mut self, list: &List, cells: &[&str]) -> Option<usize> {
        let id = query_id(list, cells);
        if let Some(place) = self.places.get(&id) {
            return *place;
        }
        let name = cells[list.columns.query_table];
        let (table, origin) = match (self.queries.get(name), self.lake.get(name)) {
            (Some(document), _) => (document.path.clone(), None),
            (None, Some(document)) => (document.path.clone(), Some(document.id.clone())),
            (None, None) => {
                self.benchmark.problems.add("queries whose table is missing; left out", name);
                self.places.insert(id, None);
                return None;
            }
        };
        if origin.is_some() {
            self.benchmark.problems.add("query tables that are in the lake; never returned for their own query", name);
        }
        let column = list.columns.query_column.map(|column| cells[column].to_string());
        let query = BenchQuery {
            id: id.clone(),
            task: list.task,
            table: Some(table),
            origin,
            column: column.filter(|column| !column.trim().is_empty()),
            columns: Vec::new(),
            text: None,
            turns: Vec::new(),
            exclude_paper: None,
        };
        let place = self.benchmark.queries.len();
        self.benchmark.queries.push(LabelledQuery {
            query,
            labels: None,
            style: None,
            correction: None,
            signals: vec![None],
        });
        self.places.insert(id, Some(place));
        Some(place)
    }
}

/// `task:table[:column]`, so that one table can be several queries.
fn query_id(list: &List, cells: &[&str]) -> String {
    let table = cells[list.columns.query_table];
    let table = table.strip_suffix(".csv").unwrap_or(table);
    match list.columns.query_column.map(|column| cells[column]) {
        Some(column) if !column.is_empty() => format!("{}:{table}:{column}", list.task),
        _ => format!("{}:{table}", list.task),
    }
}

fn grade_in_words(text: &str) -> Option<i64> {
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" => Some(1),
        "false" | "no" => Some(0),
        number => grade_of(number),
    }
}

/// Processes one record: its position, its cells, the problems so far; fails with a reason if it is unusable.
type TakeRow<'a> = dyn FnMut(&str, &[&str], &mut Problems) -> Result<(), String> + 'a;

/// Passes each record to `take` with its position as `file:line`, without repeated headers; returns the problems.
fn each_record(list: &List, take: &mut TakeRow<'_>) -> Result<Problems> {
    let mut problems = Problems::default();
    let mut reader = csv_reader(&list.path)?;
    let file = list.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for record in reader.byte_records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(0, |position| position.line() as usize);
            bad_line(&list.path, line, &error.to_string())
        })?;
        let line = record.position().map_or(0, |position| position.line() as usize);
        let owned: Vec<String> = record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_string()).collect();
        let at = format!("{file}:{line}");
        if owned.iter().map(|cell| cell.to_lowercase()).eq(list.columns.headers.iter().cloned()) {
            problems.add("lines that repeat the header; not used", &at);
            continue;
        }
        if owned.len() < list.columns.headers.len() {
            let reason = format!("{} fields, the header has {}", owned.len(), list.columns.headers.len());
            return Err(bad_line(&list.path, line, &reason));
        }
        let cells: Vec<&str> = owned.iter().map(String::as_str).collect();
        if cells[list.columns.query_table].is_empty() {
            return Err(bad_line(&list.path, line, "the name of the query table is empty"));
        }
        take(&at, &cells, &mut problems).map_err(|reason| bad_line(&list.path, line, &reason))?;
    }
    Ok(problems)
}

fn csv_reader(path: &Path) -> Result<csv::Reader<fs::File>> {
    let io = |source| Error::io("read", path, source);
    let file = fs::File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() > MAX_BYTES {
        return Err(bad_file(path, format!("a list of more than {} GB", MAX_BYTES >> 30)));
    }
    Ok(csv::ReaderBuilder::new().flexible(true).from_reader(file))
}

/// The lists of queries and of pairs in `folder` and its [`LIST_FOLDERS`], by path.
fn lists(folder: &Path) -> Result<Vec<List>> {
    let mut found = Vec::new();
    let inner = LIST_FOLDERS.iter().map(|name| folder.join(name)).filter(|inner| inner.is_dir());
    for place in std::iter::once(folder.to_path_buf()).chain(inner) {
        let mut files: Vec<PathBuf> = entries(&place)?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")))
            .take(MAX_LISTS)
            .collect();
        files.sort();
        found.extend(files.into_iter().filter_map(|path| list_of(path).ok().flatten()));
    }
    Ok(found)
}

/// The list in `path`; `None` if its header is not that of a list.
fn list_of(path: PathBuf) -> Result<Option<List>> {
    let file = fs::File::open(&path).map_err(|source| Error::io("read", &path, source))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file.take(MAX_HEADER_BYTES));
    let Ok(headers) = reader.byte_headers() else { return Ok(None) };
    let headers: Vec<String> = headers
        .iter()
        .map(|header| String::from_utf8_lossy(header).trim_start_matches('\u{feff}').trim().to_lowercase())
        .collect();
    let place = |names: &[&str]| headers.iter().position(|header| names.contains(&header.as_str()));
    let Some(query_table) = place(&["query_table"]) else { return Ok(None) };
    let columns = Columns {
        query_table,
        candidate_table: place(&CANDIDATES),
        query_column: place(&["query_column"]),
        grade: place(&GRADES),
        headers,
    };
    let name = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let task = match (name.contains("join"), name.contains("union")) {
        (true, false) => Task::Join,
        (false, true) => Task::Union,
        _ if columns.query_column.is_some() => Task::Join,
        _ => Task::Union,
    };
    Ok(Some(List { path, task, columns }))
}

fn lake_of(folder: &Path) -> Result<PathBuf> {
    let named = LAKE_FOLDERS.iter().map(|name| folder.join(name)).find(|path| path.is_dir());
    if let Some(lake) = named {
        return Ok(lake);
    }
    let is_list_folder = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        LIST_FOLDERS.contains(&name.as_str()) || QUERY_FOLDERS.contains(&name.as_str())
    };
    let others: Vec<PathBuf> = subfolders(folder)?.into_iter().filter(|path| !is_list_folder(path)).collect();
    match &others[..] {
        [only] => Ok(only.clone()),
        _ => Err(bad_file(
            folder,
            format!("no folder of tables: name it one of {}", LAKE_FOLDERS.map(|n| format!("`{n}`")).join(", ")),
        )),
    }
}

fn query_folder(folder: &Path, lake: &Path) -> Option<PathBuf> {
    QUERY_FOLDERS.iter().map(|name| folder.join(name)).find(|path| path.is_dir() && path != lake)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |source| Error::io("list", folder, source);
    fs::read_dir(folder).map_err(io)?.map(|entry| entry.map(|entry| entry.path()).map_err(io)).collect()
}

fn subfolders(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = entries(folder)?;
    found.retain(|path| path.is_dir() && path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    found.sort();
    Ok(found)
}
