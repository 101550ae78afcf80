//! The exact scan returns the same as f32 arithmetic except for quantisation; ties go to the smaller id; zero and non-finite vectors are
//! never found; filters are respected, broad or selective, with and without a graph; the graph finds at least 95% of the true neighbours
//! and is built identically each time; impossible sections are refused.

use super::*;
use crate::segment::SegmentKind;
use embeddings::{Random, clustered, unit};

#[path = "../../../../benches/support/embeddings.rs"]
mod embeddings;

const KIND: SegmentKind = SegmentKind(*b"TVEC");
const PREFIX: TagPrefix = *b"COL";

fn build(vectors: &[Vec<f32>], choice: GraphChoice) -> VectorSet {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.seg");
    let mut builder = VectorSetBuilder::new(vectors[0].len()).unwrap();
    vectors.iter().for_each(|vector| builder.push(vector).unwrap());
    let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
    builder.write(&mut writer, PREFIX, choice).unwrap();
    writer.finish().unwrap();
    let set = VectorSet::open(&SegmentFile::open(&path, KIND, 1).unwrap(), PREFIX).unwrap();
    assert_eq!((set.len(), set.dims()), (vectors.len(), vectors[0].len()));
    assert_eq!(set.has_graph(), choice == GraphChoice::Always);
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
        let set = build(&vectors, GraphChoice::Never);
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
    let set = build(&vectors, GraphChoice::Never);
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
    for choice in [GraphChoice::Never, GraphChoice::Always] {
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
    for choice in [GraphChoice::Never, GraphChoice::Always] {
        let set = build(&vec![vec![1.0, 2.0, 3.0]; 300], choice);
        let found = set.search(&[1.0, 2.0, 3.0], 5, None).unwrap();
        if choice == GraphChoice::Never {
            assert_eq!(ids(&found), [0, 1, 2, 3, 4]);
        }
        assert_eq!(found.len(), 5);
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
        let set = build(&vectors, GraphChoice::Never);
        let found = set.search(&vec![7.0; dims], 2, None).unwrap();
        assert!((found[0].1 - 1.0).abs() < 1e-4 && (-1.0..-0.9).contains(&found[1].1), "{found:?}");
    }
}

#[test]
fn the_parallel_scan_answers_as_the_serial_one() {
    let mut random = Random(9);
    let vectors: Vec<Vec<f32>> = (0..40_000).map(|_| (0..256).map(|_| random.normal()).collect()).collect();
    let set = build(&vectors, GraphChoice::Auto);
    assert!(set.bytes.len() >= PARALLEL_BYTES);
    for query in &vectors[..5] {
        let prepared = Query::new(query, stride(256)).unwrap();
        let serial = set.scan_part(&prepared, 20, None, 0..set.len()).unwrap().into_sorted();
        assert_eq!(set.search(query, 20, None).unwrap(), serial);
        let even = |id: u32| id.is_multiple_of(2);
        let filtered = set.search(query, 20, Some(&even)).unwrap();
        assert_eq!(filtered, set.scan_part(&prepared, 20, Some(&even), 0..set.len()).unwrap().into_sorted());
        assert!(filtered.len() == 20 && filtered.iter().all(|(id, _)| even(*id)));
    }
}

#[test]
fn the_graph_finds_the_true_neighbours() {
    let vectors = clustered(3, 5_000, 128);
    let set = build(&vectors, GraphChoice::Always);
    let queries = [clustered(4, 100, 128), vectors[..100].to_vec()].concat();
    let broad = |id: u32| !id.is_multiple_of(3);
    let selective = |id: u32| id.is_multiple_of(50);
    let filters: [(&str, Option<Filter<'_>>); 3] =
        [("none", None), ("broad", Some(&broad)), ("selective", Some(&selective))];
    for (name, filter) in filters {
        let pairs: Vec<(Vec<u32>, Vec<u32>)> = queries
            .iter()
            .map(|query| {
                let found = set.search(query, 10, filter).unwrap();
                assert!(found.len() == 10 && found.is_sorted_by(|a, b| a.1 > b.1 || (a.1 == b.1 && a.0 < b.0)));
                assert!(found.iter().all(|(id, _)| filter.is_none_or(|passes| passes(*id))));
                (ids(&set.search_exact(query, 10, filter).unwrap()), ids(&found))
            })
            .collect();
        let recall = recall(&pairs);
        println!("graph of 5,000 rows, filter {name}: recall@10 {recall:.3}");
        assert!(recall >= if name == "selective" { 1.0 } else { 0.95 });
    }
}

#[test]
fn tight_clusters_do_not_come_apart() {
    // 50 groups of 60 near-copies: the case in which greedy graphs lose their bridges.
    let centres = clustered(5, 50, 64);
    let mut random = Random(6);
    let vectors: Vec<Vec<f32>> = (0..3_000)
        .map(|at| unit(centres[at % 50].iter().map(|part| part + 0.002 * random.normal()).collect()))
        .collect();
    let set = build(&vectors, GraphChoice::Always);
    let pairs: Vec<(Vec<u32>, Vec<u32>)> = centres
        .iter()
        .enumerate()
        .map(|(group, centre)| {
            let found = ids(&set.search(centre, 10, None).unwrap());
            let same_group = found.iter().filter(|id| **id as usize % 50 == group).count();
            (vec![1; 10], if same_group == 10 { vec![1] } else { vec![] })
        })
        .collect();
    println!("tight clusters: right group for {:.2} of queries", recall(&pairs));
    assert!(recall(&pairs) >= 0.95);
}

#[test]
fn the_same_vectors_make_the_same_file() {
    let vectors = clustered(8, 1_000, 32);
    let build = || graph::build(rows_of(&vectors).as_rows()).unwrap();
    assert_eq!(build(), build());
}

struct OwnedRows(VectorSetBuilder);

impl OwnedRows {
    fn as_rows(&self) -> Rows<'_> {
        Rows { stride: stride(self.0.dims), bytes: &self.0.bytes, scales: &self.0.scales }
    }
}

fn rows_of(vectors: &[Vec<f32>]) -> OwnedRows {
    let mut builder = VectorSetBuilder::new(vectors[0].len()).unwrap();
    vectors.iter().for_each(|vector| builder.push(vector).unwrap());
    OwnedRows(builder)
}

/// A segment with valid checksums and arbitrary content.
fn open_sections(head: Head, bytes: &[i8], scales: &[f32], graph: &[u32]) -> Result<VectorSet> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.seg");
    let mut writer = SegmentWriter::create(&path, KIND, 1).unwrap();
    writer.section_of(tag(PREFIX, b'H'), &[head]).unwrap();
    writer.section_of(tag(PREFIX, b'R'), bytes).unwrap();
    writer.section_of(tag(PREFIX, b'S'), scales).unwrap();
    writer.section_of(tag(PREFIX, b'G'), graph).unwrap();
    writer.finish().unwrap();
    VectorSet::open(&SegmentFile::open(&path, KIND, 1).unwrap(), PREFIX)
}

#[test]
fn impossible_sections_are_refused() {
    let head = Head { dims: 2, rows: 2 };
    let (bytes, scales) = ([1i8; 64], [0.1f32; 2]);
    let graph = [0, 1, 2, 1, 0, 1, 1, 1];
    let set = open_sections(head, &bytes, &scales, &graph).unwrap();
    assert_eq!(set.search(&[1.0, 1.0], 2, None).unwrap().len(), 2);
    let heads = [
        Head { dims: 0, ..head },
        Head { dims: u64::MAX, ..head },
        Head { rows: 3, ..head },
        Head { rows: u64::MAX, ..head },
    ];
    for head in heads {
        assert!(matches!(open_sections(head, &bytes, &scales, &graph), Err(Error::DamagedIndex { .. })));
    }
    let graphs: [&[u32]; 6] = [
        &[],
        &[0, u32::MAX],
        &[9, 1, 2, 1, 0, 1, 1, 1],
        &[0, 1, 2, 2, 0, 1, 1, 1],
        &[0, 1, 3, 0, 0, 1, 1, 1],
        &[0, 1, 2, u32::MAX, 0, 1, 1, 1],
    ];
    for graph in graphs {
        assert!(matches!(open_sections(head, &bytes, &scales, graph), Err(Error::DamagedIndex { .. })), "{graph:?}");
    }
    // Found while searching: an edge to a row that does not exist, edges that run backwards or out of range.
    for graph in [[0, 1, 2, 1, 0, 1, 1, 7], [0, 1, 2, 1, 1, 0, 1, 1], [0, 1, 2, 1, 0, 9, 9, 1]] {
        let set = open_sections(head, &bytes, &scales, &graph).unwrap();
        assert!(matches!(set.search(&[1.0, 1.0], 2, None), Err(Error::DamagedIndex { .. })), "{graph:?}");
    }
}

#[test]
fn any_words_as_a_graph_end_in_an_answer_or_an_error() {
    let (bytes, scales) = ([1i8; 64], [0.1f32; 2]);
    let mut random = Random(11);
    for _ in 0..500 {
        let mut graph = [0u32, 2, 2, 2, 2, 1, 0, 1, 2, 1, 0, 0, 1, 0, 1, 1, 1];
        for _ in 0..1 + random.next() % 3 {
            let at = random.next() as usize % graph.len();
            graph[at] = random.next() as u32 % 4;
        }
        if let Ok(set) = open_sections(Head { dims: 2, rows: 2 }, &bytes, &scales, &graph) {
            let _ = set.search(&[1.0, 1.0], 2, None);
        }
    }
}
