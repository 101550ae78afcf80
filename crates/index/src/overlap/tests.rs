//! Galloping finds the same position as a binary search; so little is left unread that every column with the target share of a query is
//! found or is in the LSH; the best columns are the same whether all lists are read or common values are looked up.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::columns::{ColumnsFile, ColumnsWriter};
use crate::join::VALUE_TAGS;
use crate::postings;
use crate::segment::{SegmentFile, SegmentKind, SegmentWriter};
use crate::structure::{SegmentFiles, Structure, StructureWriter};
use lakeward_lake::profile;
use lakeward_lake::reader::{self, ReadOptions};
use lakeward_lake::scan;

#[test]
fn galloping_finds_the_first_not_smaller() {
    let list: Vec<u64> = (0..100).map(|i| i * 3).collect();
    for target in 0..320 {
        assert_eq!(gallop(&list, target), list.partition_point(|hash| *hash < target), "{target}");
    }
    assert_eq!(gallop(&[], 1), 0);
    assert_eq!(shared_hashes(&[2, 3, 3, 9, 27], &list), 3);
    assert_eq!(shared_hashes(&[], &list), 0);
}

proptest! {
    /// Each column contains the values up to its own number, so that small values are common; every budget is soon exceeded.
    #[test]
    fn no_column_is_missed_that_need_not_be(
        columns in proptest::collection::vec(proptest::collection::btree_set(0u32..40, 1..30), 1..60),
        query in proptest::collection::btree_set(0u32..45, 1..30),
        most in 1usize..200,
    ) {
        let frequency = |value: &u32| columns.iter().filter(|column| column.contains(value)).count();
        let mut lists: Vec<(usize, u32)> =
            query.iter().map(|value| (frequency(value), *value)).filter(|(bytes, _)| *bytes > 0).collect();
        lists.sort_unstable();
        let sizes: Vec<usize> = lists.iter().map(|(bytes, _)| *bytes).collect();
        for selection in [Selection::All, Selection::Best(3)] {
            let reading = Reading::plan(&sizes, query.len(), selection, [most / 8, most / 2, most]);
            prop_assert!(reading.bytes <= most && reading.lists <= lists.len());
            let read: BTreeSet<u32> = lists[..reading.lists].iter().map(|(_, value)| *value).collect();
            for column in &columns {
                let share = column.intersection(&query).count() as f64 / query.len() as f64;
                let met = column.intersection(&read).next().is_some();
                let list_bytes: usize = column.iter().map(frequency).sum();
                if share >= SURE_CONTAINMENT && !met {
                    prop_assert!(!reading.sure && is_missable(list_bytes as u64, most), "{column:?}");
                }
            }
        }
    }
}

/// Columns of a lake of number words; the first words are in nearly all columns.
fn columns(folder: &std::path::Path) -> (Columns, Postings, Vec<QueryValues>) {
    let mut writer = ColumnsWriter::default();
    let mut queries = Vec::new();
    for table in 0..600u64 {
        let mut text = String::from("name\n");
        for value in 0..(table % 37) + 3 {
            // Small numbers are common, and one in three columns starts higher.
            text.push_str(&format!("value {}\n", value * (1 + table % 4) + 20 * (table % 3 / 2)));
        }
        let path = folder.join("t.csv");
        std::fs::write(&path, text).unwrap();
        let mut reader = reader::open_path(&path, &ReadOptions::default()).unwrap();
        let scan = scan::scan(reader.as_mut()).unwrap();
        writer.push(table as u32, 0, &profile::profile(&scan).columns[0], &scan.sketches[0], false);
        queries.push(QueryValues::of(&scan.sketches[0]));
    }
    let pairs = writer.pairs();
    ColumnsFile.finish(folder, &writer).unwrap();
    const KIND: SegmentKind = SegmentKind(*b"TOVL");
    let path = folder.join("p.seg");
    let mut file = SegmentWriter::create(&path, KIND, 1).unwrap();
    let bytes = postings::write_postings(&mut file, VALUE_TAGS, pairs).unwrap();
    file.finish().unwrap();
    assert_eq!(bytes.len(), 600);
    let postings = Postings::open(&SegmentFile::open(&path, KIND, 1).unwrap(), VALUE_TAGS).unwrap();
    let files = SegmentFiles { folder: folder.to_path_buf(), removed: &[], listed: &[] };
    (Columns::open(&files).unwrap(), postings, queries)
}

#[test]
fn looking_up_common_values_gives_what_reading_their_lists_gives() {
    let folder = tempfile::tempdir().unwrap();
    let (columns, postings, queries) = columns(folder.path());
    let parts = SegmentParts { postings: &postings, columns: &columns, live: None };
    let closest = |overlaps: Vec<Overlap>| {
        let mut closest: Vec<Overlap> = overlaps;
        closest.sort_by(|a, b| b.closeness().total_cmp(&a.closeness()).then(a.column.cmp(&b.column)));
        closest.truncate(20);
        closest
    };
    for query in queries.iter().step_by(7) {
        let weights = ValueWeights::of(query, &[(&postings, columns.len())]).unwrap();
        let nothing = || Ok(Vec::new());
        let all = overlaps(query, &weights, 0, parts, Selection::All, nothing).unwrap();
        let truth: BTreeMap<u32, u64> = (0..600u32)
            .map(|column| (column, shared_hashes(&query.hashes, &queries[column as usize].hashes) as u64))
            .filter(|(_, shared)| *shared > 0)
            .collect();
        assert_eq!(all.iter().map(|overlap| (overlap.column, overlap.shared)).collect::<BTreeMap<_, _>>(), truth);
        let all = closest(all);
        for budgets in [BUDGETS, [0, 0, MOST_BYTES], [200, 2_000, MOST_BYTES], [0, 0, 3_000], [0, 0, 0]] {
            let best = overlaps_within(query, &weights, 0, parts, Selection::Best(20), budgets, || {
                Ok((0..600).chain([u32::MAX]).collect())
            });
            assert_eq!(closest(best.unwrap()), all, "{budgets:?}");
        }
        let even = |table: u32| table.is_multiple_of(2);
        let live = SegmentParts { live: Some(&even), ..parts };
        let best = overlaps(query, &weights, 0, live, Selection::Best(20), nothing).unwrap();
        assert!(best.len() <= 20 && best.iter().all(|overlap| overlap.column.is_multiple_of(2)));
    }
}
