//! What was predicted from a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Constraints, Intent, Intention, OperationKind, Override};
use crate::answer::in_order;

/// The most probable label, its probability and the alternatives.
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

    /// `label` as certain, because the user chose it; the others keep their order.
    pub fn certain(&self, label: L) -> Self {
        let others = self.all.iter().filter(|(other, _)| *other != label).map(|(other, _)| (*other, 0.0));
        Self { label, confidence: 1.0, all: std::iter::once((label, 1.0)).chain(others).collect() }
    }
}

impl Ranked<OperationKind> {
    /// The probability that the working table will be combined with others.
    pub fn combining(&self) -> f64 {
        self.all.iter().filter(|(kind, _)| kind.combines()).map(|(_, probability)| probability).sum()
    }
}

/// The predicted operation, intention and constraints of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = in_order::<Self>)]
pub struct Signals {
    /// The operation.
    pub operation: Ranked<OperationKind>,
    /// The intention.
    pub intention: Ranked<Intention>,
    /// The constraints in force after this turn.
    #[serde(default)]
    pub constraints: Constraints,
    /// The earlier constraints that this turn replaced or withdrew.
    #[serde(default)]
    pub overrides: Vec<Override>,
    /// The catalogue request after this turn; not stored for old turns.
    #[serde(default, skip_serializing_if = "Intent::is_empty")]
    pub intent: Intent,
}
