//! How alike two columns are: by name, by values, by meaning and shape.

use crate::text::name_words;

/// Likeness of two column names in 0..=1: 1 for the same words, else the better of shared words and shared letter triples.
pub fn name_likeness(a: &str, b: &str) -> f64 {
    NameParts::of(a).likeness(&NameParts::of(b))
}

/// Whether `name` only counts columns, as programs name those that have no name: `c1`, `_c0`, `V3`, `column 2`, `Unnamed: 4`.
/// Two such names say nothing about what the columns hold.
pub fn is_placeholder(name: &str) -> bool {
    const COUNTED: [&str; 12] =
        ["c", "col", "column", "f", "field", "unnamed", "v", "var", "variable", "x", "attr", "attribute"];
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if digits.len() == name.len() {
        return false;
    }
    let word = digits.trim_matches(|c: char| !c.is_alphanumeric());
    digits.len() <= 12 && COUNTED.iter().any(|counted| word.eq_ignore_ascii_case(counted))
}

/// What column names are compared by, so that one name is taken apart once.
#[derive(Debug, Clone)]
pub struct NameParts {
    words: Vec<String>,
    /// Each once, ascending, without the plural's s.
    singulars: Vec<String>,
    /// Letter triples, each once, ascending; 21 bits a letter.
    triples: Vec<u64>,
}

impl NameParts {
    /// The parts of `name`.
    pub fn of(name: &str) -> Self {
        let words = if is_placeholder(name) { Vec::new() } else { name_words(name) };
        let mut singulars: Vec<String> = words.iter().map(|word| singular(word).to_string()).collect();
        singulars.sort_unstable();
        singulars.dedup();
        let triples = triples(&words);
        Self { words, singulars, triples }
    }

    /// See [`name_likeness`].
    pub fn likeness(&self, other: &Self) -> f64 {
        if self.words.is_empty() || other.words.is_empty() {
            return 0.0;
        }
        if self.words == other.words {
            return 1.0;
        }
        let shared_words = shared(&self.singulars, &other.singulars) as f64;
        let by_words = shared_words / (self.singulars.len() + other.singulars.len()) as f64 * 2.0;
        let shared_triples = shared(&self.triples, &other.triples) as f64;
        let by_letters = 2.0 * shared_triples / (self.triples.len() + other.triples.len()) as f64;
        // Different names never count as the same one.
        by_words.max(by_letters).min(0.95)
    }
}

/// Elements in both of two ascending lists without repetition.
fn shared<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut a, mut b, mut shared) = (a.iter().peekable(), b.iter().peekable(), 0);
    while let (Some(left), Some(right)) = (a.peek(), b.peek()) {
        let order = left.cmp(right);
        shared += usize::from(order.is_eq());
        if order.is_le() {
            a.next();
        }
        if order.is_ge() {
            b.next();
        }
    }
    shared
}

fn singular(word: &str) -> &str {
    if word.len() > 3 && !word.ends_with("ss") { word.strip_suffix('s').unwrap_or(word) } else { word }
}

/// Letter triples of the words, each word bounded by blanks.
fn triples(words: &[String]) -> Vec<u64> {
    const LETTER_BITS: u32 = 21;
    let mut triples = Vec::new();
    for word in words {
        let mut triple = u64::from(' ');
        // The blank, the first letter: two of three.
        for (place, letter) in word.chars().chain([' ']).enumerate() {
            triple = (triple << LETTER_BITS | u64::from(letter)) & ((1 << (3 * LETTER_BITS)) - 1);
            if place > 0 {
                triples.push(triple);
            }
        }
    }
    triples.sort_unstable();
    triples.dedup();
    triples
}

/// Overlap of the central ranges of two number columns in 0..=1: shared length of the spans from the 5th to the 95th
/// percentile over their joint length, on a scale that is linear near 0 and logarithmic beyond 1.
pub fn range_likeness(a: &[f32; 5], b: &[f32; 5]) -> f64 {
    ValueRange::of(a).likeness(&ValueRange::of(b))
}

/// The central range of a number column on the scale of [`range_likeness`].
#[derive(Debug, Clone, Copy)]
pub struct ValueRange {
    low: f64,
    high: f64,
}

impl ValueRange {
    /// From the 5th, 25th, 50th, 75th and 95th percentile; NaN without numbers.
    pub fn of(quantiles: &[f32; 5]) -> Self {
        let scaled = |number: f32| f64::from(number.signum()) * f64::from(number.abs()).ln_1p();
        Self { low: scaled(quantiles[0]), high: scaled(quantiles[4]) }
    }

    /// See [`range_likeness`]; 0 when one has no numbers.
    pub fn likeness(&self, other: &Self) -> f64 {
        if [self.low, self.high, other.low, other.high].iter().any(|bound| bound.is_nan()) {
            return 0.0;
        }
        // A constant column has no length of its own.
        const LEAST_SPAN: f64 = 0.05;
        let joint = (self.high.max(other.high) - self.low.min(other.low)).max(LEAST_SPAN);
        let shared = (self.high.min(other.high) - self.low.max(other.low)).max(0.0);
        let apart = self.low.max(other.low) - self.high.min(other.high);
        let slack = if apart <= 0.0 { LEAST_SPAN } else { 0.0 };
        ((shared + slack) / joint).min(1.0)
    }
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
    fn counted_columns_have_no_name() {
        for name in ["c1", "_c0", "V12", "column 2", "Column_3", "Unnamed: 4"] {
            assert!(is_placeholder(name), "{name}");
            assert_eq!(name_likeness(name, name), 0.0);
        }
        for name in ["c", "CO2", "q4", "2019", "col_a", "unnamed", "vitamin c 1", "x-ray 1"] {
            assert!(!is_placeholder(name), "{name}");
        }
    }

    #[test]
    fn ranges_overlap_or_not() {
        assert!(range_likeness(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0]) > 0.99);
        assert_eq!(range_likeness(&[1.0, 1.0, 1.0, 1.0, 2.0], &[1e6, 1e6, 1e6, 1e6, 2e6]), 0.0);
        assert_eq!(range_likeness(&[f32::NAN; 5], &[1.0; 5]), 0.0);
    }
}
