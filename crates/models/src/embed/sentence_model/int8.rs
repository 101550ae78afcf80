//! Products of 8-bit matrices: y = x · Wᵀ + b, with whole numbers from the first factor to the last sum.
//!
//! Every output of W has a scale, as has every row of x, which is rounded when it comes; an input channel of large values is made
//! smaller beforehand, with its weights larger (SmoothQuant, Xiao et al., 2023). Sums of whole numbers are exact, so all processors give
//! the same bits; AVX-512 VNNI does 365 and AVX2 some 60 thousand million products a second and core.
//!
//! Sixteen outputs and four inputs lie together, so that a vector register holds what one step needs and no sum runs across it.

use std::borrow::Cow;

use rayon::prelude::*;

/// Outputs that are computed together.
pub(super) const OUTPUTS: usize = 16;
/// Inputs that lie together.
pub(super) const INPUTS: usize = 4;
/// Rows of x that go through the weights together, so that each weight is loaded once for all of them.
const ROWS: usize = 8;
/// Greatest rounded value.
const GREATEST: f32 = 127.0;
/// What is added to a rounded value where the processor takes the first factor without a sign.
const OFFSET: i32 = 128;

/// A matrix of weights with its bias.
pub(super) struct Linear {
    /// `[outputs / 16][inputs / 4][16][4]`.
    packed: Cow<'static, [i8]>,
    /// One an output.
    scales: Vec<f32>,
    /// Σ of the weights of an output, times [`OFFSET`].
    offsets: Vec<i32>,
    bias: Vec<f32>,
    /// What each input is multiplied by before it is rounded.
    smooth: Vec<f32>,
}

impl Linear {
    /// The weights as they are packed, with a scale and a bias for every output and a factor for every input.
    ///
    /// Errors: lengths that do not go together, or numbers that are none.
    pub(super) fn new(
        packed: impl Into<Cow<'static, [i8]>>,
        scales: Vec<f32>,
        bias: Vec<f32>,
        smooth: Vec<f32>,
    ) -> Result<Self, String> {
        let (packed, outputs, inputs) = (packed.into(), bias.len(), smooth.len());
        let fits = outputs > 0 && outputs.is_multiple_of(OUTPUTS) && inputs > 0 && inputs.is_multiple_of(INPUTS);
        if !fits || packed.len() != outputs * inputs || scales.len() != outputs {
            return Err(format!("{} weights for {outputs} outputs of {inputs} inputs", packed.len()));
        }
        if [&scales, &bias, &smooth].into_iter().flatten().any(|value| !value.is_finite()) {
            return Err("a number is none".into());
        }
        let mut offsets = vec![0; outputs];
        for (block, sums) in packed.chunks_exact(inputs * OUTPUTS).zip(offsets.chunks_exact_mut(OUTPUTS)) {
            for step in block.chunks_exact(OUTPUTS * INPUTS) {
                for (sum, weights) in sums.iter_mut().zip(step.as_chunks::<INPUTS>().0) {
                    *sum += OFFSET * weights.iter().map(|weight| i32::from(*weight)).sum::<i32>();
                }
            }
        }
        Ok(Self { packed, scales, offsets, bias, smooth })
    }

    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// One row of `out` for each of `rows`, which lie one after the other, in so many parts at once.
    pub(super) fn apply(&self, rows: &[f32], out: &mut [f32], parts: usize) {
        let (inputs, outputs) = (self.smooth.len(), self.outputs());
        let part = (rows.len() / inputs).div_ceil(parts).next_multiple_of(ROWS).max(ROWS);
        let places = rows.par_chunks(part * inputs).zip(out.par_chunks_mut(part * outputs));
        places.for_each(|(rows, out)| self.apply_to(rows, out));
    }

    fn apply_to(&self, rows: &[f32], out: &mut [f32]) {
        let (inputs, outputs) = (self.smooth.len(), self.outputs());
        let mut rounded = vec![0i8; ROWS * inputs];
        let mut sums = vec![[0i32; OUTPUTS]; ROWS * outputs / OUTPUTS];
        for (rows, out) in rows.chunks(ROWS * inputs).zip(out.chunks_mut(ROWS * outputs)) {
            let mut steps = [0.0f32; ROWS];
            for ((row, rounded), step) in
                rows.chunks_exact(inputs).zip(rounded.chunks_exact_mut(inputs)).zip(&mut steps)
            {
                *step = round(row, &self.smooth, rounded);
            }
            // Rows beyond the last are computed, too, and left out: their sums mean nothing.
            products(&self.packed, &self.offsets, &rounded, inputs, &mut sums);
            for (at, out) in out.chunks_exact_mut(outputs).enumerate() {
                let sums = sums[at * outputs / OUTPUTS..][..outputs / OUTPUTS].as_flattened();
                for (((value, sum), scale), bias) in out.iter_mut().zip(sums).zip(&self.scales).zip(&self.bias) {
                    *value = *sum as f32 * (steps[at] * scale) + bias;
                }
            }
        }
    }
}

/// Rounds a row, each value times its factor, to whole numbers up to [`GREATEST`]; what one of them stands for.
fn round(row: &[f32], smooth: &[f32], rounded: &mut [i8]) -> f32 {
    let greatest = row.iter().zip(smooth).fold(0.0f32, |most, (value, factor)| most.max((value * factor).abs()));
    if !(greatest > 0.0 && greatest.is_finite()) {
        rounded.fill(0);
        return 0.0;
    }
    // Added and taken away, it leaves a whole number: floats of this size have no fraction.
    const WHOLE: f32 = 12_582_912.0;
    let by = GREATEST / greatest;
    for ((value, factor), rounded) in row.iter().zip(smooth).zip(rounded) {
        *rounded = ((value * factor * by + WHOLE).to_bits() as i32).wrapping_sub(WHOLE.to_bits() as i32) as i8;
    }
    greatest / GREATEST
}

/// The sums of [`ROWS`] rounded rows with all outputs.
fn products(packed: &[i8], offsets: &[i32], rows: &[i8], inputs: usize, sums: &mut [[i32; OUTPUTS]]) {
    assert!(rows.len() == ROWS * inputs && packed.len() == offsets.len() * inputs && inputs.is_multiple_of(INPUTS));
    assert!(offsets.len().is_multiple_of(OUTPUTS) && sums.len() == ROWS * offsets.len() / OUTPUTS);
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni") {
            // SAFETY: the processor has the features, and the lengths go together, as asserted above.
            return unsafe { x86::by_vnni(packed, offsets, rows, inputs, sums) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as before.
            return unsafe { x86::by_avx2(packed, rows, inputs, sums) };
        }
    }
    anywhere(packed, rows, inputs, sums);
}

fn anywhere(packed: &[i8], rows: &[i8], inputs: usize, sums: &mut [[i32; OUTPUTS]]) {
    let blocks = sums.len() / ROWS;
    for (block, weights) in packed.chunks_exact(inputs * OUTPUTS).enumerate() {
        for (at, row) in rows.chunks_exact(inputs).enumerate() {
            let sums = &mut sums[at * blocks + block];
            *sums = [0; OUTPUTS];
            for (step, values) in weights.chunks_exact(OUTPUTS * INPUTS).zip(row.as_chunks::<INPUTS>().0) {
                for (sum, weights) in sums.iter_mut().zip(step.as_chunks::<INPUTS>().0) {
                    *sum += weights.iter().zip(values).map(|(w, x)| i32::from(*w) * i32::from(*x)).sum::<i32>();
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_loadl_epi64, _mm_loadu_si128, _mm256_add_epi32, _mm256_broadcastq_epi64,
        _mm256_cvtepi8_epi16, _mm256_hadd_epi32, _mm256_madd_epi16, _mm256_permute4x64_epi64, _mm256_setzero_si256,
        _mm256_storeu_si256, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_setzero_si512,
        _mm512_storeu_si512, _mm512_sub_epi32,
    };

    use super::{INPUTS, OUTPUTS, ROWS};

    /// Bytes of one step.
    const STEP: usize = OUTPUTS * INPUTS;
    /// Rows that AVX2 has registers for.
    const FEWER_ROWS: usize = 4;

    /// # Safety
    /// The lengths are those that `products` asserts.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) unsafe fn by_vnni(
        packed: &[i8],
        offsets: &[i32],
        rows: &[i8],
        inputs: usize,
        sums: &mut [[i32; OUTPUTS]],
    ) {
        let blocks = sums.len() / ROWS;
        for block in 0..blocks {
            let weights = packed[block * inputs * OUTPUTS..][..inputs * OUTPUTS].as_ptr();
            let mut totals: [__m512i; ROWS] = [_mm512_setzero_si512(); ROWS];
            for step in 0..inputs / INPUTS {
                // SAFETY: a block has `inputs / INPUTS` steps, a row as many inputs.
                let step_weights = unsafe { _mm512_loadu_si512(weights.add(step * STEP).cast()) };
                for (at, total) in totals.iter_mut().enumerate() {
                    // Four bytes, each with the offset: its sign bit turned.
                    // SAFETY: there are `ROWS` rows of `inputs` bytes.
                    let four = unsafe { rows.as_ptr().add(at * inputs + step * INPUTS).cast::<i32>().read_unaligned() };
                    let four = _mm512_set1_epi32(four ^ 0x8080_8080_u32 as i32);
                    *total = _mm512_dpbusd_epi32(*total, four, step_weights);
                }
            }
            let offset = &offsets[block * OUTPUTS..][..OUTPUTS];
            // SAFETY: sixteen numbers are read and written.
            unsafe {
                let offset = _mm512_loadu_si512(offset.as_ptr().cast());
                for (at, total) in totals.into_iter().enumerate() {
                    let place = sums[at * blocks + block].as_mut_ptr();
                    _mm512_storeu_si512(place.cast(), _mm512_sub_epi32(total, offset));
                }
            }
        }
    }

    /// # Safety
    /// The lengths are those that `products` asserts.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn by_avx2(packed: &[i8], rows: &[i8], inputs: usize, sums: &mut [[i32; OUTPUTS]]) {
        let blocks = sums.len() / ROWS;
        let wide: Vec<i16> = rows.iter().map(|value| i16::from(*value)).collect();
        // Four outputs at a time, and half the rows: as much as the registers hold.
        for (block, quarter, first) in (0..blocks)
            .flat_map(|block| (0..4).flat_map(move |quarter| [(block, quarter, 0), (block, quarter, FEWER_ROWS)]))
        {
            let weights = packed[block * inputs * OUTPUTS..][..inputs * OUTPUTS].as_ptr();
            let mut totals: [__m256i; FEWER_ROWS] = [_mm256_setzero_si256(); FEWER_ROWS];
            for step in 0..inputs / INPUTS {
                // SAFETY: a step has four times sixteen bytes; a row has `inputs` numbers of two bytes.
                unsafe {
                    let four = _mm_loadu_si128(weights.add(step * STEP + quarter * 16).cast::<__m128i>());
                    let four = _mm256_cvtepi8_epi16(four);
                    for (at, total) in totals.iter_mut().enumerate() {
                        let values = wide[(first + at) * inputs + step * INPUTS..][..INPUTS].as_ptr();
                        let values = _mm256_broadcastq_epi64(_mm_loadl_epi64(values.cast()));
                        *total = _mm256_add_epi32(*total, _mm256_madd_epi16(four, values));
                    }
                }
            }
            for (at, total) in totals.into_iter().enumerate() {
                // Two sums an output, side by side; the halves of the register do not meet by themselves.
                let added = _mm256_permute4x64_epi64::<0b10_00>(_mm256_hadd_epi32(total, total));
                let mut eight = [0i32; 8];
                // SAFETY: eight numbers are written.
                unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), added) };
                sums[(first + at) * blocks + block][quarter * 4..][..4].copy_from_slice(&eight[..4]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights and rows of every size of value, from a counter.
    fn numbers(count: usize, seed: u32) -> Vec<i8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as i8
        };
        (0..count).map(|_| next().max(-127)).collect()
    }

    fn packed(weights: &[i8], inputs: usize) -> Vec<i8> {
        let mut packed = Vec::with_capacity(weights.len());
        for block in weights.chunks_exact(inputs * OUTPUTS) {
            for step in 0..inputs / INPUTS {
                for row in block.chunks_exact(inputs) {
                    packed.extend_from_slice(&row[step * INPUTS..][..INPUTS]);
                }
            }
        }
        packed
    }

    #[test]
    fn every_processor_gives_the_same_sums() {
        for (inputs, outputs) in [(4, 16), (384, 48), (1536, 16)] {
            let (weights, rows) = (numbers(inputs * outputs, 7), numbers(ROWS * inputs, 11));
            let packed = packed(&weights, inputs);
            let one = || vec![1.0f32; outputs];
            let linear = Linear::new(packed.clone(), one(), one(), vec![1.0; inputs]).expect("sizes that fit");
            let empty = || vec![[0i32; OUTPUTS]; ROWS * outputs / OUTPUTS];
            let (mut fast, mut plain) = (empty(), empty());
            products(&packed, &linear.offsets, &rows, inputs, &mut fast);
            anywhere(&packed, &rows, inputs, &mut plain);
            assert_eq!(fast, plain);
            let by_hand = |row: usize, output: usize| -> i32 {
                let row = rows[row * inputs..][..inputs].iter();
                row.zip(&weights[output * inputs..][..inputs]).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum()
            };
            assert_eq!(plain.as_flattened()[2 * outputs + 5], by_hand(2, 5));
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                let mut sums = empty();
                // SAFETY: the processor has the feature, and the lengths are those of the other calls.
                unsafe { x86::by_avx2(&packed, &rows, inputs, &mut sums) };
                assert_eq!(sums, plain);
            }
        }
    }

    #[test]
    fn rows_of_any_number_come_out_as_in_floats() {
        let (inputs, outputs) = (64, 32);
        let weights = numbers(inputs * outputs, 3);
        let smooth: Vec<f32> = (0..inputs).map(|at| if at % 7 == 0 { 0.25 } else { 1.0 }).collect();
        let bias: Vec<f32> = (0..outputs).map(|at| at as f32 * 0.1 - 1.0).collect();
        let linear = Linear::new(packed(&weights, inputs), vec![0.01; outputs], bias.clone(), smooth.clone());
        let linear = linear.expect("sizes that fit");
        for count in [0, 1, 7, 8, 9, 20] {
            let rows: Vec<f32> = (0..count * inputs).map(|at| (at as f32 * 0.37).sin() * 3.0).collect();
            let mut out = vec![f32::NAN; count * outputs];
            linear.apply(&rows, &mut out, 1);
            let mut in_parts = vec![f32::NAN; out.len()];
            linear.apply(&rows, &mut in_parts, 3);
            assert_eq!(in_parts, out);
            for (row, out) in rows.chunks_exact(inputs).zip(out.chunks_exact(outputs)) {
                for (output, value) in out.iter().enumerate() {
                    let weights = &weights[output * inputs..][..inputs];
                    let exact: f32 = row
                        .iter()
                        .zip(&smooth)
                        .zip(weights)
                        .map(|((x, factor), weight)| x * factor * f32::from(*weight) * 0.01)
                        .sum();
                    assert!((value - exact - bias[output]).abs() < 0.15, "{value} for {}", exact + bias[output]);
                }
            }
        }
        assert!(Linear::new(vec![1; 64], vec![1.0; 16], vec![0.0; 16], vec![1.0; 8]).is_err());
    }
}
