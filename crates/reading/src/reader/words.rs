//! Splits a text into words and signs, each with its place.

use std::ops::Range;

/// Most words of a text; what follows is not read.
pub const MOST_WORDS: usize = 96;

/// A word (letters and digits), or a single other sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its bytes in the text.
    pub bytes: Range<usize>,
    /// Whether it is a word, not a sign.
    pub is_word: bool,
}

/// The words and signs of a text in order; blanks are in none. A word is a run of letters or a run of digits, so that `20k` is two.
pub fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut last: Option<bool> = None;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        if letter.is_whitespace() {
            last = None;
            continue;
        }
        let is_word = letter.is_alphanumeric();
        let is_digit = letter.is_numeric();
        match (found.last_mut(), last) {
            (Some(word), Some(digit)) if is_word && word.is_word && digit == is_digit => word.bytes.end = end,
            _ => found.push(Word { bytes: at..end, is_word }),
        }
        last = is_word.then_some(is_digit);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_signs_and_numbers_are_apart() {
        let text = "Don't drop >20k, café-only";
        let found: Vec<&str> = words(text).into_iter().map(|word| &text[word.bytes]).collect();
        assert_eq!(found, ["Don", "'", "t", "drop", ">", "20", "k", ",", "café", "-", "only"]);
    }
}
