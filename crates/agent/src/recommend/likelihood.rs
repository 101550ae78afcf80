//! The probability that the operation that is proposed first is what the analyst wants.
//!
//! The classifier of requests says how likely a *kind* of operation is asked for. How likely one plan of that kind is
//! the right one is another figure, and that is the score of an operation. It was fitted on turns and requests of our
//! own that no model was trained on (eval/turns.md).

use super::RankedOperation;
use lakeward_core::request::OperationKind;
use lakeward_search::weights::LikelihoodWeights;

/// What a plan that goes first rests on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Basis {
    /// Words that were read.
    Read {
        /// The probability that the turn is read right, 0..=1.
        certainty: f64,
        /// Whether some of it could not be applied.
        lost: bool,
        /// The probability that the table at hand is what was wanted before, 0..=1.
        standing: f64,
    },
    /// Columns of other tables that the words were found to name.
    Named,
    /// What fits best, of the kind that is asked for.
    Fits,
    /// The request says no more than the name of the table that is opened.
    Opened,
}

impl Basis {
    /// The probability, 0..=1, that `operation` is what is wanted.
    pub fn likelihood(self, operation: &RankedOperation, weights: &LikelihoodWeights) -> f64 {
        match self {
            Self::Read { certainty, lost, standing } => {
                let certainty = certainty.clamp(0.01, 0.99);
                let logit = (certainty / (1.0 - certainty)).ln() - if lost { weights.lost } else { 0.0 };
                // Doubts of one conversation are of the same words: they are not independent.
                standing.min(1.0 / (1.0 + (-logit).exp()))
            }
            Self::Named if operation.preconditions.iter().any(|part| !part.met) => weights.named_in_doubt,
            Self::Named => weights.named,
            Self::Fits => weights.fits * operation.asked,
            Self::Opened => operation.score,
        }
    }
}

/// Turns the scores of operations, which sum to 1, into probabilities that each of them is what is wanted. The first
/// gets the one that `basis` gives. Each other one gets its kind's share of the rest, but no more than the first, so
/// that the order stays. What is missing to 1 is the probability that none of them is wanted. Nothing changes where
/// the first is a question.
pub(crate) fn to_probabilities(operations: &mut [RankedOperation], basis: Basis, weights: &LikelihoodWeights) {
    let Some((first, others)) = operations.split_first_mut() else { return };
    if first.kind == OperationKind::Clarify {
        return;
    }
    // What only opens a table is a share among the others, as no wish was read, but never surer than what fits.
    let opens = first.runnable.as_ref().is_none_or(|plan| plan.relation.steps.is_empty());
    let likelihood = basis.likelihood(first, weights);
    first.score = if opens { likelihood.min(first.score) } else { likelihood };
    for other in others {
        let own = if opens { other.score } else { (1.0 - first.score) * other.asked };
        other.score = own.min(first.score);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recommend::next_operations::{met, proposal, unmet};
    use lakeward_core::plan::{Plan, Step};
    use lakeward_core::request::Input;

    fn operations(doubtful: bool) -> Vec<RankedOperation> {
        let precondition = if doubtful { unmet("x") } else { met("x") };
        let runnable = Some(Plan::of(Input::Table("t".into())).then(Step::Distinct(Vec::new())));
        let first = proposal(OperationKind::Filter, vec![precondition], String::new());
        let other = |kind, asked| RankedOperation { asked, score: 0.2, ..proposal(kind, Vec::new(), String::new()) };
        vec![
            RankedOperation { score: 0.6, asked: 0.7, runnable, ..first },
            other(OperationKind::Join, 0.2),
            other(OperationKind::Aggregate, 0.1),
        ]
    }

    #[test]
    fn what_is_lost_or_rests_on_a_doubt_is_less_likely() {
        let likelihood = |certainty, lost, standing| {
            let mut operations = operations(lost);
            to_probabilities(&mut operations, Basis::Read { certainty, lost, standing }, &LikelihoodWeights::default());
            let scores: Vec<f64> = operations.iter().map(|operation| operation.score).collect();
            assert!(scores.iter().sum::<f64>() <= 1.0 + 1e-9 && scores.windows(2).all(|pair| pair[0] >= pair[1]));
            scores[0]
        };
        assert!((likelihood(0.8, false, 1.0) - 0.8).abs() < 1e-9);
        assert!(likelihood(0.8, true, 1.0) < 0.8);
        assert!((likelihood(0.8, false, 0.5) - 0.5).abs() < 1e-9);
        assert!((0.0..0.1).contains(&likelihood(0.1, true, 0.2)));
    }

    #[test]
    fn a_question_keeps_its_score() {
        let mut operations = operations(false);
        operations[0].kind = OperationKind::Clarify;
        to_probabilities(&mut operations, Basis::Fits, &LikelihoodWeights::default());
        assert!((operations[0].score - 0.6).abs() < 1e-9);
    }
}
