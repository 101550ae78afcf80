//! Linear rankers: a score is the weighted mean of named features, each in 0..=1.
//!
//! Linear, so that every answer can say what it was ranked by, weights learned on small judged sets carry over to other lakes,
//! and what a candidate can score at most follows from what its features can be at most. What is not linear, such as a like
//! name that counts only where values agree, is a feature of its own.

/// Declares the features of a ranker and, with the same fields, its weights.
///
/// The features get `NAMES` (in order) and `values()`; the weights get `score()`, `from_values()` and `values()`. Weights are
/// 0 or more; the score divides by their sum, so only their proportions matter and it stays in 0..=1.
macro_rules! features {
    (
        $(#[$features_doc:meta])* $features:ident,
        $(#[$weights_doc:meta])* $weights:ident {
            $($(#[$field_doc:meta])* $field:ident),+ $(,)?
        }
    ) => {
        $(#[$features_doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        // Answers that were kept before a feature was known stay readable.
        #[serde(default)]
        pub struct $features {
            $($(#[$field_doc])* pub $field: f64),+
        }

        impl $features {
            /// The features' names, in the order of their values.
            pub const NAMES: &[&str] = &[$(stringify!($field)),+];

            /// The features' values, in the order of their names.
            pub fn values(&self) -> Vec<f64> {
                vec![$(self.$field),+]
            }
        }

        $(#[$weights_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $weights {
            // A file from before a feature was known has it with 0.
            $($(#[$field_doc])* #[serde(default)] pub $field: f64),+
        }

        impl $weights {
            /// The weighted mean of the features, 0..=1.
            pub fn score(&self, features: &$features) -> f64 {
                let sum = 0.0 $(+ self.$field)+;
                let weighted = 0.0 $(+ self.$field * features.$field)+;
                weighted / f64::max(sum, f64::MIN_POSITIVE)
            }

            /// Weights from their values, in the order of the features' names; missing ones are 0.
            pub fn from_values(values: &[f64]) -> Self {
                let mut values = values.iter().copied();
                Self { $($field: values.next().unwrap_or(0.0)),+ }
            }

            /// The weights, in the order of the features' names.
            pub fn values(&self) -> Vec<f64> {
                vec![$(self.$field),+]
            }
        }
    };
}

pub(crate) use features;

#[cfg(test)]
mod tests {
    features! {
        /// Two features.
        TestFeatures,
        /// Their weights.
        TestWeights {
            /// The first.
            first,
            /// The second.
            second,
        }
    }

    #[test]
    fn only_the_proportions_of_weights_matter() {
        let features = TestFeatures { first: 1.0, second: 0.5 };
        assert_eq!(TestFeatures::NAMES, ["first", "second"]);
        assert_eq!(features.values(), [1.0, 0.5]);
        let weights = TestWeights::from_values(&[1.0, 3.0]);
        assert!((weights.score(&features) - 0.625).abs() < 1e-12);
        assert_eq!(TestWeights::from_values(&[2.0, 6.0]).score(&features), weights.score(&features));
        assert_eq!(TestWeights::from_values(&[]).score(&features), 0.0);
        assert_eq!(TestWeights::from_values(&weights.values()), weights);
    }
}
