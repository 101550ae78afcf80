//! Misspelt words of requests, mended by the words of the catalogue.
//!
//! A word of five letters or more that nobody knows becomes the catalogue's word at Damerau–Levenshtein distance 1 (a
//! letter more, less, other, or two neighbours swapped). Both are found by what is left of them when one letter goes
//! (Garbe's symmetric deletion), so a look-up costs the length of the word, whatever the size of the dictionary.

use xxhash_rust::xxh3::xxh3_64;

/// Shorter words have too many neighbours to be mended.
const SHORTEST: usize = 5;
/// Longer ones are not words.
const LONGEST: usize = 32;

/// A dictionary of words and how common they are.
pub(super) struct Spelling {
    /// Sorted by word.
    words: Vec<(Box<str>, u32)>,
    /// Hash of a word, or of a word less a letter, and the word's place; sorted.
    deletions: Vec<(u32, u32)>,
}

impl Spelling {
    /// Of words with counts; a word may come more than once.
    pub fn new(words: impl Iterator<Item = (String, u32)>) -> Self {
        let mut all: Vec<(Box<str>, u32)> = words.map(|(word, count)| (word.into(), count)).collect();
        all.sort_unstable();
        all.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        all.shrink_to_fit();
        let mut deletions = Vec::new();
        for (at, (word, _)) in all.iter().enumerate() {
            if can_be_misspelt(word) {
                each_deletion(word, |hash| deletions.push((hash, at as u32)));
            }
        }
        deletions.sort_unstable();
        deletions.dedup();
        deletions.shrink_to_fit();
        Spelling { words: all, deletions }
    }

    /// Whether the word is in the dictionary.
    pub fn knows(&self, word: &str) -> bool {
        self.words.binary_search_by(|(known, _)| known.as_ref().cmp(word)).is_ok()
    }

    /// The word that a lower-cased, unknown one was meant to be: of those at distance 1 one of the same length, the
    /// most common, the last of the alphabet. `None` where there is none, or the word is too short to tell.
    pub fn mend(&self, word: &str) -> Option<&str> {
        if !can_be_misspelt(word) {
            return None;
        }
        let letters: Vec<char> = word.chars().collect();
        let mut best: Option<(bool, u32, &str)> = None;
        each_deletion(word, |hash| {
            let first = self.deletions.partition_point(|(known, _)| *known < hash);
            for (_, at) in self.deletions[first..].iter().take_while(|(known, _)| *known == hash) {
                let (known, count) = &self.words[*at as usize];
                let other: Vec<char> = known.chars().collect();
                if is_near(&letters, &other) {
                    best = best.max(Some((letters.len() == other.len(), *count, known)));
                }
            }
        });
        best.map(|(_, _, known)| known)
    }
}

fn can_be_misspelt(word: &str) -> bool {
    let length = word.chars().take(LONGEST + 1).count();
    (SHORTEST..=LONGEST).contains(&length) && word.chars().all(char::is_alphabetic)
}

/// Calls `f` with the hash of the word and of the word less each of its letters.
fn each_deletion(word: &str, mut f: impl FnMut(u32)) {
    f(xxh3_64(word.as_bytes()) as u32);
    let mut rest = String::with_capacity(word.len());
    for (at, letter) in word.char_indices() {
        rest.clear();
        rest.push_str(&word[..at]);
        rest.push_str(&word[at + letter.len_utf8()..]);
        f(xxh3_64(rest.as_bytes()) as u32);
    }
}

/// Whether two words are at a Damerau–Levenshtein distance of 1 at most.
fn is_near(left: &[char], right: &[char]) -> bool {
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[same..], &right[same..]);
    match (left, right) {
        ([], []) => true,
        ([_, left_rest @ ..], [_, right_rest @ ..]) if left.len() == right.len() => {
            let swapped = left.len() > 1 && left[0] == right[1] && left[1] == right[0] && left[2..] == right[2..];
            left_rest == right_rest || swapped
        }
        ([_, rest @ ..], _) if left.len() == right.len() + 1 => rest == right,
        (_, [_, rest @ ..]) if right.len() == left.len() + 1 => rest == left,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_at_distance_one_are_mended() {
        let words = ["employment", "manufacturing", "prices", "price"].map(|word| (word.to_string(), 1));
        let spelling = Spelling::new(words.into_iter());
        for (wrong, right) in [
            ("emplyoment", Some("employment")),
            ("employmnt", Some("employment")),
            ("employmentt", Some("employment")),
            ("manafacturing", Some("manufacturing")),
            ("prixes", Some("prices")),
            ("prixs", None),
            ("emloymnt", None),
            ("pric", None),
        ] {
            assert_eq!(spelling.mend(wrong), right, "{wrong}");
        }
        assert!(spelling.knows("price") && !spelling.knows("pric"));
    }
}
