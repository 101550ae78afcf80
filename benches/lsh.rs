//! Building and querying the containment index at 100,000 domains. `cargo bench --bench lsh`
//!
//! With `LSH_PEER_DIR=DIR` it also writes the domains' value hashes and queries for `scripts/peers/lsh_ensemble.py`, together with
//! this index's own recall, candidates and times on them.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use divan::Bencher;
use lakeward::index::lsh::{LshBuilder, LshIndex, LshParams};
use lakeward::index::segment::{SegmentFile, SegmentKind, SegmentWriter};
use lakeward::sketch::minhash::MinHash;
use rayon::prelude::*;

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
    use std::io::{BufWriter, Write};

    /// Smaller than the bench: the peer needs its minutes in Python.
    const PEER_DOMAINS: usize = 20_000;

    /// `domains.u64`: per domain a length, then its hashes; `queries.u64`: domain numbers; both little-endian u64.
    pub fn compare(folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let lake = domains::lake(42, PEER_DOMAINS);
        let mut file = BufWriter::new(std::fs::File::create(folder.join("domains.u64")).unwrap());
        for domain in &lake {
            file.write_all(&domain.len.to_le_bytes()).unwrap();
            domain.hashes().iter().for_each(|hash| file.write_all(&hash.to_le_bytes()).unwrap());
        }
        file.flush().unwrap();
        let queries: Vec<usize> = (0..PEER_DOMAINS).step_by(PEER_DOMAINS / QUERIES).collect();
        let bytes: Vec<u8> = queries.iter().flat_map(|query| (*query as u64).to_le_bytes()).collect();
        std::fs::write(folder.join("queries.u64"), bytes).unwrap();
        let began = Instant::now();
        let signed = sign(&lake);
        let signing = began.elapsed();
        let began = Instant::now();
        let index = build(&signed, &folder.join("lsh.seg"));
        println!("lakeward: {PEER_DOMAINS} domains signed in {signing:.2?}, indexed in {:.2?}", began.elapsed());
        for threshold in [0.3, 0.5, 0.8] {
            report(&index, &lake, &signed, &queries, threshold);
        }
    }

    fn report(
        index: &LshIndex,
        lake: &[domains::Domain],
        signed: &[(u64, MinHash)],
        queries: &[usize],
        threshold: f64,
    ) {
        let began = Instant::now();
        let answers: Vec<Vec<u32>> = queries
            .iter()
            .map(|query| {
                let mut out = Vec::new();
                index.query(signed[*query].0, &signed[*query].1, threshold, &mut out).unwrap();
                out
            })
            .collect();
        let elapsed = began.elapsed() / queries.len() as u32;
        let (mut right, mut found, mut given) = (0, 0, 0);
        for (query, answer) in queries.iter().zip(&answers) {
            given += answer.len();
            for (id, domain) in lake.iter().enumerate() {
                if lake[*query].containment_in(domain) >= threshold {
                    right += 1;
                    found += usize::from(answer.binary_search(&(id as u32)).is_ok());
                }
            }
        }
        println!(
            "lakeward: threshold {threshold}: recall {:.3}, precision {:.3}, {:.1} candidates, {elapsed:.2?} a query",
            found as f64 / right as f64,
            found as f64 / given as f64,
            given as f64 / queries.len() as f64
        );
    }
}
