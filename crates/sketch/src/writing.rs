//! How a column writes its values: decided once, from all of its cells, and used wherever one of its cells is read.
//!
//! A cell alone does not say what it means: `NA` is Namibia among country codes, `645.705` is 645,705 among `1.922.523`, `3/4/2020` has two
//! readings, and `None` is a treatment in one column and a gap in the next. The profile decides; indexes, searches, queries and exported
//! scripts take its decision.
//!
//! `NA` stays a word among two-letter codes (of countries, continents, or more than 60), `None`, `Missing` and `nil`
//! where they are one of at most 30 values of a text that occur three times each on average, `-` among signs; a point
//! parts thousands beside `12.294.193`, or where all other numbers are whole and at least 1,000. Files that declare
//! types say themselves what is missing.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number::{Number, PlainNumber, parse_number, parse_plain};
use super::temporal::DateOrder;

/// What a point does in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// As the number shows by itself, which is [`Point::Decimal`] unless the rest of the column decides otherwise.
    #[default]
    AsWritten,
    /// It begins a fraction where a number has only one: `645.705`, beside `1.922.523`.
    Decimal,
    /// It parts thousands wherever three digits follow: `645.705` is 645,705.
    Thousands,
}

/// How a column writes its values.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Writing {
    /// Which of two leading numbers of a slashed date is the day.
    #[serde(skip_serializing_if = "is_default")]
    pub dates: DateOrder,
    /// What a point does in a number.
    #[serde(skip_serializing_if = "is_default")]
    pub point: Point,
    /// Values that would mark a gap elsewhere: `NA` among codes of countries. Upper and lower case are one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Cells that mark a gap in this column, as `-9` does, besides the usual ones. Upper and lower case are one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Whether the file says itself what is missing, as Parquet does: an empty cell is the only mark of it.
    #[serde(skip_serializing_if = "is_default")]
    pub typed: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl From<DateOrder> for Writing {
    fn from(dates: DateOrder) -> Self {
        Self { dates, ..Self::default() }
    }
}

fn among(words: &[String], cell: &str) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(cell))
}

impl Writing {
    /// Of values whose gaps are known already: every text is a value.
    pub fn typed() -> Self {
        Self { typed: true, ..Self::default() }
    }

    /// Whether a trimmed cell is a gap.
    #[inline]
    pub fn is_missing(&self, cell: &str) -> bool {
        cell.is_empty()
            || (!self.missing.is_empty() && among(&self.missing, cell))
            || (is_marker(cell) && !self.typed && !among(&self.words, cell))
    }

    /// Whether a trimmed cell would be a gap elsewhere and is a value here.
    pub fn keeps(&self, cell: &str) -> bool {
        is_marker(cell) && !self.is_missing(cell)
    }

    /// [`parse_plain`] where the column writes numbers as usual.
    #[inline]
    pub fn plain_number<'c>(&self, cell: &'c str) -> Option<PlainNumber<'c>> {
        if self.point == Point::Thousands { None } else { parse_plain(cell) }
    }

    /// The number that a trimmed cell is; its plain digits go to `digits`, as those of [`parse_number`].
    pub fn number(&self, cell: &str, digits: &mut String) -> Option<Number> {
        if self.point == Point::Thousands && has_one_group(cell) {
            return parse_number(&cell.replacen('.', ",", 1), digits);
        }
        parse_number(cell, digits)
    }

    /// What is wrong with settings of a column that a user wrote, if anything.
    pub fn fault(&self) -> Option<String> {
        let is_cell = |cell: &String| {
            let len = cell.len();
            (1..=64).contains(&len) && cell.trim() == cell && !cell.contains(|c: char| c == ',' || c.is_control())
        };
        let wrong = self.words.iter().chain(&self.missing).find(|cell| !is_cell(cell));
        if let Some(cell) = wrong {
            return Some(format!("`{cell}` is no such cell: 1 to 64 bytes without commas and spaces around"));
        }
        let both = self.words.iter().find(|word| among(&self.missing, word));
        both.map(|word| format!("`{word}` is among `words` and among `missing`"))
    }
}

/// Whether a trimmed cell is one of the usual marks of a gap.
pub fn is_marker(cell: &str) -> bool {
    const WORDS: [&str; 11] = ["na", "n/a", "#n/a", "nan", "null", "none", "nil", "(null)", "n.a.", "<na>", "missing"];
    if cell.is_empty() {
        return true;
    }
    if cell.len() > 9 {
        return false;
    }
    match cell.as_bytes()[0] {
        b'-' | b'.' | b'?' | b':' | b'_' => cell.len() <= 3 && cell.bytes().all(|byte| byte == cell.as_bytes()[0]),
        b'\\' => cell == "\\N",
        0xe2 => matches!(cell, "–" | "—" | "−" | "…"),
        // `Na` is sodium and `Nan` a first name; gaps are written `NA`, `na`, `NaN` or `nan`.
        b'N' if matches!(cell, "Na" | "Nan") => false,
        b'n' | b'N' | b'#' | b'(' | b'<' | b'm' | b'M' => WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word)),
        _ => false,
    }
}

/// Whether a trimmed cell is a number of one to three digits, a point and three digits: `645.705`, `-$1.250`.
pub fn has_one_group(cell: &str) -> bool {
    let figure = cell.trim_matches(|c: char| matches!(c, '-' | '−' | '+' | '$' | '€' | '£' | '¥' | ' '));
    match figure.as_bytes() {
        [b'1'..=b'9', rest @ .., b'.', a, b, c] => {
            rest.len() <= 2 && rest.iter().chain([a, b, c]).all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// The second argument of SQL's functions of cells: `day_first, point=thousands, word=NA, missing=-9, typed`; empty for the default.
impl fmt::Display for Writing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        match self.dates {
            DateOrder::Unknown => {}
            DateOrder::DayFirst => parts.push("day_first".into()),
            DateOrder::MonthFirst => parts.push("month_first".into()),
        }
        match self.point {
            Point::AsWritten => {}
            Point::Decimal => parts.push("point=decimal".into()),
            Point::Thousands => parts.push("point=thousands".into()),
        }
        parts.extend(self.words.iter().map(|word| format!("word={word}")));
        parts.extend(self.missing.iter().map(|cell| format!("missing={cell}")));
        parts.extend(self.typed.then(|| "typed".to_string()));
        f.write_str(&parts.join(", "))
    }
}

impl FromStr for Writing {
    /// The part that says nothing.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut writing = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('=').unwrap_or((part, "")) {
                ("day_first", "") => writing.dates = DateOrder::DayFirst,
                ("month_first", "") => writing.dates = DateOrder::MonthFirst,
                ("point", "decimal") => writing.point = Point::Decimal,
                ("point", "thousands") => writing.point = Point::Thousands,
                ("typed", "") => writing.typed = true,
                ("word", word) if !word.is_empty() => writing.words.push(word.to_string()),
                ("missing", cell) if !cell.is_empty() => writing.missing.push(cell.to_string()),
                _ => return Err(part.to_string()),
            }
        }
        Ok(writing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_gaps_unless_the_column_keeps_them() {
        for cell in ["", "NA", "n/a", "-", "--", "…", "null", "NaN", "\\N", "..", "?", "Missing", "None"] {
            assert!(Writing::default().is_missing(cell), "{cell}");
        }
        for cell in ["Nan Province", "none of these", "0", "***", "-1", "N", "Na", "Nan"] {
            assert!(!Writing::default().is_missing(cell), "{cell}");
        }
        let writing = Writing { words: vec!["None".into()], missing: vec!["-9".into()], ..Writing::default() };
        assert!(writing.keeps("none") && !writing.keeps("Low"));
        assert!(writing.is_missing("-9") && writing.is_missing("NA") && !writing.is_missing("None"));
        assert!(!Writing::typed().is_missing("NA") && Writing::typed().is_missing(""));
    }

    #[test]
    fn a_point_parts_thousands_where_the_column_says_so() {
        let mut digits = String::new();
        let mut value = |point, cell: &str| {
            let writing = Writing { point, ..Writing::default() };
            writing.number(cell, &mut digits).map(|number| (number.value, number.integer))
        };
        assert_eq!(value(Point::Thousands, "645.705"), Some((645_705.0, true)));
        assert_eq!(value(Point::Thousands, "-€ 1.250"), Some((-1250.0, true)));
        assert_eq!(value(Point::Thousands, "12.294.193"), Some((12_294_193.0, true)));
        assert_eq!(value(Point::Thousands, "0.125"), Some((0.125, false)));
        assert_eq!(value(Point::AsWritten, "645.705"), Some((645.705, false)));
    }

    #[test]
    fn it_is_written_and_read() {
        let writing = Writing {
            dates: DateOrder::DayFirst,
            point: Point::Thousands,
            words: vec!["NA".into(), "None".into()],
            missing: vec!["-9".into(), "a=b".into()],
            typed: true,
        };
        assert_eq!(writing.to_string().parse(), Ok(writing));
        assert_eq!("".parse(), Ok(Writing::default()));
        assert_eq!("sideways".parse::<Writing>(), Err("sideways".into()));
        let both = Writing { words: vec!["NA".into()], missing: vec!["na".into()], ..Writing::default() };
        assert!(both.fault().is_some() && Writing::default().fault().is_none());
        assert!(Writing { missing: vec!["1,5".into()], ..Writing::default() }.fault().is_some());
    }
}
