//! What a candidate column of a join is scored by.

use super::context::Context;
use super::variants::VariantShare;
use crate::ranker::features;
use crate::weights::JoinEvidenceWeights;
use lakeward_index::overlap::Overlap;

features! {
    /// What a candidate column is scored by; each is halved where either column may join by accident. Where values agree, equal
    /// ones count in full and variants for less.
    JoinFeatures,
    /// How much each feature of a candidate column counts.
    JoinWeights {
        /// Weight of the query's values found by their rarity, as a share of all; those that have only a variant there (cut short,
        /// misspelt) count, too.
        rarity,
        /// Share of the query's values found equal.
        containment,
        /// Share of the candidate's values found, where many of the query's are.
        candidate_covered,
        /// Distinct values per cell of the candidate, where many of the query's values are found.
        candidate_unique,
        /// Likeness of the names, where values agree.
        same_name_and_values,
        /// Likeness of the names.
        name,
        /// Cosine of the columns' vectors above a half.
        meaning,
        /// Share of the two tables' other column names that both have, where the names of the two columns are alike.
        same_names_around,
        /// The same share, where values agree.
        same_names_around_values,
        /// Rows of the smaller table per row of the larger, where values agree.
        same_rows,
    }
}

/// What is known of a candidate column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    pub overlap: Option<Overlap>,
    pub variants: VariantShare,
    pub names: f64,
    pub cosine: f64,
    pub uniqueness: f64,
    /// Whether either column may join by accident.
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
        same_rows: 0.0,
    };

    pub(super) fn of(evidence: &Evidence, context: &Context, weights: &JoinEvidenceWeights) -> Self {
        let Evidence { overlap, variants, names, cosine, uniqueness, accidental } = *evidence;
        let weighed = |rarity: f64, share: f64| weights.by_rarity * rarity + weights.by_share * share;
        let (rarity, containment) = overlap.map_or((0.0, 0.0), |overlap| (overlap.rarity, overlap.containment()));
        let of_candidate = overlap.map_or(0.0, |overlap| overlap.containment_of_candidate());
        let alike = weighed(variants.rarity, variants.share);
        let values = (weighed(rarity, containment) + weights.variant * alike).min(1.0);
        let share = if accidental { weights.accidental } else { 1.0 };
        let meaning = (cosine - weights.least_meaning) / (1.0 - weights.least_meaning);
        Self {
            rarity: share * (rarity + alike).min(1.0),
            containment: share * containment,
            candidate_covered: share * values * (of_candidate + variants.of_candidate).min(1.0),
            candidate_unique: share * values * uniqueness,
            same_name_and_values: share * names * values.sqrt(),
            name: share * names,
            meaning: share * meaning.clamp(0.0, 1.0),
            same_names_around: share * names * context.names,
            same_names_around_values: share * values.sqrt() * context.names,
            same_rows: share * values * context.rows,
        }
    }
}
