//! One normalisation for index and query: the meaning of a cell, as bytes that can be hashed.
//!
//! Numbers and dates are converted to one canonical text ([`super::number`], [`super::temporal`]). Other text loses accidental variation:
//! case, accents, Unicode compatibility forms, spaces, punctuation, trailing footnote marks, and, for values made of words only, the order
//! of the words (`Last, First`). Codes keep their leading zeros, signs and order. The raw form is never replaced, only compared beside its
//! normal form; [`super::Difference`] names the variation that normalisation removed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::fold::fold_text;
use super::number::{self, Unit};
use super::stored;
use super::temporal::parse_date;
use super::writing::Writing;

/// The kind of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Empty, or one of the usual markers of a missing value.
    Null,
    /// A whole number.
    Integer,
    /// A number with a fractional part.
    Float,
    /// A number with a per cent sign.
    Percent,
    /// A number with a currency sign.
    Currency,
    /// A calendar date or month.
    Date,
    /// A date with a time of day.
    DateTime,
    /// Anything else.
    Text,
}

impl Kind {
    /// Number of kinds.
    pub const COUNT: usize = 8;
    /// All kinds; `ALL[kind as usize] == kind`.
    pub const ALL: [Kind; Kind::COUNT] =
        [Kind::Null, Kind::Integer, Kind::Float, Kind::Percent, Kind::Currency, Kind::Date, Kind::DateTime, Kind::Text];

    /// Whether cells of this kind have a numeric value.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::Integer | Kind::Float | Kind::Percent | Kind::Currency)
    }
}

/// A normalised cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// Its kind.
    pub kind: Kind,
    /// 64-bit hash of the normal form with its type tag; equal normal forms have equal hashes. 0 for a missing value.
    pub hash: u64,
    /// The number for numeric kinds; days since 0000-03-01 plus the fraction of the day for dates; otherwise NaN.
    pub number: f64,
}

impl Value {
    const NULL: Value = Value { kind: Kind::Null, hash: 0, number: f64::NAN };
}

/// Longer text (in bytes) is hashed as it is: it is not a join value, and folding it is slow.
pub(super) const LONGEST_FOLDED: usize = 512;
/// Word order is ignored up to this many words; longer texts are sentences.
const MOST_REORDERED_WORDS: usize = 8;

/// Turns cells into [`Value`]s; reuses its buffers between calls, so that no cell allocates.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Normaliser {
    #[serde(with = "stored::as_json")]
    writing: Writing,
    #[serde(skip)]
    digits: String,
    #[serde(skip)]
    normal: String,
    #[serde(skip)]
    folded: String,
    #[serde(skip)]
    words: Vec<(usize, usize)>,
}

impl Normaliser {
    /// A normaliser for a column that writes its values like this.
    pub fn new(writing: impl Into<Writing>) -> Self {
        Self { writing: writing.into(), ..Self::default() }
    }

    /// How the column writes its values.
    pub fn writing(&self) -> &Writing {
        &self.writing
    }

    /// The normal form of `raw`, valid until the next call; empty for a missing value.
    pub fn text(&mut self, raw: &str) -> &str {
        self.value(raw);
        &self.normal
    }

    /// The normal form of `raw` as a text that is unique per normal form: equal for two cells exactly if their [`Value::hash`] is; `None`
    /// for a missing value. It is [`Normaliser::text`], except that words that read like a number without being one (`(12)` beside `12`),
    /// or are longer than any other normal form, get a leading apostrophe, as in a spreadsheet. No folded text begins with one.
    pub fn distinct_text(&mut self, raw: &str) -> Option<&str> {
        let value = self.value(raw);
        if value.kind == Kind::Null {
            return None;
        }
        self.set_words_apart(trimmed(raw).len() > LONGEST_FOLDED, value.kind);
        Some(&self.normal)
    }

    fn set_words_apart(&mut self, unfolded: bool, kind: Kind) {
        if kind != Kind::Text {
            return;
        }
        if unfolded {
            if self.normal.starts_with('\'') {
                self.normal.insert_str(0, "''");
            }
        } else if self.normal.len() > LONGEST_FOLDED || number::is_canonical(self.normal.as_bytes()) {
            self.normal.insert(0, '\'');
        }
    }

    /// Normalises one cell.
    pub fn value(&mut self, raw: &str) -> Value {
        let cell = trimmed(raw);
        self.normal.clear();
        if self.writing.is_missing(cell) {
            return Value::NULL;
        }
        if cell.len() > LONGEST_FOLDED {
            self.normal.push_str(cell);
            return Value { kind: Kind::Text, hash: xxh3_64(cell.as_bytes()), number: f64::NAN };
        }
        if let Some(value) = self.number_or_date(cell) {
            return value;
        }
        let bare = without_footnotes(cell);
        if bare.len() < cell.len()
            && let Some(value) = self.number_or_date(bare)
        {
            return value;
        }
        self.fold(bare);
        if self.normal.is_empty() {
            // Only marks: `***`, `+++`. They are kept as they are.
            self.normal.push_str(cell);
        }
        Value { kind: Kind::Text, hash: tagged_hash(self.normal.as_bytes(), Tag::Text), number: f64::NAN }
    }

    fn number_or_date(&mut self, cell: &str) -> Option<Value> {
        if let Some(number) = self.writing.plain_number(cell) {
            self.normal.push_str(number.canonical);
            let kind = if number.integer { Kind::Integer } else { Kind::Float };
            return Some(Value {
                kind,
                hash: tagged_hash(number.canonical.as_bytes(), Tag::Number),
                number: number.value,
            });
        }
        if let Some(number) = self.writing.number(cell, &mut self.digits) {
            number::write_canonical(&number, &self.digits, &mut self.normal);
            let kind = match number.unit {
                Unit::Percent => Kind::Percent,
                Unit::Currency => Kind::Currency,
                Unit::None if number.integer => Kind::Integer,
                Unit::None => Kind::Float,
            };
            return Some(Value { kind, hash: tagged_hash(self.normal.as_bytes(), Tag::Number), number: number.value });
        }
        let moment = parse_date(cell, self.writing.dates)?;
        moment.write_iso(&mut self.normal);
        let kind = if moment.second > 0 { Kind::DateTime } else { Kind::Date };
        let day = days_from_epoch(moment.year, moment.month, moment.day.max(1));
        let number = day + f64::from(moment.second) / 86_400.0;
        Some(Value { kind, hash: tagged_hash(self.normal.as_bytes(), Tag::Date), number })
    }

    /// Writes the folded words of `text` into `self.normal`.
    fn fold(&mut self, text: &str) {
        self.folded.clear();
        fold_text(text, &mut self.folded);
        self.words.clear();
        let mut start = 0;
        let mut only_words = true;
        for (end, byte) in self.folded.bytes().chain([b' ']).enumerate() {
            if byte == b' ' {
                if end > start {
                    self.words.push((start, end));
                }
                start = end + 1;
            } else if !(byte.is_ascii_alphabetic() || byte >= 0x80) {
                only_words = false;
            }
        }
        if only_words && (2..=MOST_REORDERED_WORDS).contains(&self.words.len()) {
            let folded = &self.folded;
            self.words.sort_unstable_by(|a, b| folded[a.0..a.1].cmp(&folded[b.0..b.1]));
        }
        for (place, &(start, end)) in self.words.iter().enumerate() {
            if place > 0 {
                self.normal.push(' ');
            }
            self.normal.push_str(&self.folded[start..end]);
        }
    }
}

#[derive(Clone, Copy)]
#[repr(u64)]
pub(super) enum Tag {
    Number = 1,
    Date = 2,
    Text = 3,
    /// Text that reads like a number, as `(12)` does. For such short input XXH3 only adds the seed, so with a small seed the text `-10`
    /// would have the hash of the number −12.
    Figure = 0x9E37_79B9_7F4A_7C15,
}

#[inline]
pub(super) fn tagged_hash(normal: &[u8], tag: Tag) -> u64 {
    let tag = match tag {
        Tag::Text if number::is_canonical(normal) => Tag::Figure,
        tag => tag,
    };
    // 0 is the hash of a missing value.
    xxh3_64_with_seed(normal, tag as u64).max(1)
}

/// `raw` without surrounding white space, as [`str::trim`], with a fast path for the usual cell that has none.
#[inline]
pub fn trimmed(raw: &str) -> &str {
    match raw.as_bytes() {
        [byte] | [byte, .., b'!'..=b'~'] if matches!(byte, b'!'..=b'~') => raw,
        _ => raw.trim(),
    }
}

/// Hash of a trimmed cell as written; equal exactly for cells that are written alike.
pub fn raw_hash(cell: &str) -> u64 {
    xxh3_64(cell.as_bytes())
}

/// `cell` without trailing footnote marks: `[1]`, `[note 2]`, `*`, `†`, `‡`, `§`, `¶`, superscript digits.
pub fn without_footnotes(cell: &str) -> &str {
    let mut rest = cell;
    loop {
        if matches!(rest.as_bytes(), [.., b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'.' | b')' | b'%']) {
            return rest;
        }
        let before = rest.trim_end();
        let stripped = before
            .strip_suffix(['*', '†', '‡', '§', '¶', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹', '⁰'])
            .or_else(|| bracketed_note(before));
        match stripped {
            Some(shorter) if !shorter.trim_end().is_empty() => rest = shorter,
            _ => return before,
        }
    }
}

fn bracketed_note(text: &str) -> Option<&str> {
    let open = text.strip_suffix(']')?.rfind('[')?;
    let note = &text[open + 1..text.len() - 1];
    let marker = note.len() <= 3
        || note.starts_with("note")
        || note.starts_with("nb")
        || note.bytes().all(|b| b.is_ascii_digit());
    (marker && open > 0).then(|| &text[..open])
}

/// Days from 0000-03-01 in the proleptic Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn days_from_epoch(year: u16, month: u8, day: u8) -> f64 {
    let (year, month) = if month > 2 { (i64::from(year), month - 3) } else { (i64::from(year) - 1, month + 9) };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * i64::from(month) + 2) / 5 + i64::from(day) - 1;
    (era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(cell: &str) -> u64 {
        Normaliser::default().value(cell).hash
    }

    proptest::proptest! {
        #[test]
        fn cells_are_trimmed_like_any_text(cell in "[ \\t\u{a0}a-cé]{0,6}") {
            proptest::prop_assert_eq!(trimmed(&cell), cell.trim());
            let spaced = format!("{} ", cell.trim());
            proptest::prop_assert_eq!(without_footnotes(cell.trim()), without_footnotes(&spaced));
        }
    }

    #[test]
    fn values_that_mean_the_same_hash_the_same() {
        for (a, b) in [
            ("Finland", " finland "),
            ("Finland[1]", "FINLAND"),
            ("Spain*", "Spain"),
            ("France †", "france"),
            ("Smith, John", "John Smith"),
            ("Korea, South", "South Korea"),
            ("São Paulo", "Sao Paulo"),
            ("O'Brien", "OBrien"),
            ("AT&T Inc.", "AT & T inc"),
            ("3–1", "3-1"),
            ("New\u{a0}York", "New  York"),
            ("1,234", "1234.0"),
            ("1,234[2]", "1234"),
            ("14 March 2020", "2020-03-14"),
            ("ＡＢＣ", "abc"),
            ("rock_and_roll", "Rock & Roll"),
        ] {
            assert_eq!(hash(a), hash(b), "{a} = {b}");
        }
    }

    #[test]
    fn values_that_differ_in_meaning_stay_apart() {
        for (a, b) in [
            ("02134", "2134"),
            ("A-", "A"),
            ("A+", "A"),
            ("C++", "C"),
            ("C#", "C"),
            ("50%", "50"),
            ("-5 C", "5 C"),
            ("3-1", "1-3"),
            ("2-12", "12-2"),
            ("<5", "5"),
            ("A 12", "12 A"),
            ("***", "**"),
            ("Track 1", "Track 10"),
        ] {
            assert_ne!(hash(a), hash(b), "{a} ≠ {b}");
        }
    }

    #[test]
    fn words_that_read_like_numbers_are_set_apart() {
        let mut normaliser = Normaliser::default();
        let mut form = |cell: &str| normaliser.distinct_text(cell).map(str::to_string);
        assert_eq!(form("(12)").as_deref(), Some("'12"));
        assert_eq!(form("1,200").as_deref(), Some("1200"));
        assert_eq!(form("02134").as_deref(), Some("02134"));
        assert_eq!(form("2 Jan 2020").as_deref(), Some("2020-01-02"));
        assert_eq!(form("n/a"), None);
        let long = "&".repeat(300);
        let folded = form(&long).expect("a form");
        assert_ne!(form(folded.trim_start_matches('\'')), Some(folded));
        let digits = format!("1{}", "0".repeat(300));
        assert_ne!(form("1e300"), form(&digits));
        let mut of_codes = Normaliser::new(Writing { words: vec!["NA".into()], ..Writing::default() });
        assert_eq!(of_codes.distinct_text("NA"), Some("na"));
    }

    #[test]
    fn words_that_read_like_numbers_have_the_hash_of_no_number() {
        let mut normaliser = Normaliser::default();
        let numbers: Vec<u64> = (-999..=999).map(|number: i32| normaliser.value(&number.to_string()).hash).collect();
        for word in ["-10)", "(10)", "(12)", "7)", "-1)"] {
            let value = normaliser.value(word);
            assert!(value.kind == Kind::Text && !numbers.contains(&value.hash), "{word}");
        }
    }

    #[test]
    fn dates_count_days() {
        let mut normaliser = Normaliser::default();
        let (a, b) = (normaliser.value("2020-02-28").number, normaliser.value("2020-03-01").number);
        assert_eq!(b - a, 2.0);
        assert_eq!(days_from_epoch(1970, 1, 1), 719_468.0);
    }

    proptest::proptest! {
        #[test]
        fn distinct_texts_are_equal_exactly_when_hashes_are(
            cells in proptest::collection::vec(
                "[ '(]{0,2}-?[0-2]{0,3}[.,]?[01]{0,3}%?[)\\* ]{0,2}|[aAé,' -]{0,4}|202[01]-0[12]-?(0[12])?|[12] Jan 2020|[-'*+]{1,3}",
                2..12,
            )
        ) {
            let mut normaliser = Normaliser::default();
            let forms: Vec<(u64, Option<String>)> = cells
                .iter()
                .map(|cell| (normaliser.value(cell).hash, normaliser.distinct_text(cell).map(str::to_string)))
                .collect();
            for (a, first) in cells.iter().zip(&forms) {
                for (b, second) in cells.iter().zip(&forms) {
                    proptest::prop_assert_eq!(first.0 == second.0, first.1 == second.1, "{} / {}", a, b);
                }
            }
        }

        #[test]
        fn any_text_normalises_and_its_normal_form_is_stable(text in "\\PC{0,40}") {
            let mut normaliser = Normaliser::default();
            let value = normaliser.value(&text);
            let normal = normaliser.text(&text).to_string();
            if value.kind == Kind::Text && normal.len() < 200 {
                proptest::prop_assert_eq!(normaliser.text(&format!("  {text} ")), normal);
            }
        }
    }
}
