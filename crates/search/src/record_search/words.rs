//! What records say of the words of a request.

use super::{MOST_WORDS, Ranking, RecordQuery, Route};
use lakeward_core::error::Result;
use lakeward_core::text::lower_words;
use lakeward_index::lexical::{Boosts, LexicalField, TERM_LIMIT, TopTables, WordScore};

/// A word that more than one of so many records say is not looked for, where there are more than the first thousand.
const COMMON: usize = 2;
const FEW: usize = 1000;

/// What records say of the words of what was said.
pub(super) struct WordShares {
    /// BM25 over the words, by place.
    pub scores: Vec<f32>,
    /// The greatest that it can be.
    limit: f32,
    /// What a record that says all of it is worth.
    weight: f32,
}

impl WordShares {
    /// The share of the words, by how rare they are, 0..=1.
    #[inline]
    pub fn share_of(&self, score: f32) -> f32 {
        (score / self.limit).min(1.0)
    }

    /// What the share is worth; never less for a greater score.
    #[inline]
    pub fn value_of(&self, score: f32) -> f32 {
        let share = self.share_of(score);
        self.weight * share * share.sqrt()
    }
}

impl Ranking<'_> {
    /// What each record says of the words of what was said; it counts as much as `weight`. Of a record that cannot be among the first, whose value
    /// is more than `margin` below theirs, it may be less.
    pub(super) fn words(&self, weight: f32, margin: f32) -> Result<WordShares> {
        let weights = &self.query.weights.records;
        let words = self.words_of_turns()?;
        let rarest = (2.0 * (self.index.len() as f32 + 1.0)).ln();
        let limit: f32 = words.iter().map(|(_, weight, rarity)| weight * rarity * rarest * TERM_LIMIT).sum();
        let texts: Vec<(&str, f32)> = words.iter().map(|(word, weight, _)| (word.as_str(), *weight)).collect();
        let whole = WordScore { boosts: Boosts::only(&LexicalField::ALL), length: weights.text_length };
        let shares = WordShares { scores: Vec::new(), limit: limit.max(f32::MIN_POSITIVE), weight };
        let top = TopTables {
            count: self.reranked(),
            margin,
            value: &|place, score| shares.value_of(score) + self.stages.soft_score(place),
            most: &|score| shares.value_of(score) + self.stages.greatest_soft_score,
        };
        let top = (self.stages.levels.len() == 1 && self.query.route != Route::Exact).then_some(top);
        let scores = self.index.lexical().scores_among(&texts, whole, &self.stages.reached, top)?;
        Ok(WordShares { scores, ..shares })
    }

    /// The words of what was said, with their weights and rarities, without what is refused, what no record says and what many say.
    fn words_of_turns(&self) -> Result<Vec<(String, f32, f32)>> {
        let RecordQuery { texts, said, earlier, demands, .. } = *self.query;
        let avoided = demands.iter().filter(|demand| demand.avoid);
        let refused: Vec<String> = avoided.flat_map(|demand| lower_words(&demand.said)).collect();
        let (read, others): (Vec<_>, Vec<_>) = texts.iter().partition(|(_, weight)| *weight >= 1.0);
        let text_of = |(text, _): &&(String, f64)| text.clone();
        let now: Vec<String> = said.iter().cloned().chain(read.iter().map(text_of)).collect();
        let all: Vec<String> = now.iter().chain(earlier).cloned().chain(others.iter().map(text_of)).collect();
        let lexical = self.index.lexical();
        let now = lexical.informative_words(&now.join(" \n"), MOST_WORDS)?.len();
        let weight = |at: usize| if at < now { 1.0 } else { self.query.weights.records.earlier };
        let many = (self.index.len() / COMMON).max(FEW) as u64;
        let words = lexical.informative_words(&all.join(" \n"), 2 * MOST_WORDS)?.into_iter().enumerate();
        let words = words.map(|(at, (word, rarity))| (word, weight(at), rarity));
        let is_allowed = |word: &str| !lower_words(word).any(|word| refused.contains(&word));
        let words = words.filter(|(word, _, rarity)| (1..=many).contains(&rarity.tables) && is_allowed(word));
        Ok(words.map(|(word, weight, rarity)| (word, weight, rarity.rarity as f32)).collect())
    }
}
