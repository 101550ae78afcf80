//! What a task graph and what sessions have taught do in turns: ways shown, consent asked, damage told; and what learning is worth.

use std::fs;
use std::path::Path;

use lakeward::Lakeward;
use lakeward_agent::Request;
use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::Session;
use lakeward_core::monitor::Silent;
use lakeward_eval::feedback::{FeedbackOptions, FeedbackReport, measure};
use lakeward_eval::lakeward_system::{IndexPlan, LakeIndexOf};
use lakeward_eval::layout;
use lakeward_models::embed::StaticModel;
use lakeward_search::RankingWeights;
use lakeward_tasks::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_tasks::task_graph::{GraphOptions, TaskSearchOptions};

use crate::benchmark::bench;
use crate::place::Folder;

const CONSENT: &str = "[learning]\nrecord = true\n";

/// A lake of tables whose names say little.
fn lake(config: &str) -> (Folder, Lakeward) {
    let folder = Folder::of(&[
        ("gauges.csv", "station,date,mm\nGhent,2020-01-01,3\nLiege,2020-01-02,7\nMons,2020-01-03,1\n"),
        ("roads.csv", "segment,lanes,surface\nA10,3,asphalt\nA12,2,concrete\nE40,4,asphalt\n"),
        ("prices.csv", "item,euro\nbread,2.5\nmilk,1.1\nflour,0.9\n"),
        ("fleet.csv", "vehicle,seats\nbus,40\ntram,90\nferry,120\n"),
        ("lakeward.toml", config),
    ]);
    let lakeward = folder.lake();
    (folder, lakeward)
}

fn paper() -> Extraction {
    let dataset = DatasetMention {
        name: "Gauge readings".into(),
        record: Some("gauges".into()),
        sentence: Some("Floods are forecast from the gauge readings.".into()),
        ..DatasetMention::default()
    };
    let task = ExtractedTask {
        text: "Forecast floods of rivers a day ahead".into(),
        name: "flood forecasting".into(),
        keywords: vec!["hydrology".into()],
        datasets: vec![dataset],
    };
    Extraction {
        document: "p1".into(),
        title: "Floods foreseen".into(),
        year: Some(2021),
        text: "We forecast floods of rivers.".into(),
        tasks: vec![task],
        extractor: "test@1".into(),
    }
}

fn ask(lakeward: &Lakeward, text: &str) -> Recommendation {
    let request = Request { text: text.into(), k: 5, ..Request::default() };
    lakeward.ask(&mut lakeward.new_session(), &request).expect("an answer").0.into_inner()
}

fn build_graph(lakeward: &Lakeward, papers: &[Extraction]) {
    lakeward.build_task_graph(papers, None, &GraphOptions::default()).expect("a graph");
}

/// A session that asks for something and accepts or rejects a table.
fn choose(lakeward: &Lakeward, text: &str, table: &str, accepted: bool) -> Session {
    let store = lakeward.sessions();
    let mut session = store.create(None, "lake").expect("a session");
    lakeward.ask(&mut session, &Request { text: text.into(), k: 5, ..Request::default() }).expect("an answer");
    store.save(&mut session).expect("saved");
    if accepted {
        session.accept(table)
    } else {
        session.reject(table)
    }
    store.save(&mut session).expect("saved");
    session
}

fn uses(lakeward: &Lakeward) -> Vec<(String, String)> {
    let (uses, unread) = lakeward.learned().uses().expect("what was learned");
    assert_eq!(unread, 0);
    uses.into_iter().map(|known| (known.request, known.table)).collect()
}

#[test]
fn a_turn_shows_the_way_from_the_request_over_a_paper_to_the_table() {
    let (_folder, lakeward) = lake("");
    let request = "forecast floods of rivers";
    let without = ask(&lakeward, request);
    assert!(without.tables.iter().all(|table| table.evidence.task.is_none()) && without.notes.len() < 2);
    build_graph(&lakeward, &[paper()]);
    // The snapshot that is open stays as it is.
    assert_eq!(ask(&lakeward, request), without);
    let lakeward = lakeward.reopened().expect("a lake");
    let found = ask(&lakeward, request);
    let first = &found.tables[0];
    assert_eq!(first.table, "gauges", "{:?}", found.tables);
    let task = first.evidence.task.as_ref().expect("the way");
    assert_eq!((task.path.document.as_str(), task.path.task_name.as_str()), ("p1", "flood forecasting"));
    assert_eq!(task.path.sentence.as_deref(), Some("Floods are forecast from the gauge readings."));
    assert!(first.reason.contains("flood forecasting") && first.reason.contains("Floods foreseen"), "{}", first.reason);
    // A request of words that no task has is answered as if there were no graph.
    let other = ask(&lakeward, "prices of bread and milk");
    assert_eq!(other.tables[0].table, "prices");
    assert!(other.tables[0].evidence.task.is_none());
}

#[test]
fn a_damaged_graph_is_reported_in_a_note_and_never_fatal() {
    let (_folder, lakeward) = lake("");
    build_graph(&lakeward, &[paper()]);
    let file = lakeward.task_graph_folder().join("graph.seg");
    let bytes = fs::read(&file).expect("the graph");
    for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        fs::write(&file, &damaged).expect("damage");
        let lakeward = lakeward.reopened().expect("a lake");
        let answer = ask(&lakeward, "forecast floods of rivers with prices of bread");
        assert!(!answer.tables.is_empty());
    }
    fs::write(&file, &bytes[..bytes.len() / 2]).expect("damage");
    let answer = ask(&lakeward.reopened().expect("a lake"), "prices of bread");
    assert!(answer.notes.iter().any(|note| note.contains("task graph does not help")), "{:?}", answer.notes);
    assert_eq!(answer.tables[0].table, "prices");
}

#[test]
fn without_consent_nothing_is_written_and_nothing_is_used() {
    let (folder, lakeward) = lake("");
    choose(&lakeward, "how wet was it last winter", "gauges", true);
    assert!(!lakeward.learned().path().exists());
    folder.write("lakeward.toml", CONSENT);
    let consenting = Lakeward::open(folder.path()).expect("a lake");
    choose(&consenting, "how wet was it last winter", "gauges", true);
    assert_eq!(uses(&consenting), [("how wet was it last winter".to_string(), "gauges".to_string())]);
    let text = fs::read_to_string(consenting.learned().path()).expect("the file");
    assert!(!text.contains("Ghent") && !text.contains("asphalt"), "{text}");
    build_graph(&consenting, &[paper()]);
    let request = "wet days in the winter";
    let consenting = consenting.reopened().expect("a lake");
    let answer = ask(&consenting, request);
    let first = &answer.tables[0];
    let task = first.evidence.task.as_ref().expect("the way");
    assert_eq!((first.table.as_str(), task.path.learned), ("gauges", true));
    assert!(first.reason.contains("in a session"), "{}", first.reason);
    // Withdrawn: it is there and does not count, in turns, in searches by task and in the next graph.
    folder.write("lakeward.toml", "");
    let silent = Lakeward::open(folder.path()).expect("a lake");
    let answer = ask(&silent, request);
    assert!(
        answer.tables.iter().all(|table| table.evidence.task.as_ref().is_none_or(|task| !task.path.learned)),
        "{:?}",
        answer.tables
    );
    build_graph(&silent, &[paper()]);
    assert!(silent.task_graph().expect("a graph").learned_documents().expect("ids").is_empty());
}

#[test]
fn what_is_rejected_undone_or_forgotten_no_longer_counts() {
    let (_folder, lakeward) = lake(CONSENT);
    choose(&lakeward, "how wet was it last winter", "gauges", true);
    choose(&lakeward, "vehicles and their seats", "fleet", true);
    choose(&lakeward, "what bread costs", "prices", true);
    assert_eq!(uses(&lakeward).len(), 3);
    choose(&lakeward, "how wet was it this winter", "gauges", false);
    assert_eq!(uses(&lakeward).len(), 2);
    assert_eq!(lakeward.forget_learned(&|known| known.table == "prices").expect("forgotten"), 1);
    let left = fs::read_to_string(lakeward.learned().path()).expect("the file");
    assert!(left.contains("seats") && !left.contains("winter") && !left.contains("bread"), "{left}");
    // A session that is copied teaches nothing twice, and what was forgotten stays so.
    let session = choose(&lakeward, "vehicles and their seats", "fleet", true);
    let store = lakeward.sessions();
    let mut copy = session.clone();
    let begun = store.create(Some("copy"), "lake").expect("a session");
    (copy.id, copy.revision) = (begun.id, begun.revision);
    store.save(&mut copy).expect("saved");
    assert_eq!(uses(&lakeward).len(), 1);
}

#[test]
fn a_graph_with_what_was_learned_grows_into_that_of_a_rebuild() {
    let (_folder, lakeward) = lake(CONSENT);
    build_graph(&lakeward, &[paper()]);
    choose(&lakeward, "how wet was it last winter", "gauges", true);
    build_graph(&lakeward, &lakeward.task_graph().expect("a graph").extractions().expect("papers"));
    choose(&lakeward, "vehicles and their seats", "fleet", true);
    choose(&lakeward, "wet places", "a table that is gone", true);
    build_graph(&lakeward, &lakeward.task_graph().expect("a graph").extractions().expect("papers"));
    let file = lakeward.task_graph_folder().join("graph.seg");
    let grown = fs::read(&file).expect("the graph");
    fs::remove_file(&file).expect("removed");
    build_graph(&lakeward, &[paper()]);
    assert_eq!(fs::read(&file).expect("the graph"), grown);
    let graph = lakeward.task_graph().expect("a graph");
    assert_eq!((graph.meta().documents, graph.learned_documents().expect("ids").len()), (3, 2));
    let found = graph.search(lakeward.embedder(), "seats of vehicles", &TaskSearchOptions::new(3)).expect("answers");
    assert_eq!(found[0].dataset, "fleet");
    assert!(found[0].path.as_ref().is_some_and(|path| path.learned));
}

fn simulate(folder: &Path) -> FeedbackReport {
    let benchmark = layout::read(folder).expect("a benchmark");
    let plan = IndexPlan {
        lake: benchmark.lake.as_deref(),
        records: benchmark.corpus.as_deref(),
        folder: None,
        weights: RankingWeights::shipped().clone(),
    };
    let over = LakeIndexOf::build(&plan, StaticModel::builtin(), &Silent).expect("an index");
    let options = FeedbackOptions { k: 10, seed: 5, weight: None };
    measure(&benchmark, &over, &options, &Silent).expect("figures")
}

#[test]
fn simulated_sessions_harm_nothing_where_words_find_the_tables() {
    let report = simulate(&Path::new(crate::REPOSITORY).join("eval/sample"));
    println!("{}", serde_json::to_string_pretty(&report.stages).expect("JSON"));
    for scores in &report.stages.last().expect("a stage").scores {
        let difference = &scores.ndcg_difference;
        assert!(difference.mean >= -0.01 && difference.high >= 0.0, "{}: {difference:?}", scores.requests);
    }
}

#[test]
fn simulated_sessions_help_those_who_ask_for_the_same_in_other_words() {
    let Some(folder) = bench("ottqa") else { return };
    let report = simulate(&folder);
    println!("{}", serde_json::to_string_pretty(&report.stages).expect("JSON"));
    for scores in &report.stages.last().expect("a stage").scores {
        let least = if scores.requests == "others" { -0.02 } else { 0.02 };
        assert!(scores.ndcg_difference.mean >= least, "{}: {:?}", scores.requests, scores.ndcg_difference);
    }
}
