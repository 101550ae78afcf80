//! Benchmark folders of `LAKEWARD_BENCH`, their judgments, and the measures that the tests on them share.

#![allow(clippy::print_stdout, reason = "a skipped test says why")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of a benchmark; says why where there is none.
pub fn bench(name: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("LAKEWARD_BENCH") else {
        println!("skipped: LAKEWARD_BENCH is not set");
        return None;
    };
    let folder = Path::new(&root).join(name);
    if !folder.is_dir() {
        println!("skipped: no benchmark `{name}` in LAKEWARD_BENCH");
        return None;
    }
    Some(folder)
}

/// The grades above 0 of a query's tables.
pub type Grades = HashMap<String, f64>;

/// The judgments of a benchmark, by query.
pub fn qrels(folder: &Path) -> HashMap<String, Grades> {
    let mut qrels: HashMap<String, Grades> = HashMap::new();
    for line in fs::read_to_string(folder.join("qrels.txt")).expect("qrels").lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let grade: f64 = fields[3].parse().expect("a grade");
        if grade > 0.0 {
            qrels.entry(fields[0].to_string()).or_default().insert(fields[2].to_string(), grade);
        }
    }
    qrels
}

/// nDCG@10 with linear gains and reciprocal rank, as trec_eval computes them.
pub fn measure(ranking: &[String], grades: &Grades) -> (f64, f64) {
    let discount = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let gain = |table: &String| grades.get(table).copied().unwrap_or(0.0);
    let found: f64 = ranking.iter().take(10).enumerate().map(|(place, table)| gain(table) * discount(place)).sum();
    let mut ideal: Vec<f64> = grades.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let best: f64 = ideal.iter().take(10).enumerate().map(|(place, grade)| grade * discount(place)).sum();
    let first = ranking.iter().position(|table| gain(table) > 0.0).map_or(0.0, |place| 1.0 / (place + 1) as f64);
    (found / best, first)
}
