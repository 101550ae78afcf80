//! Values of the catalogue in a turn: which are meant, in which role, and how sure that is.
//!
//! A value is meant where it is a phrase of its own: its *cover*, the share of its content words among those of the
//! whole phrase, tells `Labour` in *under Labour* from `labour` in *labour force survey*. A cue of a role nearby
//! makes it stated; without one it is stated where it covers its phrase with two content words or is a place, else
//! inferred or left as text.

use std::collections::HashSet;

use super::cues::{is_preposition, names_a_column, prepositions};
use super::reader::{Cues, Placed, Reading};
use super::reading::Fact;
use super::retraction::{Denied, denied};
use super::vocabulary::{RoleAt, ThingAt};
use super::words;
use lakeward_core::request::{Demand, Demanded};
use lakeward_core::role::Role;

/// A cue counts so many bytes before a value …
const BEFORE_BYTES: usize = 30;
/// … before one of a list of dimensions …
const BEFORE_LIST_BYTES: usize = 90;
/// … and behind a value, where it counts as so much farther away.
const BEHIND_BYTES: usize = 22;
const BEHIND_PENALTY: usize = 8;
/// What announces free words does so this far.
const ASPECT_BYTES: usize = 12;
/// As far away as a preposition directly before the value counts, and with an article between.
const PREPOSITION: usize = 3;
const PREPOSITION_ARTICLE: usize = 5;
/// Words that are in every request are a value only where a cue is as near as this.
const SURELY: usize = 4;
/// Share of its phrase that a value must cover, and a place.
const COVER: f32 = 0.6;
const PLACE_COVER: f32 = 0.5;
/// No phrase has more words than this to a side.
const PHRASE_WORDS: usize = 40;
/// Words between two cue-less content words of one phrase.
const MOST_CONNECTIVES: usize = 2;
/// Paraphrases of a value share this much with it (weighted Dice): see `Vocabulary::nearest`.
const PARAPHRASE: f32 = 0.6;

/// Words taken by values, by role.
struct Claims(Vec<Option<RoleAt>>);

impl Claims {
    /// Whether another role than `role` has one of the words `from..to`.
    fn other(&self, from: usize, to: usize, role: Option<RoleAt>) -> bool {
        from < to && self.0[from..to].iter().any(|claim| claim.is_some() && *claim != role)
    }
}

/// A value under consideration: the words `from..to`.
struct Candidate {
    from: usize,
    to: usize,
    things: Vec<ThingAt>,
    /// Its content words.
    content: usize,
    cover: f32,
    /// Written with a capital though no clause begins there.
    capital: bool,
    /// The nearest cue: how far, and of which role.
    near: Option<(usize, RoleAt)>,
    /// Whether `and` or `or` ties it to a dimension.
    joined: bool,
}

/// Where values of each role begin and end, for the borders of lists.
struct Borders {
    begins: Vec<Vec<RoleAt>>,
    ends: Vec<Vec<RoleAt>>,
}

impl Borders {
    fn of(reading: &Reading) -> Self {
        let empty = vec![Vec::new(); reading.turn.words.len()];
        let mut borders = Borders { begins: empty.clone(), ends: empty };
        for span in &reading.spans {
            for thing in &span.things {
                let role = reading.vocabulary.role_of(*thing);
                for list in [&mut borders.begins[span.from], &mut borders.ends[span.to - 1]] {
                    if !list.contains(&role) {
                        list.push(role);
                    }
                }
            }
        }
        borders
    }
}

/// Reads the values, longest first.
pub(super) fn read(reading: &mut Reading, cues: &Cues) {
    let borders = Borders::of(reading);
    let mut claims = Claims(vec![None; reading.turn.words.len()]);
    let known_words = known_words(reading);
    for span in std::mem::take(&mut reading.spans) {
        if !reading.is_free(span.from, span.to) || claims.0[span.from..span.to].iter().any(Option::is_some) {
            continue;
        }
        let candidate = weigh(reading, cues, &claims, &borders, span.from, span.to, span.things);
        let Some(role) = role_of(reading, &candidate) else { continue };
        let alone = || {
            let (from, to) = reading.clause_words[reading.clauses[candidate.from]];
            let inside = known_words[candidate.to] - known_words[candidate.from];
            known_words[to] - known_words[from] == inside
        };
        let Some(hard) = is_meant(reading, cues, &claims, &candidate, role, alone) else { continue };
        claim(reading, &mut claims, &candidate, role, hard);
    }
    leave_kinds(reading, cues);
}

/// Leaves out values that only say what kind of thing another one is: the value `Provinces` in `Ontario is the
/// province`.
fn leave_kinds(reading: &mut Reading, cues: &Cues) {
    let is_kind = |placed: &Placed| placed.to == placed.from + 1 && cues.is_cue_word[placed.from];
    let named: HashSet<(usize, Role)> = reading
        .facts
        .iter()
        .filter(|placed| placed.from < placed.to && !is_kind(placed))
        .filter_map(|placed| Some((reading.clauses[placed.from], values_of(placed)?.0.role.clone())))
        .collect();
    let clauses = &reading.clauses;
    reading.facts.retain(|placed| {
        let kind = values_of(placed).filter(|_| placed.from < placed.to && is_kind(placed));
        kind.is_none_or(|(demand, _)| !named.contains(&(clauses[placed.from], demand.role.clone())))
    });
}

/// By word: how many content words before it the catalogue has.
fn known_words(reading: &Reading) -> Vec<u32> {
    let mut counts = vec![0];
    for at in 0..reading.turn.words.len() {
        let known = reading.is_content(at) && reading.stems[at].is_some();
        counts.push(counts[at] + u32::from(known));
    }
    counts
}

fn weigh(
    reading: &Reading,
    cues: &Cues,
    claims: &Claims,
    borders: &Borders,
    from: usize,
    to: usize,
    things: Vec<ThingAt>,
) -> Candidate {
    let turn = &reading.turn;
    let roles: Vec<RoleAt> = things.iter().map(|thing| reading.vocabulary.role_of(*thing)).collect();
    let content = (from..to).filter(|at| reading.is_content(*at)).count();
    let rest = phrase_rest(reading, cues, borders, &roles, (from, to));
    let clause_start = reading.clause_words[reading.clauses[from]].0;
    let mut near: Vec<(usize, RoleAt)> = Vec::new();
    for role in &roles {
        near.extend(nearest_cue(reading, cues, claims, (from, to), *role, content).map(|bytes| (bytes, *role)));
    }
    let dimension = reading.vocabulary.role_at(&Role::Dimension).filter(|role| roles.contains(role));
    let subject = reading.vocabulary.role_at(&Role::Subject).filter(|role| roles.contains(role));
    if let Some(subject) = subject.filter(|_| is_in_general(reading, to)) {
        near.push((0, subject));
    }
    let tied = from >= 2 && matches!(turn.low(from - 1), "and" | "or");
    let joined =
        tied && claims.0[from - 2].is_some_and(|role| Some(role) == reading.vocabulary.role_at(&Role::Dimension));
    if let Some(dimension) = dimension.filter(|_| joined) {
        near.push((1, dimension));
    }
    Candidate {
        from,
        to,
        content,
        cover: if content + rest == 0 { 1.0 } else { content as f32 / (content + rest) as f32 },
        capital: turn.words[from].capital && from > clause_start,
        // Roles are in the order of their names.
        near: near.into_iter().min(),
        joined,
        things,
    }
}

/// Content words of the catalogue that belong to the same phrase as the words `from..to`: reached over content words
/// and few connectives, up to a comma, bracket, taken word or second thought, or to `and` with another value of the
/// role behind it.
fn phrase_rest(
    reading: &Reading,
    cues: &Cues,
    borders: &Borders,
    roles: &[RoleAt],
    (from, to): (usize, usize),
) -> usize {
    let turn = &reading.turn;
    let clause = reading.clauses[from];
    let in_list = |at: Option<usize>, values: &[Vec<RoleAt>]| {
        at.and_then(|at| values.get(at)).is_some_and(|values| values.iter().any(|role| roles.contains(role)))
    };
    // `goes_on`: whether the phrase may go on to the word, given the gap that leads to it.
    let goes_on = |at: usize, gap: usize, marked: bool| {
        reading.clauses[at] == clause && !turn.gaps[gap].comma && !reading.used[at] && !marked
    };
    let mut rest = 0;
    let mut step = |at: usize, connectives: &mut usize, beyond: bool| {
        let word = turn.low(at);
        if reading.is_content(at) && !cues.is_cue_word[at] && !is_preposition(word) {
            rest += usize::from(reading.stems[at].is_some());
            *connectives = 0;
            true
        } else if matches!(word, "and" | "or") && beyond {
            false
        } else {
            *connectives += 1;
            words::is_connective(word) && *connectives <= MOST_CONNECTIVES
        }
    };
    let mut connectives = 0;
    for at in (from.saturating_sub(PHRASE_WORDS)..from).rev() {
        let beyond = in_list(at.checked_sub(1), &borders.ends);
        if !goes_on(at, at, reading.marks[at + 1]) || !step(at, &mut connectives, beyond) {
            break;
        }
    }
    connectives = 0;
    for at in to..turn.words.len().min(to + PHRASE_WORDS) {
        let beyond = in_list(Some(at + 1), &borders.begins);
        if !goes_on(at, at - 1, reading.marks[at]) || !step(at, &mut connectives, beyond) {
            break;
        }
    }
    rest
}

/// How far the nearest cue of a role is from the words `from..to`, in bytes.
fn nearest_cue(
    reading: &Reading,
    cues: &Cues,
    claims: &Claims,
    (from, to): (usize, usize),
    role: RoleAt,
    content: usize,
) -> Option<usize> {
    let turn = &reading.turn;
    let name = reading.vocabulary.role(role);
    let reach = if *name == Role::Dimension { BEFORE_LIST_BYTES } else { BEFORE_BYTES };
    let clause = reading.clauses[from];
    let all = cues.of(role);
    let behind = all.partition_point(|cue| cue.to <= from);
    let before = all[..behind]
        .last()
        .filter(|cue| reading.clauses[cue.to - 1] == clause && !claims.other(cue.to, from, Some(role)))
        .map(|cue| turn.distance(cue.to - 1, from))
        .filter(|bytes| *bytes <= reach);
    let last_clause = reading.clauses[to - 1];
    let after = all[behind..]
        .iter()
        .filter(|cue| cue.from >= to)
        .take_while(|cue| turn.distance(to - 1, cue.from) <= BEHIND_BYTES && reading.clauses[cue.from] == last_clause)
        .find(|cue| {
            let column = *name != Role::Dimension || content > 1 || names_a_column(turn, **cue);
            column && !claims.other(to, cue.from, Some(role))
        })
        .map(|cue| turn.distance(to - 1, cue.from) + BEHIND_PENALTY);
    let preposition = |at: Option<usize>| {
        at.is_some_and(|at| reading.clauses[at] == clause && prepositions(name).contains(&turn.low(at)))
    };
    let article = from > 1 && matches!(turn.low(from - 1), "the" | "a") && preposition(from.checked_sub(2));
    let preposition =
        if preposition(from.checked_sub(1)) { Some(PREPOSITION) } else { article.then_some(PREPOSITION_ARTICLE) };
    before.into_iter().chain(after).chain(preposition).min()
}

/// `culture in general`, `health as a theme`.
fn is_in_general(reading: &Reading, at: usize) -> bool {
    let turn = &reading.turn;
    if !turn.gaps[at - 1].joined {
        return false;
    }
    match (turn.low(at), turn.low(at + 1)) {
        ("in", "general") | ("overall", _) => true,
        ("as", "a") => matches!(turn.low(at + 2), "whole" | "theme" | "topic" | "subject"),
        _ => false,
    }
}

/// The role in which it is meant: of the nearest cue; else one that has it as it is written; else the likeliest.
/// `None` where its words are in every request and nothing announces it.
fn role_of(reading: &Reading, candidate: &Candidate) -> Option<RoleAt> {
    let vocabulary = reading.vocabulary;
    let likely = [Role::Place, Role::Subject, Role::Source, Role::Dimension];
    if candidate.content == 0 && !candidate.joined {
        let near = candidate.near.filter(|(bytes, _)| *bytes <= SURELY).map(|(_, role)| vocabulary.role(role));
        near.filter(|role| matches!(role, Role::Dimension | Role::Subject))?;
    }
    if let Some((_, role)) = candidate.near {
        return Some(role);
    }
    let said = reading.turn.said(candidate.from, candidate.to);
    let rank = |thing: &ThingAt| {
        let role = vocabulary.role_of(*thing);
        let place = likely.iter().position(|known| known == vocabulary.role(role)).unwrap_or(likely.len());
        (!vocabulary.is_written(*thing, said), place, role)
    };
    candidate.things.iter().map(rank).min().map(|(_, _, role)| role)
}

/// Whether the candidate is meant in the role, and whether that is stated (`true`) or inferred.
fn is_meant(
    reading: &Reading,
    cues: &Cues,
    claims: &Claims,
    candidate: &Candidate,
    role: RoleAt,
    alone: impl Fn() -> bool,
) -> Option<bool> {
    let name = reading.vocabulary.role(role);
    let (place, source, dimension) = (*name == Role::Place, *name == Role::Source, *name == Role::Dimension);
    let Candidate { content, cover, capital, near, .. } = *candidate;
    let whole = cover >= 1.0;
    if reading.first {
        let named = place && capital || source && (capital || content > 1);
        let located = place && is_located(reading, candidate);
        return (located || near.is_some() && named && cover >= PLACE_COVER).then_some(false);
    }
    let aspect = announced_aspect(reading, cues, claims, candidate.from);
    let beaten = aspect.is_some_and(|aspect| near.is_none_or(|(bytes, _)| bytes >= aspect));
    if beaten && !(place && whole) {
        return None;
    }
    if cover < COVER && !(place && (capital || cover >= PLACE_COVER)) {
        return None;
    }
    if near.is_some() {
        return Some(true);
    }
    if dimension {
        let start = reading.clause_words[reading.clauses[candidate.from]].0;
        return (whole && content >= 2 && !cues.has_aspect(start, candidate.from)).then_some(false);
    }
    if content >= 2 || place && (capital || cover >= PLACE_COVER) {
        return Some(whole);
    }
    (whole && alone()).then_some(false)
}

/// Whether a place stands behind `in` or its like: `retail sales in Ontario` is about Ontario however long the topic. A capital is
/// asked for where the turn has any.
fn is_located(reading: &Reading, candidate: &Candidate) -> bool {
    const IN: [&str; 4] = ["in", "for", "within", "across"];
    let turn = &reading.turn;
    let clause = reading.clauses[candidate.from];
    let before = |back: usize| candidate.from.checked_sub(back).filter(|at| reading.clauses[*at] == clause);
    let behind = |at: Option<usize>| at.is_some_and(|at| IN.contains(&turn.low(at)));
    let article = before(1).is_some_and(|at| turn.low(at) == "the");
    let writes_capitals = || turn.words.iter().skip(1).any(|word| word.capital && word.end - word.start > 1);
    (behind(before(1)) || article && behind(before(2))) && (candidate.capital || !writes_capitals())
}

/// How far before a word free words are announced, in bytes.
fn announced_aspect(reading: &Reading, cues: &Cues, claims: &Claims, at: usize) -> Option<usize> {
    let behind = cues.aspect.partition_point(|cue| cue.to <= at);
    let cue = cues.aspect[..behind].last()?;
    let bytes = reading.turn.distance(cue.to - 1, at);
    let same = reading.clauses[cue.to - 1] == reading.clauses[at] && !claims.other(cue.to, at, None);
    (bytes <= ASPECT_BYTES && same).then_some(bytes)
}

/// Says the fact and takes its words. The first turn's stay in the topic.
fn claim(reading: &mut Reading, claims: &mut Claims, candidate: &Candidate, role: RoleAt, hard: bool) {
    let Candidate { from, to, .. } = *candidate;
    let vocabulary = reading.vocabulary;
    let Some(thing) = candidate.things.iter().find(|thing| vocabulary.role_of(**thing) == role) else { return };
    let values = vocabulary.values(*thing, reading.turn.said(from, to));
    let name = vocabulary.role(role).clone();
    claims.0[from..to].fill(Some(role));
    let denied = denied(&reading.turn, &reading.clauses, from).filter(|_| !is_just_retracted(reading, from));
    if denied.is_some() || !reading.first {
        reading.take(from, to);
    }
    match denied {
        Some(denied) => {
            let hard = denied == Denied::Excluded;
            let refused = reading.demanded((from, to), name, Demanded::Values(vec![values]), hard);
            reading.say(from, to, Fact::Refused(refused));
        }
        None => reading.demand((from, to), name, Demanded::Values(vec![values]), hard),
    }
}

/// Whether the `not` before a word belongs to a second thought: `no, not Ontario`, `rather than`.
fn is_just_retracted(reading: &Reading, at: usize) -> bool {
    const NEAR_BYTES: usize = 6;
    let start = reading.turn.words[at].start;
    let near = |before: &usize| start - reading.turn.words[*before].start < NEAR_BYTES;
    (at.saturating_sub(NEAR_BYTES)..=at).rev().take_while(near).any(|at| reading.marks[at])
}

/// A clause that announces a role and gave nothing: the value of the role that shares the most with its words,
/// inferred.
pub(super) fn read_paraphrased(reading: &mut Reading, cues: &Cues) {
    if reading.first {
        return;
    }
    let mut given = vec![false; reading.clause_words.len()];
    for placed in &reading.facts {
        if !matches!(placed.fact, Fact::Retracted | Fact::Forgotten(_)) {
            given[reading.clauses[placed.from]] = true;
        }
    }
    for (clause, (from, to)) in reading.clause_words.clone().into_iter().enumerate() {
        if given[clause] || cues.has_aspect(from, to) {
            continue;
        }
        for role in [Role::Source, Role::Subject, Role::Dimension, Role::Place] {
            let Some(at) = reading.vocabulary.role_at(&role) else { continue };
            let role_cues = cues.of(at);
            let first = role_cues.partition_point(|cue| cue.from < from);
            let Some(cue) = role_cues.get(first).filter(|cue| cue.from < to) else { continue };
            let named = (from..to).filter(|at| reading.is_content(*at) && !cues.is_cue_word[*at]);
            let stems: Vec<_> = named.map(|at| reading.stems[at]).collect();
            if let Some(thing) = reading.vocabulary.nearest(at, &stems, PARAPHRASE) {
                let values = reading.vocabulary.values(thing, "");
                reading.demand((cue.from, to), role, Demanded::Values(vec![values]), false);
                break;
            }
        }
    }
}

/// Joins neighbouring values of one role to one demand. Dimensions: as far as the clause goes, for tables are cut by
/// several. Others: with nothing but `and`, `or` or a comma between; of `or` any will do.
pub(super) fn join_lists(reading: &mut Reading) {
    let facts = std::mem::take(&mut reading.facts);
    let mut joined: Vec<Placed> = Vec::with_capacity(facts.len());
    for placed in facts {
        let tie = joined.last().and_then(|last| tie(reading, last, &placed));
        match (tie, joined.last_mut()) {
            (Some(any), Some(last)) => {
                let said = reading.turn.said(last.from, placed.to);
                merge(last, placed, any, said);
            }
            _ => joined.push(placed),
        }
    }
    reading.facts = joined;
}

fn values_of(placed: &Placed) -> Option<(&Demand, &[Vec<String>])> {
    match &placed.fact {
        Fact::Demanded { demand, .. } | Fact::Refused(demand) => match &demand.value {
            Demanded::Values(things) => Some((demand, things)),
            Demanded::Period(_) => None,
        },
        _ => None,
    }
}

/// Whether two facts are one list; if so, whether any of the two will do.
fn tie(reading: &Reading, last: &Placed, next: &Placed) -> Option<bool> {
    let ((left, _), (right, _)) = (values_of(last)?, values_of(next)?);
    let refused = [last, next].iter().any(|placed| matches!(placed.fact, Fact::Refused(_)));
    let closed = matches!(left.role, Role::Frequency | Role::Status);
    if left.role != right.role || refused || closed || last.to > next.from {
        return None;
    }
    let one_clause = reading.clauses[last.from] == reading.clauses[next.from];
    if !one_clause || reading.is_retracted_within(last.to, next.from) {
        return None;
    }
    if left.role == Role::Dimension {
        return Some(false);
    }
    // `Ontario, Quebec and …`, but not `no provinces, Canada is enough`: behind the second, the list goes on or the
    // clause ends.
    let ends = next.to == reading.turn.words.len() || reading.clauses[next.to] != reading.clauses[next.from];
    let goes_on = reading.turn.gaps[next.to - 1].comma || matches!(reading.turn.low(next.to), "and" | "or");
    let comma = reading.turn.gaps[last.to - 1].comma && (ends || goes_on);
    let between: Vec<&str> = (last.to..next.from).map(|at| reading.turn.low(at)).collect();
    match between.as_slice() {
        [] if comma => Some(false),
        ["and"] => Some(false),
        ["or"] => Some(true),
        ["as", "well", "as"] => Some(false),
        _ => None,
    }
}

fn merge(last: &mut Placed, next: Placed, any: bool, said: &str) {
    let (Fact::Demanded { demand, .. } | Fact::Refused(demand)) = &mut last.fact else { return };
    let (Fact::Demanded { demand: next_demand, .. } | Fact::Refused(next_demand)) = next.fact else { return };
    let (Demanded::Values(things), Demanded::Values(more)) = (&mut demand.value, next_demand.value) else { return };
    let new: Vec<Vec<String>> = more.into_iter().filter(|thing| !things.contains(thing)).collect();
    match things.last_mut().filter(|_| any) {
        Some(thing) => thing.extend(new.into_iter().flatten()),
        None => things.extend(new),
    }
    demand.hard &= next_demand.hard;
    demand.said = said.to_string();
    last.to = next.to;
}
