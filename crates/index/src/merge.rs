//! Merges segments: many small ones become one, and removed tables are deleted from disk.
//!
//! Every update adds a segment, and every search reads all of them, so their number must stay small; rewriting everything at each update
//! would be expensive. As in a log-structured merge tree, segments of similar size are merged, so that a table is rewritten only each time
//! its segment grows severalfold. Nothing of the lake is read: stored data is copied, and inverted lists and trees are rebuilt from it.

use std::collections::BTreeMap;
use std::path::Path;

use super::LakeIndex;
use super::manifest::SegmentEntry;
use super::segment_builder::SegmentBuilder;
use super::structure::{StoredTable, VectorShape};
use super::token_vectors;
use lakeward_core::error::Result;
use lakeward_core::monitor::Monitor;

/// Number of segments of similar size that are merged into one.
const MERGED_AT_ONCE: usize = 4;
/// A size is similar up to this multiple of all smaller ones together.
const SIMILAR: u64 = 2;
/// A segment is rewritten if more than one in this many of its tables is removed.
const REMOVED_FRACTION: u32 = 4;

/// The size of a segment's live part, in values; tables count too, so that empty ones have a size.
fn live_size(segment: &SegmentEntry) -> u64 {
    let live = u64::from(segment.tables) - segment.removed.len() as u64;
    live + segment.values * live / u64::from(segment.tables).max(1)
}

/// The segments to merge next, as ascending positions in `segments`; `None` if no merge is needed. A merged segment has at most
/// `most_values` values and `most_tables` tables.
pub(super) fn choose(segments: &[SegmentEntry], most_values: u64, most_tables: u64) -> Option<Vec<usize>> {
    let mut by_size: Vec<(u64, usize)> =
        segments.iter().enumerate().map(|(place, segment)| (live_size(segment), place)).collect();
    by_size.sort_unstable();
    let mut group: Vec<usize> = Vec::new();
    let (mut group_size, mut group_tables) = (0, 0);
    for (size, place) in by_size {
        let tables = u64::from(segments[place].tables) - segments[place].removed.len() as u64;
        let is_similar = group.is_empty() || size <= SIMILAR * group_size;
        if !is_similar || group_size + size > most_values || group_tables + tables > most_tables {
            if group.len() >= MERGED_AT_ONCE {
                break;
            }
            group.clear();
            (group_size, group_tables) = (0, 0);
        }
        group.push(place);
        group_size += size;
        group_tables += tables;
    }
    if group.len() < MERGED_AT_ONCE {
        let has_many_removed =
            |segment: &SegmentEntry| segment.removed.len() as u32 > segment.tables / REMOVED_FRACTION;
        group = vec![segments.iter().position(has_many_removed)?];
    }
    group.sort_unstable();
    Some(group)
}

/// Where segments are written, and when one is closed.
pub(super) struct Into<'a> {
    /// The folder of the index.
    pub folder: &'a Path,
    /// The name of the segment of this number.
    pub name: &'a dyn Fn(usize) -> String,
    /// Whether a segment of so many values and tables is closed.
    pub is_full: fn(values: usize, tables: usize) -> bool,
    /// The shape of the model's vectors.
    pub shape: VectorShape,
}

/// Writes the live tables of the segments at `places` of `index` anew, in the order of their ids.
///
/// # Errors
/// [`lakeward_core::Error::DamagedIndex`] if one of them is damaged, [`lakeward_core::Error::Io`] if writing fails.
pub(super) fn merge(
    index: &LakeIndex,
    places: &[usize],
    into: &Into<'_>,
    monitor: &dyn Monitor,
) -> Result<Vec<SegmentEntry>> {
    let mut tables: Vec<(&str, usize, u32)> = Vec::new();
    for &place in places {
        let segment = index.segment(place as u32)?;
        for table in (0..segment.tables.len() as u32).filter(|table| segment.is_live(*table)) {
            tables.push((segment.tables.id(table)?, place, table));
        }
    }
    tables.sort_unstable();
    // Segments of an older version have no vectors of pieces; the new one has none then, either.
    let vocabulary = token_vectors::shape(index.segments(), places.iter().copied()).map(|(_, vocabulary)| vocabulary);
    let all_meanings = places.iter().all(|place| index.segments()[*place].meanings.is_some());
    let text_dims = into.shape.text_dims.filter(|_| all_meanings);
    let shape = VectorShape { vocabulary, text_dims, ..into.shape };
    let mut written = Vec::new();
    let mut left = tables.as_slice();
    while !left.is_empty() {
        let mut builder = SegmentBuilder::create(into.folder, &(into.name)(written.len()), shape)?;
        let mut numbers: BTreeMap<usize, Vec<Option<u32>>> = BTreeMap::new();
        while let Some((&(_, place, table), after)) = left.split_first() {
            left = after;
            let segment = index.segment(place as u32)?;
            let restamped = index.manifest().segments[place].restamped.get(&table).copied();
            let modified_ns =
                restamped.map_or_else(|| segment.tables.stamp(table).map(|stamp| stamp.modified_ns), Ok)?;
            let numbers = numbers.entry(place).or_insert_with(|| vec![None; segment.tables.len()]);
            numbers[table as usize] = Some(builder.push_stored(&StoredTable { segment, table, modified_ns })?);
            if (into.is_full)(builder.values(), builder.tables()) {
                break;
            }
        }
        for (place, numbers) in &numbers {
            let number = |table: u32| numbers.get(table as usize).copied().flatten();
            builder.push_segment(index.segment(*place as u32)?, number)?;
        }
        written.push(builder.finish(false, monitor)?);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(tables: u32, values: u64, removed: u32) -> SegmentEntry {
        SegmentEntry {
            name: String::new(),
            tables,
            columns: tables,
            values,
            removed: (0..removed).collect(),
            restamped: BTreeMap::new(),
            files: Vec::new(),
        }
    }

    const MOST: u64 = 1 << 24;
    const TABLES: u64 = 1 << 18;

    #[test]
    fn small_segments_of_like_size_are_merged_and_large_ones_left() {
        let large = segment(5000, 1_000_000, 0);
        let small = || segment(50, 10_000, 0);
        assert_eq!(choose(&[large.clone(), small(), small(), small()], MOST, TABLES), None);
        assert_eq!(choose(&[small(), small(), large.clone(), small(), small()], MOST, TABLES), Some(vec![0, 1, 3, 4]));
        assert_eq!(
            choose(&[large.clone(), large.clone(), small(), large.clone(), large], MOST, TABLES),
            Some(vec![0, 1, 3, 4])
        );
        assert_eq!(choose(&[], MOST, TABLES), None);
        assert_eq!(choose(&[segment(0, 0, 0)], MOST, TABLES), None);
    }

    #[test]
    fn full_segments_are_never_merged() {
        let full = || segment(100_000, MOST - 1000, 0);
        assert_eq!(choose(&[full(), full(), full(), full(), full()], MOST, TABLES), None);
    }

    #[test]
    fn segments_full_of_records_are_left_as_they_are() {
        let full = || segment(1 << 18, 0, 0);
        assert_eq!(choose(&[full(), full(), full(), full(), full()], MOST, TABLES), None);
    }

    #[test]
    fn riddled_segments_are_written_anew() {
        assert_eq!(choose(&[segment(100, 5000, 25), segment(100, 100_000, 0)], MOST, TABLES), None);
        assert_eq!(choose(&[segment(100, 100_000, 0), segment(100, 5000, 26)], MOST, TABLES), Some(vec![1]));
    }

    /// Updates of equal size: few segments at any time, and each table is rewritten a logarithmic number of times.
    #[test]
    fn many_updates_leave_few_segments_at_little_cost() {
        let mut segments = Vec::new();
        let (mut written, mut most) = (0, 0);
        for _ in 0..1000 {
            segments.push(segment(10, 1000, 0));
            while let Some(group) = choose(&segments, MOST, TABLES) {
                let merged = group
                    .iter()
                    .fold((0, 0), |sum, place| (sum.0 + segments[*place].tables, sum.1 + segments[*place].values));
                for place in group.into_iter().rev() {
                    segments.remove(place);
                }
                written += merged.0;
                segments.push(segment(merged.0, merged.1, 0));
            }
            most = most.max(segments.len());
        }
        assert!(most <= 16, "{most} segments");
        assert!(written <= 10 * 1000 * 8, "{written} tables written");
    }
}
