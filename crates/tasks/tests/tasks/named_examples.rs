//! Well-known names and papers, by rules alone: which names are one dataset, and which dataset goes to which task.

use std::path::Path;

use lakeward_models::embed::StaticModel;
use lakeward_tasks::papers::extract::{KnownDatasets, KnownRecord, extract};
use lakeward_tasks::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_tasks::papers::reading::{self, DocumentFormat};
use lakeward_tasks::papers::{Document, PdfReader};
use lakeward_tasks::task_graph::verdicts::Verdicts;
use lakeward_tasks::task_graph::why::{NameBook, Why};
use lakeward_tasks::task_graph::{self, DatasetRecord, GraphInputs, GraphOptions, TaskGraph};
use serde_json::json;

fn document(title: &str, summary: &str, sections: &[(&str, &str)]) -> Document {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("papers.jsonl");
    let sections: Vec<_> = sections.iter().map(|(heading, text)| json!({"heading": heading, "text": text})).collect();
    let paper = json!({"id": title, "title": title, "abstract": summary, "sections": sections});
    std::fs::write(&path, format!("{paper}\n")).expect("a file");
    let mut documents = Vec::new();
    let mut keep = |document| {
        documents.push(document);
        Ok(())
    };
    let format = DocumentFormat::of(&path).expect("a format");
    reading::read(&path, format, &PdfReader::of_this_program(), &mut keep).expect("a paper");
    documents.pop().expect("a document")
}

fn known(names: &[(&'static str, &'static str)]) -> KnownDatasets {
    let records = names.iter().map(|(title, description)| KnownRecord { id: title, title, description });
    KnownDatasets::new(records, std::iter::empty())
}

/// The datasets of each task, as `task: names`.
fn tasks(found: &Extraction) -> Vec<(String, Vec<String>)> {
    let of = |task: &ExtractedTask| {
        let names = task.datasets.iter().map(|dataset| dataset.name.clone()).collect();
        (format!("{} {}", task.name, task.text).to_lowercase(), names)
    };
    found.tasks.iter().map(of).collect()
}

fn paper(id: &str, names: &[(&str, &[&str])]) -> Extraction {
    let datasets = names.iter().map(|(name, also)| DatasetMention {
        name: (*name).to_string(),
        also: also.iter().map(ToString::to_string).collect(),
        ..DatasetMention::default()
    });
    let task = ExtractedTask {
        text: format!("What {id} is about."),
        name: id.to_string(),
        keywords: Vec::new(),
        datasets: datasets.collect(),
    };
    Extraction { document: id.into(), title: id.into(), tasks: vec![task], ..Extraction::default() }
}

fn record(id: &str, title: &str, description: &str) -> DatasetRecord {
    let (id, title, description) = (id.into(), title.into(), description.into());
    DatasetRecord { id, title, description, ..DatasetRecord::default() }
}

/// Why two names are one dataset or two, in the graph of these papers and records.
fn why(records: &[DatasetRecord], papers: &[Extraction], a: &str, b: &str) -> Why {
    let folder = tempfile::tempdir().expect("a folder");
    let embedder = StaticModel::builtin();
    let inputs = GraphInputs { datasets: records, extractions: papers, embedder, judge: None };
    task_graph::build(folder.path(), &inputs, &GraphOptions::default()).expect("a graph");
    let graph = TaskGraph::open(folder.path(), lakeward_models::embed::Embedder::id(embedder)).expect("a graph");
    let book = NameBook::new(&graph, records.to_vec()).expect("names");
    let (a, b) = (book.find(a).expect("a name"), book.find(b).expect("a name"));
    book.why(&a, &b, &Verdicts::read(folder.path() as &Path).expect("verdicts"), true)
}

#[test]
fn coco_is_ms_coco_with_a_record_and_without() {
    let papers = [paper("detection", &[("COCO", &[])]), paper("captions", &[("MS-COCO", &[])])];
    let alone = why(&[], &papers, "COCO", "MS-COCO");
    assert!(alone.joined && alone.way[0].by == "rule maker@1", "{alone:?}");
    let records = [record("ms-coco", "MS COCO", "The Microsoft Common Objects in Context set has images.")];
    for name in ["COCO", "MS-COCO"] {
        let explained = why(&records, &papers, name, "ms-coco");
        assert!(explained.joined, "{explained:?}");
    }
    // Another set of a like name is none of it.
    let papers = [paper("p", &[("OK-VQA", &[]), ("VQA", &[]), ("SNLI", &[]), ("e-SNLI", &[])])];
    assert!(!why(&[], &papers, "OK-VQA", "VQA").joined && !why(&[], &papers, "e-SNLI", "SNLI").joined);
}

#[test]
fn mimic_is_its_full_name_by_initials_and_by_what_a_document_says() {
    let full = "Medical Information Mart for Intensive Care III";
    let explained = why(&[], &[paper("p", &[("MIMIC-III", &[])]), paper("q", &[(full, &[])])], "MIMIC-III", full);
    assert!(explained.joined, "{explained:?}");
    let text = "We predict mortality on the Medical Information Mart for Intensive Care III (MIMIC-III) dataset. \
        On MIMIC-III the error of mortality prediction is 2.1 %.";
    let found = extract(
        &document("Mortality Prediction in Intensive Care", "We study mortality prediction.", &[("Experiments", text)]),
        &KnownDatasets::default(),
    );
    let names: Vec<&DatasetMention> = found.tasks.iter().flat_map(|task| &task.datasets).collect();
    let [mention] = names.as_slice() else { panic!("{names:?}") };
    let both: Vec<&str> = std::iter::once(&mention.name).chain(&mention.also).map(String::as_str).collect();
    assert!(both.contains(&full) && both.contains(&"MIMIC-III"), "{both:?}");
    // What was merged when the document was read is explained as any other merge.
    let explained = why(&[], std::slice::from_ref(&found), "MIMIC-III", full);
    assert!(explained.joined && !explained.way.is_empty(), "{explained:?}");
    // A record under the one name is meant by the other, too; two records stay two.
    let records =
        [record("a", "MIMIC-III", "Stays in intensive care."), record("b", full, "An older copy, other content.")];
    let explained = why(&records, std::slice::from_ref(&found), "a", "b");
    assert!(!explained.joined, "{explained:?}");
}

#[test]
fn a_study_of_alzheimers_disease_uses_adni() {
    let summary =
        "Early diagnosis of Alzheimer's disease remains hard. We study classification of Alzheimer's disease from MRI.";
    let text = "Scans were obtained from the Alzheimer's Disease Neuroimaging Initiative (ADNI) dataset. \
        On ADNI our classification of Alzheimer's disease reaches an accuracy of 91.2 %.";
    let found = extract(
        &document("Classification of Alzheimer's Disease", summary, &[("Data", text)]),
        &KnownDatasets::default(),
    );
    let all: Vec<String> = tasks(&found).into_iter().flat_map(|(_, names)| names).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].contains("Neuroimaging Initiative") || all[0] == "ADNI", "{all:?}");
    assert!(tasks(&found)[0].0.contains("alzheimer"), "{:?}", tasks(&found));
    let elsewhere = paper("other study", &[("ADNI", &[])]);
    assert!(why(&[], &[found, elsewhere], "ADNI", &all[0]).joined || all[0] == "ADNI");
}

#[test]
fn each_benchmark_goes_to_its_own_task() {
    let known = known(&[
        ("GSM8K", "Word problems of grade school, for arithmetic reasoning."),
        ("GLUE", "Nine tasks of language understanding."),
        ("HumanEval", "Programs that a model has to write."),
        ("PIQA", "Questions about how things are done in daily life."),
    ]);
    let summary =
        "We train a language model and evaluate arithmetic reasoning, language understanding and code generation.";
    let text = "For arithmetic reasoning we evaluate on GSM8K. Language understanding is evaluated on GLUE. \
        Code generation is evaluated on HumanEval.";
    let found = extract(&document("A Small Language Model", summary, &[("Experiments", text)]), &known);
    let tasks_found = tasks(&found);
    for (name, word) in [("GSM8K", "arithmetic"), ("GLUE", "understanding"), ("HumanEval", "code")] {
        let of: Vec<&(String, Vec<String>)> =
            tasks_found.iter().filter(|(_, names)| names.iter().any(|own| own == name)).collect();
        assert!(of.len() == 1 && of[0].0.contains(word) && of[0].1.len() == 1, "{name}: {tasks_found:?}");
    }
    let text = "We evaluate physical commonsense reasoning on PIQA. PIQA asks which of two ways reaches a goal.";
    let found =
        extract(&document("Knowing How", "We study physical commonsense reasoning.", &[("Experiments", text)]), &known);
    let tasks_found = tasks(&found);
    assert!(
        tasks_found.len() == 1 && tasks_found[0].0.contains("commonsense") && tasks_found[0].1 == ["PIQA"],
        "{tasks_found:?}"
    );
}

#[test]
fn the_paper_of_a_simulator_names_it_with_its_task() {
    let summary = "We introduce CARLA, an open-source simulator for autonomous driving research.";
    let text = "We use CARLA to study the performance of three approaches to autonomous driving. \
        All approaches to autonomous driving are evaluated in CARLA.";
    let known = known(&[("CARLA", "A simulator of urban driving.")]);
    let found = extract(&document("CARLA: An Open Urban Driving Simulator", summary, &[("Experiments", text)]), &known);
    let tasks_found = tasks(&found);
    assert!(
        tasks_found.len() == 1 && tasks_found[0].0.contains("driving") && tasks_found[0].1 == ["CARLA"],
        "{tasks_found:?}"
    );
}
