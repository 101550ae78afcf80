//! The final order of the candidates.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artifact::{Artifact, Malformed, at_most, read, short};
use super::candidate_set::{CandidateSet, MOST_CANDIDATES};
use super::report::REASON_CHARS;

/// The order of candidates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalRanking {
    /// Ids, best first; all of the candidates or the best of them.
    pub ranking: Vec<RankedId>,
    /// Why, by id; not all have a reason.
    pub reasons: BTreeMap<String, String>,
}

/// An id with the score that it was ranked by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RankedId {
    /// The table.
    pub id: String,
    /// Greater is better; comparable within one ranking only.
    pub score: f64,
}

impl FinalRanking {
    /// The ranking of `candidates` that `text` is. Candidates that it leaves out follow behind in their own order.
    ///
    /// # Errors
    /// [`Malformed`], also for ids that are no candidates, ids that stand twice, and scores that rise.
    pub fn accept(text: &str, candidates: &CandidateSet) -> Result<Self, Malformed> {
        let mut ranking: Self = read(text)?;
        at_most::<Self>("ids", ranking.ranking.len(), MOST_CANDIDATES)?;
        at_most::<Self>("reasons", ranking.reasons.len(), MOST_CANDIDATES)?;
        let known: BTreeSet<&str> = candidates.ids().collect();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for RankedId { id, score } in &ranking.ranking {
            let shown = super::shortened(id, 80);
            if !known.contains(id.as_str()) {
                return Err(Self::malformed(format!("`{shown}` is no candidate")));
            }
            if !score.is_finite() {
                return Err(Self::malformed("a score is no number"));
            }
            if !seen.insert(id.clone()) {
                return Err(Self::malformed(format!("`{shown}` stands twice")));
            }
        }
        if !ranking.ranking.is_sorted_by(|a, b| a.score >= b.score) {
            return Err(Self::malformed("its ids are not in the order of their scores"));
        }
        for (id, reason) in &ranking.reasons {
            if !known.contains(id.as_str()) {
                return Err(Self::malformed(format!("`{}` is no candidate", super::shortened(id, 80))));
            }
            short::<Self>("a reason", reason, REASON_CHARS)?;
        }
        let least = ranking.ranking.last().map_or(0.0, |last| last.score.min(0.0));
        let left_out = candidates.ids().filter(|id| !seen.contains(*id)).map(str::to_string);
        let behind: Vec<RankedId> = left_out.map(|id| RankedId { id, score: least }).collect();
        ranking.ranking.extend(behind);
        Ok(ranking)
    }

    /// The candidates in the order in which they were fused.
    pub fn as_fused(candidates: &CandidateSet) -> Self {
        let ranked = |id: &str, score: f64| RankedId { id: id.to_string(), score };
        let ranking = candidates.candidates.iter().map(|found| ranked(&found.id, found.score)).collect();
        Self { ranking, reasons: BTreeMap::new() }
    }
}
