//! Scores what is wanted of datasets after each turn of a dialogue, and what a turn replaces: the lines of `dialogues.jsonl` that have
//! `constraints` and `overrides`. Both sides are written alike first ([`super::free_text`]).

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::free_text::{Period, Texts, places, tokens, years_said};
use super::layout::lines::{file_of, read_json};
use lakeward_agent::config::ConversationConfig;
use lakeward_core::error::Result;
use lakeward_core::request::{Demand, Demanded, Signals};
use lakeward_core::respect::Respect;
use lakeward_reading::reader::this_year;
use lakeward_reading::signals::read_conversation;

const FILE: &str = "dialogues.jsonl";

/// A field of what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// Words of places.
    Geography,
    /// Whole periods.
    TimeRange,
    /// Words for what a row is of.
    Granularity,
    /// Words for columns.
    RequiredColumns,
    /// Words for what is not wanted.
    Excluded,
    /// Words for what it is about.
    Topic,
}

impl Field {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Self; 6] =
        [Self::Geography, Self::TimeRange, Self::Granularity, Self::RequiredColumns, Self::Excluded, Self::Topic];

    /// Its name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Geography => "geography",
            Self::TimeRange => "time_range",
            Self::Granularity => "granularity",
            Self::RequiredColumns => "required_columns",
            Self::Excluded => "excluded",
            Self::Topic => "topic",
        }
    }

    /// The one that a demand is of.
    fn of(demand: &Demand) -> Option<Self> {
        match &demand.role {
            _ if demand.avoid => Some(Self::Excluded),
            Respect::Place => Some(Self::Geography),
            Respect::Period => Some(Self::TimeRange),
            Respect::Grain | Respect::Frequency | Respect::Dimension => Some(Self::Granularity),
            Respect::Column => Some(Self::RequiredColumns),
            Respect::Topic | Respect::Subject => Some(Self::Topic),
            _ => None,
        }
    }

    /// Whether it has several values, of which one can be replaced.
    fn is_list(self) -> bool {
        matches!(self, Self::RequiredColumns | Self::Excluded)
    }
}

/// Precision, recall and F1 of items that were read, with the counts behind them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemScores {
    /// Share of the predicted ones that are right.
    pub precision: f64,
    /// Share of the gold ones that were predicted.
    pub recall: f64,
    /// Their harmonic mean; 0 where nothing is right.
    pub f1: f64,
    /// Items that are right.
    pub right: u64,
    /// Items that were predicted.
    pub predicted: u64,
    /// Items of the gold standard.
    pub gold: u64,
}

impl ItemScores {
    fn of([right, predicted, gold]: [u64; 3]) -> Self {
        let share = |all: u64| if all > 0 { right as f64 / all as f64 } else { 0.0 };
        let (precision, recall) = (share(predicted), share(gold));
        let f1 = if right > 0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
        Self { precision, recall, f1, right, predicted, gold }
    }
}

/// The scores of one field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldScores {
    /// The field.
    pub field: Field,
    /// What is in force after each turn: words, or periods.
    pub in_force: ItemScores,
    /// What a turn replaces.
    pub overrides: ItemScores,
}

/// What is in force in one field, where it is not what was predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    /// The dialogue.
    pub dialogue: String,
    /// The turn, from 1.
    pub turn: usize,
    /// The field.
    pub field: Field,
    /// What the gold standard has.
    pub gold: Vec<String>,
    /// What was predicted.
    pub predicted: Vec<String>,
}

/// Scores of what is wanted in dialogues, micro-averaged over turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConstraintScores {
    /// Dialogues.
    pub dialogues: u64,
    /// Their turns.
    pub turns: u64,
    /// Field by field.
    pub fields: Vec<FieldScores>,
    /// What turns replace, in all fields.
    pub overrides: ItemScores,
    /// Where the two differ.
    pub wrong: Vec<Disagreement>,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    #[serde(default)]
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    text: String,
    constraints: Option<Constraints>,
    #[serde(default)]
    overrides: Vec<Override>,
}

/// What is in force after a turn, field by field.
#[derive(Debug, Default, Deserialize)]
struct Constraints {
    #[serde(default)]
    geography: Texts,
    #[serde(default)]
    time_range: Texts,
    #[serde(default)]
    granularity: Texts,
    #[serde(default)]
    required_columns: Texts,
    #[serde(default)]
    excluded: Texts,
    #[serde(default)]
    topic: Texts,
}

/// Something that a turn replaces.
#[derive(Debug, Deserialize)]
struct Override {
    constraint: Field,
    was: Texts,
}

/// What two sides are compared by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Word(String),
    Period(Period),
}

impl Constraints {
    /// What the demands in force come to.
    fn of(signals: &Signals) -> Self {
        let of = |field: Field| -> Vec<&Demand> {
            signals.demands.iter().filter(|demand| Field::of(demand) == Some(field)).collect()
        };
        let said = |field: Field| of(field).into_iter().map(|demand| demand.said.clone()).collect::<Vec<String>>();
        let period = of(Field::TimeRange).into_iter().next().map(|demand| match demand.value {
            Demanded::Period(years) => years_said(years),
            _ => demand.said.clone(),
        });
        Self {
            geography: Texts::Many(said(Field::Geography)),
            time_range: period.map_or(Texts::Nothing, Texts::One),
            granularity: Texts::Many(said(Field::Granularity)),
            required_columns: Texts::Many(said(Field::RequiredColumns)),
            excluded: Texts::Many(said(Field::Excluded)),
            topic: Texts::Many(said(Field::Topic)),
        }
    }

    fn texts_of(&self, field: Field) -> &Texts {
        match field {
            Field::Geography => &self.geography,
            Field::TimeRange => &self.time_range,
            Field::Granularity => &self.granularity,
            Field::RequiredColumns => &self.required_columns,
            Field::Excluded => &self.excluded,
            Field::Topic => &self.topic,
        }
    }

    fn items(&self, field: Field) -> BTreeSet<Item> {
        let texts = self.texts_of(field).texts();
        match field {
            Field::TimeRange => texts.into_iter().filter_map(Period::of).map(Item::Period).collect(),
            Field::Geography => texts.into_iter().flat_map(places).map(Item::Word).collect(),
            _ => tokens(texts).into_iter().map(Item::Word).collect(),
        }
    }
}

/// What turns replace: number of the turn, field, words of what was in force.
type Replaced = Vec<(usize, Field, BTreeSet<String>)>;

/// Scores the dialogues of `folder`, read without a lake; `None` where none of them says what is in force.
///
/// # Errors
/// [`lakeward_core::Error::Benchmark`] for an unreadable line.
pub fn score(folder: &Path) -> Result<Option<ConstraintScores>> {
    let Some(path) = file_of(folder, FILE) else { return Ok(None) };
    let mut lines: Vec<Line> = Vec::new();
    read_json(&path, |_, line: Line| {
        lines.push(line);
        Ok(())
    })?;
    lines.retain(|line| line.turns.iter().any(|turn| turn.constraints.is_some()));
    if lines.is_empty() {
        return Ok(None);
    }
    let mut counts = [[0; 3]; Field::ALL.len()];
    let mut replaced = [[0; 3]; Field::ALL.len()];
    // What was replaced in respects that the gold standard does not have.
    let mut elsewhere = 0;
    let (mut wrong, nothing) = (Vec::new(), Constraints::default());
    for line in &lines {
        let texts: Vec<&str> = line.turns.iter().map(|turn| turn.text.as_str()).collect();
        let read = read_conversation(&texts, ConversationConfig::default().window, this_year());
        let (mut gold_replaced, mut predicted_replaced): (Replaced, Replaced) = Default::default();
        for (number, (turn, signals)) in (1..).zip(line.turns.iter().zip(&read)) {
            let (gold, predicted) = (turn.constraints.as_ref().unwrap_or(&nothing), Constraints::of(signals));
            for (field, counts) in Field::ALL.into_iter().zip(&mut counts) {
                let (gold_items, predicted_items) = (gold.items(field), predicted.items(field));
                let right = gold_items.intersection(&predicted_items).count();
                for (count, more) in counts.iter_mut().zip([right, predicted_items.len(), gold_items.len()]) {
                    *count += more as u64;
                }
                if gold_items != predicted_items {
                    let texts = |of: &Constraints| {
                        of.texts_of(field).texts().into_iter().map(str::to_string).collect::<Vec<String>>()
                    };
                    let (gold, predicted) = (texts(gold), texts(&predicted));
                    wrong.push(Disagreement { dialogue: line.id.clone(), turn: number, field, gold, predicted });
                }
            }
            let gold = turn.overrides.iter().map(|gone| (number, gone.constraint, tokens(gone.was.texts())));
            gold_replaced.extend(gold);
            let of = |gone: &Demand| Some((number, Field::of(gone)?, tokens([gone.said.as_str()])));
            predicted_replaced.extend(signals.gone.iter().filter_map(of));
            elsewhere += signals.gone.iter().filter(|gone| Field::of(gone).is_none()).count() as u64;
        }
        for (field, counts) in Field::ALL.into_iter().zip(&mut replaced) {
            let of = |all: &Replaced| all.iter().filter(|(_, own, _)| *own == field).cloned().collect::<Replaced>();
            let (gold, predicted) = (of(&gold_replaced), of(&predicted_replaced));
            for (count, more) in counts.iter_mut().zip([matched(&predicted, &gold), predicted.len(), gold.len()]) {
                *count += more as u64;
            }
        }
    }
    let sums = replaced.iter().fold([0, elsewhere, 0], |sums, counts| [0, 1, 2].map(|at| sums[at] + counts[at]));
    let fields = Field::ALL.into_iter().zip(counts).zip(replaced).map(|((field, in_force), overrides)| FieldScores {
        field,
        in_force: ItemScores::of(in_force),
        overrides: ItemScores::of(overrides),
    });
    Ok(Some(ConstraintScores {
        dialogues: lines.len() as u64,
        turns: lines.iter().map(|line| line.turns.len() as u64).sum(),
        fields: fields.collect(),
        overrides: ItemScores::of(sums),
        wrong,
    }))
}

/// How many of `predicted` are in `gold`, one to one, in order: of one turn and field, in lists with a word in common.
fn matched(predicted: &Replaced, gold: &Replaced) -> usize {
    let mut left: Vec<&(usize, Field, BTreeSet<String>)> = gold.iter().collect();
    let before = left.len();
    for (turn, field, words) in predicted {
        let is_it = |other: &&(usize, Field, BTreeSet<String>)| {
            (other.0, other.1) == (*turn, *field) && (!field.is_list() || !words.is_disjoint(&other.2))
        };
        if let Some(place) = left.iter().position(is_it) {
            left.remove(place);
        }
    }
    before - left.len()
}
