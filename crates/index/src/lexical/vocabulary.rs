//! What the word index knows of single words, without ranking a table: how rare each is, and which of its words is spelled
//! nearly like one that it does not have.

use tantivy::Term;

use super::LexicalIndex;
use super::analysis::Analyzer;
use super::field::{Boosts, LexicalField};
use super::query::Query;
use super::score::Weights;
use lakeward_core::error::Result;

/// Terms of a field of a segment that are compared with a word: those that begin with its first letter, up to this many.
const MOST_COMPARED: usize = 200_000;
/// A word is near another from so many letters on …
const LEAST_LETTERS: usize = 5;
/// … and from so many on two letters may differ.
const LONG_WORD: usize = 9;

/// Letters that an ending may have which the stemmer does not know …
const LONGEST_ENDING: usize = 4;
/// … behind a stem of at least so many.
const SHORTEST_STEM: usize = 6;

/// How rare a word is in the lake.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordRarity {
    /// Its idf as a share of that of a word that no table has, 0..=1: greater is rarer.
    pub rarity: f64,
    /// Tables that have it, counted in the field where most have it.
    pub tables: u64,
}

impl LexicalIndex {
    /// The words of `text` that say something, in order, each once however it is inflected, at most `most`; stop words only where
    /// there are no others.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`], as everything here.
    pub fn informative_words(&self, text: &str, most: usize) -> Result<Vec<(String, WordRarity)>> {
        let mut words = Query::from_text(text).words;
        words.truncate(most);
        let rarities = self.rarities(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(words.into_iter().zip(rarities).collect())
    }

    /// The rarity of each of `words`; of several terms in one word (`A-320`) the rarest counts. A word without letters and digits
    /// has rarity 0.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`], as everything here.
    pub fn rarities(&self, words: &[&str]) -> Result<Vec<WordRarity>> {
        let weights = Weights::new(&self.segments, Boosts::default());
        let most = weights.idf(0).max(f32::MIN_POSITIVE);
        let mut analyzer = Analyzer::new(false);
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            let terms: Vec<String> = analyzer.terms(word).iter().map(|(term, _)| term.to_string()).collect();
            let mut rarest: Option<WordRarity> = None;
            for term in &terms {
                let tables = self.tables_with(term)?;
                let rarity = f64::from(weights.idf(usize::try_from(tables).unwrap_or(usize::MAX)) / most);
                if rarest.is_none_or(|known| rarity > known.rarity) {
                    rarest = Some(WordRarity { rarity: rarity.clamp(0.0, 1.0), tables });
                }
            }
            all.push(rarest.unwrap_or(WordRarity { rarity: 0.0, tables: 0 }));
        }
        Ok(all)
    }

    /// Words of the lake, as the index has them, that are spelled nearly like `word` and begin with the same letter; at most
    /// `limit`, nearest first, then those of most tables. One letter may differ, two in long words, or the ending be one that the
    /// stemmer does not know; short words and those with digits have no neighbours: there another word is no misspelling.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`], as everything here.
    pub fn nearest_words(&self, word: &str, limit: usize) -> Result<Vec<String>> {
        let mut analyzer = Analyzer::new(false);
        let terms: Vec<String> = analyzer.terms(word).iter().map(|(term, _)| term.to_string()).collect();
        let [term] = terms.as_slice() else { return Ok(Vec::new()) };
        let letters = term.chars().count();
        if letters < LEAST_LETTERS || !term.chars().all(char::is_alphabetic) {
            return Ok(Vec::new());
        }
        let most = if letters >= LONG_WORD { 2 } else { 1 };
        let mut near: Vec<(usize, String)> = Vec::new();
        for segment in &self.segments {
            for field in LexicalField::ALL {
                segment.for_each_term_like(field as usize, term, MOST_COMPARED, |other| {
                    // Lengths first: most are told apart by them.
                    let apart = other.len().abs_diff(term.len());
                    if apart > most * 4 || !other.chars().all(char::is_alphabetic) {
                        return;
                    }
                    let distance = strsim::osa_distance(term, other);
                    if distance > 0 && distance <= most {
                        near.push((distance, other.to_string()));
                    } else if is_ending(term, other) {
                        near.push((most + 1, other.to_string()));
                    }
                })?;
            }
        }
        near.sort();
        near.dedup();
        let mut counted = Vec::with_capacity(near.len());
        for (distance, other) in near {
            // What the analyser would change again cannot be searched for.
            let stays = analyzer.terms(&other).iter().map(|(term, _)| term).eq([other.as_str()]);
            if stays {
                counted.push((distance, std::cmp::Reverse(self.tables_with(&other)?), other));
            }
        }
        counted.sort();
        Ok(counted.into_iter().take(limit).map(|(_, _, other)| other).collect())
    }

    /// Tables that have `term`, in the field where most have it.
    fn tables_with(&self, term: &str) -> Result<u64> {
        let mut most = 0;
        for field in LexicalField::ALL {
            let term = Term::from_field_text(self.fields.text[field as usize], term);
            let mut tables = 0;
            for segment in &self.segments {
                tables += segment.documents_with(field as usize, &term)?;
            }
            most = most.max(tables);
        }
        Ok(most)
    }
}

/// Whether `term` is `stem` with an ending: a misspelt `unemploymnt` keeps its ending where `unemployment` loses it.
fn is_ending(term: &str, stem: &str) -> bool {
    let ending = term.strip_prefix(stem).map_or(0, |ending| ending.chars().count());
    (1..=LONGEST_ENDING).contains(&ending) && stem.chars().count() >= SHORTEST_STEM
}
