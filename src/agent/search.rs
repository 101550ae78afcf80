//! What a turn searches for beside the request's own words: what the plan–retrieve–evaluate loop found worth searching.

use super::Agent;
use super::memory;
use crate::agentic::{
    Agents, LiveClock, MeaningChannel, Pursuit, RecordedClock, Sought, Stopped, Tools, WordsChannel, pursue_with,
};
use crate::error::Result;
use crate::llm::LanguageModel;
use crate::request::{Constraints, Signals};
use crate::retrieve::SearchOptions;
use crate::retrieve::search::search;
use crate::session::Session;

/// How much a text that was searched for besides may count: what the request itself finds comes first.
const MOST_WEIGHT: f64 = 0.7;
/// Share of the words, counted by how rare they are, that one of the best tables must say.
const COVERED: f64 = 0.3;
/// The best tables.
const LOOKED_AT: usize = 10;
/// Texts searched for besides.
const MOST_TEXTS: usize = 4;

impl Agent<'_> {
    /// Pursues the words of a request; `None` where it has none, and where nobody but the rules would plan and a plain search
    /// finds what the words say: then more searches change next to nothing and cost several times as much (eval/variants.md).
    pub(super) fn pursue(
        &self,
        session: &Session,
        text: &str,
        words: &str,
        signals: &Signals,
        model: Option<&LanguageModel<'_>>,
    ) -> Result<Option<Pursuit>> {
        if words.trim().is_empty() || (model.is_none() && self.is_covered(words)?) {
            return Ok(None);
        }
        let (by_words, by_meaning) = (WordsChannel(self.index), MeaningChannel(self.index, self.embedder));
        let settings = &self.config.search;
        let live = LiveClock::start(settings.seconds);
        let recorded = self.replayed.map(|turn| RecordedClock::new(turn.run.as_ref().and_then(|run| run.over_at)));
        let tools = Tools {
            index: self.index,
            embedder: self.embedder,
            weights: &self.ranking,
            channels: &[&by_words, &by_meaning],
            questions: "",
            clock: recorded.as_ref().map_or(&live, |recorded| recorded),
            cache: None,
        };
        let memory = model.map(|model| memory::memory(session, Some(model))).unwrap_or_default();
        let sought =
            Sought { request: text.into(), words: words.into(), must_have: must_have(&signals.constraints), memory };
        let mut agents = match model {
            Some(model) => Agents::with_model(&tools, settings, model),
            None => Agents::by_rules(&tools, settings),
        };
        // The turn orders tables itself, by more than words.
        agents.reranker = None;
        pursue_with(&tools, &sought, settings, &agents).map(Some)
    }
}

impl Agent<'_> {
    /// Whether one of the best tables says most of the words.
    fn is_covered(&self, words: &str) -> Result<bool> {
        let options = SearchOptions { k: LOOKED_AT, weights: self.ranking.search };
        let found = search(self.index, self.embedder, words, &options)?;
        Ok(found.iter().any(|answer| answer.features.coverage >= COVERED))
    }
}

/// Words that a table has to hold.
fn must_have(constraints: &Constraints) -> Vec<String> {
    constraints.geography.iter().chain(&constraints.required_columns).cloned().collect()
}

/// What was searched for besides the request, each with how much it counts.
pub(super) fn further_texts(pursuit: &Pursuit) -> Vec<(String, f64)> {
    let own = pursuit.queries.first().map_or(1.0, |query| query.weight).max(f64::MIN_POSITIVE);
    let further = pursuit.queries.iter().skip(1).take(MOST_TEXTS);
    further.map(|query| (query.text.clone(), (query.weight / own).clamp(0.0, 1.0) * MOST_WEIGHT)).collect()
}

/// What the analyst should know of the search.
pub(super) fn note(pursuit: &Pursuit) -> Option<String> {
    let limit = match pursuit.stopped {
        Stopped::Seconds => "seconds",
        Stopped::ToolCalls => "searches",
        _ => return None,
    };
    Some(format!("the search for words ended at its limit of {limit}; what was found until then is shown"))
}
