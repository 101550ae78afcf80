//! Nearest neighbours by cosine among embeddings of columns, tables or documents.
//!
//! Vectors are stored as unit vectors of signed bytes with one scale per row, a quarter of the f32 size. The query keeps up to 16 bits per
//! dimension, so the only loss is that of the rows: about 0.003 of cosine at 256 dimensions. Small sets are searched by a scan of all
//! rows, which a processor does at memory speed ([`dot`]). Large ones have a bit a dimension as well ([`binary`]), which says of nearly all
//! rows that they need not be compared. Both need no building and support any filter.
//!
//! It does not embed text or update sets (they are built once), and uses no distances (greater is better).
//!
//! Bits from 20,000 rows on: .5 ms for 156,000 vectors where the scan takes 2.8, a million in 3.4, built in 1 µs a
//! vector (a graph of our own took 160), 48 bytes more. A bound for each row, not the best 400 estimates: where many
//! columns are nearly equal, 400 hold .991 of the true ten. Signs and Hadamard transforms, not a matrix: a tenth of
//! the work. An index without bits is read as before.

use std::cell::Cell;

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::segment::{SegmentFile, SegmentWriter, Tag};
use binary::{BinaryQuery, BinaryRows};
use dot::BLOCK_ROWS;
use lakeward_core::error::{Error, Result};
use quantise::{Query, quantise_row};
use rows::{PRODUCTS, Row, Rows};
use top::Top;

mod binary;
mod dot;
mod quantise;
mod rotation;
mod rows;
mod top;

thread_local! {
    /// The bounds of the last query: to get memory for those of a million rows takes as long as to find them.
    static BOUNDS: Cell<Vec<[f32; BLOCK_ROWS]>> = const { Cell::new(Vec::new()) };
}

/// First three letters of the section tags of one vector set, so that a segment may contain several.
pub type TagPrefix = [u8; 3];

/// Which rows may be returned, by id.
pub type Filter<'a> = &'a (dyn Fn(u32) -> bool + Sync);

/// Sets with at least this many rows get bits under [`BinaryChoice::Auto`]: a scan takes .3 ms there, a sixth more bytes would gain .2 ms.
const BINARY_FROM_ROWS: usize = 20_000;

/// Rows are padded with zeros to a multiple of this, so that the loops have no remainder.
const ROW_ALIGNMENT: usize = 32;
/// Maximum dimensions: above, sums of products would no longer fit 32 bits with a useful query resolution.
const MOST_DIMS: usize = 8192;
/// Blocks of rows of which one core looks at the bits at a time.
const PART_BLOCKS: usize = (64 << 10) / BLOCK_ROWS;
/// Rows that are asked for and compared at a time, and so many times that at least by one core.
const COMPARED_ROWS: usize = 32;
const LEAST_CHUNKS: usize = 8;

/// Whether to store bits beside the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryChoice {
    /// From 20,000 rows.
    Auto,
    /// Exact search only.
    Never,
    /// For any size.
    Always,
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    dims: u64,
    rows: u64,
    tail_dims: u64,
}

/// Collects vectors and quantises each as it is added. Memory: one byte per dimension.
#[derive(Debug)]
pub struct VectorSetBuilder {
    dims: usize,
    tail_dims: usize,
    bytes: Vec<i8>,
    scales: Vec<f32>,
}

impl VectorSetBuilder {
    /// Starts an empty set of vectors of `dims` dimensions, 1..=8192.
    pub fn new(dims: usize) -> Result<Self> {
        Self::in_two_parts(dims, 0)
    }

    /// As [`new`](Self::new), of vectors of which the last `tail_dims` dimensions differ where the others often do not.
    pub fn in_two_parts(dims: usize, tail_dims: usize) -> Result<Self> {
        if !(1..=MOST_DIMS).contains(&dims) || tail_dims > dims {
            return Err(Error::Internal(format!("vectors of {dims} dimensions, {tail_dims} of them in the tail")));
        }
        Ok(VectorSetBuilder { dims, tail_dims, bytes: Vec::new(), scales: Vec::new() })
    }

    /// Adds the next vector, of any length but zero; its id is the number of vectors before it. A zero vector, or one with a component that
    /// is not finite, gets an id but is never returned by a search.
    pub fn push(&mut self, vector: &[f32]) -> Result<()> {
        expect_dims(self.dims, vector.len())?;
        let start = self.bytes.len();
        self.bytes.resize(start + stride(self.dims), 0);
        self.scales.push(quantise_row(vector, &mut self.bytes[start..]));
        Ok(())
    }

    /// Adds the vectors of `part`, which has the same number of dimensions.
    pub fn append(&mut self, part: &VectorSetBuilder) -> Result<()> {
        expect_dims(self.dims, part.dims)?;
        self.bytes.extend_from_slice(&part.bytes);
        self.scales.extend_from_slice(&part.scales);
        Ok(())
    }

    /// Adds vector `id` of `from`, which has the same dimensions, as the next one, without quantising it again.
    pub fn push_stored(&mut self, from: &VectorSet, id: u32) -> Result<()> {
        expect_dims(self.dims, from.dims)?;
        let row = from.row(id)?;
        self.bytes.extend(row.bytes());
        self.scales.push(row.scale);
        Ok(())
    }

    /// Number of vectors added so far.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Writes the section `prefix`+`H`, those of [`rows`] and, with bits, those of [`binary`]. Deterministic. Cost: that of writing; with bits 1 µs
    /// of one core a row more, on all cores.
    pub fn write(&self, segment: &mut SegmentWriter, prefix: TagPrefix, choice: BinaryChoice) -> Result<()> {
        let [dims, rows, tail_dims] = [self.dims, self.scales.len(), self.tail_dims].map(|count| count as u64);
        segment.section_of(tag(prefix, b'H'), &[Head { dims, rows, tail_dims }])?;
        let has_bits = match choice {
            BinaryChoice::Auto => self.scales.len() >= BINARY_FROM_ROWS,
            BinaryChoice::Never => false,
            BinaryChoice::Always => true,
        };
        // With bits few rows are compared, without all of them.
        rows::write(self, segment, prefix, has_bits)?;
        if has_bits { binary::write(self, segment, prefix) } else { Ok(()) }
    }
}

/// Dot product of two rows of equal length; excess bytes of a longer one are ignored.
pub fn byte_dot(left: &[i8], right: &[i8]) -> i32 {
    dot::rows(left, right)
}

/// A query quantised to 16-bit integers once for many comparisons.
#[derive(Debug)]
pub struct PreparedQuery {
    dims: usize,
    /// `None` for a query that is zero or not finite.
    query: Option<Query>,
}

/// A set of vectors in an open segment, read in place.
#[derive(Debug)]
pub struct VectorSet {
    dims: usize,
    len: usize,
    rows: Rows,
    binary: Option<BinaryRows>,
}

impl VectorSet {
    /// Opens the set that [`VectorSetBuilder::write`] wrote under `prefix`. Reads only its header.
    pub fn open(segment: &SegmentFile, prefix: TagPrefix) -> Result<Self> {
        let head_section = segment.section(tag(prefix, b'H'))?;
        let head = head_section.slice::<Head>(0..1)?[0];
        let [dims, len, tail_dims] = [head.dims, head.rows, head.tail_dims].map(|count| count as usize);
        let is_possible = (1..=MOST_DIMS).contains(&dims) && tail_dims <= dims && u32::try_from(head.rows).is_ok();
        let rows = is_possible.then(|| Rows::open(segment, prefix, (dims, tail_dims), len)).transpose()?.flatten();
        let rows = rows.ok_or_else(|| head_section.damaged("its sizes do not match the other sections"))?;
        let binary = BinaryRows::open(segment, prefix, dims, len)?;
        Ok(VectorSet { dims, len, rows, binary })
    }

    /// Number of vectors, zero vectors included; ids are below it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Dimensions of every vector and query.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Whether it has bits.
    pub fn has_binary(&self) -> bool {
        self.binary.is_some()
    }

    /// Dot product of stored unit vector `id` and the unscaled `query`: their cosine if `query` is a unit vector. 0 for a zero vector.
    pub fn dot(&self, id: u32, query: &[f32]) -> Result<f32> {
        expect_dims(self.dims, query.len())?;
        let row = self.row(id)?;
        Ok(row.bytes().zip(query).map(|(byte, part)| f32::from(*byte) * part).sum::<f32>() * row.scale)
    }

    /// Prepares a query of this set's dimensions for [`cosines`](Self::cosines) and [`search_prepared`](Self::search_prepared), on this or
    /// any other set with as many dimensions.
    pub fn prepare(&self, query: &[f32]) -> Result<PreparedQuery> {
        expect_dims(self.dims, query.len())?;
        Ok(PreparedQuery { dims: self.dims, query: Query::new(query, stride(self.dims)) })
    }

    /// Replaces `out` by the cosines of a query with the stored vectors `ids`; 0 for zero vectors, and for all vectors if the query is
    /// zero.
    pub fn cosines(&self, ids: std::ops::Range<u32>, query: &PreparedQuery, out: &mut Vec<f32>) -> Result<()> {
        expect_dims(self.dims, query.dims)?;
        out.clear();
        let (start, end) = (ids.start as usize, ids.end as usize);
        if start > end || end > self.len {
            return Err(Error::Internal(format!("vectors {start}..{end} of {}", self.len)));
        }
        out.resize(end - start, 0.0);
        let Some(query) = &query.query else { return Ok(()) };
        let mut products = [0i32; PRODUCTS];
        for (part, out) in out.chunks_mut(PRODUCTS).enumerate() {
            let first = start + part * PRODUCTS;
            let products = &mut products[..out.len()];
            self.rows.products(first, query, None, products)?;
            let scales = self.rows.scales(first..first + out.len())?;
            for ((out, product), scale) in out.iter_mut().zip(products).zip(scales) {
                *out = *product as f32 * scale * query.scale;
            }
        }
        Ok(())
    }

    /// The cosine of a query with stored vector `id`; 0 if one of them is a zero vector.
    pub fn cosine_with(&self, id: u32, query: &PreparedQuery) -> Result<f32> {
        expect_dims(self.dims, query.dims)?;
        let row = self.row(id)?;
        Ok(query.query.as_ref().map_or(0.0, |query| row.product(query) as f32 * row.scale * query.scale))
    }

    /// Cosine of two stored vectors; 0 if one is a zero vector.
    pub fn cosine(&self, left: u32, right: u32) -> Result<f32> {
        let (left, right) = (self.row(left)?, self.row(right)?);
        Ok(left.product_with(&right) as f32 * left.scale * right.scale)
    }

    /// Writes stored unit vector `id` into `out`, which has [`dims`](Self::dims) elements.
    pub fn vector(&self, id: u32, out: &mut [f32]) -> Result<()> {
        expect_dims(self.dims, out.len())?;
        let row = self.row(id)?;
        out.iter_mut().zip(row.bytes()).for_each(|(part, byte)| *part = f32::from(*byte) * row.scale);
        Ok(())
    }

    /// The `k` vectors of greatest cosine with `query`, best first, ties by id; with `filter`, among the ids it accepts. Zero vectors are
    /// never returned, and a zero or non-finite query finds nothing.
    ///
    /// Exact over the stored vectors; with bits, of a thousand true neighbours one may be missing (at least .99 are tested to be there).
    /// Never fewer than `k` are returned if there are `k`.
    pub fn search(&self, query: &[f32], k: usize, filter: Option<Filter<'_>>) -> Result<Vec<(u32, f32)>> {
        self.search_prepared(&self.prepare(query)?, k, filter)
    }

    /// As [`search`](Self::search), with a query from [`prepare`](Self::prepare).
    pub fn search_prepared(
        &self,
        query: &PreparedQuery,
        k: usize,
        filter: Option<Filter<'_>>,
    ) -> Result<Vec<(u32, f32)>> {
        let found = self.search_several(std::slice::from_ref(query), k, filter)?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    /// As [`search_prepared`](Self::search_prepared), of several queries, for which the bits are read once.
    pub fn search_several(
        &self,
        queries: &[PreparedQuery],
        k: usize,
        filter: Option<Filter<'_>>,
    ) -> Result<Vec<Vec<(u32, f32)>>> {
        queries.iter().try_for_each(|query| expect_dims(self.dims, query.dims))?;
        let k = k.min(self.len);
        let asked: Vec<&Query> = queries.iter().filter_map(|query| query.query.as_ref()).collect();
        let found = match &self.binary {
            _ if k == 0 || asked.is_empty() => vec![Vec::new(); asked.len()],
            Some(binary) => self.sift(binary, &asked, k, filter)?,
            None => asked.iter().map(|query| self.scan(query, k, filter)).collect::<Result<_>>()?,
        };
        let mut found = found.into_iter();
        let of = |query: &PreparedQuery| query.query.as_ref().and_then(|_| found.next()).unwrap_or_default();
        Ok(queries.iter().map(of).collect())
    }

    /// As [`search`](Self::search), always by the exact scan: the reference for the bits.
    pub fn search_exact(&self, query: &[f32], k: usize, filter: Option<Filter<'_>>) -> Result<Vec<(u32, f32)>> {
        expect_dims(self.dims, query.len())?;
        match Query::new(query, stride(self.dims)) {
            Some(query) if k > 0 => self.scan(&query, k.min(self.len), filter),
            _ => Ok(Vec::new()),
        }
    }

    /// Compares the rows of which the bits do not say that they are not among the best: first those that promise most, as the better the
    /// `k`-th best is, the fewer rows reach it. The same on any number of cores.
    fn sift(
        &self,
        binary: &BinaryRows,
        queries: &[&Query],
        k: usize,
        filter: Option<Filter<'_>>,
    ) -> Result<Vec<Vec<(u32, f32)>>> {
        let asked = |query: &&Query| {
            let parts = query.parts[..self.dims].iter().map(|part| f32::from(*part) * query.scale);
            binary.query(parts.collect())
        };
        let asked: Vec<BinaryQuery> = queries.iter().map(asked).collect::<Result<_>>()?;
        // Of each block of rows a block of bounds for each query.
        let blocks = self.len.div_ceil(BLOCK_ROWS);
        let mut kept = BOUNDS.take();
        if kept.len() < blocks * asked.len() {
            kept.resize(blocks * asked.len(), [0.0; BLOCK_ROWS]);
        }
        let bounds = &mut kept[..blocks * asked.len()];
        let bounded = if blocks <= PART_BLOCKS {
            binary.bounds(&asked, 0, bounds)
        } else {
            let parts = bounds.par_chunks_mut(PART_BLOCKS * asked.len()).enumerate();
            parts.map(|(part, bounds)| binary.bounds(&asked, part * PART_BLOCKS, bounds)).collect()
        };
        let sifted = |(place, query): (usize, &&Query)| {
            let bounds = bounds.iter().skip(place).step_by(asked.len());
            self.sift_by(&bounds, query, k, filter)
        };
        let sifted = bounded.and_then(|()| queries.par_iter().enumerate().map(sifted).collect());
        BOUNDS.set(kept);
        sifted
    }

    /// As [`sift`](Self::sift), by what the rows' cosines hardly exceed.
    fn sift_by<'a>(
        &self,
        bounds: &(impl Iterator<Item = &'a [f32; BLOCK_ROWS]> + Clone),
        query: &Query,
        k: usize,
        filter: Option<Filter<'_>>,
    ) -> Result<Vec<(u32, f32)>> {
        let passes = |id: u32| (id as usize) < self.len && filter.is_none_or(|passes| passes(id));
        // None of a zero vector.
        let scores = |some: &[(u32, f32)]| -> Result<Vec<Option<f32>>> {
            let rows: Vec<Row<'_>> = some.iter().map(|(id, _)| self.row(*id)).collect::<Result<_>>()?;
            rows.iter().for_each(Row::ask_for);
            let score = |row: &Row<'_>| row.product(query) as f32 * row.scale * query.scale;
            Ok(rows.iter().map(|row| (row.scale > 0.0).then(|| score(row))).collect())
        };
        let mut promising = Top::new(k);
        for_each_reaching(bounds.clone(), f32::NEG_INFINITY, |id, bound| {
            if promising.wants(id, bound) && passes(id) {
                promising.push(id, bound);
            }
            promising.reached()
        });
        let mut promising: Vec<(u32, f32)> = promising.into_sorted();
        let mut top = Top::new(k);
        for ((id, _), score) in promising.iter().zip(scores(&promising)?) {
            score.into_iter().for_each(|score| top.push(*id, score));
        }
        promising.sort_unstable_by_key(|(id, _)| *id);
        let reached = top.reached();
        let mut others: Vec<(u32, f32)> = Vec::new();
        for_each_reaching(bounds.clone(), reached, |id, bound| {
            if promising.binary_search_by_key(&id, |(id, _)| *id).is_err() && passes(id) {
                others.push((id, bound));
            }
            reached
        });
        // What a row scores depends on no other one, but which are still to be kept does.
        let scores: Vec<Vec<Option<f32>>> =
            others.par_chunks(COMPARED_ROWS).with_min_len(LEAST_CHUNKS).map(scores).collect::<Result<_>>()?;
        for ((id, bound), score) in others.into_iter().zip(scores.into_iter().flatten()) {
            if bound < top.reached() {
                continue;
            }
            score.into_iter().for_each(|score| top.push(id, score));
        }
        Ok(top.into_sorted())
    }

    fn scan(&self, query: &Query, k: usize, filter: Option<Filter<'_>>) -> Result<Vec<(u32, f32)>> {
        let heads = self.rows.heads_by_query(query)?;
        let mut top = Top::new(k);
        let mut products = [0i32; PRODUCTS];
        for start in (0..self.len).step_by(PRODUCTS) {
            let end = (start + PRODUCTS).min(self.len);
            let products = &mut products[..end - start];
            self.rows.products(start, query, heads.as_deref(), products)?;
            let scales = self.rows.scales(start..end)?;
            for (id, (product, scale)) in (start as u32..).zip(products.iter().zip(scales)) {
                let score = *product as f32 * scale * query.scale;
                // The filter may be expensive, and few rows get this far.
                if *scale > 0.0 && top.wants(id, score) && filter.is_none_or(|passes| passes(id)) {
                    top.push(id, score);
                }
            }
        }
        Ok(top.into_sorted())
    }

    fn row(&self, id: u32) -> Result<Row<'_>> {
        if id as usize >= self.len {
            return Err(Error::Internal(format!("vector {id} of {}", self.len)));
        }
        self.rows.row(id as usize)
    }
}

/// Calls `visit` for the bounds that are not below `reached`, which it returns for the next ones.
fn for_each_reaching<'a>(
    blocks: impl Iterator<Item = &'a [f32; BLOCK_ROWS]>,
    mut reached: f32,
    mut visit: impl FnMut(u32, f32) -> f32,
) {
    for (block, bounds) in blocks.enumerate() {
        // Nearly always all are. A bound that is no number stands for nothing.
        let mut are_below = true;
        bounds.iter().for_each(|bound| are_below &= *bound < reached);
        if are_below {
            continue;
        }
        for (at, bound) in bounds.iter().enumerate() {
            if *bound < reached {
                continue;
            }
            reached = visit((block * BLOCK_ROWS + at) as u32, *bound);
        }
    }
}

fn stride(dims: usize) -> usize {
    dims.next_multiple_of(ROW_ALIGNMENT)
}

fn tag(prefix: TagPrefix, part: u8) -> Tag {
    [prefix[0], prefix[1], prefix[2], part]
}

fn expect_dims(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Internal(format!("a vector of {found} dimensions instead of {expected}")))
}

#[cfg(test)]
mod tests;
