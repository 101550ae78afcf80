//! The variants of the paper by rules, on outside benchmarks: V1 words, V2 meaning, V3 both by reciprocal rank fusion, V4 the single
//! agent, V6 several agents; and V6 without each rule. Run with `LAKEWARD_BENCH` set to a folder of benchmarks; skipped with a
//! printed reason otherwise. `--nocapture` shows the figures. `LAKEWARD_EVERY=5` asks every fifth query only.

#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lakeward_agent::agentic::{
    Channel, LiveClock, MeaningChannel, Rules, SearchGoal, Settings, Style, Tools, WordsChannel, pursue,
};
use lakeward_core::monitor::Silent;
use lakeward_eval::evaluate::{EvalOptions, evaluate};
use lakeward_eval::lakeward_system::{IndexPlan, LakeIndexOf};
use lakeward_eval::report::{groups, title};
use lakeward_eval::system::{Ranked, System};
use lakeward_eval::{BenchQuery, Task, layout};
use lakeward_models::embed::StaticModel;
use lakeward_search::fuse::reciprocal_rank_fusion;
use lakeward_search::text_search::{SearchOptions, search};
use lakeward_search::{RankingWeights, channels};

use crate::benchmark::bench;

#[derive(Clone)]
enum Way {
    Words,
    Meaning,
    Fused,
    Search,
    Agents(Settings),
}

struct Variant<'a> {
    name: String,
    over: &'a LakeIndexOf<'a>,
    way: Way,
    /// Runs, their iterations and searches.
    counts: RefCell<[usize; 3]>,
}

impl System for Variant<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self, query: &BenchQuery, depth: usize) -> lakeward_core::Result<Vec<Ranked>> {
        let (index, embedder) = (self.over.index(), self.over.embedder());
        let text = query.text.as_deref().unwrap_or_default();
        let named = |found: Vec<(lakeward_index::TableRef, f64)>| -> lakeward_core::Result<Vec<Ranked>> {
            found.into_iter().take(depth).map(|(table, score)| Ok(Ranked::new(index.id(table)?, score))).collect()
        };
        match &self.way {
            Way::Words => named(channels::by_words(index, text, 100)?),
            Way::Meaning => named(channels::by_meaning(index, embedder, text, 100)?),
            Way::Fused => {
                let lists = [channels::by_words(index, text, 100)?, channels::by_meaning(index, embedder, text, 100)?];
                let lists = lists.map(|list| (1.0, list.into_iter().map(|(table, _)| table).collect()));
                named(reciprocal_rank_fusion(&lists, &RankingWeights::shipped().fusion))
            }
            Way::Search => {
                let found = search(index, embedder, text, &SearchOptions::new(depth))?;
                Ok(found.into_iter().map(|answer| Ranked::new(answer.table, answer.score)).collect())
            }
            Way::Agents(settings) => {
                let (words, meaning) = (WordsChannel(index), MeaningChannel(index, embedder));
                let channels: [&dyn Channel; 2] = [&words, &meaning];
                let clock = LiveClock::start(settings.seconds);
                let weights = RankingWeights::shipped();
                let tools =
                    Tools { index, embedder, weights, channels: &channels, questions: "", clock: &clock, cache: None };
                let found = pursue(&tools, &SearchGoal::words(text), settings, None)?;
                assert!(found.degraded.is_empty(), "{:?}", found.degraded);
                let mut counts = self.counts.borrow_mut();
                *counts = [counts[0] + 1, counts[1] + found.iterations, counts[2] + found.tool_calls];
                Ok(found.ranking.into_iter().take(depth).map(|table| Ranked::new(table.id, table.score)).collect())
            }
        }
    }
}

fn ways(ablations: bool) -> Vec<(&'static str, Way)> {
    let agents = |style, rules| Way::Agents(Settings { style, rules, ..Settings::default() });
    let all = Rules::default();
    let mut ways = vec![
        ("V1 words", Way::Words),
        ("V2 meaning", Way::Meaning),
        ("V3 fused", Way::Fused),
        ("search", Way::Search),
        ("V4 single agent", agents(Style::SingleAgent, all)),
        ("V6 multi-agent", agents(Style::MultiAgent, all)),
    ];
    if ablations {
        let fused = Rules { rerank: false, ..all };
        let plain = Rules { decompose: false, rewrite: false, feedback: false, weigh: false, rerank: true };
        let multi = |rules| agents(Style::MultiAgent, rules);
        ways.extend([
            ("V6 - decompose", multi(Rules { decompose: false, ..all })),
            ("V6 - rewrite", multi(Rules { rewrite: false, ..all })),
            ("V6 - feedback", multi(Rules { feedback: false, ..all })),
            ("V6 - weights", multi(Rules { weigh: false, ..all })),
            ("V6 V3 + rerank", multi(plain)),
            ("V6 - rerank", multi(fused)),
            ("V6 - rerank - weights", multi(Rules { weigh: false, ..fused })),
            ("V6 - rerank - decompose", multi(Rules { decompose: false, ..fused })),
            ("V6 - rerank - rewrite", multi(Rules { rewrite: false, ..fused })),
            ("V6 - rerank - feedback", multi(Rules { feedback: false, ..fused })),
        ]);
    }
    ways
}

/// Mean nDCG@10 of each way, by group; prints them.
fn measure(folder: &Path, with_records: bool) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut benchmark = layout::read(folder).expect("a benchmark");
    let every: usize = std::env::var("LAKEWARD_EVERY").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut at = 0;
    benchmark.queries.retain(|_| {
        at += 1;
        at % every.max(1) == 0
    });
    let kept = std::env::var_os("LAKEWARD_KEEP").map(|root| {
        let name = format!("{}-{with_records}", benchmark.name);
        PathBuf::from(root).join(name)
    });
    let plan = IndexPlan {
        lake: benchmark.lake.as_deref(),
        records: benchmark.corpus.as_deref().filter(|_| with_records),
        folder: kept.as_deref(),
        weights: RankingWeights::shipped().clone(),
    };
    let over = LakeIndexOf::build(&plan, StaticModel::builtin(), &Silent).expect("an index");
    let options = EvalOptions { k: 10, depth: 20, tasks: vec![Task::Search] };
    println!("{} {}", benchmark.name, if with_records { "with titles" } else { "cells only" });
    let mut means: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    let only = std::env::var("LAKEWARD_WAYS").unwrap_or_default();
    for (name, way) in ways(std::env::var_os("LAKEWARD_ABLATE").is_some()) {
        if !only.is_empty() && !only.split(',').any(|wanted| name.starts_with(wanted)) {
            continue;
        }
        let variant = Variant { name: name.to_string(), over: &over, way, counts: RefCell::default() };
        let rows = evaluate(&benchmark, &variant, &options, &Silent).expect("rankings");
        let [runs, iterations, searches] = *variant.counts.borrow();
        let per_run = |count: usize| count as f64 / runs.max(1) as f64;
        for group in groups(&rows) {
            let (of, scores) = (title(group.task, &group.group), &group.raw);
            println!(
                "  {of:28} {name:26} nDCG@10 {:.4} MRR {:.4} R@20 {:.4} ({}), {:.2} plans, {:.1} searches, p50 {:.1} ms",
                scores.at(10).ndcg,
                scores.reciprocal_rank,
                scores.at(20).recall,
                group.queries,
                per_run(iterations),
                per_run(searches),
                group.p50_ms.unwrap_or_default(),
            );
            means.entry(of).or_default().insert(name.to_string(), scores.at(10).ndcg);
        }
    }
    means
}

fn agents_are_no_worse_than_fusion(name: &str, with_records: bool) {
    let Some(folder) = bench(name) else { return };
    for (group, of) in measure(&folder, with_records) {
        let (Some(fused), Some(single), Some(multi)) =
            (of.get("V3 fused"), of.get("V4 single agent"), of.get("V6 multi-agent"))
        else {
            continue;
        };
        assert!(single >= fused && multi >= fused, "{group}: {of:?}");
    }
}

#[test]
fn acordar() {
    agents_are_no_worse_than_fusion("acordar", true);
}

#[test]
fn ottqa_with_titles() {
    agents_are_no_worse_than_fusion("ottqa", true);
}

#[test]
fn ottqa_cells() {
    agents_are_no_worse_than_fusion("ottqa", false);
}

#[test]
fn fetaqa_with_titles() {
    agents_are_no_worse_than_fusion("fetaqa", true);
}

#[test]
fn fetaqa_cells() {
    agents_are_no_worse_than_fusion("fetaqa", false);
}
