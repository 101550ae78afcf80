//! The questions of a lake's tables as one file of JSON lines in the index folder.
//!
//! The first line names format and version, each other one the questions of one table. While questions are made, lines are
//! appended and flushed every few tables, a later line of a table taking the place of an earlier one; at the end the file is
//! written anew, whole or not at all, one line a table in the order of their ids. A last line cut short by a crash is dropped;
//! anything else that cannot be read is an error with its line, and the file is left as it is.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::tidy;
use super::rules::LONGEST_QUESTION_CHARS;
use super::{Facet, MOST_QUESTIONS};
use lakeward_core::error::{Error, Result};
use lakeward_index::manifest::sync_folder;

/// The file in the index folder.
pub const FILE_NAME: &str = "pseudo_queries.jsonl";
/// Its format version.
pub const VERSION: u64 = 1;
/// Files in the making begin with this.
const SCRATCH_PREFIX: &str = ".pseudo_queries-";
/// Longest line, in bytes.
const LONGEST_LINE_BYTES: u64 = 64 << 10;
/// Lines of one file at the most.
const MOST_LINES: usize = 8_000_000;
/// Bytes of the texts of a line that are no question.
const LONGEST_TEXT_BYTES: usize = 4096;

/// The questions of one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableQuestions {
    /// The table's id.
    pub id: String,
    /// Hash of the facts that they were made from.
    pub content: String,
    /// The questions, at most ten.
    pub questions: Vec<String>,
    /// Facets that the facts leave open.
    pub unknown: Vec<Facet>,
    /// What made them: `rules@1`, or the model with name, version and hash of its prompt.
    pub generator: String,
}

#[derive(Serialize, Deserialize)]
struct Head {
    lakeward_pseudo_queries: u64,
}

/// The questions of all tables.
#[derive(Debug)]
pub struct QuestionStore {
    path: PathBuf,
    tables: BTreeMap<String, TableQuestions>,
    /// Open while lines are appended.
    appending: Option<File>,
    /// Whether the file is not one line a table in order.
    is_loose: bool,
}

impl QuestionStore {
    /// The questions in the index folder `folder`; none where there is no file yet.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DamagedQuestions`] with the line that cannot be read, or the version found.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        let mut store = Self { path, tables: BTreeMap::new(), appending: None, is_loose: false };
        match File::open(&store.path) {
            Ok(file) => store.read(BufReader::with_capacity(1 << 16, file))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => store.is_loose = true,
            Err(error) => return Err(Error::io("read", &store.path, error)),
        }
        Ok(store)
    }

    fn read(&mut self, mut input: impl BufRead) -> Result<()> {
        let mut line = Vec::new();
        for number in 1..=MOST_LINES {
            line.clear();
            let length = (&mut input)
                .take(LONGEST_LINE_BYTES + 1)
                .read_until(b'\n', &mut line)
                .map_err(|error| Error::io("read", &self.path, error))?;
            if length == 0 {
                return if number == 1 { Err(self.damaged(1, "the file is empty")) } else { Ok(()) };
            }
            let ended = line.pop_if(|last| *last == b'\n').is_some();
            if !ended && length as u64 > LONGEST_LINE_BYTES {
                return Err(self.damaged(number, &format!("longer than {} KB", LONGEST_LINE_BYTES >> 10)));
            }
            if number == 1 {
                self.check_head(&line)?;
                continue;
            }
            if !ended {
                // The run that wrote it was killed; its table is made again.
                self.is_loose = true;
                return Ok(());
            }
            let questions = parse(&line).map_err(|reason| self.damaged(number, &reason))?;
            let follows = self.tables.last_key_value().is_none_or(|(last, _)| *last < questions.id);
            self.is_loose |= !follows;
            self.tables.insert(questions.id.clone(), questions);
        }
        Err(self.damaged(MOST_LINES, "too many lines"))
    }

    fn check_head(&self, line: &[u8]) -> Result<()> {
        let head: Head = serde_json::from_slice(line)
            .map_err(|_| self.damaged(1, "it does not begin with `{\"lakeward_pseudo_queries\": 1}`"))?;
        match head.lakeward_pseudo_queries {
            VERSION => Ok(()),
            found => Err(self.damaged(1, &format!("format version {found}; this program reads version {VERSION}"))),
        }
    }

    fn damaged(&self, line: usize, reason: &str) -> Error {
        Error::DamagedQuestions { path: self.path.clone(), reason: format!("line {line}: {reason}") }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The questions of the table `id`.
    pub fn get(&self, id: &str) -> Option<&TableQuestions> {
        self.tables.get(id)
    }

    /// All of them, by id.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &TableQuestions> {
        self.tables.values()
    }

    /// How many tables have questions.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Adds or replaces the questions of some tables; they are on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses.
    pub fn append(&mut self, made: Vec<TableQuestions>) -> Result<()> {
        if self.appending.is_none() {
            if self.is_loose {
                self.write_whole()?;
            }
            let opened = OpenOptions::new().append(true).open(&self.path);
            self.appending = Some(opened.map_err(|error| Error::io("write", &self.path, error))?);
        }
        let mut lines = Vec::new();
        for questions in &made {
            lines.extend(line(questions)?);
        }
        if let Some(file) = &mut self.appending {
            let written = file.write_all(&lines).and_then(|()| file.sync_data());
            written.map_err(|error| Error::io("write", &self.path, error))?;
        }
        self.is_loose = true;
        self.tables.extend(made.into_iter().map(|questions| (questions.id.clone(), questions)));
        Ok(())
    }

    /// Forgets tables for which `keep` is false; they are gone from the file after [`finish`](Self::finish). How many there were.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) -> u64 {
        let before = self.tables.len();
        self.tables.retain(|id, _| keep(id));
        let gone = before - self.tables.len();
        self.is_loose |= gone > 0;
        gone as u64
    }

    /// Leaves the file with one line a table, in the order of their ids.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses; the file is what it was then.
    pub fn finish(&mut self) -> Result<()> {
        self.appending = None;
        if self.is_loose { self.write_whole() } else { Ok(()) }
    }

    fn write_whole(&mut self) -> Result<()> {
        let failed = |error| Error::io("write", &self.path, error);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        let file = tempfile::Builder::new().prefix(SCRATCH_PREFIX).tempfile_in(folder).map_err(failed)?;
        let mut out = BufWriter::new(file);
        let head = serde_json::to_string(&Head { lakeward_pseudo_queries: VERSION }).map_err(internal)?;
        writeln!(out, "{head}").map_err(failed)?;
        for questions in self.tables.values() {
            out.write_all(&line(questions)?).map_err(failed)?;
        }
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        sync_folder(folder)?;
        self.is_loose = false;
        Ok(())
    }
}

fn internal(error: serde_json::Error) -> Error {
    Error::Internal(error.to_string())
}

fn line(questions: &TableQuestions) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(questions).map_err(internal)?;
    line.push(b'\n');
    Ok(line)
}

/// The questions of a line, if it is one that this program could have written: what another hand put there is shown to people
/// and indexed.
fn parse(line: &[u8]) -> std::result::Result<TableQuestions, String> {
    let questions: TableQuestions =
        serde_json::from_slice(line).map_err(|error| format!("no table's questions: {error}"))?;
    if questions.questions.len() > MOST_QUESTIONS {
        return Err(format!("more than {MOST_QUESTIONS} questions"));
    }
    if [&questions.id, &questions.content, &questions.generator].iter().any(|text| text.len() > LONGEST_TEXT_BYTES) {
        return Err("a text is too long".into());
    }
    if questions.questions.iter().any(|question| *question != tidy(question, LONGEST_QUESTION_CHARS)) {
        return Err(format!(
            "a question is longer than {LONGEST_QUESTION_CHARS} characters or holds some that do not show"
        ));
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: &str, question: &str) -> TableQuestions {
        TableQuestions {
            id: id.into(),
            content: "c".into(),
            questions: vec![question.into()],
            unknown: vec![Facet::Unit],
            generator: "rules@1".into(),
        }
    }

    #[test]
    fn what_is_appended_is_there_and_the_end_is_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = QuestionStore::open(folder.path()).unwrap();
        store.append(vec![of("b", "What is b?"), of("c", "What is c?")]).unwrap();
        store.append(vec![of("a", "What is a?"), of("b", "What is b now?")]).unwrap();
        // As a killed run leaves it.
        let killed = QuestionStore::open(folder.path()).unwrap();
        assert_eq!(killed.tables().map(|table| table.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(killed.get("b").unwrap().questions, ["What is b now?"]);
        assert_eq!(store.retain(|id| id != "c"), 1);
        store.finish().unwrap();
        let text = fs::read_to_string(store.path()).unwrap();
        assert_eq!(text.lines().count(), 3);
        let again = QuestionStore::open(folder.path()).unwrap();
        assert!(!again.is_loose);
        assert_eq!(again.len(), 2);
    }

    #[test]
    fn a_last_line_cut_short_is_dropped_and_others_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let mut store = QuestionStore::open(folder.path()).unwrap();
        store.append(vec![of("a", "What is a?"), of("b", "What is b?")]).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in whole.len() - 20..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut store = QuestionStore::open(folder.path()).unwrap();
            assert_eq!(store.len(), 1, "{cut}");
            store.append(vec![of("c", "What is c?")]).unwrap();
            assert_eq!(QuestionStore::open(folder.path()).unwrap().len(), 2);
        }
        let head = "{\"lakeward_pseudo_queries\":1}\n";
        for (text, reason) in [
            ("", "line 1: the file is empty"),
            ("{\"lakeward_pseudo_queries\": 7}\n", "version 7"),
            ("id,question\n", "line 1"),
            (&format!("{head}nonsense\n"), "line 2"),
            (
                &format!(
                    "{head}{{\"id\":\"a\",\"content\":\"\",\"questions\":[\"\\u001b[2J?\"],\"unknown\":[],\"generator\":\"\"}}\n"
                ),
                "line 2",
            ),
            (&format!("{head}{}\n", "x".repeat(LONGEST_LINE_BYTES as usize + 10)), "longer than 64 KB"),
        ] {
            fs::write(&path, text).unwrap();
            let error = QuestionStore::open(folder.path()).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            assert!(error.hint().is_some());
        }
    }
}
