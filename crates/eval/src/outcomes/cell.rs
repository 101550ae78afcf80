//! A cell of a table as results are compared: by value, not by spelling.

use std::cmp::Ordering;
use std::sync::LazyLock;

use lakeward_reading::reader::MONTHS;
use regex::{Captures, Regex};

/// Numbers this near 0 are 0.
const NEAR_ZERO: f64 = 1e-9;
/// Whole numbers are compared exactly where numbers may differ by no more than this share.
pub const EXACT_WHOLE: f64 = 1e-6;
/// From here on, not every whole number is a floating-point number.
const WHOLE_FLOATS: f64 = 9_007_199_254_740_992.0;

/// A cell by its value. Yes and no are 1 and 0 in the order of cells.
#[derive(Debug, Clone)]
pub enum Cell {
    /// A date with its time: year, month, day, hour, minute, second.
    Date([u32; 6]),
    /// Nothing: an empty cell, NULL or NaN.
    Empty,
    /// A whole number.
    Whole(i128),
    /// Another number.
    Fraction(f64),
    /// Yes or no.
    Boolean(bool),
    /// Anything else, trimmed.
    Text(String),
}

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"^([-+]?)[$€£]?\s?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(\.[0-9]*)?([eE][-+]?[0-9]+)?\s?%?$")
});
static ISO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"^([0-9]{4})-([0-9]{2})-([0-9]{2})",
        r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?\s?(?:Z|\+00:?00|UTC)?)?$"
    ))
});

/// Other ways to write a date, with the groups that have year, month and day.
static DATES: LazyLock<Vec<(Regex, [usize; 3])>> = LazyLock::new(|| {
    let of = |text: &str, places| Some((pattern(text)?, places));
    let short = r"^([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4})$";
    let all = [
        of(short, [3, 2, 1]),
        of(short, [3, 1, 2]),
        of(r"^([0-9]{4})[./]([0-9]{1,2})[./]([0-9]{1,2})$", [1, 2, 3]),
        of(r"^([0-9]{1,2})[- ]([A-Za-z]{3})[a-z]*[- ]([0-9]{4})$", [3, 2, 1]),
    ];
    all.into_iter().flatten().collect()
});

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// How many ways to write a date [`Cell::of_date`] knows.
pub fn date_forms() -> usize {
    DATES.len()
}

impl Cell {
    /// The cell that `text` writes.
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        match text.to_lowercase().as_str() {
            "" | "null" | "nan" | "nat" | "<na>" => return Self::Empty,
            "yes" | "true" | "y" => return Self::Boolean(true),
            "no" | "false" | "n" => return Self::Boolean(false),
            _ => {}
        }
        // Most texts begin like neither a number nor a date.
        let is_word = text.starts_with(char::is_alphabetic);
        let value = if is_word { None } else { number(text).or_else(|| iso(text)) };
        value.unwrap_or_else(|| Self::Text(text.to_string()))
    }

    /// The date that `text` writes in form `form`, of [`date_forms`].
    pub fn of_date(text: &str, form: usize) -> Option<Self> {
        let (pattern, places) = DATES.get(form)?;
        let found = pattern.captures(text)?;
        let [year, month, day] = places.map(|place| found.get(place).map_or("", |part| part.as_str()));
        let month = month.parse().ok().or_else(|| short_month(month))?;
        let date = [year.parse().ok()?, month, day.parse().ok()?, 0, 0, 0];
        ((1..=12).contains(&month) && date[2] <= 31).then_some(Self::Date(date))
    }

    /// The number of the month that `text` names, in full or by three letters.
    pub fn of_month(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let full = || MONTHS.iter().position(|month| *month == text).map(|place| place as u32 + 1);
        short_month(&text).or_else(full).map(|month| Self::Whole(month.into()))
    }

    /// Whether it is a number with a fraction, or one too large to be written exactly.
    pub fn is_fraction(&self) -> bool {
        matches!(self, Self::Fraction(_))
    }

    /// Whether two cells are the same value, numbers within `tolerance`, as a share of the greater one.
    pub fn is_same(&self, other: &Self, tolerance: f64) -> bool {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) if tolerance <= EXACT_WHOLE => a == b,
            (Self::Whole(_) | Self::Fraction(_), Self::Whole(_) | Self::Fraction(_)) => {
                let (a, b) = (self.number(), other.number());
                a == b || (a - b).abs() <= (tolerance * a.abs().max(b.abs())).max(NEAR_ZERO)
            }
            (Self::Boolean(yes), Self::Whole(_) | Self::Fraction(_)) => other.number() == f64::from(u8::from(*yes)),
            (Self::Whole(_) | Self::Fraction(_), Self::Boolean(_)) => other.is_same(self, tolerance),
            _ => self == other,
        }
    }

    fn number(&self) -> f64 {
        match self {
            Self::Whole(value) => *value as f64,
            Self::Fraction(value) => *value,
            Self::Boolean(yes) => f64::from(u8::from(*yes)),
            _ => f64::NAN,
        }
    }

    /// Kinds in an order, and within numbers what makes whole ones that are one floating-point number differ.
    fn key(&self) -> (u8, Option<i128>) {
        match self {
            Self::Date(_) => (0, None),
            Self::Empty => (1, None),
            Self::Whole(value) => (2, Some(*value)),
            Self::Boolean(yes) => (2, Some((*yes).into())),
            Self::Fraction(_) => (2, None),
            Self::Text(_) => (3, None),
        }
    }
}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => {
                let ((kind, whole), (other_kind, other_whole)) = (self.key(), other.key());
                let numbers = || self.number().total_cmp(&other.number()).then(whole.cmp(&other_whole));
                kind.cmp(&other_kind).then_with(|| if kind == 2 { numbers() } else { Ordering::Equal })
            }
        }
    }
}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cell {}

fn short_month(text: &str) -> Option<u32> {
    let place = MONTHS.iter().position(|month| month[..3].eq_ignore_ascii_case(text))?;
    Some(place as u32 + 1)
}

/// A number, with signs of currencies, percent and thousands left out; `007` is none.
fn number(text: &str) -> Option<Cell> {
    let found = NUMBER.as_ref()?.captures(text)?;
    let part = |place| group(&found, place);
    let whole = part(2).replace(',', "");
    if (whole.is_empty() && matches!(part(3), "" | ".")) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    if part(3).is_empty() && part(4).is_empty() {
        let spelt = format!("{}{whole}", part(1));
        return spelt.parse().map(Cell::Whole).or_else(|_| spelt.parse().map(Cell::Fraction)).ok();
    }
    let whole = if whole.is_empty() { "0" } else { &whole };
    let value: f64 = format!("{}{whole}{}{}", part(1), part(3), part(4)).parse().ok()?;
    let is_whole = value.fract() == 0.0 && value.abs() < WHOLE_FLOATS;
    Some(if is_whole { Cell::Whole(value as i128) } else { Cell::Fraction(value) })
}

fn iso(text: &str) -> Option<Cell> {
    let found = ISO.as_ref()?.captures(text)?;
    let part = |place| group(&found, place).parse().unwrap_or(0);
    Some(Cell::Date([part(1), part(2), part(3), part(4), part(5), part(6)]))
}

fn group<'t>(found: &Captures<'t>, place: usize) -> &'t str {
    found.get(place).map_or("", |part| part.as_str())
}
