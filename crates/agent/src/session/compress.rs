//! Keeps a session's document bounded: what the next answer does not depend on is cut from old turns, by rules and not by a
//! model. Demands in force, choices and steps are never touched.
//!
//! | turns, latest first | answer | tables | text | signals |
//! |---|---|---|---|---|
//! | 2 | whole; evidence goes where it is larger than [`GREATEST_RECOMMENDATION`] | 10 | 4,000 characters | whole |
//! | 20 | the plan asked for, up to [`GREATEST_PLAN`] | 10 | 500 | whole |
//! | 1,000 | – | 3 | 120 | labels, and the demands that the turn itself set |
//! | older | the turn is gone; the numbers of the others stay | | | |
//!
//! So a document has at most 400 KB with 200 turns and 1.2 MB with any number of them, whatever was asked and answered (with
//! text that JSON need not escape), and besides what its choices and steps take: about 100 bytes a choice, and a step its
//! SQL and column names. The tests measure it. Compressing twice changes nothing.

use serde::Serialize;

use super::document::{Session, Turn};
use super::memory::bound;
use crate::recommend::{Evidence, Recommendation};
use lakeward_core::request::{Ranked, Signals};

/// Turns whose answer is kept.
const ANSWERED_TURNS: usize = 2;
/// Turns that keep what was understood.
const RECENT_TURNS: usize = 20;
/// Turns kept at all.
pub const GREATEST_TURNS: usize = 1000;
/// Bytes of JSON of an answer that is kept whole.
pub const GREATEST_RECOMMENDATION: usize = 96 << 10;
/// Bytes of JSON of a plan that is kept without its answer.
const GREATEST_PLAN: usize = 4 << 10;
/// Characters of a request in the latest turns, in recent and in old ones.
const TEXT: [usize; 3] = [4000, 500, 120];
/// Tables named in a recent and in an old turn.
const TABLES: [usize; 2] = [10, 3];
/// Bytes of the ids of the tables of one turn.
const TABLE_BYTES: [usize; 2] = [4000, 400];
/// Tables of an answer that keep their evidence where it is too large to keep all.
const EVIDENT_TABLES: usize = 10;
/// Cuts what the next answer does not depend on.
pub fn compress(session: &mut Session) {
    let turns = &mut session.turns;
    turns.drain(..turns.len().saturating_sub(GREATEST_TURNS));
    for (age, turn) in turns.iter_mut().rev().enumerate() {
        let level = if age < ANSWERED_TURNS { 0 } else { usize::from(age >= RECENT_TURNS) + 1 };
        compress_turn(turn, level);
    }
    session.bound_memory();
}

/// Level 0: one of the latest, 1: a recent one, 2: an old one.
fn compress_turn(turn: &mut Turn, level: usize) {
    cut(&mut turn.text, TEXT[level]);
    if let Some(english) = &mut turn.english {
        cut(english, TEXT[level]);
    }
    let old = usize::from(level == 2);
    keep_first(&mut turn.tables, TABLES[old], TABLE_BYTES[old]);
    if level == 2 {
        reduce(&mut turn.signals, turn.number);
    } else {
        bound_signals(&mut turn.signals, 0);
    }
    let asked = turn.requested().filter(|plan| level < 2 && json_bytes(plan) <= GREATEST_PLAN).cloned();
    turn.recommendation = turn.recommendation.take().filter(|_| level == 0).and_then(bounded);
    turn.asked = asked.filter(|_| turn.recommendation.is_none());
}

/// The answer with as much of its evidence as fits; nothing where even the bare answer does not.
fn bounded(mut answer: Recommendation) -> Option<Recommendation> {
    bound_signals(&mut answer.signals, 0);
    let fits = |answer: &Recommendation| json_bytes(answer) <= GREATEST_RECOMMENDATION;
    if fits(&answer) {
        return Some(answer);
    }
    answer.tables.iter_mut().skip(EVIDENT_TABLES).for_each(|table| table.evidence = Evidence::default());
    if fits(&answer) {
        return Some(answer);
    }
    answer.tables.iter_mut().for_each(|table| table.evidence = Evidence::default());
    if fits(&answer) {
        return Some(answer);
    }
    answer.tables.truncate(EVIDENT_TABLES);
    fits(&answer).then_some(answer)
}

fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// Labels with their confidence, and the demands set in turn `number`.
fn reduce(signals: &mut Signals, number: usize) {
    reduce_label(&mut signals.operation);
    reduce_label(&mut signals.intention);
    signals.demands.retain(|demand| demand.turn == number);
    bound(&mut signals.demands, 1);
    bound(&mut signals.gone, 1);
}

fn reduce_label<L>(ranked: &mut Ranked<L>) {
    ranked.all.clear();
    ranked.confidence = (ranked.confidence * 1000.0).round() / 1000.0;
}

fn bound_signals(signals: &mut Signals, old: usize) {
    bound(&mut signals.demands, old);
    bound(&mut signals.gone, old);
}

/// `text` with at most `limit` characters, `…` for what is missing.
pub(super) fn cut(text: &mut String, limit: usize) {
    if text.len() <= limit {
        return;
    }
    let mut places = text.char_indices().map(|(place, _)| place).skip(limit - 1);
    if let (Some(last), Some(_)) = (places.next(), places.next()) {
        text.truncate(last);
        text.push('…');
    }
}

/// The first `count` items, of at most `bytes` together.
fn keep_first(items: &mut Vec<String>, count: usize, bytes: usize) {
    let mut total = 0;
    let kept = items.iter().take(count).take_while(|item| {
        total += item.len();
        total <= bytes
    });
    let kept = kept.count();
    items.truncate(kept);
}
