//! Snowball stems of English words.

use tantivy::tokenizer::{RawTokenizer, Stemmer as StemFilter, TextAnalyzer, TokenStream};

/// Longer words have no stem but themselves: they are hashes and pasted blobs.
const LONGEST_WORD_BYTES: usize = 64;

/// Finds stems; making one is cheap, and each thread of work has its own.
pub(super) struct Stemmer(TextAnalyzer);

impl Default for Stemmer {
    fn default() -> Self {
        Self(TextAnalyzer::builder(RawTokenizer::default()).filter(StemFilter::default()).build())
    }
}

impl Stemmer {
    /// The stem of a lower-cased word: `agricultural` → `agricultur`.
    pub fn stem(&mut self, word: &str) -> String {
        if word.len() > LONGEST_WORD_BYTES {
            return word.to_string();
        }
        let mut stream = self.0.token_stream(word);
        if stream.advance() { std::mem::take(&mut stream.token_mut().text) } else { word.to_string() }
    }
}
