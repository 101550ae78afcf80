//! Joins among a million columns. `[MILLION_COLUMNS=1000000] [MILLION_DIR=DIR] cargo bench --bench million_columns`
//!
//! Writes a made-up lake of web tables (`support/web_lake.rs`) and indexes it in one process, then opens the index in a fresh
//! one that answers top-10 joins for some hundred of the lake's columns, and top-10 unions for their tables. Prints sizes and
//! times, memory while answering and recall against brute force. A million columns need 4 GB of disk and about ten minutes; with
//! MILLION_DIR the lake and the index stay there and are used again. Memory is read from /proc, so on Linux only.
//! MILLION_ANSWERS=FILE writes the answers there, to be compared with those of another version.
//!
//! Recall of candidates: of all pairs of a query and a column that holds at least half of its values, those that
//! `join::column_overlaps` reports. Recall of the ten closest: of the ten greatest containments of at least half, how many
//! are among the columns that a join looks at closely (`join::closest_columns`); columns that hold as much as the tenth are
//! as good as it.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use lakeward_core::monitor::Silent;
use lakeward_index::build::{self, BuildOptions};
use lakeward_index::{ColumnRef, LakeIndex};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::{JoinOptions, QueryTable, UnionOptions, join, union};
use rayon::prelude::*;
use web_lake::{ColumnId, PLACES, Truth, WebLake};

#[path = "support/web_lake.rs"]
mod web_lake;

const COLUMNS: u32 = 1_000_000;
const QUERIES: u32 = 400;
/// Queries of which all candidates are compared with the truth.
const RECALL_QUERIES: usize = 200;
const ANSWERS: usize = 10;
const CONTAINMENT: f64 = 0.5;

fn main() {
    let columns = std::env::var("MILLION_COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(COLUMNS);
    let lake = WebLake { tables: (columns / PLACES as u32).max(1) };
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    match arguments.first().map(String::as_str) {
        Some("build") => build_index(Path::new(&arguments[1])),
        Some("answer") => answer(lake, Path::new(&arguments[1])),
        _ => run(lake),
    }
}

fn run(lake: WebLake) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("MILLION_DIR").map_or(temporary.path().to_path_buf(), PathBuf::from);
    let done = folder.join("done");
    let columns = (lake.tables as usize * PLACES).to_string();
    if fs::read_to_string(&done).ok().as_deref() != Some(&columns) {
        let _ = fs::remove_dir_all(folder.join("lake"));
        let _ = fs::remove_dir_all(folder.join("index"));
        let began = Instant::now();
        lake.write(&folder.join("lake"));
        println!(
            "lake: {} tables, {columns} columns, {:.0} MB, written in {:.1?}",
            lake.tables,
            megabytes(&folder.join("lake")),
            began.elapsed()
        );
        fs::write(&done, columns).unwrap();
    }
    if !folder.join("index/manifest.json").exists() {
        again("build", &folder);
    }
    again("answer", &folder);
}

/// Runs a part of this program in a process of its own, so that its memory is its own.
fn again(part: &str, folder: &Path) {
    let status = Command::new(std::env::current_exe().unwrap()).arg(part).arg(folder).status().unwrap();
    assert!(status.success(), "{part}: {status}");
}

fn build_index(folder: &Path) {
    let index = folder.join("index");
    let stats =
        build::build(&folder.join("lake"), &index, StaticModel::builtin(), &BuildOptions::default(), &Silent).unwrap();
    assert!(stats.skipped.is_empty(), "{:?}", &stats.skipped[..1]);
    println!(
        "build: {} tables, {} columns, {} rows in {:.1} s; {}; index of {:.0} MB",
        stats.tables,
        stats.columns,
        stats.rows,
        stats.elapsed_ms as f64 / 1e3,
        memory(&["VmHWM"]),
        megabytes(&index)
    );
    let mut files: Vec<(String, f64)> = Vec::new();
    for segment in fs::read_dir(index.join("segments")).unwrap().flatten() {
        for file in fs::read_dir(segment.path()).unwrap().flatten() {
            files.push((file.file_name().to_string_lossy().into_owned(), megabytes(&file.path())));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let sizes: Vec<String> = files.iter().map(|(name, size)| format!("{name} {size:.0}")).collect();
    println!("  MB: {}", sizes.join(", "));
}

fn answer(lake: WebLake, folder: &Path) {
    let embedder = StaticModel::builtin();
    let began = Instant::now();
    let index = LakeIndex::open(&folder.join("index"), embedder.id()).unwrap();
    let opened = began.elapsed();
    let in_lsh: usize = index.segments().iter().map(|segment| segment.join.lsh.len()).sum();
    let with_bits = index.segments().iter().filter(|segment| segment.vectors.columns.has_binary()).count();
    println!(
        "open: {opened:.1?}; {} segments, {with_bits} with bits of vectors, {in_lsh} columns in LSH; {}",
        index.segments().len(),
        memory(&MEMORY)
    );
    let ids = lake.queries(QUERIES);
    let queries: Vec<(QueryTable, usize)> = ids
        .iter()
        .map(|(table, place)| {
            let name = WebLake::name(*table);
            (QueryTable::resolve(&index, &folder.join("lake"), &name, embedder).unwrap(), usize::from(*place))
        })
        .collect();
    println!("queries read: {}", memory(&MEMORY));
    let mut answers = String::new();
    let mut keep = |answered: String| answers.extend([&answered, "\n"]);
    for pass in ["first", "again"] {
        let mut times = Vec::new();
        for (query, place) in &queries {
            let options = JoinOptions { column: Some(*place), ..JoinOptions::new(ANSWERS) };
            let began = Instant::now();
            let answers = join::search(&index, query, &options).unwrap();
            times.push(began.elapsed().as_secs_f64() * 1e3);
            assert!(answers.len() <= ANSWERS);
            keep(serde_json::to_string(&answers).unwrap());
        }
        tell_times(&format!("joins, {pass}"), &times, |slowest| {
            let (query, place) = &queries[slowest];
            format!("{} values", query.columns[*place].values.hashes.len())
        });
    }
    for pass in ["first", "again"] {
        let mut times = Vec::new();
        for (query, _) in &queries {
            let began = Instant::now();
            let answers = union::search(&index, &folder.join("lake"), query, &UnionOptions::new(ANSWERS)).unwrap();
            times.push(began.elapsed().as_secs_f64() * 1e3);
            assert!(answers.len() <= ANSWERS);
            keep(serde_json::to_string(&answers).unwrap());
        }
        tell_times(&format!("unions, {pass}"), &times, |slowest| {
            format!("{} rows", queries[slowest].0.entry.profile.rows)
        });
    }
    if let Some(file) = std::env::var_os("MILLION_ANSWERS") {
        fs::write(file, answers).unwrap();
    }
    println!("  of it: {}", memory_by_file());
    recall(&index, &queries, &lake.truth(&ids, CONTAINMENT));
}

/// Prints the times of top-10 questions of one kind, with what is to be said of the slowest one.
fn tell_times(kind: &str, times: &[f64], of_slowest: impl Fn(usize) -> String) {
    let slowest = (0..times.len()).max_by(|a, b| times[*a].total_cmp(&times[*b])).unwrap_or(0);
    println!(
        "top-{ANSWERS} {kind}: {} queries, p50 {:.2} ms, p95 {:.2} ms, p99 {:.2} ms, longest {:.2} ms ({}); {}",
        times.len(),
        percentile(times, 50),
        percentile(times, 95),
        percentile(times, 99),
        percentile(times, 100),
        of_slowest(slowest),
        memory(&MEMORY)
    );
}

fn recall(index: &LakeIndex, queries: &[(QueryTable, usize)], truth: &[Truth]) {
    let name = |reference: ColumnRef| {
        let segment = index.segment(reference.segment).unwrap();
        let record = segment.columns.record(reference.column).unwrap();
        let id = segment.tables.id(record.table).unwrap();
        let table: u32 = id.rsplit('t').next().unwrap().parse().unwrap();
        (table, record.place as u8)
    };
    let (mut right, mut found) = (0, 0);
    for ((query, place), truth) in queries.iter().zip(truth).take(RECALL_QUERIES) {
        let overlaps = join::column_overlaps(index, &query.columns[*place]).unwrap();
        let reported: HashSet<ColumnId> = overlaps.iter().map(|(reference, _)| name(*reference)).collect();
        right += truth.len();
        found += truth.iter().filter(|(id, _)| reported.contains(id)).count();
    }
    println!(
        "recall of candidates at containment {CONTAINMENT}: {:.4} of {right} pairs of {} queries",
        found as f64 / right.max(1) as f64,
        RECALL_QUERIES.min(queries.len())
    );
    let counts: Vec<(usize, usize)> = queries
        .par_iter()
        .zip(truth)
        .map(|((query, place), truth)| {
            let mut shares: Vec<f64> = truth.iter().map(|(_, share)| *share).collect();
            shares.sort_by(|a, b| b.total_cmp(a));
            shares.truncate(ANSWERS);
            let Some(least) = shares.last() else { return (0, 0) };
            let closest = join::closest_columns(index, &query.columns[*place]).unwrap();
            let looked_at: HashSet<ColumnId> = closest.iter().map(|(reference, _)| name(*reference)).collect();
            let good = truth.iter().filter(|(id, share)| share >= least && looked_at.contains(id)).count();
            (shares.len(), good.min(shares.len()))
        })
        .collect();
    let right: usize = counts.iter().map(|(right, _)| right).sum();
    let found: usize = counts.iter().map(|(_, found)| found).sum();
    println!(
        "recall of the {ANSWERS} closest at containment {CONTAINMENT}: {:.4} of {right} of {} queries with any",
        found as f64 / right.max(1) as f64,
        counts.iter().filter(|(right, _)| *right > 0).count()
    );
}

const MEMORY: [&str; 4] = ["VmRSS", "RssAnon", "RssFile", "VmHWM"];

/// Fields of /proc/self/status, in MB.
fn memory(fields: &[&str]) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |field: &&str| {
        let line = status.lines().find(|line| line.starts_with(*field));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        format!("{field} {:.0} MB", kilobytes.unwrap_or(f64::NAN) / 1024.0)
    };
    fields.iter().map(of).collect::<Vec<String>>().join(", ")
}

/// Resident MB of the index's files, by name.
fn memory_by_file() -> String {
    let mut resident: BTreeMap<String, f64> = BTreeMap::new();
    let mut file = None;
    for line in fs::read_to_string("/proc/self/smaps").unwrap_or_default().lines() {
        if let Some(kilobytes) = line.strip_prefix("Rss:").and_then(|rest| rest.trim().strip_suffix(" kB")) {
            if let Some(name) = &file {
                *resident.entry(String::clone(name)).or_default() += kilobytes.parse::<f64>().unwrap_or(0.0) / 1024.0;
            }
        } else if line.split_whitespace().next().is_some_and(|first| first.contains('-')) {
            file = line.split_once('/').map(|(_, path)| path.rsplit('/').next().unwrap_or(path).to_string());
        }
    }
    resident.retain(|name, _| name.ends_with(".seg"));
    resident.iter().map(|(name, size)| format!("{name} {size:.0} MB")).collect::<Vec<String>>().join(", ")
}

/// Size of a file or of all files in a folder.
fn megabytes(path: &Path) -> f64 {
    let metadata = fs::metadata(path).unwrap();
    if metadata.is_dir() {
        return fs::read_dir(path).unwrap().flatten().map(|entry| megabytes(&entry.path())).sum();
    }
    metadata.len() as f64 / 1e6
}

fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[(times.len() * percent / 100).min(times.len() - 1)]
}
