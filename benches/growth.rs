//! How time, memory and index size grow with the lake. `cargo bench --bench growth -- LAKE [SIZE…]`
//!
//! Takes 1,000, 5,000 and 25,000 tables of LAKE (or the sizes given; as many as there are), spread evenly over its files,
//! indexes each selection with the program, again with nothing changed and again with 50 files changed, and asks 200 of its
//! tables in a fresh process: memory while answering is that of a process that only answers. Without LAKE it takes the sample lake.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use lakeward_index::LakeIndex;
use lakeward_lake::source::{LakeFile, list_files};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::{JoinOptions, QueryTable, SearchOptions, UnionOptions, join, text_search, union};

const SIZES: [usize; 3] = [1_000, 5_000, 25_000];
const QUESTIONS: usize = 200;
const CHANGED: usize = 50;
/// First argument of the process that only answers.
const ANSWER: &str = "--answer";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [first, lake, index] = arguments.as_slice()
        && first == ANSWER
    {
        return answer(Path::new(lake), Path::new(index));
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("lake");
    let lake = arguments.first().map_or(sample, PathBuf::from);
    let mut files = list_files(&lake).unwrap().files;
    files.retain(|file| file.read_bytes > 0);
    let asked: Vec<usize> = arguments.iter().skip(1).map(|size| size.parse().unwrap()).collect();
    let mut sizes: Vec<usize> = if asked.is_empty() { SIZES.to_vec() } else { asked };
    sizes.iter_mut().for_each(|size| *size = (*size).min(files.len()));
    sizes.dedup();
    println!(
        "{:>7} {:>9} {:>9} {:>10} {:>10} {:>10} {:>9} {:>9}",
        "tables", "lake MB", "index s", "per table", "peak MB", "index MB", "again s", "50 new s"
    );
    let mut answers = Vec::new();
    for size in sizes {
        let place = tempfile::tempdir().unwrap();
        let (lake, index) = (place.path().join("lake"), place.path().join("index"));
        let bytes = select(&lake, &files, size);
        let (first, peak) = indexed(&lake, &index);
        let (again, _) = indexed(&lake, &index);
        change(&lake);
        let (changed, _) = indexed(&lake, &index);
        println!(
            "{size:>7} {:>9.1} {first:>9.2} {:>7.2} ms {peak:>10.0} {:>10.1} {again:>9.2} {changed:>9.2}",
            bytes as f64 / 1e6,
            first * 1e3 / size as f64,
            folder_bytes(&index) as f64 / 1e6,
        );
        let child = Command::new(std::env::current_exe().unwrap()).arg(ANSWER).arg(&lake).arg(&index).output().unwrap();
        answers.push((size, String::from_utf8_lossy(&child.stdout).into_owned()));
    }
    println!("\n tables   open ms   search p50   p95   join p50   p95   union p50   p95 (ms)   own MB   mapped MB");
    for (size, line) in answers {
        print!("{size:>7} {line}");
    }
}

/// Copies `size` of `files` into the folder `lake`; bytes copied.
fn select(lake: &Path, files: &[LakeFile], size: usize) -> u64 {
    let chosen = (0..size).map(|at| &files[at * files.len() / size]);
    chosen
        .map(|file| {
            let target = lake.join(&file.relative);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(&file.path, target).unwrap()
        })
        .sum()
}

/// Adds a row to some of the files.
fn change(lake: &Path) {
    let files = list_files(lake).unwrap().files;
    for at in 0..CHANGED.min(files.len()) {
        let file = &files[at * files.len() / CHANGED.min(files.len())];
        let mut bytes = fs::read(&file.path).unwrap();
        let row = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let last = bytes[bytes[..row].iter().rposition(|byte| *byte == b'\n').unwrap_or(0)..row].to_vec();
        bytes.extend_from_slice(&last);
        fs::write(&file.path, bytes).unwrap();
    }
}

/// Runs `lakeward index`; seconds, and peak memory in megabytes.
fn indexed(lake: &Path, index: &Path) -> (f64, f64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
    command.args(["index", "--quiet", "--timing"]).arg(lake).arg("--index").arg(index);
    let began = Instant::now();
    let said = String::from_utf8_lossy(&command.output().unwrap().stderr).into_owned();
    let seconds = began.elapsed().as_secs_f64();
    let peak = said.lines().find_map(|line| line.strip_prefix("peak memory ")?.split(';').next());
    let peak = peak.unwrap_or_default();
    let number: f64 = peak.split(' ').next().unwrap_or_default().parse().unwrap_or(f64::NAN);
    (seconds, if peak.ends_with("GB") { number * 1e3 } else { number })
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| if entry.path().is_dir() { folder_bytes(&entry.path()) } else { entry.metadata().unwrap().len() })
        .sum()
}

/// Opens the index, asks and prints one line.
fn answer(lake: &Path, index: &Path) {
    let embedder = StaticModel::builtin();
    let began = Instant::now();
    let index = LakeIndex::open(index, embedder.id()).unwrap();
    let opened = began.elapsed().as_secs_f64() * 1e3;
    let mut tables = Vec::new();
    for table in index.tables() {
        tables.push(index.id(table).unwrap());
    }
    let mut times = [const { Vec::new() }; 3];
    for at in 0..QUESTIONS.min(tables.len()) {
        let id = tables[at * tables.len() / QUESTIONS.min(tables.len())];
        let query = QueryTable::resolve(&index, lake, id, embedder).unwrap();
        let words: Vec<&str> = query.entry.profile.columns.iter().take(4).map(|column| column.name.as_str()).collect();
        let mut time = |place: usize, run: &dyn Fn()| {
            let began = Instant::now();
            run();
            times[place].push(began.elapsed().as_secs_f64() * 1e3);
        };
        time(0, &|| _ = text_search::search(&index, embedder, &words.join(" "), &SearchOptions::new(10)).unwrap());
        time(1, &|| _ = join::search(&index, &query, &JoinOptions::new(10)).unwrap());
        time(2, &|| _ = union::search(&index, lake, &query, &UnionOptions::new(10)).unwrap());
    }
    let [mut search, mut join, mut union] = times;
    let percentiles = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        (times[times.len() / 2], times[times.len() * 95 / 100])
    };
    let (search, join, union) = (percentiles(&mut search), percentiles(&mut join), percentiles(&mut union));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let megabytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
    };
    println!(
        "{opened:>9.1} {:>12.2} {:>5.2} {:>10.2} {:>5.2} {:>11.2} {:>5.2} {:>13.1} {:>11.1}",
        search.0,
        search.1,
        join.0,
        join.1,
        union.0,
        union.1,
        megabytes("RssAnon:"),
        megabytes("RssFile:")
    );
}
