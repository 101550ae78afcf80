//! Single words in the word index: their rarity, and words with a similar spelling.

use tantivy::Term;

use super::LexicalIndex;
use super::analysis::Analyzer;
use super::field::{Boosts, LexicalField};
use super::query::Query;
use super::score::Weights;
use lakeward_core::error::Result;

/// Maximum terms of a segment's field to compare with a word; only terms with its first letter are compared.
const MOST_COMPARED: usize = 200_000;
/// Words with fewer letters have no neighbours …
const LEAST_LETTERS: usize = 5;
/// … and in words with at least this many, two letters may differ.
const LONG_WORD: usize = 9;

/// Maximum letters of an ending unknown to the stemmer …
const LONGEST_ENDING: usize = 4;
/// … after a stem of at least this many.
const SHORTEST_STEM: usize = 6;

/// The rarity of a word in the lake.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordRarity {
    /// Its idf divided by the idf of a word that no table has, 0..=1: greater is rarer.
    pub rarity: f64,
    /// Tables that have it, counted in the field where it is most frequent.
    pub tables: u64,
}

impl LexicalIndex {
    /// The informative words of `text` in order, at most `most`, without duplicates of the same stem; stop words only if there are no
    /// others.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`], as everything here.
    pub fn informative_words(&self, text: &str, most: usize) -> Result<Vec<(String, WordRarity)>> {
        let mut words = Query::from_text(text).words;
        words.truncate(most);
        let rarities = self.rarities(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(words.into_iter().zip(rarities).collect())
    }

    /// The rarity of each of `words`; if a word has several terms (`A-320`), that of the rarest. A word without letters and digits has
    /// rarity 0.
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

    /// Words of the lake, but for cells, with a spelling similar to `word` and the same first letter: how far each is, the number of tables that have
    /// it, and the word with the ending of `word`; nearest first, then by number of tables. One letter may differ, two in long words, or the ending
    /// may be one that the stemmer does not know. Short words and those with digits have no neighbours: a similar word is not a misspelling there.
    ///
    /// # Errors
    /// [`lakeward_core::Error::DamagedIndex`], as everything here.
    pub fn nearest_words(&self, word: &str) -> Result<Vec<(usize, u64, String)>> {
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
            for field in LexicalField::ALL.into_iter().filter(|field| *field != LexicalField::Values) {
                segment.for_each_term_like(field as usize, term, MOST_COMPARED, |other| {
                    // Lengths first: they exclude most words.
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
            // A term that the analyser would change cannot be searched.
            let stays = |analyzer: &mut Analyzer, written: &str| {
                analyzer.terms(written).iter().map(|(term, _)| term).eq([other.as_str()])
            };
            let ending = word.to_lowercase().strip_prefix(term.as_str()).map(|ending| format!("{other}{ending}"));
            let written = ending.filter(|written| stays(&mut analyzer, written));
            if written.is_some() || stays(&mut analyzer, &other) {
                let tables = self.tables_with(&other)?;
                counted.push((distance, std::cmp::Reverse(tables), written.unwrap_or(other)));
            }
        }
        counted.sort();
        Ok(counted.into_iter().map(|(distance, tables, word)| (distance, tables.0, word)).collect())
    }

    /// Number of tables that have `term`, in the field where it is most frequent.
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

/// Whether `term` is `stem` with an ending: a misspelt `unemploymnt` keeps its ending, but `unemployment` loses it.
fn is_ending(term: &str, stem: &str) -> bool {
    let ending = term.strip_prefix(stem).map_or(0, |ending| ending.chars().count());
    (1..=LONGEST_ENDING).contains(&ending) && stem.chars().count() >= SHORTEST_STEM
}
