//! The trained model: multinomial logistic regression for the operation and for the intention over the same features.
//!
//! File, little-endian: `LWSIGNAL`, version u32, number of places u32, then a temperature (f32) and a greatest weight (f32) for
//! each of the two; then the places (u32, ascending), their inverse document frequencies (f32), and their weights, one signed byte
//! a label (operations, then intentions) as a share of the greatest weight.

use lakeward_core::request::{Intention, Label, OperationKind};

use super::Ranked;
use super::features::Counts;
use crate::logistic::softmax;

/// The model in the binary, made by `lakeward train signals`.
pub static BUILTIN: &[u8] = include_bytes!("model.bin");

const MAGIC: &[u8] = b"LWSIGNAL";
const VERSION: u32 = 1;
/// Labels of both kinds.
pub const LABELS: usize = OperationKind::ALL.len() + Intention::ALL.len();

/// A trained model.
#[derive(Debug, Clone, Default)]
pub struct SignalModel {
    /// Used places, ascending.
    pub places: Vec<u32>,
    /// Inverse document frequency of each; 1 for cues.
    pub idf: Vec<f32>,
    /// Weights of each place, a label after the other: operations, then intentions.
    pub weights: Vec<[f32; LABELS]>,
    /// What logits are divided by before they become probabilities: of operations, of intentions.
    pub temperatures: [f32; 2],
}

impl SignalModel {
    /// Reads a model file.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let body = bytes.strip_prefix(MAGIC).ok_or("not a signal model")?;
        let number = |at: usize| body.get(at * 4..at * 4 + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
        let word = |at: usize| number(at).map(u32::from_le_bytes).ok_or("it is cut short");
        let real = |at: usize| number(at).map(f32::from_le_bytes).filter(|n| n.is_finite()).ok_or("it is cut short");
        if word(0)? != VERSION {
            return Err(format!("format version {}, this program reads {VERSION}", word(0)?));
        }
        let count = word(1)? as usize;
        let head = 6;
        let weights = body.len().saturating_sub((head + 2 * count) * 4);
        if count > 0 && weights.is_multiple_of(count) && weights / count != LABELS && weights > 0 {
            let labels = weights / count;
            return Err(format!(
                "it knows {labels} labels, this program {LABELS}; `lakeward train signals` makes it anew"
            ));
        }
        if body.len() != (head + 2 * count) * 4 + count * LABELS {
            return Err("its length does not fit its head".into());
        }
        let (temperatures, greatest) = ([real(2)?, real(4)?], [real(3)?, real(5)?]);
        let mut model = SignalModel { temperatures, ..SignalModel::default() };
        let bytes_start = (head + 2 * count) * 4;
        for at in 0..count {
            model.places.push(word(head + at)?);
            model.idf.push(real(head + count + at)?);
            let row = &body[bytes_start + at * LABELS..][..LABELS];
            let mut weights = [0.0; LABELS];
            for (label, (weight, byte)) in weights.iter_mut().zip(row).enumerate() {
                *weight = f32::from(*byte as i8) / 127.0 * greatest[usize::from(label >= OperationKind::ALL.len())];
            }
            model.weights.push(weights);
        }
        if !model.places.is_sorted_by(|a, b| a < b) || temperatures.iter().any(|t| *t <= 0.0) {
            return Err("its numbers make no sense".into());
        }
        Ok(model)
    }

    /// The model as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let operations = OperationKind::ALL.len();
        let greatest = |labels: std::ops::Range<usize>| {
            let weights = self.weights.iter().flat_map(|row| row[labels.clone()].iter().map(|weight| weight.abs()));
            weights.fold(f32::MIN_POSITIVE, f32::max)
        };
        let greatest = [greatest(0..operations), greatest(operations..LABELS)];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((self.places.len() as u32).to_le_bytes());
        for (temperature, greatest) in self.temperatures.iter().zip(greatest) {
            bytes.extend(temperature.to_le_bytes());
            bytes.extend(greatest.to_le_bytes());
        }
        bytes.extend(self.places.iter().flat_map(|place| place.to_le_bytes()));
        bytes.extend(self.idf.iter().flat_map(|idf| idf.to_le_bytes()));
        for row in &self.weights {
            let scaled = |(label, weight): (usize, &f32)| {
                (weight / greatest[usize::from(label >= operations)] * 127.0).round() as i8 as u8
            };
            bytes.extend(row.iter().enumerate().map(scaled));
        }
        bytes
    }

    /// The logits of `text`: operations, then intentions.
    pub fn logits(&self, text: &str) -> [f32; LABELS] {
        let counts = Counts::of(text);
        let find = |place: u32| self.places.binary_search(&place).ok();
        let mut logits = [0.0; LABELS];
        for (place, value) in counts.vector(|place| find(place).map(|at| self.idf[at])) {
            let Some(at) = find(place) else { continue };
            logits.iter_mut().zip(&self.weights[at]).for_each(|(logit, weight)| *logit += weight * value);
        }
        logits
    }

    /// What `text` asks for, and what for.
    pub fn rank(&self, text: &str) -> (Ranked<OperationKind>, Ranked<Intention>) {
        let logits = self.logits(text);
        let (operations, intentions) = logits.split_at(OperationKind::ALL.len());
        (ranked(&softmax(operations, self.temperatures[0])), ranked(&softmax(intentions, self.temperatures[1])))
    }
}

fn ranked<L: Label>(probabilities: &[f64]) -> Ranked<L> {
    Ranked::of(L::ALL.iter().copied().zip(probabilities.iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_model_reads_plain_requests() {
        let model = SignalModel::parse(BUILTIN).unwrap();
        for (text, operation, intention) in [
            ("How many accidents were there per district in 2021?", OperationKind::Aggregate, Intention::Summarization),
            (
                "Append the 2019 rows, my classifier needs more training examples",
                OperationKind::Union,
                Intention::Prediction,
            ),
            (
                "show me all schools in Leeds built before 1950, I just want to look",
                OperationKind::Filter,
                Intention::Exploration,
            ),
            (
                "attach the owner's name and address to every parcel in my list, matched by parcel id",
                OperationKind::Join,
                Intention::Integration,
            ),
        ] {
            let (ranked, purpose) = model.rank(text);
            assert_eq!((ranked.label, purpose.label), (operation, intention), "{text}");
            let sum: f64 = ranked.all.iter().map(|(_, probability)| probability).sum();
            assert!((sum - 1.0).abs() < 1e-9 && ranked.confidence > 0.2);
        }
        assert_eq!(SignalModel::parse(&model.to_bytes()).unwrap().places, model.places);
    }

    #[test]
    fn a_damaged_model_is_refused() {
        for length in [0, 7, 12, 40, BUILTIN.len() - 1] {
            assert!(SignalModel::parse(&BUILTIN[..length]).is_err(), "{length}");
        }
        let places = SignalModel::parse(BUILTIN).unwrap().places.len();
        let of_fewer_labels = SignalModel::parse(&BUILTIN[..BUILTIN.len() - places]).unwrap_err();
        assert!(of_fewer_labels.contains("train signals"), "{of_fewer_labels}");
    }
}
