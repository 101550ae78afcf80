//! Reads a file line by line, with one line in memory at a time and a maximum length.

use std::io::{self, BufRead, BufReader, Read};

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// With a line end.
    Whole,
    /// With the end of the file: its writer was killed, or it is from elsewhere.
    Cut,
    /// It is too long; the rest was skipped.
    TooLong,
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// Its byte offset in the file.
    pub at: u64,
    /// Its bytes without the line end; if it is too long, only the first.
    pub bytes: &'a [u8],
    /// How it ended.
    pub end: LineEnd,
}

/// Reads lines.
#[derive(Debug)]
pub struct LineReader<R> {
    input: BufReader<R>,
    longest: u64,
    line: Vec<u8>,
    number: usize,
    at: u64,
}

impl<R: Read> LineReader<R> {
    /// The lines of `input`, of at most `longest` bytes without the line end.
    pub fn new(input: R, longest: u64) -> Self {
        Self { input: BufReader::with_capacity(1 << 16, input), longest, line: Vec::new(), number: 0, at: 0 }
    }

    /// The next line; `None` at the end of the file.
    ///
    /// # Errors
    /// The error of the system.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let allowed = self.longest.saturating_add(1);
        let mut length = (&mut self.input).take(allowed).read_until(b'\n', &mut self.line)? as u64;
        if length == 0 {
            return Ok(None);
        }
        let end = if self.line.pop_if(|last| *last == b'\n').is_some() {
            LineEnd::Whole
        } else if length < allowed {
            LineEnd::Cut
        } else {
            length += self.skip_rest()?;
            LineEnd::TooLong
        };
        let at = self.at;
        self.at += length;
        self.number += 1;
        Ok(Some(Line { number: self.number, at, bytes: &self.line, end }))
    }

    /// The underlying input.
    pub fn into_inner(self) -> R {
        self.input.into_inner()
    }

    /// Skips the rest of a line; returns its length.
    fn skip_rest(&mut self) -> io::Result<u64> {
        let mut passed = 0;
        loop {
            let bytes = self.input.fill_buf()?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(bytes.len(), |end| end + 1);
            self.input.consume(length);
            passed += length as u64;
            if end.is_some() || length == 0 {
                return Ok(passed);
            }
        }
    }
}
