//! How well labels are told: F1 by label, its macro average, and who is taken for whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::request::Label;

/// Counts of true labels (rows) by told labels (columns), and what follows from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabelScores {
    /// Names of the labels, in the order of rows and columns.
    pub labels: Vec<String>,
    /// Cases by true label (row) and told label (column).
    pub confusion: Vec<Vec<u64>>,
    /// F1 of each label, 0..=1; 0 for a label never told rightly.
    pub f1: Vec<f64>,
    /// Mean F1 of the labels that occur as true or told ones (as scikit-learn's macro average), 0..=1.
    pub macro_f1: f64,
    /// Share of cases told rightly, 0..=1.
    pub accuracy: f64,
}

impl LabelScores {
    /// Of `cases`: (true label, told label). None without a case.
    pub fn of<L: Label>(cases: &[(L, L)]) -> Option<Self> {
        if cases.is_empty() {
            return None;
        }
        let size = L::ALL.len();
        let mut confusion = vec![vec![0u64; size]; size];
        for (gold, told) in cases {
            confusion[gold.place()][told.place()] += 1;
        }
        let rights = |label: usize| confusion[label][label];
        let golds = |label: usize| confusion[label].iter().sum::<u64>();
        let tolds = |label: usize| confusion.iter().map(|row| row[label]).sum::<u64>();
        let f1: Vec<f64> = (0..size)
            .map(|label| match golds(label) + tolds(label) {
                0 => 0.0,
                both => 2.0 * rights(label) as f64 / both as f64,
            })
            .collect();
        let met: Vec<f64> =
            (0..size).filter(|label| golds(*label) + tolds(*label) > 0).map(|label| f1[label]).collect();
        Some(Self {
            labels: L::ALL.iter().map(|label| label.name().to_string()).collect(),
            macro_f1: met.iter().sum::<f64>() / met.len() as f64,
            accuracy: (0..size).map(rights).sum::<u64>() as f64 / cases.len() as f64,
            f1,
            confusion,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_core::request::Intention::{self, Exploration, Integration, Prediction};

    #[test]
    fn the_macro_average_is_over_the_labels_that_occur() {
        // Worked out by hand: Exploration P 1/2, R 1/1 → 2/3; Prediction P 1/1, R 1/2 → 2/3; Integration 1; none summarises.
        let cases = [
            (Exploration, Exploration),
            (Prediction, Exploration),
            (Prediction, Prediction),
            (Integration, Integration),
        ];
        let scores = LabelScores::of::<Intention>(&cases).unwrap();
        assert!((scores.macro_f1 - (2.0 / 3.0 + 2.0 / 3.0 + 1.0) / 3.0).abs() < 1e-12, "{scores:?}");
        assert!((scores.accuracy - 0.75).abs() < 1e-12);
        assert_eq!(scores.confusion[Prediction.place()][Exploration.place()], 1);
        assert_eq!(LabelScores::of::<Intention>(&[]), None);
    }
}
