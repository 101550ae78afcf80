//! The trained model: multinomial logistic regression over words, pairs of words, a sentence vector and a constant.
//!
//! File, little-endian: `LWFIELDS`, version u32, number of places u32, length of the sentence vector u32, temperature f32, greatest weight f32;
//! then the places (u32, ascending), their inverse document frequencies (f32), and the weights of places, of the vector's values and of the
//! constant, one signed byte a class as a share of the greatest weight.

use super::{CLASSES, Likelihoods};
use crate::signals::features::Counts;

/// The model in the binary, made by `lakeward train fields`.
pub static BUILTIN: &[u8] = include_bytes!("model.bin");

const MAGIC: &[u8] = b"LWFIELDS";
const VERSION: u32 = 1;
/// Numbers before the places.
const HEAD: usize = 5;

/// A trained model.
#[derive(Debug, Clone, Default)]
pub struct FieldModel {
    /// Used places of words, ascending.
    pub places: Vec<u32>,
    /// Inverse document frequency of each.
    pub idf: Vec<f32>,
    /// Weights by class: of each place, of each value of the sentence vector, of the constant.
    pub weights: Vec<[f32; CLASSES]>,
    /// What logits are divided by before they become probabilities.
    pub temperature: f32,
}

impl FieldModel {
    /// Reads a model file.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let body = bytes.strip_prefix(MAGIC).ok_or("not a model of fields")?;
        let number = |at: usize| body.get(at * 4..at * 4 + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
        let word = |at: usize| number(at).map(u32::from_le_bytes).ok_or("it is cut short");
        let real = |at: usize| number(at).map(f32::from_le_bytes).filter(|n| n.is_finite()).ok_or("it is cut short");
        if word(0)? != VERSION {
            return Err(format!("format version {}, this program reads {VERSION}", word(0)?));
        }
        let (count, dims) = (word(1)? as usize, word(2)? as usize);
        let (temperature, greatest) = (real(3)?, real(4)?);
        let start = (HEAD + 2 * count) * 4;
        if body.len() != start + (count + dims + 1) * CLASSES {
            return Err("its length does not fit its head".into());
        }
        let mut model = FieldModel { temperature, ..FieldModel::default() };
        for at in 0..count {
            model.places.push(word(HEAD + at)?);
            model.idf.push(real(HEAD + count + at)?);
        }
        for row in body[start..].chunks_exact(CLASSES) {
            let mut weights = [0.0; CLASSES];
            weights.iter_mut().zip(row).for_each(|(weight, byte)| *weight = f32::from(*byte as i8) / 127.0 * greatest);
            model.weights.push(weights);
        }
        if !model.places.is_sorted_by(|a, b| a < b) || temperature <= 0.0 {
            return Err("its numbers make no sense".into());
        }
        Ok(model)
    }

    /// The model as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let all = self.weights.iter().flatten();
        let greatest = all.clone().map(|weight| weight.abs()).fold(f32::MIN_POSITIVE, f32::max);
        let dims = self.weights.len() - self.places.len() - 1;
        let mut bytes = MAGIC.to_vec();
        for number in [VERSION, self.places.len() as u32, dims as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.temperature.to_le_bytes());
        bytes.extend(greatest.to_le_bytes());
        bytes.extend(self.places.iter().flat_map(|place| place.to_le_bytes()));
        bytes.extend(self.idf.iter().flat_map(|idf| idf.to_le_bytes()));
        bytes.extend(all.map(|weight| (weight / greatest * 127.0).round() as i8 as u8));
        bytes
    }

    /// The features of a question with its sentence vector: (place among the weights, value).
    pub(super) fn row(places: &[u32], idf: &[f32], words: &Counts, sentence: &[f32]) -> Vec<(usize, f32)> {
        let find = |place: u32| places.binary_search(&place).ok();
        let words = words.vector(|place| find(place).map(|at| idf[at]));
        let dense = sentence.iter().copied().chain([1.0]).enumerate().map(|(at, value)| (places.len() + at, value));
        words.into_iter().filter_map(|(place, value)| Some((find(place)?, value))).chain(dense).collect()
    }

    /// The logits of a question with its sentence vector.
    pub fn logits(&self, question: &str, sentence: &[f32]) -> [f32; CLASSES] {
        let mut logits = [0.0; CLASSES];
        for (at, value) in Self::row(&self.places, &self.idf, &Counts::of_words(question), sentence) {
            let Some(weights) = self.weights.get(at) else { continue };
            logits.iter_mut().zip(weights).for_each(|(logit, weight)| *logit += weight * value);
        }
        logits
    }

    /// How likely the question asks for each class.
    pub fn likelihoods(&self, question: &str, sentence: &[f32]) -> Likelihoods {
        Likelihoods::of(&self.logits(question, sentence), self.temperature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_survives_being_written_and_a_damaged_one_is_refused() {
        let model = FieldModel::parse(BUILTIN).unwrap();
        assert_eq!(model.to_bytes(), BUILTIN);
        for length in [0, 7, 12, 30, BUILTIN.len() - 1] {
            assert!(FieldModel::parse(&BUILTIN[..length]).is_err(), "{length}");
        }
        let mut other = BUILTIN.to_vec();
        other[8] = 9;
        assert!(FieldModel::parse(&other).unwrap_err().contains("version"));
    }
}
