//! The words of a language with what they are in English, in groups by how they begin: a request looks at some groups, and only these are folded and
//! stemmed.

use std::ops::Range;
use std::sync::OnceLock;

use frostem::{Algorithm, Stemmer};
use hashbrown::HashMap;

use super::{ENGLISH, Language, foreign_grammar};
use lakeward_core::text::{fold_into, is_function_word};

/// Words of catalogues, typed for this project.
pub const WORDS: &str = include_str!("words.tsv");
/// Names of countries, of the Unicode CLDR.
const COUNTRIES: &str = include_str!("countries.tsv");
/// Most words of one entry that are looked up together.
const LONGEST_RUN: usize = 4;

/// What a word is in English.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub english: &'static str,
    pub is_grammar: bool,
}

/// The words of one language.
pub struct Lexicon {
    algorithm: Option<Algorithm>,
    groups: HashMap<[char; 2], Group>,
    /// Most words of one entry; of Chinese, which has no spaces, most letters.
    pub longest: usize,
}

/// Words that begin alike.
#[derive(Default)]
struct Group {
    /// As the lists have them, in their order.
    texts: Vec<(Entry, &'static str)>,
    /// By how they are looked up: folded, several words joined with a space; words of grammar as they are written, as `à` is no English `a`.
    said: OnceLock<HashMap<String, Entry>>,
    /// Those that are not of grammar by their stems.
    stems: OnceLock<HashMap<String, Entry>>,
}

/// The lexicons of all languages.
pub struct Lexicons {
    of: [Lexicon; 4],
    english: Lexicon,
}

impl Lexicons {
    pub fn builtin() -> &'static Self {
        static READ: OnceLock<Lexicons> = OnceLock::new();
        READ.get_or_init(|| {
            let mut of = Language::ALL.map(|language| Lexicon::new(language.algorithm()));
            let mut english = Lexicon::new(Some(Algorithm::English));
            for (entry, columns) in entries() {
                for (lexicon, column) in of.iter_mut().zip(columns) {
                    column.split(',').filter(|text| !text.is_empty()).for_each(|text| lexicon.add(entry, text));
                }
                if !entry.is_grammar {
                    own_words(entry.english).for_each(|word| english.add(entry, word));
                }
            }
            Self { of, english }
        })
    }

    pub fn of(&self, language: Language) -> &Lexicon {
        &self.of[language as usize]
    }

    /// Whether a word in small letters is English, as it is written or by its stem, as far as the lists say.
    pub fn is_english(&self, word: &str) -> bool {
        is_function_word(word)
            || ENGLISH.split_whitespace().any(|own| own == word)
            || self.english.stem(&stem(&Stemmer::new(Algorithm::English), word)).is_some()
    }
}

/// The words of an English term; `la` of `La Paz` is none.
fn own_words(english: &'static str) -> impl Iterator<Item = &'static str> {
    let places = words(english);
    let is_term = places.len() > 1;
    let said = places.into_iter().map(|place| &english[place]);
    said.filter(move |word| !is_term || !foreign_grammar().contains(&word.to_lowercase()))
}

/// What the lists say of each English word: it, and what it is in the languages, in their order, between commas.
fn entries() -> impl Iterator<Item = (Entry, std::str::Split<'static, char>)> {
    let lines = WORDS.lines().chain(COUNTRIES.lines()).filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut columns = line.split('\t');
        let first = columns.next().unwrap_or_default();
        (Entry { english: first.trim_start_matches('='), is_grammar: first.starts_with('=') }, columns)
    })
}

/// The words of a language that are not of grammar, with their English, as the lists have them and in their order.
pub fn texts_in(language: Language) -> impl Iterator<Item = (Entry, &'static str)> {
    entries().filter(|(entry, _)| !entry.is_grammar).flat_map(move |(entry, mut columns)| {
        let texts = columns.nth(language as usize).unwrap_or_default().split(',').filter(|text| !text.is_empty());
        texts.map(move |text| (entry, text))
    })
}

impl Lexicon {
    fn new(algorithm: Option<Algorithm>) -> Self {
        Self { algorithm, groups: HashMap::new(), longest: 0 }
    }

    fn add(&mut self, entry: Entry, text: &'static str) {
        let length = match self.algorithm {
            Some(_) => words(text).len().min(LONGEST_RUN),
            None => text.chars().count(),
        };
        if length > 0 {
            self.longest = self.longest.max(length);
            self.groups.entry(beginning(text)).or_default().texts.push((entry, text));
        }
    }

    /// What is looked up as `text`: folded words with a space between, or a word of grammar as it is written.
    pub fn said(&self, text: &str) -> Option<Entry> {
        self.by_said(text)?.get(text).copied()
    }

    /// What has these stems, with a space between.
    pub fn stem(&self, stems: &str) -> Option<Entry> {
        let group = self.groups.get(&beginning(stems))?;
        let by_stem = group.stems.get_or_init(|| {
            let mut by_stem = HashMap::new();
            let Some(algorithm) = self.algorithm else { return by_stem };
            let stemmer = Stemmer::new(algorithm);
            for (entry, text) in group.texts.iter().filter(|(entry, _)| !entry.is_grammar) {
                by_stem.entry(joined(text, |part| stem(&stemmer, part))).or_insert(*entry);
            }
            by_stem
        });
        by_stem.get(stems).copied()
    }

    /// What a word means that begins so, if that is one thing.
    pub fn begun(&self, word: &str) -> Option<&'static str> {
        let begins =
            |(said, entry): &(&String, &Entry)| !entry.is_grammar && !said.contains(' ') && said.starts_with(word);
        let mut meant = self.by_said(word)?.iter().filter(begins).map(|(_, entry)| entry.english);
        let first = meant.next()?;
        meant.all(|other| other == first).then_some(first)
    }

    fn by_said(&self, text: &str) -> Option<&HashMap<String, Entry>> {
        let group = self.groups.get(&beginning(text))?;
        Some(group.said.get_or_init(|| {
            let mut by_said = HashMap::new();
            for (entry, text) in &group.texts {
                let said = match self.algorithm {
                    None => text.to_string(),
                    Some(_) if entry.is_grammar => joined(text, str::to_lowercase),
                    Some(_) => joined(text, folded),
                };
                by_said.entry(said).or_insert(*entry);
            }
            by_said
        }))
    }
}

/// The first two letters, folded, of the first word of a text; stems begin as their words do. The German stemmer reads `ae` as `ä`, which is folded
/// to `a`: the `e` of these is passed over.
fn beginning(text: &str) -> [char; 2] {
    let mut begun = String::new();
    let from_first = text.chars().skip_while(|letter| !letter.is_alphanumeric());
    from_first.take_while(|letter| letter.is_alphanumeric()).take(3).for_each(|letter| fold_into(letter, &mut begun));
    let mut letters = begun.chars();
    let mut next = || letters.next().unwrap_or('\0');
    match (next(), next()) {
        (first @ ('a' | 'o' | 'u'), 'e') => [first, next()],
        (first, second) => [first, second],
    }
}

pub fn folded(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    word.chars().for_each(|letter| fold_into(letter, &mut folded));
    folded
}

pub fn stem(stemmer: &Stemmer, word: &str) -> String {
    folded(&stemmer.stem(&word.to_lowercase()))
}

/// Runs of letters and digits with their places.
pub fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        match words.last_mut() {
            _ if !letter.is_alphanumeric() => {}
            Some(word) if word.end == at => word.end = end,
            _ => words.push(at..end),
        }
    }
    words
}

/// The words of a text, each as `of` puts it, with a space between.
fn joined(text: &str, of: impl Fn(&str) -> String) -> String {
    words(text).into_iter().map(|part| of(&text[part])).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_begins_as_its_word_does() {
        for lexicon in Lexicons::builtin().of.iter().chain([&Lexicons::builtin().english]) {
            let Some(algorithm) = lexicon.algorithm else { continue };
            let stemmer = Stemmer::new(algorithm);
            let texts = lexicon.groups.values().flat_map(|group| &group.texts);
            for (entry, text) in texts.filter(|(entry, _)| !entry.is_grammar) {
                let stems = joined(text, |part| stem(&stemmer, part));
                assert!(beginning(&stems) == beginning(text), "{text}: {stems}");
                assert!(lexicon.stem(&stems).is_some() && lexicon.said(&joined(text, folded)).is_some(), "{entry:?}");
            }
        }
    }
}
