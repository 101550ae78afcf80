//! What was read from a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Constraints, Intent, Intention, OperationKind, Override};
use crate::answer::in_order;

/// A label with how probable it is and what the others are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked<L> {
    /// The most probable label.
    pub label: L,
    /// Its probability, 0..=1, calibrated on held-out labelled requests.
    pub confidence: f64,
    /// All labels with their probabilities, most probable first.
    pub all: Vec<(L, f64)>,
}

impl<L: Copy + PartialEq> Ranked<L> {
    /// The probability of `label`.
    pub fn probability(&self, label: L) -> f64 {
        self.all.iter().find(|(other, _)| *other == label).map_or(0.0, |(_, probability)| *probability)
    }

    /// `label` for certain, because somebody said so; the others keep their order.
    pub fn certain(&self, label: L) -> Self {
        let others = self.all.iter().filter(|(other, _)| *other != label).map(|(other, _)| (*other, 0.0));
        Self { label, confidence: 1.0, all: std::iter::once((label, 1.0)).chain(others).collect() }
    }
}

impl Ranked<OperationKind> {
    /// The probability that the working table is to be combined with others.
    pub fn combining(&self) -> f64 {
        self.all.iter().filter(|(kind, _)| kind.combines()).map(|(_, probability)| probability).sum()
    }
}

/// What a request asks for, what for, and under which constraints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct Signals {
    /// What to do.
    pub operation: Ranked<OperationKind>,
    /// What for.
    pub intention: Ranked<Intention>,
    /// The constraints in force after this turn.
    #[serde(default)]
    pub constraints: Constraints,
    /// What this turn replaced or took back of earlier ones.
    #[serde(default)]
    pub overrides: Vec<Override>,
    /// What is wanted of the catalogue after this turn; of old turns it is not kept.
    #[serde(default, skip_serializing_if = "Intent::is_empty")]
    pub intent: Intent,
}
