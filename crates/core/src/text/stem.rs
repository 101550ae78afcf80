//! Stems of English words (Snowball), by the algorithm that the word index is built with.

use frostem::Algorithm;
use xxhash_rust::xxh3::xxh3_64;

/// Longer words are their own stems: they are hashes and pasted blobs.
const LONGEST_BYTES: usize = 64;
/// Slots of the memory; a power of two.
const SLOTS: usize = 8192;
/// The memory is laid out after so many words: a request does without it.
const WORDS_BEFORE_MEMORY: usize = 1024;

/// Finds stems and remembers them: stemming costs more than the rest of an analysis together, and words repeat. Making one is
/// cheap; each thread of work has its own. Memory: about 1 MB once it has stemmed a thousand words.
pub struct Stemmer {
    stemmer: frostem::Stemmer,
    /// Words and their stems, each in the slot that its hash names; one slot until enough words came.
    slots: Vec<(String, String)>,
    words: usize,
}

impl Default for Stemmer {
    fn default() -> Self {
        Self { stemmer: frostem::Stemmer::new(Algorithm::English), slots: vec![Default::default()], words: 0 }
    }
}

impl Stemmer {
    /// The stem of a word in lower case: `agricultural` → `agricultur`.
    pub fn stem<'a>(&'a mut self, word: &'a str) -> &'a str {
        if word.len() > LONGEST_BYTES {
            return word;
        }
        self.words += 1;
        if self.words == WORDS_BEFORE_MEMORY {
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
    fn a_remembered_stem_is_the_computed_one() {
        let mut stemmer = Stemmer::default();
        let words: Vec<String> =
            (0..4 * WORDS_BEFORE_MEMORY).map(|number| format!("word{}ings", number % 1500)).collect();
        for word in &words {
            assert_eq!(stemmer.stem(word), Stemmer::default().stem(word));
        }
    }
}
