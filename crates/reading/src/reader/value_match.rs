//! Which values of the columns at hand a text names: by themselves, by words that make them with an ending, or by their beginning.

use std::collections::HashMap;

use lakeward_core::text::{NameParts, is_function_word, name_key, name_words};
use lakeward_sketch::normalise::Normaliser;

use super::schema::{Schema, SchemaColumn};
use super::words::{MOST_WORDS, words};

/// Most words of a value that is looked up in the text.
const LONGEST_VALUE: usize = 6;
/// Features of words and a value, see [`value_features`].
pub const VALUE_FEATURES: usize = 2;
/// Most values of a column that matches are told of.
const MOST_MATCHES: usize = 4;

/// Whether a column, by its number, holds a value, in the index's normal form.
pub type Holds<'a> = &'a dyn Fn(usize, &str) -> bool;

/// A run of words that is a value of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueMatch {
    /// The column.
    pub column: usize,
    /// First and last word, counted in [`words`] of the text, both included.
    pub words: (usize, usize),
    /// The value as the table has it; the words where only its presence is known.
    pub value: String,
    /// 1 for the value itself, less for one that is only alike.
    pub likeness: f32,
}

impl Schema {
    /// The values of its columns that a text names: whole values, or words from which they are made by an ending ("african" for
    /// Africa). At most some for each column, the longest first.
    pub fn matches(&self, text: &str, holds: Holds<'_>) -> Vec<ValueMatch> {
        let is_text = |column: &SchemaColumn| column.has_words() && !column.of_result;
        let phrases = if self.columns.iter().any(is_text) { phrases(text) } else { Vec::new() };
        let mut found: Vec<ValueMatch> = Vec::new();
        for (place, column) in self.columns.iter().enumerate().filter(|(_, column)| is_text(column)) {
            let meanings = column.meanings.iter().map(|(meaning, _)| meaning);
            let (whole, alike): (Vec<_>, Vec<_>) = meanings.partition(|_| column.whole_meanings);
            let whole: HashMap<String, &String> = whole.into_iter().map(|meaning| (key(meaning), meaning)).collect();
            let values: Vec<Comparable<'_>> =
                column.values.iter().chain(alike).map(|value| Comparable::of(value)).collect();
            let mut of_column: Vec<ValueMatch> = Vec::new();
            for (words, phrase) in &phrases {
                let is_known =
                    |known: &ValueMatch| known.likeness >= 1.0 && known.words.0 <= words.1 && words.0 <= known.words.1;
                if of_column.iter().any(is_known) {
                    continue;
                }
                let named = || named(phrase, &values, |phrase| holds(place, phrase));
                let whole = whole.get(&phrase.key).map(|meaning| (meaning.to_string(), 1.0));
                let Some((value, likeness)) = whole.or_else(named) else { continue };
                of_column.push(ValueMatch { column: place, words: *words, value, likeness });
            }
            // What is spelt out goes before what is only alike; the sort is stable.
            of_column.sort_by_key(|found| found.likeness < 1.0);
            let mut kept: Vec<ValueMatch> = Vec::new();
            for next in of_column {
                let overlaps = |known: &ValueMatch| known.words.0 <= next.words.1 && next.words.0 <= known.words.1;
                if kept.len() < MOST_MATCHES && !kept.iter().any(overlaps) {
                    kept.push(next);
                }
            }
            found.extend(kept);
        }
        found
    }
}

/// A value or phrase, taken apart once for many comparisons.
struct Comparable<'t> {
    text: &'t str,
    /// See [`key`].
    key: String,
    words: Vec<String>,
}

impl<'t> Comparable<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, key: key(text), words: name_words(text) }
    }

    /// How surely a value is meant by this phrase that does not spell it out, in 0..=.9.
    fn alike(&self, value: &Comparable<'_>) -> f32 {
        of_one_stem(&self.key, &value.key).max(self.begins(value))
    }

    /// Whether a phrase is the beginning of a value of several words ("large" of `large_airport`), and how surely.
    fn begins(&self, value: &Comparable<'_>) -> f32 {
        const BEGINS: f32 = 0.45;
        const LEAST: usize = 3;
        let (said, own) = (&self.words, &value.words);
        let begins = !said.is_empty() && said.len() < own.len() && own.starts_with(said);
        if begins && said.iter().map(String::len).sum::<usize>() >= LEAST { BEGINS } else { 0.0 }
    }
}

/// The runs of words of a text that may be values, the longest first, with their first and last word.
fn phrases(text: &str) -> Vec<((usize, usize), Comparable<'_>)> {
    let mut words = words(text);
    words.truncate(MOST_WORDS);
    let mut found = Vec::new();
    for length in (1..=LONGEST_VALUE.min(words.len())).rev() {
        for from in 0..=words.len() - length {
            let (first, last) = (&words[from], &words[from + length - 1]);
            if first.is_word && last.is_word {
                let phrase = &text[first.bytes.start..last.bytes.end];
                found.push(((from, from + length - 1), Comparable::of(phrase)));
            }
        }
    }
    found
}

/// The value of a column that a phrase names, and how surely.
fn named(phrase: &Comparable<'_>, values: &[Comparable<'_>], holds: impl Fn(&str) -> bool) -> Option<(String, f32)> {
    let Comparable { text, key, .. } = phrase;
    if key.is_empty() || (key.chars().count() < 2 && *text != text.to_uppercase()) {
        return None;
    }
    // "and" is no country's code, unless it is written like one.
    let is_it = |value: &&Comparable<'_>| {
        value.key == *key
            && !differ_as_numbers(text, value.text)
            && (!is_function_word(&text.to_lowercase()) || *text == value.text)
    };
    if let Some(value) = values.iter().find(is_it) {
        return Some((value.text.to_string(), 1.0));
    }
    if is_common(key) {
        return None;
    }
    if holds(text) {
        return Some(((*text).to_string(), 1.0));
    }
    let mut best: Option<(&str, f32)> = None;
    for value in values {
        let likeness = phrase.alike(value);
        if likeness > best.map_or(0.0, |(_, known)| known) {
            best = Some((value.text, likeness));
        }
    }
    best.map(|(value, likeness)| (value.to_string(), likeness))
}

/// What can be said of words and a value of a column without the model: how alike they are, and how much one is a short form of the other.
pub fn value_features(phrase: &str, value: &str) -> [f32; VALUE_FEATURES] {
    let (wanted, own) = (Comparable::of(phrase), Comparable::of(value));
    let alike = match wanted.key == own.key {
        true if differ_as_numbers(phrase, value) => 0.0,
        true => 1.0,
        false => wanted.alike(&own),
    };
    [alike, NameParts::of(phrase).short_form(&NameParts::of(value)) as f32]
}

/// Whether both are numbers and not the same one: `5` is not `-5`, though their letters and digits are.
fn differ_as_numbers(a: &str, b: &str) -> bool {
    matches!((a.trim().parse::<f64>(), b.trim().parse::<f64>()), (Ok(a), Ok(b)) if a != b)
}

/// Whether two words are one but for their endings, and how surely, in 0..=.9: a beginning of four letters that is most of both, so
/// that "african" is Africa and "third class" is Third-class.
fn of_one_stem(a: &str, b: &str) -> f32 {
    const LEAST: usize = 4;
    const ENDING: usize = 4;
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.chars().count(), b.chars().count());
    let rest = a.max(b) - shared;
    if shared < LEAST || rest > ENDING || shared * 3 < a.max(b) * 2 {
        return 0.0;
    }
    0.9 - 0.1 * rest as f32
}

/// A value or phrase in a form in which the same ones are equal: lower case, no accents, letters and digits alone.
pub(super) fn key(text: &str) -> String {
    let normal = Normaliser::default().text(text).to_string();
    name_key(&normal)
}

/// Words that are never looked up as values that nobody showed.
fn is_common(word: &str) -> bool {
    word.len() < 3 || is_function_word(word)
}
