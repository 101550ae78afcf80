//! The words of a request by their stems, for texts that no index knows: names of columns, publishers' words on them, users' notes.

use hashbrown::{HashMap, HashSet};

use lakeward_core::text::{Stemmer, bare, name_words};
use lakeward_index::lexical::{ABBREVIATED, TypedWord};
use lakeward_models::languages::{Language, short_forms};

/// The words of a text by their stems, with their rarity.
pub(super) struct RequestWords {
    stems: HashMap<String, f64>,
    /// What may abbreviate words that nothing in the lake spells out, and their rarity.
    unsaid: Vec<(Vec<String>, f64)>,
    total: f64,
    stemmer: Stemmer,
}

impl RequestWords {
    /// Of the words of a text; `language` is that of names.
    pub fn of(typed: &[TypedWord<'_>], language: Option<Language>) -> Self {
        let (mut stemmer, mut stems) = (Stemmer::default(), HashMap::<String, f64>::new());
        for word in typed.iter().filter(|word| word.rarity > 0.0) {
            for part in name_words(word.text) {
                let rarity = stems.entry(stemmer.stem(&part).to_string()).or_default();
                *rarity = rarity.max(f64::from(word.rarity));
            }
        }
        let total = stems.values().sum::<f64>().max(f64::MIN_POSITIVE);
        let unsaid = typed.iter().filter(|word| word.rarity > 0.0 && word.unsaid);
        let unsaid = unsaid
            .map(|word| (short_forms(&bare(word.text).to_lowercase(), language), f64::from(word.rarity)))
            .collect();
        Self { stems, unsaid, total, stemmer }
    }

    /// The stems of `words` that the text says.
    pub fn among(&mut self, words: &[String]) -> HashSet<String> {
        let stems = words.iter().map(|word| self.stemmer.stem(word).to_string());
        stems.filter(|stem| self.stems.contains_key(stem)).collect()
    }

    /// Whether there are words that may be abbreviated.
    pub fn has_unsaid(&self) -> bool {
        !self.unsaid.is_empty()
    }

    /// What share of the text the `words` of names abbreviate, of what nothing spells out.
    pub fn abbreviated(&self, words: &[String]) -> f64 {
        let is_said = |short: &&(Vec<String>, f64)| short.0.iter().any(|short| words.contains(short));
        f64::from(ABBREVIATED) * self.unsaid.iter().filter(is_said).map(|(_, rarity)| rarity).sum::<f64>() / self.total
    }

    /// What share of the text `said` is.
    pub fn share(&self, said: &HashSet<String>) -> f64 {
        said.iter().filter_map(|stem| self.stems.get(stem)).fold(0.0, |sum, rarity| sum + rarity) / self.total
    }
}
