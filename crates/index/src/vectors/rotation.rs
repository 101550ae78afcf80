//! A random rotation without a matrix: signs and Hadamard transforms by turns.

// Loops over numbers: see [`binary`](super::binary).
#![allow(clippy::needless_range_loop)]

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Dimensions of what is rotated are a multiple of this, so that a row of bits is whole words.
const DIMS_ALIGNMENT: usize = 64;
/// Three turns move every dimension into every other one.
const TURNS: usize = 3;
const SEED: u64 = 0x6c61_6b65;

/// The rotation of vectors of some dimensions, padded with zeros: always the same one, as stored rows depend on it.
///
/// A matrix would take 83,000 products for 288 dimensions, this takes 7,000 sums. A Hadamard transform has a power of two of dimensions: where there
/// are more, it takes the first of them and the last of them by turns.
#[derive(Debug)]
pub(super) struct Rotation {
    dims: usize,
    /// For each turn a sign for each dimension.
    signs: Vec<f32>,
}

impl Rotation {
    pub(super) fn of(dims: usize) -> Self {
        let dims = Self::padded(dims);
        let words = (0..(TURNS * dims / 64) as u64).map(|word| xxh3_64_with_seed(&word.to_le_bytes(), SEED));
        let signs = words.flat_map(|word| (0..64).map(move |bit| if word >> bit & 1 == 1 { 1.0 } else { -1.0 }));
        Self { dims, signs: signs.collect() }
    }

    /// The dimensions of what is rotated.
    pub(super) fn padded(dims: usize) -> usize {
        dims.next_multiple_of(DIMS_ALIGNMENT)
    }

    /// Rotates `N` vectors side by side: of each dimension a value of each.
    pub(super) fn rotate<const N: usize>(&self, values: &mut [[f32; N]]) {
        let part = 1 << self.dims.ilog2();
        for (turn, signs) in self.signs.chunks_exact(self.dims).enumerate() {
            for (values, sign) in values.iter_mut().zip(signs) {
                values.iter_mut().for_each(|value| *value *= sign);
            }
            let start = if turn % 2 == 0 { 0 } else { self.dims - part };
            transform(&mut values[start..start + part]);
        }
    }
}

/// The Hadamard transform of a power of two of dimensions; keeps lengths.
fn transform<const N: usize>(values: &mut [[f32; N]]) {
    let scale = 1.0 / (values.len() as f32).sqrt();
    let mut half = 1;
    while half < values.len() {
        for both in values.chunks_exact_mut(2 * half) {
            let (left, right) = both.split_at_mut(half);
            for at in 0..half {
                for vector in 0..N {
                    let (l, r) = (left[at][vector], right[at][vector]);
                    (left[at][vector], right[at][vector]) = (l + r, l - r);
                }
            }
        }
        half *= 2;
    }
    values.as_flattened_mut().iter_mut().for_each(|value| *value *= scale);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_lengths_and_angles_and_spreads_every_dimension() {
        for dims in [1, 64, 256, 288, 384, 1000] {
            let rotation = Rotation::of(dims);
            let one = |at: usize| {
                let mut row = vec![[0.0]; Rotation::padded(dims)];
                row[at] = [1.0];
                rotation.rotate(&mut row);
                row.as_flattened().to_vec()
            };
            let product = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(l, r)| l * r).sum::<f32>();
            let (first, last) = (one(0), one(dims - 1));
            assert!((product(&first, &first) - 1.0).abs() < 1e-4, "{dims}");
            assert!(dims == 1 || product(&first, &last).abs() < 1e-4, "{dims}");
            for row in [first, last] {
                assert!(row.iter().filter(|value| value.abs() > 1e-6).count() * 4 > row.len(), "{dims}: {row:?}");
            }
        }
    }
}
