//! What a MinHash signature costs per value, and a comparison. `cargo bench --bench minhash`

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use divan::{Bencher, counter::ItemsCount};
use lakeward_sketch::minhash::MinHash;
use xxhash_rust::xxh3::xxh3_64;

fn main() {
    divan::main();
}

fn hashes(count: u64) -> Vec<u64> {
    (0..count).map(|value| xxh3_64(&value.to_le_bytes())).collect()
}

#[divan::bench(args = [10, 100, 10_000, 1_000_000])]
fn signature(bencher: Bencher, values: u64) {
    let hashes = hashes(values);
    bencher.counter(ItemsCount::new(values)).bench(|| MinHash::of(divan::black_box(&hashes)));
}

#[divan::bench]
fn jaccard(bencher: Bencher) {
    let (left, right) = (MinHash::of(&hashes(1_000)), MinHash::of(&hashes(1_500)));
    bencher.bench(|| divan::black_box(&left).jaccard(divan::black_box(&right)));
}
