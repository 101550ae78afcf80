//! Records of a catalogue: one JSON object per line, `{"id", "title", "description", "tags", "author", "date", "section", …}`.
//!
//! A record describes a table if its id is the table's id, or the table's file name without extensions where only one table
//! has that name; any other record describes data that is not in the lake. Values under unknown keys are appended to the
//! description as text, so that search finds them: portals have many names for the same things. Keys of identifiers and
//! addresses are left out.
//!
//! The file is not trusted: each line is read up to a bound and parsed alone; a line that is no record is skipped, counted
//! and reported with its number.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::dump::{self, Dumped};
use super::record_facets::{Fields, is_address};
use super::spool::{Spool, Spooled};
use super::{Standard, TableMetadata, clean, value};
use crate::reader;
use crate::source::{ContentHash, Origin, TableId};
use lakeward_core::error::{Error, Result};

/// Longest line of a record, in bytes; a longer line is skipped.
const LONGEST_LINE_BYTES: usize = 1 << 20;
/// Longest id, in bytes.
const LONGEST_ID_BYTES: usize = 256;
/// Most records of one file.
const MOST_RECORDS: usize = 2_000_000;
/// Most bytes read of one file, unpacked.
const MOST_BYTES: u64 = 4 << 30;
/// Skipped lines that are reported one by one.
const MOST_REPORTED: usize = 5;
/// Bytes of text taken from unknown keys.
const OTHER_TEXT_BYTES: usize = 4096;
/// Nesting depth down to which texts under such a key are searched.
const MOST_DEPTH: usize = 4;

/// Keys that become a field of [`TableMetadata`].
const KNOWN: [(Meaning, &[&str]); 12] = [
    (Meaning::Title, &["title", "name"]),
    (Meaning::Section, &["section"]),
    (Meaning::Description, &["description", "notes", "abstract", "summary"]),
    (Meaning::Tags, &["tags", "keywords", "keyword", "themes", "theme", "subjects"]),
    (Meaning::Publisher, &["author", "authors", "publisher", "creator", "organization", "organisation"]),
    (Meaning::Date, &["date", "issued", "published"]),
    (Meaning::Modified, &["modified", "updated"]),
    (Meaning::Licence, &["license", "licence"]),
    (Meaning::Identifier, &["doi", "identifier"]),
    (Meaning::Address, &["url", "landingPage", "landing_page", "link"]),
    (Meaning::Spatial, &["spatial"]),
    (Meaning::Temporal, &["temporal"]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Title,
    Section,
    Description,
    Tags,
    Publisher,
    Date,
    Modified,
    Licence,
    Identifier,
    Address,
    Spatial,
    Temporal,
}

/// The records of one file.
#[derive(Debug, Default)]
pub struct Records {
    spool: Arc<Spool>,
    described: BTreeMap<String, Described>,
    /// Number of lines that hold no record.
    pub left_out: u64,
    /// Reasons for the first of them, and problems of the file.
    pub problems: Vec<String>,
}

#[derive(Debug)]
struct Described {
    /// The file it is from.
    name: Arc<str>,
    metadata: Spooled,
    /// Names of the files that hold its data, where the record gives them.
    files: Vec<String>,
    line_bytes: u64,
    content: ContentHash,
}

/// Why a line is skipped.
enum Unused {
    /// It holds no record.
    Line(String),
    /// The disk cannot be written.
    Disk(Error),
}

impl Unused {
    fn line(reason: &str) -> Self {
        Self::Line(reason.to_string())
    }
}

/// A record that describes no table of the lake.
#[derive(Debug)]
pub struct CatalogueRecord {
    /// Its id.
    pub id: TableId,
    /// The file of the catalogue, as the manifest names it.
    pub catalogue: Arc<str>,
    /// Bytes of its line.
    pub read_bytes: u64,
    metadata: Spooled,
    /// Hash of its line.
    pub content: ContentHash,
}

impl Records {
    /// Reads the records of the file at `path`, packed or not: lines, or a JSON document of CKAN or DCAT. `name` is its name in
    /// the manifest.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Unreadable`] where the file cannot be read at all. Lines that are no record are only counted.
    pub fn read(path: &Path, name: &str) -> Result<Self> {
        let mut records = Records::default();
        let name: Arc<str> = name.into();
        if dump::is_document(path) {
            records.take_datasets(dump::read(path, &name)?, &name)?;
            return Ok(records);
        }
        let input = reader::open_unpacked(path)?;
        let mut input = BufReader::with_capacity(1 << 16, input.take(MOST_BYTES));
        let (mut line, mut number, mut bytes) = (Vec::new(), 0u64, 0u64);
        loop {
            line.clear();
            number += 1;
            let length = match read_line(&mut input, &mut line) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if records.described.is_empty() => return Err(Error::io("read", path, error)),
                Err(error) => {
                    records.leave_out(number, &format!("the file ends in an error: {error}"));
                    break;
                }
            };
            bytes += length;
            if records.described.len() >= MOST_RECORDS {
                records.leave_out(number, &format!("more than {MOST_RECORDS} records; the rest is left out"));
                break;
            }
            if length > LONGEST_LINE_BYTES as u64 {
                records.leave_out(number, &format!("longer than {} KB", LONGEST_LINE_BYTES >> 10));
            } else if let Err(unused) = records.take_line(&line, number == 1, &name) {
                match unused {
                    Unused::Line(reason) => records.leave_out(number, &reason),
                    Unused::Disk(error) => return Err(error),
                }
            }
        }
        if bytes >= MOST_BYTES {
            records.leave_out(number, &format!("only the first {} GB are read", MOST_BYTES >> 30));
        }
        if records.left_out > MOST_REPORTED as u64 {
            records.problems.push(format!("{} lines in all hold no record", records.left_out));
        }
        Ok(records)
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.described.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.described.is_empty()
    }

    fn leave_out(&mut self, number: u64, reason: &str) {
        self.left_out += 1;
        if self.left_out <= MOST_REPORTED as u64 {
            self.problems.push(format!("line {number}: {reason}"));
        }
    }

    fn take_line(&mut self, line: &[u8], is_first: bool, name: &Arc<str>) -> std::result::Result<(), Unused> {
        let line = line.trim_ascii_end();
        let line = if is_first { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let record: Value =
            serde_json::from_slice(line).map_err(|error| Unused::Line(format!("not valid JSON: {error}")))?;
        let Value::Object(fields) = &record else { return Err(Unused::line("not an object")) };
        let id = match fields.get("id") {
            Some(Value::String(id)) => id.trim().to_string(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return Err(Unused::line("it has no `id`")),
        };
        if id.is_empty() || id.len() > LONGEST_ID_BYTES {
            return Err(Unused::Line(format!("its `id` is empty or longer than {LONGEST_ID_BYTES} bytes")));
        }
        if id != clean::line(&id) {
            return Err(Unused::line("its `id` holds characters that do not show"));
        }
        if self.described.contains_key(&id) {
            return Err(Unused::Line(format!("`{id}` has a record already")));
        }
        let content = ContentHash::of_bytes(line);
        let metadata = TableMetadata { file: Some(name.to_string()), ..metadata(&record) };
        let metadata = Spool::put(&self.spool, &metadata).map_err(Unused::Disk)?;
        let name = Arc::clone(name);
        self.described
            .insert(id, Described { name, metadata, files: Vec::new(), line_bytes: line.len() as u64, content });
        Ok(())
    }

    fn take_datasets(&mut self, datasets: Vec<Dumped>, name: &Arc<str>) -> Result<()> {
        for (number, Dumped { id, metadata, files }) in datasets.into_iter().enumerate() {
            if self.described.len() >= MOST_RECORDS {
                self.left_out += 1;
                self.problems.push(format!("more than {MOST_RECORDS} records; the rest of `{name}` is left out"));
                return Ok(());
            }
            if self.described.contains_key(&id) {
                self.leave_out(number as u64 + 1, &format!("`{id}` has a record already"));
                continue;
            }
            // A document's bytes cannot be split by dataset, so the metadata read of one is hashed instead.
            let json = serde_json::to_vec(&metadata).map_err(|error| Error::Internal(error.to_string()))?;
            let (content, line_bytes) = (ContentHash::of_bytes(&json), json.len() as u64);
            let metadata = Spool::put(&self.spool, &metadata)?;
            self.described.insert(id, Described { name: Arc::clone(name), metadata, files, line_bytes, content });
        }
        Ok(())
    }

    /// Adds the records of another file; of two with the same id the first is kept.
    pub fn append(&mut self, other: Records) {
        self.left_out += other.left_out;
        self.problems.extend(other.problems);
        for (id, record) in other.described {
            match self.described.entry(id) {
                Entry::Vacant(place) => _ = place.insert(record),
                Entry::Occupied(known) => {
                    self.left_out += 1;
                    if self.problems.len() < MOST_REPORTED {
                        self.problems.push(format!("`{}` has a record already", known.key()));
                    }
                }
            }
        }
    }

    /// Removes the records of datasets that have a file in the lake: `files` are the names of the lake's files.
    pub fn without_files_in(&mut self, files: &HashSet<String>) {
        self.described.retain(|_, record| !record.files.iter().any(|file| files.contains(file)));
    }

    /// Assigns each record to the table that it describes. Returns the metadata by table, for the tables `ids`, and the records
    /// that describe none of them, in the order of their ids.
    ///
    /// # Errors
    /// As [`CatalogueRecord::metadata`].
    pub fn divide(self, ids: &[TableId]) -> Result<(HashMap<TableId, TableMetadata>, Vec<CatalogueRecord>)> {
        let Records { mut described, .. } = self;
        let mut stems: HashMap<&str, Option<&TableId>> = HashMap::new();
        for id in ids {
            let stem = id.as_str().rsplit('/').next().unwrap_or(id.as_str());
            // Several tables have this name: it is unknown which one a record means.
            stems.entry(stem).and_modify(|owner| *owner = None).or_insert(Some(id));
        }
        let mut of_tables = HashMap::new();
        let known: HashSet<&str> = ids.iter().map(TableId::as_str).collect();
        for id in ids {
            if let Some(record) = described.remove(id.as_str()) {
                of_tables.insert(id.clone(), record.metadata.metadata()?);
            }
        }
        let mut rest = Vec::new();
        for (id, record) in described {
            match stems.get(id.as_str()).copied().flatten() {
                Some(table) if !of_tables.contains_key(table) => {
                    of_tables.insert(table.clone(), record.metadata.metadata()?);
                }
                _ if known.contains(id.as_str()) => {}
                _ => rest.push(CatalogueRecord::new(id, record)),
            }
        }
        Ok((of_tables, rest))
    }
}

impl CatalogueRecord {
    /// Its metadata.
    ///
    /// # Errors
    /// [`Error::Io`] where the folder for temporary files fails.
    pub fn metadata(&self) -> Result<TableMetadata> {
        self.metadata.metadata()
    }

    /// Hash of its metadata, as JSON.
    pub fn metadata_hash(&self) -> u64 {
        self.metadata.hash
    }

    /// Where it is listed.
    pub fn origin(&self) -> Origin<'_> {
        Origin::Record { catalogue: &self.catalogue, id: self.id.as_str() }
    }

    fn new(id: String, record: Described) -> Self {
        let Described { name, metadata, line_bytes, content, .. } = record;
        Self { id: TableId::new(id), catalogue: name, read_bytes: line_bytes, metadata, content }
    }
}

/// Reads a line with its end into `line`, of a longer one only [`LONGEST_LINE_BYTES`] + 1 bytes. Returns its whole length.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<u64> {
    let mut length = 0;
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(length);
        }
        let end = piece.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let taken = end.unwrap_or(piece.len());
        let room = (LONGEST_LINE_BYTES + 1).saturating_sub(line.len());
        line.extend_from_slice(&piece[..taken.min(room)]);
        input.consume(taken);
        length += taken as u64;
        if end.is_some() {
            return Ok(length);
        }
    }
}

fn metadata(record: &Value) -> TableMetadata {
    let line = |meaning| value::line(record, names(meaning));
    let title = match (line(Meaning::Title), line(Meaning::Section)) {
        (Some(title), Some(section)) => Some(clean::line(&format!("{title} — {section}"))),
        (title, section) => title.or(section),
    };
    let mut description = value::paragraphs(record, names(Meaning::Description)).unwrap_or_default();
    let other = other_text(record);
    if !other.is_empty() {
        let separator = if description.is_empty() { "" } else { "\n" };
        description = clean::paragraphs(&format!("{description}{separator}{other}"));
    }
    let fields = record.as_object().map(|record| Fields::of(record, is_facet)).unwrap_or_default();
    TableMetadata {
        title,
        description: Some(description).filter(|text| !text.is_empty()),
        tags: value::tags(record, names(Meaning::Tags)),
        publisher: line(Meaning::Publisher),
        licence: line(Meaning::Licence),
        identifier: value::identifier(record, names(Meaning::Identifier)),
        source_url: line(Meaning::Address),
        issued: line(Meaning::Date),
        modified: line(Meaning::Modified),
        spatial: value::places(record, names(Meaning::Spatial)),
        temporal: value::period(record, names(Meaning::Temporal)),
        facets: fields.facets,
        first_year: fields.first_year,
        last_year: fields.last_year,
        standard: Some(Standard::Record),
        ..TableMetadata::default()
    }
}

fn names(meaning: Meaning) -> &'static [&'static str] {
    KNOWN.iter().find(|(known, _)| *known == meaning).map_or(&[], |(_, names)| names)
}

/// Whether the field `name` is stored as a facet: unknown fields are, and those of authors, of whom there may be several.
fn is_facet(name: &str) -> bool {
    let known = KNOWN.iter().filter(|(meaning, _)| *meaning != Meaning::Publisher);
    known.flat_map(|(_, names)| names.iter()).all(|known| !known.eq_ignore_ascii_case(name))
}

/// The texts under unknown keys, one key per line.
fn other_text(record: &Value) -> String {
    let mut text = String::new();
    for (key, value) in record.as_object().into_iter().flatten() {
        let lower = value::local_name(key).to_lowercase();
        if is_address(&lower)
            || KNOWN.iter().any(|(_, names)| names.iter().any(|name| name.eq_ignore_ascii_case(&lower)))
        {
            continue;
        }
        let mut line = String::new();
        add_texts(value, MOST_DEPTH, &mut line);
        if !line.is_empty() && text.len() < OTHER_TEXT_BYTES {
            text.push_str(&format!("{key}: {line}\n"));
        }
    }
    text
}

fn add_texts(value: &Value, depth: usize, line: &mut String) {
    if depth == 0 || line.len() > OTHER_TEXT_BYTES {
        return;
    }
    match value {
        Value::String(text) => {
            let separator = if line.is_empty() { "" } else { "; " };
            line.push_str(separator);
            line.push_str(&text[..text.floor_char_boundary(OTHER_TEXT_BYTES)]);
        }
        Value::Array(list) => list.iter().for_each(|item| add_texts(item, depth - 1, line)),
        Value::Object(map) => map.values().for_each(|item| add_texts(item, depth - 1, line)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Records {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Records::read(file.path(), "records.jsonl").unwrap()
    }

    #[test]
    fn a_record_describes_the_table_of_its_name() {
        let text = r#"{"id": "t1", "title": "Niger", "section": "Airports", "description": "Where planes land", "tags": "air; land",
            "author": {"name": "ICAO"}, "date": "2020-01-02", "source_id": "Niger_0", "geography": {"members": ["Niamey"]}}"#;
        let records = read(text.replace('\n', " ").as_bytes());
        assert_eq!((records.len(), records.left_out), (1, 0));
        let (tables, rest) = records.divide(&[TableId::new("world/t1")]).unwrap();
        assert!(rest.is_empty());
        let metadata = &tables[&TableId::new("world/t1")];
        assert_eq!(metadata.title.as_deref(), Some("Niger — Airports"));
        assert_eq!(metadata.tags, ["air", "land"]);
        assert_eq!(metadata.publisher.as_deref(), Some("ICAO"));
        assert_eq!(metadata.description.as_deref(), Some("Where planes land\ngeography: Niamey"));
    }

    #[test]
    fn a_record_named_like_two_tables_describes_neither() {
        let ids = ["a/x", "b/x"].map(TableId::new);
        let (tables, rest) = read(br#"{"id": "x"}"#).divide(&ids).unwrap();
        assert!(tables.is_empty());
        assert_eq!(rest[0].origin().to_string(), "records.jsonl//x");
    }

    #[test]
    fn bad_lines_are_counted_with_their_numbers() {
        let long = format!(r#"{{"id": "long", "title": "{}"}}"#, "x".repeat(LONGEST_LINE_BYTES));
        let deep = format!(r#"{{"id": "deep", "x": {}1{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
        let lines = [
            "\u{FEFF}{\"id\": 7}",
            "{",
            "[1]",
            "{\"title\": 1}",
            "{\"id\": \"a\\u202eb\"}",
            "{\"id\": \"7\"}",
            "",
            &long,
            &deep,
            "{\"id\": {}}",
            "{\"id\": \"last\", \"title\": [null, {\"en\": \"Last\"}], \"tags\": 5}",
        ];
        let records = read(lines.join("\n").as_bytes());
        assert_eq!((records.len(), records.left_out), (2, 8), "{:?}", records.problems);
        assert!(records.problems[0].starts_with("line 2: not valid JSON"));
        assert_eq!(records.problems.last().unwrap(), "8 lines in all hold no record");
    }

    #[test]
    fn arbitrary_bytes_do_not_panic() {
        let records = read(&[0xff, 0x00, b'\n', 0xef, 0xbb, 0xbf, b'{', b'}', b'\n', 0xc3]);
        assert_eq!((records.len(), records.left_out), (0, 3));
        assert!(Records::read(Path::new("/nowhere/at/all"), "x").is_err());
    }
}
