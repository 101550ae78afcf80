//! A graph over datasets that the index has read as whole texts: tasks are compared by the same model.

use std::path::Path;

use lakeward_core::error::Error;
use lakeward_models::embed::{BuiltIn, Embedder, EmbedderExt};
use lakeward_tasks::papers::extraction::{DatasetMention, ExtractedTask, Extraction};
use lakeward_tasks::task_graph::{self, DatasetRecord, GraphInputs, GraphOptions, TaskGraph, TaskSearchOptions};

fn record(id: &str, description: &str, is_read: bool) -> DatasetRecord {
    let encoder = BuiltIn::get().as_text_encoder().expect("a model that reads texts");
    let meaning = if is_read { encoder.embed(&format!("{id}. {description}")) } else { Vec::new() };
    DatasetRecord {
        id: id.into(),
        title: id.into(),
        description: description.into(),
        meaning,
        ..DatasetRecord::default()
    }
}

fn records(are_read: bool) -> Vec<DatasetRecord> {
    vec![
        record("Larder", "Recipes of home cooks with their ingredients.", are_read),
        record("Pulse", "Heart rates of runners, beat by beat.", are_read),
        record("Skyline", "Photographs of clouds from the ground.", are_read),
    ]
}

fn paper(id: &str, need: &str, dataset: &str) -> Extraction {
    let mention = DatasetMention { name: dataset.into(), ..DatasetMention::default() };
    let task = ExtractedTask { text: need.into(), datasets: vec![mention], ..ExtractedTask::default() };
    let text = format!("{need} We describe how.");
    Extraction {
        document: id.into(),
        title: need.into(),
        year: None,
        text,
        tasks: vec![task],
        extractor: "test@1".into(),
    }
}

fn papers() -> Vec<Extraction> {
    vec![
        paper("p1", "Suggest dishes from what is in the fridge.", "Larder"),
        paper("p2", "Detect arrhythmia during exercise.", "Pulse"),
        paper("p3", "Forecast rain an hour ahead.", "Skyline"),
    ]
}

fn build(folder: &Path, datasets: &[DatasetRecord], extractions: &[Extraction]) -> TaskGraph {
    let inputs = GraphInputs { datasets, extractions, embedder: BuiltIn::get(), judge: None };
    task_graph::build(folder, &inputs, &GraphOptions::default()).expect("a graph");
    let graph = TaskGraph::open(folder, BuiltIn::get().id()).expect("a graph");
    graph.verify().expect("sound");
    graph
}

fn first(graph: &TaskGraph, text: &str) -> String {
    let answers = graph.search(BuiltIn::get(), text, &TaskSearchOptions::new(3)).expect("answers");
    answers[0].dataset.clone()
}

#[test]
fn tasks_without_a_word_in_common_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let graph = build(folder.path(), &records(true), &papers());
    assert!(graph.meta().reads_texts);
    assert_eq!(graph.meta().dims, BuiltIn::get().as_text_encoder().expect("a model").dims());
    assert_eq!(first(&graph, "meal ideas for leftover groceries"), "Larder");
    assert_eq!(first(&graph, "spot an irregular pulse while jogging"), "Pulse");
    assert_eq!(first(&graph, "nowcasting of showers"), "Skyline");
}

#[test]
fn an_update_is_what_a_new_build_is_also_when_datasets_change() {
    let (updated, fresh) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    build(updated.path(), &records(true)[..2], &papers()[..2]);
    let mut changed = records(true);
    changed[1] = record("Pulse", "Heart rates of swimmers.", true);
    build(updated.path(), &changed, &papers());
    build(fresh.path(), &changed, &papers());
    let bytes = |folder: &Path| std::fs::read(folder.join("graph.seg")).expect("the file");
    assert!(bytes(updated.path()) == bytes(fresh.path()));
}

#[test]
fn without_vectors_of_every_dataset_static_ones_are_compared_until_they_are_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut some = records(true);
    some[0].meaning.clear();
    let graph = build(folder.path(), &some, &papers());
    assert!(!graph.meta().reads_texts);
    assert_eq!(first(&graph, "dishes from the fridge"), "Larder");
    assert!(build(folder.path(), &records(true), &papers()).meta().reads_texts);
}

/// The model under the same id without its encoder, as an index of very many tables has it.
#[test]
fn a_search_without_the_model_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let graph = build(folder.path(), &records(true), &papers());
    let without = lakeward_index::build::WithoutTexts(BuiltIn::get());
    let found = graph.search(&without, "dishes", &TaskSearchOptions::new(1));
    assert!(matches!(found, Err(Error::EmbeddingModel { .. })), "{found:?}");
}
