//! Measures word search on the benchmark folders. Run by hand:
//!
//! `LAKEWARD_BENCH=/path/to/bench cargo test --release --lib lexical::measure -- --ignored --nocapture`
//!
//! Prints nDCG (from `score.py` of that folder), text and index sizes, speed of indexing and latency of queries.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::analysis::Analyzer;
use super::field::FIELD_COUNT;
use super::query::Query;
use super::*;
use crate::structure::{SegmentFiles, Structure};

const MEMORY_BYTES: usize = 256 << 20;

/// One table of the benchmark.
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

/// Tables of `bench`; `with_titles` decides whether the sidecar is used.
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

/// CPU time of this thread, so that a busy machine does not distort it. Linux only.
fn thread_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

fn build(dir: &Path, tables: &[Table]) -> (LexicalStats, Duration) {
    let started = thread_time();
    let mut builder = LexicalBuilder::new(&dir.join("scratch"), MEMORY_BYTES);
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
    (builder.write(dir).unwrap(), thread_time() - started)
}

fn opened_in(dir: &Path) -> LexicalIndex {
    let files = SegmentFiles { folder: dir.to_path_buf(), removed: &[], listed: &[] };
    LexicalIndex::of([&Words::open(&files).unwrap()])
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
    let index = opened_in(dir.path());
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
        stats.file.bytes as f64 / 1e6 / megabytes,
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

/// A rejected way to combine the fields.
#[derive(Clone, Copy)]
enum Way {
    /// BM25F, as [`super::score`] does.
    InsideSaturation,
    /// A BM25 score for each field, added.
    SumOfFields,
    /// The best field's BM25 score, and this share of the others'.
    BestField(f32),
    /// One field of all text, with the total length of all fields.
    OneField,
}

#[derive(Clone, Copy)]
struct Alternative {
    way: Way,
    boosts: [f32; FIELD_COUNT],
    k1: f32,
    b: [f32; FIELD_COUNT],
}

struct Loaded {
    index: LexicalIndex,
    /// Length of every document in every field.
    lengths: Vec<[f32; FIELD_COUNT]>,
    ids: Vec<String>,
    queries: Vec<(String, String, Query)>,
    relevant: HashMap<String, HashMap<String, f64>>,
}

fn load(bench: &Path, with_titles: bool) -> Loaded {
    let tables = tables(bench, with_titles);
    let dir = tempfile::tempdir().unwrap().keep();
    build(&dir, &tables);
    let index = opened_in(&dir);
    fs::remove_dir_all(dir).unwrap();
    let mut lengths = vec![[0.0; FIELD_COUNT]; tables.len()];
    for (table, lengths) in tables.iter().zip(&mut lengths) {
        let texts = [&table.id, &table.title, &table.headers, &table.description, &table.tags, &table.values];
        for (field, text) in texts.iter().enumerate() {
            lengths[field] = Analyzer::new(matches!(field, 0 | 2)).terms(text).iter().count() as f32;
        }
    }
    let queries = read_lines(&bench.join("queries.jsonl"));
    let queries = queries.iter().map(|query| {
        let label = format!("{} {}", text_of(query, "labels"), text_of(query, "style"));
        (text_of(query, "id"), label, Query::from_text(&text_of(query, "text")))
    });
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in fs::read_to_string(bench.join("qrels.txt")).unwrap().lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let grade: f64 = fields[3].parse().unwrap();
        if grade > 0.0 {
            relevant.entry(fields[0].into()).or_default().insert(fields[2].into(), grade);
        }
    }
    let queries = queries.collect();
    Loaded { index, lengths, ids: tables.into_iter().map(|table| table.id).collect(), queries, relevant }
}

impl Loaded {
    fn scores(&self, query: &Query, how: &Alternative) -> Vec<f32> {
        let documents = self.lengths.len();
        let segment = &self.index.segments[0];
        let averages: Vec<f32> =
            (0..FIELD_COUNT).map(|field| (segment.words(field) as f32 / documents as f32).max(1e-6)).collect();
        let total_average: f32 = averages.iter().zip(how.boosts).map(|(average, boost)| average * boost).sum();
        let idf = |n: usize| (1.0 + (documents as f32 - n as f32 + 0.5) / (n as f32 + 0.5)).ln();
        let mut by_field = vec![[0.0f32; FIELD_COUNT]; documents];
        let mut all = vec![0.0f32; documents];
        for term in &query.terms {
            let mut frequencies: hashbrown::HashMap<u32, [f32; FIELD_COUNT]> = hashbrown::HashMap::new();
            let mut counts = [0; FIELD_COUNT];
            for field in LexicalField::ALL.into_iter().filter(|field| !term.part || field.takes_parts()) {
                let at = field as usize;
                if how.boosts[at] == 0.0 {
                    continue;
                }
                let word = tantivy::Term::from_field_text(self.index.fields.text[at], &term.term);
                segment
                    .for_each_block(at, &word, |found, counted, _| {
                        counts[at] += found.len();
                        for (document, count) in found.iter().zip(counted) {
                            frequencies.entry(*document).or_default()[at] = *count as f32;
                        }
                    })
                    .unwrap();
            }
            let shared = term.weight * idf(frequencies.len());
            for (document, found) in frequencies {
                let lengths = &self.lengths[document as usize];
                let norm = |f: usize| 1.0 - how.b[f] + how.b[f] * lengths[f] / averages[f];
                let fields = (0..FIELD_COUNT).filter(|f| found[*f] > 0.0);
                match how.way {
                    Way::InsideSaturation => {
                        let tf: f32 = fields.map(|f| how.boosts[f] * found[f] / norm(f)).sum();
                        all[document as usize] += shared * tf * (how.k1 + 1.0) / (how.k1 + tf);
                    }
                    Way::OneField => {
                        let tf: f32 = fields.map(|f| how.boosts[f] * found[f]).sum();
                        let length: f32 = (0..FIELD_COUNT).map(|f| how.boosts[f] * lengths[f]).sum();
                        let norm = 1.0 - how.b[0] + how.b[0] * length / total_average;
                        all[document as usize] += shared * tf * (how.k1 + 1.0) / (how.k1 * norm + tf);
                    }
                    Way::SumOfFields | Way::BestField(_) => {
                        for f in fields {
                            let score = idf(counts[f]) * found[f] * (how.k1 + 1.0) / (found[f] + how.k1 * norm(f));
                            by_field[document as usize][f] += term.weight * how.boosts[f] * score;
                        }
                    }
                }
            }
        }
        for (all, fields) in all.iter_mut().zip(&by_field) {
            let (sum, best) = (fields.iter().sum::<f32>(), fields.iter().copied().fold(0.0, f32::max));
            *all += match how.way {
                Way::BestField(share) => best + share * (sum - best),
                _ => sum,
            };
        }
        all
    }

    /// nDCG@10 by label.
    fn ndcg(&self, how: &Alternative) -> BTreeMap<&str, f64> {
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (id, label, query) in &self.queries {
            let Some(relevant) = self.relevant.get(id) else { continue };
            let scores = self.scores(query, how);
            let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(self.ids[*a].cmp(&self.ids[*b])));
            let gain = |rank: usize, grade: f64| grade / (rank as f64 + 2.0).log2();
            let found = order.iter().take(10).enumerate();
            let dcg: f64 =
                found.map(|(rank, at)| gain(rank, relevant.get(&self.ids[*at]).copied().unwrap_or(0.0))).sum();
            let mut ideal: Vec<f64> = relevant.values().copied().collect();
            ideal.sort_by(|a, b| b.total_cmp(a));
            let best: f64 = ideal.iter().take(10).enumerate().map(|(rank, grade)| gain(rank, *grade)).sum();
            let sum = sums.entry(label).or_default();
            *sum = (sum.0 + dcg / best, sum.1 + 1.0);
        }
        sums.into_iter().map(|(label, (sum, count))| (label, sum / count)).collect()
    }
}

#[test]
#[ignore = "reads benchmark folders named by LAKEWARD_BENCH"]
fn compares_ways_to_combine_fields() {
    let Some(root) = std::env::var_os("LAKEWARD_BENCH").map(PathBuf::from) else {
        println!("skipped: LAKEWARD_BENCH does not name the folder of benchmarks");
        return;
    };
    let sets = [("ottqa", true), ("ottqa", false), ("fetaqa", true), ("fetaqa", false), ("acordar", true)];
    let loaded: Vec<Loaded> = sets.iter().map(|(name, titles)| load(&root.join(name), *titles)).collect();
    println!("sets: {sets:?}; labels of acordar: 1 keyword, 2 keyword, 2 question");
    let even = [1.0; FIELD_COUNT];
    let title = [1.0, 2.0, 1.0, 1.0, 1.0, 1.0];
    let names = [1.0, 3.0, 2.0, 1.0, 1.0, 1.0];
    let b = [0.75; FIELD_COUNT];
    let plain = Alternative { way: Way::InsideSaturation, boosts: even, k1: 1.2, b };
    let with = |way: Way, boosts: [f32; FIELD_COUNT]| Alternative { way, boosts, k1: 1.2, b };
    let mut ways = vec![
        ("one field, boosts 1", with(Way::OneField, even)),
        ("one field, title 2", with(Way::OneField, title)),
        ("sum of fields, boosts 1", with(Way::SumOfFields, even)),
        ("sum of fields, title 2", with(Way::SumOfFields, title)),
        ("best field + 0.1, boosts 1", with(Way::BestField(0.1), even)),
        ("best field + 0.3, boosts 1", with(Way::BestField(0.3), even)),
        ("BM25F, boosts 1", plain),
        ("BM25F, title 2", with(Way::InsideSaturation, title)),
        ("BM25F, title 3, headers 2", with(Way::InsideSaturation, names)),
    ];
    for line in std::env::var("LAKEWARD_ALTERNATIVES").unwrap_or_default().lines() {
        let numbers: Vec<f32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let way = Alternative {
            boosts: numbers[..6].try_into().unwrap(),
            k1: numbers[6],
            b: numbers[7..13].try_into().unwrap(),
            ..plain
        };
        ways.push((Box::leak(line.to_string().into_boxed_str()), way));
    }
    for (name, how) in ways {
        let results: Vec<f64> = loaded.iter().flat_map(|loaded| loaded.ndcg(&how).into_values()).collect();
        let shown: Vec<String> = results.iter().map(|result| format!("{result:.4}")).collect();
        println!("{name:28} {} mean {:.4}", shown.join(" "), results.iter().sum::<f64>() / results.len() as f64);
    }
}
