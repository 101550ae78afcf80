//! How much of a turn is explained by the columns of a table. Of two tables, the turn is about the one that explains
//! more of it.

use lakeward_core::text::is_function_word;
use serde::Serialize;

use super::assemble::Assembly;
use super::grounding::spelt;
use super::schema::Schema;
use super::span::{Span, TurnReading};
use super::words::{Word, words};
use lakeward_core::request::Act;

/// What a search for the words of a turn tells of another table and of the one at hand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FoundBeside {
    /// Rank of the other table among those that are not at hand, from 0.
    pub rank: usize,
    /// How likely it serves the words, 0..=1.
    pub relevance: f64,
    /// How likely the table at hand does; 0 where it is not found.
    pub own_relevance: f64,
}

/// What of a turn stands in the columns of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Explained {
    /// The sum of the confidences of spans that have a column.
    sure: f64,
    /// Spans that spell out the name of their column or their value.
    spelt: usize,
    /// Spans without a column, and what could not be applied.
    unmet: usize,
    /// The share of the words that say something which stand in spans with a column, 0..=1.
    share: f64,
}

impl Explained {
    /// What `schema` explains of a turn that was read over it and came to `made`.
    pub fn of(turn: &TurnReading, schema: &Schema, made: &Assembly) -> Self {
        let (known, unknown): (Vec<&Span>, Vec<&Span>) =
            turn.spans.iter().partition(|span| !span.unknown_column && !span.columns.is_empty());
        let has_value = |span: &Span| {
            let value = span.value.as_ref().map(|value| value.to_lowercase());
            value.is_some_and(|value| span.words.to_lowercase().contains(&value))
        };
        let text = turn.text.as_str();
        let says = |word: &Word| word.is_word && !is_function_word(&text[word.bytes.clone()].to_lowercase());
        let said: Vec<Word> = words(text).into_iter().filter(says).collect();
        let is_inside = |word: &&Word| {
            known.iter().any(|span| span.bytes.start <= word.bytes.start && word.bytes.end <= span.bytes.end)
        };
        let inside = said.iter().filter(is_inside).count();
        Self {
            sure: known.iter().map(|span| f64::from(span.confidence)).sum(),
            spelt: known.iter().filter(|span| spelt(&span.words, schema).is_some() || has_value(span)).count(),
            unmet: unknown.len() + made.not_applied.len(),
            share: inside as f64 / said.len().max(1) as f64,
        }
    }

    /// Whether the columns explain nearly all that was said.
    pub fn is_whole(self) -> bool {
        const NEARLY_ALL: f64 = 0.75;
        self.unmet == 0 && self.share >= NEARLY_ALL
    }

    /// The probability that a turn is about another table, which explains `other` of it, than the one at hand, over which it was read as `turn` and
    /// which explains `self`. `found` is what a search for its words tells of both.
    ///
    /// Logistic, fitted on 641 pairs of turns and tables found: turns of ten writers whom the reader did not learn from, each read over its own table and over
    /// what the search finds among the 664 tables of these writers (`scripts/other_table.py`). A writer left out in turn: area under the curve .93; from .7 on
    /// it finds .54 of the turns that begin with another table, takes a wrong one in .02, and leaves the table at hand in .01 of those that go on and
    /// find another one.
    pub fn other_is_meant(self, turn: &TurnReading, other: Self, found: FoundBeside) -> f64 {
        const BIAS: f64 = -3.45;
        const NEW: f64 = 0.72;
        const SURE: f64 = 1.37;
        const SPELT: f64 = 1.58;
        const UNMET: f64 = -0.64;
        const SHARE: f64 = 0.70;
        const RELEVANCE: f64 = 0.72;
        const RANK: f64 = -0.36;
        const LEAST: f64 = 0.01;
        let log_odds = |likely: f64| {
            let likely = likely.clamp(LEAST, 1.0 - LEAST);
            (likely / (1.0 - likely)).ln()
        };
        let new = f64::from(u8::from(turn.acts.first() == Some(&Act::New)));
        let more = |own: usize, other: usize| other as f64 - own as f64;
        let logit = BIAS
            + NEW * new
            + SURE * (other.sure - self.sure)
            + SPELT * more(self.spelt, other.spelt)
            + UNMET * more(self.unmet, other.unmet)
            + SHARE * (other.share - self.share)
            + RELEVANCE * (log_odds(found.relevance) - log_odds(found.own_relevance))
            + RANK * found.rank as f64;
        1.0 / (1.0 + (-logit).exp())
    }
}
