//! What of a request's text the classifier sees: words and pairs of words, letter triples and quadruples, and cue phrases.
//!
//! Words and letters are hashed ([`FEATURES`] places, few collisions at this size) and weighed by inverse document
//! frequency later; each of the two blocks has length 1, so that a long request has no greater weight. Numbers are all
//! one number.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::cues::{self, GROUPS};

/// Places of features; a power of two.
pub const FEATURES: u32 = 1 << 18;
/// The first places are those of cues: two a group, then the length of the text.
const CUE_PLACES: u32 = 2 * GROUPS as u32 + 3;
/// Weight of a cue beside blocks of length 1, chosen by cross-validation on `labels/`.
const CUE_WEIGHT: f32 = 0.3;
/// Characters of a request that are read.
const MOST_CHARS: usize = 20_000;

/// Counts of one request: words and letters apart, each by place; and cues, already weighed.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    words: BTreeMap<u32, f32>,
    letters: BTreeMap<u32, f32>,
    cues: Vec<(u32, f32)>,
}

impl Counts {
    /// Counts what stands in `text`.
    pub fn of(text: &str) -> Self {
        let tokens = tokens_of(text);
        let mut counts = Counts { words: word_counts(&tokens), ..Counts::default() };
        for token in &tokens {
            let letters: Vec<char> = [' '].into_iter().chain(token.chars()).chain([' ']).collect();
            for length in [3, 4] {
                for window in letters.windows(length) {
                    *counts.letters.entry(place(3, &window.iter().collect::<String>())).or_default() += 1.0;
                }
            }
        }
        counts.cues = cue_features(&tokens);
        counts
    }

    /// Counts only words and pairs of words.
    pub fn of_words(text: &str) -> Self {
        Counts { words: word_counts(&tokens_of(text)), ..Counts::default() }
    }

    /// The places of words and letters that occur, each once.
    pub fn places(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.keys().chain(self.letters.keys()).copied()
    }

    /// The vector of the request: (place, value), given the inverse document frequency of a place; places without one are
    /// left out.
    pub fn vector(&self, idf: impl Fn(u32) -> Option<f32>) -> Vec<(u32, f32)> {
        let mut vector = self.cues.clone();
        for block in [&self.words, &self.letters] {
            let weighed: Vec<(u32, f32)> =
                block.iter().filter_map(|(place, count)| Some((*place, (1.0 + count.ln()) * idf(*place)?))).collect();
            let norm = weighed.iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
            if norm > 0.0 {
                vector.extend(weighed.into_iter().map(|(place, value)| (place, value / norm)));
            }
        }
        vector
    }
}

fn tokens_of(text: &str) -> Vec<String> {
    let text: String = text.chars().take(MOST_CHARS).flat_map(char::to_lowercase).collect();
    tokens(&text.replace('\u{2019}', "'"))
}

/// Words and pairs of words, by place.
fn word_counts(tokens: &[String]) -> BTreeMap<u32, f32> {
    let mut counts = BTreeMap::new();
    for token in tokens {
        *counts.entry(place(1, token)).or_default() += 1.0;
    }
    for pair in tokens.windows(2) {
        *counts.entry(place(2, &pair.join(" "))).or_default() += 1.0;
    }
    counts
}

fn cue_features(tokens: &[String]) -> Vec<(u32, f32)> {
    let words: Vec<&str> = tokens.iter().map(String::as_str).filter(|token| is_word(token)).collect();
    let mut features = Vec::new();
    for (group, count) in (0..).zip(cues::count(&words)) {
        if count > 0 {
            features.push((2 * group, CUE_WEIGHT));
            features.push((2 * group + 1, CUE_WEIGHT * count.min(3) as f32 / 3.0));
        }
    }
    let last = CUE_PLACES - 3;
    features.push((last, CUE_WEIGHT));
    features.push((last + 1, CUE_WEIGHT * words.len().min(60) as f32 / 60.0));
    if words.len() < 8 {
        features.push((last + 2, CUE_WEIGHT));
    }
    features
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric())
}

/// Words (with apostrophes inside), numbers as `0`, and every other sign by itself.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let end = |word: &mut String, tokens: &mut Vec<String>| {
        if !word.is_empty() {
            let number = word.chars().all(|c| c.is_numeric() || c == '\'');
            tokens.push(if number { "0".to_string() } else { std::mem::take(word) });
            word.clear();
        }
    };
    for c in text.chars() {
        if c.is_alphanumeric() || (c == '\'' && !word.is_empty()) {
            word.push(c);
            continue;
        }
        end(&mut word, &mut tokens);
        if !c.is_whitespace() && !c.is_control() {
            tokens.push(c.to_string());
        }
    }
    end(&mut word, &mut tokens);
    tokens
}

fn place(kind: u64, text: &str) -> u32 {
    let hash = xxh3_64_with_seed(text.as_bytes(), kind) as u32 % (FEATURES - CUE_PLACES);
    CUE_PLACES + hash
}

/// Whether `place` is a cue's: always used, whatever its frequency.
pub fn is_cue(place: u32) -> bool {
    place < CUE_PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_into_words_numbers_and_signs() {
        assert_eq!(tokens("don't add 2019-2021, ok?"), ["don't", "add", "0", "-", "0", ",", "ok", "?"]);
        assert!(tokens(" \u{7}\n").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn blocks_have_length_one(text in ".{0,200}") {
            let counts = Counts::of(&text);
            let vector = counts.vector(|_| Some(1.0));
            let square: f32 = vector.iter().filter(|(place, _)| !is_cue(*place)).map(|(_, value)| value * value).sum();
            proptest::prop_assert!(square < 2.001 && vector.iter().all(|(place, value)| *place < FEATURES && value.is_finite()));
        }
    }
}
