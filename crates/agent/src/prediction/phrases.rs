//! The words of a request that may name columns of other tables.

use std::collections::HashSet;

use lakeward_core::text::{Stemmer, bare, content_words, is_function_word, name_words};
use lakeward_lake::dataset::TableEntry;

/// Clauses that are looked up where no words were read as what is wanted: those that say most.
const CLAUSES: usize = 3;
/// Words of a run that the table at hand does not explain, at most.
const RUN: usize = 3;
/// Such runs that are looked up, at most: the shortest, since each is a search.
const RUNS: usize = 14;

/// Stems of the words by which a prediction is asked for, and which name nothing: "I want to predict …", "could you help me with a model".
const ASKS: [&str; 24] = [
    "i", "me", "my", "we", "us", "our", "you", "can", "could", "would", "want", "need", "like", "tri", "help",
    "predict", "forecast", "model", "regress", "explain", "estim", "train", "build", "know",
];

/// What a request says of what it wants from elsewhere: the words that were read as that, else its [`CLAUSES`] that say most.
pub(super) fn phrases<'t>(text: &'t str, added: &[&'t str]) -> Vec<&'t str> {
    if !added.is_empty() {
        return added.to_vec();
    }
    let ends = |(at, c): (usize, char)| {
        let next = text[at + c.len_utf8()..].chars().next();
        let ends = matches!(c, ';' | '?' | '!' | '(' | ')' | '\u{2014}' | '\u{2013}' | '\n')
            || matches!(c, '.' | ',' | ':') && next.is_none_or(char::is_whitespace);
        ends.then_some((at, at + c.len_utf8()))
    };
    let mut start = 0;
    let mut clauses: Vec<&str> = Vec::new();
    for (end, next) in text.char_indices().filter_map(ends).chain([(text.len(), text.len())]) {
        clauses.push(text[start..end].trim());
        start = next;
    }
    let mut stemmer = Stemmer::default();
    let mut says = |clause: &str| {
        let words = clause.split_whitespace().map(|word| bare(word).to_lowercase());
        words.filter(|word| !is_function_word(word) && !ASKS.contains(&stemmer.stem(word.as_str()))).count()
    };
    clauses.retain(|clause| says(clause) > 0);
    clauses.sort_by_cached_key(|clause| std::cmp::Reverse(says(clause)));
    clauses.truncate(CLAUSES);
    clauses
}

/// The short runs of words of a request that say something which neither a column at hand nor the name of its table says.
pub(crate) fn unexplained(text: &str, entry: &TableEntry) -> Vec<String> {
    let mut stemmer = Stemmer::default();
    let mut stems = |text: &str| -> Vec<String> {
        name_words(text).into_iter().map(|word| stemmer.stem(&word).to_string()).collect()
    };
    let mut known = stems(entry.id.as_str());
    known.extend(entry.profile.columns.iter().flat_map(|column| stems(&column.name)));
    let is_edge = |word: &str| is_function_word(&bare(word).to_lowercase());
    let words: Vec<&str> = text.split_whitespace().filter(|word| !bare(word).is_empty()).collect();
    let says: Vec<bool> =
        words.iter().map(|word| !is_edge(word) && !stems(bare(word)).iter().all(|stem| known.contains(stem))).collect();
    let (mut runs, mut seen) = (Vec::new(), HashSet::new());
    for first in 0..words.len() {
        for last in first..words.len().min(first + RUN) {
            let ends = words[first..last].iter().any(|word| word.ends_with(|end: char| end.is_ascii_punctuation()));
            if ends || is_edge(words[first]) {
                break;
            }
            // Function words within are no difference to a search.
            let run = bare(&words[first..=last].join(" ")).to_string();
            if !is_edge(words[last]) && says[first..=last].contains(&true) && seen.insert(content_words(&run)) {
                runs.push(run);
            }
        }
    }
    runs.sort_by_key(|run: &String| run.split_whitespace().count());
    runs.truncate(RUNS);
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_ask_for_a_prediction_name_nothing() {
        assert!(phrases("I want to predict  ", &[]).is_empty());
        assert!(phrases("Help me build a model, I need to forecast it.", &[]).is_empty());
        assert_eq!(phrases("I want to predict . Which year was each plane built?", &[]).len(), 1);
        assert_eq!(phrases("I want to predict it", &["the year"]), ["the year"]);
    }
}
