//! Tokenises tasks and dataset descriptions into comparable words.
//!
//! A word is a run of letters, digits and `_` of two or more characters, in lower case, that is not an English function word; it
//! is represented by its Snowball stem. Descriptions of research often say "we propose a novel method that improves performance
//! on the task": such words do not distinguish tasks, so stems of [`BOILERPLATE`] can be removed too. They are common to the
//! whole field, not to one benchmark; no subject, method or dataset is among them.

use std::collections::HashSet;
use std::sync::OnceLock;

use lakeward_core::text::{Stemmer, is_function_word, runs};

/// Longer runs are cut here, in bytes.
const LONGEST_WORD_BYTES: usize = 64;

/// Words common to most descriptions of research.
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

/// A tokeniser that caches stems.
#[derive(Default)]
pub struct Words {
    stemmer: Stemmer,
}

impl Words {
    /// The stems of `text` in order, without function words.
    pub fn stems(&mut self, text: &str) -> Vec<String> {
        let mut stems = Vec::new();
        for run in identifiers(text) {
            let word = cut(run).to_lowercase();
            if word.chars().nth(1).is_some() && !is_function_word(&word) {
                stems.push(self.stemmer.stem(&word).to_string());
            }
        }
        stems
    }

    /// The informative stems of `text` in order: without function words and boilerplate.
    pub fn informative(&mut self, text: &str) -> Vec<String> {
        let mut stems = self.stems(text);
        stems.retain(|stem| !boilerplate().contains(stem.as_str()));
        stems
    }

    /// `text` without the space-separated pieces that consist only of boilerplate or function words.
    pub fn without_boilerplate(&mut self, text: &str) -> String {
        let mut kept: Vec<&str> = Vec::new();
        for piece in text.split_whitespace() {
            let mut words = identifiers(piece).map(|run| cut(run).to_lowercase()).peekable();
            let is_boilerplate = words.peek().is_some()
                && words.all(|word| {
                    let stem = self.stemmer.stem(&word);
                    boilerplate().contains(stem) || is_function_word(stem)
                });
            if !is_boilerplate {
                kept.push(piece);
            }
        }
        kept.join(" ")
    }
}

/// Runs of letters, digits and `_`.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    runs(text, |letter| letter == '_')
}

/// The words of letters `a` to `z` in `text`, each once, in lower case: the form in which keywords are compared.
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

fn boilerplate() -> &'static HashSet<String> {
    static STEMS: OnceLock<HashSet<String>> = OnceLock::new();
    STEMS.get_or_init(|| {
        let mut stemmer = Stemmer::default();
        BOILERPLATE.split_whitespace().map(|word| stemmer.stem(word).to_string()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn informative_words_are_stems_without_boilerplate() {
        let mut words = Words::default();
        assert_eq!(words.informative("We propose novel methods for the segmentation of roads"), ["segment", "road"]);
        assert_eq!(words.stems("A new dataset, x_1"), ["new", "dataset", "x_1"]);
        assert_eq!(words.without_boilerplate("We propose deep parsing, of images!"), "parsing, images!");
        assert_eq!(plain_words("Image-caption retrieval image 2D"), ["caption", "d", "image", "retrieval"]);
        let endless = "x".repeat(10_000_000);
        assert_eq!(words.stems(&endless)[0].len(), LONGEST_WORD_BYTES);
    }
}
