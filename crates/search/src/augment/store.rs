//! The questions of a lake's tables as one file of JSON lines in the index folder.
//!
//! The first line names format and version, each other one the questions of one table. While questions are made, lines are
//! appended and flushed every few tables, a later line of a table taking the place of an earlier one; at the end the file is
//! written anew, whole or not at all, one line a table in the order of their ids. A last line cut short by a crash is dropped;
//! anything else that cannot be read is an error with its line, and the file is left as it is.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::tidy;
use super::rules::LONGEST_QUESTION_CHARS;
use super::{FactKind, MOST_QUESTIONS};
use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::store::{
    Bounds, Damage, FileLock, KeyedLines, KeyedRecord, LineRecord, LinesFormat, Links, Purpose, make_folder,
    remove_unfinished,
};

/// The file in the index folder.
pub const FILE_NAME: &str = "pseudo_queries.jsonl";
/// Held by the one process that writes it.
const LOCK_FILE: &str = "pseudo_queries.lock";
static FORMAT: LinesFormat = LinesFormat {
    name: "lakeward_pseudo_queries",
    version: 1,
    purpose: Purpose::Index,
    bounds: Bounds {
        most_bytes: u64::MAX,
        links: Links::Followed,
        damaged: |path, reason| Error::damaged_file(Holds::Questions, path, reason),
    },
    longest_line: 64 << 10,
    most_lines: 8_000_000,
    damage: Damage::Refused,
};
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
    pub unknown: Vec<FactKind>,
    /// What made them: `rules@1`, or the model with name, version and hash of its prompt.
    pub generator: String,
}

impl LineRecord for TableQuestions {
    fn check(&self) -> std::result::Result<(), String> {
        if self.questions.len() > MOST_QUESTIONS {
            return Err(format!("more than {MOST_QUESTIONS} questions"));
        }
        if [&self.id, &self.content, &self.generator].iter().any(|text| text.len() > LONGEST_TEXT_BYTES) {
            return Err("a text is too long".into());
        }
        if self.questions.iter().any(|question| *question != tidy(question, LONGEST_QUESTION_CHARS)) {
            return Err(format!(
                "a question is longer than {LONGEST_QUESTION_CHARS} characters or holds some that do not show"
            ));
        }
        Ok(())
    }
}

impl KeyedRecord for TableQuestions {
    fn key(&self) -> &str {
        &self.id
    }
}

/// The questions of all tables.
#[derive(Debug)]
pub struct QuestionStore {
    tables: KeyedLines<TableQuestions>,
    _lock: Option<FileLock>,
}

impl QuestionStore {
    /// The questions in the index folder `folder`, to be read; none where there is no file yet.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DamagedFile`] with the line that cannot be read, or the version found.
    pub fn open(folder: &Path) -> Result<Self> {
        Ok(Self { tables: KeyedLines::open(&folder.join(FILE_NAME), &FORMAT)?, _lock: None })
    }

    /// The same for the one process that adds to them.
    ///
    /// # Errors
    /// As [`QuestionStore::open`]; [`Error::Locked`] while another process does the same.
    pub fn open_to_write(folder: &Path) -> Result<Self> {
        make_folder(folder)?;
        let lock = FileLock::acquire_file(&folder.join(LOCK_FILE))?;
        remove_unfinished(&folder.join(FILE_NAME));
        Ok(Self { _lock: Some(lock), ..Self::open(folder)? })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.tables.path()
    }

    /// The questions of the table `id`.
    pub fn get(&self, id: &str) -> Option<&TableQuestions> {
        self.tables.get(id)
    }

    /// All of them, by id.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &TableQuestions> {
        self.tables.records()
    }

    /// How many tables have questions.
    pub fn len(&self) -> usize {
        self.tables.records().len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds or replaces the questions of some tables; they are on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses.
    pub fn append(&mut self, made: Vec<TableQuestions>) -> Result<()> {
        self.tables.append(made)?;
        self.tables.sync()
    }

    /// Forgets tables for which `keep` is false; they are gone from the file after [`finish`](Self::finish). How many there were.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) -> u64 {
        self.tables.retain(keep)
    }

    /// Leaves the file with one line a table, in the order of their ids.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses; the file is what it was then.
    pub fn finish(&mut self) -> Result<()> {
        self.tables.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn of(id: &str, question: &str) -> TableQuestions {
        TableQuestions {
            id: id.into(),
            content: "c".into(),
            questions: vec![question.into()],
            unknown: vec![FactKind::Unit],
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
        assert_eq!(again.len(), 2);
    }

    #[test]
    fn one_process_adds_to_them_and_others_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = QuestionStore::open_to_write(folder.path()).unwrap();
        writer.append(vec![of("a", "What is a?")]).unwrap();
        assert!(matches!(QuestionStore::open_to_write(folder.path()), Err(Error::Locked { .. })));
        assert_eq!(QuestionStore::open(folder.path()).unwrap().len(), 1);
        drop(writer);
        assert_eq!(QuestionStore::open_to_write(folder.path()).unwrap().len(), 1);
    }

    #[test]
    fn what_this_program_does_not_write_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let head = "{\"lakeward_pseudo_queries\":1}\n";
        for (text, reason) in [
            (&format!("{head}nonsense\n"), "line 2"),
            (
                &format!(
                    "{head}{{\"id\":\"a\",\"content\":\"\",\"questions\":[\"\\u001b[2J?\"],\"unknown\":[],\"generator\":\"\"}}\n"
                ),
                "line 2",
            ),
            (&format!("{head}{}\n", "x".repeat(FORMAT.longest_line as usize + 10)), "longer than 64 KB"),
        ] {
            fs::write(&path, text).unwrap();
            let error = QuestionStore::open(folder.path()).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            assert!(error.hint().is_some());
        }
    }
}
