//! Dumps made from benchmark catalogues, one of each standard: real requests get the same answers from each. Our own form is measured beside them: what
//! it has no key for it reads as words, so its order differs a little.
//!
//! `LAKEWARD_BENCH` names the folder of the benchmarks; with `RECORDS=10000` all of their records are read.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::{indexed, write_forms_with};

/// Records of each catalogue, and requests, where nothing else is said.
const RECORDS: usize = 1500;
const REQUESTS: usize = 40;
/// The standard that the others are compared with.
const FIRST: &str = "datacite-json";
/// Answers that are compared.
const LISTED: usize = 10;
/// The least share of requests with the same first record, and of records that both lists have.
const SAME_FIRST: f64 = 0.85;
const SAME_LISTED: f64 = 0.85;

/// The first requests of a benchmark that name one of `targets`: texts, and first turns of dialogues.
fn requests(bench: &Path, targets: &[String]) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(bench.join(name)).expect("a file of the benchmark");
    let mut wanted: HashMap<String, bool> = HashMap::new();
    for line in read("qrels.txt").lines() {
        let mut words = line.split_whitespace();
        let (query, target) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
        *wanted.entry(query.to_string()).or_default() |= targets.iter().any(|known| known == target);
    }
    let queries = read("queries.jsonl");
    let queries = queries.lines().map(|line| serde_json::from_str::<Value>(line).expect("a query"));
    let asked = queries.filter(|query| query["id"].as_str().and_then(|id| wanted.get(id)).copied().unwrap_or(false));
    let text = |query: Value| {
        let turns =
            query["turns"].as_array().map(|turns| turns.iter().take(2).filter_map(|turn| turn["text"].as_str()));
        // Two turns, as the first of a dialogue says little.
        turns.map_or_else(
            || query["text"].as_str().unwrap_or_default().to_string(),
            |turns| turns.collect::<Vec<_>>().join(" "),
        )
    };
    asked.map(text).take(REQUESTS).collect()
}

#[test]
fn dumps_of_benchmark_catalogues_give_the_same_answers_in_every_form() {
    let Some(bench) = std::env::var_os("LAKEWARD_BENCH") else {
        println!("skipped: LAKEWARD_BENCH names no folder");
        return;
    };
    let records = std::env::var("RECORDS").ok().and_then(|records| records.parse().ok()).unwrap_or(RECORDS);
    for name in ["statcan", "acordar"] {
        let (bench, folder) = (Path::new(&bench).join(name), tempfile::tempdir().expect("a folder"));
        let corpus = bench.join("corpus.jsonl");
        if !corpus.exists() {
            println!("skipped: there is no {}", corpus.display());
            continue;
        }
        let corpus = corpus.to_str().expect("a path");
        if !write_forms_with(folder.path(), &["--records", &records.to_string(), "--corpus", corpus]) {
            return;
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
        let truth: Vec<Value> =
            read("truth.jsonl").lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
        let ids: Vec<String> = truth.iter().filter_map(|record| Some(record["id"].as_str()?.to_string())).collect();
        let requests = requests(&bench, &ids);
        assert!(requests.len() >= REQUESTS / 2, "{name}: {} requests", requests.len());
        let forms: HashMap<String, Vec<String>> = serde_json::from_str(&read("cannot_say.json")).expect("forms");
        let answers = |form: &str| -> Vec<Vec<String>> {
            let (lakeward, stats) = indexed(&folder.path().join(form));
            assert_eq!(
                (stats.records as usize, stats.records_left_out),
                (ids.len(), 0),
                "{form}: {:?}",
                stats.problems
            );
            let ask = |text: &String| {
                let request = lakeward_agent::Request { text: text.clone(), k: LISTED, ..Default::default() };
                let answer = lakeward.ask(&mut lakeward.new_session(), &request).expect("an answer").0.into_inner();
                answer.tables.iter().map(|table| table.citation.to_lowercase()).collect()
            };
            requests.iter().map(ask).collect()
        };
        let own = answers(FIRST);
        let mut others: Vec<&String> = forms.keys().filter(|form| *form != FIRST).collect();
        others.sort();
        let mut different = Vec::new();
        for form in others {
            let found = answers(form);
            let pairs = || own.iter().zip(&found);
            let first = pairs().filter(|(own, other)| own.first() == other.first()).count() as f64 / own.len() as f64;
            let shared = |(own, other): (&Vec<String>, &Vec<String>)| {
                own.iter().filter(|cited| other.contains(cited)).count() as f64 / own.len().max(1) as f64
            };
            let listed = pairs().map(shared).sum::<f64>() / own.len() as f64;
            println!(
                "{name}, {} records, {} requests, {form}: first {first:.3}, first ten {listed:.3}",
                ids.len(),
                own.len()
            );
            if form != "own" && (first < SAME_FIRST || listed < SAME_LISTED) {
                different.push(format!("{form} {first:.3} {listed:.3}"));
            }
        }
        assert!(different.is_empty(), "{name}: {different:?}");
    }
}
