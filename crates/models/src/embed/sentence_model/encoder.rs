//! The encoder of BERT (Devlin et al., 2019) on the CPU: embeddings, then layers of self-attention and feed-forward networks, each with
//! residual and layer norm. One text at a time, in 32-bit floats.

use matrixmultiply::sgemm;
use rayon::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

/// Minimum columns per core.
const LEAST_BLOCK: usize = 64;

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
    /// One row per piece.
    pieces: Vec<f32>,
    /// One row per position, with the embedding of the first segment added: there is no second.
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

/// y = x · Wᵀ + b, W with one row per output.
struct Linear {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
    epsilon: f32,
}

impl Encoder {
    /// Reads the tensors of a file; an error names a missing tensor or a wrong shape.
    pub(super) fn read(bytes: &[u8], shape: Shape) -> Result<Self, String> {
        let file = SafeTensors::deserialize(bytes).map_err(|error| format!("it is not a safetensors file: {error}"))?;
        let tensors = Tensors { file };
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
            pieces: tensors.matrix("embeddings.word_embeddings", Some(shape.pieces), hidden)?,
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
        let Shape { hidden, inner, heads, .. } = self.shape;
        let count = pieces.len();
        let mut rows = Vec::with_capacity(count * hidden);
        for (piece, position) in pieces.iter().zip(self.positions.chunks_exact(hidden)) {
            let row = &self.pieces[*piece as usize * hidden..][..hidden];
            rows.extend(row.iter().zip(position).map(|(a, b)| a + b));
        }
        self.norm.apply(&mut rows);
        let matrix = |columns: usize| vec![0.0f32; count * columns];
        let (mut query, mut key, mut value) = (matrix(hidden), matrix(hidden), matrix(hidden));
        let (mut mixed, mut changed, mut wide) = (matrix(hidden), matrix(hidden), matrix(inner));
        let mut weights = vec![0.0f32; count * count];
        for layer in &self.layers {
            layer.query.apply(&rows, &mut query);
            layer.key.apply(&rows, &mut key);
            layer.value.apply(&rows, &mut value);
            for head in 0..heads {
                attend([&query, &key, &value], &mut mixed, &mut weights, (count, hidden, head, hidden / heads));
            }
            layer.attended.apply(&mixed, &mut changed);
            add(&mut rows, &changed);
            layer.attended_norm.apply(&mut rows);
            layer.inner.apply(&rows, &mut wide);
            wide.iter_mut().for_each(|value| *value = gelu(*value));
            layer.outer.apply(&wide, &mut changed);
            add(&mut rows, &changed);
            layer.norm.apply(&mut rows);
        }
        rows
    }
}

/// One head of attention, softmax(Q · Kᵀ / √d) · V, on its `width` columns of matrices with `count` rows and `hidden` columns.
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
        row.iter_mut().for_each(|value| *value = (*value - greatest).exp());
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= sum);
    }
    multiply(
        (count, count, width),
        1.0,
        Strided { values: weights, row: count, column: 1 },
        Strided { values: &value[at..], row: hidden, column: 1 },
        (&mut mixed[at..], hidden),
    );
}

impl Linear {
    fn apply(&self, rows: &[f32], out: &mut [f32]) {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs;
        let count = rows.len() / inputs;
        let block = |from: usize, width: usize, out: &mut [f32]| {
            multiply(
                (count, inputs, width),
                1.0,
                Strided { values: rows, row: inputs, column: 1 },
                Strided { values: &self.weight[from * inputs..], row: 1, column: inputs },
                (out, width),
            );
        };
        // While many texts are encoded at once, every core is busy; a single text that a user waits for is split among the cores.
        let width = match rayon::current_thread_index() {
            Some(_) => outputs,
            None => outputs.div_ceil(rayon::current_num_threads()).next_multiple_of(LEAST_BLOCK).min(outputs),
        };
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
            add(row, &self.bias);
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

/// x · Φ(x), with Φ from the error function (Abramowitz and Stegun 7.1.26, error at most 1.5e-7).
fn gelu(x: f32) -> f32 {
    let z = (x * std::f32::consts::FRAC_1_SQRT_2).abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    let error = 1.0 - series * (-z * z).exp();
    0.5 * x * (1.0 + error.copysign(x))
}

/// The tensors of a file.
struct Tensors<'a> {
    file: SafeTensors<'a>,
}

impl Tensors<'_> {
    /// A tensor by its name, with or without the prefix `bert.` that some authors use.
    fn named(&self, name: &str) -> Result<TensorView<'_>, String> {
        let found = self.file.tensor(name).or_else(|_| self.file.tensor(&format!("bert.{name}")));
        found.map_err(|_| format!("it has no tensor `{name}`"))
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

    fn linear(&self, name: &str, from: usize, to: usize) -> Result<Linear, String> {
        let weight = self.matrix(name, Some(to), from)?;
        Ok(Linear { weight, bias: self.values(&format!("{name}.bias"), |shape| shape == [to])? })
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
    fn matrices_are_multiplied_with_their_strides() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut c = [9.0; 5];
        // (2 × 3) · (3 × 2): the second is the transpose of the first; a gap after every row.
        let (left, right) = (Strided { values: &a, row: 3, column: 1 }, Strided { values: &a, row: 1, column: 3 });
        multiply((2, 3, 2), 0.5, left, right, (&mut c, 3));
        assert_eq!(c, [7.0, 16.0, 9.0, 16.0, 38.5]);
    }
}
