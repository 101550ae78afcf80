//! Datasets whose names or descriptions are nearest to a name: candidates for a judge, never merged automatically.
//!
//! score = 1·[the title is a prefix of the name] + 2·[the title is the initials of the name's first words, times their share] + 0.7·[the
//! name's first word is the initials of the title's] + 0.75·[the name's first parts occur in the description, weighted by idf and
//! by how early] + 0.25·(cosine of letter trigrams) + 1·(BM25 of name and description, divided by the best).

use std::collections::HashMap;

use memchr::memmem;

use super::aliases::{Aliases, HEAD_PARTS, MIN_INITIALS};
use super::names::{first_parts, folded, initials, main_name, parts, plain_runs};
use super::term_index::TermIndex;
use super::words::Words;

const WEIGHT_BEGINS: f64 = 1.0;
const WEIGHT_ACRONYM: f64 = 2.0;
const WEIGHT_EXPANSION: f64 = 0.7;
const WEIGHT_DESCRIBED: f64 = 0.75;
const WEIGHT_TRIGRAMS: f64 = 0.25;
const WEIGHT_WORDS: f64 = 1.0;
/// A single part must have this many bytes to be searched for in descriptions.
const MIN_SINGLE_BYTES: usize = 4;
/// Bytes of a description after which a name in it counts less.
const EARLY_LETTERS: f64 = 200.0;

/// Ranks datasets for names.
pub struct NearestNames<'a> {
    aliases: &'a Aliases,
    flats: Vec<String>,
    /// By the initials of the first three or more words of each title.
    expansions: HashMap<String, Vec<usize>>,
    /// Byte offsets where the parts of each head end; ascending, starting with 0.
    borders: Vec<Vec<u32>>,
    part_df: HashMap<String, u32>,
    trigrams: HashMap<String, Vec<(u32, f64)>>,
    trigram_df: HashMap<String, u32>,
    norms: Vec<f64>,
    vocabulary: HashMap<String, u32>,
    words: TermIndex,
}

impl<'a> NearestNames<'a> {
    /// Over the datasets of `aliases` with their `texts`.
    pub fn new(aliases: &'a Aliases, texts: &[String]) -> Self {
        let flats: Vec<String> = aliases.titles().iter().map(|title| parts(title).concat()).collect();
        let mut expansions: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, title) in aliases.titles().iter().enumerate() {
            let folded = folded(title);
            let words = letters_only(&folded);
            for length in MIN_INITIALS..=words.len() {
                for form in initials(&words[..length]).into_iter().filter(|form| form.len() >= MIN_INITIALS) {
                    let places = expansions.entry(form).or_default();
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                }
            }
        }
        let (mut borders, mut part_df) = (Vec::new(), HashMap::new());
        for text in texts {
            let mut head = first_parts(text, HEAD_PARTS);
            let ends = head.iter().scan(0u32, |end, part| {
                *end += part.len() as u32;
                Some(*end)
            });
            borders.push(std::iter::once(0).chain(ends).collect());
            head.sort_unstable();
            head.dedup();
            head.into_iter().for_each(|part| *part_df.entry(part).or_default() += 1);
        }
        let mut trigram_df: HashMap<String, u32> = HashMap::new();
        for flat in &flats {
            trigrams_of(flat).into_keys().for_each(|gram| *trigram_df.entry(gram).or_default() += 1);
        }
        let mut vocabulary: HashMap<String, u32> = HashMap::new();
        let mut stems = Words::default();
        let lists: Vec<Vec<u32>> = aliases
            .titles()
            .iter()
            .zip(texts)
            .map(|(title, text)| {
                let numbered = stems.stems(&format!("{title} {text}")).into_iter().map(|stem| {
                    let next = vocabulary.len() as u32;
                    *vocabulary.entry(stem).or_insert(next)
                });
                numbered.collect()
            })
            .collect();
        let words = TermIndex::new(vocabulary.len(), lists.len(), lists.iter().map(Vec::as_slice));
        let mut nearest = Self {
            aliases,
            expansions,
            borders,
            part_df,
            trigrams: HashMap::new(),
            trigram_df,
            norms: Vec::new(),
            vocabulary,
            words,
            flats,
        };
        nearest.add_trigrams();
        nearest
    }

    fn add_trigrams(&mut self) {
        for (place, flat) in self.flats.iter().enumerate() {
            let weighted: Vec<(String, f64)> = self.weighted_trigrams(flat);
            let norm = weighted.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
            for (gram, weight) in weighted {
                self.trigrams.entry(gram).or_default().push((place as u32, weight));
            }
            self.norms.push(if norm > 0.0 { norm } else { 1.0 });
        }
    }

    fn weighted_trigrams(&self, flat: &str) -> Vec<(String, f64)> {
        let count = self.flats.len() as f64;
        let mut weighted: Vec<(String, f64)> = trigrams_of(flat)
            .into_iter()
            .map(|(gram, times)| {
                let df = f64::from(self.trigram_df.get(&gram).copied().unwrap_or(0));
                (gram, f64::from(times) * (1.0 + count / (1.0 + df)).ln())
            })
            .collect();
        // Floating-point sums must not depend on the hash map's order.
        weighted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        weighted
    }

    /// The `k` datasets nearest to `name` with their scores, best first, ties by place.
    pub fn nearest(&self, name: &str, k: usize) -> Vec<(usize, f64)> {
        let main = main_name(name);
        let mut scores = vec![0.0; self.flats.len()];
        self.add_prefixes(name, &mut scores);
        self.add_acronyms(&main, &mut scores);
        self.add_descriptions(&main, &mut scores);
        self.add_letters(name, &mut scores);
        self.add_words(name, &mut scores);
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
        ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.truncate(k);
        ranked
    }

    fn add_prefixes(&self, name: &str, scores: &mut [f64]) {
        let mut prefix = String::new();
        for part in parts(name) {
            prefix.push_str(&part);
            self.aliases.of_flat(&prefix).iter().for_each(|place| scores[*place] += WEIGHT_BEGINS);
        }
    }

    fn add_acronyms(&self, main: &str, scores: &mut [f64]) {
        let folded = folded(main);
        let words = plain_runs(&folded);
        let mut best: HashMap<usize, f64> = HashMap::new();
        for length in 2..=words.len() {
            for form in initials(&words[..length]).into_iter().filter(|form| form.len() >= MIN_INITIALS) {
                for place in self.aliases.of_flat(&form) {
                    best.insert(*place, length as f64 / words.len() as f64);
                }
            }
        }
        best.into_iter().for_each(|(place, share)| scores[place] += WEIGHT_ACRONYM * share);
        let first = letters_only(&folded).first().map(|word| word.to_lowercase()).unwrap_or_default();
        if first.len() >= MIN_INITIALS {
            let places = self.expansions.get(&first).map_or(&[][..], Vec::as_slice);
            places.iter().for_each(|place| scores[*place] += WEIGHT_EXPANSION);
        }
    }

    fn add_descriptions(&self, main: &str, scores: &mut [f64]) {
        let parts = parts(main);
        let count = self.borders.len() as f64;
        let idf = |part: &String| (1.0 + count / (1.0 + f64::from(self.part_df.get(part).copied().unwrap_or(0)))).ln();
        let total: f64 = parts.iter().map(idf).sum();
        let mut found = vec![false; scores.len()];
        for length in (1..=parts.len()).rev() {
            let prefix = parts[..length].concat();
            if length == 1 && prefix.len() < MIN_SINGLE_BYTES {
                break;
            }
            let covered: f64 = parts[..length].iter().map(idf).sum::<f64>() / total.max(f64::MIN_POSITIVE);
            let finder = memmem::Finder::new(&prefix);
            for (place, borders) in
                self.borders.iter().enumerate().filter(|(place, _)| !found[*place]).collect::<Vec<_>>()
            {
                let is_border = |at: usize| borders.binary_search(&(at as u32)).is_ok();
                let head = self.aliases.head(place).as_bytes();
                let at = finder.find_iter(head).find(|at| is_border(*at) && is_border(at + prefix.len()));
                if let Some(at) = at {
                    found[place] = true;
                    let late = 1.0 + (at as f64 / EARLY_LETTERS).ln_1p() / 2.0;
                    scores[place] += WEIGHT_DESCRIBED * covered / late;
                }
            }
        }
    }

    fn add_letters(&self, name: &str, scores: &mut [f64]) {
        let weighted = self.weighted_trigrams(&parts(name).concat());
        let norm = weighted.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        let mut products: HashMap<u32, f64> = HashMap::new();
        for (gram, weight) in &weighted {
            for (place, own) in self.trigrams.get(gram).map_or(&[][..], Vec::as_slice) {
                *products.entry(*place).or_default() += own * weight;
            }
        }
        for (place, product) in products {
            let place = place as usize;
            scores[place] += WEIGHT_TRIGRAMS * product / (self.norms[place] * norm.max(f64::MIN_POSITIVE));
        }
    }

    fn add_words(&self, name: &str, scores: &mut [f64]) {
        let known: Vec<u32> =
            Words::default().stems(name).iter().filter_map(|stem| self.vocabulary.get(stem).copied()).collect();
        let found = self.words.scores(&known, &[]);
        let best = found.iter().copied().fold(0.0, f64::max);
        if best > 0.0 {
            scores.iter_mut().zip(found).for_each(|(score, own)| *score += WEIGHT_WORDS * own / best);
        }
    }
}

fn letters_only(folded: &str) -> Vec<&str> {
    folded.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty()).collect()
}

/// The letter trigrams of `^flat$` with how often each occurs.
fn trigrams_of(flat: &str) -> HashMap<String, u32> {
    let letters: Vec<char> = std::iter::once('^').chain(flat.chars()).chain(['$']).collect();
    let mut grams = HashMap::new();
    for gram in letters.windows(3) {
        *grams.entry(gram.iter().collect()).or_default() += 1;
    }
    grams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_those_with_alike_names_and_descriptions() {
        let titles = ["RoadSet", "ORSC", "Lane Atlas", "Arcade Suite"];
        let texts: Vec<String> = [
            "RoadSet. Lanes seen from a car",
            "ORSC. The Open Road Sign Collection has signs",
            "Lane Atlas. Lanes seen from above",
            "Arcade Suite. Games: Asteroid Storm, Deep Diver, and more",
        ]
        .map(str::to_string)
        .to_vec();
        let aliases = Aliases::new(titles.into_iter().zip(texts.iter().map(String::as_str)));
        let nearest = NearestNames::new(&aliases, &texts);
        for (name, expected) in
            [("RoadSet val", 0), ("Open Road Sign Collection v2", 1), ("Lanes Atlas", 2), ("Deep Diver 2600", 3)]
        {
            assert_eq!(nearest.nearest(name, 3)[0].0, expected, "{name}");
        }
        assert!(nearest.nearest("", 3).is_empty());
        assert!(nearest.nearest("zzzz", 3).is_empty());
    }
}
