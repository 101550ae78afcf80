//! Values that nearly match: abbreviated words, initials for first names, typing errors, words run together.
//!
//! Such values have different normal forms, so equality joins do not match them, and none of this ever counts as equality; it shows that
//! two columns may still describe the same things. Each value has two keys under which its variants are found: the initials of its words
//! with the beginning of the last one, which survives abbreviation, and the set of its letters, which survives doubled, swapped and most
//! dropped letters. Whether two values are variants of each other is then decided word by word. Words with digits must be equal: `Track 1`
//! is not `Track 10`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::fold::fold_text;
use super::normalise::without_footnotes;

/// How two nearly matching values differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variation {
    /// A trailing mark or short note in brackets: `Chile (W)`.
    Marked,
    /// The same letters, with or without spaces between.
    RunTogether,
    /// Words abbreviated, or cut to an initial: `Dav. Villa`, `D. Villa`.
    Abbreviated,
    /// One or two letters doubled, dropped, changed or swapped.
    Misspelt,
}

impl fmt::Display for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variation::Marked => "marked",
            Variation::RunTogether => "run together",
            Variation::Abbreviated => "abbreviated",
            Variation::Misspelt => "misspelt",
        })
    }
}

/// Values with fewer letters are too short to compare.
const LEAST_LETTERS: usize = 4;
/// Longer values are sentences; in bytes of their letters.
const MOST_LETTERS: usize = 80;
/// Fewest letters of an abbreviated word: fewer are an initial or are ambiguous.
const LEAST_CUT: usize = 3;
/// The same for a value of one word.
const LEAST_CUT_ALONE: usize = 4;
/// Shorter words have no misspelt variants.
const LEAST_MISSPELT: usize = 4;
/// Words of at least this many letters may have two mistakes.
const TWO_MISTAKES: usize = 8;
/// A trailing group in brackets with at most this many bytes inside is a mark.
const LONGEST_MARK: usize = 3;
/// Bytes of the longest UTF-8 letter.
const LONGEST_LETTER: usize = 4;
/// Longest word that is checked for mistakes, in letters.
const MOST_COMPARED: usize = 40;

/// A value split into words for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApproximateForm {
    /// Folded words in order, without spaces.
    letters: String,
    /// Where each word ends in `letters`.
    ends: Vec<u8>,
    /// A bit for each letter that occurs.
    set: u64,
    /// Maximum number of mistakes over all its words.
    mistakes: u8,
}

impl ApproximateForm {
    /// The form of `cell`; `None` if it is too short, too long or mostly digits.
    pub fn of(cell: &str) -> Option<Self> {
        let bare = without_marks(cell.trim());
        if bare.len() < LEAST_LETTERS || bare.len() > 2 * MOST_LETTERS {
            return None;
        }
        let mut folded = String::with_capacity(bare.len());
        match bare.split_once(',') {
            // `Last, First`.
            Some((last, first)) if !first.contains(',') => {
                fold_text(first, &mut folded);
                folded.push(' ');
                fold_text(last, &mut folded);
            }
            _ => fold_text(bare, &mut folded),
        }
        let mut letters = String::with_capacity(folded.len());
        let mut ends = Vec::with_capacity(4);
        for word in folded.split(' ').filter(|word| !word.is_empty()) {
            letters.push_str(word);
            if letters.len() > MOST_LETTERS {
                return None;
            }
            ends.push(letters.len() as u8);
        }
        let digits = letters.bytes().filter(u8::is_ascii_digit).count();
        if letters.len() < LEAST_LETTERS || digits * 2 > letters.len() {
            return None;
        }
        let set = letters.chars().fold(0, |set, letter| set | 1 << (letter as u32 % 64));
        let mut form = Self { letters, ends, set, mistakes: 0 };
        form.mistakes = form.words().map(|word| mistakes_in(word.chars().count()) as u8).sum();
        Some(form)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| usize::from(*end)));
        starts.zip(&self.ends).map(|(start, end)| &self.letters[start..usize::from(*end)])
    }

    /// The letters without spaces.
    pub fn letters(&self) -> &str {
        &self.letters
    }

    /// The initials, which abbreviated and misspelt variants share. Only values with equal groups, or equal [`letters`](Self::letters), are
    /// compared; a mistake in the first letter of a word is missed.
    pub fn group(&self) -> u64 {
        const FACTOR: u64 = 0x100_0000_01b3;
        let initials = self.words().filter_map(|word| word.chars().next());
        initials.fold(self.ends.len() as u64, |group, letter| group.wrapping_mul(FACTOR) ^ u64::from(letter))
    }

    /// The hashes under which variants of the value are found; most variants share at least one of them.
    pub fn keys(&self) -> [u64; 2] {
        const CUT: u64 = 11;
        const SET: u64 = 12;
        let last = self.ends.len() - 1;
        let mut cut = String::with_capacity(16);
        for (place, word) in self.words().enumerate() {
            let kept = match (place == last, last) {
                (true, 0) => LEAST_CUT_ALONE,
                (true, _) => LEAST_CUT,
                (false, _) => 1,
            };
            cut.extend(word.chars().take(kept));
        }
        let mut set: Vec<char> = self.letters.chars().collect();
        set.sort_unstable();
        set.dedup();
        let set: String = set.into_iter().collect();
        [xxh3_64_with_seed(cut.as_bytes(), CUT), xxh3_64_with_seed(set.as_bytes(), SET)]
    }

    /// How the value differs from `other`, if it is a variant of it. Only for values with different normal forms, since marks are removed
    /// before comparing.
    pub fn variation(&self, other: &Self) -> Option<Variation> {
        if self.letters == other.letters {
            return Some(if self.ends == other.ends { Variation::Marked } else { Variation::RunTogether });
        }
        if self.ends.len() != other.ends.len() {
            return None;
        }
        if self.is_cut(other) {
            return Some(Variation::Abbreviated);
        }
        // A mistake changes the length by at most one letter and the set by at most two.
        let mistakes = u32::from(self.mistakes.min(other.mistakes));
        let bytes_apart = self.letters.len().abs_diff(other.letters.len());
        let may_be = (self.set ^ other.set).count_ones() <= 2 * mistakes
            && bytes_apart <= LONGEST_LETTER * mistakes as usize
            && self.is_misspelt(other);
        may_be.then_some(Variation::Misspelt)
    }

    fn is_cut(&self, other: &Self) -> bool {
        let alone = self.ends.len() == 1;
        let mut informative = false;
        for (a, b) in self.words().zip(other.words()) {
            let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
            if short == long {
                informative |= short.len() >= LEAST_CUT;
                continue;
            }
            if !long.starts_with(short) || !is_word(long) {
                return false;
            }
            match short.chars().count() {
                1 if !alone => {}
                letters if letters >= if alone { LEAST_CUT_ALONE } else { LEAST_CUT } => informative = true,
                _ => return false,
            }
        }
        informative
    }

    fn is_misspelt(&self, other: &Self) -> bool {
        self.words().zip(other.words()).all(|(a, b)| a == b || is_mistake(a, b))
    }
}

fn is_word(text: &str) -> bool {
    text.chars().all(char::is_alphabetic)
}

/// Allowed mistakes in a word of this many letters.
fn mistakes_in(letters: usize) -> usize {
    match letters {
        0..LEAST_MISSPELT => 0,
        LEAST_MISSPELT..TWO_MISTAKES => 1,
        _ => 2,
    }
}

fn is_mistake(a: &str, b: &str) -> bool {
    let letters = |text: &str| text.chars().take(MOST_COMPARED + 1).collect::<Vec<char>>();
    let (a, b) = (letters(a), letters(b));
    let mistakes = mistakes_in(a.len().min(b.len()));
    let is_word = |text: &[char]| text.len() <= MOST_COMPARED && text.iter().all(|c| c.is_alphabetic());
    mistakes > 0 && is_word(&a) && is_word(&b) && edits_within(&a, &b, mistakes)
}

/// Whether at most `most` letters added, dropped, changed or swapped with their neighbour turn `a` into `b` (optimal string alignment).
fn edits_within(a: &[char], b: &[char], most: usize) -> bool {
    if a.len().abs_diff(b.len()) > most {
        return false;
    }
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    if a.is_empty() || b.is_empty() {
        return a.len().max(b.len()) <= most;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut line = Vec::with_capacity(b.len() + 1);
        line.push(row + 1);
        for (column, other) in b.iter().enumerate() {
            let changed = above[column] + usize::from(letter != other);
            let mut edits = changed.min(above[column + 1] + 1).min(line[column] + 1);
            if row > 0 && column > 0 && *letter == b[column - 1] && a[row - 1] == *other {
                edits = edits.min(before[column - 1] + 1);
            }
            line.push(edits);
        }
        if line.iter().min().is_some_and(|least| *least > most) {
            return false;
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().is_some_and(|edits| *edits <= most)
}

/// `cell` without trailing footnote marks and short groups in brackets: `[3]`, `(W)`.
fn without_marks(cell: &str) -> &str {
    let mut rest = without_footnotes(cell);
    loop {
        let Some(open) = rest.strip_suffix([')', ']']).and_then(|inside| inside.rfind(['(', '['])) else { return rest };
        let before = rest[..open].trim_end();
        if rest.len() - open - 2 > LONGEST_MARK || before.is_empty() {
            return rest;
        }
        rest = without_footnotes(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variation(a: &str, b: &str) -> Option<Variation> {
        let (a, b) = (ApproximateForm::of(a)?, ApproximateForm::of(b)?);
        let found = a.variation(&b);
        assert_eq!(found, b.variation(&a));
        found
    }

    #[test]
    fn variants_differ_from_other_values() {
        use Variation::{Abbreviated, Marked, Misspelt, RunTogether};
        for (a, b, expected) in [
            ("Carlos Ruiz", "Car. Ruiz", Some(Abbreviated)),
            ("Carlos Ruiz", "C. RUIZ", Some(Abbreviated)),
            ("Ruiz, Carlos", "C. Ruiz", Some(Abbreviated)),
            ("Baltimore", "BALTIM", Some(Abbreviated)),
            ("Dan Wheldon (W) [e]", "Dan Whe.", Some(Abbreviated)),
            ("Fremantle", "fremanlte", Some(Misspelt)),
            ("Dundee United", "dundee uited", Some(Misspelt)),
            ("Middlesbrough", "Midlesbrogh", Some(Misspelt)),
            ("Baton Rouge, Louisiana", "BatonRouge,Louisiana", Some(RunTogether)),
            ("Group A", "Group B", None),
            ("Track 1", "Track 10", None),
            ("Hillsdale", "at Hillsdale", None),
            ("Games in July", "Games in June", None),
            ("A. Ruiz", "Carlos Ruiz", None),
            ("Col", "Colombia", None),
            ("Dallas", "Dayton", None),
            ("Chicago Fire (e)", "chicago fire", Some(Marked)),
        ] {
            assert_eq!(variation(a, b), expected, "{a} / {b}");
        }
    }

    #[test]
    fn variants_share_a_key() {
        for (a, b) in [
            ("Carlos Ruiz", "C. Ruiz"),
            ("Emerson Fittipaldi", "Emerson Fit."),
            ("Columbus", "Collumbus"),
            ("Havard", "Havrad"),
            ("Chapel Hill", "ChapelHill"),
            ("Baltimore", "BALTIM"),
        ] {
            let keys = |cell| ApproximateForm::of(cell).expect("a form").keys();
            assert!(keys(a).iter().any(|key| keys(b).contains(key)), "{a} / {b}");
        }
    }

    #[test]
    fn numbers_codes_and_essays_have_no_form() {
        for cell in ["12", "2010-11", "0x0031 9", "", "...", &"word ".repeat(40)] {
            assert_eq!(ApproximateForm::of(cell), None, "{cell}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_two_values_compare_alike_from_both_sides(a in "\\PC{0,24}", b in "[a-eé (),]{0,16}") {
            let _ = variation(&a, &b);
            if let Some(form) = ApproximateForm::of(&a) {
                proptest::prop_assert_eq!(form.variation(&form), Some(Variation::Marked));
                proptest::prop_assert_eq!(form.words().collect::<String>(), form.letters());
            }
        }
    }
}
