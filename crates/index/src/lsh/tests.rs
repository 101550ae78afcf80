//! Planted domains are found as often as the theory predicts, at every size ratio; a query on a synthetic lake finds most of the containing
//! domains and little else; candidates are unique, sorted and independent of insertion order; a damaged or foreign segment is refused;
//! empty input is harmless.

use proptest::prelude::*;

use super::*;
use crate::segment::SegmentKind;
use domains::Domain as Interval;

#[path = "../../../../benches/support/domains.rs"]
mod domains;

const KIND: SegmentKind = SegmentKind(*b"TLSH");

fn build(domains: &[(u32, u64, MinHash)], params: LshParams) -> LshIndex {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lsh.seg");
    let mut builder = LshBuilder::new(params).unwrap();
    domains.iter().for_each(|(id, cardinality, signature)| builder.add(*id, *cardinality, signature));
    let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
    builder.write(&mut writer).unwrap();
    writer.finish().unwrap();
    LshIndex::open(&SegmentFile::open(&path, KIND, 1).unwrap()).unwrap()
}

fn signed(domains: &[Interval]) -> Vec<(u32, u64, MinHash)> {
    domains.par_iter().enumerate().map(|(id, d)| (id as u32, d.len, MinHash::of(&d.hashes()))).collect()
}

fn candidates(index: &LshIndex, query: &Interval, threshold: f64) -> Vec<u32> {
    let mut out = Vec::new();
    index.query(query.len, &MinHash::of(&query.hashes()), threshold, &mut out).unwrap();
    out
}

/// Recall of planted domains with containment `containment` at size ratio `ratio`, queried with exactly that threshold: the hardest case.
/// One topic per query, so each query has exactly one correct answer.
fn planted_recall(params: LshParams, query_len: u64, ratio: u64, containment: f64) -> f64 {
    const QUERIES: u64 = 300;
    let query = |topic| Interval { topic, start: 1_000_000, len: query_len };
    let planted: Vec<Interval> = (0..QUERIES)
        .map(|topic| {
            let start = query(topic).start + ((1.0 - containment) * query_len as f64) as u64;
            Interval { topic, start, len: query_len * ratio }
        })
        .collect();
    let index = build(&signed(&planted), params);
    let found = (0..QUERIES).filter(|topic| candidates(&index, &query(*topic), containment).contains(&(*topic as u32)));
    found.count() as f64 / QUERIES as f64
}

#[test]
fn planted_domains_are_found_as_the_theory_predicts() {
    // Minimum expected recall per (containment, size ratio); 300 queries have a standard error below 3%.
    let expected = [(0.3, 1, 0.95), (0.5, 1, 0.95), (0.8, 1, 0.95), (0.3, 100, 0.4), (0.5, 100, 0.62), (0.8, 100, 0.8)];
    for (containment, ratio, least) in expected {
        let recall = planted_recall(LshParams::default(), 100, ratio, containment);
        let fewer = planted_recall(LshParams { trees: 128, ..LshParams::default() }, 100, ratio, containment);
        println!("containment {containment} size ratio 1:{ratio}: recall {recall:.3}; 128 trees: {fewer:.3}");
        assert!(recall >= least, "recall {recall} at {containment}, 1:{ratio}");
    }
}

#[test]
fn a_skewed_lake_is_searched_with_high_recall_and_few_candidates() {
    const DOMAINS: usize = 4_000;
    const QUERIES: usize = 200;
    let lake = domains::lake(7, DOMAINS);
    let signed = signed(&lake);
    for (trees, depth) in [(128, 2), (256, 1), (256, 2)] {
        let index = build(&signed, LshParams { trees, depth, ..LshParams::default() });
        assert_eq!(index.len(), DOMAINS);
        for threshold in [0.3, 0.5, 0.8] {
            // Correct answers and found ones by size ratio: up to 2, 10, 100, more.
            let mut tally = [(0, 0); 4];
            let (mut given, mut right) = (0, 0);
            for query in lake.iter().step_by(DOMAINS / QUERIES) {
                let found = candidates(&index, query, threshold);
                given += found.len();
                for (id, domain) in lake.iter().enumerate().filter(|(_, d)| query.containment_in(d) >= threshold) {
                    let class = [2, 10, 100].iter().position(|r| domain.len <= query.len * r).unwrap_or(3);
                    let hit = i32::from(found.binary_search(&(id as u32)).is_ok());
                    tally[class] = (tally[class].0 + 1, tally[class].1 + hit);
                    right += hit;
                }
            }
            let shares = tally.map(|(all, found)| found as f64 / f64::from(all.max(1)));
            println!(
                "{trees} × {depth}, threshold {threshold}: recall {shares:.3?} at size ratios up to 2, 10, 100, beyond \
                 ({tally:?}); {:.1} candidates a query, {:.0}% right",
                given as f64 / QUERIES as f64,
                100.0 * right as f64 / given as f64
            );
            assert!(shares[0] > 0.95 && shares[1] > 0.9 && shares[2] > 0.7, "recall {shares:?}");
        }
    }
}

#[test]
fn candidates_are_unique_sorted_and_appended() {
    let lake = domains::lake(1, 500);
    let mut domains = signed(&lake);
    let index = build(&domains, LshParams::default());
    domains.reverse();
    let reversed = build(&domains, LshParams::default());
    for query in lake.iter().take(20) {
        let found = candidates(&index, query, 0.5);
        assert!(found.is_sorted_by(|a, b| a < b));
        assert_eq!(found, candidates(&reversed, query, 0.5));
    }
    let mut out = vec![9_999, 0];
    index.query(lake[0].len, &MinHash::of(&lake[0].hashes()), 0.5, &mut out).unwrap();
    assert_eq!(out[..2], [9_999, 0]);
    assert_eq!(out[2..], candidates(&index, &lake[0], 0.5));
    assert!(out[2..].contains(&0), "it contains itself");
}

#[test]
fn empty_input_is_harmless() {
    let index = build(&[(3, 0, MinHash::new())], LshParams::default());
    assert!(index.is_empty());
    let query = Interval { topic: 1, start: 0, len: 10 };
    assert!(candidates(&index, &query, 0.5).is_empty());
    let index = build(&signed(&[query]), LshParams::default());
    let mut out = Vec::new();
    index.query(0, &MinHash::new(), 0.5, &mut out).unwrap();
    assert!(out.is_empty());
    assert_eq!(candidates(&index, &query, 1.0), [0]);
}

#[test]
fn impossible_shapes_are_refused() {
    for (trees, depth, partitions) in
        [(0, 2, 32), (64, 0, 32), (64, 3, 32), (257, 1, 32), (64, 2, 0), (usize::MAX, 2, 1)]
    {
        assert!(LshBuilder::new(LshParams { trees, depth, partitions }).is_err());
    }
    let query = Interval { topic: 1, start: 0, len: 10 };
    for depth in 1..=2 {
        let index = build(&signed(&[query]), LshParams { trees: 32, depth, partitions: 2 });
        assert_eq!(candidates(&index, &query, 0.9), [0]);
    }
}

#[test]
fn impossible_heads_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lsh.seg");
    let whole = [Head { trees: 1, depth: 1, domains: 2, partitions: 1 }];
    let partition = Partition { least_cardinality: 1, greatest_cardinality: 2, domains: 2, start_byte: 0 };
    let cases = [
        (whole[0], partition, 15),
        (Head { trees: u64::MAX, ..whole[0] }, partition, 16),
        (Head { domains: 3, ..whole[0] }, partition, 16),
        (whole[0], Partition { domains: u64::MAX / 8, ..partition }, 16),
        (whole[0], Partition { start_byte: 8, ..partition }, 16),
    ];
    for (head, partition, tree_bytes) in cases {
        let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
        let head = [bytemuck::bytes_of(&head), bytemuck::bytes_of(&partition)].concat();
        writer.section(HEAD_TAG, &head).unwrap();
        writer.section(TREES_TAG, &vec![0; tree_bytes]).unwrap();
        writer.finish().unwrap();
        let opened = LshIndex::open(&SegmentFile::open(&path, KIND, 1).unwrap());
        assert!(matches!(opened, Err(Error::DamagedIndex { .. })));
    }
}

proptest! {
    #[test]
    fn interpolation_finds_the_lower_bound(mut keys: Vec<u32>, bits in 0u32..32, target: u32, member: usize) {
        keys.iter_mut().for_each(|key| *key >>= bits);
        keys.sort_unstable();
        let present = keys.get(member % keys.len().max(1)).copied().unwrap_or(0);
        for least in [target, target >> bits, present, 0, u32::MAX] {
            prop_assert_eq!(lower_bound(&keys, least), keys.partition_point(|key| *key < least));
        }
    }
}
