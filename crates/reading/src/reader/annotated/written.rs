//! Annotated turns as their files write them: lines of JSON, with spans in brackets.

use std::ops::Range;

use serde::Deserialize;

use super::{AnnotatedTurn, Conversation};
use crate::reader::schema::{ColumnKind, SchemaColumn};
use crate::reader::span::Role;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Act, Intention, OperationKind};

/// A line of an annotated file: a conversation's head, or one of its turns.
#[derive(Debug, Deserialize)]
struct Line {
    c: String,
    #[serde(default)]
    table: Option<String>,
    #[serde(default)]
    columns: Option<Vec<String>>,
    #[serde(default)]
    t: Option<usize>,
    #[serde(default)]
    act: String,
    #[serde(default)]
    on: Option<String>,
    #[serde(default)]
    m: String,
    #[serde(default)]
    points: Option<String>,
    #[serde(default)]
    operation: Option<OperationKind>,
    #[serde(default)]
    intention: Option<Intention>,
}

/// Reads one file.
///
/// # Errors
/// [`Error::Usage`] with the line for what is no annotation.
pub fn conversations(text: &str) -> Result<Vec<Conversation>> {
    let mut found: Vec<Conversation> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: &str| Error::usage(format!("line {}: {what}", number + 1));
        let line: Line = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        if line.t.is_none() {
            let sheet = line.columns.map(|columns| columns.iter().map(|column| sheet_column(column)).collect());
            found.push(Conversation { id: line.c, table: line.table, sheet, turns: Vec::new() });
            continue;
        }
        let acts: Option<Vec<Act>> = line.act.split_whitespace().map(Act::of).collect();
        let acts = acts.filter(|acts| acts.is_empty() == line.points.is_some()).ok_or_else(|| wrong("unknown act"))?;
        let (text, spans) = marked(line.points.as_ref().unwrap_or(&line.m)).map_err(|what| wrong(&what))?;
        let purpose = line.operation.zip(line.intention);
        let turn = AnnotatedTurn { text, acts, on_result: line.on.is_some(), purpose, spans };
        match found.last_mut() {
            Some(conversation) if conversation.id == line.c => conversation.turns.push(turn),
            _ => return Err(wrong("a turn of another conversation")),
        }
    }
    Ok(found)
}

/// `region:text=North|South` as a column.
fn sheet_column(text: &str) -> SchemaColumn {
    let (head, values) = text.split_once('=').map_or((text, None), |(head, values)| (head, Some(values)));
    let (name, kind) = head.rsplit_once(':').unwrap_or((head, "text"));
    let kind = match kind {
        "integer" => ColumnKind::Integer,
        "number" => ColumnKind::Number,
        "date" => ColumnKind::Date,
        "boolean" => ColumnKind::Boolean,
        _ => ColumnKind::Text,
    };
    let values: Vec<String> = values.map(|values| values.split('|').map(str::to_string).collect()).unwrap_or_default();
    SchemaColumn { complete: !values.is_empty(), values, ..SchemaColumn::new(name, kind) }
}

/// A span as it is written: its bytes, its role, its attributes.
pub(super) type WrittenSpan = (Range<usize>, Role, Vec<(String, String)>);

/// A plain text and its spans.
type Marked = (String, Vec<WrittenSpan>);

/// `the [north|value col=region]` as plain text and spans.
fn marked(text: &str) -> std::result::Result<Marked, String> {
    let (mut plain, mut spans) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        plain.push_str(&rest[..open]);
        let close = rest[open..].find(']').ok_or("a bracket that is not closed")? + open;
        let (words, marks) = rest[open + 1..close].split_once('|').ok_or("a span without a role")?;
        let (role, attributes) = attributes(marks)?;
        let role = Role::of(&role).ok_or_else(|| format!("unknown role `{role}`"))?;
        let from = plain.len();
        plain.push_str(words);
        spans.push((from..plain.len(), role, attributes));
        rest = &rest[close + 1..];
    }
    plain.push_str(rest);
    Ok((plain, spans))
}

/// `value col="Phase of flight" op=!=` as the role and pairs.
pub(super) fn attributes(text: &str) -> std::result::Result<(String, Vec<(String, String)>), String> {
    let mut parts: Vec<String> = Vec::new();
    let (mut part, mut quoted, mut open) = (String::new(), false, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => {
                if open {
                    parts.push(std::mem::take(&mut part));
                }
                open = false;
                continue;
            }
            c => part.push(c),
        }
        open = true;
    }
    if open {
        parts.push(part);
    }
    let mut parts = parts.into_iter();
    let role = parts.next().ok_or("a span without a role")?;
    let pairs = parts.map(|part| part.split_once('=').map(|(name, value)| (name.to_string(), value.to_string())));
    Ok((role, pairs.collect::<Option<_>>().ok_or("an attribute without a value")?))
}
