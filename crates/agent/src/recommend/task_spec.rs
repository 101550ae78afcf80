//! What a table should be like for an intention: AIDEN's Table 1 (Taha, 2026), adjusted by what the request says outright.
//!
//! | intention | granularity | richness | compatibility |
//! |---|---|---|---|
//! | Exploration | either | few | optional |
//! | Prediction | instance | many | optional |
//! | Integration | either | many | required |
//! | Summarization | aggregate | few | optional |

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::request::{Demand, Intention, OperationKind, Ranked, in_role};
use lakeward_core::respect::Respect;
use lakeward_core::text::name_words;
use lakeward_search::weights::TurnWeights;

/// What a row should stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// Whatever it is.
    Either,
    /// One observed thing or event.
    Instance,
    /// A figure over a group.
    Aggregate,
}

/// How many informative columns there should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Richness {
    /// A handful.
    Few,
    /// As many as possible.
    Many,
}

/// Whether a table must go with the working table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compatibility {
    /// It need not.
    Optional,
    /// It must share a key or columns.
    Required,
}

/// U_t: what a table should be like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSpec {
    /// What a row should stand for.
    pub granularity: Granularity,
    /// How many informative columns.
    pub richness: Richness,
    /// Whether it must go with the working table.
    pub compatibility: Compatibility,
    /// What was changed against the table above, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjusted: Vec<String>,
}

/// Words of a wanted granularity that ask for single things.
const INSTANCE_WORDS: [&str; 11] =
    ["single", "individual", "raw", "record", "row", "instance", "incident", "transaction", "event", "person", "case"];

impl TaskSpec {
    /// The row of the table for `intention`.
    pub fn of(intention: Intention) -> Self {
        let (granularity, richness, compatibility) = match intention {
            Intention::Exploration => (Granularity::Either, Richness::Few, Compatibility::Optional),
            Intention::Prediction => (Granularity::Instance, Richness::Many, Compatibility::Optional),
            Intention::Integration => (Granularity::Either, Richness::Many, Compatibility::Required),
            Intention::Summarization => (Granularity::Aggregate, Richness::Few, Compatibility::Optional),
        };
        Self { granularity, richness, compatibility, adjusted: Vec::new() }
    }

    /// The specification after what was said outright: a granularity, and an operation that combines the working table
    /// (where there is one) with another.
    pub fn adjusted(
        mut self,
        operation: &Ranked<OperationKind>,
        demands: &[Demand],
        has_working: bool,
        weights: &TurnWeights,
    ) -> Self {
        let grains: Vec<&str> = in_role(demands, &Respect::Grain).collect();
        if !grains.is_empty() {
            let mut words = grains.iter().flat_map(|grain| name_words(grain));
            let is_single = words.any(|word| INSTANCE_WORDS.contains(&word.as_str()));
            let granularity = if is_single { Granularity::Instance } else { Granularity::Aggregate };
            if granularity != self.granularity {
                self.granularity = granularity;
                self.adjusted.push(format!("granularity: you asked for one row per {}", grains.join(", ")));
            }
        }
        let combines = operation.label.combines() && operation.confidence >= weights.combines;
        if combines && has_working && self.compatibility == Compatibility::Optional {
            self.compatibility = Compatibility::Required;
            self.adjusted.push("compatibility: another table is to be combined with yours".into());
        }
        if !has_working && self.compatibility == Compatibility::Required {
            self.compatibility = Compatibility::Optional;
            self.adjusted.push("compatibility: there is no working table yet to go with".into());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_intention_has_the_row_of_the_paper() {
        use {Compatibility::*, Granularity::*, Richness::*};
        for (intention, expected) in [
            (Intention::Exploration, (Either, Few, Optional)),
            (Intention::Prediction, (Instance, Many, Optional)),
            (Intention::Integration, (Either, Many, Required)),
            (Intention::Summarization, (Aggregate, Few, Optional)),
        ] {
            let spec = TaskSpec::of(intention);
            assert_eq!((spec.granularity, spec.richness, spec.compatibility), expected);
        }
    }

    #[test]
    fn what_is_said_outright_wins() {
        let sure = |label| Ranked { label, confidence: 0.9, all: vec![(label, 0.9)] };
        let per = |text: &str| vec![Demand::in_words(Respect::Grain, text, 1)];
        let spec = TaskSpec::of(Intention::Summarization);
        let (filter, weights) = (sure(OperationKind::Filter), &TurnWeights::default());
        assert_eq!(
            spec.clone().adjusted(&filter, &per("single sale"), true, weights).granularity,
            Granularity::Instance
        );
        let spec = TaskSpec::of(Intention::Prediction);
        assert_eq!(
            spec.clone().adjusted(&filter, &per("county-year"), true, weights).granularity,
            Granularity::Aggregate
        );
        let join = spec.clone().adjusted(&sure(OperationKind::Join), &[], true, weights);
        assert_eq!(join.compatibility, Compatibility::Required);
        assert_eq!(join.adjusted.len(), 1);
        let alone = TaskSpec::of(Intention::Integration).adjusted(&filter, &[], false, weights);
        assert_eq!(alone.compatibility, Compatibility::Optional);
    }
}
