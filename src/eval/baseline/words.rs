//! Words of the lexical baselines, as BM25S and scikit-learn cut them: runs of two or more letters, digits and underscores
//! in lower case, without Lucene's 33 English stop words, stemmed by Snowball's English stemmer.
//!
//! It stands apart from the analysis of the word index on purpose: a baseline must not change when Lakeward's own does.

use std::collections::HashMap;

use tantivy::tokenizer::{RawTokenizer, Stemmer, TextAnalyzer, TokenStream};

/// Lucene's `EnglishAnalyzer.ENGLISH_STOP_WORDS_SET`.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];
/// Longer words are cut here, in bytes.
const LONGEST_WORD_BYTES: usize = 256;

/// Numbers of the distinct stems of a collection. Memory: one entry a distinct word and one a distinct stem.
#[derive(Default)]
pub(super) struct Vocabulary {
    /// The stem of each word seen; none for a stop word.
    words: HashMap<Box<str>, Option<u32>>,
    stems: HashMap<Box<str>, u32>,
    stemmer: EnglishStemmer,
}

impl Vocabulary {
    /// Distinct stems seen.
    pub fn len(&self) -> usize {
        self.stems.len()
    }

    /// Appends the stems of `text` to `ids`, new ones numbered on.
    pub fn add(&mut self, text: &str, ids: &mut Vec<u32>) {
        for_each_word(text, |word| {
            let known = self.words.get(word).copied();
            ids.extend(known.unwrap_or_else(|| self.learn(word)));
        });
    }

    fn learn(&mut self, word: &str) -> Option<u32> {
        let id = (!STOP_WORDS.contains(&word)).then(|| {
            let next = self.stems.len() as u32;
            *self.stems.entry(self.stemmer.stem(word).into()).or_insert(next)
        });
        self.words.insert(word.into(), id);
        id
    }

    /// Appends the stems of `text` that the collection has to `ids`.
    pub fn find(&self, text: &str, ids: &mut Vec<u32>) {
        let mut stemmer = None;
        for_each_word(text, |word| {
            let known = match self.words.get(word) {
                Some(known) => *known,
                None => {
                    let stemmer = stemmer.get_or_insert_with(EnglishStemmer::default);
                    self.stems.get(stemmer.stem(word).as_str()).copied()
                }
            };
            ids.extend(known);
        });
    }
}

struct EnglishStemmer(TextAnalyzer);

impl Default for EnglishStemmer {
    fn default() -> Self {
        EnglishStemmer(TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::default()).build())
    }
}

impl EnglishStemmer {
    fn stem(&mut self, word: &str) -> String {
        let mut stream = self.0.token_stream(word);
        stream.next().map_or(word, |token| &token.text).to_string()
    }
}

/// Calls `each` with the words of `text`, lower-cased, stop words among them.
fn for_each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut letters = 0;
    for letter in text.chars().flat_map(char::to_lowercase).chain([' ']) {
        if letter.is_alphanumeric() || letter == '_' {
            letters += 1;
            if word.len() + letter.len_utf8() <= LONGEST_WORD_BYTES {
                word.push(letter);
            }
            continue;
        }
        if letters >= 2 {
            each(&word);
        }
        word.clear();
        letters = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word.to_string()));
        words
    }

    #[test]
    fn words_have_two_letters_or_more() {
        assert_eq!(words("A U.S. state's pop_2020 (Élan, 02134)"), ["state", "pop_2020", "élan", "02134"]);
        assert_eq!(words(""), Vec::<String>::new());
        assert_eq!(words(&"x".repeat(1000))[0].len(), LONGEST_WORD_BYTES);
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
}
