//! The likeliest readings of a turn, and the plans that they lead to.
//!
//! The model chooses the role of each word, and operator, function and columns of each span, one by one; the likeliest
//! choices need not make sense together. So plans are also made of readings that differ from the likeliest in one
//! choice or two. Readings that lead to the same plan add up; a plan that changes nothing, or does not say what its
//! groups or its cut are for, is hardly what was meant.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use lakeward_core::plan::Plan;

use super::assemble::Assembly;
use super::grounding;
use super::model::{Encoded, Reader, best};
use super::schema::Schema;
use super::span::{Role, Span, TurnReading};
use super::tags::{Run, of_role, runs};
use super::unread::unread;
use super::value_match::Holds;
use lakeward_core::request::{Act, Label};

/// Readings that are looked at.
pub const READINGS: usize = 16;
/// A choice that is less likely than this beside the likeliest, as a logarithm, is not looked at.
const LEAST: f32 = -4.6;
/// Of so many choices two at a time are made.
const IN_PAIRS: usize = 12;

/// A reading.
#[derive(Debug, Clone)]
pub struct Reading {
    /// What is read.
    pub turn: TurnReading,
    /// The logarithm of how likely it is beside the likeliest; 0 for that.
    pub ratio: f32,
}

/// What of a span is chosen among classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    Operator,
    Function,
    Descending,
    Part,
    How,
    First,
    Second,
}

/// Another choice than the likeliest.
#[derive(Debug, Clone, Copy)]
enum Choice {
    /// Another act.
    Act(usize),
    /// Of the table that was just made or of its source.
    OnResult(usize),
    /// Another role of a run.
    Role(usize, Role),
    /// A run that says nothing.
    Nothing(usize),
    /// A word in no run that has a role.
    Word(usize, Role),
    /// Another class of what the span that begins at a word is chosen by.
    Class(usize, Slot, usize),
}

/// All that is chosen for a reading.
#[derive(Clone)]
struct Choices {
    act: usize,
    on_result: usize,
    runs: Vec<Run>,
    classes: Vec<(usize, Slot, usize)>,
}

impl Choices {
    fn likeliest(of: &Encoded<'_>) -> Self {
        let mut runs = runs(&of.tags);
        runs.retain(|run| !of.input.is_negation(of.text, &run.words));
        Self { act: best(&of.acts), on_result: best(&of.on_result), runs, classes: Vec::new() }
    }

    /// The same with other choices.
    fn with(&self, choices: &[Choice], of: &Encoded<'_>) -> Self {
        let mut made = self.clone();
        let mut gone: Vec<Range<usize>> = Vec::new();
        for choice in choices {
            match *choice {
                Choice::Act(act) => made.act = act,
                Choice::OnResult(on_result) => made.on_result = on_result,
                Choice::Role(at, role) => {
                    let words = self.runs[at].words.clone();
                    let sure =
                        words.clone().map(|word| of_role(&of.tags[word], role)).sum::<f32>() / words.len() as f32;
                    made.runs[at] = Run { words, role, sure };
                }
                Choice::Nothing(at) => gone.push(self.runs[at].words.clone()),
                Choice::Word(word, role) => {
                    // Beside a run of the same role it goes on.
                    let beside =
                        |run: &&mut Run| run.role == role && (run.words.end == word || run.words.start == word + 1);
                    match made.runs.iter_mut().find(beside) {
                        Some(run) => run.words = run.words.start.min(word)..run.words.end.max(word + 1),
                        None => {
                            made.runs.push(Run { words: word..word + 1, role, sure: of_role(&of.tags[word], role) })
                        }
                    }
                }
                Choice::Class(word, slot, class) => made.classes.push((word, slot, class)),
            }
        }
        made.runs.retain(|run| !gone.contains(&run.words));
        made.runs.sort_by_key(|run| run.words.start);
        made
    }

    /// Other choices of act, result and roles, with the logarithm of how likely each is beside what is chosen.
    fn others(&self, of: &Encoded<'_>) -> Vec<(Choice, f32)> {
        const NEVER: f32 = 1e-6;
        let acts = of.acts.iter().enumerate().filter(|(act, _)| *act != self.act);
        let mut found: Vec<(Choice, f32)> =
            acts.map(|(act, likely)| (Choice::Act(act), (likely / of.acts[self.act]).ln())).collect();
        let other = 1 - self.on_result;
        found.push((Choice::OnResult(other), (of.on_result[other] / of.on_result[self.on_result]).ln()));
        for (at, run) in self.runs.iter().enumerate() {
            let mean = |likely: &dyn Fn(&[f32]) -> f32| {
                let words = &of.tags[run.words.clone()];
                words.iter().map(|tags| likely(tags).max(NEVER).ln()).sum::<f32>() / words.len() as f32
            };
            let own = mean(&|tags| of_role(tags, run.role));
            let roles = Role::ALL.iter().filter(|role| **role != run.role);
            found.extend(roles.map(|role| (Choice::Role(at, *role), mean(&|tags| of_role(tags, *role)) - own)));
            found.push((Choice::Nothing(at), mean(&|tags| tags[0]) - own));
        }
        let is_outside = |word: &usize| !self.runs.iter().any(|run| run.words.contains(word));
        for (word, tags) in (0..of.tags.len()).filter(is_outside).map(|word| (word, &of.tags[word])) {
            let none = tags[0].max(NEVER);
            found.extend(Role::ALL.iter().map(|role| (Choice::Word(word, *role), (of_role(tags, *role) / none).ln())));
        }
        found
    }
}

impl Reader {
    /// At most `most` readings of a text over a schema, the likeliest first; see [`Reader::read`].
    pub fn readings(&self, text: &str, previous: &str, schema: &Schema, holds: Holds<'_>, most: usize) -> Vec<Reading> {
        let of = self.encode(text, previous, schema, holds);
        let likeliest = Choices::likeliest(&of);
        let mut known = HashMap::new();
        let (turn, others) = self.reading(&of, &likeliest, &mut known);
        let mut found = vec![Reading { turn, ratio: 0.0 }];
        if most <= found.len() {
            return found;
        }
        let mut others: Vec<(Choice, f32)> = others.into_iter().chain(likeliest.others(&of)).collect();
        others.iter_mut().for_each(|(_, ratio)| *ratio = ratio.min(0.0));
        others.retain(|(_, ratio)| *ratio > LEAST);
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut sets: Vec<(Vec<Choice>, f32)> = others.iter().map(|(choice, ratio)| (vec![*choice], *ratio)).collect();
        others.truncate(IN_PAIRS);
        for (at, (one, ratio)) in others.iter().enumerate() {
            sets.extend(others[at + 1..].iter().map(|(other, more)| (vec![*one, *other], ratio + more)));
        }
        sets.sort_by(|a, b| b.1.total_cmp(&a.1));
        sets.truncate(most - 1);
        for (choices, ratio) in sets {
            let (turn, _) = self.reading(&of, &likeliest.with(&choices, &of), &mut known);
            found.push(Reading { turn, ratio });
        }
        found
    }

    /// The reading of what is chosen, and other choices of its spans.
    fn reading(
        &self,
        of: &Encoded<'_>,
        choices: &Choices,
        known: &mut KnownSpans,
    ) -> (TurnReading, Vec<(Choice, f32)>) {
        let Choices { act, on_result, runs, classes } = choices;
        let groups = runs.iter().any(|run| matches!(run.role, Role::Group | Role::Measure)) || of.schema.is_grouped();
        let is_outside = |word: &usize| !runs.iter().any(|run| run.words.contains(word));
        let overlooked = (0..of.tags.len()).filter(is_outside).map(|word| 1.0 - of.tags[word][0]).fold(0.0, f32::max);
        let (mut spans, mut others) = (Vec::with_capacity(runs.len()), Vec::new());
        for run in runs {
            let forced =
                classes.iter().find(|(word, ..)| run.words.contains(word)).map(|(_, slot, class)| (*slot, *class));
            let key = (run.words.clone(), run.role, groups, forced);
            let (span, beside) = known.entry(key).or_insert_with(|| self.span(of, run, groups, forced));
            spans.push(span.clone());
            let place = run.words.start;
            others.extend(beside.iter().map(|(slot, class, ratio)| (Choice::Class(place, *slot, *class), *ratio)));
        }
        grounding::whole_values(of.text, &mut spans, &of.input, &of.matches);
        grounding::own_values(of.text, &mut spans, of.schema);
        grounding::attributes(&mut spans, of.schema);
        grounding::settle(&mut spans, of.schema);
        grounding::not_negated(of.text, &mut spans, &of.input, of.schema);
        grounding::negated_bounds(of.text, &mut spans, &of.input);
        grounding::parts_of_values(&mut spans, of.schema);
        for span in &mut spans {
            if let Some(column) = span.column() {
                span.value = span.value.take().map(|value| of.schema.columns[column].value_for(value));
            }
        }
        let mut acts = vec![Act::ALL[*act]];
        acts.extend(of.second_act.filter(|second| *second != acts[0] && *act == best(&of.acts)));
        let turn = TurnReading {
            text: of.text.to_string(),
            acts,
            confidence: of.acts[*act],
            overlooked,
            on_result: *on_result == 1,
            spans,
            decimals: None,
            unread: unread(of.text, (&of.input, of.schema), &of.matches, |word| !is_outside(&word)),
        };
        (turn.with_written_forms(), others)
    }
}

/// Spans by what they are told from, with other choices of them.
type KnownSpans = HashMap<(Range<usize>, Role, bool, Option<(Slot, usize)>), (Span, Vec<(Slot, usize, f32)>)>;

/// A plan that a turn may mean.
#[derive(Debug, Clone)]
pub struct Meaning {
    /// The likeliest reading that comes to it.
    pub turn: TurnReading,
    /// What that makes of the plan before.
    pub assembly: Assembly,
    /// How likely it is what is meant, 0..=1.
    pub probability: f64,
}

/// What the readings of a turn over `plan` may mean, the likeliest first. Where the likeliest wants other tables, or does something else than change
/// rows, others are not weighed against it: what it comes to is known only when the tables are.
///
/// Weights are those of a conditional logistic model, fitted on 2,268 turns of ten writers whom the reader did not learn from (eval/turns.md).
pub fn meanings(readings: Vec<Reading>, plan: &Plan, assemble: &dyn Fn(&TurnReading) -> Assembly) -> Vec<Meaning> {
    const MASS: f64 = 0.71;
    const SAME: f64 = -1.79;
    const GROUPS_FOR_NOTHING: f64 = -1.06;
    const CUTS_FOR_NOTHING: f64 = -0.96;
    const TWICE: f64 = -0.83;
    let changes_rows = |turn: &TurnReading| {
        turn.acts.iter().all(|act| matches!(act, Act::New | Act::Refine | Act::Correct | Act::Retract))
    };
    let mut found: Vec<(Meaning, f64)> = Vec::new();
    for Reading { turn, ratio } in readings {
        if !found.is_empty() && !changes_rows(&turn) {
            continue;
        }
        let assembly = assemble(&turn);
        if found.is_empty() && !(changes_rows(&turn) && assembly.tables.is_empty()) {
            return vec![Meaning { probability: turn.certainty(), turn, assembly }];
        }
        if !assembly.tables.is_empty() {
            continue;
        }
        let mass = f64::from(ratio).exp();
        match found.iter_mut().find(|(known, _)| known.assembly.plan == assembly.plan) {
            Some((_, known)) => *known += mass,
            None => found.push((Meaning { turn, assembly, probability: 0.0 }, mass)),
        }
    }
    for (meaning, score) in &mut found {
        let spans = &meaning.turn.spans;
        let has = |role: Role| spans.iter().any(|span| span.role == role);
        let uses_columns = |span: &&Span| {
            !matches!(span.role, Role::Limit | Role::Table | Role::Add | Role::Column)
                && span.role.place() < Role::Steps.place()
        };
        let is_first = |(place, span): &(usize, &Span)| *place == 0 || spans[place - 1].bytes != span.bytes;
        let each = spans.iter().enumerate().filter(is_first).map(|(_, span)| span);
        let used: Vec<usize> = each.filter(uses_columns).filter_map(Span::column).collect();
        let twice = used.len() - used.iter().collect::<HashSet<_>>().len();
        let one = |is: bool| f64::from(u8::from(is));
        *score = MASS * score.ln()
            + SAME * one(meaning.assembly.plan == *plan)
            + GROUPS_FOR_NOTHING * one(has(Role::Group) && !has(Role::Measure))
            + CUTS_FOR_NOTHING * one(has(Role::Limit) && !has(Role::Order))
            + TWICE * twice as f64;
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total: f64 = found.iter().map(|(_, score)| score.exp()).sum();
    let shares = found.into_iter().map(|(meaning, score)| (meaning, score.exp() / total));
    let calibrated = |(at, (meaning, share)): (usize, (Meaning, f64))| {
        let probability = if at == 0 { first_is_meant(share, meaning.turn.certainty()) } else { share * OTHERS };
        Meaning { probability, ..meaning }
    };
    shares.enumerate().map(calibrated).collect()
}

/// How often a plan that is not the likeliest is what is meant, beside its share.
const OTHERS: f64 = 0.5;

/// The probability that the likeliest plan is what is meant, by its share among those that are weighed and by how sure the reader is of its reading.
/// Fitted on the same turns; each writer left out in turn, the area under the curve is .79, with what could not be applied .81 (.76 for the reading alone).
fn first_is_meant(share: f64, certainty: f64) -> f64 {
    const BIAS: f64 = -0.17;
    const SHARE: f64 = 0.31;
    const CERTAINTY: f64 = 0.37;
    let log_odds = |likely: f64| {
        let likely = likely.clamp(1e-3, 1.0 - 1e-3);
        (likely / (1.0 - likely)).ln()
    };
    1.0 / (1.0 + (-(BIAS + SHARE * log_odds(share) + CERTAINTY * log_odds(certainty))).exp())
}
