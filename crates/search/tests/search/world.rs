//! The datasets that a request is compared with beside those of its lake: their file is made of labels/asks here, and checked.

use std::fs;
use std::path::{Path, PathBuf};

use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{BuildOptions, build};
use lakeward_models::embed::{BuiltIn, Embedder};
use lakeward_search::world::pack;
use lakeward_search::{RankingWeights, SearchAnswer};
use serde_json::{Value, json};

/// Of which every one is read again by the check.
const EVERY: usize = 100;

/// Titles and descriptions of the datasets, in the order of the files.
fn datasets() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labels/asks");
    let files = fs::read_dir(folder).expect("the labels").map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    let mut datasets = Vec::new();
    for file in files {
        for line in fs::read_to_string(file).expect("labels").lines() {
            let family: Value = serde_json::from_str(line).expect("a family");
            for dataset in family["datasets"].as_array().expect("datasets") {
                let text = |name: &str| dataset[name].as_str().expect("a text").to_string();
                datasets.push((text("title"), text("about")));
            }
        }
    }
    datasets
}

/// `LAKEWARD_WRITE_WORLD=1` writes the file anew: after a change of the sentence model, of what is read of a dataset, or of the labels.
#[test]
fn the_file_has_what_the_datasets_are_about() {
    let (path, written) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("src/world.bin"), std::env::var("LAKEWARD_WRITE_WORLD"));
    let datasets = datasets();
    let every = if written.is_ok() { 1 } else { EVERY };
    let lake = tempfile::tempdir().expect("a folder");
    let chosen = || datasets.iter().enumerate().step_by(every);
    let record = |(at, (title, about)): (usize, &(String, String))| {
        json!({"id": at.to_string(), "title": title, "description": about}).to_string()
    };
    let records = lake.path().join("corpus.jsonl");
    fs::write(&records, chosen().map(record).collect::<Vec<_>>().join("\n")).expect("a file");
    let folder = lake.path().join(".lakeward");
    let options = BuildOptions { records: Some(records), ..BuildOptions::default() };
    build(lake.path(), &folder, BuiltIn::get(), &options, &Silent).expect("an index");
    let index = LakeIndex::open(&folder, BuiltIn::get().id()).expect("an index");
    let row = |(at, _): (usize, &(String, String))| {
        let table = index.get(&at.to_string()).expect("readable").expect("a record");
        let meanings = index.segment(table.segment).expect("readable").meanings.as_ref().expect("vectors");
        let mut vector = vec![0.0; meanings.0.dims()];
        meanings.0.vector(table.table, &mut vector).expect("a vector");
        pack(&vector)
    };
    if written.is_ok() {
        fs::write(&path, chosen().flat_map(row).collect::<Vec<u8>>()).expect("the file");
    }
    let bytes = fs::read(&path).expect("the file");
    let rows: Vec<&[u8]> = bytes.chunks(bytes.len() / datasets.len()).collect();
    assert_eq!(rows.len(), datasets.len());
    for one in chosen().step_by(EVERY / every) {
        // The last bit of a cosine may differ between processors.
        let differing = row(one).iter().zip(rows[one.0]).filter(|(now, kept)| now != kept).count();
        assert!(differing <= rows[one.0].len() / 20, "row {} was made by another model, or of other labels", one.0);
    }
}

#[test]
fn what_a_table_says_that_nobody_described_counts_twice() {
    let may_serve = |relevance: f64, coverage: f64, of_bare: f64| {
        let answer = json!({
            "table": "t", "title": "t", "score": 0.1, "relevance": relevance, "cosine": 0.2, "matched": [], "sampled": false, "columns": [],
            "reason": "", "features": {"coverage": coverage, "coverage_of_bare": of_bare}
        });
        let answer: SearchAnswer = serde_json::from_value(answer).expect("an answer");
        answer.may_serve(&RankingWeights::shipped().calibration)
    };
    assert!(may_serve(0.2, 0.0, 0.0) && may_serve(0.1, 0.8, 0.0));
    assert!(!may_serve(0.1, 0.5, 0.0) && may_serve(0.1, 0.5, 0.5));
    assert!(!may_serve(0.1, 0.3, 0.3));
}
