//! Pseudo-queries: what they are made of, that runs go on where they ended, and what they are worth on outside benchmarks
//! (`LAKEWARD_BENCH`; `--nocapture` shows the figures).

#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use crate::benchmark::bench;
use lakeward_core::monitor::Silent;
use lakeward_eval::compare::{SEED, paired_bootstrap};
use lakeward_eval::{layout, metrics};
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::augment::{AugmentOptions, QuestionIndex, QuestionMode, QuestionStore, make_questions};
use lakeward_search::channels;
use lakeward_search::fuse::reciprocal_rank_fusion;
use lakeward_search::weights::FusionWeights;

const DEPTH: usize = 100;

fn ids(index: &LakeIndex, found: Vec<(lakeward_index::TableRef, f64)>) -> Vec<String> {
    found.into_iter().map(|(table, _)| index.id(table).expect("an id").to_string()).collect()
}

fn fused(lists: &[&Vec<String>]) -> Vec<String> {
    let lists: Vec<(f64, Vec<&str>)> =
        lists.iter().map(|list| (1.0, list.iter().map(String::as_str).collect())).collect();
    reciprocal_rank_fusion(&lists, &FusionWeights::default()).into_iter().map(|(id, _)| id.to_string()).collect()
}

/// Mean nDCG@10 of each system by group of queries; prints them, with the differences from fusion without questions.
fn measure(folder: &Path) -> BTreeMap<String, BTreeMap<&'static str, f64>> {
    let benchmark = layout::read(folder).expect("a benchmark");
    let model = StaticModel::builtin();
    let place = tempfile::tempdir().expect("a folder");
    let nothing = tempfile::tempdir().expect("a folder");
    let lake = benchmark.lake.clone().unwrap_or_else(|| nothing.path().to_path_buf());
    let options = BuildOptions { records: benchmark.corpus.clone(), ..BuildOptions::default() };
    let started = Instant::now();
    build(&lake, place.path(), model, &options, &Silent).expect("an index");
    let index = LakeIndex::open(place.path(), model.id()).expect("an index");
    println!("{}: {} tables indexed in {:.1} s", benchmark.name, index.len(), started.elapsed().as_secs_f64());
    let mut store = QuestionStore::open(place.path()).expect("a store");
    let stats = make_questions(&index, &mut store, None, &AugmentOptions::default(), &Silent).expect("questions");
    println!("  {} questions of {} tables in {} ms", stats.questions, stats.tables, stats.elapsed_ms);
    let open = |mode: QuestionMode| {
        let started = Instant::now();
        let stats = QuestionIndex::build(&index, &store, mode, model, &Silent).expect("a question index");
        let bytes = stats.index_bytes / 1000;
        println!(
            "  {}: {} documents, {bytes} KB, {:.1} s",
            mode.name(),
            stats.records,
            started.elapsed().as_secs_f64()
        );
        let opened = QuestionIndex::open(&index, mode, model.id()).expect("a question index");
        assert_eq!((opened.stale, opened.missing), (0, 0));
        opened
    };
    let questions = QuestionMode::ALL.map(open);
    let mut scores: BTreeMap<String, BTreeMap<&'static str, Vec<f64>>> = BTreeMap::new();
    let started = Instant::now();
    for labelled in &benchmark.queries {
        let (query, text) = (&labelled.query, labelled.query.text.as_deref().unwrap_or_default());
        let Some(grades) = benchmark.qrels.get(&query.id).filter(|grades| metrics::is_scorable(grades)) else {
            continue;
        };
        let words = ids(&index, channels::by_words(&index, text, DEPTH).expect("tables"));
        let meaning = ids(&index, channels::by_meaning(&index, model, text, DEPTH).expect("tables"));
        let names = |found: Vec<(String, f64)>| found.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        let [(cw, cm), (dw, dm)] = [0, 1].map(|mode: usize| {
            let questions = &questions[mode];
            (
                names(questions.by_words(text, DEPTH).expect("tables")),
                names(questions.by_meaning(model, text, DEPTH).expect("tables")),
            )
        });
        let systems = [
            ("words", words.clone()),
            ("meaning", meaning.clone()),
            ("rrf", fused(&[&words, &meaning])),
            ("c words", cw.clone()),
            ("c meaning", cm.clone()),
            ("c rrf", fused(&[&cw, &cm])),
            ("d words", dw.clone()),
            ("d meaning", dm.clone()),
            ("d rrf", fused(&[&dw, &dm])),
            ("rrf+c", fused(&[&words, &meaning, &cw, &cm])),
            ("rrf+d", fused(&[&words, &meaning, &dw, &dm])),
        ];
        let group = scores.entry(labelled.group()).or_default();
        for (name, ranking) in systems {
            let ranking: Vec<&str> = ranking.iter().map(String::as_str).collect();
            let ndcg = metrics::score(&ranking, grades, 10).at(10).ndcg;
            group.entry(name).or_default().push(ndcg);
        }
    }
    println!("  asked in {:.1} s", started.elapsed().as_secs_f64());
    let mut means: BTreeMap<String, BTreeMap<&'static str, f64>> = BTreeMap::new();
    for (group, systems) in scores {
        println!("  [{group}] {} queries", systems["rrf"].len());
        for (name, values) in &systems {
            let less = |base: &str| values.iter().zip(&systems[base]).map(|(a, b)| a - b).collect::<Vec<f64>>();
            let difference = paired_bootstrap(&less("rrf"), SEED).expect("queries");
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            println!(
                "    {name:10} nDCG@10 {mean:.4}  against rrf {:+.4} [{:+.4}, {:+.4}]",
                difference.mean, difference.low, difference.high
            );
            means.entry(group.clone()).or_default().insert(name, mean);
        }
    }
    means
}

/// The channels of lake and questions fused are not below those of the lake alone, in any group.
fn no_loss(means: &BTreeMap<String, BTreeMap<&'static str, f64>>) {
    for (group, means) in means {
        assert!(means["rrf+d"] >= means["rrf"], "{group}: {means:?}");
    }
}

#[test]
fn questions_are_no_loss_on_acordar() {
    let Some(folder) = bench("acordar") else { return };
    no_loss(&measure(&folder));
}

#[test]
fn questions_are_no_loss_on_fetaqa() {
    let Some(folder) = bench("fetaqa") else { return };
    no_loss(&measure(&folder));
}

#[test]
fn questions_are_no_loss_on_ottqa() {
    let Some(folder) = bench("ottqa") else { return };
    no_loss(&measure(&folder));
}
