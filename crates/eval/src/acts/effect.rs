//! What an utterance changes, beside what it should change: the respect that is asked about, the results that it is about, how many are
//! wanted, the state that is gone back to, the operation, and the facets of the request ([`facets`](super::facets)).

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::facets::{GoldRequest, are_right};
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::Session;
use lakeward_core::plan::{Plan, Step};
use lakeward_core::request::{Act, Demand, Label};

/// The fields of the gold standard, with our names of respects for each.
const FIELDS: [(&str, &[&str]); 8] = [
    ("publisher", &["publisher", "authors", "contact", "funding"]),
    ("licence", &["licence"]),
    ("format", &["format"]),
    ("period", &["period", "publication", "last change", "version"]),
    ("link", &["link"]),
    ("size", &["size", "files"]),
    ("citation", &["citation"]),
    ("description", &["description", "method", "columns", "subjects", "title", "places", "language", "related works"]),
];

/// The effect of an utterance, and the request in force before and after it.
#[derive(Deserialize)]
pub struct GoldEffect {
    effect: Option<Effect>,
    #[serde(default)]
    before: GoldRequest,
    #[serde(default)]
    after: GoldRequest,
}

#[derive(Deserialize)]
struct Effect {
    field: Option<String>,
    results: Option<BTreeSet<usize>>,
    /// `more`, `fewer`, a number, or `{"more": number}`.
    count: Option<Value>,
    /// A number of turns, or `all`.
    undo: Option<Value>,
    operation: Option<String>,
}

/// What the agent did.
pub struct Observed<'t> {
    /// The session before the utterance.
    pub before: &'t Session,
    /// The session after it.
    pub after: &'t Session,
    /// The answer to it.
    pub answer: &'t Recommendation,
    /// What was wanted before the first turn and after each before the utterance.
    pub states: &'t [Vec<Demand>],
}

/// A part of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectPart {
    /// The respect that is asked about.
    Field,
    /// The results that it is about; none where the gold standard has none.
    Results,
    /// How many results are wanted.
    Count,
    /// The state that is gone back to.
    Undo,
    /// What is to be done with a table.
    Operation,
    /// The facets of the request: those that change are as they should be, the others as before.
    Facets,
}

impl EffectPart {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Field, Self::Results, Self::Count, Self::Undo, Self::Operation, Self::Facets];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Field => "field",
            Self::Results => "results",
            Self::Count => "count",
            Self::Undo => "undo",
            Self::Operation => "operation",
            Self::Facets => "facets",
        }
    }
}

/// Cases of a kind, and how many of them are right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// The kind.
    pub name: String,
    /// Right ones.
    pub right: u64,
    /// All.
    pub cases: u64,
}

impl Counted {
    fn of(name: &str, cases: impl Iterator<Item = bool>) -> Self {
        let cases: Vec<bool> = cases.collect();
        let right = cases.iter().filter(|right| **right).count() as u64;
        Self { name: name.to_string(), right, cases: cases.len() as u64 }
    }
}

/// Scores of effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EffectScores {
    /// Utterances with an effect to compare.
    pub turns: u64,
    /// Share in which every part is right, 0..=1.
    pub right: f64,
    /// By the labelled act.
    pub by_act: Vec<Counted>,
    /// By part, of the utterances that have it.
    pub by_part: Vec<Counted>,
    /// The utterances with a wrong part, and these.
    pub wrong: Vec<(String, Vec<EffectPart>)>,
}

/// Parts of an effect, and whether each is right.
pub type Parts = Vec<(EffectPart, bool)>;

impl EffectScores {
    /// The scores of utterances with their acts and parts; `None` without one.
    pub fn of(all: &[(String, Act, Parts)]) -> Option<Self> {
        let is_right = |parts: &Parts| parts.iter().all(|(_, right)| *right);
        let overall = Counted::of("", all.iter().map(|(_, _, parts)| is_right(parts)));
        let of_act = |act: &Act| {
            let own = all.iter().filter(|(_, own, _)| own == act);
            Counted::of(act.name(), own.map(|(_, _, parts)| is_right(parts)))
        };
        let of_part = |part: EffectPart| {
            let own = all.iter().flat_map(|(_, _, parts)| parts).filter(move |(own, _)| *own == part);
            Counted::of(part.name(), own.map(|(_, right)| *right))
        };
        let has_some = |counted: &Counted| counted.cases > 0;
        let wrong = all.iter().filter(|(_, _, parts)| !is_right(parts)).map(|(id, _, parts)| {
            let wrong = parts.iter().filter(|(_, right)| !right).map(|(part, _)| *part);
            (id.clone(), wrong.collect())
        });
        (overall.cases > 0).then(|| Self {
            turns: overall.cases,
            right: overall.right as f64 / overall.cases as f64,
            by_act: Act::ALL.iter().map(of_act).filter(has_some).collect(),
            by_part: EffectPart::ALL.into_iter().map(of_part).filter(has_some).collect(),
            wrong: wrong.collect(),
        })
    }
}

/// Whether each part of an effect is right; `None` for an utterance without one.
pub fn parts(gold: &GoldEffect, observed: &Observed<'_>) -> Option<Parts> {
    let effect = gold.effect.as_ref()?;
    let mut parts = Vec::new();
    if let Some(field) = &effect.field {
        parts.push((EffectPart::Field, observed.field() == Some(field.as_str())));
    }
    let results = observed.results(effect.operation.is_some(), effect.count.is_some() && effect.results.is_some());
    parts.push((EffectPart::Results, effect.results.clone().unwrap_or_default() == results));
    if let Some(count) = &effect.count {
        parts.push((EffectPart::Count, observed.wants(count)));
    }
    if let Some(operation) = &effect.operation {
        parts.push((EffectPart::Operation, observed.operation().as_ref() == Some(operation)));
    }
    parts.push(match &effect.undo {
        Some(undo) => (EffectPart::Undo, observed.is_back_by(undo)),
        None => (EffectPart::Facets, are_right([&gold.before, &gold.after], observed)),
    });
    Some(parts)
}

impl Observed<'_> {
    /// The field of the first fact in the answer.
    fn field(&self) -> Option<&'static str> {
        let about = self.answer.facts.first()?.about.as_str();
        FIELDS.iter().find(|(_, ours)| ours.contains(&about)).map(|(name, _)| *name)
    }

    /// Numbers, from 1, of the listed results that have facts or are taken or turned down; those of the proposed operation and those shown again
    /// where these are asked for.
    fn results(&self, of_operation: bool, shown: bool) -> BTreeSet<usize> {
        let mut ids: Vec<&str> = self.answer.facts.iter().map(|fact| fact.record.as_str()).collect();
        for (before, after) in
            [(&self.before.accepted, &self.after.accepted), (&self.before.rejected, &self.after.rejected)]
        {
            ids.extend(after.iter().filter(|choice| !before.contains(choice)).map(|choice| choice.table.as_str()));
        }
        if let Some(first) = self.answer.operations.first().filter(|_| of_operation) {
            ids.extend(first.table.as_deref());
            ids.extend(first.runnable.iter().flat_map(Plan::tables));
        }
        if shown {
            ids.extend(self.answer.tables.iter().map(|table| table.table.as_str()));
        }
        let listed = self.before.listed();
        let number = |id: &str| listed.iter().position(|other| other == id).map(|place| place + 1);
        ids.into_iter().filter_map(number).collect()
    }

    /// Whether as many results are wanted as `count` says. More of no stated number are others than those listed; fewer are fewer.
    fn wants(&self, count: &Value) -> bool {
        let signals = &self.answer.signals;
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let listed = self.before.listed();
        match count.as_str() {
            Some("more") => {
                signals.acts.contains(&Act::More)
                    && self.answer.tables.iter().all(|table| !listed.contains(&table.table))
            }
            Some("fewer") => signals.answers.is_some_and(|answers| answers < listed.len()),
            _ => number(count.get("more").unwrap_or(count)).is_some_and(|wanted| signals.answers == Some(wanted)),
        }
    }

    /// Whether what is wanted is what was wanted as many turns before as `undo` says.
    fn is_back_by(&self, undo: &Value) -> bool {
        let turns = undo.as_u64().and_then(|turns| usize::try_from(turns).ok()).unwrap_or(usize::MAX);
        let place = (self.states.len() - 1).saturating_sub(turns);
        let bare = |demands: &[Demand]| -> Vec<(String, bool, String)> {
            demands.iter().map(|demand| (demand.role.to_string(), demand.avoid, demand.said.clone())).collect()
        };
        bare(&self.states[place]) == bare(&self.after.demands)
    }

    /// The operation that is proposed first.
    fn operation(&self) -> Option<String> {
        let first = self.answer.operations.first()?;
        let last = first.runnable.as_ref().and_then(|plan| plan.relation.steps.last());
        Some(match last {
            Some(Step::Sort(_)) => "sort".to_string(),
            _ => first.kind.name().to_lowercase(),
        })
    }
}
