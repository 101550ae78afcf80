//! What a user is going to say: what tells his record from all others, in which turn, and where he misspeaks.

use serde_json::{Map, Value};

use super::catalogue::{Catalogue, both};
use super::{GoalRecord, SimulationOptions, Wish, add_gold};
use crate::compare::SplitMix;
use lakeward_core::request::RequestedYears;
use lakeward_core::role::Role;

/// Words of a topic.
const TOPIC_WORDS: usize = 3;
/// Words that begin no topic, and end none.
const EMPTY: [&str; 26] = [
    "a", "an", "and", "as", "at", "by", "de", "der", "des", "die", "for", "from", "in", "la", "le", "of", "on", "or",
    "per", "the", "to", "und", "with", "et", "du", "im",
];
/// How often something is said that tells nothing apart.
const SAID_IN_VAIN: f64 = 0.15;
/// Longer values are read out by nobody, in characters.
const LONGEST_VALUE: usize = 90;

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

/// Something that a user says in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// What he wants.
    Says(Wish),
    /// Something wrong, which he believes for now.
    Misstates(Wish),
    /// Something wrong, taken back at once for what is right.
    Slips {
        /// What he says first.
        wrong: Wish,
        /// What he means.
        right: Wish,
    },
    /// What is right, in place of what he misstated in an earlier turn.
    Corrects {
        /// What he said then.
        wrong: Wish,
        /// What he means.
        right: Wish,
    },
}

/// All that a user is going to say, turn by turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// What he says in each turn; the topic first of all.
    pub turns: Vec<Vec<Statement>>,
    /// Whether and how he corrects himself.
    pub correction: Correction,
}

impl Script {
    /// A script for the record `goal` of a catalogue; `None` where nothing tells it from the others.
    pub(super) fn of(
        catalogue: &Catalogue<'_>,
        goal: usize,
        options: &SimulationOptions,
        random: &mut SplitMix,
    ) -> Option<Self> {
        let record = catalogue.records.get(goal)?;
        let wanted = wanted(catalogue, record, options.most_said, random)?;
        let mut statements: Vec<Statement> = wanted.into_iter().map(Statement::Says).collect();
        let kind = match random.below(1000) as f64 / 1000.0 {
            share if share < options.same_turn => Correction::SameTurn,
            share if share < options.same_turn + options.later_turn => Correction::LaterTurn,
            _ => Correction::None,
        };
        let mut later = None;
        let mut correction = Correction::None;
        if kind != Correction::None {
            let mut places: Vec<usize> = (1..statements.len()).collect();
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

    /// What the turn `turn`, from 0, states: the gold that an extractor is scored by.
    pub fn gold(&self, turn: usize) -> Map<String, Value> {
        let mut gold = Map::new();
        for statement in self.turns.get(turn).into_iter().flatten() {
            match statement {
                Statement::Says(wanted) | Statement::Misstates(wanted) => add_gold(&mut gold, wanted),
                Statement::Slips { right, .. } | Statement::Corrects { right, .. } => add_gold(&mut gold, right),
            }
        }
        gold
    }
}

/// Topic first, then what tells the record from the others with the same topic.
fn wanted(catalogue: &Catalogue<'_>, record: &GoalRecord, most: usize, random: &mut SplitMix) -> Option<Vec<Wish>> {
    let topic = Wish::Topic(topic(&record.title, random)?);
    let mut left = catalogue.meeting(&topic);
    let mut wanted = vec![topic];
    for candidate in candidates(record, random) {
        if wanted.len() > most || (left.len() <= 1 && wanted.len() > 2) {
            break;
        }
        let still = both(&left, &catalogue.meeting(&candidate));
        let tells = still.len() < left.len();
        if !still.is_empty() && (tells || random.happens(SAID_IN_VAIN)) {
            left = still;
            wanted.push(candidate);
        }
    }
    if left.len() > 1 {
        let aspect = Wish::Aspect(record.title.trim().to_string());
        left = both(&left, &catalogue.meeting(&aspect));
        wanted.push(aspect);
    }
    (left.len() == 1 && wanted.len() > 1).then_some(wanted)
}

/// What could be said of a record, in random order, one of a role and two of what it can be broken down by.
fn candidates(record: &GoalRecord, random: &mut SplitMix) -> Vec<Wish> {
    let sayable = |(role, value): &&(Role, String)| {
        !matches!(role, Role::Other(_))
            && value.chars().any(char::is_alphanumeric)
            && value.chars().count() <= LONGEST_VALUE
    };
    let mut values: Vec<&(Role, String)> = record.facets.values.iter().filter(sayable).collect();
    random.shuffle(&mut values);
    let mut told: Vec<&Role> = Vec::new();
    let mut wanted: Vec<Wish> = Vec::new();
    for (role, value) in values {
        let most = if *role == Role::Dimension { 2 } else { 1 };
        if told.iter().filter(|known| **known == role).count() < most {
            told.push(role);
            wanted.push(Wish::Value(role.clone(), value.clone()));
        }
    }
    wanted.extend(years(record, random).map(Wish::Years));
    random.shuffle(&mut wanted);
    wanted
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

/// Words of a title that stand together, as they are written.
fn topic(title: &str, random: &mut SplitMix) -> Option<String> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    for word in lakeward_core::text::words(title) {
        let start = word.as_ptr() as usize - title.as_ptr() as usize;
        words.push((start, start + word.len()));
    }
    let is_full = |(start, end): &(usize, usize)| {
        let word = title[*start..*end].to_lowercase();
        !EMPTY.contains(&word.as_str()) && word.chars().any(char::is_alphabetic) && word.chars().count() > 1
    };
    let starts: Vec<usize> = (0..words.len().min(6)).filter(|place| is_full(&words[*place])).collect();
    let first = *random.one(&starts)?;
    let most = (first + 1 + random.below(TOPIC_WORDS)).min(words.len() - 1);
    let last = (first..=most).rev().find(|place| is_full(&words[*place]))?;
    Some(title[words[first].0..words[last].1].to_string())
}

/// Something else in place of `right`, which the record is not.
fn mistaken(catalogue: &Catalogue<'_>, record: &GoalRecord, right: &Wish, random: &mut SplitMix) -> Option<Wish> {
    const TRIES: usize = 8;
    match right {
        Wish::Value(role, _) => {
            for _ in 0..TRIES {
                let value = random.one(catalogue.values(role))?.to_string();
                let own = record.facets.values.iter().any(|(known, own)| known == role && *own == value);
                if !own && value.chars().count() <= LONGEST_VALUE {
                    return Some(Wish::Value(role.clone(), value));
                }
            }
            None
        }
        Wish::Years(years) => {
            let shift = 3 + random.below(8) as i32;
            let shift = if random.happens(0.5) { shift } else { -shift };
            Some(Wish::Years(match *years {
                RequestedYears::Cover { from, to } => {
                    RequestedYears::Cover { from: from - shift.abs(), to: to - shift.abs() }
                }
                RequestedYears::Exactly { from, to } => RequestedYears::Exactly { from: from + shift, to: to + shift },
                RequestedYears::StartsIn(year) => RequestedYears::StartsIn(year + shift),
                RequestedYears::EndsIn(year) => RequestedYears::EndsIn(year + shift),
            }))
        }
        Wish::Topic(_) | Wish::Aspect(_) => None,
    }
}

/// Statements in turns of one or two, the topic alone or with one more; `later` is a correction of the statement at its place.
fn divided(
    statements: Vec<Statement>,
    later: Option<(usize, Statement)>,
    random: &mut SplitMix,
) -> Vec<Vec<Statement>> {
    let mut turns: Vec<Vec<Statement>> = Vec::new();
    let mut misstated_in = 0;
    let mut room = 0;
    // All at once would leave nothing to be said later.
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
