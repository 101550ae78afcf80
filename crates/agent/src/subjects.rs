//! Subjects that a turn names as such: `in the field of hydrology`, `only the discipline Zoology`, `Biology > Zoology`.
//!
//! What data is about is said in many words, so a subject that is read only weighs. One that stands beside the name of its respect, or is
//! written as a path of levels, is held to, and with it all levels below. Closed forms; the catalogue says which words are a subject.

use std::ops::Range;

use lakeward_core::request::{Demand, Demanded};
use lakeward_core::respect::Respect;
use lakeward_core::text::{is_function_word, lower_words};
use lakeward_reading::catalogue::Vocabulary;
use lakeward_reading::reader::Revised;

/// Names of the respect. Of what is also a piece of land, a patient or a place on the Web only one stands here, and behind `the` or before a colon.
const NAMES: [&str; 11] = [
    "subject",
    "discipline",
    "disciplines",
    "category",
    "categories",
    "theme",
    "themes",
    "taxonomy",
    "classification",
    "field",
    "domain",
];
const AMBIGUOUS: [&str; 2] = ["field", "domain"];
/// Words of a subject at most.
const MOST_WORDS: usize = 8;
/// What ends a name.
const ENDS: [char; 7] = ['.', '?', '!', ';', ':', ',', '"'];

/// Whether a word names the respect.
pub(super) fn is_respect(word: &str) -> bool {
    NAMES.contains(&word)
}

/// Holds to the subjects that `text` names as such, in place of what was read of the same words in turn `turn`; where the turn `replaces`
/// something, they take the place of those that were named before.
pub(super) fn hold_to_named(after: &mut Revised, text: &str, turn: usize, replaces: bool, vocabulary: &Vocabulary) {
    let Revised { demands, gone, .. } = after;
    for (said, value) in named(text, vocabulary) {
        let content = |text: &str| -> Vec<String> {
            lower_words(text).filter(|word| !is_function_word(word) && !is_respect(word)).collect()
        };
        let of_subject = content(&said);
        let is_read_of_it = |demand: &Demand| {
            let words = content(&demand.said);
            demand.turn == turn && !words.is_empty() && words.iter().all(|word| of_subject.contains(word))
        };
        let avoid = demands.iter().any(|demand| is_read_of_it(demand) && demand.avoid);
        demands.retain(|demand| !is_read_of_it(demand));
        if replaces {
            let is_replaced = |demand: &mut Demand| {
                demand.role == Respect::Subject && demand.hard && demand.turn < turn && !demand.avoid
            };
            gone.extend(demands.extract_if(.., is_replaced));
        }
        demands.push(Demand { value, hard: true, avoid, ..Demand::in_words(Respect::Subject, said, turn) });
    }
}

/// The subjects named as such, as they are said, with their values.
fn named(text: &str, vocabulary: &Vocabulary) -> Vec<(String, Demanded)> {
    let words = words(text);
    let subject = |words: &[Range<usize>]| {
        let said = text[words.first()?.start..words.last()?.end].trim_matches(['\'', '(', ')', '`']);
        let found = vocabulary.grounded(Demand::in_words(Respect::Subject, said, 0));
        let is_one = matches!(&found.value, Demanded::Values(things) if things.len() == 1);
        (found.hard && is_one && found.role == Respect::Subject).then(|| (said.to_string(), found.value))
    };
    let is_joining = |word: &Range<usize>| is_function_word(&text[word.clone()].to_lowercase());
    let mut found: Vec<(String, Demanded)> = Vec::new();
    for at in 0..words.len() {
        let word = text[words[at].clone()].to_lowercase();
        let is_meant = !AMBIGUOUS.contains(&word.as_str())
            || text[words[at].end..].starts_with(':')
            || at.checked_sub(1).is_some_and(|before| text[words[before].clone()].eq_ignore_ascii_case("the"));
        let one = if is_respect(&word) && is_meant {
            let behind = &words[at + 1..];
            let behind = &behind[behind.iter().take_while(|word| is_joining(word)).count()..];
            let behind = &behind[..behind.len().min(MOST_WORDS).min(reach(text, at, &words, behind))];
            let before = &words[at.saturating_sub(MOST_WORDS)..at];
            let longest = (1..=behind.len()).rev().find_map(|length| subject(&behind[..length]));
            longest.or_else(|| {
                (0..before.len()).filter(|from| !is_joining(&before[*from])).find_map(|from| subject(&before[from..]))
            })
        } else if word == ">" && at > 0 {
            let (from, to) = (at.saturating_sub(MOST_WORDS), words.len().min(at + MOST_WORDS));
            let ends = |from: usize| (at + 2..=to).rev().find_map(|to| subject(words.get(from..to)?));
            (from..at).find_map(ends)
        } else {
            None
        };
        found.extend(one.filter(|one| found.iter().all(|known| known.1 != one.1)));
    }
    found
}

/// How many of the words `behind` the one at `at` stand before the next sign that ends a name.
fn reach(text: &str, at: usize, words: &[Range<usize>], behind: &[Range<usize>]) -> usize {
    // `subject: Biology`.
    let from = words[at].end + usize::from(text[words[at].end..].starts_with(':'));
    let stops = text[from..].find(ENDS).map_or(text.len(), |stop| from + stop);
    behind.iter().take_while(|word| word.start < stops).count()
}

/// The words of a text, without the signs around them; `>` is one.
fn words(text: &str) -> Vec<Range<usize>> {
    let start = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let parts = text.split_whitespace().map(|part| part.trim_matches(ENDS)).filter(|part| !part.is_empty());
    parts.map(|part| start(part)..start(part) + part.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_held_to_where_it_is_named_as_one() {
        let values = ["Earth science", "Hydrology", "Earth science > Hydrology", "Zoology", "Biology"];
        let values = values.into_iter().map(|value| (Respect::Subject, value.to_string(), 3));
        let vocabulary = Vocabulary::new(values, std::iter::empty(), true);
        for (text, expected) in [
            ("soil moisture, in the field of hydrology", "hydrology"),
            ("only the discipline Zoology, please", "Zoology"),
            ("the Earth science category", "Earth science"),
            ("subject: Biology", "Biology"),
            ("filed under Earth science > Hydrology.", "Earth science > Hydrology"),
            ("field data about zoology", ""),
            ("a field of zoology students", ""),
            ("field: zoology", "zoology"),
            ("subjects with zoology degrees", ""),
            ("hydrology of rivers", ""),
            ("a > b > c, field", ""),
            ("> field", ""),
        ] {
            let found: Vec<String> = named(text, &vocabulary).into_iter().map(|(said, _)| said).collect();
            assert_eq!(found.join("|"), expected, "{text}");
        }
    }
}
