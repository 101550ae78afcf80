//! The features by which a candidate column of a join is scored.

use super::context::Context;
use super::variants::VariantShare;
use crate::ranker::features;
use crate::weights::JoinEvidenceWeights;
use lakeward_index::overlap::Overlap;

features! {
    /// The features by which a candidate column is scored; each is halved where either column may match by chance. Among matching
    /// values, equal ones count in full and variants less.
    JoinFeatures,
    /// Weight of each feature of a candidate column.
    JoinWeights {
        /// Rarity weight of the query's values found, as a share of that of all its values; values of which only a variant is found
        /// (cut short, misspelt) count, too.
        rarity,
        /// Share of the query's values found equal.
        containment,
        /// Share of the candidate's values found, where many of the query's are.
        candidate_covered,
        /// Distinct values per cell of the candidate, where many of the query's values are found.
        candidate_unique,
        /// Likeness of the names, where values match.
        same_name_and_values,
        /// Likeness of the names.
        name,
        /// Cosine of the columns' vectors above a half.
        meaning,
        /// Share of the two tables' other column names that both have, where the names of the two columns are similar.
        same_names_around,
        /// The same share, where values match.
        same_names_around_values,
    }
}

/// The evidence for a candidate column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    pub overlap: Option<Overlap>,
    pub variants: VariantShare,
    pub names: f64,
    pub cosine: f64,
    pub uniqueness: f64,
    /// Whether either column may match by chance.
    pub accidental: bool,
}

impl JoinFeatures {
    /// The greatest features of a column that shares no value.
    pub(super) const WITHOUT_VALUES: Self = Self {
        rarity: 0.0,
        containment: 0.0,
        candidate_covered: 0.0,
        candidate_unique: 0.0,
        same_name_and_values: 0.0,
        name: 1.0,
        meaning: 1.0,
        same_names_around: 1.0,
        same_names_around_values: 0.0,
    };

    pub(super) fn of(evidence: &Evidence, context: &Context, weights: &JoinEvidenceWeights) -> Self {
        let Evidence { overlap, variants, names, cosine, uniqueness, accidental } = *evidence;
        let weighed = |rarity: f64, share: f64| weights.by_rarity * rarity + weights.by_share * share;
        let (rarity, containment) = overlap.map_or((0.0, 0.0), |overlap| (overlap.rarity, overlap.containment()));
        let of_candidate = overlap.map_or(0.0, |overlap| overlap.containment_of_candidate());
        let by_variants = weighed(variants.rarity, variants.share);
        let values = (weighed(rarity, containment) + weights.variant * by_variants).min(1.0);
        let share = if accidental { weights.accidental } else { 1.0 };
        let meaning = (cosine - weights.least_meaning) / (1.0 - weights.least_meaning);
        Self {
            rarity: share * (rarity + by_variants).min(1.0),
            containment: share * containment,
            candidate_covered: share * values * (of_candidate + variants.of_candidate).min(1.0),
            candidate_unique: share * values * uniqueness,
            same_name_and_values: share * names * values.sqrt(),
            name: share * names,
            meaning: share * meaning.clamp(0.0, 1.0),
            same_names_around: share * names * context.names,
            same_names_around_values: share * values.sqrt() * context.names,
        }
    }
}
