//! How alike two columns are: by name, by values, by meaning and shape.

use std::collections::HashSet;

use crate::text::name_words;

/// Likeness of two column names in 0..=1: 1 for the same words, else the better of shared words and shared letter triples.
pub fn name_likeness(a: &str, b: &str) -> f64 {
    let (words_a, words_b) = (name_words(a), name_words(b));
    if words_a.is_empty() || words_b.is_empty() {
        return 0.0;
    }
    if words_a == words_b {
        return 1.0;
    }
    let set_a: HashSet<&str> = words_a.iter().map(|word| singular(word)).collect();
    let set_b: HashSet<&str> = words_b.iter().map(|word| singular(word)).collect();
    let shared = set_a.intersection(&set_b).count() as f64;
    let by_words = shared / (set_a.len() + set_b.len()) as f64 * 2.0;
    let triples_a = triples(&words_a);
    let triples_b = triples(&words_b);
    let shared = triples_a.intersection(&triples_b).count() as f64;
    let by_letters = 2.0 * shared / (triples_a.len() + triples_b.len()) as f64;
    // Different names never count as the same one.
    by_words.max(by_letters).min(0.95)
}

fn singular(word: &str) -> &str {
    if word.len() > 3 && !word.ends_with("ss") { word.strip_suffix('s').unwrap_or(word) } else { word }
}

/// Letter triples of the words, each word bounded by blanks.
fn triples(words: &[String]) -> HashSet<[char; 3]> {
    let mut triples = HashSet::new();
    for word in words {
        let letters: Vec<char> = std::iter::once(' ').chain(word.chars()).chain([' ']).collect();
        for window in letters.windows(3) {
            triples.insert([window[0], window[1], window[2]]);
        }
        if letters.len() < 3 {
            triples.insert([' ', letters.get(1).copied().unwrap_or(' '), ' ']);
        }
    }
    triples
}

/// Overlap of the central ranges of two number columns in 0..=1: shared length of the spans from the 5th to the 95th
/// percentile over their joint length, on a scale that is linear near 0 and logarithmic beyond 1.
pub fn range_likeness(a: &[f32; 5], b: &[f32; 5]) -> f64 {
    let scaled = |number: f32| f64::from(number.signum()) * f64::from(number.abs()).ln_1p();
    let (low_a, high_a) = (scaled(a[0]), scaled(a[4]));
    let (low_b, high_b) = (scaled(b[0]), scaled(b[4]));
    if [low_a, high_a, low_b, high_b].iter().any(|bound| bound.is_nan()) {
        return 0.0;
    }
    // A constant column has no length of its own.
    const LEAST_SPAN: f64 = 0.05;
    let joint = (high_a.max(high_b) - low_a.min(low_b)).max(LEAST_SPAN);
    let shared = (high_a.min(high_b) - low_a.max(low_b)).max(0.0);
    let slack = if low_a.max(low_b) - high_a.min(high_b) <= 0.0 { LEAST_SPAN } else { 0.0 };
    ((shared + slack) / joint).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_words_and_letters() {
        assert_eq!(name_likeness("country_code", "CountryCode"), 1.0);
        assert!(name_likeness("country", "countries") > 0.4);
        assert!(name_likeness("country_code", "country") > 0.5);
        assert!(name_likeness("population", "pop") < name_likeness("population", "populations"));
        assert!(name_likeness("name", "gdp") < 0.1);
        assert_eq!(name_likeness("", "x"), 0.0);
    }

    #[test]
    fn ranges_overlap_or_not() {
        assert!(range_likeness(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0]) > 0.99);
        assert_eq!(range_likeness(&[1.0, 1.0, 1.0, 1.0, 2.0], &[1e6, 1e6, 1e6, 1e6, 2e6]), 0.0);
        assert_eq!(range_likeness(&[f32::NAN; 5], &[1.0; 5]), 0.0);
    }
}
