//! Stems of English words (Snowball), with the same algorithm as the word index.

use std::collections::BTreeSet;

use frostem::Algorithm;
use xxhash_rust::xxh3::xxh3_64;

use super::{is_function_word, name_words};

/// Longer words, such as hashes and pasted blobs, are not stemmed.
const LONGEST_BYTES: usize = 64;
/// Number of cache slots; a power of two.
const SLOTS: usize = 8192;
/// The cache is allocated after this many words, so that a single request does without it.
const WORDS_BEFORE_CACHE: usize = 1024;

/// Stems words and caches the results: stemming costs more than the rest of the analysis together, and words repeat. Creating one is cheap;
/// each worker thread has its own. Memory: about 1 MB after a thousand words.
pub struct Stemmer {
    stemmer: frostem::Stemmer,
    /// Words and their stems, each in the slot given by its hash; a single slot until the cache is allocated.
    slots: Vec<(String, String)>,
    words: usize,
}

impl Default for Stemmer {
    fn default() -> Self {
        Self { stemmer: frostem::Stemmer::new(Algorithm::English), slots: vec![Default::default()], words: 0 }
    }
}

impl Stemmer {
    /// The stem of a lower-case word: `agricultural` → `agricultur`.
    pub fn stem<'a>(&'a mut self, word: &'a str) -> &'a str {
        if word.len() > LONGEST_BYTES {
            return word;
        }
        self.words += 1;
        if self.words == WORDS_BEFORE_CACHE {
            self.slots.resize_with(SLOTS, Default::default);
        }
        let slots = self.slots.len();
        let slot = &mut self.slots[xxh3_64(word.as_bytes()) as usize % slots];
        if slot.0 != word {
            slot.0.clear();
            slot.0.push_str(word);
            slot.1.clear();
            slot.1.push_str(&self.stemmer.stem(word));
        }
        &slot.1
    }
}

/// The stems of the words of a text that say something.
pub fn stems(text: &str) -> BTreeSet<String> {
    let mut stemmer = Stemmer::default();
    let words = name_words(text).into_iter().filter(|word| !is_function_word(word));
    words.map(|word| stemmer.stem(&word).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_words_have_one_stem() {
        let mut stemmer = Stemmer::default();
        for (word, stem) in
            [("agricultural", "agricultur"), ("cities", "citi"), ("city", "citi"), ("x_1", "x_1"), ("", "")]
        {
            assert_eq!(stemmer.stem(word), stem);
        }
        let endless = "running".repeat(100_000);
        assert_eq!(stemmer.stem(&endless), endless);
    }

    #[test]
    fn a_cached_stem_is_the_computed_one() {
        let mut stemmer = Stemmer::default();
        let words: Vec<String> =
            (0..4 * WORDS_BEFORE_CACHE).map(|number| format!("word{}ings", number % 1500)).collect();
        for word in &words {
            assert_eq!(stemmer.stem(word), Stemmer::default().stem(word));
        }
    }
}
