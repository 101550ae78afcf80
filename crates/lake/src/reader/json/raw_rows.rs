//! The rows of a JSON text, cut but not taken apart.

use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use super::super::decode::Text;
use super::super::json_scan::{locate_rows, skip_blank, value_end};
use super::super::report::{ReadReport, RepairKind};
use super::super::row_reader::Count;
use super::Shape;
use lakeward_core::error::{Error, Result};

/// Longest row, in bytes; a longer one is left out.
const MOST_ROW_BYTES: usize = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Lines,
    /// Inside the brackets of an array.
    Array,
    /// Objects one after the other, over any number of lines.
    Sequence,
}

/// The rows of a text as raw JSON.
pub(super) struct RawRows {
    pub text: Text,
    layout: Layout,
    /// The line (of [`Layout::Lines`]) or row last returned, from 1.
    pub line: u64,
    pub damage: Option<&'static str>,
    ended: bool,
}

enum Raw {
    Row(Vec<u8>),
    TooLong,
    End,
}

impl RawRows {
    pub fn open(path: &Path, shape: Shape, report: &mut ReadReport) -> Result<RawRows> {
        let mut text = Text::open(path)?;
        let blank = skip_blank(text.window(), 0);
        let is_array = text.window().get(blank) == Some(&b'[');
        let layout = if has_rows_in_lines(text.window()) {
            Layout::Lines
        } else if is_array {
            text.consume(blank + 1);
            Layout::Array
        } else if shape == Shape::Lines {
            Layout::Lines
        } else if is_sequence(text.window()) {
            Layout::Sequence
        } else {
            let located = locate_rows(&mut text);
            let reason = text.damage().map(|why| format!("damaged compressed stream: {why}"));
            let reason = reason.unwrap_or_else(|| "JSON without an array of rows".into());
            let is_row = shape == Shape::Part && text.damage().is_none();
            match located.start {
                Some(start) => {
                    report.add(RepairKind::OtherArrays, located.arrays - 1, None);
                    text = skip_to(path, start)?;
                    Layout::Array
                }
                None if is_row => {
                    text = Text::open(path)?;
                    Layout::Sequence
                }
                None => return Err(Error::unreadable(path, reason)),
            }
        };
        Ok(RawRows { text, layout, line: 0, damage: None, ended: false })
    }

    /// The next object or array, with its line or number; other values are counted in `broken`.
    pub fn next_valid(&mut self, broken: &mut Count) -> Option<(u64, Vec<u8>)> {
        loop {
            let raw = match self.layout {
                Layout::Lines => self.next_line(),
                Layout::Array | Layout::Sequence => self.next_element(),
            };
            match raw {
                Raw::End => return None,
                Raw::Row(row) if matches!(row.first(), Some(b'{' | b'[')) && is_valid(&row) => {
                    return Some((self.line, row));
                }
                Raw::Row(row) if row.is_empty() => {}
                Raw::Row(_) | Raw::TooLong => broken.add(1, self.line),
            }
        }
    }

    fn next_line(&mut self) -> Raw {
        let mut too_long = false;
        let mut searched = 0;
        loop {
            let window = self.text.window();
            let found = memchr::memchr(b'\n', &window[searched..]).map(|at| searched + at);
            if found.is_none() && !self.text.at_end() {
                searched = window.len();
                if searched > MOST_ROW_BYTES {
                    too_long = true;
                    self.text.consume(searched);
                    searched = 0;
                }
                self.text.fill();
                continue;
            }
            if window.is_empty() && found.is_none() {
                return if too_long { self.skipped() } else { Raw::End };
            }
            let is_incomplete = found.is_none() && self.text.damage().is_some();
            let end = found.unwrap_or(window.len());
            let line = window[..end].trim_ascii().to_vec();
            self.text.consume(end + 1);
            self.line += 1;
            return match () {
                () if is_incomplete => Raw::End,
                () if too_long => Raw::TooLong,
                () => Raw::Row(line),
            };
        }
    }

    fn skipped(&mut self) -> Raw {
        self.line += 1;
        Raw::TooLong
    }

    fn next_element(&mut self) -> Raw {
        if self.ended {
            return Raw::End;
        }
        loop {
            let window = self.text.window();
            let is_gap = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
            let start = window.iter().position(|byte| !is_gap(byte)).unwrap_or(window.len());
            if window.get(start) == Some(&b']') && self.layout == Layout::Array {
                self.ended = true;
                return Raw::End;
            }
            if let Some(end) = value_end(window, start) {
                let row = window[start..end].to_vec();
                self.text.consume(end);
                self.line += 1;
                return Raw::Row(row);
            }
            if self.text.at_end() {
                self.ended = true;
                let is_incomplete = start < window.len();
                if is_incomplete || self.layout == Layout::Array {
                    self.damage = Some("the document breaks off");
                }
                return Raw::End;
            }
            if window.len() - start > MOST_ROW_BYTES {
                return self.skip_long_element();
            }
            self.text.consume(start);
            self.text.fill();
        }
    }

    /// Skips an element that does not fit into the window.
    fn skip_long_element(&mut self) -> Raw {
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        loop {
            let window = self.text.window();
            let mut end = None;
            for (at, &byte) in window.iter().enumerate() {
                if in_string {
                    (escaped, in_string) = (byte == b'\\' && !escaped, byte != b'"' || escaped);
                    continue;
                }
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth <= 1 => end = Some(at + usize::from(depth == 1)),
                    b'}' | b']' => depth -= 1,
                    b',' if depth == 0 => end = Some((at + 1).min(window.len())).filter(|_| at > 0),
                    _ => {}
                }
                if end.is_some() {
                    break;
                }
            }
            let passed = end.unwrap_or(window.len());
            self.text.consume(passed);
            if end.is_some() || self.text.at_end() {
                return self.skipped();
            }
            self.text.fill();
        }
    }
}

fn is_valid(row: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(row).is_ok()
}

/// Whether the text at `path` has a row in each of its first two lines; false where it cannot be read.
pub fn is_lines(path: &Path) -> bool {
    Text::open(path).is_ok_and(|text| has_rows_in_lines(text.window()))
}

fn has_rows_in_lines(window: &[u8]) -> bool {
    let start = skip_blank(window, 0);
    let Some(end) = memchr::memchr(b'\n', &window[start..]).map(|at| start + at) else { return false };
    is_valid(&window[start..end]) && matches!(window.get(skip_blank(window, end)), Some(b'{' | b'['))
}

/// Whether one object follows another: NDJSON with objects over several lines each.
fn is_sequence(window: &[u8]) -> bool {
    let start = skip_blank(window, 0);
    let end = (window.get(start) == Some(&b'{')).then(|| value_end(window, start)).flatten();
    end.is_some_and(|end| window.get(skip_blank(window, end)) == Some(&b'{'))
}

fn skip_to(path: &Path, start: u64) -> Result<Text> {
    let path: PathBuf = path.to_path_buf();
    let mut text = Text::open(&path)?;
    let mut left = start;
    while left > 0 {
        let step = text.window().len().min(usize::try_from(left).unwrap_or(usize::MAX));
        text.consume(step);
        left -= step as u64;
        if text.window().is_empty() {
            if text.at_end() {
                break;
            }
            text.fill();
        }
    }
    Ok(text)
}
