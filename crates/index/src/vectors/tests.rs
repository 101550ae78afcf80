//! The exact scan returns the same as f32 arithmetic except for quantisation; ties go to the smaller id; zero and non-finite vectors are
//! never found; filters are respected, broad or selective, with and without bits; with bits at least 99% of the true neighbours are found,
//! among clusters, near-copies and copies too; the bits are the same each time and everywhere; impossible sections are refused.

use super::*;
use crate::segment::SegmentKind;
use embeddings::{Random, clustered, unit};

#[path = "../../../../benches/support/embeddings.rs"]
mod embeddings;

const KIND: SegmentKind = SegmentKind(*b"TVEC");
const PREFIX: TagPrefix = *b"COL";

fn build(vectors: &[Vec<f32>], choice: BinaryChoice) -> VectorSet {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.seg");
    let mut builder = VectorSetBuilder::new(vectors[0].len()).unwrap();
    vectors.iter().for_each(|vector| builder.push(vector).unwrap());
    let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
    builder.write(&mut writer, PREFIX, choice).unwrap();
    writer.finish().unwrap();
    let set = VectorSet::open(&SegmentFile::open(&path, KIND, 1).unwrap(), PREFIX).unwrap();
    assert_eq!((set.len(), set.dims()), (vectors.len(), vectors[0].len()));
    let is_large = choice == BinaryChoice::Auto && vectors.len() >= BINARY_FROM_ROWS;
    assert_eq!(set.has_binary(), choice == BinaryChoice::Always || is_large);
    set
}

fn product(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

fn ids(found: &[(u32, f32)]) -> Vec<u32> {
    found.iter().map(|(id, _)| *id).collect()
}

fn brute_force(vectors: &[Vec<f32>], query: &[f32], k: usize) -> Vec<u32> {
    let mut scored: Vec<(f32, u32)> =
        vectors.iter().zip(0..).map(|(vector, id)| (product(vector, query), id)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().take(k).map(|(_, id)| id).collect()
}

/// Mean share of `expected` that is in `found`.
fn recall(pairs: &[(Vec<u32>, Vec<u32>)]) -> f64 {
    let shares = pairs.iter().map(|(expected, found)| {
        expected.iter().filter(|id| found.contains(id)).count() as f64 / expected.len() as f64
    });
    shares.sum::<f64>() / pairs.len() as f64
}

#[test]
fn quantisation_costs_little() {
    for dims in [64, 256, 768] {
        let vectors = clustered(1, 3_000, dims);
        let queries = clustered(2, 50, dims);
        let set = build(&vectors, BinaryChoice::Never);
        let mut greatest_error = 0f32;
        let mut pairs = Vec::new();
        for query in queries.iter().chain(&vectors[..50]) {
            let found = set.search(query, 10, None).unwrap();
            for (id, score) in &found {
                greatest_error = greatest_error.max((score - product(&vectors[*id as usize], query)).abs());
                assert!((score - set.dot(*id, query).unwrap()).abs() < 1e-4);
            }
            pairs.push((brute_force(&vectors, query, 10), ids(&found)));
        }
        let recall = recall(&pairs);
        println!("{dims} dimensions: recall@10 of f32 {recall:.3}, greatest cosine error {greatest_error:.5}");
        assert!(greatest_error < 0.01 && recall > 0.95);
    }
}

#[test]
fn rows_are_unit_vectors_whatever_was_pushed() {
    let vectors = vec![vec![3.0, 4.0, 0.0], vec![-3e30, 0.0, 4e30], vec![0.0, 1e-40, 0.0]];
    let set = build(&vectors, BinaryChoice::Never);
    let mut row = [0.0; 3];
    for (id, expected) in [[0.6, 0.8, 0.0], [-0.6, 0.0, 0.8], [0.0, 1.0, 0.0]].iter().enumerate() {
        set.vector(id as u32, &mut row).unwrap();
        assert!(row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01), "{row:?}");
        assert!((product(&row, &row) - 1.0).abs() < 1e-5);
    }
    assert!((set.cosine(0, 1).unwrap() + 0.36).abs() < 0.01);
    assert!(
        (set.search(&[300.0, 400.0, 0.0], 1, None).unwrap()[0].1 - 1.0).abs() < 1e-3,
        "queries need no unit length"
    );
}

#[test]
fn degenerate_vectors_are_never_found() {
    let nothing = [vec![0.0; 4], vec![f32::NAN, 1.0, 0.0, 0.0], vec![f32::INFINITY, 1.0, 0.0, 0.0]];
    for choice in [BinaryChoice::Never, BinaryChoice::Always] {
        let vectors = [&nothing[..], &[vec![1.0, 0.0, 0.0, 0.0], vec![-1.0, 0.0, 0.0, 0.0]]].concat();
        let set = build(&vectors, choice);
        assert_eq!(ids(&set.search(&[1.0, 0.0, 0.0, 0.0], 10, None).unwrap()), [3, 4]);
        for query in &nothing {
            assert!(set.search(query, 10, None).unwrap().is_empty());
        }
        assert_eq!(set.cosine(0, 3).unwrap(), 0.0);
        assert!(build(&nothing, choice).search(&vectors[3], 3, None).unwrap().is_empty());
    }
    let empty = VectorSetBuilder::new(4).unwrap();
    assert!(empty.is_empty() && VectorSetBuilder::new(0).is_err() && VectorSetBuilder::new(MOST_DIMS + 1).is_err());
}

#[test]
fn ties_go_to_the_smaller_id_and_k_is_a_limit() {
    for choice in [BinaryChoice::Never, BinaryChoice::Always] {
        let set = build(&vec![vec![1.0, 2.0, 3.0]; 300], choice);
        assert_eq!(ids(&set.search(&[1.0, 2.0, 3.0], 5, None).unwrap()), [0, 1, 2, 3, 4]);
        assert_eq!(set.search(&[1.0, 2.0, 3.0], 0, None).unwrap(), []);
        assert_eq!(set.search(&[1.0, 2.0, 3.0], 10_000, None).unwrap().len(), 300);
        assert!(set.search(&[1.0, 2.0], 5, None).is_err() && set.dot(300, &[1.0, 2.0, 3.0]).is_err());
    }
}

#[test]
fn the_largest_sums_fit() {
    for dims in [32, 512, 513, MOST_DIMS] {
        let mut vectors = vec![vec![1.0; dims], vec![-1.0; dims]];
        vectors[1][0] = 0.5;
        let set = build(&vectors, BinaryChoice::Never);
        let found = set.search(&vec![7.0; dims], 2, None).unwrap();
        assert!((found[0].1 - 1.0).abs() < 1e-4 && (-1.0..-0.9).contains(&found[1].1), "{found:?}");
    }
}

/// Asks a set with bits for the neighbours of each query, and returns the least recall of three filters.
fn least_recall(name: &str, vectors: &[Vec<f32>], queries: &[Vec<f32>]) -> f64 {
    let set = build(vectors, BinaryChoice::Always);
    let broad = |id: u32| !id.is_multiple_of(3);
    let selective = |id: u32| id.is_multiple_of(50);
    let filters: [Option<Filter<'_>>; 3] = [None, Some(&broad), Some(&selective)];
    let recalls = filters.map(|filter| {
        let pairs: Vec<(Vec<u32>, Vec<u32>)> = queries
            .iter()
            .map(|query| {
                let found = set.search(query, 10, filter).unwrap();
                assert!(found.len() == 10 && found.is_sorted_by(|a, b| a.1 > b.1 || (a.1 == b.1 && a.0 < b.0)));
                assert!(found.iter().all(|(id, _)| filter.is_none_or(|passes| passes(*id))));
                (ids(&set.search_exact(query, 10, filter).unwrap()), ids(&found))
            })
            .collect();
        recall(&pairs)
    });
    println!("{name}: {} rows of {}, recall@10 {recalls:.4?}", vectors.len(), vectors[0].len());
    recalls.into_iter().fold(1.0, f64::min)
}

#[test]
fn with_bits_the_true_neighbours_are_found() {
    for dims in [32, 100, 128, 256, 288, 384, 1000] {
        let vectors = clustered(3, 3_000, dims);
        let queries = [clustered(4, 50, dims), vectors[..50].to_vec()].concat();
        assert!(least_recall("clusters", &vectors, &queries) >= 0.99);
    }
    // All at one side of the origin, as real texts are.
    let aside = |vectors: Vec<Vec<f32>>| -> Vec<Vec<f32>> {
        vectors.iter().map(|vector| unit(vector.iter().map(|part| part + 0.2).collect())).collect()
    };
    assert!(least_recall("aside", &aside(clustered(3, 3_000, 128)), &aside(clustered(4, 100, 128))) >= 0.99);
    // Few dimensions that are not zero.
    let sparse = |seed: u64, count: usize| -> Vec<Vec<f32>> {
        let rows = clustered(seed, count, 64).into_iter().enumerate();
        rows.map(|(at, row)| {
            (0..288).map(|place| if place % 96 < 5 { row[place % 64] } else { (at % 7) as f32 * 1e-3 }).collect()
        })
        .collect()
    };
    assert!(least_recall("sparse", &sparse(5, 3_000), &sparse(6, 100)) >= 0.99);
}

#[test]
fn with_bits_copies_and_near_copies_are_told_apart() {
    for (groups, spread) in [(50, 0.002), (3, 0.002), (50, 0.05), (3, 0.0)] {
        let centres = clustered(5, groups, 64);
        let mut random = Random(6);
        let near = |at: usize, random: &mut Random| {
            unit(centres[at % groups].iter().map(|part| part + spread * random.normal()).collect())
        };
        let vectors: Vec<Vec<f32>> = (0..3_000).map(|at| near(at, &mut random)).collect();
        let queries: Vec<Vec<f32>> = (0..50).map(|at| near(at, &mut random)).chain(centres.clone()).collect();
        assert!(least_recall(&format!("{groups} groups, {spread}"), &vectors, &queries) >= 0.99);
    }
}

#[test]
fn with_bits_few_rows_are_compared() {
    let set = build(&clustered(3, BINARY_FROM_ROWS, 128), BinaryChoice::Auto);
    assert!(!build(&clustered(3, BINARY_FROM_ROWS - 1, 128), BinaryChoice::Auto).has_binary());
    let binary = set.binary.as_ref().unwrap();
    for query in clustered(4, 20, 128) {
        let tenth = set.search_exact(&query, 10, None).unwrap()[9].1;
        let mut bounds = vec![[0.0; BLOCK_ROWS]; set.len().div_ceil(BLOCK_ROWS)];
        binary.bounds(&[binary.query(query.clone()).unwrap()], 0, &mut bounds).unwrap();
        let reaching = bounds.as_flattened()[..set.len()].iter().filter(|bound| **bound >= tenth).count();
        assert!((10..1_000).contains(&reaching), "{reaching} rows");
    }
}

/// Stored bits are compared with queries of later programs: a change of what they are needs another version of the files.
#[test]
fn the_bits_stay_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = VectorSetBuilder::new(288).unwrap();
    clustered(8, 1_000, 288).iter().for_each(|vector| builder.push(vector).unwrap());
    let mut writer = SegmentWriter::create(&folder.path().join("v.seg"), KIND, 1).unwrap();
    builder.write(&mut writer, PREFIX, BinaryChoice::Always).unwrap();
    assert_eq!(format!("{:016x}", writer.finish().unwrap().checksum), "0d98690fece31afe");
}

/// Whether heads are stored once and tails apart, the same vectors have the same answers.
#[test]
fn rows_are_the_same_in_one_piece_and_in_parts() {
    let heads = clustered(11, 40, 256);
    let vectors: Vec<Vec<f32>> = clustered(12, 1_000, 288)
        .into_iter()
        .enumerate()
        .map(|(id, mut vector)| {
            // The greatest value is in the head, so that equal heads are equal rows.
            vector[..256].iter_mut().zip(&heads[id % 40]).for_each(|(value, head)| *value = 10.0 * head);
            vector
        })
        .chain([vec![0.0; 288]])
        .collect();
    let differ: Vec<Vec<f32>> = clustered(14, 300, 288);
    for (vectors, repeat) in [(vectors, true), (differ, false)] {
        let stored = |tail: usize| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("v.seg");
            let mut builder = VectorSetBuilder::in_two_parts(288, tail).unwrap();
            vectors.iter().for_each(|vector| builder.push(vector).unwrap());
            let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
            builder.write(&mut writer, PREFIX, BinaryChoice::Always).unwrap();
            let bytes = writer.finish().unwrap().bytes;
            (VectorSet::open(&SegmentFile::open(&path, KIND, 1).unwrap(), PREFIX).unwrap(), bytes)
        };
        let ((whole, whole_bytes), (parts, parts_bytes)) = (stored(0), stored(32));
        assert_eq!(parts_bytes * 2 < whole_bytes, repeat, "{parts_bytes} of {whole_bytes} bytes");
        for query in clustered(13, 10, 288) {
            let prepared = whole.prepare(&query).unwrap();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            for ids in [0..vectors.len() as u32, 3..290] {
                whole.cosines(ids.clone(), &prepared, &mut one).unwrap();
                parts.cosines(ids, &prepared, &mut other).unwrap();
                assert_eq!(one, other);
            }
            for k in [1, 10, vectors.len()] {
                let found = whole.search_exact(&query, k, None).unwrap();
                assert_eq!(found, parts.search_exact(&query, k, None).unwrap());
                assert_eq!(whole.search(&query, k, None).unwrap(), parts.search(&query, k, None).unwrap());
                assert_eq!(found[0].1, parts.cosine_with(found[0].0, &prepared).unwrap());
            }
            assert_eq!(whole.dot(7, &query).unwrap(), parts.dot(7, &query).unwrap());
        }
        for id in 0..vectors.len() as u32 {
            assert_eq!(whole.cosine(0, id).unwrap(), parts.cosine(0, id).unwrap());
            let (mut one, mut other) = ([0.0; 288], [0.0; 288]);
            whole.vector(id, &mut one).unwrap();
            parts.vector(id, &mut other).unwrap();
            assert_eq!(one, other);
        }
    }
}

#[test]
fn a_head_that_is_not_there_is_damage() {
    let head = Head { dims: 2, rows: 2, tail_dims: 0 };
    let numbers: [u8; 8] = [0, 0, 0, 0, 9, 0, 0, 0];
    let set = open_sections(head, &[1i8; 32], &[0.1f32; 2], &[(b'N', &numbers)]).unwrap();
    assert!(set.dot(0, &[1.0, 1.0]).is_ok());
    assert!(matches!(set.dot(1, &[1.0, 1.0]), Err(Error::DamagedIndex { .. })));
    assert!(matches!(set.search(&[1.0, 1.0], 2, None), Err(Error::DamagedIndex { .. })));
}

/// A segment with valid checksums and arbitrary content.
fn open_sections(head: Head, bytes: &[i8], scales: &[f32], more: &[(u8, &[u8])]) -> Result<VectorSet> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.seg");
    let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
    writer.section_of(tag(PREFIX, b'H'), &[head]).unwrap();
    writer.section_of(tag(PREFIX, b'R'), bytes).unwrap();
    writer.section_of(tag(PREFIX, b'S'), scales).unwrap();
    more.iter().for_each(|(part, bytes)| writer.section(tag(PREFIX, *part), bytes).unwrap());
    writer.finish().unwrap();
    VectorSet::open(&SegmentFile::open(&path, KIND, 1).unwrap(), PREFIX)
}

#[test]
fn impossible_sections_are_refused() {
    let head = Head { dims: 2, rows: 2, tail_dims: 0 };
    let (bytes, scales) = ([1i8; 64], [0.1f32; 2]);
    let heads = [
        Head { dims: 0, ..head },
        Head { dims: u64::MAX, ..head },
        Head { rows: 3, ..head },
        Head { rows: u64::MAX, ..head },
        Head { tail_dims: 3, ..head },
        Head { tail_dims: u64::MAX, ..head },
    ];
    for head in heads {
        assert!(matches!(open_sections(head, &bytes, &scales, &[]), Err(Error::DamagedIndex { .. })));
    }
    // A block of 32 rows of 64 dimensions, two numbers a row. What else is there is never read: older programs stored a graph.
    let (mean, bits, terms) = ([0; 8], [0; 256], [0; 256]);
    let good: [(u8, &[u8]); 4] = [(b'M', &mean), (b'B', &bits), (b'T', &terms), (b'G', &[1, 2, 3])];
    for more in [&good[..], &good[3..]] {
        let set = open_sections(head, &bytes, &scales, more).unwrap();
        assert_eq!(set.has_binary(), more.len() == 4);
        assert_eq!(ids(&set.search(&[1.0, 1.0], 2, None).unwrap()), [0, 1]);
    }
    for at in 0..3 {
        let (mut short, mut missing) = (good, good.to_vec());
        short[at].1 = &short[at].1[4..];
        missing.remove(at);
        assert!(matches!(open_sections(head, &bytes, &scales, &short), Err(Error::DamagedIndex { .. })));
        // Without the bits there is nothing that the others would be of.
        assert_eq!(open_sections(head, &bytes, &scales, &missing).is_ok(), at == 1);
    }
    // Whatever the numbers are, no row is lost that they do not speak against.
    for filled in [[0u8; 256], [127; 256], [255; 256]] {
        let more: [(u8, &[u8]); 3] = [(b'M', &filled[..8]), (b'B', &filled), (b'T', &filled)];
        let set = open_sections(head, &bytes, &scales, &more).unwrap();
        assert_eq!(ids(&set.search(&[1.0, 1.0], 2, None).unwrap()), [0, 1]);
    }
}
