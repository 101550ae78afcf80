//! Facets read out of the published dialogues over Statistics Canada's tables, against what their author had in mind, where
//! `LAKEWARD_BENCH` names a folder that has them.

#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use lakeward_core::request::Intent;
use lakeward_core::role::Role;
use lakeward_core::text::lower_words;
use lakeward_eval::demand_scores::{FacetScores, Gold, token_f1};
use lakeward_models::embed::StaticModel;
use lakeward_reading::intent::{Fact, Reader, Vocabulary, WordsKind, apply};

/// What the records of a folder's `corpus.jsonl` say by field.
fn vocabulary_of(corpus: &str) -> Vocabulary {
    let mut values: HashMap<(Role, String), u32> = HashMap::new();
    let mut titles: HashMap<String, u32> = HashMap::new();
    let (mut records, mut has_years) = (0, false);
    for line in corpus.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        records += 1;
        has_years |= record.get("start").is_some();
        let title = record["title"].as_str().unwrap_or_default();
        for word in lower_words(title) {
            *titles.entry(word).or_default() += 1;
        }
        let mut seen = BTreeSet::new();
        for (name, value) in record.as_object().into_iter().flatten() {
            if ["id", "title", "description", "date", "start", "end"].contains(&name.as_str()) {
                continue;
            }
            let listed = value.get("members").or(Some(value)).and_then(|list| list.as_array()).cloned();
            for value in listed.unwrap_or_else(|| vec![value.clone()]) {
                let text = value.as_str().or_else(|| value.get("name").and_then(|name| name.as_str()));
                seen.extend(text.map(|text| (Role::of_field(name), text.to_string())));
            }
        }
        for value in seen {
            *values.entry(value).or_default() += 1;
        }
    }
    let listed = values.into_iter().map(|((role, value), count)| (role, value, count));
    Vocabulary::new(listed, titles.into_iter(), records, has_years)
}

/// Scores of a set of dialogues.
#[derive(Default)]
struct Scores {
    turn: FacetScores,
    state: FacetScores,
    topic: Vec<f64>,
    aspect: Vec<f64>,
}

impl Scores {
    fn print(&self, name: &str) {
        let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        let by_role: BTreeMap<&str, String> = self
            .turn
            .by_role
            .iter()
            .map(|(role, c)| (role.name(), format!("{:.3} ({}/{}/{})", c.f1(), c.right, c.read, c.meant)))
            .collect();
        println!("{name}: turn {:.3}, state {:.3}", six(&self.turn), six(&self.state));
        println!("  {by_role:?}; topic {:.3}, aspect {:.3}", mean(&self.topic), mean(&self.aspect));
    }
}

/// Micro-F1 of the facets that the issue of conversations counts: all but what a table is cut by.
fn six(scores: &FacetScores) -> f64 {
    scores.of(|role| *role != Role::Dimension).f1()
}

#[test]
fn facets_of_published_dialogues_are_read() {
    let Some(folder) = std::env::var_os("LAKEWARD_BENCH").map(|folder| PathBuf::from(folder).join("statcan")) else {
        println!("skipped: LAKEWARD_BENCH is not set");
        return;
    };
    let (Ok(corpus), Ok(queries)) =
        (std::fs::read_to_string(folder.join("corpus.jsonl")), std::fs::read_to_string(folder.join("queries.jsonl")))
    else {
        println!("skipped: no statcan in LAKEWARD_BENCH");
        return;
    };
    let start = Instant::now();
    let vocabulary = vocabulary_of(&corpus);
    println!("vocabulary with reading: {:?}, {} bytes", start.elapsed(), vocabulary.bytes());
    let model = StaticModel::builtin();
    let is_known_word = |word: &str| {
        let mut pieces = 0;
        model.tokens(word, |_| pieces += 1);
        pieces == 1
    };
    let reader = Reader::new(&vocabulary, is_known_word);
    let show = std::env::var_os("INTENT_SHOW").is_some();
    let mut halves = [Scores::default(), Scores::default()];
    let (mut times, mut questions) = (Vec::new(), 0);
    for (number, line) in queries.lines().enumerate() {
        let dialogue: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let (mut intent, mut meant) = (Intent::default(), Gold::default());
        let scores = &mut halves[number % 2];
        for (at, turn) in dialogue["turns"].as_array().expect("turns").iter().enumerate() {
            let text = turn["text"].as_str().expect("a text");
            let gold = Gold::read(&turn["constraints"]);
            let start = Instant::now();
            let reading = reader.read(text, at + 1, &intent);
            let changes = apply(&reading, &mut intent);
            times.push(start.elapsed());
            questions += changes.conflicts.len();
            let wrong = scores.turn.add(&gold, intent.demands.iter().filter(|demand| demand.turn == at + 1));
            if show && number % 2 == 0 && !wrong.is_empty() {
                println!("{} {text}\n   {wrong:?}: {:?}\n   {:?}", dialogue["id"], gold.facets, reading.facts);
            }
            let words = |topics: bool| {
                let texts = reading.facts.iter().filter_map(|fact| match fact {
                    Fact::Words { text, kind } if !topics || *kind == WordsKind::Topic => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join(" ")
            };
            scores.topic.extend(gold.topic.as_ref().map(|topic| token_f1(topic, &words(true))));
            scores.aspect.extend(gold.aspect.as_ref().map(|aspect| token_f1(aspect, &words(false))));
            meant.follow(&gold);
        }
        scores.state.add(&meant, intent.demands.iter());
    }
    let [shown, held] = halves;
    let mut all = Scores {
        topic: [&shown.topic[..], &held.topic].concat(),
        aspect: [&shown.aspect[..], &held.aspect].concat(),
        ..Scores::default()
    };
    for half in [&shown, &held] {
        all.turn.merge(&half.turn);
        all.state.merge(&half.state);
    }
    shown.print("shown half");
    held.print("held half");
    all.print("all");
    times.sort_unstable();
    // The slowest is the first, which also prepares the lists of phrases.
    let [median, p95, most] = [times.len() / 2, times.len() * 95 / 100, times.len() - 1].map(|at| times[at]);
    println!("a turn: median {median:?}, p95 {p95:?}, most {most:?}; questions {questions}");
    assert!(six(&all.turn) >= 0.8 && six(&all.state) >= 0.8);
}
