//! Tables as the plain baselines see them: headers and cells as text, and the words of their metadata records.
//!
//! They are read with the lake's own readers, so that a baseline and Lakeward differ in rankings and never in the
//! content of a file. One table is in memory at a time, of at most [`MAX_TEXT_BYTES`]; rows beyond that are left out and
//! [`PlainTable::is_whole`] says so.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::layout::lines;
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{LineEnd, LineReader};
use lakeward_lake::metadata::{MetadataIndex, TableMetadata};
use lakeward_lake::reader::{self, ReadOptions, TableReader};
use lakeward_lake::{scan, source};

/// Maximum size of a table in bytes, counted as text plus 24 bytes per cell; the rest is not read.
pub const MAX_TEXT_BYTES: usize = 64 << 20;
/// Maximum line of a metadata file, in bytes; longer lines are skipped and reported.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// Bytes of metadata words stored per record.
const MAX_RECORD_BYTES: usize = 1 << 20;
/// Nested lists and objects of a record are read to this depth.
const DEEPEST_RECORD: usize = 8;

/// A document: a table, a metadata record, or a table with its record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlainTable {
    /// The id that rankings and judgments use.
    pub id: String,
    /// The title in its record; empty without one.
    pub title: String,
    /// All other words of its record; empty without one.
    pub description: String,
    /// The headers as written, one per column.
    pub headers: Vec<String>,
    /// The cells column by column, as written; missing ones are empty. All columns have the same number of rows.
    pub columns: Vec<Vec<String>>,
    /// Whether all rows are included.
    pub is_whole: bool,
}

impl PlainTable {
    /// Reads the table in the file `path`, with the id `id`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Unreadable`].
    pub fn read(path: &Path, id: impl Into<String>) -> Result<Self> {
        Self::read_from(reader::open_path(path, &ReadOptions::default())?.as_mut(), id.into())
    }

    fn read_from(reader: &mut dyn TableReader, id: String) -> Result<Self> {
        let headers: Vec<String> = reader.columns().iter().map(|column| column.header.clone()).collect();
        let mut columns: Vec<Vec<String>> = vec![Vec::new(); headers.len()];
        let mut bytes = 0;
        let mut is_whole = true;
        while let Some(batch) = reader.next_batch()? {
            if bytes >= MAX_TEXT_BYTES {
                is_whole = false;
                break;
            }
            for (cells, array) in columns.iter_mut().zip(batch.columns()) {
                cells.reserve(array.len());
                scan::for_each_cell(array, |cell| {
                    let cell = cell.unwrap_or_default();
                    bytes += cell.len() + size_of::<String>();
                    cells.push(cell.to_string());
                })?;
            }
        }
        Ok(PlainTable { id, headers, columns, is_whole, ..PlainTable::default() })
    }

    /// The column `name`: as written, otherwise ignoring case and surrounding spaces.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`] with the nearest names.
    pub fn column(&self, name: &str) -> Result<usize> {
        let folded = name.trim().to_lowercase();
        let exact = self.headers.iter().position(|header| header == name);
        exact.or_else(|| self.headers.iter().position(|header| header.trim().to_lowercase() == folded)).ok_or_else(
            || Error::UnknownColumn {
                table: self.id.clone(),
                name: name.to_string(),
                nearest: lakeward_core::error::nearest_names(name, self.headers.iter().map(String::as_str), 5),
            },
        )
    }
}

/// Where the documents of a benchmark are.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// A folder of tables.
    pub lake: Option<PathBuf>,
    /// A file of metadata records, one JSON object per line: the documents themselves if there is no lake, otherwise titles
    /// and descriptions of its tables.
    pub corpus: Option<PathBuf>,
}

/// A document that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its file, or file and line.
    pub place: String,
    /// Why.
    pub reason: String,
}

impl Documents {
    /// Passes every document to `each`, in the order of its ids in the folder or file; returns those that could not be
    /// read. A table without a record gets the title, description and tags of its sidecar.
    ///
    /// # Errors
    /// If the folder or the corpus cannot be read at all, and errors of `each`.
    pub fn for_each(&self, mut each: impl FnMut(PlainTable) -> Result<()>) -> Result<Vec<Unread>> {
        let mut unread = Vec::new();
        let Some(lake) = &self.lake else {
            if let Some(corpus) = &self.corpus {
                for_each_record(corpus, &mut unread, each)?;
            }
            return Ok(unread);
        };
        let mut records = HashMap::new();
        if let Some(corpus) = &self.corpus {
            for_each_record(corpus, &mut unread, |record| {
                records.insert(record.id, (record.title, record.description));
                Ok(())
            })?;
        }
        let mut listing = source::list_files(lake)?;
        unread.extend(listing.problems.iter().map(|(path, reason)| unread_at(path, reason)));
        let (mut sidecars, problems) = MetadataIndex::read(lake, &listing.sidecars);
        sidecars.add_described(std::mem::take(&mut listing.described));
        unread.extend(problems.iter().map(|(path, reason)| unread_at(path, reason)));
        for (file, id) in listing.files.iter().zip(source::assign_ids(&listing.files)) {
            let opened = reader::open(file, &ReadOptions::default());
            match opened.and_then(|mut reader| PlainTable::read_from(reader.as_mut(), id.as_str().to_string())) {
                Ok(mut table) => {
                    let described = || sidecars.get(&file.relative).map(described).unwrap_or_default();
                    (table.title, table.description) = records.remove(id.as_str()).unwrap_or_else(described);
                    each(table)?;
                }
                Err(error) => unread.push(unread_at(&file.path, &error.to_string())),
            }
        }
        Ok(unread)
    }
}

/// Title and description of a table from its sidecar, tags as part of the description.
fn described(metadata: &TableMetadata) -> (String, String) {
    let mut description = metadata.description.clone().unwrap_or_default();
    for tag in &metadata.tags {
        description.push(' ');
        description.push_str(tag);
    }
    (metadata.title.clone().unwrap_or_default(), description)
}

fn unread_at(path: &Path, reason: &str) -> Unread {
    Unread { place: path.display().to_string(), reason: reason.to_string() }
}

/// Passes every record of the JSON-lines file `path` to `each`; `.zst` is decompressed.
fn for_each_record(
    path: &Path,
    unread: &mut Vec<Unread>,
    mut each: impl FnMut(PlainTable) -> Result<()>,
) -> Result<()> {
    let mut lines = LineReader::new(lines::open(path)?, MAX_LINE_BYTES);
    while let Some(line) = lines.next_line().map_err(|source| Error::io("read", path, source))? {
        if line.end == LineEnd::TooLong {
            unread.push(unread_line(path, line.number, "a line of more than 16 MB"));
            continue;
        }
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Value>(line.bytes) {
            Ok(value) => match record(&value) {
                Some(record) => each(record)?,
                None => unread.push(unread_line(path, line.number, "no object with an `id`")),
            },
            Err(error) => unread.push(unread_line(path, line.number, &error.to_string())),
        }
    }
    Ok(())
}

fn unread_line(path: &Path, line: usize, reason: &str) -> Unread {
    Unread { place: format!("{}:{line}", path.display()), reason: reason.to_string() }
}

/// A metadata record as a document; all texts in it count, except ids.
fn record(value: &Value) -> Option<PlainTable> {
    let fields = value.as_object()?;
    let id = match fields.get("id")? {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    let title = fields.get("title").and_then(Value::as_str).unwrap_or_default().to_string();
    let mut description = String::new();
    for (name, field) in fields {
        if name != "title" && name != "id" && !name.ends_with("_id") {
            add_words(field, DEEPEST_RECORD, &mut description);
        }
    }
    Some(PlainTable { id, title, description, is_whole: true, ..PlainTable::default() })
}

fn add_words(value: &Value, depth: usize, words: &mut String) {
    if depth == 0 || words.len() >= MAX_RECORD_BYTES {
        return;
    }
    match value {
        Value::String(text) => {
            words.push_str(&text[..text.floor_char_boundary(MAX_RECORD_BYTES)]);
            words.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| add_words(value, depth - 1, words)),
        Value::Object(fields) => fields.values().for_each(|value| add_words(value, depth - 1, words)),
        _ => {}
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use super::*;

    /// A table from its headers and rows.
    pub(in crate::baseline) fn table(id: &str, headers: &[&str], rows: &[&[&str]]) -> PlainTable {
        let column = |at: usize| rows.iter().map(|row| row[at].to_string()).collect();
        PlainTable {
            id: id.to_string(),
            headers: headers.iter().map(ToString::to_string).collect(),
            columns: (0..headers.len()).map(column).collect(),
            is_whole: true,
            ..PlainTable::default()
        }
    }

    #[test]
    fn tables_are_read_with_their_records() {
        let folder = tempfile::tempdir().expect("a folder");
        let lake = folder.path().join("lake");
        fs::create_dir(&lake).expect("a folder");
        fs::write(lake.join("t1.csv"), "City,People\nOslo,700000\nRome,\n").expect("a file");
        fs::write(lake.join("t2.csv"), "").expect("a file");
        let corpus = folder.path().join("corpus.jsonl");
        let records = concat!(
            r#"{"id":"t1","title":"Cities","section":"Europe","source_id":"x_1","tags":["geo",{"a":"b"}],"n":3}"#,
            "\n\nnot json\n[1]\n{\"id\":\"none\",\"title\":\"other\"}\n"
        );
        fs::write(&corpus, records).expect("a file");
        let mut tables = Vec::new();
        let documents = Documents { lake: Some(lake), corpus: Some(corpus.clone()) };
        let unread = documents
            .for_each(|table| {
                tables.push(table);
                Ok(())
            })
            .expect("documents");
        let mut expected = table("t1", &["City", "People"], &[&["Oslo", "700000"], &["Rome", ""]]);
        expected.title = "Cities".into();
        expected.description = "Europe\ngeo\nb\n".into();
        expected.description = sorted_lines(&expected.description);
        tables[0].description = sorted_lines(&tables[0].description);
        assert_eq!(tables, [expected]);
        assert_eq!(unread.len(), 3, "{unread:?}");
        assert!(unread[0].place.ends_with("corpus.jsonl:3") && unread[2].place.ends_with("t2.csv"), "{unread:?}");
        let mut ids = Vec::new();
        let records = Documents { lake: None, corpus: Some(corpus) };
        records
            .for_each(|record| {
                ids.push(record.id);
                Ok(())
            })
            .expect("records");
        assert_eq!(ids, ["t1", "none"]);
    }

    fn sorted_lines(text: &str) -> String {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    #[test]
    fn columns_are_found_as_written_first() {
        let table = table("t", &["name", "Name"], &[]);
        assert_eq!(table.column("Name").expect("a column"), 1);
        assert_eq!(table.column(" NAME ").expect("a column"), 0);
        let error = table.column("nam").expect_err("no such column");
        assert!(error.hint().expect("a hint").contains("`name`"), "{error}");
    }
}
