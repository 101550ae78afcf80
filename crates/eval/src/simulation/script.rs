//! The script of a user: the statements that distinguish his record from all others, their turns, and where he misspeaks.

use serde_json::{Map, Value};

use super::catalogue::{Catalogue, both};
use super::{GoalRecord, Requirement, SimulationOptions, add_gold};
use crate::compare::SplitMix;
use lakeward_core::request::RequestedYears;
use lakeward_core::respect::Respect;
use lakeward_core::text::{Stemmer, lower_words};

/// Words that do not begin or end a plan.
const EMPTY: [&str; 26] = [
    "a", "an", "and", "as", "at", "by", "de", "der", "des", "die", "for", "from", "in", "la", "le", "of", "on", "or",
    "per", "the", "to", "und", "with", "et", "du", "im",
];
/// Maximum length of a stated value, in characters.
const LONGEST_VALUE: usize = 90;

/// Words of a plan.
const PLAN_WORDS: std::ops::RangeInclusive<usize> = 4..=18;
/// Records that a user's values may leave besides his plan.
const FEW: usize = 20;

/// Whether and how a user corrects himself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Correction {
    /// Never.
    None,
    /// In the turn in which he misspeaks.
    SameTurn,
    /// In a later one.
    LaterTurn,
}

impl Correction {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Correction::None => "none",
            Correction::SameTurn => "same-turn",
            Correction::LaterTurn => "later-turn",
        }
    }
}

/// A statement of a user in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// A requirement.
    Says(Requirement),
    /// A wrong requirement that is corrected in a later turn.
    Misstates(Requirement),
    /// A wrong requirement, corrected in the same turn.
    Slips {
        /// The wrong requirement.
        wrong: Requirement,
        /// The right requirement.
        right: Requirement,
    },
    /// The correction of a misstatement in an earlier turn.
    Corrects {
        /// The earlier, wrong requirement.
        wrong: Requirement,
        /// The right requirement.
        right: Requirement,
    },
}

/// All statements of a user, turn by turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The statements of each turn, starting with the plan.
    pub turns: Vec<Vec<Statement>>,
    /// Whether and how he corrects himself.
    pub correction: Correction,
}

impl Script {
    /// A script for the record `goal` of a catalogue; `None` if it cannot be distinguished from the others.
    pub(super) fn of(
        catalogue: &Catalogue<'_>,
        goal: usize,
        options: &SimulationOptions,
        random: &mut SplitMix,
    ) -> Option<Self> {
        let record = catalogue.records.get(goal)?;
        let requirements = match options.plans.get(&record.id) {
            Some(plan) => {
                let written = plan.iter().cloned().map(Requirement::Written).collect();
                with_values(catalogue, record, written, options.most_said, random).0
            }
            None => planned(catalogue, record, options.most_said, random)?,
        };
        let mut statements: Vec<Statement> = requirements.into_iter().map(Statement::Says).collect();
        let kind = match random.below(1000) as f64 / 1000.0 {
            share if share < options.same_turn => Correction::SameTurn,
            share if share < options.same_turn + options.later_turn => Correction::LaterTurn,
            _ => Correction::None,
        };
        let mut later = None;
        let mut correction = Correction::None;
        if kind != Correction::None {
            let is_written = |statement: &&Statement| matches!(statement, Statement::Says(Requirement::Written(_)));
            let written = statements.iter().take_while(is_written).count();
            let mut places: Vec<usize> = (written.max(1)..statements.len()).collect();
            random.shuffle(&mut places);
            for place in places {
                let Statement::Says(right) = statements[place].clone() else { continue };
                let Some(wrong) = mistaken(catalogue, record, &right, random) else { continue };
                if kind == Correction::SameTurn {
                    statements[place] = Statement::Slips { wrong, right };
                } else {
                    statements[place] = Statement::Misstates(wrong.clone());
                    later = Some((place, Statement::Corrects { wrong, right }));
                }
                correction = kind;
                break;
            }
        }
        Some(Self { turns: divided(statements, later, random), correction })
    }

    /// The gold of turn `turn`, from 0, by which an extractor is scored.
    pub fn gold(&self, turn: usize) -> Map<String, Value> {
        let mut gold = Map::new();
        for statement in self.turns.get(turn).into_iter().flatten() {
            match statement {
                Statement::Says(requirement) | Statement::Misstates(requirement) => add_gold(&mut gold, requirement),
                Statement::Slips { right, .. } | Statement::Corrects { right, .. } => add_gold(&mut gold, right),
            }
        }
        gold
    }
}

/// A plan of words of the record, then values that leave few others; none where they leave more.
fn planned(
    catalogue: &Catalogue<'_>,
    record: &GoalRecord,
    most: usize,
    random: &mut SplitMix,
) -> Option<Vec<Requirement>> {
    let plan = vec![Requirement::Plan(plan(record, random)?)];
    let (requirements, remaining) = with_values(catalogue, record, plan, most, random);
    (remaining <= FEW && requirements.len() > 1).then_some(requirements)
}

/// `requirements`, which are plans that want the record, then values that leave few others, and how many; no value shares a word with the title.
fn with_values(
    catalogue: &Catalogue<'_>,
    record: &GoalRecord,
    mut requirements: Vec<Requirement>,
    most: usize,
    random: &mut SplitMix,
) -> (Vec<Requirement>, usize) {
    let mut stemmer = Stemmer::default();
    let mut stems =
        |text: &str| -> Vec<String> { lower_words(text).map(|word| stemmer.stem(&word).to_string()).collect() };
    let title = stems(&record.title);
    let plans = requirements.len();
    let mut remaining = catalogue.meeting(&requirements[0]);
    for candidate in candidates(record, random) {
        let said = requirements.len() - plans;
        if said >= most || (remaining.len() <= FEW && said > 1) {
            break;
        }
        let names =
            matches!(&candidate, Requirement::Value(_, value) if stems(value).iter().any(|stem| title.contains(stem)));
        let still = both(&remaining, &catalogue.meeting(&candidate));
        if !names && !still.is_empty() && still.len() < remaining.len() {
            remaining = still;
            requirements.push(candidate);
        }
    }
    (requirements, remaining.len())
}

/// Some words of what a record says, from a random place on, without those of its title.
fn plan(record: &GoalRecord, random: &mut SplitMix) -> Option<String> {
    let mut stemmer = Stemmer::default();
    let mut stems =
        |text: &str| -> Vec<String> { lower_words(text).map(|word| stemmer.stem(&word).to_string()).collect() };
    let title = stems(&record.title);
    let is_new =
        |word: &&str, stems: &mut dyn FnMut(&str) -> Vec<String>| stems(word).iter().all(|stem| !title.contains(stem));
    let words: Vec<&str> = lakeward_core::text::words(&record.text).filter(|word| is_new(word, &mut stems)).collect();
    let is_full = |word: &str| {
        let word = word.to_lowercase();
        !EMPTY.contains(&word.as_str()) && word.chars().all(char::is_alphabetic) && word.chars().count() > 2
    };
    let starts: Vec<usize> = (0..words.len()).filter(|place| is_full(words[*place])).collect();
    let first = *random.one(&starts[..starts.len().saturating_sub(*PLAN_WORDS.start())])?;
    let said: Vec<&str> = words[first..].iter().copied().take(*PLAN_WORDS.end()).collect();
    let last = said.iter().rposition(|word| is_full(word))?;
    let said = &said[..=last];
    (said.iter().filter(|word| is_full(word)).count() >= *PLAN_WORDS.start()).then(|| said.join(" "))
}

/// Possible requirements about a record in random order: one per role, two for dimensions.
fn candidates(record: &GoalRecord, random: &mut SplitMix) -> Vec<Requirement> {
    let sayable = |(role, value): &&(Respect, String)| {
        !matches!(role, Respect::Other(_))
            && value.chars().any(char::is_alphanumeric)
            && value.chars().count() <= LONGEST_VALUE
    };
    let mut values: Vec<&(Respect, String)> = record.facets.values.iter().filter(sayable).collect();
    random.shuffle(&mut values);
    let mut used_roles: Vec<&Respect> = Vec::new();
    let mut requirements: Vec<Requirement> = Vec::new();
    for (role, value) in values {
        let most = if *role == Respect::Dimension { 2 } else { 1 };
        if used_roles.iter().filter(|known| **known == role).count() < most {
            used_roles.push(role);
            requirements.push(Requirement::Value(role.clone(), value.clone()));
        }
    }
    requirements.extend(years(record, random).map(Requirement::Years));
    random.shuffle(&mut requirements);
    requirements
}

fn years(record: &GoalRecord, random: &mut SplitMix) -> Option<RequestedYears> {
    let (first, last) = (record.facets.first_year, record.facets.last_year);
    let (Some(from), Some(to)) = (first, last) else {
        return first.map(RequestedYears::StartsIn).or(last.map(RequestedYears::EndsIn));
    };
    if from > to {
        return None;
    }
    Some(match random.below(5) {
        0 => RequestedYears::Exactly { from, to },
        1 => RequestedYears::StartsIn(from),
        2 => RequestedYears::EndsIn(to),
        _ => {
            let span = (to - from) as usize + 1;
            let begin = from + random.below(span.div_ceil(2)) as i32;
            let end = to - random.below(span.div_ceil(3)) as i32;
            RequestedYears::Cover { from: begin.min(end), to: end.max(begin) }
        }
    })
}

/// A wrong requirement in place of `right`, which the record does not meet.
fn mistaken(
    catalogue: &Catalogue<'_>,
    record: &GoalRecord,
    right: &Requirement,
    random: &mut SplitMix,
) -> Option<Requirement> {
    const TRIES: usize = 8;
    match right {
        Requirement::Value(role, _) => {
            for _ in 0..TRIES {
                let value = random.one(catalogue.values(role))?.to_string();
                let own = record.facets.values.iter().any(|(known, own)| known == role && *own == value);
                if !own && value.chars().count() <= LONGEST_VALUE {
                    return Some(Requirement::Value(role.clone(), value));
                }
            }
            None
        }
        Requirement::Years(years) => {
            let shift = 3 + random.below(8) as i32;
            let shift = if random.happens(0.5) { shift } else { -shift };
            Some(Requirement::Years(match *years {
                RequestedYears::Cover { from, to } => {
                    RequestedYears::Cover { from: from - shift.abs(), to: to - shift.abs() }
                }
                RequestedYears::Exactly { from, to } => RequestedYears::Exactly { from: from + shift, to: to + shift },
                RequestedYears::StartsIn(year) => RequestedYears::StartsIn(year + shift),
                RequestedYears::EndsIn(year) => RequestedYears::EndsIn(year + shift),
            }))
        }
        Requirement::Plan(_) | Requirement::Written(_) => None,
    }
}

/// Divides statements into turns of one or two; `later` is a correction of the statement at its index.
fn divided(
    statements: Vec<Statement>,
    later: Option<(usize, Statement)>,
    random: &mut SplitMix,
) -> Vec<Vec<Statement>> {
    let mut turns: Vec<Vec<Statement>> = Vec::new();
    let mut misstated_in = 0;
    let mut room = 0;
    // With everything in one turn, nothing would be left for later turns.
    let is_short = statements.len() <= 2;
    for (place, statement) in statements.into_iter().enumerate() {
        if room == 0 {
            turns.push(Vec::new());
            let second = if turns.len() == 1 { 0.25 } else { 0.4 };
            room = 1 + usize::from(random.happens(second) && !is_short);
        }
        if later.as_ref().is_some_and(|(misstated, _)| *misstated == place) {
            misstated_in = turns.len() - 1;
        }
        if let Some(turn) = turns.last_mut() {
            turn.push(statement);
        }
        room -= 1;
    }
    if let Some((_, correction)) = later {
        let behind = turns.len() - misstated_in;
        let turn = misstated_in + 1 + random.below(behind);
        match turns.get_mut(turn) {
            Some(turn) => turn.insert(0, correction),
            None => turns.push(vec![correction]),
        }
    }
    turns
}
