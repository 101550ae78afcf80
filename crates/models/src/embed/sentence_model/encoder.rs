//! The encoder of BERT (Devlin et al., 2019) on the CPU: embeddings, then layers of self-attention and a feed-forward part, each
//! with its residual and layer norm. One text at a time; products with weights in 32-bit floats, or in whole numbers ([`super::int8`]).

use super::int8;
use matrixmultiply::sgemm;
use rayon::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

/// Minimum columns per core.
const LEAST_BLOCK: usize = 64;
/// Pieces of a text from which it is split among the cores.
const LEAST_SPLIT: usize = 32;

/// The sizes of the encoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) hidden: usize,
    /// Width of the feed-forward part.
    pub(super) inner: usize,
    pub(super) heads: usize,
    pub(super) layers: usize,
    /// Maximum pieces of a text.
    pub(super) positions: usize,
    pub(super) pieces: usize,
    /// Epsilon of the layer norms.
    pub(super) epsilon: f32,
}

/// The weights.
pub(super) struct Encoder {
    shape: Shape,
    pieces: Pieces,
    /// A row a position, with that of the first segment added: there is no second.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    inner: Linear,
    outer: Linear,
    norm: Norm,
}

/// A row a piece.
enum Pieces {
    Float(Vec<f32>),
    /// With what one stands for in each row.
    Int8(&'static [i8], Vec<f32>),
}

/// y = x · Wᵀ + b.
enum Linear {
    /// W with a row an output.
    Float {
        weight: Vec<f32>,
        bias: Vec<f32>,
    },
    Int8(int8::Linear),
}

struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
    epsilon: f32,
}

impl Encoder {
    /// Reads the tensors of a file; says which is missing or of another shape. Rounded ones are borrowed, so only a file inside the
    /// program can have them.
    pub(super) fn read(bytes: &[u8], shape: Shape) -> Result<Self, String> {
        Self::read_files(&[bytes], None, shape)
    }

    /// As [`Encoder::read`], of files inside the program, with weights in whole numbers.
    pub(super) fn read_rounded(files: &[&'static [u8]], shape: Shape) -> Result<Self, String> {
        Self::read_files(files, Some(files), shape)
    }

    fn read_files(files: &[&[u8]], inside: Option<&[&'static [u8]]>, shape: Shape) -> Result<Self, String> {
        let opened: Result<Vec<SafeTensors<'_>>, _> =
            files.iter().map(|bytes| SafeTensors::deserialize(bytes)).collect();
        let tensors =
            Tensors { files: opened.map_err(|error| format!("it is not a safetensors file: {error}"))?, inside };
        let Shape { hidden, inner, .. } = shape;
        let kinds = tensors.matrix("embeddings.token_type_embeddings", None, hidden)?;
        let mut positions = tensors.matrix("embeddings.position_embeddings", Some(shape.positions), hidden)?;
        for row in positions.chunks_exact_mut(hidden) {
            row.iter_mut().zip(&kinds).for_each(|(value, kind)| *value += kind);
        }
        let layer = |at: usize| {
            let linear = |name: &str, from, to| tensors.linear(&format!("encoder.layer.{at}.{name}"), from, to);
            let norm = |name: &str| tensors.norm(&format!("encoder.layer.{at}.{name}"), &shape);
            Ok(Layer {
                query: linear("attention.self.query", hidden, hidden)?,
                key: linear("attention.self.key", hidden, hidden)?,
                value: linear("attention.self.value", hidden, hidden)?,
                attended: linear("attention.output.dense", hidden, hidden)?,
                attended_norm: norm("attention.output.LayerNorm")?,
                inner: linear("intermediate.dense", hidden, inner)?,
                outer: linear("output.dense", inner, hidden)?,
                norm: norm("output.LayerNorm")?,
            })
        };
        Ok(Self {
            shape,
            pieces: tensors.pieces(&shape)?,
            positions,
            norm: tensors.norm("embeddings.LayerNorm", &shape)?,
            layers: (0..shape.layers).map(layer).collect::<Result<_, String>>()?,
        })
    }

    pub(super) fn hidden(&self) -> usize {
        self.shape.hidden
    }

    pub(super) fn positions(&self) -> usize {
        self.shape.positions
    }

    /// Returns one row of `hidden` values for each of `pieces`. There must be at most as many pieces as positions, all from the vocabulary.
    pub(super) fn encode(&self, pieces: &[u32]) -> Vec<f32> {
        // While many texts are encoded at once, every core is busy; a single text that a user waits for is split among the cores.
        if rayon::current_thread_index().is_some() {
            return self.encode_in_parts(pieces, 1);
        }
        let parts = if pieces.len() < LEAST_SPLIT { 1 } else { rayon::current_num_threads() };
        rayon::scope(|_| self.encode_in_parts(pieces, parts))
    }

    fn encode_in_parts(&self, pieces: &[u32], parts: usize) -> Vec<f32> {
        let Shape { hidden, inner, heads, .. } = self.shape;
        let count = pieces.len();
        let mut rows = Vec::with_capacity(count * hidden);
        for (piece, position) in pieces.iter().zip(self.positions.chunks_exact(hidden)) {
            let at = *piece as usize;
            match &self.pieces {
                Pieces::Float(pieces) => {
                    rows.extend(pieces[at * hidden..][..hidden].iter().zip(position).map(|(a, b)| a + b));
                }
                Pieces::Int8(pieces, scales) => {
                    let row = pieces[at * hidden..][..hidden].iter();
                    rows.extend(row.zip(position).map(|(a, b)| f32::from(*a) * scales[at] + b));
                }
            }
        }
        self.norm.apply(&mut rows);
        let matrix = |columns: usize| vec![0.0f32; count * columns];
        let (mut query, mut key, mut value) = (matrix(hidden), matrix(hidden), matrix(hidden));
        let (mut mixed, mut changed, mut wide) = (matrix(hidden), matrix(hidden), matrix(inner));
        let width = hidden / heads;
        let mut by_head = matrix(hidden);
        let part = (wide.len() / parts).max(1);
        for layer in &self.layers {
            layer.query.apply(&rows, &mut query, parts);
            layer.key.apply(&rows, &mut key, parts);
            layer.value.apply(&rows, &mut value, parts);
            let of_head = |weights: &mut Vec<f32>, (head, mixed): (usize, &mut [f32])| {
                attend([&query, &key, &value], mixed, weights, (count, hidden, head, width));
            };
            let scratch = || vec![0.0f32; count * count];
            let places = by_head.par_chunks_exact_mut((count * width).max(1)).enumerate();
            places.with_min_len(heads.div_ceil(parts)).for_each_init(scratch, of_head);
            for (head, of_head) in by_head.chunks_exact((count * width).max(1)).enumerate() {
                for (row, own) in mixed.chunks_exact_mut(hidden).zip(of_head.chunks_exact(width)) {
                    row[head * width..][..width].copy_from_slice(own);
                }
            }
            layer.attended.apply(&mixed, &mut changed, parts);
            add(&mut rows, &changed);
            layer.attended_norm.apply(&mut rows);
            layer.inner.apply(&rows, &mut wide, parts);
            wide.par_chunks_mut(part).for_each(gelu_all);
            layer.outer.apply(&wide, &mut changed, parts);
            add(&mut rows, &changed);
            layer.norm.apply(&mut rows);
        }
        rows
    }
}

/// One head of attention, softmax(Q · Kᵀ / √d) · V, on its `width` columns of matrices with `count` rows and `hidden` columns. `mixed` is
/// of this head alone.
fn attend(
    [query, key, value]: [&[f32]; 3],
    mixed: &mut [f32],
    weights: &mut [f32],
    (count, hidden, head, width): (usize, usize, usize, usize),
) {
    let at = head * width;
    let scale = 1.0 / (width as f32).sqrt();
    multiply(
        (count, width, count),
        scale,
        Strided { values: &query[at..], row: hidden, column: 1 },
        Strided { values: &key[at..], row: 1, column: hidden },
        (weights, count),
    );
    for row in weights.chunks_exact_mut(count) {
        let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter_mut().for_each(|value| *value = exp(*value - greatest));
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= sum);
    }
    multiply(
        (count, count, width),
        1.0,
        Strided { values: weights, row: count, column: 1 },
        Strided { values: &value[at..], row: hidden, column: 1 },
        (mixed, width),
    );
}

impl Linear {
    /// In so many parts, one a core.
    fn apply(&self, rows: &[f32], out: &mut [f32], parts: usize) {
        let (weight, bias) = match self {
            Self::Int8(linear) => return linear.apply(rows, out, parts),
            Self::Float { weight, bias } => (weight, bias),
        };
        let outputs = bias.len();
        let inputs = weight.len() / outputs;
        let count = rows.len() / inputs;
        let block = |from: usize, width: usize, out: &mut [f32]| {
            multiply(
                (count, inputs, width),
                1.0,
                Strided { values: rows, row: inputs, column: 1 },
                Strided { values: &weight[from * inputs..], row: 1, column: inputs },
                (out, width),
            );
        };
        let width = outputs.div_ceil(parts).next_multiple_of(LEAST_BLOCK).min(outputs);
        if width == outputs {
            block(0, outputs, out);
        } else {
            let starts: Vec<usize> = (0..outputs).step_by(width).collect();
            let blocks: Vec<Vec<f32>> = starts
                .par_iter()
                .map(|from| {
                    let width = width.min(outputs - from);
                    let mut part = vec![0.0; count * width];
                    block(*from, width, &mut part);
                    part
                })
                .collect();
            for (from, part) in starts.into_iter().zip(blocks) {
                let width = part.len() / count.max(1);
                for (row, part) in out.chunks_exact_mut(outputs).zip(part.chunks_exact(width.max(1))) {
                    row[from..from + width].copy_from_slice(part);
                }
            }
        }
        for row in out.chunks_exact_mut(outputs) {
            add(row, bias);
        }
    }
}

impl Norm {
    fn apply(&self, rows: &mut [f32]) {
        let columns = self.scale.len();
        for row in rows.chunks_exact_mut(columns) {
            let mean = row.iter().sum::<f32>() / columns as f32;
            let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / columns as f32;
            let factor = 1.0 / (variance + self.epsilon).sqrt();
            for ((value, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
                *value = (*value - mean) * factor * scale + shift;
            }
        }
    }
}

fn add(rows: &mut [f32], others: &[f32]) {
    rows.iter_mut().zip(others).for_each(|(value, other)| *value += other);
}

/// A matrix in a slice: element (i, j) at `i * row + j * column`.
#[derive(Clone, Copy)]
struct Strided<'a> {
    values: &'a [f32],
    row: usize,
    column: usize,
}

impl Strided<'_> {
    /// Whether a matrix of this size fits in the slice.
    fn holds(&self, rows: usize, columns: usize) -> bool {
        rows == 0 || columns == 0 || (rows - 1) * self.row + (columns - 1) * self.column < self.values.len()
    }
}

/// C = scale · A · B, where A has m × k elements, B k × n, and C has n contiguous elements every `stride`.
fn multiply(
    (m, k, n): (usize, usize, usize),
    scale: f32,
    a: Strided<'_>,
    b: Strided<'_>,
    (c, stride): (&mut [f32], usize),
) {
    let written = Strided { values: c, row: stride, column: 1 };
    assert!(a.holds(m, k) && b.holds(k, n) && written.holds(m, n) && stride >= n, "matrices of other sizes");
    let signed = |strided: Strided<'_>| (strided.row as isize, strided.column as isize);
    let ((a_row, a_column), (b_row, b_column)) = (signed(a), signed(b));
    // SAFETY: by the assertion above, all elements read are in `a` and `b` and all written are in `c`; rows of C do not overlap, as
    // `stride` is at least n.
    unsafe {
        let (from, by, to) = (a.values.as_ptr(), b.values.as_ptr(), c.as_mut_ptr());
        sgemm(m, k, n, scale, from, a_row, a_column, by, b_row, b_column, 0.0, to, stride as isize, 1);
    }
}

/// x · Φ(x) of all values.
fn gelu_all(values: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature the function was compiled for.
        return unsafe { gelu_all_avx2(values) };
    }
    values.iter_mut().for_each(|value| *value = gelu(*value));
}

/// The same loop, eight values at a time: each is computed by itself, so the bits are the same.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn gelu_all_avx2(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = gelu(*value));
}

/// x · Φ(x), with Φ by the error function (Abramowitz and Stegun 7.1.26, at most 1.5e-7 off).
#[inline(always)]
pub fn gelu(x: f32) -> f32 {
    let z = (x * std::f32::consts::FRAC_1_SQRT_2).abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    let error = 1.0 - series * exp(-z * z);
    0.5 * x * (1.0 + error.copysign(x))
}

/// eˣ for x ≤ 88, at most 2e-7 of it off; without a branch or a call, so that a loop of it is computed side by side. It is
/// 2ⁿ · 2ᶠ with x · log₂e = n + f and |f| ≤ ½, 2ᶠ by its Taylor series.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Added, it rounds to a whole number, which then stands in the lowest bits.
    const WHOLE: f32 = 12_582_912.0;
    let scaled = x.max(-87.0) * std::f32::consts::LOG2_E;
    let shifted = scaled + WHOLE;
    let f = scaled - (shifted - WHOLE);
    let series = 0.001_333_355_8 + f * (0.000_154_035_3 + f * 0.000_015_252_73);
    let power =
        1.0 + f * (std::f32::consts::LN_2 + f * (0.240_226_5 + f * (0.055_504_11 + f * (0.009_618_129 + f * series))));
    f32::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// The tensors of a file.
struct Tensors<'a> {
    files: Vec<SafeTensors<'a>>,
    /// Their bytes, where they are inside the program.
    inside: Option<&'a [&'static [u8]]>,
}

impl Tensors<'_> {
    /// A tensor by its name, with or without the prefix `bert.` that some authors use.
    fn named(&self, name: &str) -> Result<TensorView<'_>, String> {
        let named = |name: &str| self.files.iter().find_map(|file| file.tensor(name).ok());
        let found = named(name).or_else(|| named(&format!("bert.{name}")));
        found.ok_or_else(|| format!("it has no tensor `{name}`"))
    }

    /// The values of a tensor, which must be finite 32-bit floats.
    fn values(&self, name: &str, fits: impl Fn(&[usize]) -> bool) -> Result<Vec<f32>, String> {
        let view = self.named(name)?;
        if view.dtype() != Dtype::F32 || !fits(view.shape()) {
            return Err(format!(
                "`{name}` is {:?} of {:?}, which contradicts `config.json`",
                view.dtype(),
                view.shape()
            ));
        }
        let (values, _) = view.data().as_chunks::<4>();
        let values: Vec<f32> = values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("`{name}` contains numbers that are not finite"));
        }
        Ok(values)
    }

    fn matrix(&self, name: &str, rows: Option<usize>, columns: usize) -> Result<Vec<f32>, String> {
        let fits = |shape: &[usize]| match shape {
            [found, width] => rows.is_none_or(|rows| rows == *found) && *found > 0 && *width == columns,
            _ => false,
        };
        self.values(&format!("{name}.weight"), fits)
    }

    /// The bytes of a tensor of whole numbers, which are inside the program; `None` where there is no such tensor.
    fn rounded(&self, name: &str, shape: &[usize]) -> Result<Option<&'static [i8]>, String> {
        let (Some(inside), Ok(view)) = (self.inside, self.named(name)) else { return Ok(None) };
        if view.dtype() != Dtype::I8 || view.shape() != shape {
            return Err(format!("`{name}` is {:?} of {:?}, not of {shape:?}", view.dtype(), view.shape()));
        }
        let range = view.data().as_ptr_range();
        let found = inside.iter().find_map(|file| {
            let from = (range.start as usize).checked_sub(file.as_ptr() as usize)?;
            file.get(from..from + view.data().len())
        });
        Ok(found.map(bytemuck::cast_slice))
    }

    fn pieces(&self, shape: &Shape) -> Result<Pieces, String> {
        let name = "embeddings.word_embeddings";
        Ok(match self.rounded(&format!("{name}.rounded"), &[shape.pieces, shape.hidden])? {
            Some(rows) => Pieces::Int8(rows, self.values(&format!("{name}.scales"), |found| found == [shape.pieces])?),
            None => Pieces::Float(self.matrix(name, Some(shape.pieces), shape.hidden)?),
        })
    }

    fn linear(&self, name: &str, from: usize, to: usize) -> Result<Linear, String> {
        let packed = [to / int8::OUTPUTS, from / int8::INPUTS, int8::OUTPUTS, int8::INPUTS];
        if let Some(packed) = self.rounded(&format!("{name}.rounded"), &packed)? {
            let vector = |part: &str, length| self.values(&format!("{name}.{part}"), |found| found == [length]);
            let linear = int8::Linear::new(packed, vector("scales", to)?, vector("bias", to)?, vector("smooth", from)?);
            return linear.map(Linear::Int8).map_err(|what| format!("`{name}`: {what}"));
        }
        let weight = self.matrix(name, Some(to), from)?;
        Ok(Linear::Float { weight, bias: self.values(&format!("{name}.bias"), |shape| shape == [to])? })
    }

    fn norm(&self, name: &str, shape: &Shape) -> Result<Norm, String> {
        let vector = |part: &str| self.values(&format!("{name}.{part}"), |found| found == [shape.hidden]);
        Ok(Norm { scale: vector("weight")?, shift: vector("bias")?, epsilon: shape.epsilon })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gelu_is_that_of_the_error_function() {
        // From Python's `0.5 * x * (1 + math.erf(x / math.sqrt(2)))`.
        for (x, expected) in
            [(-3.0, -0.004_049_694), (-0.5, -0.154_268_77), (0.0, 0.0), (0.7, 0.530_625_4), (2.0, 1.954_499_7)]
        {
            assert!((gelu(x) - expected).abs() < 1e-6, "{x}: {}", gelu(x));
        }
    }

    #[test]
    fn powers_of_e_are_those_of_the_library() {
        for step in -8700..8800 {
            let x = step as f32 / 100.0;
            assert!(
                (exp(x) / x.exp() - 1.0).abs() < 4e-6 * x.abs().max(1.0) / 10.0 + 3e-7,
                "{x}: {} {}",
                exp(x),
                x.exp()
            );
        }
    }

    #[test]
    fn matrices_are_multiplied_with_their_strides() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut c = [9.0; 5];
        // (2 × 3) · (3 × 2): the second is the transpose of the first; a gap after every row.
        let (left, right) = (Strided { values: &a, row: 3, column: 1 }, Strided { values: &a, row: 1, column: 3 });
        multiply((2, 3, 2), 0.5, left, right, (&mut c, 3));
        assert_eq!(c, [7.0, 16.0, 9.0, 16.0, 38.5]);
    }
}
