//! What a cell looks like, to distinguish a header from data.

use lakeward_sketch::writing::is_marker;

/// What a cell looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    Empty,
    Number,
    Date,
    Text,
}

impl CellKind {
    /// What a trimmed cell looks like.
    pub(super) fn of(cell: &str) -> CellKind {
        // A column may be called `missing`.
        if cell.is_empty() || (cell.len() <= 4 && is_marker(cell)) {
            CellKind::Empty
        } else if is_number(cell) {
            CellKind::Number
        } else if is_date(cell) {
            CellKind::Date
        } else {
            CellKind::Text
        }
    }

    /// Whether column names rarely look like this.
    pub(super) fn is_typed(self) -> bool {
        matches!(self, CellKind::Number | CellKind::Date)
    }
}

/// Digits, optionally with a sign or accountant's brackets, a currency sign before, a per-cent or currency sign after,
/// separators and an exponent.
fn is_number(cell: &str) -> bool {
    let bare = cell.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(cell);
    let bare = bare.strip_prefix(['-', '+', '−']).unwrap_or(bare);
    let bare = bare.strip_prefix(['$', '€', '£']).unwrap_or(bare);
    let bare = bare.strip_prefix(['-', '+']).unwrap_or(bare);
    let bare = bare.strip_suffix(['%', '€', '$']).unwrap_or(bare).trim();
    let mut digits = 0;
    let mut previous = ' ';
    for character in bare.chars() {
        match character {
            '0'..='9' => digits += 1,
            '.' | ',' | '\'' | '\u{a0}' | '\u{202f}' => {}
            ' ' if digits > 0 => {}
            'e' | 'E' if digits > 0 => {}
            '-' | '+' if matches!(previous, 'e' | 'E') => {}
            _ => return false,
        }
        previous = character;
    }
    digits > 0
}

/// Two or three groups of digits (or a month's name) joined by `-`, `/`, `.` or `:`, optionally followed by a time.
fn is_date(cell: &str) -> bool {
    if cell.len() < 5 || cell.len() > 40 || !cell.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    let marks = cell.chars().filter(|&character| matches!(character, '-' | '/' | ':' | '.')).count();
    let digits = cell.chars().filter(char::is_ascii_digit).count();
    let letters = cell.chars().filter(|character| character.is_alphabetic()).count();
    let is_plain = cell.chars().all(|character| character.is_ascii_alphanumeric() || " -/:.+,".contains(character));
    is_plain && (2..=6).contains(&marks) && digits >= 4 && letters <= 3
}
