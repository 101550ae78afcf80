//! Reads the records of one file: lines, a JSON document, or XML.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;

use super::catalogue_records::{Described, RecordFlaw, Records};
use super::dump::{self, Form, Item};
use super::parts::{Unused, UnusedReason};
use super::spool::{self, Spool};
use super::standards::{self, Read as Outcome};
use super::{Dataset, TableMetadata, clean, own_form, xml};
use crate::reader;
use crate::source::{ContentHash, TableId};
use lakeward_core::error::{Error, Result};

/// Longest line of a record, in bytes; a longer line is skipped.
const LONGEST_LINE_BYTES: usize = 16 << 20;
/// Longest id, in bytes.
const LONGEST_ID_BYTES: usize = 256;
/// Most records of one file.
const MOST_RECORDS: usize = 20_000_000;
/// Most bytes read of one file, unpacked.
const MOST_BYTES: u64 = 64 << 30;
/// Lines that are parsed side by side, and their bytes.
const LINES_AT_ONCE: usize = 4096;
const BYTES_AT_ONCE: usize = 32 << 20;
/// Lines or records that cannot be used and are named one by one; where there are more than a few, their number is said before them.
pub(super) const MOST_REPORTED: usize = 100_000;
const FEW: u64 = 5;
/// Why a line is skipped.
enum NoRecord {
    /// It holds no record.
    Line(String),
    /// The disk cannot be written.
    Disk(Error),
}

impl NoRecord {
    fn line(reason: &str) -> Self {
        Self::Line(reason.to_string())
    }
}

impl Records {
    /// Reads the records of the file at `path`, packed or not: lines, a JSON document or XML of a standard known here. `name` is its name
    /// in the manifest.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Unreadable`] where the file cannot be read at all. Lines that are no record are only counted.
    pub fn read(path: &Path, name: &str) -> Result<Self> {
        let name: Arc<str> = name.into();
        let mut records = Records { spool: Arc::new(Spool::of(&name)), ..Records::default() };
        match dump::form(path) {
            Form::Json => return records.with_document(path, &name),
            Form::Xml => return records.with_xml(path, &name),
            Form::Lines => {}
        }
        let input = reader::open_unpacked(path)?;
        let mut input = BufReader::with_capacity(1 << 16, input.take(MOST_BYTES));
        let (mut number, mut bytes, mut ended) = (0u64, 0u64, false);
        while !ended {
            // Lines are parsed on all cores, and taken in their order.
            let (mut lines, mut held) = (Vec::new(), 0);
            let mut failure = None;
            while lines.len() < LINES_AT_ONCE && held < BYTES_AT_ONCE && !ended {
                let mut line = Vec::new();
                match read_line(&mut input, &mut line) {
                    Ok(0) => ended = true,
                    Ok(length) => {
                        bytes += length;
                        held += line.len();
                        lines.push((line, length, lines.is_empty() && number == 0));
                    }
                    Err(error) => (failure, ended) = (Some(error), true),
                }
            }
            let parsed: Vec<_> = lines
                .into_par_iter()
                .map(|(line, length, is_first)| match length > LONGEST_LINE_BYTES as u64 {
                    true => Err(NoRecord::Line(format!("longer than {} KB", LONGEST_LINE_BYTES >> 10))),
                    false => Parsed::of(&line, is_first, &name),
                })
                .collect();
            for parsed in parsed {
                number += 1;
                if records.described.len() >= MOST_RECORDS {
                    records.leave_out(number, &format!("more than {MOST_RECORDS} records; the rest is left out"));
                    (ended, failure) = (true, None);
                    break;
                }
                match parsed.and_then(|parsed| parsed.map_or(Ok(()), |parsed| records.take(parsed))) {
                    Ok(()) => {}
                    Err(NoRecord::Line(reason)) => records.leave_out(number, &reason),
                    Err(NoRecord::Disk(error)) => return Err(error),
                }
            }
            match failure {
                Some(error) if records.described.is_empty() => return Err(Error::io("read", path, error)),
                Some(error) => records.leave_out(number + 1, &format!("the file ends in an error: {error}")),
                None => {}
            }
        }
        if bytes >= MOST_BYTES {
            records.leave_out(number, &format!("only the first {} GB are read", MOST_BYTES >> 30));
        }
        if records.left_out > FEW {
            records.problems.insert(0, format!("{} lines in all hold no record", records.left_out));
        }
        Ok(records)
    }

    fn with_document(mut self, path: &Path, name: &Arc<str>) -> Result<Self> {
        let mut failed = None;
        let mut taken = HashSet::new();
        dump::each_dataset(path, name, &mut |item| {
            let took = match item {
                Item::Dataset { number, dataset, is_renamed } => {
                    self.take_dataset(number, *dataset, name, 0, false, is_renamed.then_some(&mut taken))
                }
                Item::Not { number, reason } => {
                    self.leave_out_of(number, "record", &reason);
                    Ok(())
                }
            };
            failed = took.err();
            failed.is_none()
        })?;
        failed.map_or_else(|| Ok(self.counted()), Err)
    }

    fn with_xml(mut self, path: &Path, name: &Arc<str>) -> Result<Self> {
        let (mut failed, mut number) = (None, 0);
        let ended = xml::each_element(reader::open_text(path)?, &standards::ELEMENTS, |element| {
            number += 1;
            let bytes = element.bytes;
            match standards::of_xml(element) {
                Outcome::Dataset(dataset, is_harvested) => {
                    failed = self.take_dataset(number, *dataset, name, bytes, is_harvested, None).err();
                }
                Outcome::Deleted(id) => {
                    self.described.remove(id.as_str());
                    self.deleted.push(id);
                }
                Outcome::Not(reason) => self.leave_out_of(number, "record", &reason),
            }
            failed.is_none() && number <= MOST_RECORDS as u64
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if number == 0 && ended.early.is_none() {
            return Err(Error::unreadable(path, "it holds no record of a standard known here"));
        }
        if ended.has_entities {
            self.problems.push("it declares entities, which are not expanded".into());
        }
        if number > MOST_RECORDS as u64 {
            self.leave_out_of(number, "record", &format!("more than {MOST_RECORDS} records; the rest is left out"));
        }
        if let Some(early) = ended.early {
            self.leave_out_of(number + 1, "record", &format!("the file ends in an error: {early}"));
        }
        Ok(self.counted())
    }

    fn counted(mut self) -> Self {
        if self.left_out > FEW {
            self.problems.insert(0, format!("{} records in all cannot be used", self.left_out));
        }
        self
    }

    /// What of the records could not be used, by reason.
    pub fn flaws(&self) -> impl Iterator<Item = &RecordFlaw> {
        self.flaws.values()
    }

    fn note_flaws(&mut self, id: &str, unused: &[Unused]) {
        let mut seen: Vec<UnusedReason> = Vec::new();
        for Unused { field, reason, .. } in unused {
            // Nearly every record of some standards has a field without a place; the record says which.
            if *reason == UnusedReason::UnknownField || seen.contains(reason) {
                continue;
            }
            seen.push(*reason);
            let first = || RecordFlaw { reason: *reason, records: 0, first: format!("{id}: {field}") };
            self.flaws.entry(*reason).or_insert_with(first).records += 1;
        }
    }

    fn leave_out(&mut self, number: u64, reason: &str) {
        self.leave_out_of(number, "line", reason);
    }

    fn leave_out_of(&mut self, number: u64, what: &str, reason: &str) {
        self.left_out += 1;
        if self.left_out <= MOST_REPORTED as u64 {
            self.problems.push(format!("{what} {number}: {reason}"));
        }
    }

    /// Stores a dataset of a document of which `bytes` are its own; `renamed` are the ids of such documents in which
    /// datasets may share an id and get new ones.
    fn take_dataset(
        &mut self,
        number: u64,
        mut dataset: Dataset,
        name: &Arc<str>,
        bytes: u64,
        is_harvested: bool,
        renamed: Option<&mut HashSet<String>>,
    ) -> Result<()> {
        if dataset.id.as_deref().is_none_or(|id| id.trim().is_empty()) {
            Unused::note(&mut dataset.whole.unused, "id", UnusedReason::NoId, None);
        }
        let Some(mut id) = id_of(&dataset) else {
            self.leave_out_of(number, "record", "it has no id, identifier or title");
            return Ok(());
        };
        if let Some(taken) = renamed {
            let mut others = (2..).map(|number| format!("{id}~{number}"));
            let free = if taken.contains(&id) { others.find(|id| !taken.contains(id)) } else { None };
            id = free.unwrap_or(id);
            taken.insert(id.clone());
        }
        // A document's bytes cannot be split by dataset, so the metadata read of one is hashed instead.
        let json = serde_json::to_vec(&dataset.whole).map_err(|error| Error::Internal(error.to_string()))?;
        let bytes = if bytes == 0 { json.len() as u64 } else { bytes };
        let content = ContentHash::of_bytes(&json);
        let parsed = Parsed::new(id, dataset, name, bytes, content, is_harvested);
        match parsed.and_then(|parsed| self.take(parsed)) {
            Ok(()) => Ok(()),
            Err(NoRecord::Line(reason)) => {
                self.leave_out_of(number, "record", &reason);
                Ok(())
            }
            Err(NoRecord::Disk(error)) => Err(error),
        }
    }

    fn take(&mut self, parsed: Parsed) -> std::result::Result<(), NoRecord> {
        let Parsed { id, json, unused, files, line_bytes, content, is_harvested } = parsed;
        if self.described.len() >= MOST_RECORDS {
            return Err(NoRecord::Line(format!("more than {MOST_RECORDS} records; the rest is left out")));
        }
        let known = self.described.get(id.as_str());
        if known.is_some_and(|known| !(known.is_harvested && is_harvested)) {
            return Err(NoRecord::Line(format!("`{id}` has a record already")));
        }
        self.replaced += u64::from(known.is_some());
        self.note_flaws(&id, &unused);
        let metadata = Spool::put(&self.spool, &json).map_err(NoRecord::Disk)?;
        let line_bytes = u32::try_from(line_bytes).unwrap_or(u32::MAX);
        let described = Described { metadata, files: files.into(), content, line_bytes, is_harvested };
        self.described.insert(TableId::new(id), Box::new(described));
        Ok(())
    }
}

/// A record that was parsed, to be taken in its order.
struct Parsed {
    id: String,
    /// Its metadata as they are spooled.
    json: Vec<u8>,
    unused: Vec<Unused>,
    /// Names of the files that hold its data.
    files: Vec<String>,
    line_bytes: u64,
    content: ContentHash,
    is_harvested: bool,
}

impl Parsed {
    fn new(
        id: String,
        dataset: Dataset,
        name: &str,
        line_bytes: u64,
        content: ContentHash,
        is_harvested: bool,
    ) -> std::result::Result<Self, NoRecord> {
        let Dataset { whole, files, formats, .. } = dataset;
        let mut metadata = TableMetadata { file: Some(name.to_string()), ..whole };
        metadata.add_formats(formats);
        let json = spool::written(&metadata).map_err(NoRecord::Disk)?;
        let files = dump::file_names(&files);
        Ok(Self { id, json, unused: metadata.unused, files, line_bytes, content, is_harvested })
    }

    /// The record of a line; none of an empty one.
    fn of(line: &[u8], is_first: bool, name: &str) -> std::result::Result<Option<Self>, NoRecord> {
        let line = line.trim_ascii_end();
        let line = if is_first { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let record: Value =
            serde_json::from_slice(line).map_err(|error| NoRecord::Line(format!("not valid JSON: {error}")))?;
        let Value::Object(fields) = &record else { return Err(NoRecord::line("not an object")) };
        if let Some(dataset) = standards::of_json(&record) {
            let Some(id) = id_of(&dataset) else { return Err(NoRecord::line("it has no id, identifier or title")) };
            let content = ContentHash::of_bytes(line);
            return Self::new(id, dataset, name, line.len() as u64, content, false).map(Some);
        }
        let id = match fields.get("id") {
            Some(Value::String(id)) => id.trim().to_string(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return Err(NoRecord::line("it has no `id`")),
        };
        if id.is_empty() || id.len() > LONGEST_ID_BYTES {
            return Err(NoRecord::Line(format!("its `id` is empty or longer than {LONGEST_ID_BYTES} bytes")));
        }
        if id != clean::line(&id) {
            return Err(NoRecord::line("its `id` holds characters that do not show"));
        }
        let content = ContentHash::of_bytes(line);
        let dataset = Dataset { whole: own_form::metadata(&record), ..Dataset::default() };
        Self::new(id, dataset, name, line.len() as u64, content, false).map(Some)
    }
}

/// The id of a dataset: its own, else its identifier, else its title; shortened where it is an address.
fn id_of(dataset: &Dataset) -> Option<String> {
    let named = [dataset.id.as_deref(), dataset.whole.identifier.as_deref(), dataset.whole.title.as_deref()];
    named.into_iter().flatten().map(dump::short_id).find(|id| !id.is_empty())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::TableId;

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
        assert_eq!(records.problems[0], "8 lines in all hold no record");
        assert!(records.problems[1].starts_with("line 2: not valid JSON"));
        assert_eq!(records.problems.len(), 9, "all of them are named");
    }

    #[test]
    fn arbitrary_bytes_do_not_panic() {
        let records = read(&[0xff, 0x00, b'\n', 0xef, 0xbb, 0xbf, b'{', b'}', b'\n', 0xc3]);
        assert_eq!((records.len(), records.left_out), (0, 3));
        assert!(Records::read(Path::new("/nowhere/at/all"), "x").is_err());
    }
}
