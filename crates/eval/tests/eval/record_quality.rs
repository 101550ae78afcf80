//! Search for records on outside benchmarks and at size: late interaction beside one vector, demands as a dialogue's labels state
//! them, and a million made-up records. Each is skipped unless asked for; `--nocapture` shows the figures.
//!
//! `LAKEWARD_BENCH=FOLDER cargo test --release --workspace --locked --test eval -- record_quality:: --nocapture`
//! `LAKEWARD_BENCH=FOLDER RECORDS=1000000 RECORDS_FOLDER=DIR cargo test --release --workspace --locked --test eval -- record_quality::a_million --nocapture`:
//! titles and fields are drawn from those of `statcan`; catalogue and index stay in DIR and are used again. Answers are timed in a
//! process of their own, so that its memory is its own.

#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Instant;

use crate::benchmark::bench;
use lakeward_core::monitor::Silent;
use lakeward_core::request::{Demand, Demanded, RequestedYears};
use lakeward_core::respect::Respect;
use lakeward_eval::late::{LateOrder, LateSystem};
use lakeward_eval::metrics::score;
use lakeward_eval::peak_memory::peak_bytes;
use lakeward_eval::systems::Systems;
use lakeward_eval::{System, Task, layout};
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::RankingWeights;
use lakeward_search::record_search::{self, RecordQuery, Route};
use serde_json::Value;

fn model() -> &'static StaticModel {
    StaticModel::builtin()
}

fn built(lake: &Path, records: Option<&Path>, folder: &Path) -> LakeIndex {
    let options = BuildOptions { records: records.map(Path::to_path_buf), ..BuildOptions::default() };
    build(lake, folder, model(), &options, &Silent).expect("an index");
    LakeIndex::open(folder, model().id()).expect("an index")
}

/// Mean nDCG@10 of late interaction and of one cosine, each on the same first stage's candidates.
fn late_beside_cosine(name: &str) -> Option<(f64, f64)> {
    let benchmark = layout::read(&bench(name)?).expect("a benchmark");
    let systems = Systems::over(&benchmark, model(), RankingWeights::shipped().clone(), None);
    let (over, _) = systems.index(&Silent).expect("an index");
    over.index().piece_rarity().expect("pieces");
    let late = LateSystem::new(LateOrder::Late, Rc::clone(&over));
    let cosine = LateSystem::new(LateOrder::OneVector, over);
    let mut scores: [Vec<f64>; 2] = Default::default();
    let mut times: Vec<f64> = Vec::new();
    for labelled in benchmark.queries.iter().filter(|labelled| labelled.query.task == Task::Search) {
        let Some(grades) = benchmark.qrels.get(&labelled.query.id) else { continue };
        if !grades.values().any(|grade| *grade > 0) {
            continue;
        }
        let text = labelled.query.text.as_deref().unwrap_or_default();
        let candidates = late.candidates(text).expect("candidates");
        let began = Instant::now();
        late.scores(text, &candidates).expect("scores");
        times.push(began.elapsed().as_secs_f64() * 1e3);
        for (system, scores) in [&late, &cosine].into_iter().zip(&mut scores) {
            let ranked = system.rank(&labelled.query, 10).expect("a ranking");
            let ids: Vec<&str> = ranked.iter().map(|ranked| ranked.id.as_str()).collect();
            scores.push(score(&ids, grades, 10).at(10).ndcg);
        }
    }
    times.sort_by(f64::total_cmp);
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    let [of_late, of_cosine] = &scores;
    println!(
        "{name}, {} queries: one vector {:.4}, late interaction {:.4}; 30 candidates in {:.2} ms (p50), {:.2} ms (p95)",
        of_late.len(),
        mean(of_cosine),
        mean(of_late),
        times[times.len() / 2],
        times[times.len() * 95 / 100]
    );
    Some((mean(of_late), mean(of_cosine)))
}

#[test]
fn late_interaction_orders_better_than_one_vector() {
    if let Some((late, cosine)) = late_beside_cosine("acordar") {
        assert!(late >= 0.44 && late > cosine, "{late} {cosine}");
    }
    if let Some((late, cosine)) = late_beside_cosine("ottqa") {
        assert!(late >= 0.84 && late > cosine, "{late} {cosine}");
    }
}

fn demand_of(key: &str, value: &Value) -> Option<Demand> {
    let role = match key {
        "geography" => "place",
        "survey" => "source",
        "dimensions" => "dimension",
        "frequency" | "subject" | "status" | "period" => key,
        _ => return None,
    };
    let text = |value: &Value| vec![value.as_str().unwrap_or_default().to_string()];
    let year = |name: &str| value.get(name).and_then(Value::as_i64).map(|year| year as i32);
    let value = match (year("from"), year("to"), year("start"), year("end")) {
        (Some(from), Some(to), ..) if value.get("exact").is_some() => {
            Demanded::Period(RequestedYears::Exactly { from, to })
        }
        (Some(from), Some(to), ..) => Demanded::Period(RequestedYears::Cover { from, to }),
        (_, _, Some(start), _) => Demanded::Period(RequestedYears::StartsIn(start)),
        (_, _, _, Some(end)) => Demanded::Period(RequestedYears::EndsIn(end)),
        _ if value.is_array() => Demanded::Values(value.as_array()?.iter().map(text).collect()),
        _ => Demanded::Values(vec![text(value)]),
    };
    let said = serde_json::to_string(&value).unwrap_or_default();
    Some(Demand { value, hard: true, filters: true, ..Demand::in_words(Respect::from(role.to_string()), said, 1) })
}

/// The labels of a dialogue's turns as demands and words: what the search alone can do.
#[test]
fn labelled_demands_find_the_record() {
    let Some(folder) = bench("statcan") else { return };
    let place = tempfile::tempdir().expect("a folder");
    let empty = place.path().join("lake");
    fs::create_dir(&empty).expect("a folder");
    let index = built(&empty, Some(&folder.join("corpus.jsonl")), &place.path().join("index"));
    let qrels = fs::read_to_string(folder.join("qrels.txt")).expect("judgments");
    let target: HashMap<&str, &str> = qrels
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.nth(1)?))
        })
        .collect();
    let queries = fs::read_to_string(folder.join("queries.jsonl")).expect("dialogues");
    let (mut count, mut first, mut five, mut reciprocal, mut turns) = (0.0, 0.0, 0.0, 0.0, [0.0; 3]);
    let mut times: Vec<f64> = Vec::new();
    for line in queries.lines() {
        let dialogue: Value = serde_json::from_str(line).expect("a dialogue");
        let expected = target[dialogue["id"].as_str().expect("an id")];
        let mut demands: BTreeMap<String, Demand> = BTreeMap::new();
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        let mut lists: Vec<Vec<String>> = Vec::new();
        for turn in dialogue["turns"].as_array().expect("turns") {
            for (key, value) in turn["constraints"].as_object().expect("labels") {
                match demand_of(key, value) {
                    Some(demand) => _ = demands.insert(key.clone(), demand),
                    None => _ = texts.insert(key.clone(), value.as_str().unwrap_or_default().to_string()),
                }
            }
            let demands: Vec<Demand> = demands.values().cloned().collect();
            let texts: Vec<(String, f64)> = texts.values().map(|text| (text.clone(), 1.0)).collect();
            let query = RecordQuery {
                texts: &texts,
                said: &[],
                earlier: &[],
                demands: &demands,
                k: 10,
                exclude: &[],
                among: None,
                route: Route::Auto,
                weights: RankingWeights::shipped(),
            };
            let began = Instant::now();
            let found = record_search::search(&index, model(), &query).expect("answers");
            times.push(began.elapsed().as_secs_f64() * 1e3);
            lists.push(found.answers.into_iter().map(|answer| answer.table).collect());
        }
        let mut seen: Vec<&str> = Vec::new();
        for id in lists.iter().rev().flatten() {
            if !seen.contains(&id.as_str()) {
                seen.push(id);
            }
        }
        let rank = seen.iter().position(|id| *id == expected).map_or(f64::INFINITY, |at| at as f64 + 1.0);
        count += 1.0;
        first += f64::from(rank == 1.0);
        five += f64::from(rank <= 5.0);
        reciprocal += if rank <= 10.0 { 1.0 / rank } else { 0.0 };
        for (sum, depth) in turns.iter_mut().zip([1, 3, 5]) {
            let at = lists.iter().position(|list| list.iter().take(depth).any(|id| id == expected));
            *sum += at.map_or(lists.len() as f64 + 2.0, |at| at as f64 + 1.0);
        }
    }
    times.sort_by(f64::total_cmp);
    let [one, three, of_five] = turns.map(|sum| sum / count);
    println!(
        "labelled demands, {count} dialogues: R@1 {:.3}, R@5 {:.3}, MRR {:.3}, AT@1 {one:.2}, AT@3 {three:.2}, AT@5 {of_five:.2}; \
         p50 {:.1} ms, p95 {:.1} ms a search",
        first / count,
        five / count,
        reciprocal / count,
        times[times.len() / 2],
        times[times.len() * 95 / 100]
    );
    assert!(first / count >= 0.9 && reciprocal / count >= 0.93);
}

/// A generator that gives the same numbers everywhere.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % count.max(1) as u64) as usize
    }
}

fn catalogue() -> Option<Vec<Value>> {
    let text = fs::read_to_string(bench("statcan")?.join("corpus.jsonl")).expect("a catalogue");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect())
}

/// Titles put together from two, each field from some record.
fn write_made_up(real: &[Value], records: usize, path: &Path) {
    let mut out = std::io::BufWriter::new(fs::File::create(path).expect("a file"));
    let mut drawn = Drawn(7);
    let parts = |record: &Value| -> Vec<String> {
        let title = record["title"].as_str().unwrap_or_default();
        title.split(',').map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect()
    };
    for number in 0..records {
        let [a, b, c, d] = std::array::from_fn(|_| &real[drawn.below(real.len())]);
        let mut title: Vec<String> = parts(a).into_iter().take(2).collect();
        title.extend(parts(b).pop());
        let start = 1950 + drawn.below(65);
        let end = start + drawn.below(2022 - start);
        let record = serde_json::json!({
            "id": format!("s{number:07}"), "title": title.join(", "), "date": c["date"], "author": c["author"],
            "start": format!("{start}-01-01"), "end": format!("{end}-01-01"), "frequency": d["frequency"], "status": d["status"],
            "subjects": a["subjects"], "surveys": b["surveys"], "geography": c["geography"], "dimensions": d["dimensions"],
        });
        writeln!(out, "{record}").expect("a line");
    }
    out.flush().expect("a file");
}

#[test]
fn a_million_records_are_searched_in_time() {
    let Some(records) = std::env::var("RECORDS").ok().and_then(|text| text.parse::<usize>().ok()) else {
        println!("skipped: RECORDS is not set");
        return;
    };
    let Some(real) = catalogue() else { return };
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = std::env::var_os("RECORDS_FOLDER").map_or(temporary.path().to_path_buf(), PathBuf::from);
    if !folder.join(".lakeward/manifest.json").exists() {
        write_made_up(&real, records, &folder.join("corpus.jsonl"));
        let began = Instant::now();
        let stats =
            build(&folder, &folder.join(".lakeward"), model(), &BuildOptions::default(), &Silent).expect("an index");
        println!(
            "{} records indexed in {:.0?}: {} segments, {:.0} MB on disk, peak memory {:.0} MB",
            stats.records,
            began.elapsed(),
            stats.segments,
            stats.index_bytes as f64 / 1e6,
            peak_bytes().unwrap_or_default() as f64 / 1e6
        );
    }
    let own = std::env::current_exe().expect("a program");
    let mut command = Command::new(own);
    command
        .args(["record_quality::answered_in_a_process_of_its_own", "--exact", "--nocapture"])
        .env("RECORDS_INDEX", &folder);
    assert!(command.status().expect("a process").success());
}

#[test]
fn answered_in_a_process_of_its_own() {
    let Some(folder) = std::env::var_os("RECORDS_INDEX").map(PathBuf::from) else { return };
    let Some(real) = catalogue() else { return };
    let began = Instant::now();
    let index = LakeIndex::open(&folder.join(".lakeward"), model().id()).expect("an index");
    let opened = began.elapsed();
    let facets = index.facets().expect("facets");
    index.piece_rarity().expect("pieces");
    println!("opened in {opened:.1?}, with facets in {:.1?}: {} records", began.elapsed(), facets.records());
    let mut drawn = Drawn(11);
    let mut times: Vec<f64> = Vec::new();
    let (mut exact, mut matching) = (0, Vec::new());
    for number in 0..300 {
        let [a, b] = std::array::from_fn(|_| &real[drawn.below(real.len())]);
        let title = a["title"].as_str().unwrap_or_default();
        let words: Vec<&str> = title.split_whitespace().take(4 + drawn.below(6)).collect();
        let year = 1960 + drawn.below(40) as i64;
        let fields = [
            ("geography", b["geography"]["members"][0].clone()),
            ("frequency", b["frequency"].clone()),
            ("subject", a["subjects"][0].clone()),
            ("period", serde_json::json!({ "from": year, "to": year + 3 })),
            ("status", b["status"].clone()),
        ];
        // From none to all of them.
        let demands: Vec<Demand> =
            fields.iter().take(number % 6).filter_map(|(key, value)| demand_of(key, value)).collect();
        let texts = [(words.join(" "), 1.0)];
        let query = RecordQuery {
            texts: &texts,
            said: &[],
            earlier: &[],
            demands: &demands,
            k: 10,
            exclude: &[],
            among: None,
            route: Route::Auto,
            weights: RankingWeights::shipped(),
        };
        let began = Instant::now();
        let found = record_search::search(&index, model(), &query).expect("answers");
        times.push(began.elapsed().as_secs_f64() * 1e3);
        assert_eq!(found.answers.len(), 10);
        exact += usize::from(found.exact);
        matching.push(found.matching);
    }
    matching.sort_unstable();
    let peak = peak_bytes().unwrap_or_default() as f64 / 1e6;
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let p95 = sorted[sorted.len() * 95 / 100];
    println!(
        "{} searches: p50 {:.1} ms, p95 {p95:.1} ms, most {:.1} ms; {exact} over all matching records, matching p50 {}; peak memory \
         {peak:.0} MB",
        times.len(),
        sorted[sorted.len() / 2],
        sorted[sorted.len() - 1],
        matching[matching.len() / 2]
    );
    for demands in 0..6 {
        let mut of: Vec<f64> = times.iter().skip(demands).step_by(6).copied().collect();
        of.sort_by(f64::total_cmp);
        println!("  {demands} demands: p50 {:.1} ms, p95 {:.1} ms", of[of.len() / 2], of[of.len() * 95 / 100]);
    }
}
