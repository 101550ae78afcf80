//! Building an index beside a bare read of the same files. `cargo bench --bench indexing [-- LAKE [ROUNDS]]`
//!
//! The bare read opens every file with the `csv` crate and looks at every field, on one thread and on as many threads as
//! the build uses. The multiple, build time over bare time, says what sniffing, sketching, embedding and writing cost beside
//! the least that any index must do. Without a folder, `LAKEWARD_BENCH` names one that holds `lakebench-webtable/lake`;
//! without that too, the sample lake is read. Variants take turns; medians are printed.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lakeward_core::monitor::Silent;
use lakeward_index::build::{self, BuildOptions};
use lakeward_lake::source::{self, Compression, Format, LakeFile};
use lakeward_models::embed::StaticModel;
use rayon::prelude::*;

const ROUNDS: usize = 7;

fn main() {
    // Cargo passes `--bench`.
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let lake = words.next().map_or_else(usual_lake, PathBuf::from);
    let rounds = words.next().and_then(|word| word.parse().ok()).unwrap_or(ROUNDS).max(1);
    let is_text = |file: &LakeFile| file.format == Format::Csv && file.compression == Compression::None;
    let files: Vec<LakeFile> = source::list_files(&lake).unwrap().files.into_iter().filter(is_text).collect();
    let bytes: u64 = files.iter().map(|file| file.read_bytes).sum();
    println!("{}: {} files, {:.1} MB", lake.display(), files.len(), bytes as f64 / 1e6);

    let threads = rayon::current_num_threads();
    let (mut one, mut many, mut build) = (Vec::new(), Vec::new(), Vec::new());
    // The first round fills the cache of the operating system.
    for round in 0..=rounds {
        let times = [
            timed(|| files.iter().map(|file| bare_read(&file.path)).sum::<u64>()),
            timed(|| files.par_iter().map(|file| bare_read(&file.path)).sum::<u64>()),
            timed(|| build_index(&lake)),
        ];
        if round > 0 {
            [&mut one, &mut many, &mut build].into_iter().zip(times).for_each(|(all, time)| all.push(time));
        }
    }
    let (one_ms, many_ms, build_ms) = (median(&one), median(&many), median(&build));
    let per_round =
        |bare: &[f64]| median(&build.iter().zip(bare).map(|(build, bare)| build / bare).collect::<Vec<_>>());
    println!("bare read, 1 thread      {one_ms:8.1} ms  {:7.1} MB/s", bytes as f64 / 1e3 / one_ms);
    println!("bare read, {threads} threads     {many_ms:8.1} ms  {:7.1} MB/s", bytes as f64 / 1e3 / many_ms);
    println!("index build, {threads} threads   {build_ms:8.1} ms  {:7.1} MB/s", bytes as f64 / 1e3 / build_ms);
    println!("multiple of the bare read: {:.1}× on 1 thread, {:.1}× on {threads}", per_round(&one), per_round(&many));
}

fn usual_lake() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("lake");
    let named = std::env::var_os("LAKEWARD_BENCH").map(|bench| Path::new(&bench).join("lakebench-webtable/lake"));
    named.filter(|folder| folder.is_dir()).unwrap_or_else(own)
}

/// Milliseconds that `work` takes.
fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed().as_secs_f64() * 1e3
}

/// Reads a file and adds up the lengths of its fields.
fn bare_read(path: &Path) -> u64 {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(File::open(path).unwrap());
    let mut record = csv::ByteRecord::new();
    let mut length = 0;
    while reader.read_byte_record(&mut record).unwrap() {
        length += record.iter().map(|field| field.len() as u64).sum::<u64>();
    }
    length
}

fn build_index(lake: &Path) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let stats = build::build(lake, folder.path(), StaticModel::builtin(), &BuildOptions::default(), &Silent).unwrap();
    stats.tables
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
