//! What documents say of data sets and tasks: made-up papers, what must not be taken for use, what a second run does, hostile
//! text; and the benchmark, where there is one.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lakeward_core::monitor::Silent;
use lakeward_eval::extraction::score;
use lakeward_tasks::papers::add::add;
use lakeward_tasks::papers::extract::run::{ExtractOptions, ExtractStats, extract_all, of_document, path_of};
use lakeward_tasks::papers::extract::{KnownDatasets, KnownRecord, extract, gate};
use lakeward_tasks::papers::extraction::{Extraction, read_extractions};
use lakeward_tasks::papers::{AddOptions, Document, PdfReader, Store};

use crate::benchmark::bench;
use crate::place::Folder;

const LANES: &str = r#"{"id": "lanes", "title": "RoadNet: Lane Detection and Sign Classification from One Camera", "year": 2021,
 "abstract": "We propose RoadNet, a network for lane detection and traffic sign classification. It needs one camera.",
 "sections": [
  {"heading": "Introduction", "text": "Lane detection keeps a car on its road. Traffic sign classification tells what it may do. Unlike CityPark, which was filmed by drones, our data comes from cars."},
  {"heading": "Lane Detection", "text": "For lane detection we train and evaluate on the LaneAtlas dataset. LaneAtlas contains 3,000 videos with marked lanes. RoadNet reaches an accuracy of 91.2 % on LaneAtlas."},
  {"heading": "Sign Classification", "text": "Traffic sign classification is tested on RSBook 2019. On RSBook 2019 the error is 3.4 %, see Table 2."},
  {"heading": "Related Work", "text": "Others report results on GoatCount."}]}"#;
const POEM: &str = r#"{"id": "essay", "title": "On the Weather of the Lakes", "sections": [
  {"heading": "Morning", "text": "The lake was calm. Nobody rowed."}, {"heading": "Evening", "text": "It rained."}]}"#;

struct Place {
    folder: Folder,
}

impl Place {
    fn with(lines: &[&str]) -> Self {
        let place = Self { folder: Folder::of(&[]) };
        place.add("papers.jsonl", &lines.iter().map(|line| line.replace('\n', " ") + "\n").collect::<String>());
        place
    }

    fn index(&self) -> PathBuf {
        self.folder.at("index")
    }

    fn add(&self, name: &str, text: &str) {
        self.folder.write(&format!("documents/{name}"), text);
        let options = AddOptions { again: false, pdf: PdfReader::of_this_program() };
        add(&self.index(), &[self.folder.at("documents")], &options, &Silent).expect("a run");
    }

    fn document(&self, id: &str) -> Document {
        Store::open(&self.index()).expect("a store").document(id).expect("a document")
    }

    fn extract(&self, known: &KnownDatasets) -> ExtractStats {
        extract_all(&self.index(), known, &ExtractOptions::default(), &Silent).expect("a run")
    }
}

fn known(titles: &[&str]) -> KnownDatasets {
    let ids: Vec<String> = titles.iter().map(|title| format!("catalogue/{}", title.replace(' ', "_"))).collect();
    let records = titles.iter().zip(&ids).map(|(title, id)| KnownRecord {
        id,
        title,
        description: "a collection of videos with lanes, signs and what is counted in the road",
    });
    KnownDatasets::new(records, std::iter::empty())
}

fn roads() -> KnownDatasets {
    known(&["LaneAtlas", "RSBook 2018", "CityPark", "GoatCount", "Road"])
}

/// Names of data sets by task.
fn by_task(extraction: &Extraction) -> Vec<(String, Vec<String>)> {
    let names = |task: &lakeward_tasks::papers::extraction::ExtractedTask| {
        task.datasets.iter().map(|mention| mention.name.clone()).collect()
    };
    extraction.tasks.iter().map(|task| (task.name.clone(), names(task))).collect()
}

#[test]
fn two_tasks_of_a_paper_are_kept_apart() {
    let place = Place::with(&[LANES]);
    let extraction = extract(&place.document("lanes"), &roads());
    let mut tasks = by_task(&extraction);
    tasks.sort();
    assert_eq!(
        tasks,
        [
            ("lane detection".to_string(), vec!["LaneAtlas".to_string()]),
            ("sign classification".to_string(), vec!["RSBook 2019".to_string()]),
        ]
    );
    assert_eq!((extraction.year, extraction.extractor.as_str()), (Some(2021), "rules@3"));
    assert!(extraction.text.starts_with("We propose RoadNet"));
}

#[test]
fn each_data_set_keeps_its_sentence_section_and_record() {
    let place = Place::with(&[LANES]);
    let extraction = extract(&place.document("lanes"), &roads());
    let lanes = extraction.tasks.iter().find(|task| task.name == "lane detection").expect("the task");
    assert!(lanes.text.starts_with("We propose RoadNet, a network for lane detection"));
    let atlas = &lanes.datasets[0];
    assert_eq!(atlas.sentence.as_deref(), Some("For lane detection we train and evaluate on the LaneAtlas dataset."));
    assert_eq!(atlas.section.as_deref(), Some("Lane Detection"));
    assert_eq!(atlas.record.as_deref(), Some("catalogue/LaneAtlas"));
    assert_eq!(atlas.description.as_deref(), Some("LaneAtlas contains 3,000 videos with marked lanes."));
    let signs = extraction.tasks.iter().flat_map(|task| &task.datasets).find(|mention| mention.name == "RSBook 2019");
    assert_eq!(signs.expect("the edition").record, None, "another edition than the one that is known");
}

#[test]
fn what_a_paper_sets_itself_apart_from_is_not_used() {
    let place = Place::with(&[LANES]);
    let found = extract(&place.document("lanes"), &roads());
    let names: Vec<String> = by_task(&found).into_iter().flat_map(|(_, names)| names).collect();
    for name in ["CityPark", "GoatCount", "Road"] {
        assert!(!names.iter().any(|found| found == name), "{name} in {names:?}");
    }
}

#[test]
fn a_paper_calls_its_own_data_sets_by_name() {
    let line = r#"{"id": "own", "title": "Counting Sheep: Livestock Counting from Drones", "sections": [
      {"heading": "Introduction", "text": "We introduce the OpenFlock dataset for livestock counting."},
      {"heading": "Experiments", "text": "We evaluate on the OpenFlock dataset. The error on OpenFlock is 2.1 %. We also train on the Large Meadow Count (LMC)."},
      {"heading": "Results", "text": "On LMC, the error is 4.5 %. Results on LMC are in Table 1."}]}"#;
    let place = Place::with(&[line]);
    let found = extract(&place.document("own"), &known(&["Large Meadow Count"]));
    let names: Vec<String> = by_task(&found).into_iter().flat_map(|(_, names)| names).collect();
    assert!(names.contains(&"OpenFlock".to_string()) && names.contains(&"Large Meadow Count".to_string()), "{names:?}");
    assert_eq!(found.tasks[0].name, "livestock counting");
}

#[test]
fn the_gate_leaves_out_what_uses_no_data() {
    let place = Place::with(&[POEM, LANES]);
    let essay = place.document("essay");
    assert!(!gate(&essay, &roads()).uses_datasets);
    assert!(extract(&essay, &roads()).tasks.is_empty());
    let relevance = gate(&place.document("lanes"), &roads());
    assert!(relevance.uses_datasets && relevance.names > 0, "{relevance:?}");
}

#[test]
fn a_second_run_looks_only_at_what_is_new() {
    let place = Place::with(&[LANES, POEM]);
    let first = place.extract(&roads());
    assert_eq!((first.documents, first.extracted, first.unchanged, first.relevant), (2, 2, 0, 1));
    let bytes = fs::read(path_of(&place.index())).expect("the file");
    let second = place.extract(&roads());
    assert_eq!((second.extracted, second.unchanged), (0, 2));
    assert_eq!(fs::read(path_of(&place.index())).expect("the file"), bytes);

    place.add("more.jsonl", &LANES.replace("lanes\"", "roads\"").replace("RoadNet", "StreetNet").replace('\n', " "));
    let third = place.extract(&roads());
    assert_eq!((third.documents, third.extracted, third.unchanged), (3, 1, 2));
    let kept = read_extractions(&path_of(&place.index())).expect("what the graph reads");
    assert_eq!((kept.extractions.len(), kept.left_out), (3, 0));

    // Other names to know, other answers.
    let fourth = place.extract(&known(&["LaneAtlas"]));
    assert_eq!((fourth.extracted, fourth.unchanged), (3, 0));

    let document = place.document("lanes");
    let kept = of_document(&place.index(), &document.fingerprint).expect("the file").expect("the extraction");
    assert_eq!(kept.extraction.document, "lanes");
    Store::remove(&place.index(), &["lanes".to_string()]).expect("removed");
    assert_eq!(place.extract(&known(&["LaneAtlas"])).documents, 2);
    assert!(of_document(&place.index(), &document.fingerprint).expect("the file").is_none());
}

#[test]
fn a_damaged_file_of_extractions_is_made_anew() {
    let place = Place::with(&[LANES]);
    place.extract(&roads());
    fs::write(path_of(&place.index()), b"\xff\xfe{}\n{\"document\": 3}\nnot json").expect("a file");
    assert_eq!(place.extract(&roads()).extracted, 1);
    assert_eq!(read_extractions(&path_of(&place.index())).expect("the file").left_out, 0);
}

#[test]
fn hostile_text_ends_in_time_and_within_bounds() {
    let repeat = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    let texts = [
        repeat("A1 dataset ", 1_000_000),
        repeat("LaneAtlas", 1_000_000),
        repeat("LaneAtlas 2019 and ", 1_000_000),
        repeat("(((((A B C (ABC) ", 500_000),
        repeat("x classification of ", 500_000),
        (0..40_000).map(|number| format!("Set{number}X dataset. ")).collect(),
        repeat("é日本ﬁ\u{301} corpus [", 300_000),
        repeat("English-German to French ", 500_000),
    ];
    for text in texts {
        let line = serde_json::json!({"id": "x", "title": "Image classification", "text": text}).to_string();
        let place = Place::with(&[&line]);
        let document = place.document("x");
        let started = Instant::now();
        let found = extract(&document, &roads());
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}: {}", started.elapsed(), &text[..20]);
        assert!(found.tasks.len() <= 64);
        assert!(serde_json::to_vec(&found).expect("JSON").len() < 8 << 20);
    }
}

#[test]
fn data_sets_of_the_benchmark_are_found() {
    let (Some(papers), Some(names)) = (bench("scirex"), bench("datafinder")) else { return };
    let scores = score(&papers, Some(&names), None).expect("scores");
    println!("{scores:#?}");
    // The list of known names alone, found literally, scores .233.
    assert!(scores.dataset_pairs.f1 > 0.30, "{scores:?}");
}
