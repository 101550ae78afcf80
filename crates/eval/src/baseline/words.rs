//! Words of the lexical baselines, in the two ways used for published figures.
//!
//! Their tokenisation is deliberately separate from the analysis of the word index: a baseline must not change when
//! Lakeward's own does. Stems, stop words and accents are the published ones, and the same for all.

use std::collections::HashMap;

use lakeward_core::text::{Stemmer, is_function_word, without_marks};

/// How text is split into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Analysis {
    /// For requests, as BM25S and scikit-learn do it: runs of two or more letters, digits and underscores in lower
    /// case, without Lucene's 33 English stop words, stemmed by Snowball's English stemmer.
    #[default]
    English,
    /// For query tables, whose words are names and codes: all runs of letters and digits in lower case, without
    /// accents.
    Plain,
}

/// Longer words are cut here, in bytes.
const LONGEST_WORD_BYTES: usize = 256;

/// Numbers the distinct stems of a collection. Memory: one entry per distinct word and one per distinct stem.
#[derive(Default)]
pub(crate) struct Vocabulary {
    analysis: Analysis,
    /// The stem of each word seen; `None` for a stop word.
    words: HashMap<Box<str>, Option<u32>>,
    stems: HashMap<Box<str>, u32>,
    stemmer: Stemmer,
}

impl Vocabulary {
    pub fn new(analysis: Analysis) -> Self {
        Vocabulary { analysis, ..Vocabulary::default() }
    }

    /// Number of distinct stems.
    pub fn len(&self) -> usize {
        match self.analysis {
            Analysis::English => self.stems.len(),
            Analysis::Plain => self.words.len(),
        }
    }

    /// Appends the stems of `text` to `ids`, with new numbers for new ones.
    pub fn add(&mut self, text: &str, ids: &mut Vec<u32>) {
        for_each_word(text, self.analysis, |word| {
            let known = self.words.get(word).copied();
            ids.extend(known.unwrap_or_else(|| self.learn(word)));
        });
    }

    fn learn(&mut self, word: &str) -> Option<u32> {
        let next = self.len() as u32;
        let id = match self.analysis {
            Analysis::Plain => Some(next),
            Analysis::English if is_function_word(word) => None,
            Analysis::English => Some(*self.stems.entry(self.stemmer.stem(word).into()).or_insert(next)),
        };
        self.words.insert(word.into(), id);
        id
    }

    /// Appends the stems of `text` that occur in the collection to `ids`.
    pub fn find(&self, text: &str, ids: &mut Vec<u32>) {
        let mut stemmer = None;
        for_each_word(text, self.analysis, |word| {
            let known = match self.words.get(word) {
                Some(known) => *known,
                None if self.analysis == Analysis::Plain => None,
                None => {
                    let stemmer = stemmer.get_or_insert_with(Stemmer::default);
                    self.stems.get(stemmer.stem(word)).copied()
                }
            };
            ids.extend(known);
        });
    }
}

/// Calls `each` with the words of `text`, lower-cased, including stop words.
fn for_each_word(text: &str, analysis: Analysis, each: impl FnMut(&str)) {
    match analysis {
        Analysis::English => for_each_run(text.chars().flat_map(char::to_lowercase), 2, |c| c == '_', each),
        Analysis::Plain if text.is_ascii() => {
            for_each_run(text.chars().map(|letter| letter.to_ascii_lowercase()), 1, |_| false, each);
        }
        Analysis::Plain => {
            let letters = without_marks(text).flat_map(char::to_lowercase);
            for_each_run(letters, 1, |_| false, each);
        }
    }
}

/// Calls `each` with the runs of at least `least` letters, digits and characters that `more` allows.
fn for_each_run(
    letters: impl Iterator<Item = char>,
    least: usize,
    more: impl Fn(char) -> bool,
    mut each: impl FnMut(&str),
) {
    let mut word = String::new();
    let mut length = 0;
    for letter in letters.chain([' ']) {
        if letter.is_alphanumeric() || more(letter) {
            length += 1;
            if word.len() + letter.len_utf8() <= LONGEST_WORD_BYTES {
                word.push(letter);
            }
            continue;
        }
        if length >= least {
            each(&word);
        }
        word.clear();
        length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, analysis: Analysis) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, analysis, |word| words.push(word.to_string()));
        words
    }

    #[test]
    fn words_are_cut_in_two_ways() {
        let text = "A U.S. state's pop_2020 (Élan, 02134)";
        assert_eq!(words(text, Analysis::English), ["state", "pop_2020", "élan", "02134"]);
        assert_eq!(words(text, Analysis::Plain), ["a", "u", "s", "state", "s", "pop", "2020", "elan", "02134"]);
        assert_eq!(words("", Analysis::English), Vec::<String>::new());
        assert_eq!(words(&"x".repeat(1000), Analysis::Plain)[0].len(), LONGEST_WORD_BYTES);
    }

    #[test]
    fn stems_are_numbered_and_stop_words_left_out() {
        let mut vocabulary = Vocabulary::default();
        let mut ids = Vec::new();
        vocabulary.add("the cities of a city, and running runs", &mut ids);
        assert_eq!(ids, [0, 0, 1, 1]);
        assert_eq!(vocabulary.len(), 2);
        let mut found = Vec::new();
        vocabulary.find("The runner RUNS into towns", &mut found);
        assert_eq!(found, [1], "`runner` keeps its ending, `towns` is nowhere");
    }

    #[test]
    fn plain_words_are_numbered_as_they_come() {
        let mut vocabulary = Vocabulary::new(Analysis::Plain);
        let mut ids = Vec::new();
        vocabulary.add("the cities, THE city", &mut ids);
        assert_eq!((ids.as_slice(), vocabulary.len()), ([0, 1, 0, 2].as_slice(), 3));
        ids.clear();
        vocabulary.find("City towns the", &mut ids);
        assert_eq!(ids, [2, 0]);
    }
}
