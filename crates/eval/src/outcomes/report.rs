//! Shares of turns by what they came to, for all of them and by group, with intervals over conversations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TurnClass;
use crate::provenance::Produced;
use crate::share::Share;

/// What the conversations of a benchmark came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeReport {
    /// What was measured.
    #[serde(flatten)]
    pub produced: Produced,
    /// The benchmark: the name of its folder.
    pub benchmark: String,
    /// Seed of the intervals.
    pub seed: u64,
    /// All turns, then groups of them.
    pub groups: Vec<OutcomeScores>,
    /// What each turn came to.
    pub turns: Vec<TurnOutcome>,
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnOutcome {
    /// The conversation.
    pub conversation: String,
    /// Number of the turn, from 1.
    pub turn: usize,
    /// Turns of the conversation.
    pub turns: usize,
    /// Name of its lake.
    pub lake: String,
    /// Who speaks.
    pub voice: String,
    /// What the turn asks for: `filter`, `join`, `undo`.
    pub kind: String,
    /// Whether it needs a table that its text does not name.
    pub finds: bool,
    /// Whether all turns before it were right.
    pub after_right: bool,
    /// What it came to.
    pub class: TurnClass,
    /// Why the table may not be what was meant, as it was said.
    pub warnings: Vec<String>,
    /// How likely it is what was meant, as it was said, 0..=1.
    pub likelihood: Option<f64>,
    /// What was said of what was done.
    pub said: String,
}

/// By what turns are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// By their place in the conversation.
    Place,
    /// By what they ask for.
    Kind,
    /// By the lake.
    Lake,
    /// By who speaks.
    Voice,
}

/// Shares of a group of turns, each with its interval over conversations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeScores {
    /// By what they are grouped.
    pub by: Grouping,
    /// The group.
    pub group: String,
    /// Its turns.
    pub turns: u64,
    /// Conversations that have one of these.
    pub conversations: u64,
    /// Right turns.
    pub right: Share,
    /// Turns that are wrong without a warning.
    pub silent: Share,
    /// Turns that are wrong with a warning.
    pub warned: Share,
    /// Turns that were asked back, where an answer was due.
    pub asked: Share,
    /// Turns without table and question.
    pub nothing: Share,
    /// Right turns that were warned of, as a share of the right ones; absent without these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right_warned: Option<Share>,
    /// Conversations whose turns in the group are all right.
    pub wholly_right: Share,
}

impl OutcomeReport {
    /// The report of turns in the order in which they were had.
    pub(super) fn of(benchmark: String, produced: Produced, seed: u64, turns: Vec<TurnOutcome>) -> Self {
        type Holds = fn(&TurnOutcome) -> bool;
        let places: [(&str, Holds); 8] = [
            ("all turns", |_| true),
            ("first turns", |turn| turn.turn == 1),
            ("of single turns", |turn| turn.turns == 1),
            ("of several turns", |turn| turn.turn == 1 && turn.turns > 1),
            ("later turns", |turn| turn.turn > 1),
            ("after only right ones", |turn| turn.turn > 1 && turn.after_right),
            ("table to be found", |turn| turn.finds),
            ("conversations of several turns", |turn| turn.turns > 1),
        ];
        let scores = |by, group: &str, holds: &dyn Fn(&TurnOutcome) -> bool| {
            OutcomeScores::of((by, group), turns.iter().filter(|turn| holds(turn)), seed)
        };
        let mut groups: Vec<OutcomeScores> =
            places.iter().filter_map(|(name, holds)| scores(Grouping::Place, name, holds)).collect();
        type Name = fn(&TurnOutcome) -> &str;
        let named: [(Grouping, Name); 3] = [
            (Grouping::Kind, |turn| &turn.kind),
            (Grouping::Lake, |turn| &turn.lake),
            (Grouping::Voice, |turn| &turn.voice),
        ];
        for (by, name) in named {
            let mut names: Vec<&str> = turns.iter().map(name).collect();
            names.sort_unstable();
            names.dedup();
            groups.extend(names.into_iter().filter_map(|own| scores(by, own, &|turn| name(turn) == own)));
        }
        Self { produced, benchmark, seed, groups, turns }
    }
}

impl OutcomeScores {
    /// The scores of a group; `None` without a turn.
    fn of<'t>((by, group): (Grouping, &str), turns: impl Iterator<Item = &'t TurnOutcome>, seed: u64) -> Option<Self> {
        let mut conversations: BTreeMap<&str, Vec<&TurnOutcome>> = BTreeMap::new();
        for turn in turns {
            conversations.entry(&turn.conversation).or_default().push(turn);
        }
        let all: Vec<Vec<&TurnOutcome>> = conversations.into_values().collect();
        let share = |counts: &dyn Fn(&TurnOutcome) -> bool, among: &dyn Fn(&TurnOutcome) -> bool| {
            let count = |turns: &[&TurnOutcome]| {
                let among = turns.iter().filter(|turn| among(turn));
                (among.clone().filter(|turn| counts(turn)).count() as u64, among.count() as u64)
            };
            Share::of(&all.iter().map(|turns| count(turns)).collect::<Vec<_>>(), seed)
        };
        let of = |class: TurnClass| share(&|turn| turn.class == class, &|_| true);
        let is_right = |turn: &TurnOutcome| turn.class == TurnClass::Right;
        let wholly: Vec<(u64, u64)> =
            all.iter().map(|turns| (u64::from(turns.iter().all(|turn| is_right(turn))), 1)).collect();
        Some(Self {
            by,
            group: group.to_string(),
            turns: all.iter().map(|turns| turns.len() as u64).sum(),
            conversations: all.len() as u64,
            right: of(TurnClass::Right)?,
            silent: of(TurnClass::Silent)?,
            warned: of(TurnClass::Warned)?,
            asked: of(TurnClass::Asked)?,
            nothing: of(TurnClass::Nothing)?,
            right_warned: share(&|turn| !turn.warnings.is_empty(), &is_right),
            wholly_right: Share::of(&wholly, seed)?,
        })
    }
}
