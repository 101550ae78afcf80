//! Which words are English, and which common one a misspelt word is: by the vocabulary of the embedding model, whose pieces stand the most common first.

use crate::embed::StaticModel;

/// Pieces of the English embedding model, the most common first, that are common words.
const COMMON: u32 = 12_000;

/// Whether the English embedding model has a word whole.
pub fn is_english_word(word: &str) -> bool {
    let mut pieces = 0;
    StaticModel::builtin().tokens(word, |_| pieces += 1);
    pieces == 1
}

/// The common English word that a misspelt one is: the most common of those with one letter more, less or other, or two neighbours swapped, and the
/// same first letter. None for short words, which have too many neighbours.
pub fn english_word_near(word: &str) -> Option<String> {
    const SHORTEST: usize = 6;
    const LONGEST: usize = 24;
    let letters = word.as_bytes();
    if !(SHORTEST..=LONGEST).contains(&letters.len()) || !letters.iter().all(u8::is_ascii_lowercase) {
        return None;
    }
    let mut best: Option<(u32, String)> = None;
    let mut try_word = |other: String| {
        let (mut pieces, mut rank) = (0, u32::MAX);
        StaticModel::builtin().tokens(&other, |piece| (pieces, rank) = (pieces + 1, piece.0));
        if pieces == 1 && best.as_ref().is_none_or(|(known, _)| rank < *known) {
            best = Some((rank, other));
        }
    };
    for at in 1..=letters.len() {
        let (before, rest) = word.split_at(at);
        for letter in 'a'..='z' {
            try_word(format!("{before}{letter}{rest}"));
            try_word(format!("{before}{letter}{}", rest.get(1..).unwrap_or_default()));
        }
        if !rest.is_empty() {
            try_word(format!("{before}{}", &rest[1..]));
        }
        if rest.len() > 1 {
            try_word(format!("{before}{}{}{}", &rest[1..2], &rest[..1], &rest[2..]));
        }
    }
    best.filter(|(rank, _)| *rank < COMMON).map(|(_, word)| word)
}
