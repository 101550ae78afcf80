//! What users know of tables beside their publishers: titles, descriptions and words on columns, and synonyms.
//!
//! Notes are a file of their own beside the index, so a rebuilt index has them and none has to be built for them; synonyms are settings.
//! Nothing here searches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::store::{
    Bounds, Damage, FileLock, KeyedLines, KeyedRecord, LineRecord, LinesFormat, Links, Purpose, remove_unfinished,
};
use lakeward_core::text::{name_words, shown};

/// Name of the file in the folder of the index.
pub const FILE_NAME: &str = "notes.jsonl";
/// Characters of a table's id, of a title or a column's name, of a text on a column, of a description.
const ID_CHARS: usize = 1_000;
const TITLE_CHARS: usize = 300;
const COLUMN_CHARS: usize = 1_000;
const DESCRIPTION_CHARS: usize = 4_000;
/// Columns of a table that have a note.
const MOST_COLUMNS: usize = 512;
/// Tables that have a note, and terms with synonyms.
const MOST_TABLES: usize = 50_000;
const MOST_TERMS: usize = 2_000;
/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(5);
/// Wordings of a text beside itself.
const MOST_WORDINGS: usize = 4;

static FORMAT: LinesFormat = LinesFormat {
    name: "lakeward_notes",
    version: 1,
    purpose: Purpose::Index,
    bounds: Bounds {
        most_bytes: 64 << 20,
        links: Links::Refused,
        damaged: |path, reason| Error::damaged_file(Holds::Notes, path, reason),
    },
    longest_line: 4 << 20,
    most_lines: 2 * MOST_TABLES,
    damage: Damage::Refused,
};

/// What a user says of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TableNote {
    /// The table's id.
    pub table: String,
    /// The title that the user gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the user says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the user says of columns, by their names: another name, a meaning.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
}

impl TableNote {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.title.is_none() && self.description.is_none() && self.columns.is_empty()
    }

    /// Title and description.
    pub fn about(&self) -> String {
        self.title.iter().chain(&self.description).map(String::as_str).collect::<Vec<_>>().join(": ")
    }

    /// All that it says, in one text.
    pub fn text(&self) -> String {
        let columns = self.columns.iter().map(|(name, text)| format!("{}: {text}", name_words(name).join(" ")));
        let about = Some(self.about()).filter(|about| !about.is_empty());
        about.into_iter().chain(columns).collect::<Vec<_>>().join(". ")
    }
}

impl LineRecord for TableNote {
    fn check(&self) -> std::result::Result<(), String> {
        let fits = |text: &str, most: usize| !text.is_empty() && shown(text, most) == text;
        let columns = self.columns.iter().all(|(name, text)| !name.is_empty() && fits(text, COLUMN_CHARS));
        let all = fits(&self.table, ID_CHARS)
            && self.title.as_deref().is_none_or(|text| fits(text, TITLE_CHARS))
            && self.description.as_deref().is_none_or(|text| fits(text, DESCRIPTION_CHARS))
            && columns
            && self.columns.len() <= MOST_COLUMNS;
        if all { Ok(()) } else { Err("a text of a note is empty, too long, or does not show".into()) }
    }
}

impl KeyedRecord for TableNote {
    fn key(&self) -> &str {
        &self.table
    }
}

/// A part of a note that is written or, without a text, removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteEdit {
    /// The title.
    Title(Option<String>),
    /// The description.
    Description(Option<String>),
    /// The text on a column.
    Column(String, Option<String>),
    /// All of it.
    Remove,
}

/// The notes on the tables of a lake.
#[derive(Debug, Default, Clone)]
pub struct Notes(BTreeMap<String, TableNote>);

impl Notes {
    /// The notes of the lake whose index is in `folder`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DamagedFile`] for a file of another version, a damaged or too large one.
    pub fn read(folder: &Path) -> Result<Self> {
        let lines = KeyedLines::open(&path(folder), &FORMAT)?;
        Ok(Self(lines.records().map(|note: &TableNote| (note.table.clone(), note.clone())).collect()))
    }

    /// The note on a table.
    pub fn of(&self, table: &str) -> Option<&TableNote> {
        self.0.get(table)
    }

    /// All notes, by table.
    pub fn all(&self) -> impl ExactSizeIterator<Item = &TableNote> {
        self.0.values()
    }

    /// Changes the note on `table` and returns it; an empty one is removed. Several writers wait for each other.
    ///
    /// # Errors
    /// Those of [`Notes::read`]; [`Error::Usage`] for texts that are too long or too many.
    pub fn change(folder: &Path, table: &str, edits: Vec<NoteEdit>) -> Result<TableNote> {
        let path = path(folder);
        let _lock = FileLock::wait(&path.with_extension("lock"), PATIENCE)?;
        remove_unfinished(&path);
        let mut lines = KeyedLines::open(&path, &FORMAT)?;
        let mut note =
            lines.get(table).cloned().unwrap_or_else(|| TableNote { table: table.into(), ..TableNote::default() });
        for edit in edits {
            let written = |text: Option<String>, most| text.map(|text| line_of(&text, most)).transpose();
            match edit {
                NoteEdit::Title(text) => note.title = written(text, TITLE_CHARS)?,
                NoteEdit::Description(text) => note.description = written(text, DESCRIPTION_CHARS)?,
                NoteEdit::Column(name, text) => match written(text, COLUMN_CHARS)? {
                    Some(text) => _ = note.columns.insert(name, text),
                    None => _ = note.columns.remove(&name),
                },
                NoteEdit::Remove => note = TableNote { table: table.into(), ..TableNote::default() },
            }
        }
        note.check().map_err(|reason| Error::usage(format!("the note on `{table}`: {reason}")))?;
        if lines.get(table).is_none() && lines.records().len() >= MOST_TABLES {
            return Err(Error::usage(format!("there are notes on {MOST_TABLES} tables: remove one first")));
        }
        if note.is_empty() {
            lines.retain(|known| known != table);
        } else if lines.get(table) != Some(&note) {
            lines.append(vec![note.clone()])?;
        }
        lines.finish()?;
        Ok(note)
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

/// A text on one line, without what does not show.
fn line_of(text: &str, most: usize) -> Result<String> {
    let line = shown(text.trim(), usize::MAX);
    match line.chars().count() {
        0 => Err(Error::usage("a note needs words")),
        count if count > most => {
            Err(Error::usage(format!("this text has {count} characters; a note has at most {most}")))
        }
        _ => Ok(line),
    }
}

/// Terms with other words for them: `GDP` with `gross domestic product`.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Synonyms(BTreeMap<String, Vec<String>>);

impl Synonyms {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is wrong with them, if anything.
    ///
    /// # Errors
    /// [`Error::Usage`] for a term or synonym without words, a too long one, or too many terms.
    pub fn check(&self) -> Result<()> {
        let wrong = |text: &&String| name_words(text).is_empty() || text.chars().count() > TITLE_CHARS;
        if let Some(text) = self.0.iter().flat_map(|(term, others)| std::iter::once(term).chain(others)).find(wrong) {
            return Err(Error::usage(format!("synonyms: `{}` has no words, or too many", shown(text, 80))));
        }
        match self.0.len() > MOST_TERMS {
            true => Err(Error::usage(format!("synonyms: more than {MOST_TERMS} terms"))),
            false => Ok(()),
        }
    }

    /// Other wordings of `text`: each with one run of its words replaced by a synonym, with that synonym; at most four.
    pub fn wordings(&self, text: &str) -> Vec<(String, String)> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let keys: Vec<Vec<String>> = words.iter().map(|word| name_words(word)).collect();
        let mut wordings = Vec::new();
        for forms in self.forms() {
            for form in &forms {
                let sequence = name_words(form);
                let Some(run) = run_of(&keys, &sequence) else { continue };
                for other in forms.iter().filter(|other| name_words(other) != sequence) {
                    let around = [&words[..run.start], &[other.as_str()], &words[run.end..]].concat();
                    wordings.push((around.join(" "), (*other).clone()));
                }
            }
        }
        wordings.truncate(MOST_WORDINGS);
        wordings
    }

    /// Other names of a column: `name` with one run of its words replaced by a synonym.
    pub fn names(&self, name: &str) -> Vec<String> {
        self.wordings(&name_words(name).join(" ")).into_iter().map(|(wording, _)| wording).collect()
    }

    /// Each term with its synonyms, all of which mean the same.
    fn forms(&self) -> impl Iterator<Item = Vec<&String>> {
        self.0.iter().map(|(term, others)| std::iter::once(term).chain(others).collect())
    }
}

/// Where the words of `sequence` stand in a row.
fn run_of(words: &[Vec<String>], sequence: &[String]) -> Option<std::ops::Range<usize>> {
    (0..words.len()).find_map(|start| {
        let mut rest = sequence;
        for (place, word) in words.iter().enumerate().skip(start) {
            rest = rest.strip_prefix(word.as_slice()).filter(|_| !word.is_empty())?;
            if rest.is_empty() {
                return Some(start..place + 1);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(text: &str) -> Option<String> {
        Some(text.into())
    }

    #[test]
    fn notes_are_changed_part_by_part_and_last() {
        let folder = tempfile::tempdir().unwrap();
        let change = |edits| Notes::change(folder.path(), "a/b", edits);
        change(vec![NoteEdit::Title(some("Bread\nprices")), NoteEdit::Column("c".into(), some("euro a loaf"))])
            .unwrap();
        change(vec![NoteEdit::Description(some("from bakers"))]).unwrap();
        let notes = Notes::read(folder.path()).unwrap();
        let note = notes.of("a/b").unwrap();
        assert_eq!(note.text(), "Bread prices: from bakers. c: euro a loaf");
        assert!(
            change(vec![NoteEdit::Title(some(" \n"))]).is_err()
                && change(vec![NoteEdit::Title(some(&"x".repeat(301)))]).is_err()
        );
        assert_eq!(Notes::read(folder.path()).unwrap().of("a/b"), Some(note), "a refused change changes nothing");
        change(vec![NoteEdit::Column("c".into(), None), NoteEdit::Title(None)]).unwrap();
        assert_eq!(Notes::read(folder.path()).unwrap().of("a/b").unwrap().text(), "from bakers");
        change(vec![NoteEdit::Remove]).unwrap();
        assert_eq!(Notes::read(folder.path()).unwrap().all().len(), 0);
    }

    #[test]
    fn a_text_is_said_with_each_synonym() {
        let text = r#"{"GDP": ["gross domestic product", "national income"], "pop": ["population"]}"#;
        let synonyms: Synonyms = serde_json::from_str(text).unwrap();
        synonyms.check().unwrap();
        let said = |text| synonyms.wordings(text).into_iter().map(|(wording, _)| wording).collect::<Vec<_>>();
        assert_eq!(said("gdp by year"), ["gross domestic product by year", "national income by year"]);
        assert_eq!(said("the National Income?"), ["the GDP", "the gross domestic product"]);
        assert!(said("income and gross product").is_empty());
        assert_eq!(synonyms.names("POP_2020"), ["population 2020"]);
        for wrong in [r#"{"": ["x"]}"#, r#"{"x": ["--"]}"#] {
            assert!(serde_json::from_str::<Synonyms>(wrong).unwrap().check().is_err());
        }
    }
}
