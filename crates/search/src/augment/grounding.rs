//! Whether a question says only what the facts say: its numbers and names, and how it is like others of the table.

use std::collections::HashSet;

use serde_json::Value;

use super::facts::Facts;
use super::phrases::{is_function_word, words_of};
use lakeward_core::text::name_words;

/// The words that a record holds.
#[derive(Debug, Clone, Default)]
pub struct Ground {
    words: HashSet<String>,
}

impl Ground {
    /// The words of all that is known of a table.
    pub fn of(facts: &Facts) -> Ground {
        let mut ground = Ground::default();
        facts.texts().for_each(|text| ground.add(text));
        if let Some(rows) = facts.rows {
            ground.words.insert(rows.to_string());
        }
        ground
    }

    /// The words of a record as a model is shown it, its keys not among them.
    pub fn of_record(record: &Value) -> Ground {
        let mut ground = Ground::default();
        ground.add_value(record);
        ground
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Number(number) => self.add(&number.to_string()),
            Value::Array(list) => list.iter().for_each(|item| self.add_value(item)),
            Value::Object(map) => map.values().for_each(|item| self.add_value(item)),
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn add(&mut self, text: &str) {
        self.words.extend(words_of(text));
        self.words.extend(text.split_whitespace().flat_map(name_words));
    }

    /// Whether the record says `word`, lower-cased, or its singular or plural.
    pub fn holds(&self, word: &str) -> bool {
        let plural = || format!("{word}s");
        self.words.contains(word)
            || word.strip_suffix('s').is_some_and(|single| self.words.contains(single))
            || self.words.contains(&plural())
    }

    /// The numbers and the capitalised words of `question` that the record does not say, as written.
    pub fn unsupported(&self, question: &str) -> Vec<String> {
        let mut unsupported = Vec::new();
        for (place, piece) in pieces(question).into_iter().enumerate() {
            let is_number = piece.contains(|letter: char| letter.is_numeric());
            let is_name = piece.starts_with(char::is_uppercase);
            if !is_number && !is_name {
                continue;
            }
            let words = words_of(&piece);
            // The first word has its capital from where it stands, if it is a word of every question.
            let begins = place == 0 && words.iter().all(|word| is_opening(word));
            let is_i = piece == "I";
            if !begins && !is_i && !words.iter().all(|word| self.holds(word)) && !unsupported.contains(&piece) {
                unsupported.push(piece);
            }
        }
        unsupported
    }

    /// The content words of `question` that the record says, each once, in their order.
    pub fn support(&self, question: &str) -> Vec<String> {
        let mut support: Vec<String> = Vec::new();
        for word in words_of(question) {
            if !is_function_word(&word) && self.holds(&word) && !support.contains(&word) {
                support.push(word);
            }
        }
        support
    }
}

/// Words with which a question may begin.
fn is_opening(word: &str) -> bool {
    const OPENINGS: [&str; 16] = [
        "are", "can", "compare", "did", "do", "does", "has", "have", "is", "name", "tell", "was", "were", "why",
        "show", "whose",
    ];
    is_function_word(word) || OPENINGS.contains(&word)
}

/// The pieces of a question between gaps and signs, as written; the commas of thousands do not part, an apostrophe does.
fn pieces(question: &str) -> Vec<String> {
    let letters: Vec<char> = question.chars().collect();
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let digit = |place: Option<usize>| place.and_then(|place| letters.get(place)).is_some_and(char::is_ascii_digit);
        let thousands = *letter == ',' && digit(at.checked_sub(1)) && digit(Some(at + 1));
        if letter.is_alphanumeric() || thousands {
            piece.push(*letter);
        } else if !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// How alike two questions are: shared words over all of either, 0..=1 (Jaccard).
pub fn likeness(a: &str, b: &str) -> f64 {
    let words = |text: &str| -> HashSet<String> { words_of(text).into_iter().collect() };
    let (a, b) = (words(a), words(b));
    let shared = a.intersection(&b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 1.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_have_to_be_in_the_record() {
        let record = serde_json::json!({
            "title": "Bids in Maryland", "columns": [{"name": "pop_2019", "values": ["1,234", "Baltimore"]}]
        });
        let ground = Ground::of_record(&record);
        for supported in
            ["Which bids were made in Maryland in 2019?", "How many of 1234 are Baltimore's?", "What did I pay?"]
        {
            assert!(ground.unsupported(supported).is_empty(), "{supported}: {:?}", ground.unsupported(supported));
        }
        assert_eq!(ground.unsupported("Who bid in Virginia in 2020 or Maryland?"), ["Virginia", "2020"]);
        assert_eq!(ground.unsupported("Virginia has which bids?"), ["Virginia"]);
        assert_eq!(ground.support("Which bids are from Maryland?"), ["bids", "maryland"]);
    }

    #[test]
    fn likeness_is_of_words_in_any_order() {
        assert!((likeness("What is the price of milk?", "Of milk, what is the price?") - 1.0).abs() < 1e-9);
        assert!(likeness("milk in Oslo", "trains in Rome") < 0.3);
    }
}
