//! A column that may be joined, with what is known of it.

use super::context::Context;
use super::features::{Evidence, JoinFeatures};
use crate::weights::{JoinEvidenceWeights, RankingWeights};
use lakeward_index::{ColumnRef, TableRef};

/// A column of a live table that may be joined with one of the query's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub table: TableRef,
    pub column: ColumnRef,
    /// Its place among the columns asked for.
    pub asked: usize,
    /// How much the query's column counts among others that were tried, 0..=1.
    pub weight: f64,
    pub evidence: Evidence,
    /// What surrounds it, once that was looked at.
    pub context: Option<Context>,
}

impl Candidate {
    /// What tells it from other candidates.
    pub fn key(&self) -> (usize, ColumnRef) {
        (self.asked, self.column)
    }

    /// Its features; without its surroundings as if nothing there were alike.
    pub fn features(&self, weights: &JoinEvidenceWeights) -> JoinFeatures {
        JoinFeatures::of(&self.evidence, &self.context.unwrap_or_default(), weights)
    }

    /// Its score, 0..=1.
    pub fn score(&self, weights: &RankingWeights) -> f64 {
        self.weight * weights.join.score(&self.features(&weights.join_evidence))
    }

    /// The greatest score that it can have, whatever surrounds it.
    pub fn most(&self, weights: &RankingWeights) -> f64 {
        let context = self.context.unwrap_or(Context::GREATEST);
        self.weight * weights.join.score(&JoinFeatures::of(&self.evidence, &context, &weights.join_evidence))
    }
}
