//! Scores of predicted labels: F1 by label, its macro average, and the confusion matrix.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lakeward_core::request::Label;

/// The confusion matrix of true (rows) and predicted labels (columns), and the scores derived from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabelScores {
    /// Names of the labels, in the order of rows and columns.
    pub labels: Vec<String>,
    /// Cases by true label (row) and predicted label (column).
    pub confusion: Vec<Vec<u64>>,
    /// F1 of each label, 0..=1; 0 for a label never predicted correctly.
    pub f1: Vec<f64>,
    /// Mean F1 of the labels that occur as true or predicted (as scikit-learn's macro average), 0..=1.
    pub macro_f1: f64,
    /// Share of cases predicted correctly, 0..=1.
    pub accuracy: f64,
}

impl LabelScores {
    /// Scores `cases` of (true label, predicted label). `None` without a case.
    pub fn of<L: Label>(cases: &[(L, L)]) -> Option<Self> {
        if cases.is_empty() {
            return None;
        }
        let size = L::ALL.len();
        let mut confusion = vec![vec![0u64; size]; size];
        for (gold, predicted) in cases {
            confusion[gold.place()][predicted.place()] += 1;
        }
        let correct = |label: usize| confusion[label][label];
        let true_count = |label: usize| confusion[label].iter().sum::<u64>();
        let predicted_count = |label: usize| confusion.iter().map(|row| row[label]).sum::<u64>();
        let f1: Vec<f64> = (0..size)
            .map(|label| match true_count(label) + predicted_count(label) {
                0 => 0.0,
                both => 2.0 * correct(label) as f64 / both as f64,
            })
            .collect();
        let occurring: Vec<f64> =
            (0..size).filter(|label| true_count(*label) + predicted_count(*label) > 0).map(|label| f1[label]).collect();
        Some(Self {
            labels: L::ALL.iter().map(|label| label.name().to_string()).collect(),
            macro_f1: occurring.iter().sum::<f64>() / occurring.len() as f64,
            accuracy: (0..size).map(correct).sum::<u64>() as f64 / cases.len() as f64,
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
