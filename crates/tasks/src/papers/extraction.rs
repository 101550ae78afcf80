//! The extraction of a document: its tasks, each with the datasets used for it and the sentences that say so.
//!
//! These are plain types between the extraction and the task graph; nothing here reads a paper. [`read_extractions`] reads
//! them from JSON lines, one document per line: an [`Extraction`], or the short form
//! `{"paper", "task", "task_name", "keywords", "dataset_ids", "datasets_not_in_corpus"?, "year"?, "text"}` with one task, in which
//! several lines may belong to one paper.
//!
//! The file is untrusted: lines and texts are bounded; an invalid line is skipped and counted.

use std::collections::HashMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use lakeward_core::error::{Error, Result};
use lakeward_core::store::{LineEnd, LineReader};
use lakeward_lake::reader;

/// Longest line, in bytes; longer ones are skipped.
const LONGEST_LINE_BYTES: u64 = 4 << 20;
/// Maximum number of documents per file.
const MAX_DOCUMENTS: usize = 1_000_000;
/// Maximum size of an abstract in bytes.
const TEXT_BYTES: usize = 32 << 10;
/// Maximum size of a task's sentence, a description or a sentence in bytes.
const SENTENCE_BYTES: usize = 4 << 10;
/// Maximum size of a name, a keyword or an id in bytes.
const NAME_BYTES: usize = 512;
/// Maximum number of tasks per document.
const MAX_TASKS: usize = 64;
/// Maximum number of datasets per task, and of keywords.
const MAX_DATASETS: usize = 1_024;
/// Maximum number of other names of a dataset.
const MAX_OTHER_NAMES: usize = 16;
/// Maximum number of skipped lines that are reported.
const MAX_PROBLEMS: usize = 5;

/// The tasks and datasets of one document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Extraction {
    /// The document's id.
    pub document: String,
    /// Its title; empty if unknown.
    #[serde(default)]
    pub title: String,
    /// Its year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Its abstract.
    #[serde(default)]
    pub text: String,
    /// Its tasks.
    #[serde(default)]
    pub tasks: Vec<ExtractedTask>,
    /// What extracted it: `name@version`.
    #[serde(default)]
    pub extractor: String,
}

/// A task of a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractedTask {
    /// What is to be done, in a sentence.
    #[serde(default)]
    pub text: String,
    /// Its name in the field: `image classification`.
    #[serde(default)]
    pub name: String,
    /// Further terms for it.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// The datasets used for it.
    #[serde(default)]
    pub datasets: Vec<DatasetMention>,
}

/// A dataset as a document names it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatasetMention {
    /// Its name as written.
    pub name: String,
    /// Other names that the document gives for it: a short form, or what a short form stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The document's description of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The sentence that says it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// The heading of that sentence's section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The id of its record or table, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// Extractions read from a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtractionFile {
    /// By document, in the order of their first lines.
    pub extractions: Vec<Extraction>,
    /// Number of skipped lines.
    pub left_out: u64,
    /// Problems of the first skipped lines.
    pub problems: Vec<String>,
}

/// The short form: a paper with one task.
#[derive(Deserialize)]
struct PaperLine {
    paper: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    task: String,
    #[serde(default)]
    task_name: String,
    #[serde(default)]
    keywords: String,
    #[serde(default)]
    year: Option<i32>,
    #[serde(default)]
    dataset_ids: Vec<String>,
    #[serde(default)]
    datasets_not_in_corpus: Vec<String>,
    #[serde(default)]
    text: String,
}

/// Reads the extractions of the file at `path`, compressed or not.
///
/// # Errors
/// [`Error::Io`] and [`Error::Unreadable`] if the file cannot be read at all. Invalid lines are counted.
pub fn read_extractions(path: &Path) -> Result<ExtractionFile> {
    let mut file = ExtractionFile::default();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut lines = LineReader::new(reader::open_unpacked(path)?, LONGEST_LINE_BYTES);
    while let Some(line) = lines.next_line().map_err(|error| Error::io("read", path, error))? {
        if line.end == LineEnd::TooLong {
            file.leave_out(line.number, &format!("longer than {} MB", LONGEST_LINE_BYTES >> 20));
            continue;
        }
        let text = line.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line.bytes).trim_ascii();
        if text.is_empty() {
            continue;
        }
        if file.extractions.len() >= MAX_DOCUMENTS {
            file.leave_out(line.number, &format!("more than {MAX_DOCUMENTS} documents; the rest is left out"));
            break;
        }
        match extraction(text) {
            Ok(extraction) => file.take(&mut places, extraction),
            Err(reason) => file.leave_out(line.number, &reason),
        }
    }
    Ok(file)
}

impl ExtractionFile {
    fn leave_out(&mut self, number: usize, reason: &str) {
        self.left_out += 1;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(format!("line {number}: {reason}"));
        }
    }

    /// Adds an extraction; further lines of a document add tasks to it.
    fn take(&mut self, places: &mut HashMap<String, usize>, extraction: Extraction) {
        match places.get(&extraction.document) {
            Some(place) => {
                let tasks = &mut self.extractions[*place].tasks;
                tasks.extend(extraction.tasks);
                tasks.truncate(MAX_TASKS);
            }
            None => {
                places.insert(extraction.document.clone(), self.extractions.len());
                self.extractions.push(extraction);
            }
        }
    }
}

fn extraction(line: &[u8]) -> Result<Extraction, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
    let no_extraction = |error: serde_json::Error| format!("no extraction: {error}");
    let found = match value.get("paper") {
        Some(_) => from_paper(serde_json::from_value(value).map_err(no_extraction)?),
        None => serde_json::from_value(value).map_err(no_extraction)?,
    };
    let bounded = found.bounded();
    if bounded.document.is_empty() { Err("the document has no id".into()) } else { Ok(bounded) }
}

fn from_paper(line: PaperLine) -> Extraction {
    let known = line.dataset_ids.into_iter().map(|id| DatasetMention {
        name: id.replace('_', " "),
        record: Some(id),
        ..DatasetMention::default()
    });
    let named =
        line.datasets_not_in_corpus.into_iter().map(|name| DatasetMention { name, ..DatasetMention::default() });
    let task = ExtractedTask {
        text: line.task,
        name: line.task_name,
        keywords: vec![line.keywords],
        datasets: known.chain(named).collect(),
    };
    Extraction {
        document: line.paper,
        title: line.title,
        year: line.year,
        text: line.text,
        tasks: vec![task],
        extractor: "given@1".into(),
    }
}

impl Extraction {
    /// The same with every text and list truncated to its bound, without datasets or keywords that have no name.
    pub fn bounded(mut self) -> Self {
        for (text, bytes) in [
            (&mut self.document, NAME_BYTES),
            (&mut self.title, SENTENCE_BYTES),
            (&mut self.text, TEXT_BYTES),
            (&mut self.extractor, NAME_BYTES),
        ] {
            cut(text, bytes);
        }
        self.tasks.truncate(MAX_TASKS);
        for task in &mut self.tasks {
            cut(&mut task.text, SENTENCE_BYTES);
            cut(&mut task.name, NAME_BYTES);
            task.keywords.iter_mut().for_each(|keyword| cut(keyword, NAME_BYTES));
            task.keywords.retain(|keyword| !keyword.is_empty());
            task.keywords.truncate(MAX_DATASETS);
            task.datasets.truncate(MAX_DATASETS);
            for mention in &mut task.datasets {
                cut(&mut mention.name, NAME_BYTES);
                mention.also.iter_mut().for_each(|name| cut(name, NAME_BYTES));
                mention.also.retain(|name| !name.is_empty());
                mention.also.truncate(MAX_OTHER_NAMES);
                for (text, bytes) in [
                    (&mut mention.description, SENTENCE_BYTES),
                    (&mut mention.sentence, SENTENCE_BYTES),
                    (&mut mention.section, NAME_BYTES),
                    (&mut mention.record, NAME_BYTES),
                ] {
                    if let Some(text) = text {
                        cut(text, bytes);
                    }
                }
            }
            task.datasets.retain(|mention| !mention.name.is_empty());
        }
        self
    }
}

/// `text` trimmed, at most `bytes` of it.
fn cut(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
    let trimmed = text.trim();
    if trimmed.len() < text.len() {
        *text = trimmed.to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> ExtractionFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_extractions(file.path()).unwrap()
    }

    #[test]
    fn both_forms_are_read() {
        let file = read(
            br#"{"paper": "p1", "task": "Tell cats from dogs", "task_name": "classification", "keywords": "pets", "dataset_ids": ["Cat_Set"], "datasets_not_in_corpus": ["DogSet"], "year": 2014, "text": "Abstract."}
{"document": "p2", "tasks": [{"text": "Count sheep", "datasets": [{"name": "Flock", "sentence": "We count on Flock."}]}]}
{"paper": "p1", "task": "Tell dogs from wolves", "dataset_ids": []}
"#,
        );
        assert_eq!(file.extractions.len(), 2);
        let first = &file.extractions[0];
        assert_eq!((first.tasks.len(), first.year), (2, Some(2014)));
        assert_eq!(first.tasks[0].datasets[0].record.as_deref(), Some("Cat_Set"));
        assert_eq!(
            (first.tasks[0].datasets[0].name.as_str(), first.tasks[0].datasets[1].record.as_ref()),
            ("Cat Set", None)
        );
        assert_eq!(file.extractions[1].tasks[0].datasets[0].sentence.as_deref(), Some("We count on Flock."));
    }

    #[test]
    fn bad_lines_are_left_out_and_counted() {
        let long = vec![b'x'; LONGEST_LINE_BYTES as usize + 10];
        let mut text = b"not json\n{\"tasks\": []}\n\n{\"document\": \" \"}\n[1]\n".to_vec();
        text.extend(long);
        text.extend(b"\n{\"document\": \"d\"}\n\xff\xfe\n");
        let file = read(&text);
        assert_eq!((file.extractions.len(), file.left_out), (1, 6));
        assert_eq!(file.problems.len(), MAX_PROBLEMS);
    }
}
