//! Names what normalisation removed between two ways to write a value.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::normalise::{Kind, Normaliser, without_footnotes};

/// What normalisation removed between two cells with the same normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Spaces only.
    Spaces,
    /// Upper and lower case.
    Case,
    /// A trailing footnote mark.
    FootnoteMark,
    /// Accents or Unicode compatibility forms.
    Accents,
    /// Punctuation.
    Punctuation,
    /// The order of the words, as in `Last, First`.
    WordOrder,
    /// The style of a number.
    NumberStyle,
    /// The style of a date.
    DateStyle,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difference::Spaces => "spaces",
            Difference::Case => "case",
            Difference::FootnoteMark => "footnote marks",
            Difference::Accents => "accents",
            Difference::Punctuation => "punctuation",
            Difference::WordOrder => "word order",
            Difference::NumberStyle => "number style",
            Difference::DateStyle => "date style",
        })
    }
}

impl Difference {
    /// The strongest difference between two cells of equal normal form; `None` if they are written alike.
    pub fn between(a: &str, b: &str, normaliser: &mut Normaliser) -> Option<Self> {
        let (a, b) = (a.trim(), b.trim());
        if a == b {
            return None;
        }
        match normaliser.value(a).kind {
            Kind::Date | Kind::DateTime => return Some(Difference::DateStyle),
            kind if kind.is_number() => return Some(Difference::NumberStyle),
            _ => {}
        }
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (a, b) = (spaced(a), spaced(b));
        if a == b {
            return Some(Difference::Spaces);
        }
        let (a, b) = (a.to_lowercase(), b.to_lowercase());
        if a == b {
            return Some(Difference::Case);
        }
        let (a, b) = (without_footnotes(&a).to_string(), without_footnotes(&b).to_string());
        if a == b {
            return Some(Difference::FootnoteMark);
        }
        let plain = |text: &str| text.nfkd().filter(|c| !is_combining_mark(*c)).collect::<String>();
        let (a, b) = (plain(&a), plain(&b));
        if a == b {
            return Some(Difference::Accents);
        }
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        Some(if letters(&a) == letters(&b) { Difference::Punctuation } else { Difference::WordOrder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named() {
        let mut normaliser = Normaliser::default();
        for (a, b, expected) in [
            ("x", "x", None),
            ("New York", "New  York", Some(Difference::Spaces)),
            ("New York", "NEW YORK", Some(Difference::Case)),
            ("Spain[3]", "spain", Some(Difference::FootnoteMark)),
            ("Spain*", "Spain", Some(Difference::FootnoteMark)),
            ("Málaga", "Malaga", Some(Difference::Accents)),
            ("St. Louis", "St Louis", Some(Difference::Punctuation)),
            ("Smith, John", "John Smith", Some(Difference::WordOrder)),
            ("1,000", "1000", Some(Difference::NumberStyle)),
            ("2020-01-02", "2 Jan 2020", Some(Difference::DateStyle)),
        ] {
            assert_eq!(Difference::between(a, b, &mut normaliser), expected, "{a} / {b}");
        }
    }
}
