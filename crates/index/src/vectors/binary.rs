//! One bit a dimension, as a sieve before the rows: for sets of which not every row is to be compared (RaBitQ: Gao and Long, SIGMOD 2024).
//!
//! Less the mean of all rows and rotated at random, a row is kept as the signs of its dimensions and two numbers, a seventh of its bytes. From these
//! follows an estimate of its cosine, with an error that is known: so each row gets a bound that its cosine exceeds about once in a
//! thousand times, and only rows whose bound reaches the `k`-th best cosine so far are compared, some hundred of a million. Their number
//! depends on the rows: where thousands are nearly equal, thousands are compared, where a fixed number of best estimates would have missed
//! some. There is nothing to build but the rows themselves, whatever the order, and a filter costs nothing.
//!
//! The query is rounded to 16 levels a dimension. Rows lie in blocks of 32, of each eight dimensions a byte a row, so that one instruction
//! looks up what four dimensions of 32 rows add to their sums (as in Quick ADC: André, Kermarrec and Le Scouarnec, ICMR 2017): .6 ns a
//! row of 256 dimensions, where counting the bits of four planes took 2.9 ns.

// Loops over numbers, as chains of iterators are not compiled into one loop where several crates share their code.
#![allow(clippy::needless_range_loop)]

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::dot::{self, BLOCK_ROWS};
use super::rotation::Rotation;
use super::{TagPrefix, VectorSetBuilder, tag};
use crate::segment::{Section, SegmentFile, SegmentWriter};
use lakeward_core::error::Result;

/// Sums of the products of more dimensions would not fit 16 bits.
const MOST_DIMS: usize = 4096;
/// Levels of a dimension of the query.
const LEVELS: u8 = 16;
/// Blocks that are asked for before they are read.
const BLOCKS_AHEAD: usize = 3;
/// How many standard deviations of its error an estimate is raised.
const DEVIATIONS: f32 = 3.0;

/// What the bits of [`BLOCK_ROWS`] rows leave out. All zero for zero vectors and behind the last row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Terms {
    /// Squared length of the row less the mean, over the sum of the magnitudes of its rotated dimensions.
    factors: [f32; BLOCK_ROWS],
    /// Product of the row less the mean with the mean.
    offsets: [f32; BLOCK_ROWS],
}

/// Writes the sections `prefix`+`M`, `B`, `T`, if there can be any for so many dimensions. Cost: 1 µs of one core a row, on all cores.
pub(super) fn write(set: &VectorSetBuilder, segment: &mut SegmentWriter, prefix: TagPrefix) -> Result<()> {
    let dims = Rotation::padded(set.dims);
    if dims > MOST_DIMS {
        return Ok(());
    }
    let rotation = Rotation::of(set.dims);
    let mean = mean(set);
    let blocks = set.len().div_ceil(BLOCK_ROWS);
    let mut bits = vec![0u8; blocks * block_bytes(dims)];
    let mut terms = vec![Terms::zeroed(); blocks];
    let places = bits.par_chunks_exact_mut(block_bytes(dims)).zip(&mut terms).enumerate();
    places.for_each(|(block, (bits, terms))| {
        // Of each dimension the values of all rows.
        let mut values = vec![[0f32; BLOCK_ROWS]; dims];
        for (at, id) in (block * BLOCK_ROWS..set.len()).take(BLOCK_ROWS).enumerate() {
            let (row, scale) = row(set, id);
            if scale > 0.0 {
                for place in 0..row.len() {
                    values[place][at] = f32::from(row[place]) * scale - mean[place];
                }
            }
        }
        for (values, mean) in values.iter().zip(&mean) {
            for at in 0..BLOCK_ROWS {
                terms.offsets[at] += values[at] * mean;
            }
        }
        rotation.rotate(&mut values);
        let (mut squares, mut magnitudes) = ([0f32; BLOCK_ROWS], [0f32; BLOCK_ROWS]);
        for (eight, bytes) in values.as_chunks::<8>().0.iter().zip(bits.as_chunks_mut::<BLOCK_ROWS>().0) {
            for (bit, values) in eight.iter().enumerate() {
                for at in 0..BLOCK_ROWS {
                    squares[at] += values[at] * values[at];
                    magnitudes[at] += values[at].abs();
                    bytes[at] |= u8::from(values[at] >= 0.0) << bit;
                }
            }
        }
        for at in 0..BLOCK_ROWS {
            terms.factors[at] = if magnitudes[at] > 0.0 { squares[at] / magnitudes[at] } else { 0.0 };
        }
    });
    segment.section_of(tag(prefix, b'M'), &mean)?;
    segment.section_of(tag(prefix, b'B'), &bits)?;
    segment.section_of(tag(prefix, b'T'), &terms)
}

/// A row without what it is padded with, and its scale.
fn row(set: &VectorSetBuilder, id: usize) -> (&[i8], f32) {
    (&set.bytes[id * super::stride(set.dims)..][..set.dims], set.scales[id])
}

/// Of all rows but zero vectors.
fn mean(set: &VectorSetBuilder) -> Vec<f32> {
    let mut sums = vec![0f64; set.dims];
    for id in 0..set.len() {
        let (row, scale) = row(set, id);
        for place in 0..row.len() {
            sums[place] += f64::from(f32::from(row[place]) * scale);
        }
    }
    let rows = set.scales.iter().filter(|scale| **scale > 0.0).count().max(1);
    sums.iter().map(|sum| (sum / rows as f64) as f32).collect()
}

fn block_bytes(dims: usize) -> usize {
    dims / 8 * BLOCK_ROWS
}

/// The stored bits of a set, read in place.
#[derive(Debug)]
pub(super) struct BinaryRows {
    rotation: Rotation,
    block_bytes: usize,
    mean: Section,
    bits: Section,
    terms: Section,
}

/// A query as the bits of one set are asked.
pub(super) struct BinaryQuery {
    /// What each combination of four bits adds to the sum, 0..=60.
    tables: Vec<[u8; 16]>,
    /// bound = `nearness` + offset + factor × (`step` × sum + `margin`)
    nearness: f32,
    step: f32,
    margin: f32,
}

impl BinaryRows {
    /// `None` if the set has none.
    pub(super) fn open(segment: &SegmentFile, prefix: TagPrefix, dims: usize, rows: usize) -> Result<Option<Self>> {
        let Some(bits) = segment.find_section(tag(prefix, b'B')) else { return Ok(None) };
        let (mean, terms) = (segment.section(tag(prefix, b'M'))?, segment.section(tag(prefix, b'T'))?);
        let (blocks, block_bytes) = (rows.div_ceil(BLOCK_ROWS), block_bytes(Rotation::padded(dims)));
        let fits = Rotation::padded(dims) <= MOST_DIMS
            && mean.len() == dims * size_of::<f32>()
            && bits.len() == blocks * block_bytes
            && terms.len() == blocks * size_of::<Terms>();
        if !fits {
            return Err(bits.damaged("its size does not match the rows"));
        }
        Ok(Some(Self { rotation: Rotation::of(dims), block_bytes, mean, bits, terms }))
    }

    /// Prepares a query, which has length 1.
    pub(super) fn query(&self, query: Vec<f32>) -> Result<BinaryQuery> {
        let mean = self.mean.all::<f32>()?;
        let nearness = query.iter().zip(mean).map(|(value, mean)| value * mean).sum();
        let mut rotated: Vec<[f32; 1]> = query.iter().zip(mean).map(|(value, mean)| [value - mean]).collect();
        rotated.resize(self.block_bytes / BLOCK_ROWS * 8, [0.0]);
        self.rotation.rotate(&mut rotated);
        let rotated = rotated.as_flattened();
        // Levels are −7.5, −6.5, … 7.5 steps.
        let middle = f32::from(LEVELS - 1) / 2.0;
        let step = rotated.iter().fold(0f32, |most, value| most.max(value.abs())) / middle;
        let level = |value: &f32| if step > 0.0 { (value / step + middle).round() as u8 } else { 0 };
        let levels: Vec<u8> = rotated.iter().map(level).collect();
        let added = |four: &[u8; 4], bits: usize| -> u8 {
            four.iter()
                .zip(0..)
                .map(|(level, bit)| if bits >> bit & 1 == 1 { *level } else { LEVELS - 1 - level })
                .sum()
        };
        let tables = levels.as_chunks().0.iter().map(|four| std::array::from_fn(|bits| added(four, bits))).collect();
        // Of each dimension the bit leaves out 1 − 2/π of the variance, the level that of a uniform error.
        let squares: f32 = rotated.iter().map(|value| value * value).sum();
        let dims = rotated.len() as f32;
        let variance = (1.0 - std::f32::consts::FRAC_2_PI) * squares + dims * step * step / 12.0;
        Ok(BinaryQuery { tables, nearness, step, margin: DEVIATIONS * variance.sqrt() - dims * middle * step })
    }

    /// Finds for the rows from block `first` on what their cosines with the queries hardly exceed, for each block of rows those with each
    /// query; behind the last row, anything.
    pub(super) fn bounds(&self, queries: &[BinaryQuery], first: usize, bounds: &mut [[f32; BLOCK_ROWS]]) -> Result<()> {
        let blocks = first..first + bounds.len() / queries.len();
        let bits = self.bits.bytes(blocks.start * self.block_bytes..blocks.end * self.block_bytes)?;
        let terms = self.terms.slice::<Terms>(blocks)?;
        let mut sums = [0u16; BLOCK_ROWS];
        for (block, of_block) in bounds.chunks_exact_mut(queries.len()).enumerate() {
            let Terms { factors, offsets } = &terms[block];
            // Pages of a file follow each other in memory, but the processor does not look beyond one.
            dot::ask_for(
                bits.get((block + BLOCKS_AHEAD) * self.block_bytes..)
                    .map_or(&[], |ahead| bytemuck::cast_slice(&ahead[..ahead.len().min(self.block_bytes)])),
            );
            let bits = &bits[block * self.block_bytes..][..self.block_bytes];
            for (query, bounds) in queries.iter().zip(of_block) {
                dot::table_sums(bits, &query.tables, &mut sums);
                for at in 0..BLOCK_ROWS {
                    let estimate = query.step * f32::from(sums[at]) + query.margin;
                    bounds[at] = query.nearness + offsets[at] + factors[at] * estimate;
                }
            }
        }
        Ok(())
    }
}
