//! Whether what was found is enough.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artifact::{Artifact, Malformed, at_most, read, spoken};
use super::plan::CONSTRAINT_CHARS;

/// Things missing at the most.
pub const MOST_MISSING: usize = 16;
/// Characters of a reason at the most.
pub const REASON_CHARS: usize = 500;

/// The verdict on a [`super::CandidateSet`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvaluationReport {
    /// Whether the search may end.
    pub sufficient: bool,
    /// Constraints and informative words of the request that no good candidate covers; none where it is sufficient.
    pub missing: Vec<String>,
    /// In a sentence.
    pub reason: String,
    /// What was measured.
    pub signals: Signals,
}

/// What can be measured of a set of candidates without judging it; shares in 0..=1. "The first" are the ten best.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signals {
    /// Candidates.
    pub candidates: usize,
    /// How far the score falls from the best to the last of the first, as a share of the best; mean over the lists of the request
    /// itself.
    pub drop: f64,
    /// How far the best stands above the mean of all that its list found, as a share of the best; mean over the same lists.
    pub gap: f64,
    /// Share of the first of one list that another list of the request has among its own first.
    pub agreement: f64,
    /// 1 - mean Jaccard likeness of titles and column names of the first.
    pub diversity: f64,
    /// Share of the request, by rarity of its words, that the first hold together.
    pub coverage: f64,
    /// The greatest share that one of the first holds.
    pub best_coverage: f64,
    /// Share of the constraints that one of the first meets.
    pub constraints_met: f64,
    /// 1 - mean rarity of the words that the first hold: near 1 they share common words only.
    pub genericity: f64,
    /// Share of the request's words that no table of the lake has.
    pub unknown: f64,
    /// How likely the best answer of a plain search serves, where that is known.
    pub relevance: Option<f64>,
}

impl EvaluationReport {
    /// The report that `text` is.
    ///
    /// # Errors
    /// [`Malformed`], also where it is sufficient and something is missing.
    pub fn accept(text: &str) -> Result<Self, Malformed> {
        let report: Self = read(text)?;
        report.check()?;
        Ok(report)
    }

    fn check(&self) -> Result<(), Malformed> {
        at_most::<Self>("things missing", self.missing.len(), MOST_MISSING)?;
        for missing in &self.missing {
            spoken::<Self>("a thing missing", missing, CONSTRAINT_CHARS)?;
        }
        spoken::<Self>("the reason", &self.reason, REASON_CHARS)?;
        if self.sufficient && !self.missing.is_empty() {
            return Err(Self::malformed("it is sufficient and says what is missing"));
        }
        let signals = &self.signals;
        for (name, share) in signals.shares() {
            if !(0.0..=1.0).contains(&share) {
                return Err(Self::malformed(format!("`{name}` is {share}, not a share")));
            }
        }
        Ok(())
    }
}

impl Signals {
    /// The shares by name.
    pub fn shares(&self) -> [(&'static str, f64); 10] {
        [
            ("drop", self.drop),
            ("gap", self.gap),
            ("agreement", self.agreement),
            ("diversity", self.diversity),
            ("coverage", self.coverage),
            ("best_coverage", self.best_coverage),
            ("constraints_met", self.constraints_met),
            ("genericity", self.genericity),
            ("unknown", self.unknown),
            ("relevance", self.relevance.unwrap_or_default()),
        ]
    }
}
