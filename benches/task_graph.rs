//! The task graph at the size of a field: how long it takes to build, to add 5% to and to search, on made-up papers.
//!
//! `cargo bench --bench task_graph [-- TASKS]`; 10,000 tasks by default.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::time::Instant;

use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_tasks::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_tasks::task_graph::{self, DatasetRecord, GraphInputs, GraphOptions, TaskGraph, TaskSearchOptions};

const WORDS: &str = "image video speech text road sign lane car pedestrian face pose hand action sound music tumour scan gene \
    protein molecule weather rain river satellite crop forest building map route traffic flight ship price stock review rating \
    sentiment translation summary question answer dialogue entity relation graph node citation paper patent law contract tweet \
    news rumour hate humour code program bug robot grasp policy reward game chess depth flow stereo cloud point mesh shape \
    texture colour style caption layout table chart formula proof theorem equation sketch font handwriting digit letter word \
    accent speaker emotion noise echo beat chord melody";
const VERBS: [&str; 12] = [
    "detect",
    "classify",
    "segment",
    "translate",
    "predict",
    "generate",
    "retrieve",
    "track",
    "summarise",
    "align",
    "restore",
    "count",
];
const DATASETS: usize = 3_000;
const QUERIES: usize = 200;

struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn words(&mut self, words: &[&str], count: usize) -> String {
        // The minimum of two draws: some words are frequent, as in texts.
        let word = |draw: &mut Self| words[draw.below(words.len()).min(draw.below(words.len()))];
        (0..count).map(|_| word(self)).collect::<Vec<_>>().join(" ")
    }
}

fn paper(number: usize, draw: &mut Draw, words: &[&str]) -> Extraction {
    let (verb, subject) = (VERBS[draw.below(VERBS.len())], draw.words(words, 3));
    let datasets = (0..1 + draw.below(4))
        .map(|_| DatasetMention {
            name: format!("Set {}", draw.below(DATASETS).min(draw.below(DATASETS))),
            ..DatasetMention::default()
        })
        .collect();
    let task = ExtractedTask {
        text: format!("We {verb} {subject} with {}.", draw.words(words, 4)),
        name: format!("{subject} {verb}"),
        keywords: vec![draw.words(words, 2)],
        datasets,
    };
    Extraction {
        document: format!("paper{number:06}"),
        title: format!("On {subject}"),
        year: Some(2000 + (number % 25) as i32),
        text: draw.words(words, 120),
        tasks: vec![task],
        extractor: "made-up@1".into(),
    }
}

/// What the process has in memory.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

fn main() {
    let tasks = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(10_000usize);
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut draw = Draw(8);
    let papers: Vec<Extraction> = (0..tasks).map(|number| paper(number, &mut draw, &words)).collect();
    let mut datasets: Vec<DatasetRecord> = (0..DATASETS)
        .map(|number| DatasetRecord {
            id: format!("set_{number:05}"),
            title: format!("Set {number}"),
            description: draw.words(&words, 60),
            is_table: false,
            meaning: Vec::new(),
        })
        .collect();
    datasets.sort_by(|a, b| a.id.cmp(&b.id));
    let model = StaticModel::builtin();
    let folder = tempfile::tempdir().expect("a folder");
    let build = |count: usize| {
        let inputs = GraphInputs { datasets: &datasets, extractions: &papers[..count], embedder: model, judge: None };
        task_graph::build(folder.path(), &inputs, &GraphOptions::default()).expect("a graph")
    };
    let most = tasks - tasks / 20;
    build(most);
    let added = build(tasks);
    std::fs::remove_file(folder.path().join("graph.seg")).expect("to be removed");
    let whole = build(tasks);
    println!(
        "{tasks} tasks, {} edges to datasets, {} between tasks, {:.1} MB",
        whole.uses,
        whole.links,
        whole.bytes as f64 / 1e6
    );
    println!(
        "built in {:.2} s; 5% added in {:.2} s ({:.1}%)",
        whole.elapsed_ms / 1e3,
        added.elapsed_ms / 1e3,
        100.0 * added.elapsed_ms / whole.elapsed_ms
    );
    let started = Instant::now();
    let graph = TaskGraph::open(folder.path(), model.id()).expect("a graph");
    let opened = started.elapsed();
    let edges = 2 * whole.links + whole.uses;
    println!(
        "{:.0} bytes of file for each document, {:.1} for each edge and direction",
        whole.bytes as f64 / tasks as f64,
        whole.bytes as f64 / edges as f64
    );
    let options = TaskSearchOptions::new(10);
    let first = Instant::now();
    graph.search(model, "detect road signs in images", &options).expect("answers");
    println!(
        "opened in {:.1} ms, the first search took {:.1} ms",
        opened.as_secs_f64() * 1e3,
        first.elapsed().as_secs_f64() * 1e3
    );
    let mut times: Vec<f64> = (0..QUERIES)
        .map(|_| {
            let text =
                format!("{} {} in {}", VERBS[draw.below(VERBS.len())], draw.words(&words, 3), draw.words(&words, 5));
            let started = Instant::now();
            graph.search(model, &text, &options).expect("answers");
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    if let Some(bytes) = resident_bytes() {
        println!("{:.1} MB in memory with the graph open and searched", bytes as f64 / 1e6);
    }
    println!("{QUERIES} searches: p50 {:.1} ms, p95 {:.1} ms", times[QUERIES / 2], times[QUERIES * 95 / 100]);
}
