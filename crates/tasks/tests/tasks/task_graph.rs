//! The task graph from outside: made-up papers and records, built, added to, asked, settled and damaged.

use std::path::Path;

use lakeward_core::error::Error;
use lakeward_index::segment::{SegmentKind, SegmentWriter};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_tasks::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_tasks::task_graph::resolution::{Judge, JudgeQuestion};
use lakeward_tasks::task_graph::verdicts::{Decision, Named, Verdicts};
use lakeward_tasks::task_graph::why::{NameBook, users_word};
use lakeward_tasks::task_graph::{
    self, DatasetRecord, GraphInputs, GraphOptions, GraphStats, TaskGraph, TaskSearchOptions, Walk,
};

fn model() -> &'static StaticModel {
    StaticModel::builtin()
}

fn record(id: &str, title: &str, description: &str, is_table: bool) -> DatasetRecord {
    DatasetRecord { id: id.into(), title: title.into(), description: description.into(), is_table, meaning: Vec::new() }
}

/// By id, as an index gives them.
fn records() -> Vec<DatasetRecord> {
    vec![
        record("Dialogue_Bank", "Dialogue Bank", "Dialogues of callers and clerks, turn by turn.", false),
        record("Lane_Atlas", "Lane Atlas", "Aerial images of roads with lane markings.", false),
        record("ORSC", "ORSC", "The Open Road Sign Collection: images of road signs in 12 countries.", false),
        record("Road_Set", "RoadSet", "Images from a car's camera with steering angles for driving policies.", false),
        record("Road_Set_2", "RoadSet2", "More images from a car's camera with steering angles.", false),
        record("tables/lane_atlas", "lane atlas", "", true),
        record("tables/rainfall", "Rainfall", "Daily rainfall at weather stations.", true),
    ]
}

fn mention(name: &str, sentence: Option<&str>) -> DatasetMention {
    DatasetMention { name: name.into(), sentence: sentence.map(str::to_string), ..DatasetMention::default() }
}

fn paper(id: &str, need: &str, name: &str, datasets: Vec<DatasetMention>) -> Extraction {
    let task = ExtractedTask { text: need.into(), name: name.into(), keywords: vec!["images roads".into()], datasets };
    Extraction {
        document: id.into(),
        title: format!("Paper {id}"),
        year: Some(2020),
        text: format!("{need} This abstract of {id} says more about {name}."),
        tasks: vec![task],
        extractor: "test@1".into(),
    }
}

fn papers() -> Vec<Extraction> {
    let driven = "We train the driving policy on RoadSet.";
    vec![
        paper(
            "p1",
            "Train a driving policy from camera images.",
            "imitation driving",
            vec![mention("RoadSet", Some(driven))],
        ),
        paper(
            "p2",
            "Detect lane markings in aerial images.",
            "lane detection",
            vec![mention("The Lane Atlas test", None)],
        ),
        paper(
            "p3",
            "Recognise road signs from a moving car.",
            "sign recognition",
            vec![mention("Open Road Sign Collection", None), mention("Secret Signs", None)],
        ),
        paper("p4", "Answer callers politely.", "dialogue", vec![mention("Dialogue Bank", None)]),
        paper("p5", "Recognise signs at night.", "sign recognition", vec![mention("Secret Signs dataset", None)]),
    ]
}

fn build(folder: &Path, datasets: &[DatasetRecord], extractions: &[Extraction]) -> GraphStats {
    let inputs = GraphInputs { datasets, extractions, embedder: model(), judge: None };
    task_graph::build(folder, &inputs, &GraphOptions::default()).expect("a graph")
}

fn open(folder: &Path) -> TaskGraph {
    TaskGraph::open(folder, model().id()).expect("a graph")
}

fn bytes(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("graph.seg")).expect("the file")
}

#[test]
fn an_answer_shows_the_way_from_the_request_to_the_dataset_and_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    let stats = build(folder.path(), &records(), &papers());
    // The table of the atlas is the record; two spellings of one secret are one dataset.
    assert_eq!((stats.documents, stats.tasks, stats.datasets, stats.named_datasets), (5, 5, 7, 1));
    let graph = open(folder.path());
    graph.verify().unwrap();
    let answers =
        graph.search(model(), "learn a policy for driving from a camera", &TaskSearchOptions::new(5)).unwrap();
    let first = &answers[0];
    assert_eq!((first.dataset.as_str(), first.in_index, first.served_tasks), ("Road_Set", true, 1));
    let path = first.path.as_ref().unwrap();
    assert_eq!(path.document, "p1");
    assert_eq!(path.sentence.as_deref(), Some("We train the driving policy on RoadSet."));
    assert!(first.reason.contains("imitation driving") && first.reason.contains("Paper p1"), "{}", first.reason);
    assert!(answers.windows(2).all(|two| two[0].score >= two[1].score));
    let lanes = graph.search(model(), "find lane markings in aerial images", &TaskSearchOptions::new(1)).unwrap();
    assert_eq!(
        (lanes[0].dataset.as_str(), lanes[0].tables.as_slice()),
        ("Lane_Atlas", &["tables/lane_atlas".into()][..])
    );
    let signs = graph.search(model(), "recognise signs at night", &TaskSearchOptions::new(9)).unwrap();
    let secret = signs.iter().find(|answer| !answer.in_index).unwrap();
    assert_eq!((secret.dataset.as_str(), secret.served_tasks), ("Secret Signs", 2));
    let own = TaskSearchOptions { named: false, ..TaskSearchOptions::new(9) };
    assert!(graph.search(model(), "recognise signs at night", &own).unwrap().iter().all(|answer| answer.in_index));
    for walk in [Walk::Mixed, Walk::Published] {
        for (pagerank, rerank) in [(true, false), (false, true), (false, false)] {
            let options = TaskSearchOptions { walk, pagerank, rerank, ..TaskSearchOptions::new(3) };
            let found = graph.rank(model(), "detect lane markings in aerial images", &options).unwrap();
            // The published walk counts where it leads to, not where it began.
            let among = if walk == Walk::Published && pagerank { 3 } else { 1 };
            let is_there = found.iter().take(among).any(|(id, _)| id == "Lane_Atlas");
            assert!(is_there, "{walk:?} {pagerank} {rerank}: {found:?}");
        }
    }
}

#[test]
fn adding_papers_gives_the_graph_of_a_rebuild_byte_for_byte() {
    let (grown, fresh) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut changed = papers();
    changed[1].tasks[0].text = "Detect lanes from above.".into();
    changed.push(paper(
        "a0",
        "Measure rain.",
        "hydrology",
        vec![mention("Rainfall", None), mention("Gauge Net", None)],
    ));
    changed.remove(3);
    build(grown.path(), &records(), &papers()[..2]);
    let all = build(grown.path(), &records(), &papers());
    assert_eq!(all.new_documents, 3);
    assert_eq!(build(grown.path(), &records(), &papers()).new_documents, 0);
    build(fresh.path(), &records(), &papers());
    assert_eq!(bytes(grown.path()), bytes(fresh.path()), "added");
    // One changed, one gone, one new; then another catalogue.
    for datasets in [records(), records()[..4].to_vec(), records()] {
        let again = tempfile::tempdir().unwrap();
        build(grown.path(), &datasets, &changed);
        build(again.path(), &datasets, &changed);
        assert_eq!(bytes(grown.path()), bytes(again.path()), "{} datasets", datasets.len());
        let read = |folder: &Path| std::fs::read(folder.join("verdicts.jsonl")).unwrap();
        assert_eq!(read(grown.path()), read(again.path()));
    }
}

#[test]
fn many_papers_grow_into_the_graph_of_a_rebuild() {
    let topics = ["roads", "signs", "rain", "dialogue", "lanes", "maps", "ships", "faces"];
    let many: Vec<Extraction> = (0..160)
        .map(|number| {
            let (one, other) = (topics[number % 8], topics[(number / 8) % 8]);
            let need = format!("Segment {one} and classify {other} in scene {}.", number % 10);
            let names = vec![mention(&format!("{one} set {}", number % 12), None), mention("RoadSet", None)];
            paper(&format!("d{:03}", (number * 37) % 160), &need, &format!("{one} segmentation"), names)
        })
        .collect();
    let (grown, fresh) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for count in [60, 61, 140, 160] {
        build(grown.path(), &records(), &many[..count]);
    }
    let stats = build(fresh.path(), &records(), &many);
    assert!(stats.links > 160, "{stats:?}");
    assert_eq!(bytes(grown.path()), bytes(fresh.path()));
    build(grown.path(), &records(), &many[..100]);
    build(fresh.path(), &records(), &many[..100]);
    let again = tempfile::tempdir().unwrap();
    build(again.path(), &records(), &many[..100]);
    assert_eq!(bytes(grown.path()), bytes(again.path()), "removed");
}

#[test]
fn a_paper_that_is_left_out_leaves_no_trace() {
    let (with, without) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    build(with.path(), &records(), &papers());
    let others: Vec<Extraction> = papers().into_iter().filter(|paper| paper.document != "p1").collect();
    build(without.path(), &records(), &others);
    let text = "Train a driving policy from camera images.";
    let exclude = vec!["p1".to_string()];
    for options in [
        TaskSearchOptions { named: false, ..TaskSearchOptions::new(20) },
        TaskSearchOptions { named: false, walk: Walk::Published, ..TaskSearchOptions::new(20) },
        TaskSearchOptions { named: false, rerank: false, ..TaskSearchOptions::new(20) },
    ] {
        let left_out = TaskSearchOptions { exclude: exclude.clone(), ..options.clone() };
        let found = open(with.path()).rank(model(), text, &left_out).unwrap();
        let mut expected = open(without.path()).rank(model(), text, &options).unwrap();
        // What is like a dataset that only the paper used may be attached to another one where it was never there.
        expected.retain(|(id, _)| found.iter().any(|(found, _)| found == id));
        for ((id, score), (expected_id, expected_score)) in found.iter().zip(&expected) {
            assert_eq!(id, expected_id);
            assert!((score - expected_score).abs() < 0.02, "{id}: {score} for {expected_score}");
        }
    }
    let options = TaskSearchOptions { exclude: vec!["p3".into(), "p5".into()], ..TaskSearchOptions::new(20) };
    let found = open(with.path()).search(model(), "recognise signs, Secret Signs", &options).unwrap();
    assert!(
        found.iter().all(|answer| answer.in_index && answer.path.as_ref().is_none_or(|path| path.document != "p3"))
    );
    let unknown = TaskSearchOptions { exclude: vec!["p33".into()], ..TaskSearchOptions::new(3) };
    let error = open(with.path()).rank(model(), text, &unknown).unwrap_err().to_string();
    assert!(error.contains("`p33`") && error.contains("`p3`"), "{error}");
    let alpha = TaskSearchOptions { alpha: f64::NAN, ..TaskSearchOptions::new(3) };
    assert!(matches!(open(with.path()).rank(model(), text, &alpha), Err(Error::Usage(_))));
}

#[test]
fn the_users_word_about_names_survives_rebuilds_and_why_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), &records(), &papers());
    let why = |a: &str, b: &str| {
        let graph = open(folder.path());
        let book = NameBook::new(&graph, records()).unwrap();
        let (a, b) = (book.find(a).unwrap(), book.find(b).unwrap());
        book.why(&a, &b, &Verdicts::read(folder.path()).unwrap(), true)
    };
    let explained = why("The Lane Atlas test", "Lane_Atlas");
    assert!(explained.joined && explained.way.len() == 1, "{explained:?}");
    assert_eq!(explained.way[0].by, "rule trim@1");
    // Through the record: name, record, table.
    assert_eq!(why("the lane atlas test", "tables/lane_atlas").way.len(), 2);
    assert!(!why("Secret Signs", "ORSC").joined);

    let settle = |a: Named, b: Named, same: bool| {
        let mut verdicts = Verdicts::read(folder.path()).unwrap();
        verdicts.put(users_word(&a, &b, same));
        verdicts.write(folder.path()).unwrap();
        build(folder.path(), &records(), &papers());
        build(folder.path(), &records()[..6], &papers());
        build(folder.path(), &records(), &papers());
    };
    let lanes = Named::Record("Lane_Atlas".into());
    settle(Named::Name("The Lane Atlas test".into()), lanes.clone(), false);
    let explained = why("The Lane Atlas test", "Lane_Atlas");
    assert!(!explained.joined && explained.others[0].decision == Decision::Different, "{explained:?}");
    settle(Named::Name("Secret Signs".into()), Named::Record("ORSC".into()), true);
    assert!(why("Secret Signs dataset", "ORSC").joined);
    settle(Named::Record("Road_Set".into()), Named::Record("Road_Set_2".into()), true);
    let graph = open(folder.path());
    let first = &graph.search(model(), "driving policy from camera images", &TaskSearchOptions::new(1)).unwrap()[0];
    assert_eq!((first.dataset.as_str(), graph.node(3).unwrap().also), ("Road_Set", vec!["Road_Set_2".to_string()]));
    let error = NameBook::new(&graph, records()).unwrap().find("RoadSat").unwrap_err().to_string();
    assert!(error.contains("`RoadSet`"), "{error}");
}

struct Scripted(std::cell::RefCell<Vec<String>>);

impl Judge for Scripted {
    fn id(&self) -> String {
        "script same_dataset@1".into()
    }

    fn decide(&self, question: &JudgeQuestion<'_>) -> Option<(Decision, String)> {
        self.0.borrow_mut().push(question.name.to_string());
        let same = question.name.starts_with("Secret") && question.title == "ORSC";
        let decision = if same { Decision::Same } else { Decision::Unsure };
        Some((decision, "made up".into()))
    }
}

#[test]
fn a_judge_is_asked_once_about_what_rules_leave_open() {
    let folder = tempfile::tempdir().unwrap();
    let (datasets, extractions) = (records(), papers());
    let judge = Scripted(Default::default());
    for _ in 0..2 {
        let inputs =
            GraphInputs { datasets: &datasets, extractions: &extractions, embedder: model(), judge: Some(&judge) };
        let stats = task_graph::build(folder.path(), &inputs, &GraphOptions::default()).unwrap();
        assert_eq!(stats.named_datasets, 0);
    }
    let asked = judge.0.borrow();
    assert!(asked.iter().all(|name| name.starts_with("Secret")) && asked.len() <= 6, "{asked:?}");
    // Its verdict counts without it, too.
    assert_eq!(build(folder.path(), &datasets, &extractions).named_datasets, 0);
    let inputs = GraphInputs { datasets: &datasets, extractions: &extractions, embedder: model(), judge: None };
    let unresolved = GraphOptions { resolve: false, ..GraphOptions::default() };
    assert!(task_graph::build(folder.path(), &inputs, &unresolved).unwrap().named_datasets > 3);
}

#[test]
fn other_versions_damage_and_other_models_have_named_errors() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(task_graph::FOLDER);
    let folder = folder.as_path();
    assert!(matches!(TaskGraph::open(folder, model().id()), Err(Error::NoTaskGraph { .. })));
    build(folder, &records(), &papers());
    assert!(matches!(TaskGraph::open(folder, "another"), Err(Error::EmbeddingModel { .. })));
    let (path, whole) = (folder.join("graph.seg"), bytes(folder));
    for at in (0..whole.len()).step_by(whole.len() / 150) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x21;
        std::fs::write(&path, &damaged).unwrap();
        // Never a panic, and never an answer from what was not written.
        let opened = TaskGraph::open(folder, model().id());
        if let Ok(graph) = opened {
            let _ = graph.search(model(), "driving policy", &TaskSearchOptions::new(3));
            let unused = whole[at] == 0;
            assert!(unused || graph.verify().is_err(), "byte {at}");
        }
    }
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = TaskGraph::open(folder, model().id()).unwrap_err();
    assert!(matches!(error, Error::DamagedIndex { .. }));
    let newer = SegmentWriter::create(&path, SegmentKind(*b"TASK"), task_graph::VERSION + 1).unwrap();
    newer.finish().unwrap();
    let error = TaskGraph::open(folder, model().id()).unwrap_err();
    assert!(matches!(error, Error::IndexVersion { found: 2, expected: 1, .. }), "{error}");
    assert!(error.hint().unwrap().contains("lakeward graph build"), "{:?}", error.hint());
    // Papers are at hand, so a build mends it.
    build(folder, &records(), &papers());
    assert_eq!(bytes(folder), whole);
    let verdicts = folder.join("verdicts.jsonl");
    let text = std::fs::read_to_string(&verdicts).unwrap();
    std::fs::write(&verdicts, text.replacen("\"version\":1", "\"version\":9", 1)).unwrap();
    assert!(matches!(Verdicts::read(folder), Err(Error::IndexVersion { found: 9, .. })));
    std::fs::write(&verdicts, "{\"version\":1}\n").unwrap();
    let error = Verdicts::read(folder).unwrap_err();
    assert!(matches!(error, Error::DamagedIndex { .. }), "{error}");
}

#[test]
fn hostile_names_and_texts_do_no_harm() {
    let odd = [
        "",
        "\u{202e}gnp",
        "(((",
        "a\nb",
        "\u{0}",
        "ﷺ".repeat(4000).as_str(),
        "../../etc",
        "日本 データ",
        "+",
        "-- - --",
    ]
    .map(str::to_string);
    let mut papers: Vec<Extraction> = odd
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let names =
                vec![mention(name, Some(name)), DatasetMention { record: Some(name.clone()), ..mention(name, None) }];
            Extraction { document: format!("{number}{name}"), title: name.clone(), ..paper("x", name, name, names) }
                .bounded()
        })
        .collect();
    papers.push(Extraction { document: "empty".into(), ..Extraction::default() });
    let mut datasets: Vec<DatasetRecord> = odd
        .iter()
        .enumerate()
        .map(|(number, name)| record(&format!("{number:02}"), name, name, number % 2 == 0))
        .collect();
    datasets.sort_by(|a, b| a.id.cmp(&b.id));
    for datasets in [&datasets[..], &[]] {
        let folder = tempfile::tempdir().unwrap();
        build(folder.path(), datasets, &papers);
        let graph = open(folder.path());
        for text in odd.iter().map(String::as_str).chain(["road ".repeat(100_000).as_str(), "the of and"]) {
            graph.search(model(), text, &TaskSearchOptions::new(50)).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(build(folder.path(), &[], &[]).datasets, 0);
    assert!(open(folder.path()).search(model(), "anything", &TaskSearchOptions::new(5)).unwrap().is_empty());
}
