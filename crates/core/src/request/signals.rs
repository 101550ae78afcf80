//! What was predicted from a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Act, Demand, Intention, Label, OperationKind};
use crate::answer::in_order;
use crate::text::shown;

/// The most probable label, its probability and the alternatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked<L> {
    /// The most probable label.
    pub label: L,
    /// Its probability, 0..=1; on requests of others the expected calibration error is .03 to .08.
    pub confidence: f64,
    /// All labels with their probabilities, most probable first.
    pub all: Vec<(L, f64)>,
}

impl<L: Copy + PartialEq> Ranked<L> {
    /// The probability of `label`.
    pub fn probability(&self, label: L) -> f64 {
        self.all.iter().find(|(other, _)| *other == label).map_or(0.0, |(_, probability)| *probability)
    }

    /// `label` as certain, because the user chose it; the others keep their order.
    pub fn certain(&self, label: L) -> Self {
        let others = self.all.iter().filter(|(other, _)| *other != label).map(|(other, _)| (*other, 0.0));
        Self { label, confidence: 1.0, all: std::iter::once((label, 1.0)).chain(others).collect() }
    }
}

impl<L: Label> Ranked<L> {
    /// The geometric mean with what another model says, whose probabilities are in the order of the labels and count `weight`, 0..=1.
    pub fn and(&self, other: &[f32], weight: f64) -> Self {
        let other = |label: L| other.get(label.place()).map_or(0.0, |p| f64::from(*p));
        let both = |(label, p): &(L, f64)| (*label, p.powf(1.0 - weight) * other(*label).powf(weight));
        Self::of(self.all.iter().map(both).collect())
    }

    /// Labels with weights of at least 0, as probabilities.
    pub fn of(mut all: Vec<(L, f64)>) -> Self {
        let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
        all.iter_mut().for_each(|(_, weight)| *weight /= sum.max(f64::MIN_POSITIVE));
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        Self { label: all[0].0, confidence: all[0].1, all }
    }
}

impl Ranked<OperationKind> {
    /// The probability that the working table will be combined with others.
    pub fn combining(&self) -> f64 {
        self.all.iter().filter(|(kind, _)| kind.combines()).map(|(_, probability)| probability).sum()
    }
}

/// What a request asks for, and what is wanted after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct Signals {
    /// The operation.
    pub operation: Ranked<OperationKind>,
    /// The intention.
    pub intention: Ranked<Intention>,
    /// What the analyst does with the turn; a second act where two are said. None for a turn without words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<Act>,
    /// What is wanted of datasets after this turn, older demands first; in old turns those that the turn itself set.
    #[serde(default)]
    pub demands: Vec<Demand>,
    /// Demands before it that it replaced or took back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Demand>,
    /// How many answers are wanted, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<usize>,
}

impl Signals {
    /// What was understood, in one line of plain text: operation and intention with their confidence, and what is wanted.
    pub fn understood(&self) -> String {
        /// Characters of it.
        const LINE: usize = 2000;
        let percent = |name: &str, confidence: f64| format!("{name} ({:.0} %)", confidence.clamp(0.0, 1.0) * 100.0);
        let operation = percent(self.operation.label.name(), self.operation.confidence);
        let intention = percent(self.intention.label.name(), self.intention.confidence);
        let parts: Vec<String> =
            [operation, intention].into_iter().chain(self.demands.iter().map(Demand::line)).collect();
        shown(&parts.join(" · "), LINE)
    }
}
