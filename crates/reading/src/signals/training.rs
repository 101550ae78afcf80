//! Training the signal model on labelled requests, and how well it does on requests it was not trained on.
//!
//! Logistic regression ([`crate::logistic`]). Ten folds by a hash of the request's id give the held-out figures and
//! the temperature that calibrates confidences.

use std::collections::BTreeMap;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::classifier::{LABELS, SignalModel};
use super::features::{Counts, is_cue};
use crate::logistic::{calibration_error, descend, likeliest, softmax, temperature};
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Intention, Label, OperationKind};

const FOLDS: u64 = 10;
/// Words and letters of fewer requests are left out.
const LEAST_REQUESTS: u32 = 2;
/// C of the penalty, chosen by cross-validation.
const INVERSE_PENALTY: f32 = 10.0;

/// A labelled request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct LabelledRequest {
    /// Stable name.
    pub id: String,
    /// As typed.
    pub text: String,
    /// What it asks for.
    pub operation: OperationKind,
    /// What for.
    pub intention: Intention,
}

/// How well one of the two labels is told on held-out requests.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HeldOut {
    /// Names of the labels.
    pub labels: Vec<String>,
    /// Mean of the labels' F1, 0..=1.
    pub macro_f1: f64,
    /// Expected calibration error over ten bins of equal mass, 0..=1.
    pub calibration_error: f64,
    /// Requests by true label (row) and told label (column).
    pub confusion: Vec<Vec<u32>>,
}

/// What training came to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrainingReport {
    /// Labelled requests.
    pub requests: u64,
    /// Features with a weight.
    pub features: u64,
    /// Held-out figures for the operation.
    pub operation: HeldOut,
    /// Held-out figures for the intention.
    pub intention: HeldOut,
}

/// Reads labelled requests, one JSON object a line.
///
/// # Errors
/// [`Error::Usage`] with the line that is none.
pub fn parse(text: &str) -> Result<Vec<LabelledRequest>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line)
                .map_err(|error| Error::usage(format!("line {} is no labelled request: {error}", at + 1)))
        })
        .collect()
}

/// Trains a model on `requests` and measures it by cross-validation.
///
/// # Errors
/// [`Error::Usage`] when a label has too few requests to leave some out.
pub fn train(requests: &[LabelledRequest]) -> Result<(SignalModel, TrainingReport)> {
    for label in OperationKind::ALL {
        enough(label.name(), requests.iter().filter(|request| request.operation == *label).count())?;
    }
    for label in Intention::ALL {
        enough(label.name(), requests.iter().filter(|request| request.intention == *label).count())?;
    }
    let counts: Vec<Counts> = requests.par_iter().map(|request| Counts::of(&request.text)).collect();
    let fold_of = |request: &LabelledRequest| xxh3_64(request.id.as_bytes()) % FOLDS;
    let held_out: Vec<(usize, [f32; LABELS])> = (0..FOLDS)
        .into_par_iter()
        .flat_map_iter(|fold| {
            let inside: Vec<usize> = (0..requests.len()).filter(|at| fold_of(&requests[*at]) != fold).collect();
            let model = fit(requests, &counts, &inside);
            let outside = (0..requests.len()).filter(move |at| fold_of(&requests[*at]) == fold);
            outside.map(|at| (at, model.logits(&requests[at].text))).collect::<Vec<_>>()
        })
        .collect();
    let all: Vec<usize> = (0..requests.len()).collect();
    let mut model = fit(requests, &counts, &all);
    let operations = OperationKind::ALL.len();
    let (temperature, operation) =
        measure::<OperationKind>(&held_out, 0..operations, |at| requests[at].operation.place());
    model.temperatures[0] = temperature;
    let (temperature, intention) =
        measure::<Intention>(&held_out, operations..LABELS, |at| requests[at].intention.place());
    model.temperatures[1] = temperature;
    let report =
        TrainingReport { requests: requests.len() as u64, features: model.places.len() as u64, operation, intention };
    Ok((model, report))
}

fn enough(label: &str, count: usize) -> Result<()> {
    if count >= 2 * FOLDS as usize {
        return Ok(());
    }
    Err(Error::usage(format!("only {count} requests are labelled `{label}`; {} are needed", 2 * FOLDS)))
}

/// A model of the requests at `inside`, uncalibrated.
fn fit(requests: &[LabelledRequest], counts: &[Counts], inside: &[usize]) -> SignalModel {
    let mut frequency: BTreeMap<u32, u32> = BTreeMap::new();
    for at in inside {
        for place in counts[*at].places() {
            *frequency.entry(place).or_default() += 1;
        }
    }
    let total = inside.len() as f32;
    let idf: BTreeMap<u32, f32> = frequency
        .into_iter()
        .filter(|(_, requests)| *requests >= LEAST_REQUESTS)
        .map(|(place, requests)| (place, ((1.0 + total) / (1.0 + requests as f32)).ln() + 1.0))
        .collect();
    let vectors: Vec<Vec<(u32, f32)>> =
        inside.iter().map(|at| counts[*at].vector(|place| idf.get(&place).copied())).collect();
    let mut places: Vec<u32> = vectors.iter().flatten().map(|(place, _)| *place).collect();
    places.sort_unstable();
    places.dedup();
    let rows: Vec<Vec<(usize, f32)>> = vectors
        .iter()
        .map(|vector| {
            vector.iter().filter_map(|(place, value)| Some((places.binary_search(place).ok()?, *value))).collect()
        })
        .collect();
    let operations = OperationKind::ALL.len();
    let truths = inside.iter().map(|at| {
        let mut truth = [0.0; LABELS];
        truth[requests[*at].operation.place()] = 1.0;
        truth[operations + requests[*at].intention.place()] = 1.0;
        truth
    });
    let groups = [0..operations, operations..LABELS];
    let weights = descend(&rows, &truths.collect::<Vec<_>>(), &groups, places.len(), INVERSE_PENALTY);
    let idf = places.iter().map(|place| if is_cue(*place) { 1.0 } else { idf.get(place).copied().unwrap_or(1.0) });
    SignalModel { idf: idf.collect(), places, weights, temperatures: [1.0; 2] }
}

/// The temperature of least cross-entropy on held-out requests, and the figures with it.
fn measure<L: Label>(
    held_out: &[(usize, [f32; LABELS])],
    labels: std::ops::Range<usize>,
    truth: impl Fn(usize) -> usize,
) -> (f32, HeldOut) {
    let temperature = temperature(|temperature| {
        let losses = held_out
            .iter()
            .map(|(at, logits)| -softmax(&logits[labels.clone()], temperature)[truth(*at)].max(1e-12).ln());
        losses.sum()
    });
    let mut confusion = vec![vec![0u32; L::ALL.len()]; L::ALL.len()];
    let mut predictions: Vec<(f64, bool)> = Vec::with_capacity(held_out.len());
    for (at, logits) in held_out {
        let probabilities = softmax(&logits[labels.clone()], temperature);
        let best = likeliest(&probabilities);
        confusion[truth(*at)][best] += 1;
        predictions.push((probabilities[best], best == truth(*at)));
    }
    let held_out = HeldOut {
        labels: L::ALL.iter().map(|label| label.name().to_string()).collect(),
        macro_f1: macro_f1(&confusion),
        calibration_error: calibration_error(predictions),
        confusion,
    };
    (temperature, held_out)
}

/// Mean over the labels of 2·right / (predicted + true); rows are true labels.
fn macro_f1(confusion: &[Vec<u32>]) -> f64 {
    let scores = (0..confusion.len()).map(|label| {
        let right = f64::from(confusion[label][label]);
        let true_ones: f64 = confusion[label].iter().map(|count| f64::from(*count)).sum();
        let predicted: f64 = confusion.iter().map(|row| f64::from(row[label])).sum();
        if right == 0.0 { 0.0 } else { 2.0 * right / (predicted + true_ones) }
    });
    scores.sum::<f64>() / confusion.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_their_definitions() {
        // F1 of the first label: 2·3 / (4 + 4), of the second 2·5 / (6 + 6).
        let f1 = macro_f1(&[vec![3, 1], vec![1, 5]]);
        assert!((f1 - (0.75 + 10.0 / 12.0) / 2.0).abs() < 1e-12);
        assert_eq!(macro_f1(&[vec![0, 2], vec![0, 0]]), 0.0);
    }

    #[test]
    fn too_few_or_broken_labels_are_refused() {
        assert!(parse("{\"id\": 1}").is_err());
        let one = r#"{"id": "x", "text": "how many", "operation": "Aggregate", "intention": "Summarization"}"#;
        let requests = parse(&format!("{one}\n\n{one}\n")).unwrap();
        assert_eq!(requests.len(), 2);
        assert!(train(&requests).unwrap_err().to_string().contains("Filter"));
    }
}
