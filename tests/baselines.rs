//! The plain baselines give the figures published with the benchmarks. Run with `LAKEWARD_BENCH` set to a folder of
//! benchmarks; skipped with a printed reason otherwise. `--nocapture` shows all figures, `LAKEWARD_RUNS` names a folder
//! for run files.

#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

mod benchmark;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use benchmark::{bench, measure, qrels};
use lakeward::eval::baseline::{Baseline, BaselineKind, Documents, PlainQuery, PlainTable};

const DEPTH: usize = 100;
/// How far a figure may lie from the published one.
const TOLERANCE: f64 = 0.01;

/// Mean nDCG@10 by baseline and `task labels style`.
type Figures = BTreeMap<(&'static str, String), f64>;

fn run(folder: &Path, kinds: &[BaselineKind], documents: &Documents) -> Figures {
    let qrels = qrels(folder);
    let queries = fs::read_to_string(folder.join("queries.jsonl")).expect("queries");
    let queries: Vec<serde_json::Value> =
        queries.lines().map(|line| serde_json::from_str(line).expect("a query")).collect();
    let mut figures = Figures::new();
    for kind in kinds {
        let started = Instant::now();
        let baseline = Baseline::build(*kind, documents).expect("a baseline");
        let build_ms = started.elapsed().as_millis();
        assert!(baseline.unread().is_empty(), "{:?}", baseline.unread());
        let mut scores: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        let mut lines = String::new();
        for query in &queries {
            let field = |name: &str| query[name].as_str();
            let id = field("id").expect("an id");
            let table = field("table").map(|table| PlainTable::read(&folder.join(table), id).expect("a table"));
            let column = table.as_ref().zip(field("column")).map(|(table, name)| table.column(name).expect("a column"));
            let text = if table.is_none() { field("text") } else { None };
            let ranking = baseline.rank(&PlainQuery { text, table: table.as_ref(), column }, DEPTH).expect("a ranking");
            for (place, (table, score)) in ranking.iter().enumerate() {
                lines.push_str(&format!("{id} Q0 {table} {} {score} {kind}\n", place + 1));
            }
            let answers = kind.answers(text.is_some(), table.is_some(), column.is_some());
            if let Some(grades) = qrels.get(id).filter(|_| answers) {
                let labels = [field("task"), field("labels"), field("style")].into_iter().flatten();
                let ids: Vec<String> = ranking.iter().map(|(id, _)| id.to_string()).collect();
                let key = labels.collect::<Vec<_>>().join(" ");
                scores.entry(key).or_default().push(measure(&ids, grades));
            }
        }
        let elapsed_ms = started.elapsed().as_millis();
        println!(
            "{} {kind}: {} documents, built in {build_ms} ms, {elapsed_ms} ms in all",
            folder.display(),
            baseline.len()
        );
        for (key, values) in scores {
            let count = values.len() as f64;
            let ndcg = values.iter().map(|value| value.0).sum::<f64>() / count;
            let mrr = values.iter().map(|value| value.1).sum::<f64>() / count;
            println!("  {key}: nDCG@10 {ndcg:.4}, MRR {mrr:.4} ({count} queries)");
            figures.insert((kind.name(), key), ndcg);
        }
        if let Some(out) = std::env::var_os("LAKEWARD_RUNS") {
            let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
            let titles = if documents.corpus.is_some() { ".titles" } else { "" };
            fs::write(Path::new(&out).join(format!("{name}{titles}.{kind}.run")), lines).expect("a run file");
        }
    }
    figures
}

fn lake(folder: &Path) -> Documents {
    Documents { lake: Some(folder.join("lake")), corpus: None }
}

fn titled(folder: &Path) -> Documents {
    Documents { corpus: Some(folder.join("corpus.jsonl")), ..lake(folder) }
}

fn records(folder: &Path) -> Documents {
    Documents { lake: None, corpus: Some(folder.join("corpus.jsonl")) }
}

fn assert_published(figures: &Figures, published: &[(&str, &str, f64)]) {
    for (baseline, key, expected) in published {
        let (_, found) = figures
            .iter()
            .find(|((name, found), _)| name == baseline && found == key)
            .unwrap_or_else(|| panic!("no figure of {baseline} for {key}: {figures:?}"));
        assert!((found - expected).abs() <= TOLERANCE, "{baseline} on {key}: {found:.4}, published {expected}");
    }
}

#[test]
fn wiki_split() {
    let Some(folder) = bench("wiki-split") else { return };
    let figures = run(&folder, &BaselineKind::ALL, &lake(&folder));
    let published = [
        ("bm25", "union wiki-union", 0.870),
        ("header-jaccard", "union wiki-union", 0.566),
        ("header-value-jaccard", "union wiki-union", 0.730),
        ("bm25", "join wiki-join", 0.878),
        ("bm25-column", "join wiki-join", 0.906),
        ("containment", "join wiki-join", 0.725),
        ("folded-containment", "join wiki-join", 0.927),
        ("any-order-containment", "join wiki-join", 0.933),
    ];
    assert_published(&figures, &published);
}

#[test]
fn lakebench_webtable() {
    // Published BM25 figures are those of table heads. Header and value Jaccard on join-A, whose labels are noisy, is
    // .103 here and .087 as published.
    let Some(folder) = bench("lakebench-webtable") else { return };
    let figures = run(&folder, &BaselineKind::ALL, &lake(&folder));
    let published = [
        ("bm25-head", "join join-B", 0.680),
        ("containment", "join join-B", 0.752),
        ("header-containment", "join join-B", 0.761),
        ("header-value-jaccard", "join join-B", 0.684),
        ("bm25-head", "union union", 0.413),
        ("header-jaccard", "union union", 0.421),
        ("header-value-jaccard", "union union", 0.436),
        ("bm25-head", "join join-A", 0.068),
        ("containment", "join join-A", 0.078),
    ];
    assert_published(&figures, &published);
}

#[test]
fn ugen_v1() {
    let Some(folder) = bench("ugen-v1") else { return };
    let figures = run(&folder, &BaselineKind::ALL, &lake(&folder));
    assert_published(&figures, &[("bm25", "union ugen-v1", 0.648)]);
}

#[test]
fn questions_over_tables() {
    for (name, with_titles, cells_only) in [("ottqa", 0.7267, 0.3171), ("fetaqa", 0.8892, 0.5082)] {
        let Some(folder) = bench(name) else { return };
        for (documents, expected) in [(titled(&folder), with_titles), (lake(&folder), cells_only)] {
            let figures = run(&folder, &[BaselineKind::Bm25, BaselineKind::TfIdf], &documents);
            assert_published(&figures, &[("bm25", "search", expected)]);
        }
    }
}

#[test]
fn metadata_records() {
    let Some(folder) = bench("acordar") else { return };
    let figures = run(&folder, &[BaselineKind::Bm25, BaselineKind::TfIdf], &records(&folder));
    let published = [
        ("bm25", "search acordar1 keyword", 0.5356),
        ("bm25", "search acordar2 keyword", 0.5055),
        ("bm25", "search acordar2 question", 0.3331),
    ];
    assert_published(&figures, &published);
}
