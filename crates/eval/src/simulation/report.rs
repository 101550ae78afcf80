//! The scores of conversations with simulated users.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Dialogue;
use super::converse::Conversed;
use crate::provenance::Produced;

/// Conversations of one kind. Means over them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationScores {
    /// `all`, a kind of correction, or a bank of phrases.
    pub group: String,
    /// Conversations.
    pub dialogues: usize,
    /// Share in which the user found his record among the results he looks at, 0..=1.
    pub accepted: f64,
    /// Turns.
    pub turns: f64,
    /// Tables rejected.
    pub turned_down: f64,
    /// Share with the record first in the concatenated lists, the last turn's first.
    pub recall_at_1: f64,
    /// Share with the record among the first five of these.
    pub recall_at_5: f64,
    /// Mean reciprocal rank in these.
    pub mrr: f64,
    /// Mean turn of success at 1, 3 and 5; the turns + 2 if there is none.
    pub average_turn: [f64; 3],
    /// Seconds per conversation.
    pub seconds: f64,
    /// Tokens of a language model per conversation.
    pub tokens: f64,
    /// Median time of an answer, in milliseconds.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
}

/// The result of a run of conversations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationReport {
    /// What was measured.
    #[serde(flatten)]
    pub produced: Produced,
    /// Records of the catalogue.
    pub records: usize,
    /// Seed of the users.
    pub seed: u64,
    /// Turns after which they give up.
    pub most_turns: usize,
    /// Number of results they look at.
    pub looks_at: usize,
    /// All first, then by correction, then by bank of phrases.
    pub groups: Vec<ConversationScores>,
}

impl ConversationScores {
    /// Scores of all, then by correction, then by bank.
    pub fn of_all(conversed: &[(&Dialogue, Conversed)]) -> Vec<Self> {
        let all: Vec<&Conversed> = conversed.iter().map(|(_, conversed)| conversed).collect();
        let mut parts: BTreeMap<(u8, String), Vec<&Conversed>> = BTreeMap::new();
        for (dialogue, conversed) in conversed {
            let correction = format!("correction: {}", dialogue.script.correction.name());
            parts.entry((0, correction)).or_default().push(conversed);
            parts.entry((1, format!("phrases: {}", dialogue.bank))).or_default().push(conversed);
        }
        let mut groups = vec![Self::of("all", &all)];
        groups.extend(parts.iter().map(|((_, name), part)| Self::of(name, part)));
        groups
    }

    fn of(group: &str, conversed: &[&Conversed]) -> Self {
        let count = conversed.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Conversed) -> f64| conversed.iter().map(|one| of(one)).sum::<f64>() / count;
        let within = |one: &Conversed, k: usize| f64::from(u8::from(one.rank.is_some_and(|rank| rank <= k)));
        let mut latencies: Vec<f64> = conversed.iter().flat_map(|one| one.latencies_ms.iter().copied()).collect();
        latencies.sort_by(f64::total_cmp);
        let percentile = |share: f64| {
            let place = (latencies.len() as f64 * share).ceil() as usize;
            latencies.get(place.saturating_sub(1)).copied().unwrap_or_default()
        };
        Self {
            group: group.to_string(),
            dialogues: conversed.len(),
            accepted: mean(&|one| f64::from(u8::from(one.accepted))),
            turns: mean(&|one| one.said.len() as f64),
            turned_down: mean(&|one| one.turned_down as f64),
            recall_at_1: mean(&|one| within(one, 1)),
            recall_at_5: mean(&|one| within(one, 5)),
            mrr: mean(&|one| one.rank.map_or(0.0, |rank| 1.0 / rank as f64)),
            average_turn: [0, 1, 2].map(|place: usize| mean(&|one| one.turn_of_success[place] as f64)),
            seconds: mean(&|one| one.latencies_ms.iter().sum::<f64>() / 1000.0),
            tokens: mean(&|one| one.tokens as f64),
            p50_ms: percentile(0.5),
            p95_ms: percentile(0.95),
        }
    }
}
