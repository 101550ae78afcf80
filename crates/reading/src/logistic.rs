//! Multinomial logistic regression with an L2 penalty, by full-batch Adam from zero: no randomness, so the same
//! examples give the same weights; and the temperature (Guo et al., ICML 2017) that calibrates its probabilities.

use std::ops::Range;

const STEPS: i32 = 300;
const RATE: f32 = 0.1;
/// Bins of equal mass for the calibration error.
const BINS: usize = 10;

/// Probabilities of logits: exp(l/T) over their sum.
pub fn softmax(logits: &[f32], temperature: f32) -> Vec<f64> {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = logits.iter().map(|logit| f64::from((logit - greatest) / temperature).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// The place of the greatest probability.
pub fn likeliest(probabilities: &[f64]) -> usize {
    (0..probabilities.len()).max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b])).unwrap_or(0)
}

/// The weights that minimise the mean cross-entropy of all `groups` of labels, plus |weights|² / (2 · `inverse_penalty` · rows). Rows have (feature,
/// value); truths have a probability for each label.
pub fn descend<const LABELS: usize>(
    rows: &[Vec<(usize, f32)>],
    truths: &[[f32; LABELS]],
    groups: &[Range<usize>],
    features: usize,
    inverse_penalty: f32,
) -> Vec<[f32; LABELS]> {
    const MOMENTS: [f32; 2] = [0.9, 0.999];
    let penalty = 1.0 / (inverse_penalty * rows.len() as f32);
    let mut weights = vec![[0.0f32; LABELS]; features];
    let (mut first, mut second) = (weights.clone(), weights.clone());
    let mut gradient = weights.clone();
    for step in 1..=STEPS {
        for (slope, weight) in gradient.iter_mut().zip(&weights) {
            slope.iter_mut().zip(weight).for_each(|(slope, weight)| *slope = penalty * weight);
        }
        for (row, truth) in rows.iter().zip(truths) {
            let mut logits = [0.0; LABELS];
            for (place, value) in row {
                logits.iter_mut().zip(&weights[*place]).for_each(|(logit, weight)| *logit += weight * value);
            }
            let mut error = [0.0f32; LABELS];
            for group in groups {
                for (at, probability) in group.clone().zip(softmax(&logits[group.clone()], 1.0)) {
                    error[at] = (probability as f32 - truth[at]) / rows.len() as f32;
                }
            }
            for (place, value) in row {
                gradient[*place].iter_mut().zip(&error).for_each(|(slope, error)| *slope += error * value);
            }
        }
        let rate = RATE * (1.0 - MOMENTS[1].powi(step)).sqrt() / (1.0 - MOMENTS[0].powi(step));
        for at in 0..features {
            for label in 0..LABELS {
                let slope = gradient[at][label];
                first[at][label] = MOMENTS[0] * first[at][label] + (1.0 - MOMENTS[0]) * slope;
                second[at][label] = MOMENTS[1] * second[at][label] + (1.0 - MOMENTS[1]) * slope * slope;
                weights[at][label] -= rate * first[at][label] / (second[at][label].sqrt() + 1e-8);
            }
        }
    }
    weights
}

/// The temperature of least loss.
pub fn temperature(loss: impl Fn(f32) -> f64) -> f32 {
    let candidates = (-20..=20).map(|power| 1.1f32.powi(power));
    candidates.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(1.0)
}

/// Mean over bins of equal mass of |confidence − share right|, weighed by the bins' sizes.
pub fn calibration_error(mut predictions: Vec<(f64, bool)>) -> f64 {
    predictions.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bins = (0..BINS).map(|bin| &predictions[predictions.len() * bin / BINS..predictions.len() * (bin + 1) / BINS]);
    let gaps = bins.map(|bin| {
        let confidence: f64 = bin.iter().map(|(confidence, _)| confidence).sum();
        let right = bin.iter().filter(|(_, right)| *right).count() as f64;
        (confidence - right).abs()
    });
    gaps.sum::<f64>() / predictions.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_errors_are_those_of_their_definition() {
        let honest: Vec<(f64, bool)> = (0..1000).map(|at| (0.7, at % 10 < 7)).collect();
        assert!(calibration_error(honest) < 0.01);
        let boastful: Vec<(f64, bool)> = (0..1000).map(|at| (0.9, at % 2 == 0)).collect();
        assert!((calibration_error(boastful) - 0.4).abs() < 0.01);
    }

    #[test]
    fn weights_tell_what_can_be_told() {
        let rows: Vec<Vec<(usize, f32)>> = (0..30).map(|at| vec![(at % 3, 1.0)]).collect();
        let truths: Vec<[f32; 3]> = (0..30)
            .map(|at| {
                let mut truth = [0.0; 3];
                truth[at % 3] = 1.0;
                truth
            })
            .collect();
        let weights = descend(&rows, &truths, std::slice::from_ref(&(0..3)), 3, 10.0);
        for (at, row) in weights.iter().enumerate() {
            assert_eq!(likeliest(&softmax(row, 1.0)), at);
        }
    }
}
