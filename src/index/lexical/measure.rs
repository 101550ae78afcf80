//! Measures word search on the benchmark folders. Run by hand:
//!
//! `LAKEWARD_BENCH=/path/to/bench cargo test --release --lib lexical::measure -- --ignored --nocapture`
//!
//! Prints nDCG (from `score.py` of that folder), text and index sizes, speed of indexing and latency of queries.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::*;

const MEMORY_BYTES: usize = 256 << 20;

/// One table as the benchmark gives it.
#[derive(Default)]
struct Table {
    id: String,
    title: String,
    headers: String,
    description: String,
    tags: String,
    values: String,
}

fn read_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text_of(record: &Value, field: &str) -> String {
    match &record[field] {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// Tables of `bench`; `with_titles` says whether the sidecar is shown.
fn tables(bench: &Path, with_titles: bool) -> Vec<Table> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    if with_titles {
        for record in read_lines(&bench.join("corpus.jsonl")) {
            let table = Table {
                id: text_of(&record, "id"),
                title: text_of(&record, "title"),
                description: format!("{}\n{}", text_of(&record, "section"), text_of(&record, "description")),
                tags: text_of(&record, "tags"),
                ..Table::default()
            };
            tables.insert(table.id.clone(), table);
        }
    }
    for entry in fs::read_dir(bench.join("lake")).into_iter().flatten() {
        let path = entry.unwrap().path();
        let id = path.file_stem().unwrap().to_string_lossy().into_owned();
        let table = tables.entry(id.clone()).or_default();
        table.id = id;
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_path(&path).unwrap();
        let mut seen = std::collections::HashSet::new();
        for (row, record) in reader.byte_records().enumerate() {
            for cell in record.unwrap().iter() {
                let cell = String::from_utf8_lossy(cell);
                if row == 0 {
                    writeln!(table.headers, "{cell}").unwrap();
                } else if seen.insert(cell.to_string()) {
                    writeln!(table.values, "{cell}").unwrap();
                }
            }
        }
    }
    tables.into_values().collect()
}

fn build(dir: &Path, tables: &[Table]) -> (LexicalStats, Duration) {
    let started = Instant::now();
    let mut builder = LexicalBuilder::create(dir, MEMORY_BYTES).unwrap();
    for (ordinal, table) in tables.iter().enumerate() {
        let document = LexicalDocument {
            table: ordinal as u32,
            id: &table.id,
            title: &table.title,
            headers: &table.headers,
            description: &table.description,
            tags: &table.tags,
            values: &table.values,
        };
        builder.add(&document).unwrap();
    }
    (builder.finish().unwrap(), started.elapsed())
}

fn score(bench: &Path, run: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), run).unwrap();
    let scorer = bench.parent().unwrap().join("score.py");
    let output = Command::new("python3").arg(scorer).arg(bench).arg(file.path()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn percentile(sorted: &[Duration], share: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

fn measure(name: &str, bench: &Path, with_titles: bool) {
    let tables = tables(bench, with_titles);
    let dir = tempfile::tempdir().unwrap();
    let (stats, built) = build(dir.path(), &tables);
    let megabytes = stats.text_bytes as f64 / 1e6;
    let started = Instant::now();
    let index = LexicalIndex::open(&[LexicalSegment { dir: dir.path().to_path_buf(), dead: Vec::new() }]).unwrap();
    let opened = started.elapsed();
    let options = LexicalOptions { k: 100, ..LexicalOptions::default() };
    let (mut run, mut times, mut plain) = (String::new(), Vec::new(), Vec::new());
    for query in read_lines(&bench.join("queries.jsonl")) {
        let text = text_of(&query, "text");
        let started = Instant::now();
        let hits = index.search(&text, &LexicalOptions { k: 10, explain: false, ..options }).unwrap();
        plain.push(started.elapsed());
        assert!(hits.len() <= 10);
        let started = Instant::now();
        let hits = index.search(&text, &LexicalOptions { k: 10, ..options }).unwrap();
        times.push(started.elapsed());
        assert!(hits.len() <= 10);
        for (rank, hit) in
            index.search(&text, &LexicalOptions { explain: false, ..options }).unwrap().iter().enumerate()
        {
            let table = &tables[hit.table as usize].id;
            writeln!(run, "{} Q0 {table} {} {} lexical", text_of(&query, "id"), rank + 1, hit.score).unwrap();
        }
    }
    times.sort();
    plain.sort();
    println!(
        "== {name}: {} tables, {megabytes:.1} MB text, {:.3} MB index per MB, {:.1} MB/s, open {opened:?}, \
         query p50 {:?} p95 {:?}, explained p50 {:?} p95 {:?}",
        stats.tables,
        stats.index_bytes as f64 / 1e6 / megabytes,
        megabytes / built.as_secs_f64(),
        percentile(&plain, 0.5),
        percentile(&plain, 0.95),
        percentile(&times, 0.5),
        percentile(&times, 0.95),
    );
    print!("{}", score(bench, &run));
}

#[test]
#[ignore = "reads benchmark folders named by LAKEWARD_BENCH"]
fn measures_the_benchmarks() {
    let Some(root) = std::env::var_os("LAKEWARD_BENCH").map(PathBuf::from) else {
        println!("skipped: LAKEWARD_BENCH does not name the folder of benchmarks");
        return;
    };
    measure("ottqa with titles", &root.join("ottqa"), true);
    measure("ottqa cells only", &root.join("ottqa"), false);
    measure("fetaqa with titles", &root.join("fetaqa"), true);
    measure("fetaqa cells only", &root.join("fetaqa"), false);
    measure("acordar", &root.join("acordar"), true);
}
