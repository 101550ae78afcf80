//! The plain baselines give the figures published with the benchmarks. Run with `LAKEWARD_BENCH` set to a folder of
//! benchmarks; skipped with a printed reason otherwise. `--nocapture` shows all figures; `lakeward eval DIR --system baselines`
//! shows more of them.

#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::collections::BTreeMap;
use std::path::Path;

use crate::benchmark::bench;
use lakeward_core::monitor::Silent;
use lakeward_eval::baseline::BaselineKind;
use lakeward_eval::evaluate::{EvalOptions, evaluate};
use lakeward_eval::form::DocumentForm;
use lakeward_eval::report::groups;
use lakeward_eval::systems::Systems;
use lakeward_eval::{Task, layout};
use lakeward_models::embed::StaticModel;
use lakeward_search::RankingWeights;

const DEPTH: usize = 100;
/// How far a figure may lie from the published one.
const TOLERANCE: f64 = 0.01;

/// Mean nDCG@10 by baseline and `task labels style`.
type Figures = BTreeMap<(&'static str, String), f64>;

fn run(folder: &Path, kinds: &[BaselineKind], form: DocumentForm) -> Figures {
    let place = tempfile::tempdir().expect("a folder");
    let benchmark = form.apply(layout::read(folder).expect("a benchmark"), place.path()).expect("a form");
    let systems = Systems::over(&benchmark, StaticModel::builtin(), RankingWeights::shipped().clone(), None);
    let options = EvalOptions { k: 10, depth: DEPTH, tasks: Task::ALL.to_vec() };
    let mut figures = Figures::new();
    for kind in kinds {
        let made = systems.make(kind.name(), &Silent).expect("a baseline");
        assert!(made.problems.list().is_empty(), "{:?}", made.problems.list());
        let rows = evaluate(&benchmark, made.system.as_ref(), &options, &Silent).expect("rankings");
        println!("{} {kind}: read in {:.0} ms", folder.display(), made.index_ms);
        for group in groups(&rows).into_iter().filter(|group| group.queries > 0) {
            assert_eq!(group.failed, 0, "{:?}", group.failure);
            let key = format!("{} {}", group.task, group.group).trim().to_string();
            let (ndcg, mrr) = (group.raw.at(10).ndcg, group.raw.reciprocal_rank);
            println!("  {key}: nDCG@10 {ndcg:.4}, MRR {mrr:.4} ({} queries)", group.queries);
            figures.insert((kind.name(), key), ndcg);
        }
    }
    figures
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
    let figures = run(&folder, &BaselineKind::ALL, DocumentForm::Cells);
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
    // Published BM25 figures are those of table heads. Header and value Jaccard on join-A, whose labels are noisy, is .103
    // here and .087 as published.
    let Some(folder) = bench("lakebench-webtable") else { return };
    let figures = run(&folder, &BaselineKind::ALL, DocumentForm::Cells);
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
    let figures = run(&folder, &BaselineKind::ALL, DocumentForm::Cells);
    assert_published(&figures, &[("bm25", "union ugen-v1", 0.648)]);
}

#[test]
fn questions_over_tables() {
    for (name, with_titles, cells_only) in [("ottqa", 0.7267, 0.3171), ("fetaqa", 0.8892, 0.5082)] {
        let Some(folder) = bench(name) else { return };
        for (form, expected) in [(DocumentForm::Titles, with_titles), (DocumentForm::Cells, cells_only)] {
            let figures = run(&folder, &[BaselineKind::Bm25, BaselineKind::TfIdf], form);
            assert_published(&figures, &[("bm25", "search", expected)]);
        }
    }
}

#[test]
fn metadata_records() {
    let Some(folder) = bench("acordar") else { return };
    let figures = run(&folder, &[BaselineKind::Bm25, BaselineKind::TfIdf], DocumentForm::Titles);
    let published = [
        ("bm25", "search acordar1 keyword", 0.5356),
        ("bm25", "search acordar2 keyword", 0.5055),
        ("bm25", "search acordar2 question", 0.3331),
    ];
    assert_published(&figures, &published);
}
