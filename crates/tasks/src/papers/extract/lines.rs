//! A document as numbered lines: its title, then headings and sentences, each with its section.

use super::super::document::{Document, SectionKind};
use super::cues::SentenceCues;

/// Maximum number of lines; the rest of a longer document is ignored.
const MAX_LINES: usize = 20_000;
/// Number of first lines, which tell what a document is about.
const FIRST_LINES: usize = 12;
/// Bytes of the summary of a document without abstract.
const SUMMARY_BYTES: usize = 2_000;

/// A line.
pub struct Line<'d> {
    /// Its text.
    pub text: &'d str,
    /// The index of its section; the title has that of the first one.
    pub section: usize,
    /// What that section is about.
    pub kind: SectionKind,
    /// Whether it is the heading, or the title.
    pub is_heading: bool,
    /// Its cues, independent of names.
    pub cues: SentenceCues,
}

/// The lines of a document in order; the first is its title.
pub struct Lines<'d> {
    document: &'d Document,
    lines: Vec<Line<'d>>,
    first: usize,
}

impl<'d> Lines<'d> {
    /// The lines of `document`, without its references.
    pub fn of(document: &'d Document) -> Self {
        let kind = document.sections.first().map_or(SectionKind::Other, |section| section.kind);
        let mut lines = vec![Line {
            text: &document.title,
            section: 0,
            kind,
            is_heading: true,
            cues: SentenceCues::of(&document.title),
        }];
        for (place, section) in document.sections.iter().enumerate() {
            let line = |text, is_heading| Line {
                text,
                section: place,
                kind: section.kind,
                is_heading,
                cues: SentenceCues::of(text),
            };
            if !section.heading.is_empty() {
                lines.push(line(section.heading.as_str(), true));
            }
            lines.extend(section.sentences().into_iter().map(|sentence| line(sentence, false)));
            if lines.len() > MAX_LINES {
                break;
            }
        }
        lines.truncate(MAX_LINES);
        Self { document, lines, first: FIRST_LINES }
    }

    /// All lines with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Line<'d>)> {
        self.lines.iter().enumerate()
    }

    /// A line.
    pub fn get(&self, number: usize) -> &Line<'d> {
        &self.lines[number]
    }

    /// The text of a line.
    pub fn text(&self, number: usize) -> &'d str {
        self.lines[number].text
    }

    /// The heading of a line's section; empty if it has none.
    pub fn heading(&self, number: usize) -> &'d str {
        let section = self.document.sections.get(self.lines[number].section);
        section.map_or("", |section| section.heading.as_str())
    }

    /// Whether a line is among the first, or in the abstract: those tell what a document is about.
    pub fn is_first(&self, number: usize) -> bool {
        number < self.first || self.lines[number].kind == SectionKind::Abstract
    }

    /// The abstract, otherwise the beginning of the text.
    pub fn summary(&self) -> String {
        let stated = self.document.abstract_text();
        let text = match stated.is_empty() {
            true => self.document.sections.first().map_or("", |section| section.text.as_str()),
            false => return stated.to_string(),
        };
        text[..text.floor_char_boundary(SUMMARY_BYTES)].to_string()
    }
}
