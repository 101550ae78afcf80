//! A column that may be joined, with its evidence.

use super::context::Context;
use super::features::{Evidence, JoinFeatures};
use crate::weights::{JoinEvidenceWeights, RankingWeights};
use lakeward_index::{ColumnRef, TableRef};

/// A column of a live table that may be joined with one of the query's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub table: TableRef,
    pub column: ColumnRef,
    /// The number of its key column.
    pub key_column: usize,
    /// Weight of the key column among those tried, 0..=1.
    pub weight: f64,
    pub evidence: Evidence,
    /// Whether a database declares the two columns to hold the same key.
    pub declared: bool,
    /// Its context, once computed.
    pub context: Option<Context>,
}

impl Candidate {
    /// Identifies the candidate: its key column and its column.
    pub fn key(&self) -> (usize, ColumnRef) {
        (self.key_column, self.column)
    }

    /// Its features; before its context is computed, as if the tables had nothing in common.
    pub fn features(&self, weights: &JoinEvidenceWeights) -> JoinFeatures {
        JoinFeatures::of(&self.evidence, &self.context.unwrap_or_default(), weights)
    }

    /// Its score, 0..=1; 1 where it is declared, whatever the values.
    pub fn score(&self, weights: &RankingWeights) -> f64 {
        if self.declared {
            return 1.0;
        }
        self.weight * weights.join.score(&self.features(&weights.join_evidence))
    }

    /// Upper bound of its score, for any context.
    pub fn bound(&self, weights: &RankingWeights) -> f64 {
        if self.declared {
            return 1.0;
        }
        let context = self.context.unwrap_or(Context::GREATEST);
        self.weight * weights.join.score(&JoinFeatures::of(&self.evidence, &context, &weights.join_evidence))
    }
}
