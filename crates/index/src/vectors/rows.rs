//! The rows of a set as they are stored: what many rows have in common once.
//!
//! A row is a head and, in a set of two parts, a tail. Columns of one lake have the same names and values over and over, so that half of
//! their heads are copies: heads are stored once each, with the number of its head for each row. A product with a query is that of the head
//! and that of the tail, as whole numbers, and so the same as that of a row in one piece.

use rayon::prelude::*;

use super::dot;
use super::quantise::Query;
use super::{ROW_ALIGNMENT, TagPrefix, VectorSetBuilder, stride, tag};
use crate::segment::{Packing, Section, SegmentFile, SegmentWriter};
use lakeward_core::error::{Error, Result};

/// Heads are stored once if less than this share of them differ: a number takes four bytes a row and a read more.
const MOST_DISTINCT: f64 = 0.9;
/// Rows whose products are computed together.
pub(super) const PRODUCTS: usize = 256;

/// Bytes of the heads of rows of `dims` dimensions, of which the last `tail_dims` are the tail: at least one loop over them.
fn head_bytes(dims: usize, tail_dims: usize) -> usize {
    let head = (dims - tail_dims) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    if tail_dims == 0 || head == 0 { stride(dims) } else { head }
}

/// Writes the sections `prefix`+`N` (if heads repeat), `R`, `E` (if there are tails) and `S`. Heads are `packed` where a search reads few of
/// them.
pub(super) fn write(
    set: &VectorSetBuilder,
    segment: &mut SegmentWriter,
    prefix: TagPrefix,
    packed: bool,
) -> Result<()> {
    let head = head_bytes(set.dims, set.tail_dims);
    let rows = || set.bytes.chunks_exact(stride(set.dims)).map(|row| row.split_at(head));
    let mut heads: Vec<&[i8]> = rows().map(|(head, _)| head).collect();
    // In order: what is nearly the same, as heads of other scales are, is then packed together, and read together.
    let mut distinct = heads.clone();
    distinct.par_sort_unstable();
    distinct.dedup();
    let repeat = (distinct.len() as f64) < MOST_DISTINCT * heads.len() as f64;
    if repeat {
        let number = |head: &&[i8]| distinct.partition_point(|other| other < head) as u32;
        let numbers: Vec<u32> = heads.par_iter().map(number).collect();
        segment.packed_section_of(tag(prefix, b'N'), Packing::Fast, &numbers)?;
        heads = distinct;
    }
    if repeat && packed {
        let mut section = segment.packed_section_writer(tag(prefix, b'R'), Packing::Small)?;
        heads.into_iter().try_for_each(|head| section.write_slice(head))?;
        section.finish()?;
    } else {
        let mut section = segment.section_writer(tag(prefix, b'R'))?;
        heads.into_iter().try_for_each(|head| section.write_slice(head))?;
    }
    if head < stride(set.dims) {
        let mut tails = segment.packed_section_writer(tag(prefix, b'E'), Packing::Fast)?;
        rows().try_for_each(|(_, tail)| tails.write_slice(tail))?;
        tails.finish()?;
    }
    segment.section_of(tag(prefix, b'S'), &set.scales)
}

/// Whether a query asks for the other part alone, as those of an alignment do.
fn is_zero(part: &[i16]) -> bool {
    part.iter().fold(0, |all, value| all | value) == 0
}

/// The stored rows of a set, read in place.
#[derive(Debug)]
pub(super) struct Rows {
    head: usize,
    tail: usize,
    numbers: Option<Section>,
    heads: Section,
    tails: Option<Section>,
    scales: Section,
}

/// A stored row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub head: &'a [i8],
    pub tail: &'a [i8],
    /// 0 for a zero vector.
    pub scale: f32,
}

impl Row<'_> {
    /// All its bytes, those it is padded with too.
    pub(super) fn bytes(&self) -> impl Iterator<Item = &i8> {
        self.head.iter().chain(self.tail)
    }

    /// Tells the processor that it is read soon.
    pub(super) fn ask_for(&self) {
        dot::ask_for(self.head);
        dot::ask_for(self.tail);
    }

    /// Its product with a query that is as long.
    pub(super) fn product(&self, query: &Query) -> i32 {
        let (head, tail) = query.parts.split_at(self.head.len());
        let rest = if self.tail.is_empty() { 0 } else { dot::row_by_query(self.tail, tail) };
        dot::row_by_query(self.head, head) + rest
    }

    /// Its product with another row of the set.
    pub(super) fn product_with(&self, other: &Self) -> i32 {
        dot::rows(self.head, other.head) + dot::rows(self.tail, other.tail)
    }
}

impl Rows {
    /// Opens what [`write()`] wrote of `rows` vectors of `dims` dimensions, of which the last `tail_dims` are the tail; `None` if the sizes of
    /// the sections do not fit.
    pub(super) fn open(
        segment: &SegmentFile,
        prefix: TagPrefix,
        (dims, tail_dims): (usize, usize),
        rows: usize,
    ) -> Result<Option<Self>> {
        let head = head_bytes(dims, tail_dims);
        let tail = stride(dims) - head;
        let (heads, scales) = (segment.section(tag(prefix, b'R'))?, segment.section(tag(prefix, b'S'))?);
        let (numbers, tails) = (segment.find_section(tag(prefix, b'N')), segment.find_section(tag(prefix, b'E')));
        let fits = scales.len() == rows * size_of::<f32>()
            && tails.as_ref().map_or(0, Section::len) == rows * tail
            && match &numbers {
                None => heads.len() == rows * head,
                Some(numbers) => numbers.len() == rows * size_of::<u32>() && heads.len().is_multiple_of(head),
            };
        Ok(fits.then_some(Self { head, tail, numbers, heads, tails, scales }))
    }

    pub(super) fn scales(&self, rows: std::ops::Range<usize>) -> Result<&[f32]> {
        self.scales.slice(rows)
    }

    /// Row `id`, which is one of the set.
    pub(super) fn row(&self, id: usize) -> Result<Row<'_>> {
        let number = match &self.numbers {
            None => id,
            Some(numbers) => numbers.slice::<u32>(id..id + 1)?[0] as usize,
        };
        Ok(Row { head: self.head(number)?, tail: self.tail(id..id + 1)?, scale: self.scales.slice(id..id + 1)?[0] })
    }

    fn head(&self, number: usize) -> Result<&[i8]> {
        self.heads.slice(number * self.head..(number + 1) * self.head)
    }

    fn tail(&self, ids: std::ops::Range<usize>) -> Result<&[i8]> {
        match &self.tails {
            Some(tails) => tails.slice(ids.start * self.tail..ids.end * self.tail),
            None => Ok(&[]),
        }
    }

    /// The products of `query` with all heads, if they are stored once each: for [`products`](Self::products) of many rows.
    pub(super) fn heads_by_query(&self, query: &Query) -> Result<Option<Vec<i32>>> {
        if self.numbers.is_none() {
            return Ok(None);
        }
        let mut products = vec![0; self.heads.len() / self.head];
        dot::rows_by_query(self.heads.all()?, &query.parts[..self.head], &mut products);
        Ok(Some(products))
    }

    /// Writes the products of `query` with the rows from `first` on, at most [`PRODUCTS`].
    pub(super) fn products(&self, first: usize, query: &Query, heads: Option<&[i32]>, out: &mut [i32]) -> Result<()> {
        let (head, tail) = query.parts.split_at(self.head);
        let ids = first..first + out.len();
        match &self.numbers {
            _ if is_zero(head) => out.fill(0),
            None => dot::rows_by_query(self.heads.slice(ids.start * self.head..ids.end * self.head)?, head, out),
            Some(numbers) => {
                for (out, number) in out.iter_mut().zip(numbers.slice::<u32>(ids.clone())?) {
                    *out = match heads {
                        Some(heads) => *heads.get(*number as usize).ok_or_else(|| self.impossible())?,
                        None => dot::row_by_query(self.head(*number as usize)?, head),
                    };
                }
            }
        }
        if self.tail > 0 && !is_zero(tail) {
            let mut rest = [0; PRODUCTS];
            let rest = &mut rest[..out.len()];
            dot::rows_by_query(self.tail(ids)?, tail, rest);
            out.iter_mut().zip(rest).for_each(|(product, rest)| *product += *rest);
        }
        Ok(())
    }

    #[cold]
    fn impossible(&self) -> Error {
        self.heads.damaged("a row whose head is not there")
    }
}
