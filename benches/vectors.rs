//! Exact scan and graph over vector sets. `cargo bench --bench vectors`
//!
//! `VECTORS_CROSSING=10000,50000 cargo bench --bench vectors` builds graphs of these sizes (about a minute per 50,000 rows) and
//! prints where the graph begins to pay.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};

use divan::{Bencher, counter::BytesCount};
use embeddings::clustered;
use lakeward::index::segment::{SegmentFile, SegmentKind, SegmentWriter};
use lakeward::index::vectors::{GraphChoice, VectorSet, VectorSetBuilder};

#[path = "support/embeddings.rs"]
mod embeddings;

const KIND: SegmentKind = SegmentKind(*b"BVEC");

fn main() {
    match std::env::var("VECTORS_CROSSING") {
        Ok(sizes) => sizes.split(',').filter_map(|size| size.trim().parse().ok()).for_each(crossing),
        Err(_) => divan::main(),
    }
}

fn build(vectors: &[Vec<f32>], path: &Path, choice: GraphChoice) -> VectorSet {
    let mut builder = VectorSetBuilder::new(vectors[0].len()).unwrap();
    vectors.iter().for_each(|vector| builder.push(vector).unwrap());
    let mut writer = SegmentWriter::create(path, KIND, 1).unwrap();
    builder.write(&mut writer, *b"VEC", choice).unwrap();
    writer.finish().unwrap();
    let segment = SegmentFile::open(path, KIND, 1).unwrap();
    segment.verify().unwrap();
    VectorSet::open(&segment, *b"VEC").unwrap()
}

#[divan::bench(args = [(10_000, 256), (25_000, 256), (25_000, 768), (100_000, 256)])]
fn exact(bencher: Bencher, (rows, dims): (usize, usize)) {
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(1, rows, dims);
    let set = build(&vectors, &folder.path().join("v.seg"), GraphChoice::Never);
    let mut queries = vectors.iter().cycle();
    bencher
        .counter(BytesCount::new(rows * dims))
        .bench_local(|| set.search(queries.next().unwrap(), 10, None).unwrap());
}

#[divan::bench]
fn build_exact_25k_256(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(1, 25_000, 256);
    bencher.bench_local(|| build(&vectors, &folder.path().join("v.seg"), GraphChoice::Never));
}

fn crossing(rows: usize) {
    const DIMS: usize = 256;
    const QUERIES: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(1, rows, DIMS);
    let queries = clustered(2, QUERIES, DIMS);
    let began = Instant::now();
    let set = build(&vectors, &folder.path().join("v.seg"), GraphChoice::Always);
    let building = began.elapsed();
    let mut hits = 0;
    let (mut graph_time, mut exact_time) = (Duration::ZERO, Duration::ZERO);
    for query in &queries {
        let began = Instant::now();
        let found = set.search(query, 10, None).unwrap();
        graph_time += began.elapsed();
        let began = Instant::now();
        let exact = set.search_exact(query, 10, None).unwrap();
        exact_time += began.elapsed();
        hits += exact.iter().filter(|(id, _)| found.iter().any(|(other, _)| other == id)).count();
    }
    println!(
        "{rows} rows of {DIMS}: graph built in {building:.1?}; a query {:.0?} by graph (recall@10 {:.3}), {:.0?} exact",
        graph_time / QUERIES as u32,
        hits as f64 / (10 * QUERIES) as f64,
        exact_time / QUERIES as u32
    );
}
