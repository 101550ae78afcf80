//! How tasks and descriptions of datasets become words that can be compared.
//!
//! A word is a run of letters, digits and `_` of two or more characters, in lower case, that is no English function word; it
//! stands by its Snowball stem. Whoever describes research says "we propose a novel method that improves performance on the
//! task": such words tell no task from another, so stems of [`BOILERPLATE`] can be left out, too. They are what a field's
//! writers have in common, not what a benchmark's do; no subject, method or dataset is among them.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use tantivy::tokenizer::{RawTokenizer, Stemmer, TextAnalyzer, TokenStream};

/// Longer runs are cut here, in bytes.
const LONGEST_WORD_BYTES: usize = 64;
/// Words whose stems are remembered before all are forgotten.
const MOST_REMEMBERED: usize = 1 << 17;

/// English function words.
const FUNCTION_WORDS: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then there \
    these they this to was will with";

/// What descriptions of research have in common.
const BOILERPLATE: &str = "we i our us my want wants would like propose proposes proposed proposing present presents presented \
    introduce introduces introduced introducing develop develops developed developing devise novel new simple effective efficient \
    efficiently approach approaches method methods methodology technique techniques framework frameworks model models modeling \
    system systems algorithm algorithms architecture architectures network networks neural deep learning learn learns learned \
    based using use uses used via improve improves improved improving improvement better best achieve achieves achieving \
    performance performances state art sota results result outperform outperforms task tasks problem problems study studies \
    paper work works aim aims goal train training trained test testing tests evaluate evaluates evaluating evaluation assess \
    assesses assessing assessed demonstrate demonstrating demonstrates effectiveness effectively ability capability can could \
    show shows shown without across particularly focus benchmark benchmarks benchmarking dataset datasets data apply applying \
    application applications accuracy measure measured various different both general generally significantly significant \
    against compared comparing comparison baseline baselines where which from has have than also more its help build create \
    design designed designing solve solving end";

/// Words of one text after another; it remembers stems.
pub struct Words {
    stemmer: TextAnalyzer,
    stems: HashMap<String, String>,
}

impl Default for Words {
    fn default() -> Self {
        let stemmer = TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::default()).build();
        Self { stemmer, stems: HashMap::new() }
    }
}

impl Words {
    /// The stems of `text` in order, without function words.
    pub fn stems(&mut self, text: &str) -> Vec<String> {
        let mut stems = Vec::new();
        for run in runs(text) {
            let word = cut(run).to_lowercase();
            if word.chars().nth(1).is_some() && !function_words().contains(word.as_str()) {
                stems.push(self.stem(word));
            }
        }
        stems
    }

    /// The stems of `text` in order that tell what it is about: without function words and boilerplate.
    pub fn telling(&mut self, text: &str) -> Vec<String> {
        let mut stems = self.stems(text);
        stems.retain(|stem| !boilerplate().contains(stem.as_str()));
        stems
    }

    /// `text` without the pieces between spaces that are boilerplate or function words only.
    pub fn without_boilerplate(&mut self, text: &str) -> String {
        let mut kept: Vec<&str> = Vec::new();
        for piece in text.split_whitespace() {
            let mut words = runs(piece).map(|run| cut(run).to_lowercase()).peekable();
            let says_nothing = words.peek().is_some()
                && words.all(|word| {
                    let stem = self.stem(word);
                    boilerplate().contains(stem.as_str()) || function_words().contains(stem.as_str())
                });
            if !says_nothing {
                kept.push(piece);
            }
        }
        kept.join(" ")
    }

    fn stem(&mut self, word: String) -> String {
        if let Some(stem) = self.stems.get(&word) {
            return stem.clone();
        }
        let stem = {
            let mut stream = self.stemmer.token_stream(&word);
            stream.next().map(|token| token.text.clone())
        };
        let stem = stem.unwrap_or_else(|| word.clone());
        if self.stems.len() >= MOST_REMEMBERED {
            self.stems.clear();
        }
        self.stems.insert(word, stem.clone());
        stem
    }
}

/// Runs of letters, digits and `_`.
pub fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).filter(|run| !run.is_empty())
}

/// The words of letters `a` to `z` of `text`, each once, in lower case: what keywords are compared by.
pub fn plain_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut words: Vec<String> = lower
        .split(|letter: char| !letter.is_ascii_lowercase())
        .filter(|word| !word.is_empty())
        .map(|word| cut(word).to_string())
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn cut(word: &str) -> &str {
    &word[..word.floor_char_boundary(LONGEST_WORD_BYTES)]
}

fn function_words() -> &'static HashSet<&'static str> {
    static WORDS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    WORDS.get_or_init(|| FUNCTION_WORDS.split_whitespace().collect())
}

fn boilerplate() -> &'static HashSet<String> {
    static STEMS: OnceLock<HashSet<String>> = OnceLock::new();
    STEMS.get_or_init(|| {
        let mut words = Words::default();
        BOILERPLATE.split_whitespace().map(|word| words.stem(word.to_string())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telling_words_are_stems_without_boilerplate() {
        let mut words = Words::default();
        assert_eq!(words.telling("We propose novel methods for the segmentation of roads"), ["segment", "road"]);
        assert_eq!(words.stems("A new dataset, x_1"), ["new", "dataset", "x_1"]);
        assert_eq!(words.without_boilerplate("We propose deep parsing, of images!"), "parsing, images!");
        assert_eq!(plain_words("Image-caption retrieval image 2D"), ["caption", "d", "image", "retrieval"]);
        let endless = "x".repeat(10_000_000);
        assert_eq!(words.stems(&endless)[0].len(), LONGEST_WORD_BYTES);
    }
}
