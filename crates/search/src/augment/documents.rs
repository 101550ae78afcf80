//! What the documents of a question index say, as records of a catalogue.
//!
//! Concatenated: one document a table, its metadata and the questions. Dedicated: one document a question, which carries its
//! table's title and the beginning of its description; document 0 holds the rest of what is said about the table. A table with
//! a file has its column names and some of its values among the words of the document that stands for the whole, so that a
//! search for a cell is not lost.
//!
//! Measured on ACORDAR (nDCG@10 of the channels of both indexes fused, keyword 1, keyword 2, question; without: .549, .530,
//! .419): questions that carry title and tags only .559, .531, .419; with document 0 .562, .532, .421; that and without tags
//! .561, .533, .426; with 200 bytes of the description, too, .565, .537, .427; with 1,000 bytes .558, .534, .426.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::QuestionMode;
use super::facts::tidy;
use super::store::TableQuestions;
use lakeward_core::error::Result;
use lakeward_core::text::name_words;
use lakeward_index::{LakeIndex, TableRef};
use lakeward_lake::dataset::Dataset;
use lakeward_lake::semantic::LogicalType;

/// Between a table's id and the number of a document.
const NUMBER_SIGN: char = '#';
/// Begins the id of a document whose table's id is no id of a record.
const HASHED_SIGN: char = '~';
/// Longest id of a table that documents are called by, in bytes.
const LONGEST_ID_BYTES: usize = 240;
/// Bytes of a description in front of the questions.
const DESCRIPTION_BYTES: usize = 6 << 10;
/// Bytes of column names.
const HEADERS_BYTES: usize = 2 << 10;
/// Bytes of values.
const VALUES_BYTES: usize = 7 << 10;
/// Bytes of a description that each question carries.
const CARRIED_BYTES: usize = 200;
/// Tags of the document that stands for a table.
const MOST_TAGS: usize = 32;
/// Characters of a title.
const TITLE_CHARS: usize = 300;

/// A document as a line of records.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    id: String,
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
}

/// The documents of one table.
pub(super) fn documents(
    index: &LakeIndex,
    table: TableRef,
    questions: Option<&TableQuestions>,
    mode: QuestionMode,
) -> Result<Vec<Document>> {
    let dataset = index.dataset(table)?;
    let questions = questions.map_or(&[][..], |made| &made.questions);
    let metadata = dataset.metadata();
    let name = document_name(dataset.id().as_str());
    let document = |number: usize, description: String| Document {
        id: format!("{name}{NUMBER_SIGN}{number}"),
        title: tidy(&dataset.title(), TITLE_CHARS),
        description,
        tags: Vec::new(),
        author: None,
    };
    let whole = |description: String| Document {
        tags: metadata.map_or_else(Vec::new, |said| said.tags.iter().take(MOST_TAGS).cloned().collect()),
        author: metadata.and_then(|said| said.publisher.clone()),
        ..document(0, description)
    };
    let described = metadata.and_then(|said| said.description.as_deref()).unwrap_or_default();
    let described = &described[..described.floor_char_boundary(DESCRIPTION_BYTES)];
    let content = content(index, table, &dataset)?;
    let joined = |parts: &[&str]| parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n");
    Ok(match mode {
        // Words count alike wherever they stand; of a long description only the beginning enters the vector.
        QuestionMode::Concatenated => vec![whole(joined(&[&questions.join("\n"), described, &content]))],
        QuestionMode::Dedicated => {
            let beginning = &described[..described.floor_char_boundary(CARRIED_BYTES)];
            let carried = |question: &String| joined(&[question, beginning]);
            let asked = questions.iter().zip(1..).map(|(question, number)| document(number, carried(question)));
            std::iter::once(whole(joined(&[described, &content]))).chain(asked).collect()
        }
    })
}

/// Column names and values of a table; empty for a record.
fn content(index: &LakeIndex, table: TableRef, dataset: &Dataset) -> Result<String> {
    let mut text = String::new();
    for column in dataset.columns() {
        if text.len() + column.name.len() < HEADERS_BYTES {
            let words = name_words(&column.name).join(" ");
            text.push_str(&words);
            text.push('\n');
        }
    }
    let segment = index.segment(table.segment)?;
    let mut columns: Vec<std::vec::IntoIter<(u64, &str)>> = Vec::new();
    for column in segment.tables.columns(table.table)? {
        let record = segment.columns.record(column)?;
        // Measurements are noise as words.
        if record.logical() != LogicalType::Float {
            columns.push(segment.columns.samples(record)?.into_iter());
        }
    }
    // One of each column in turn, so that no column takes the room of the others.
    let end = text.len() + VALUES_BYTES;
    while !columns.is_empty() && text.len() < end {
        columns.retain_mut(|values| match values.next() {
            Some((_, value)) if text.len() + value.len() < end => {
                text.push_str(value);
                text.push('\n');
                true
            }
            Some(_) => true,
            None => false,
        });
    }
    Ok(text)
}

/// What the documents of a table are called, without their numbers: its id, or a hash of it where that is no id of a record.
pub(super) fn document_name(table: &str) -> String {
    if is_plain(table) { table.to_string() } else { format!("{HASHED_SIGN}{:016x}", xxh3_64(table.as_bytes())) }
}

/// Whether documents can be called by the id of a table.
pub(super) fn is_plain(table: &str) -> bool {
    let shows = |letter: char| letter.is_alphanumeric() || letter.is_ascii_graphic() || letter == ' ';
    table.len() <= LONGEST_ID_BYTES
        && !table.starts_with(HASHED_SIGN)
        && table.trim() == table
        && !table.contains("  ")
        && table.chars().all(shows)
}

/// The name of a document without its number.
pub(super) fn table_of(document: &str) -> &str {
    document.rsplit_once(NUMBER_SIGN).map_or(document, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_called_so_that_their_table_is_found() {
        for id in ["transport/airports", "a#3", "Größe 2", "x"] {
            assert_eq!(table_of(&format!("{}#12", document_name(id))), id);
        }
        for id in ["~x", " a", "a  b", "a\u{202e}b", &"x".repeat(300)] {
            let name = document_name(id);
            assert!(name.starts_with('~') && name.len() == 17, "{name}");
        }
    }
}
