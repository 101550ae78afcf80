//! Keeps a session's document bounded: what the next answer does not depend on is cut from old turns, by rules and not by a
//! model. Constraints in force, choices and steps are never touched.
//!
//! | turns, latest first | answer | tables | text | signals |
//! |---|---|---|---|---|
//! | 2 | whole; evidence goes where it is larger than [`GREATEST_RECOMMENDATION`] | 10 | 4,000 characters | whole |
//! | 20 | – | 10 | 500 | whole |
//! | 1,000 | – | 3 | 120 | labels, and the constraints that the turn itself set |
//! | older | the turn is gone; the numbers of the others stay | | | |
//!
//! So a document has at most 400 KB with 200 turns and 1.2 MB with any number of them, whatever was asked and answered (with
//! text that JSON need not escape), and besides what its choices and steps take: about 100 bytes a choice, and a step its
//! SQL and column names. The tests measure it. Compressing twice changes nothing.

use serde::Serialize;

use super::document::{Session, Turn};
use crate::recommend::{Evidence, Recommendation};
use lakeward_core::request::{Constraints, Intent, Override, Period, Ranked, Signals};

/// Turns whose answer is kept.
const ANSWERED_TURNS: usize = 2;
/// Turns that keep what was understood.
const RECENT_TURNS: usize = 20;
/// Turns kept at all.
pub const GREATEST_TURNS: usize = 1000;
/// Bytes of JSON of an answer that is kept whole.
pub const GREATEST_RECOMMENDATION: usize = 96 << 10;
/// Characters of a request in the latest turns, in recent and in old ones.
const TEXT: [usize; 3] = [4000, 500, 120];
/// Tables named in a recent and in an old turn.
const TABLES: [usize; 2] = [10, 3];
/// Bytes of the ids of the tables of one turn.
const TABLE_BYTES: [usize; 2] = [4000, 400];
/// Tables of an answer that keep their evidence where it is too large to keep all.
const EVIDENT_TABLES: usize = 10;
/// Characters of one constraint in force, and of one in an old turn.
const CONSTRAINT: [usize; 2] = [400, 60];
/// Required columns or exclusions in force, and in an old turn.
const LISTED: [usize; 2] = [50, 3];

/// Cuts what the next answer does not depend on.
pub fn compress(session: &mut Session) {
    let turns = &mut session.turns;
    turns.drain(..turns.len().saturating_sub(GREATEST_TURNS));
    for (age, turn) in turns.iter_mut().rev().enumerate() {
        let level = if age < ANSWERED_TURNS { 0 } else { usize::from(age >= RECENT_TURNS) + 1 };
        compress_turn(turn, level);
    }
    bound(&mut session.constraints, 0);
    session.memory.bound();
}

/// Level 0: one of the latest, 1: a recent one, 2: an old one.
fn compress_turn(turn: &mut Turn, level: usize) {
    cut(&mut turn.text, TEXT[level]);
    let old = usize::from(level == 2);
    keep_first(&mut turn.tables, TABLES[old], TABLE_BYTES[old]);
    if level == 2 {
        reduce(&mut turn.signals, turn.number);
    } else {
        bound_signals(&mut turn.signals, 0);
    }
    turn.recommendation = turn.recommendation.take().filter(|_| level == 0).and_then(bounded);
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

/// Labels with their confidence, and the constraints set in turn `number`.
fn reduce(signals: &mut Signals, number: usize) {
    reduce_label(&mut signals.operation);
    reduce_label(&mut signals.intention);
    let own = |key: &str, set: &Constraints| set.set_in_turn.get(key) == Some(&number);
    let mut constraints = std::mem::take(&mut signals.constraints);
    let all = constraints.clone();
    constraints.topic = constraints.topic.filter(|_| own("topic", &all));
    constraints.geography.retain(|_| own("geography", &all));
    constraints.time_range = constraints.time_range.filter(|_| own("time_range", &all));
    constraints.granularity.retain(|_| own("granularity", &all));
    constraints.required_columns.retain(|name| own(&format!("required_columns: {name}"), &all));
    constraints.excluded.retain(|name| own(&format!("excluded: {name}"), &all));
    bound(&mut constraints, 1);
    signals.constraints = constraints;
    bound_overrides(&mut signals.overrides, 1);
    // The memory has what of it is in force.
    signals.intent = Intent::default();
}

fn reduce_label<L>(ranked: &mut Ranked<L>) {
    ranked.all.clear();
    ranked.confidence = (ranked.confidence * 1000.0).round() / 1000.0;
}

fn bound_signals(signals: &mut Signals, old: usize) {
    bound(&mut signals.constraints, old);
    bound_overrides(&mut signals.overrides, old);
}

fn bound_overrides(overrides: &mut Vec<Override>, old: usize) {
    overrides.truncate(LISTED[old]);
    overrides.iter_mut().for_each(|change| {
        cut(&mut change.constraint, CONSTRAINT[old]);
        cut(&mut change.was, CONSTRAINT[old]);
    });
}

/// Cuts constraints that are longer than anything a person demands, and forgets the turns of those that are not there.
fn bound(constraints: &mut Constraints, old: usize) {
    let length = CONSTRAINT[old];
    let mut lists = [&mut constraints.geography, &mut constraints.granularity];
    lists.iter_mut().for_each(|list| list.truncate(LISTED[old]));
    for text in constraints.topic.iter_mut().chain(lists.into_iter().flatten()) {
        cut(text, length);
    }
    match &mut constraints.time_range {
        Some(Period::Years(years)) => years.truncate(LISTED[old]),
        Some(Period::Relative(text)) => cut(text, length),
        _ => {}
    }
    let turns = std::mem::take(&mut constraints.set_in_turn);
    let fields = [
        ("topic", constraints.topic.is_some()),
        ("geography", !constraints.geography.is_empty()),
        ("time_range", constraints.time_range.is_some()),
        ("granularity", !constraints.granularity.is_empty()),
    ];
    for (field, _) in fields.into_iter().filter(|(_, present)| *present) {
        constraints.set_in_turn.extend(turns.get(field).map(|turn| (field.to_string(), *turn)));
    }
    let lists = [("required_columns", &mut constraints.required_columns), ("excluded", &mut constraints.excluded)];
    for (field, list) in lists {
        list.truncate(LISTED[old]);
        for item in list {
            let turn = turns.get(&format!("{field}: {item}")).copied();
            cut(item, length);
            constraints.set_in_turn.extend(turn.map(|turn| (format!("{field}: {item}"), turn)));
        }
    }
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
