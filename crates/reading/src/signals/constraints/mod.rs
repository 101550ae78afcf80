//! Constraints of a request by rules: places, period, what one row stands for, columns wanted, things unwanted, topic; and
//! what a later turn replaces, adds to or takes back of what is in force.
//!
//! A turn is read sentence by sentence ([`words`]), each by every reader in turn, the sure ones first; a word that one has
//! understood is closed to the rest. No reader sees more than the sentence, the one before it and what is in force, and
//! each looks at a word a bounded number of times, so that a turn costs time in proportion to its length. It knows
//! English and no date of today; what the lake knows comes in by [`Grounding`].

pub mod columns;
pub mod excluded;
pub mod granularity;
pub mod lexicon;
pub mod period;
pub mod phrase;
pub mod place;
pub mod revision;
pub mod topic;
pub mod words;

use lakeward_core::request::{Constraints, Override};
use lexicon::{Cue, Hit};
use revision::State;

/// What a lake knows of the names in a request.
pub trait Grounding {
    /// The place that `phrase` names, as columns of the lake write it, if a column of places holds it.
    fn place(&self, phrase: &str) -> Option<String>;

    /// The header that `phrase` names, of the working table or of tables that were shown.
    fn column(&self, phrase: &str) -> Option<String>;
}

/// No lake at hand.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLake;

impl Grounding for NoLake {
    fn place(&self, _phrase: &str) -> Option<String> {
        None
    }

    fn column(&self, _phrase: &str) -> Option<String> {
        None
    }
}

/// The constraints in force after turn `turn` (from 1) says `text`, where `before` were in force; and what of those it
/// replaced or took back. Any text is accepted; only its first 20,000 characters are read.
pub fn read(text: &str, turn: usize, before: &Constraints, grounding: &dyn Grounding) -> (Constraints, Vec<Override>) {
    let mut state = State::of(before);
    let first_turn = before.is_empty();
    let vague = before.geography.is_empty()
        && before.time_range.is_none()
        && before.granularity.is_empty()
        && before.required_columns.is_empty();
    let mut sentences = words::sentences(text);
    let mut places_changed = false;
    let mut period_changed = false;
    let all_hits: Vec<Vec<Hit>> = sentences.iter().map(lexicon::hits).collect();
    for at in 0..sentences.len() {
        let (done, rest) = sentences.split_at_mut(at);
        let (Some(sentence), hits) = (rest.first_mut(), &all_hits[at]) else { break };
        excluded::read(sentence, done.last(), hits, &mut state);
        period::read(sentence, hits, &state.excluded, &mut state.period, &mut period_changed);
        // `Brussels runs the same scheme. Put it below.`: the next sentence says what to do with the place of this one.
        let next_adds = all_hits.get(at + 1).is_some_and(|next| lexicon::says(next, Cue::Add))
            && !sentence.has(&place::APPROVING)
            && !lexicon::says(hits, Cue::Narrow);
        let adds = lexicon::says(hits, Cue::Add) || next_adds;
        let refused = state.refused.clone();
        let of_turn = place::Turn { hits, adds, refused: &refused, lake: grounding };
        place::read(sentence, &of_turn, &mut state.places, &mut places_changed);
        columns::read(sentence, hits, !first_turn && !vague, grounding, &mut state);
        granularity::read(sentence, hits, first_turn, &mut state.grain);
    }
    match &before.topic {
        None => state.topic = topic::named(&sentences),
        // A turn that leaves something out speaks of that.
        Some(_) if vague && state.excluded.len() > before.excluded.len() => {}
        Some(topic) => state.topic = topic::revised(&sentences, topic, vague).or(state.topic),
    }
    // What was asked for in one noun may be anything about it: `something about trees`.
    let bare = first_turn
        && state.places.is_empty()
        && state.period.is_none()
        && sentences.iter().any(|sentence| sentence.asks || sentence.has(&["something", "anything", "whatever"]));
    let usual = || if bare { None } else { state.topic.as_deref().and_then(granularity::usual) };
    if state.grain.is_empty() {
        state.grain = usual().into_iter().collect();
    } else if before.granularity.is_empty() && granularity::is_rhythm(&state.grain) {
        // `bike counters, hourly`: hours of counters.
        let unit = usual().filter(|unit| granularity::measures(unit));
        state.grain.splice(0..0, unit);
    }
    state.finish(turn, before)
}

#[cfg(test)]
mod tests;
