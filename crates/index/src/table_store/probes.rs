//! A few values of each table, by which two tables with the same columns are told apart without reading their columns.
//!
//! For each column, in the order of their names: the number of values, whether these are all, and the first 16 bits of the smallest value
//! hashes, ascending. The first columns only, up to [`MOST_VALUES`].

use lakeward_core::text::name_words;
use lakeward_lake::profile::ColumnProfile;
use lakeward_sketch::ColumnSketch;

/// Smallest value hashes of a column.
const PROBED: usize = 128;
/// Values of a table, at least those of its first column.
const MOST_VALUES: usize = 512;
/// Fewer values say nothing, unless they are all.
const LEAST_PROBED: usize = 6;
/// The bit of a number of values that says that the column has no others.
const COMPLETE: u16 = 1 << 15;

/// The columns in the order of their names.
pub fn by_name<'a>(columns: impl IntoIterator<Item = &'a ColumnProfile>) -> Vec<usize> {
    let mut named: Vec<(String, usize)> =
        columns.into_iter().map(|column| name_words(&column.name).join(" ")).zip(0..).collect();
    named.sort_unstable();
    named.into_iter().map(|(_, place)| place).collect()
}

/// The probes of a table with these columns.
pub(super) fn of(columns: &[ColumnProfile], sketches: &[ColumnSketch]) -> Vec<u16> {
    let mut probes: Vec<u16> = Vec::new();
    for place in by_name(columns) {
        let Some(sketch) = sketches.get(place) else { break };
        let count = sketch.hashes.len().min(PROBED);
        if !probes.is_empty() && probes.len() + 1 + count > MOST_VALUES {
            break;
        }
        let complete = count == sketch.hashes.len() && sketch.bound == u64::MAX;
        probes.push(count as u16 | if complete { COMPLETE } else { 0 });
        probes.extend(sketch.hashes[..count].iter().map(|hash| (hash >> 48) as u16));
    }
    probes
}

/// The number of values of each column, whether these are all, and the values.
fn columns(mut probes: &[u16]) -> impl Iterator<Item = (bool, &[u16])> {
    std::iter::from_fn(move || {
        let (count, rest) = probes.split_first()?;
        let (values, after) = rest.split_at_checked(usize::from(count & !COMPLETE))?;
        probes = after;
        Some((count & COMPLETE != 0, values))
    })
}

/// Whether each of the columns of `small`, so many, has at least `share` of its values in the same column of `large`, as far as the
/// smallest hashes of both say; `None` where they say too little of some column, and no other one has less.
pub fn may_share(small: &[u16], large: &[u16], count: usize, share: f64) -> Option<bool> {
    let mut judged = 0;
    for ((own_complete, own), (complete, theirs)) in columns(small).zip(columns(large)) {
        // Of greater values nothing is known.
        let known = if complete { u16::MAX } else { theirs.last().copied().unwrap_or(0) };
        let known = own.partition_point(|value| *value <= known);
        let found = own[..known].iter().filter(|value| theirs.binary_search(value).is_ok()).count();
        if known >= LEAST_PROBED || own_complete && known == own.len() {
            if (found as f64) < share * known as f64 {
                return Some(false);
            }
            judged += 1;
        }
    }
    (judged == count).then_some(true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    /// Probes of one column that has these hashes.
    fn probes(hashes: &[u64]) -> Vec<u16> {
        let count = hashes.len().min(PROBED);
        let complete = if count == hashes.len() { COMPLETE } else { 0 };
        std::iter::once(count as u16 | complete).chain(hashes[..count].iter().map(|hash| (hash >> 48) as u16)).collect()
    }

    proptest! {
        #[test]
        fn whatever_a_file_says(small in prop::collection::vec(any::<u16>(), 0..200), large in prop::collection::vec(any::<u16>(), 0..200)) {
            may_share(&small, &large, 3, 0.3);
        }
    }

    #[test]
    fn tables_are_told_apart_by_the_values_that_both_know() {
        let hashes = |numbers: std::ops::Range<u64>| {
            let mut hashes: Vec<u64> = numbers.map(|number| xxh3_64(&number.to_le_bytes())).collect();
            hashes.sort_unstable();
            hashes
        };
        let share = |small: std::ops::Range<u64>, large: std::ops::Range<u64>| {
            may_share(&probes(&hashes(small)), &probes(&hashes(large)), 1, 0.3)
        };
        assert_eq!(share(0..500, 0..1000), Some(true));
        assert_eq!(share(0..500, 2000..3000), Some(false));
        assert_eq!(share(0..500, 450..1500), Some(false));
        assert_eq!((share(0..5, 0..20), share(0..5, 5..20)), (Some(true), Some(false)));
        assert_eq!(share(0..20, 0..100_000), None, "the smallest values of so many say nothing of most others");
        let two = [probes(&hashes(0..20)), probes(&hashes(0..20))].concat();
        assert_eq!(may_share(&two, &two, 3, 0.3), None, "nothing is known of the third column");
    }
}
