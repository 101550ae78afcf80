//! What is left of each clause: the words to search by.

use super::reader::{Cues, Reading};
use super::reading::{Fact, WordsKind};
use super::words;

/// Fewer words beside a stated fact belong to it: `it ends in 2015 or so`.
const LEAST_BESIDE_FACT: usize = 3;

/// Reads them, clause by clause, after all else.
pub(super) fn read(reading: &mut Reading, cues: &Cues) {
    let mut stated = vec![false; reading.clause_words.len()];
    for placed in &reading.facts {
        if matches!(&placed.fact, Fact::Demanded { demand, .. } if demand.hard) {
            stated[reading.clauses[placed.from]] = true;
        }
    }
    for (clause, (from, to)) in reading.clause_words.clone().into_iter().enumerate() {
        let aspect = cues.has_aspect(from, to);
        let left = if reading.first { topic(reading, from, to) } else { rest(reading, cues, from, to) };
        let beside = stated[clause] && !reading.first && !aspect && left.len() < LEAST_BESIDE_FACT;
        if left.is_empty() || beside {
            continue;
        }
        let kind = match (reading.first, aspect) {
            (true, _) => WordsKind::Topic,
            (false, true) => WordsKind::Aspect,
            (false, false) => WordsKind::Free,
        };
        let text = left.iter().map(|at| reading.turn.low(*at)).collect::<Vec<_>>().join(" ");
        reading.say(from, to, Fact::Words { text, kind });
    }
}

fn can_be_searched(reading: &Reading, at: usize) -> bool {
    reading.is_content(at) && !reading.spent[at] && reading.turn.low(at).chars().nth(1).is_some()
}

/// Content words that no fact has taken.
fn rest(reading: &Reading, cues: &Cues, from: usize, to: usize) -> Vec<usize> {
    (from..to).filter(|at| can_be_searched(reading, *at) && !reading.used[*at] && !cues.is_cue_word[*at]).collect()
}

/// All content words, and words of titles beside them even if requests are full of them: `trade in goods`, `labour
/// force survey`.
fn topic(reading: &Reading, from: usize, to: usize) -> Vec<usize> {
    let is_left: Vec<bool> = (from..to).map(|at| can_be_searched(reading, at)).collect();
    let left = |at: usize| at >= from && at < to && is_left[at - from];
    let beside = |at: usize| {
        let low = reading.turn.low(at);
        let title = reading.stems[at].is_some_and(|stem| reading.vocabulary.is_in_titles(stem));
        let joined = at > 0 && matches!(reading.turn.low(at - 1), "of" | "in" | "and" | "the");
        title && !reading.spent[at] && !words::is_stop(low) && (at > 0 && left(at - 1) || joined && left(at + 1))
    };
    (from..to).filter(|at| left(*at) || beside(*at)).collect()
}
