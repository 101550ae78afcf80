//! How near a request comes to datasets of all kinds, which the lake need not have.
//!
//! A cosine alone does not say whether a lake has what is asked for: of some requests everything is near, of others nothing. Beside it
//! stands the cosine with the nearest of 3,533 made-up datasets of many fields (labels/asks): where that is nearer than all of the lake,
//! what is asked for is rather elsewhere (eval/search.md).
//!
//! The file has a row a dataset, of what it is about ([`lakeward_index::meanings`]), two bits a value: below minus one standard
//! deviation, below 0, below one, above. A test makes and checks it.

use std::sync::OnceLock;

use lakeward_index::vectors::byte_dot;
use lakeward_models::embed::{Embedder, SentenceModel};

static PACKED: &[u8] = include_bytes!("world.bin");
/// Values of a vector, and bytes of a row.
const DIMS: usize = 384;
const ROW: usize = DIMS / 4;

/// A vector of length 1 as a row of the file.
pub fn pack(vector: &[f32]) -> Vec<u8> {
    let deviation = (vector.len() as f32).sqrt().recip();
    let level = |value: &f32| ((value / deviation).floor() + 2.0).clamp(0.0, 3.0) as u8;
    vector.chunks(4).map(|four| four.iter().rev().fold(0, |packed, value| packed << 2 | level(value))).collect()
}

/// The values that a packed row stands for, as multiples of half a standard deviation, and the length of that vector.
fn unpack(row: &[u8]) -> (Vec<i8>, f64) {
    let levels = row.iter().flat_map(|packed| (0..4).map(move |place| packed >> (2 * place) & 3));
    let values: Vec<i8> = levels.map(|level| 2 * level as i8 - 3).collect();
    let length = f64::from(byte_dot(&values, &values)).sqrt();
    (values, length)
}

/// The greatest cosine of `request`, a vector of `encoder`, and a dataset, -1..=1. None where the datasets were read by another model.
pub fn nearest(encoder: &dyn Embedder, request: &[f32]) -> Option<f64> {
    static ROWS: OnceLock<Vec<(Vec<i8>, f64)>> = OnceLock::new();
    if encoder.id() != SentenceModel::builtin_id() || request.len() != DIMS {
        return None;
    }
    let greatest = request.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let request: Vec<i8> = request.iter().map(|value| (value / greatest * 127.0).round() as i8).collect();
    let length = f64::from(byte_dot(&request, &request)).sqrt().max(1.0);
    let rows = ROWS.get_or_init(|| PACKED.chunks_exact(ROW).map(unpack).collect());
    rows.iter().map(|(row, of_row)| f64::from(byte_dot(row, &request)) / (of_row * length)).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lakeward_models::embed::{EmbedderExt, StaticModel};

    #[test]
    fn a_packed_vector_stays_close_and_other_models_are_not_compared() {
        let model = SentenceModel::builtin();
        let vector = model.embed("Bus passengers by route and month");
        let (values, length) = unpack(&pack(&vector));
        let cosine: f64 = values.iter().zip(&vector).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() / length;
        assert!((0.9..=1.0).contains(&cosine), "{cosine}");
        let near = |text: &str| nearest(model, &model.embed(text)).expect("its own model");
        let (data, words) = (near("how many people take the bus"), near("zxqv wqpk"));
        assert!(words < data && data < 1.0 && words > -1.0, "{words} {data}");
        assert_eq!(nearest(model, &[0.0; DIMS]), Some(0.0));
        assert_eq!(nearest(StaticModel::builtin(), &vector), None);
    }
}
