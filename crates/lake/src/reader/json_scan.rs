//! Finds where JSON values begin and end in raw bytes, without building them and without recursion.
//!
//! Values are checked by `serde_json` before their members are read; the scan itself only pairs brackets and quotes.

use super::decode::Text;

/// Arrays of rows are searched below at most this many nested objects.
const MOST_OBJECTS: usize = 4;

/// Position of the first byte from `at` on that is not white space.
pub(super) fn skip_blank(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
}

/// Position of the end of the value that begins at `at`; `None` when it continues beyond `bytes`.
///
/// A bare number or word at the very end of `bytes` may continue as well and gives `None`.
pub(super) fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    match *bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => {
            let mut depth = 0_usize;
            loop {
                at += memchr_structure(bytes.get(at..)?)?;
                match bytes[at] {
                    b'"' => {
                        at = string_end(bytes, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    _ => depth -= 1,
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => {
            let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}' | b':');
            // A stray bracket counts as a value, so that every call advances.
            bytes[at..].iter().position(is_end).map(|length| at + length.max(1))
        }
    }
}

fn memchr_structure(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))
}

fn string_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Calls `take` with the raw key (its quotes included) and raw value of each member of a valid object.
pub(super) fn members<'a>(object: &'a [u8], mut take: impl FnMut(&'a [u8], &'a [u8])) {
    let mut at = skip_blank(object, 1);
    while object.get(at) == Some(&b'"') {
        let Some(key_end) = string_end(object, at) else { return };
        let key = &object[at..key_end];
        let value_start = skip_blank(object, skip_blank(object, key_end) + 1);
        let Some(end) = value_end(object, value_start) else { return };
        take(key, &object[value_start..end]);
        at = skip_blank(object, skip_blank(object, end) + 1);
    }
}

/// Calls `take` with each raw element of a valid array.
pub(super) fn elements<'a>(array: &'a [u8], mut take: impl FnMut(&'a [u8])) {
    let mut at = skip_blank(array, 1);
    while at < array.len() && array[at] != b']' {
        let Some(end) = value_end(array, at) else { return };
        take(&array[at..end]);
        at = skip_blank(array, skip_blank(array, end) + 1);
    }
}

/// Arrays of objects or arrays found in a document that is an object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Located {
    /// Offset in the text of the first byte inside the longest of them.
    pub(super) start: Option<u64>,
    /// Number of arrays found.
    pub(super) arrays: u64,
}

/// Searches the rest of `text` for arrays of rows that are nested in objects only.
pub(super) fn locate_rows(text: &mut Text) -> Located {
    let mut scan = Scan::default();
    loop {
        let window = text.window();
        scan.take(window);
        let length = window.len();
        text.consume(length);
        if text.at_end() {
            return scan.found;
        }
        text.fill();
    }
}

#[derive(Default)]
struct Scan {
    found: Located,
    longest: u64,
    offset: u64,
    in_string: bool,
    escaped: bool,
    objects: usize,
    array: Option<Candidate>,
}

struct Candidate {
    start: u64,
    depth: usize,
    first: Option<u8>,
    commas: u64,
}

impl Scan {
    fn take(&mut self, window: &[u8]) {
        for &byte in window {
            self.offset += 1;
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                } else if byte == b'\\' {
                    self.escaped = true;
                } else if byte == b'"' {
                    self.in_string = false;
                }
                continue;
            }
            self.in_string = byte == b'"';
            match &mut self.array {
                None => match byte {
                    b'{' => self.objects += 1,
                    b'}' => self.objects = self.objects.saturating_sub(1),
                    b'[' => self.array = Some(Candidate { start: self.offset, depth: 0, first: None, commas: 0 }),
                    _ => {}
                },
                Some(array) => {
                    if array.take(byte) {
                        self.close();
                    }
                }
            }
        }
    }

    fn close(&mut self) {
        let Some(array) = self.array.take() else { return };
        if !matches!(array.first, Some(b'{' | b'[')) || self.objects > MOST_OBJECTS {
            return;
        }
        self.found.arrays += 1;
        if array.commas + 1 > self.longest {
            self.longest = array.commas + 1;
            self.found.start = Some(array.start);
        }
    }
}

impl Candidate {
    /// Whether the array ends with this byte.
    fn take(&mut self, byte: u8) -> bool {
        if !byte.is_ascii_whitespace() && self.first.is_none() {
            self.first = Some(byte);
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth == 0 => return true,
            b'}' | b']' => self.depth -= 1,
            b',' if self.depth == 0 => self.commas += 1,
            _ => {}
        }
        false
    }
}
