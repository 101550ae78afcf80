//! The turns before a request: what was asked for a moment ago makes the same, and its intention, likelier now.
//!
//! A hidden Markov reading: the probabilities after the turn before, mixed with an even guess because people change their
//! minds, are the prior of the next turn, weighed less than its own words:
//! p(l | words, before) ∝ p(l | words) · ((1 − c) · p(l | before) + c / labels)^w.

use super::classifier::SignalModel;
use lakeward_core::request::{Intention, Label, OperationKind, Ranked};

/// c: how readily people change what they ask for.
const CHANGE: f64 = 0.3;
/// w for the operation and for the intention, which lasts longer; chosen on `labels/dialogues.jsonl`.
const OPERATION_WEIGHT: f64 = 0.2;
const INTENTION_WEIGHT: f64 = 0.5;

/// What went before a turn.
#[derive(Debug, Clone, Default)]
pub struct Context<'a> {
    /// The latest requests, oldest first: as many as are to be read with this one.
    pub texts: Vec<&'a str>,
}

impl Context<'_> {
    /// What `text` asks for after those before it, and what for.
    pub fn rank(&self, model: &SignalModel, text: &str) -> (Ranked<OperationKind>, Ranked<Intention>) {
        let mut earlier = self.texts.iter().map(|text| model.rank(text));
        let Some((mut operation, mut intention)) = earlier.next() else { return model.rank(text) };
        for (next_operation, next_intention) in earlier.chain([model.rank(text)]) {
            operation = after(&operation, &next_operation, OPERATION_WEIGHT);
            intention = after(&intention, &next_intention, INTENTION_WEIGHT);
        }
        (operation, intention)
    }
}

/// The labels of a turn given those of the turn before.
fn after<L: Label>(before: &Ranked<L>, words: &Ranked<L>, weight: f64) -> Ranked<L> {
    let prior = |label: L| (1.0 - CHANGE) * before.probability(label) + CHANGE / L::ALL.len() as f64;
    let joint: Vec<(L, f64)> = words.all.iter().map(|(label, p)| (*label, p * prior(*label).powf(weight))).collect();
    Ranked::of(joint)
}

#[cfg(test)]
mod tests {
    use super::super::classifier::BUILTIN;
    use super::*;

    #[test]
    fn an_intention_lasts_and_words_win() {
        let model = SignalModel::parse(BUILTIN).unwrap();
        let training = "Append the 2019 rows, my classifier needs more training examples";
        let short = "and 2020, too";
        let context = Context { texts: vec![training] };
        let alone = model.rank(short).1.probability(Intention::Prediction);
        let after = context.rank(&model, short);
        assert!(after.1.probability(Intention::Prediction) > alone);
        let counts = context.rank(&model, "How many accidents were there per district in 2021, in total?");
        assert_eq!(counts.0.label, OperationKind::Aggregate);
        let sum: f64 = after.0.all.iter().map(|(_, p)| p).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}
