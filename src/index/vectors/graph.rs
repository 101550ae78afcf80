//! A navigable graph over the rows (HNSW: Malkov and Yashunin, TPAMI 2020), for sets too large to scan.
//!
//! The crate `hnsw_rs` builds the graph, on the quantised rows themselves and by serial insertion, which is slower than its
//! parallel one but gives the same graph every time. Only the adjacency is kept, as plain arrays in the segment; searching it is
//! done here, over the mapped rows. The crate's own dump is not used: its files have no checksum, its loader panics and
//! prints on damaged ones, stores the vectors a second time, takes a second per 60,000 rows, and yields a value that borrows
//! the loader.
//!
//! The section is one array of u32: entry row, number of levels; per level its number of nodes and of edges; then per level,
//! from 0: the rows on it (not for level 0, which has all of them), where each node's edges start (nodes + 1 numbers), edges.

use std::collections::BinaryHeap;
use std::ops::Range;

use hnsw_rs::prelude::{Distance, Hnsw};

use super::quantise::Query;
use super::top::{Scored, Top};
use super::{Filter, Rows, dot};
use crate::error::{Error, Result};
use crate::index::segment::Section;

/// Edges a node on the upper levels; level 0 has twice as many.
const EDGES: usize = 16;
/// Candidates examined when a node is inserted.
const BUILD_BREADTH: usize = 200;
/// Candidates examined by a search, at least; and per result asked for.
const SEARCH_BREADTH: usize = 128;
const SEARCH_BREADTH_PER_RESULT: usize = 4;
const MOST_LEVELS: usize = 16;
/// Each row is handed to the builder with its scale behind its bytes.
const SCALE_BYTES: usize = size_of::<f32>();

/// 1 − cosine of two rows that carry their scales.
struct RowDistance;

impl Distance<i8> for RowDistance {
    fn eval(&self, left: &[i8], right: &[i8]) -> f32 {
        let (left, left_scale) = split_scale(left);
        let (right, right_scale) = split_scale(right);
        (1.0 - dot::rows(left, right) as f32 * left_scale * right_scale).max(0.0)
    }
}

fn split_scale(row: &[i8]) -> (&[i8], f32) {
    let (row, scale) = row.split_at(row.len() - SCALE_BYTES);
    (row, bytemuck::pod_read_unaligned(bytemuck::cast_slice(scale)))
}

/// The graph of all rows but zero vectors, as stored.
///
/// Cost: half a millisecond of one core a row at 4,000 rows of 256 dimensions, growing; memory about 3 KiB a row.
pub(super) fn build(rows: Rows<'_>) -> Result<Vec<u32>> {
    let count = rows.scales.len();
    let hnsw = Hnsw::<i8, RowDistance>::new(EDGES, count, MOST_LEVELS, BUILD_BREADTH, RowDistance);
    let mut with_scale = Vec::with_capacity(rows.stride + SCALE_BYTES);
    for (id, scale) in rows.scales.iter().enumerate().filter(|(_, scale)| **scale > 0.0) {
        with_scale.clear();
        with_scale.extend_from_slice(rows.row(id as u32));
        with_scale.extend_from_slice(bytemuck::cast_slice(&[*scale]));
        hnsw.insert_slice((&with_scale, id));
    }
    encode(&adjacency(&hnsw), count)
}

/// Per level, ascending by row: (row, its neighbours). The entry row is the first of the last level.
type Level = Vec<(u32, Vec<u32>)>;

fn adjacency(hnsw: &Hnsw<'_, i8, RowDistance>) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    if hnsw.get_nb_point() == 0 {
        return levels;
    }
    levels.resize_with(hnsw.get_max_level_observed() as usize + 1, Vec::new);
    for point in hnsw.get_point_indexation() {
        let top_level = point.get_point_id().0 as usize;
        let neighbours = point.get_neighborhood_id();
        for (number, (level, neighbours)) in levels.iter_mut().zip(neighbours).take(top_level + 1).enumerate() {
            // The first row on a new level is linked there to rows that do not reach it.
            let on_level = neighbours.iter().filter(|neighbour| neighbour.p_id.0 as usize >= number);
            let neighbours = on_level.map(|neighbour| neighbour.get_origin_id() as u32).collect();
            level.push((point.get_origin_id() as u32, neighbours));
        }
    }
    levels.iter_mut().for_each(|level| level.sort_unstable_by_key(|(row, _)| *row));
    levels
}

fn encode(levels: &[Level], row_count: usize) -> Result<Vec<u32>> {
    let too_large = |_| Error::Internal("a graph of more than four thousand million edges".into());
    let entry = levels.last().and_then(|level| level.first()).map_or(0, |(row, _)| *row);
    let mut words = vec![entry, levels.len() as u32];
    for (number, level) in levels.iter().enumerate() {
        let nodes = if number == 0 { row_count } else { level.len() };
        let edges: usize = level.iter().map(|(_, neighbours)| neighbours.len()).sum();
        words.push(u32::try_from(nodes).map_err(too_large)?);
        words.push(u32::try_from(edges).map_err(too_large)?);
    }
    for (number, level) in levels.iter().enumerate() {
        let mut start = 0;
        if number == 0 {
            // Rows outside the graph have no edges.
            let mut members = level.iter().peekable();
            for row in 0..row_count as u32 {
                words.push(start);
                start += members.next_if(|(member, _)| *member == row).map_or(0, |(_, edges)| edges.len() as u32);
            }
        } else {
            words.extend(level.iter().map(|(row, _)| *row));
            for (_, edges) in level {
                words.push(start);
                start += edges.len() as u32;
            }
        }
        words.push(start);
        level.iter().for_each(|(_, edges)| words.extend_from_slice(edges));
    }
    Ok(words)
}

/// A stored graph, read in place.
#[derive(Debug)]
pub(super) struct Graph {
    section: Section,
    entry: u32,
    row_count: usize,
    /// Level 0 first.
    levels: Vec<LevelPlace>,
}

/// Where one level's arrays lie, in words of the section.
#[derive(Debug)]
struct LevelPlace {
    /// Empty for level 0, where node and row number are the same.
    rows: Range<usize>,
    starts: Range<usize>,
    edges: Range<usize>,
}

impl Graph {
    /// Reads the head; errors when its numbers do not fit the section.
    pub(super) fn open(section: Section, row_count: usize) -> Result<Self> {
        let head = section.slice::<u32>(0..2)?;
        let (entry, level_count) = (head[0], head[1] as usize);
        let head_words = 2 + 2 * level_count;
        if level_count > MOST_LEVELS || (level_count > 0 && entry as usize >= row_count) {
            return Err(section.damaged("impossible graph"));
        }
        let mut next = head_words;
        let mut place = |words: usize| {
            next += words;
            next - words..next
        };
        let mut levels = Vec::new();
        for (number, counts) in section.slice::<u32>(2..head_words)?.chunks_exact(2).enumerate() {
            let (nodes, edges) = (counts[0] as usize, counts[1] as usize);
            if nodes > row_count || (number == 0 && nodes != row_count) {
                return Err(section.damaged("impossible graph level"));
            }
            let rows = place(if number == 0 { 0 } else { nodes });
            levels.push(LevelPlace { rows, starts: place(nodes + 1), edges: place(edges) });
        }
        if next * size_of::<u32>() != section.len() {
            return Err(section.damaged("its levels do not fill it"));
        }
        Ok(Graph { section, entry, row_count, levels })
    }

    /// The `k` best rows that the walk meets, best first; fewer when it meets fewer.
    pub(super) fn search(
        &self,
        rows: Rows<'_>,
        query: &Query,
        k: usize,
        filter: Option<Filter<'_>>,
    ) -> Result<Vec<(u32, f32)>> {
        if self.levels.is_empty() {
            return Ok(Vec::new());
        }
        let score = |id: u32| {
            let product = dot::row_by_query(rows.row(id), &query.parts);
            Scored { score: product as f32 * rows.scales[id as usize] * query.scale, id }
        };
        let mut nearest = score(self.entry);
        for level in self.levels[1..].iter().rev() {
            nearest = self.descend(level, nearest, score)?;
        }
        let breadth = SEARCH_BREADTH.max(k * SEARCH_BREADTH_PER_RESULT);
        let mut found = self.walk(&self.levels[0], nearest, breadth, score, filter)?.into_sorted();
        found.truncate(k);
        Ok(found)
    }

    /// Steps to the best neighbour until none is better.
    fn descend(&self, level: &LevelPlace, from: Scored, score: impl Fn(u32) -> Scored) -> Result<Scored> {
        let mut nearest = from;
        loop {
            let best = self.neighbours(level, nearest.id)?.iter().map(|id| score(*id)).max();
            match best {
                Some(better) if better > nearest => nearest = better,
                _ => return Ok(nearest),
            }
        }
    }

    /// Best-first walk until the best row not yet expanded is worse than the `breadth` best found. Rows that the filter rejects
    /// are walked through, not returned.
    fn walk(
        &self,
        level: &LevelPlace,
        from: Scored,
        breadth: usize,
        score: impl Fn(u32) -> Scored,
        filter: Option<Filter<'_>>,
    ) -> Result<Top> {
        let passes = |id: u32| filter.is_none_or(|filter| filter(id));
        let mut seen = vec![0u64; self.row_count.div_ceil(64)];
        let mut top = Top::new(breadth);
        let mut open = BinaryHeap::from([from]);
        seen[from.id as usize / 64] |= 1 << (from.id % 64);
        if passes(from.id) {
            top.push(from.id, from.score);
        }
        while let Some(current) = open.pop() {
            if top.worst_of_full().is_some_and(|worst| current < worst) {
                break;
            }
            for id in self.neighbours(level, current.id)? {
                let (word, bit) = (*id as usize / 64, 1 << (id % 64));
                if seen[word] & bit != 0 {
                    continue;
                }
                seen[word] |= bit;
                let neighbour = score(*id);
                if top.wants(neighbour.id, neighbour.score) {
                    open.push(neighbour);
                    if passes(neighbour.id) {
                        top.push(neighbour.id, neighbour.score);
                    }
                }
            }
        }
        Ok(top)
    }

    /// The rows next to `row` on a level; every one of them exists.
    fn neighbours(&self, level: &LevelPlace, row: u32) -> Result<&[u32]> {
        let node = if level.rows.is_empty() {
            row as usize
        } else {
            match self.section.slice::<u32>(level.rows.clone())?.binary_search(&row) {
                Ok(node) => node,
                Err(_) => return Err(self.section.damaged("an edge leads off its level")),
            }
        };
        let at = level.starts.start + node;
        let bounds = self.section.slice::<u32>(at..at + 2)?;
        let (start, end) = (bounds[0] as usize, bounds[1] as usize);
        if start > end || end > level.edges.len() {
            return Err(self.section.damaged("impossible edges"));
        }
        let edges = self.section.slice::<u32>(level.edges.start + start..level.edges.start + end)?;
        if edges.iter().any(|id| *id as usize >= self.row_count) {
            return Err(self.section.damaged("an edge leads outside"));
        }
        Ok(edges)
    }
}
