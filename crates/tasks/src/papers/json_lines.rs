//! Documents as JSON, one per line, with the field names that collections of papers use: `id`, `title`, `abstract`, `text` or
//! `sections`, each in several shapes.

use serde_json::{Map, Value};

use super::line::TextLine;
use lakeward_core::text::years;

const IDS: [&str; 8] = ["id", "doc_id", "paper_id", "paper", "document_id", "corpus_id", "corpusid", "_id"];
const TITLES: [&str; 2] = ["title", "paper_title"];
const ABSTRACTS: [&str; 3] = ["abstract", "paper_abstract", "summary"];
const BODIES: [&str; 9] =
    ["sections", "body_text", "full_text", "fulltext", "text", "body", "content", "contents", "paragraphs"];
const HEADINGS: [&str; 5] = ["heading", "section", "title", "name", "section_name"];
const TEXTS: [&str; 6] = ["text", "paragraphs", "body", "content", "sentences", "sections"];

/// The document on a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JsonDocument {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its lines, with the abstract below a heading "Abstract".
    pub lines: Vec<TextLine>,
    /// The year.
    pub year: Option<u16>,
    /// The DOI.
    pub doi: Option<String>,
    /// A URL.
    pub url: Option<String>,
}

/// Reads a line.
///
/// # Errors
/// One clause that says what is wrong with it.
pub fn parse(line: &[u8]) -> Result<JsonDocument, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
    let Value::Object(fields) = value else { return Err("not a JSON object".into()) };
    let mut lines = Vec::new();
    if let Some(found) = first(&fields, &ABSTRACTS) {
        let mut text = Vec::new();
        prose(found, 0, &mut text);
        if !text.is_empty() {
            lines.push(TextLine::heading("Abstract"));
            lines.append(&mut text);
            // Text that follows without a heading is no longer the abstract.
            if first(&fields, &BODIES).is_some() {
                lines.push(TextLine::heading("Text"));
            }
        }
    }
    if let Some(found) = first(&fields, &BODIES) {
        prose(found, 0, &mut lines);
    }
    let title = first(&fields, &TITLES).and_then(scalar);
    if lines.iter().all(|line| line.is_heading) && title.is_none() {
        return Err("it has neither `title` nor `abstract` nor `text`".into());
    }
    Ok(JsonDocument {
        id: first(&fields, &IDS).and_then(scalar),
        title,
        lines,
        year: fields.get("year").and_then(year),
        doi: first(&fields, &["doi", "DOI"]).and_then(scalar),
        url: first(&fields, &["url", "link"]).and_then(scalar),
    })
}

/// The first of the named fields that is present and not empty.
fn first<'v>(fields: &'v Map<String, Value>, names: &[&str]) -> Option<&'v Value> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    names.iter().find_map(|name| fields.get(*name).filter(|value| !is_empty(value)))
}

fn scalar(value: &Value) -> Option<String> {
    const LONGEST_BYTES: usize = 4096;
    let text = match value {
        Value::String(text) => text.trim()[..text.trim().floor_char_boundary(LONGEST_BYTES)].to_string(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => scalar(items.first()?)?,
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn year(value: &Value) -> Option<u16> {
    let year = value.as_u64().or_else(|| value.as_str()?.get(..4)?.parse().ok())?;
    u16::try_from(year).ok().filter(|year| years::STATED.contains(&i32::from(*year)))
}

/// Any nesting of strings, lists, `{heading, text}` and `{heading: text}` as lines.
fn prose(value: &Value, depth: usize, lines: &mut Vec<TextLine>) {
    const DEEPEST: usize = 16;
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::String(text) => lines.extend(TextLine::of_plain(text)),
        Value::Array(items) => items.iter().for_each(|item| prose(item, depth + 1, lines)),
        Value::Object(fields) => section(fields, depth, lines),
        _ => {}
    }
}

fn section(fields: &Map<String, Value>, depth: usize, lines: &mut Vec<TextLine>) {
    let heading = first(fields, &HEADINGS);
    let text = first(fields, &TEXTS);
    match (heading, text) {
        // Headings and their texts in two lists of equal length.
        (Some(Value::Array(headings)), Some(Value::Array(texts))) => {
            for (heading, text) in headings.iter().zip(texts) {
                push_heading(heading, lines);
                prose(text, depth + 1, lines);
            }
        }
        (heading, Some(text)) => {
            if let Some(heading) = heading {
                push_heading(heading, lines);
            }
            prose(text, depth + 1, lines);
        }
        (Some(_), None) => {}
        (None, None) => {
            for (heading, text) in fields {
                push_heading(&Value::String(heading.clone()), lines);
                prose(text, depth + 1, lines);
            }
        }
    }
}

/// Adds a heading unless it repeats the current one: lists of paragraphs give it with each paragraph.
fn push_heading(heading: &Value, lines: &mut Vec<TextLine>) {
    let Some(text) = scalar(heading) else { return };
    let current = lines.iter().rev().find(|line| line.is_heading);
    if current.is_none_or(|current| current.text != text) {
        lines.push(TextLine::heading(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Vec<String> {
        let found = parse(line.as_bytes()).unwrap();
        found.lines.iter().map(|line| format!("{}{}", if line.is_heading { "# " } else { "" }, line.text)).collect()
    }

    #[test]
    fn the_usual_shapes_are_read() {
        let expected = ["# Data", "a", "b", "# End", "c"];
        for line in [
            r##"{"sections": [{"heading": "Data", "text": "a\nb"}, {"heading": "End", "text": "c"}]}"##,
            r##"{"sections": [{"title": "Data", "paragraphs": ["a", "b"]}, {"title": "End", "paragraphs": ["c"]}]}"##,
            r##"{"body_text": [{"section": "Data", "text": "a"}, {"section": "Data", "text": "b"}, {"section": "End", "text": "c"}]}"##,
            r##"{"full_text": {"section_name": ["Data", "End"], "paragraphs": [["a", "b"], ["c"]]}}"##,
            r##"{"sections": {"Data": ["a", "b"], "End": "c"}}"##,
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
        assert_eq!(shown(r##"{"abstract": "x", "text": "y"}"##), ["# Abstract", "x", "# Text", "y"]);
        assert_eq!(shown(r##"{"abstract": [{"text": "x"}]}"##), ["# Abstract", "x"]);
        let found = parse(br##"{"paper_id": 12, "title": "T", "year": "2014-05", "doi": ["10.1/x"]}"##).unwrap();
        assert_eq!((found.id.as_deref(), found.year, found.doi.as_deref()), (Some("12"), Some(2014), Some("10.1/x")));
    }

    #[test]
    fn a_line_without_a_document_is_reported() {
        for (line, reason) in [
            ("[1]", "not a JSON object"),
            ("{", "no JSON"),
            (r##"{"a": 1}"##, "neither"),
            (r##"{"text": null}"##, "neither"),
        ] {
            assert!(parse(line.as_bytes()).unwrap_err().contains(reason), "{line}");
        }
        let deep = format!("{{\"text\": {}\"x\"{}}}", "[".repeat(100), "]".repeat(100));
        assert!(parse(deep.as_bytes()).is_err());
        let deeper = format!("{{\"text\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(deeper.as_bytes()).unwrap_err().contains("no JSON"));
    }
}
