//! How alike two names of columns are.

use super::name_words;
use super::names::only_number;

/// Likeness of two column names in 0..=1: 1 for the same words, else the better of shared words and shared letter triples.
pub fn name_likeness(a: &str, b: &str) -> f64 {
    NameParts::of(a).likeness(&NameParts::of(b))
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
        let words = Some(name_words(name)).filter(|words| !only_number(words)).unwrap_or_default();
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

    /// Its words, in small letters.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// How surely this word is meant by a name of one word: as it is, or by how it begins, from three letters on.
    pub fn begun_by(&self, name: &Self) -> f64 {
        const LETTERS: usize = 3;
        let ([word], [short]) = (&self.words[..], &name.words[..]) else { return 0.0 };
        match word == short {
            true => 1.0,
            false if short.chars().count() >= LETTERS && word.starts_with(short.as_str()) => 0.9,
            false => 0.0,
        }
    }

    /// How surely one name is a short form of the other, 0..=0.9: word by word a beginning (`temp`, `temperature`) or letters
    /// left out (`yr`, `year`), or the first letters of all words (`gdp`, `gross domestic product`).
    pub fn short_form(&self, other: &Self) -> f64 {
        short_form(&self.words, &other.words).max(short_form(&other.words, &self.words))
    }
}

/// Whether the first words are a short form of the second, and how surely.
fn short_form(short: &[String], long: &[String]) -> f64 {
    const BEGINNING: f64 = 0.9;
    const LETTERS_LEFT_OUT: f64 = 0.7;
    if let [initials] = short
        && long.len() > 1
    {
        let of = |small: bool| {
            let words =
                long.iter().filter(move |word| small || !matches!(word.as_str(), "of" | "the" | "and" | "in" | "by"));
            words.filter_map(|word| word.chars().next()).eq(initials.chars())
        };
        return if of(true) || of(false) { BEGINNING } else { 0.0 };
    }
    if short.len() != long.len() || short.is_empty() {
        return 0.0;
    }
    let mut sum = 0.0;
    for (short, long) in short.iter().zip(long) {
        sum += match short {
            _ if short == long => 1.0,
            _ if short.chars().nth(1).is_none() => return 0.0,
            _ if long.starts_with(short.as_str()) => BEGINNING,
            _ if letters_left_out(short, long) => LETTERS_LEFT_OUT,
            _ => return 0.0,
        };
    }
    (sum / short.len() as f64).min(BEGINNING)
}

/// Whether `short` is `long` without some letters, not the first.
fn letters_left_out(short: &str, long: &str) -> bool {
    let mut rest = long.chars();
    short.len() < long.len()
        && short.chars().next() == long.chars().next()
        && short.chars().all(|c| rest.any(|l| l == c))
}

/// What names may abbreviate a word by, in lower case: beginnings of three to five letters (`veh`, `vehicles`), and its first two to five consonants
/// after the first letter (`rng`, `range`; `cst`, `customer`). None of words that are short themselves.
pub fn abbreviations(word: &str) -> Vec<String> {
    const LEAST: usize = 4;
    const LONGEST: usize = 5;
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < LEAST || !letters.iter().all(|letter| letter.is_alphabetic()) {
        return Vec::new();
    }
    let is_vowel = |letter: &char| matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u');
    let consonants = letters.iter().enumerate().filter(|(at, letter)| *at == 0 || !is_vowel(letter));
    let consonants: Vec<char> = consonants.map(|(_, letter)| *letter).collect();
    let of = |letters: &[char], count: usize| letters[..count].iter().collect::<String>();
    let beginnings = (3..=LONGEST.min(letters.len() - 1)).map(|count| of(&letters, count));
    let mut all: Vec<String> = beginnings.collect();
    let least = if consonants.len() == 2 { 2 } else { 3 };
    let without_vowels = (least..=LONGEST.min(consonants.len())).map(|count| of(&consonants, count));
    all.extend(without_vowels.filter(|short| short.chars().count() < letters.len()));
    all.sort_unstable();
    all.dedup();
    all
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
    fn abbreviations_are_beginnings_or_consonants() {
        assert_eq!(abbreviations("range"), ["ran", "rang", "rng"]);
        assert_eq!(abbreviations("name"), ["nam", "nm"]);
        assert_eq!(abbreviations("customer"), ["cst", "cstm", "cstmr", "cus", "cust", "custo"]);
        assert!(abbreviations("vehicles").contains(&"veh".into()) && abbreviations("damage").contains(&"dmg".into()));
        assert!(abbreviations("date").contains(&"dt".into()) && abbreviations("hunt").contains(&"hnt".into()));
        assert!(["id", "age", "co2", ""].iter().all(|word| abbreviations(word).is_empty()));
    }

    #[test]
    fn short_forms_are_known_from_other_names() {
        let likeness = |a: &str, b: &str| NameParts::of(a).short_form(&NameParts::of(b));
        for (a, b) in [
            ("temp", "temperature"),
            ("yr", "Year"),
            ("GDP", "gross_domestic_product"),
            ("pop density", "Population Density"),
        ] {
            assert!(likeness(a, b) >= 0.7 && likeness(a, b) == likeness(b, a), "{a} {b}");
        }
        for (a, b) in [("c", "country"), ("city", "capacity use"), ("name", "gdp"), ("", ""), ("state", "rate")] {
            assert_eq!(likeness(a, b), 0.0, "{a} {b}");
        }
    }
}
