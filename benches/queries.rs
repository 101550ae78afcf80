//! How long questions take in process, apart from opening the index. `[LAKEWARD_BENCH=DIR] cargo bench --bench queries [NAME…]`
//!
//! Indexes each lake into a temporary folder and asks what its benchmark asks; without LAKEWARD_BENCH the sample lake, asked
//! with each of its own tables. `first` is the first time each question is asked, when much of the index has not been read
//! yet; `again` takes the median of later passes for each question, which other work on the machine disturbs less.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::{JoinOptions, QueryTable, SearchOptions, UnionOptions, join, text_search, union};

const BENCHMARKS: [&str; 2] = ["lakebench-webtable", "wiki-split"];
const ANSWERS: usize = 10;
/// Passes over all questions after the first.
const PASSES: usize = 5;

struct Question {
    join: bool,
    column: Option<String>,
    table: PathBuf,
    text: Option<String>,
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let Some(root) = std::env::var_os("LAKEWARD_BENCH") else {
        let lake = Path::new(env!("CARGO_MANIFEST_DIR")).join("lake");
        return measure("sample lake", &lake, &own_questions(&lake));
    };
    for name in BENCHMARKS {
        let folder = Path::new(&root).join(name);
        if folder.is_dir() && (asked.is_empty() || asked.iter().any(|asked| asked == name)) {
            measure(name, &folder.join("lake"), &questions(&folder));
        }
    }
}

/// Those of a benchmark folder.
fn questions(folder: &Path) -> Vec<Question> {
    let lines = fs::read_to_string(folder.join("queries.jsonl")).unwrap();
    let question = |line: &str| {
        let query: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |field: &str| query[field].as_str().map(str::to_string);
        let table = folder.join(text("table").unwrap());
        Question { join: query["task"] == "join", column: text("column"), table, text: text("text") }
    };
    lines.lines().map(question).collect()
}

/// Joins and unions for each table of a lake.
fn own_questions(lake: &Path) -> Vec<Question> {
    let mut questions = Vec::new();
    for entry in fs::read_dir(lake).unwrap().flatten().map(|entry| entry.path()) {
        if entry.is_dir() {
            questions.extend(own_questions(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "csv") {
            for join in [true, false] {
                questions.push(Question { join, column: None, table: entry.clone(), text: None });
            }
        }
    }
    questions.sort_by(|a, b| a.table.cmp(&b.table));
    questions
}

fn measure(name: &str, lake: &Path, questions: &[Question]) {
    let embedder = StaticModel::builtin();
    let folder = tempfile::tempdir().unwrap();
    let stats = build::build(lake, folder.path(), embedder, &BuildOptions::default(), &Silent).unwrap();
    println!("{name}: {} tables, {} columns, indexed in {} ms", stats.tables, stats.columns, stats.elapsed_ms);
    let index = LakeIndex::open(folder.path(), embedder.id()).unwrap();
    let mut first: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut later: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for question in questions {
        let mut passes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for pass in 0..=PASSES {
            for (what, took) in ask(&index, lake, question, embedder) {
                let times = if pass == 0 { first.entry(what) } else { passes.entry(what) };
                times.or_default().push(took);
            }
        }
        for (what, times) in passes {
            later.entry(what).or_default().push(percentile(times, 50));
        }
    }
    println!("  ms                         questions   first p50     p95   again p50     p95");
    for (what, times) in later {
        let before = first.remove(what).unwrap_or_default();
        println!(
            "  {what:<26} {:>9} {:>11.2} {:>7.2} {:>11.2} {:>7.2}",
            times.len(),
            percentile(before.clone(), 50),
            percentile(before, 95),
            percentile(times.clone(), 50),
            percentile(times, 95)
        );
    }
}

/// Milliseconds that each part of a question took.
fn ask(index: &LakeIndex, lake: &Path, question: &Question, embedder: &StaticModel) -> Vec<(&'static str, f64)> {
    let mut times = Vec::new();
    let table =
        time("read the query's table", &mut times, || QueryTable::read(&question.table, None, embedder).unwrap());
    if question.join {
        let column = question.column.as_ref().map(|name| table.column(name).unwrap());
        time("join", &mut times, || {
            join::search(index, &table, &JoinOptions { column, ..JoinOptions::new(ANSWERS) }).unwrap()
        });
        if column.is_some() {
            let options = JoinOptions::new(ANSWERS);
            time("join, any column", &mut times, || join::search(index, &table, &options).unwrap());
        }
    } else {
        for (what, count_rows) in [("union", false), ("union, counting new rows", true)] {
            let options = UnionOptions { count_rows, ..UnionOptions::new(ANSWERS) };
            time(what, &mut times, || union::search(index, lake, &table, &options).unwrap());
        }
    }
    if let Some(text) = &question.text {
        let options = SearchOptions::new(ANSWERS);
        time("search", &mut times, || text_search::search(index, embedder, text, &options).unwrap());
    }
    times
}

fn time<T>(what: &'static str, times: &mut Vec<(&'static str, f64)>, run: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = run();
    times.push((what, began.elapsed().as_secs_f64() * 1e3));
    result
}

fn percentile(mut times: Vec<f64>, percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() * percent / 100).or(times.last()).copied().unwrap_or(f64::NAN)
}
