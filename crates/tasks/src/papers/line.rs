//! A line of a document before it is divided into sections: what plain text, Markdown and PDF have in common.

use serde::{Deserialize, Serialize};

/// A line of text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextLine {
    /// Its words.
    pub text: String,
    /// Whether a paragraph begins with it.
    pub starts_paragraph: bool,
    /// Whether it is marked as a heading or looks like one.
    pub is_heading: bool,
}

impl TextLine {
    /// The lines of plain text; an empty line separates paragraphs.
    pub fn of_plain(text: &str) -> Vec<TextLine> {
        let mut lines = Vec::new();
        let mut starts_paragraph = true;
        for line in text.lines() {
            if line.trim().is_empty() {
                starts_paragraph = true;
                continue;
            }
            lines.push(TextLine { text: line.to_string(), starts_paragraph, is_heading: false });
            starts_paragraph = false;
        }
        lines
    }

    /// A heading.
    pub fn heading(text: &str) -> TextLine {
        TextLine { text: text.to_string(), starts_paragraph: true, is_heading: true }
    }
}
