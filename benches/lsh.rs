//! Building and querying the containment index at 100,000 domains. `cargo bench --bench lsh`
//!
//! `LSH_PEER_DIR=DIR cargo bench --bench lsh` instead writes signatures, queries and true answers into DIR for
//! `scripts/peers/lsh_ensemble.py`, and prints this index's own recall, candidates and times on them. The domains are made up,
//! or with LSH_LAKE=LAKE columns of that lake with at least ten values, spread evenly over it.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use divan::Bencher;
use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_index::lsh::{LshBuilder, LshIndex, LshParams};
use lakeward_index::segment::{SegmentFile, SegmentKind, SegmentWriter};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_sketch::minhash::MinHash;
use rayon::prelude::*;

// What the index's own tests also ask of it is not needed here.
#[allow(dead_code)]
#[path = "support/domains.rs"]
mod domains;

const DOMAINS: usize = 100_000;
const QUERIES: usize = 500;
const KIND: SegmentKind = SegmentKind(*b"BLSH");

fn main() {
    if let Some(folder) = std::env::var_os("LSH_PEER_DIR") {
        peer::compare(Path::new(&folder));
        return;
    }
    divan::main();
}

fn signed() -> &'static [(u64, MinHash)] {
    static SIGNED: OnceLock<Vec<(u64, MinHash)>> = OnceLock::new();
    SIGNED.get_or_init(|| sign(&domains::lake(42, DOMAINS)))
}

fn sign(lake: &[domains::Domain]) -> Vec<(u64, MinHash)> {
    lake.par_iter().map(|domain| (domain.len, MinHash::of(&domain.hashes()))).collect()
}

fn build(signed: &[(u64, MinHash)], path: &Path) -> LshIndex {
    let mut builder = LshBuilder::new(LshParams::default()).unwrap();
    for (id, (cardinality, signature)) in signed.iter().enumerate() {
        builder.add(id as u32, *cardinality, signature);
    }
    let mut writer = SegmentWriter::create(path, KIND, 1).unwrap();
    builder.write(&mut writer).unwrap();
    writer.finish().unwrap();
    LshIndex::open(&SegmentFile::open(path, KIND, 1).unwrap()).unwrap()
}

#[divan::bench(sample_count = 3)]
fn build_100k(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let domains = signed();
    bencher.bench_local(|| build(domains, &folder.path().join("lsh.seg")));
}

#[divan::bench(args = [0.3, 0.5, 0.8], sample_count = 500, sample_size = 1)]
fn query_100k(bencher: Bencher, threshold: f64) {
    let folder = tempfile::tempdir().unwrap();
    let domains = signed();
    let index = build(domains, &folder.path().join("lsh.seg"));
    let mut queries = domains.iter().step_by(DOMAINS / QUERIES).cycle();
    let mut out = Vec::new();
    // The first queries also read and check the blocks they touch.
    for (cardinality, signature) in queries.by_ref().take(QUERIES) {
        index.query(*cardinality, signature, threshold, &mut out).unwrap();
    }
    bencher.bench_local(|| {
        let (cardinality, signature) = queries.next().unwrap();
        out.clear();
        index.query(*cardinality, signature, threshold, &mut out).unwrap();
        out.len()
    });
}

mod peer {
    use super::*;

    /// Smaller than the bench: the peer works in Python.
    const PEER_DOMAINS: usize = 4_000;
    const THRESHOLDS: [f64; 3] = [0.3, 0.5, 0.8];

    /// Files of DIR, all little-endian: `signatures.u32` (256 a domain), `sizes.u64`, `queries.u64` (domain numbers), and per
    /// threshold `truth-<percent>.u64` (pairs of a query's and an answer's domain number).
    pub fn compare(folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let lake: Vec<Vec<u64>> = match std::env::var_os("LSH_LAKE") {
            Some(lake) => columns_of(Path::new(&lake)),
            None => domains::lake(42, PEER_DOMAINS).iter().map(sorted).collect(),
        };
        let began = Instant::now();
        let signed: Vec<(u64, MinHash)> =
            lake.par_iter().map(|hashes| (hashes.len() as u64, MinHash::of(hashes))).collect();
        let signing = began.elapsed();
        let began = Instant::now();
        let index = build(&signed, &folder.join("lsh.seg"));
        println!("lakeward: {} domains signed in {signing:.2?}, indexed in {:.2?}", lake.len(), began.elapsed());
        let queries: Vec<usize> = (0..lake.len()).step_by(step(lake.len())).collect();
        let signatures: Vec<u32> = signed.iter().flat_map(|(_, signature)| signature.as_slice()).copied().collect();
        write(folder, "signatures.u32", bytemuck::cast_slice(&signatures));
        write(folder, "sizes.u64", bytemuck::cast_slice(&signed.iter().map(|(size, _)| *size).collect::<Vec<u64>>()));
        write(folder, "queries.u64", bytemuck::cast_slice(&queries.iter().map(|id| *id as u64).collect::<Vec<u64>>()));
        for threshold in THRESHOLDS {
            let truth: Vec<[u64; 2]> = queries
                .par_iter()
                .flat_map_iter(|query| {
                    let right = lake.iter().enumerate().filter(|(_, d)| containment(&lake[*query], d) >= threshold);
                    right.map(|(id, _)| [*query as u64, id as u64]).collect::<Vec<_>>()
                })
                .collect();
            write(folder, &format!("truth-{:.0}.u64", threshold * 100.0), bytemuck::cast_slice(&truth));
            report(&index, &signed, &queries, &truth, threshold);
        }
    }

    /// Every so many domains one is a query.
    fn step(domains: usize) -> usize {
        (domains / QUERIES).max(1)
    }

    fn sorted(domain: &domains::Domain) -> Vec<u64> {
        let mut hashes = domain.hashes();
        hashes.sort_unstable();
        hashes
    }

    /// Value hashes of columns of a lake, each ascending.
    fn columns_of(lake: &Path) -> Vec<Vec<u64>> {
        let (folder, embedder) = (tempfile::tempdir().unwrap(), StaticModel::builtin());
        build::build(lake, folder.path(), embedder, &BuildOptions::default(), &Silent).unwrap();
        let index = LakeIndex::open(folder.path(), embedder.id()).unwrap();
        let mut columns: Vec<Vec<u64>> = Vec::new();
        for segment in index.segments() {
            for column in 0..segment.columns.len() as u32 {
                let record = segment.columns.record(column).unwrap();
                let mut hashes = segment.columns.hashes(record).unwrap().to_vec();
                hashes.dedup();
                if hashes.len() >= 10 {
                    columns.push(hashes);
                }
            }
        }
        let every = (columns.len() / PEER_DOMAINS).max(1);
        columns.into_iter().step_by(every).take(PEER_DOMAINS).collect()
    }

    /// Share of the values of `query` that `domain` holds; both ascending.
    fn containment(query: &[u64], domain: &[u64]) -> f64 {
        let shared = query.iter().filter(|hash| domain.binary_search(hash).is_ok()).count();
        shared as f64 / query.len() as f64
    }

    fn write(folder: &Path, name: &str, bytes: &[u8]) {
        std::fs::write(folder.join(name), bytes).unwrap();
    }

    fn report(index: &LshIndex, signed: &[(u64, MinHash)], queries: &[usize], truth: &[[u64; 2]], threshold: f64) {
        let ask = |query: &usize| {
            let mut out = Vec::new();
            index.query(signed[*query].0, &signed[*query].1, threshold, &mut out).unwrap();
            out
        };
        // Once before, so that every block has been read and checked.
        queries.iter().for_each(|query| drop(ask(query)));
        let began = Instant::now();
        let answers: Vec<Vec<u32>> = queries.iter().map(ask).collect();
        let elapsed = began.elapsed() / queries.len() as u32;
        let given: usize = answers.iter().map(Vec::len).sum();
        let step = step(signed.len());
        let is_found = |query: u64, id: u64| answers[query as usize / step].binary_search(&(id as u32)).is_ok();
        // Right answers and found ones: up to 10 times the query's size, up to 100 times, beyond.
        let mut tally = [(0, 0); 3];
        for [query, id] in truth {
            let ratio = signed[*id as usize].0 as f64 / signed[*query as usize].0 as f64;
            let (all, found) = &mut tally[usize::from(ratio > 10.0) + usize::from(ratio > 100.0)];
            *all += 1;
            *found += usize::from(is_found(*query, *id));
        }
        let found: usize = tally.iter().map(|(_, found)| found).sum();
        println!(
            "lakeward: threshold {threshold}: recall {:.3?} at size ratios up to 10, 100, beyond; precision {:.3}, {:.1} \
             candidates, {elapsed:.2?} a query",
            tally.map(|(all, found)| found as f64 / all as f64),
            found as f64 / given as f64,
            given as f64 / queries.len() as f64
        );
    }
}
