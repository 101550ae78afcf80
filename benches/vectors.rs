//! Exact scan and bits over vector sets. `cargo bench --bench vectors`
//!
//! `VECTORS_CROSSING=10000,50000 cargo bench --bench vectors` builds sets of these sizes and prints where bits begin to
//! pay; with VECTORS_LAKE=DIR of the vectors of that lake's columns, in place of made-up ones.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};

use divan::{Bencher, counter::BytesCount};
use embeddings::{Random, clustered};
use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build as index_lake};
use lakeward_index::segment::{SegmentFile, SegmentKind, SegmentWriter};
use lakeward_index::vectors::{BinaryChoice, VectorSet, VectorSetBuilder};
use lakeward_models::embed::{Embedder, StaticModel};

#[path = "support/embeddings.rs"]
mod embeddings;

const KIND: SegmentKind = SegmentKind(*b"BVEC");

fn main() {
    match std::env::var("VECTORS_CROSSING") {
        Ok(sizes) => crossing(&sizes.split(',').filter_map(|size| size.trim().parse().ok()).collect::<Vec<usize>>()),
        Err(_) => divan::main(),
    }
}

fn build(vectors: &[Vec<f32>], path: &Path, choice: BinaryChoice) -> VectorSet {
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
    let set = build(&vectors, &folder.path().join("v.seg"), BinaryChoice::Never);
    let mut queries = vectors.iter().cycle();
    bencher
        .counter(BytesCount::new(rows * dims))
        .bench_local(|| set.search(queries.next().unwrap(), 10, None).unwrap());
}

#[divan::bench]
fn build_exact_25k_256(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let vectors = clustered(1, 25_000, 256);
    bencher.bench_local(|| build(&vectors, &folder.path().join("v.seg"), BinaryChoice::Never));
}

/// Builds sets of `sizes` rows with bits; prints what building and asking cost, and their recall.
fn crossing(sizes: &[usize]) {
    let most = sizes.iter().copied().max().unwrap_or(0);
    let (vectors, queries) = match std::env::var_os("VECTORS_LAKE") {
        Some(lake) => {
            let mut vectors = columns_of(Path::new(&lake));
            // In any order, so that a part of the set is like the whole.
            let mut random = Random(7);
            for place in (1..vectors.len()).rev() {
                vectors.swap(place, random.next() as usize % (place + 1));
            }
            let queries = vectors.split_off(vectors.len() - CROSSING_QUERIES);
            (vectors, queries)
        }
        None => (clustered(1, most, CROSSING_DIMS), clustered(2, CROSSING_QUERIES, CROSSING_DIMS)),
    };
    for size in sizes {
        cross(&vectors[..(*size).min(vectors.len())], &queries);
    }
}

const CROSSING_DIMS: usize = 288;
const CROSSING_QUERIES: usize = 500;
const NEIGHBOURS: usize = 10;

fn columns_of(lake: &Path) -> Vec<Vec<f32>> {
    let folder = tempfile::tempdir().unwrap();
    let embedder = StaticModel::builtin();
    index_lake(lake, folder.path(), embedder, &BuildOptions::default(), &Silent).unwrap();
    let index = LakeIndex::open(folder.path(), embedder.id()).unwrap();
    let mut vectors = Vec::new();
    for segment in index.segments() {
        let set = &segment.vectors.columns;
        for id in 0..set.len() as u32 {
            let mut vector = vec![0.0; set.dims()];
            set.vector(id, &mut vector).unwrap();
            vectors.push(vector);
        }
    }
    vectors
}

fn cross(vectors: &[Vec<f32>], queries: &[Vec<f32>]) {
    let folder = tempfile::tempdir().unwrap();
    let (path, plain) = (folder.path().join("v.seg"), folder.path().join("plain.seg"));
    let began = Instant::now();
    build(vectors, &plain, BinaryChoice::Never);
    let without = began.elapsed();
    let began = Instant::now();
    let set = build(vectors, &path, BinaryChoice::Always);
    let building = began.elapsed().saturating_sub(without);
    let mut hits = 0;
    let (mut bits_times, mut exact_times) = (Vec::new(), Vec::new());
    for query in queries {
        let began = Instant::now();
        let found = set.search(query, NEIGHBOURS, None).unwrap();
        bits_times.push(began.elapsed());
        let began = Instant::now();
        let exact = set.search_exact(query, NEIGHBOURS, None).unwrap();
        exact_times.push(began.elapsed());
        // Any row as near as the last true neighbour is one: real columns repeat.
        let least = exact.last().map_or(f32::INFINITY, |(_, score)| *score);
        hits += found.iter().filter(|(_, score)| *score >= least).count();
    }
    println!(
        "{:>7} rows of {}: bits built in {building:.1?}, {:.0} bytes a row; a query {:.0?} by bits, recall@{NEIGHBOURS} {:.3}; \
         {:.0?} exact",
        vectors.len(),
        set.dims(),
        (std::fs::metadata(&path).unwrap().len() - std::fs::metadata(&plain).unwrap().len()) as f64
            / vectors.len() as f64,
        median(bits_times),
        hits as f64 / (NEIGHBOURS * queries.len()) as f64,
        median(exact_times)
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
