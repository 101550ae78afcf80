//! Builds the graph: each row is linked to diverse near neighbours found by walking the current graph (Malkov and Yashunin, TPAMI 2020,
//! algorithms 1 and 4).
//!
//! Rows are inserted in batches that double up to [`MOST_BATCH`] (after ParlayANN: Manohar et al., PPoPP 2024): the rows of a batch choose
//! their neighbours at the same time, on all cores, among the rows before the batch and the earlier ones in it; then all links are written.
//! A row's choice does not depend on the threads, and its level follows from its number, so the same rows give the same graph everywhere.

use rayon::prelude::*;

use super::super::{Rows, dot};
use super::{EDGES, MOST_LEVELS, Scored, Visited, walk};
use lakeward_core::error::Result;

/// Candidates examined when a row is inserted. 64 take three quarters of the time; among the vectors of 156,000 real columns
/// the graph then finds 0.957 of the true ten neighbours, with 128 it finds 0.981.
const BUILD_BREADTH: usize = 128;
/// Searches end on level 0; it has twice the edges.
const LEVEL_0_EDGES: usize = 2 * EDGES;
/// Maximum rows that choose at the same time: few compared with the rows before them, so that comparing them with each other costs little.
const MOST_BATCH: usize = 512;
/// A batch has at most this share of the rows before it.
const BATCH_SHARE: usize = 4;

/// The graph of all rows except zero vectors, during and after building.
pub(super) struct Growing<'a> {
    rows: Rows<'a>,
    /// Level 0: [`LEVEL_0_EDGES`] slots per row, and how many of them are used.
    edges: Vec<u32>,
    degrees: Vec<u8>,
    /// The levels above: their rows, ascending, with their neighbours.
    upper: Vec<Vec<(u32, Vec<u32>)>>,
    /// A row on the highest level.
    entry: Option<u32>,
}

/// The neighbours of one row, level by level.
type Choice = Vec<Vec<u32>>;

/// Builds it. Cost: 0.1 ms (10,000 rows of 288 dimensions) to 0.2 ms (156,000) of one core per row, on all cores; 130 bytes per row.
pub(super) fn build(rows: Rows<'_>) -> Result<Growing<'_>> {
    let count = rows.scales.len();
    let mut graph = Growing {
        rows,
        edges: vec![0; count * LEVEL_0_EDGES],
        degrees: vec![0; count],
        upper: Vec::new(),
        entry: None,
    };
    let ids: Vec<u32> = (0..count as u32).filter(|id| rows.scales[*id as usize] > 0.0).collect();
    let mut done = 0;
    while done < ids.len() {
        let size = (done / BATCH_SHARE).clamp(1, MOST_BATCH).min(ids.len() - done);
        graph.insert(&ids[done..done + size])?;
        done += size;
    }
    Ok(graph)
}

impl Growing<'_> {
    /// A row on the highest level; `None` if the graph is empty.
    pub(super) fn entry(&self) -> Option<u32> {
        self.entry
    }

    /// Number of levels.
    pub(super) fn levels(&self) -> usize {
        if self.entry.is_some() { 1 + self.upper.len() } else { 0 }
    }

    /// The rows of a level above 0 with their neighbours, ascending.
    pub(super) fn upper(&self, level: usize) -> &[(u32, Vec<u32>)] {
        &self.upper[level - 1]
    }

    /// The neighbours of any row on level 0.
    pub(super) fn base(&self, id: u32) -> &[u32] {
        let start = id as usize * LEVEL_0_EDGES;
        &self.edges[start..start + usize::from(self.degrees[id as usize])]
    }

    fn neighbours(&self, level: usize, id: u32) -> &[u32] {
        if level == 0 {
            return self.base(id);
        }
        let nodes = &self.upper[level - 1];
        nodes.binary_search_by_key(&id, |node| node.0).map_or(&[], |place| &nodes[place].1)
    }

    fn insert(&mut self, batch: &[u32]) -> Result<()> {
        let choices: Vec<Choice> = (0..batch.len())
            .into_par_iter()
            .with_min_len(4)
            .map_init(|| Visited::new(self.degrees.len()), |visited, place| self.choose(&batch[..=place], visited))
            .collect::<Result<_>>()?;
        let mut backward: Vec<(usize, u32, u32)> = Vec::new();
        for (id, choice) in batch.iter().zip(choices) {
            if self.entry.is_none() || choice.len() > 1 + self.upper.len() {
                self.entry = Some(*id);
            }
            for (level, chosen) in choice.into_iter().enumerate() {
                backward.extend(chosen.iter().map(|other| (level, *other, *id)));
                self.set(level, *id, chosen);
            }
        }
        // Each row is linked back to all rows that chose it.
        backward.sort_unstable();
        let groups: Vec<&[(usize, u32, u32)]> = backward.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
        let lists: Vec<Vec<u32>> = groups.par_iter().with_min_len(16).map(|group| self.linked_back(group)).collect();
        for (group, list) in groups.iter().zip(lists) {
            let (level, id, _) = group[0];
            self.set(level, id, list);
        }
        Ok(())
    }

    fn set(&mut self, level: usize, id: u32, list: Vec<u32>) {
        if level == 0 {
            let start = id as usize * LEVEL_0_EDGES;
            self.edges[start..start + list.len()].copy_from_slice(&list);
            self.degrees[id as usize] = list.len() as u8;
            return;
        }
        if self.upper.len() < level {
            self.upper.resize_with(level, Vec::new);
        }
        let nodes = &mut self.upper[level - 1];
        match nodes.binary_search_by_key(&id, |node| node.0) {
            Ok(place) => nodes[place].1 = list,
            // Rows come in ascending order, so this is the end.
            Err(place) => nodes.insert(place, (id, list)),
        }
    }

    /// The neighbours of the last row of `before`, chosen from all inserted rows and the others of `before`.
    fn choose(&self, before: &[u32], visited: &mut Visited) -> Result<Choice> {
        let Some((&id, earlier)) = before.split_last() else { return Ok(Choice::new()) };
        let top = level_of(id);
        let mut choice: Choice = vec![Vec::new(); top + 1];
        let beside: Vec<(usize, Scored)> =
            earlier.iter().map(|other| (level_of(*other), self.scored(id, *other))).collect();
        let mut from = self.entry.map(|entry| self.scored(id, entry));
        for level in (0..self.levels().max(top + 1)).rev() {
            let mut near: Vec<Scored> = Vec::new();
            if level < self.levels()
                && let Some(start) = from
            {
                let breadth = if level > top { 1 } else { BUILD_BREADTH };
                let neighbours = |other: u32| Ok(self.neighbours(level, other));
                let found = walk(visited, start, breadth, |other| Ok(self.scored(id, other)), neighbours, None)?;
                near.extend(found.into_sorted().into_iter().map(|(id, score)| Scored { score, id }));
                from = near.first().copied().or(from);
            }
            if level <= top {
                near.extend(beside.iter().filter(|(other_top, _)| *other_top >= level).map(|(_, scored)| *scored));
                near.sort_unstable_by(|a, b| b.cmp(a));
                near.truncate(BUILD_BREADTH);
                choice[level] = self.diverse(&near, EDGES);
            }
        }
        Ok(choice)
    }

    /// The new list of a row that all of `group` chose on one level: (level, the chosen row, the choosing row).
    fn linked_back(&self, group: &[(usize, u32, u32)]) -> Vec<u32> {
        let (level, id, _) = group[0];
        let most = if level == 0 { LEVEL_0_EDGES } else { EDGES };
        let mut list = self.neighbours(level, id).to_vec();
        list.extend(group.iter().map(|(_, _, other)| *other));
        if list.len() <= most {
            return list;
        }
        let mut all: Vec<Scored> = list.iter().map(|other| self.scored(id, *other)).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        self.diverse(&all, most)
    }

    /// Selects at most `most` of the candidates, which are ordered best first, leaving out those nearer to one already chosen than to the
    /// row itself: they are reachable through that one, and the saved edge can lead elsewhere.
    fn diverse(&self, candidates: &[Scored], most: usize) -> Vec<u32> {
        let mut chosen: Vec<u32> = Vec::with_capacity(most);
        for candidate in candidates {
            if chosen.len() == most {
                break;
            }
            if chosen.iter().all(|other| self.scored(candidate.id, *other).score <= candidate.score) {
                chosen.push(candidate.id);
            }
        }
        chosen
    }

    /// `other`, scored by its cosine with `id`.
    fn scored(&self, id: u32, other: u32) -> Scored {
        let product = dot::rows(self.rows.row(id), self.rows.row(other));
        let score = product as f32 * self.rows.scales[id as usize] * self.rows.scales[other as usize];
        Scored { score, id: other }
    }
}

/// The highest level of a row: one in [`EDGES`] rows reaches each next level, chosen by a hash of its number.
fn level_of(id: u32) -> usize {
    let hash = xxhash_rust::xxh3::xxh3_64(&id.to_le_bytes());
    let uniform = (hash >> 11) as f64 / (1u64 << 53) as f64;
    let level = -uniform.max(f64::MIN_POSITIVE).ln() / (EDGES as f64).ln();
    (level as usize).min(MOST_LEVELS - 1)
}
