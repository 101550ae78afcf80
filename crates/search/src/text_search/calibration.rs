//! How likely the answers of one search serve: a probability from the best cosines of the search and from each answer's score.

use super::ranking::Ranked;
use crate::weights::CalibrationWeights;

/// How likely the answers of one search serve. Which cosine is a good one differs from request to request, so what counts is the best
/// one beside that of the [nearest of many datasets](crate::world); then how far an answer is behind the best.
pub(super) struct Calibration<'w> {
    weights: &'w CalibrationWeights,
    /// The log-odds of the best answer.
    best: f64,
    /// Its score.
    score: f64,
}

impl<'w> Calibration<'w> {
    /// That of a ranking for a request that is this near to the world, -1..=1.
    pub fn of(ranked: &[Ranked], world: Option<f64>, weights: &'w CalibrationWeights) -> Self {
        let about = ranked.iter().take(weights.best_tables).map(|ranked| ranked.about).fold(0.0, f64::max);
        Self {
            weights,
            best: weights.about * about - weights.world * world.unwrap_or(weights.usual_world) - weights.offset,
            score: ranked.iter().map(|ranked| ranked.score).fold(0.0, f64::max),
        }
    }

    /// The probability that the answer with this score serves; that it is called what was asked for settles it.
    pub fn relevance(&self, score: f64, exact: bool) -> f64 {
        if exact { 1.0 } else { 1.0 / (1.0 + (self.weights.behind * (self.score - score) - self.best).exp()) }
    }
}
