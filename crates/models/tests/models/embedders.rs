//! The embedders that are on this machine. One on a server is tried with the tests of the program.

use std::path::Path;

use lakeward_models::embed::{SentenceModel, StaticModel};

use crate::embedder_behaviour::embedder_behaves;
use crate::tiny_model::write_model;

#[test]
fn the_model_in_the_program_behaves() {
    embedder_behaves(StaticModel::builtin(), ["population of towns by year", "goalkeeper"]);
}

#[test]
fn a_tiny_sentence_model_behaves() {
    let folder = tempfile::tempdir().expect("a folder");
    write_model(folder.path());
    let model = SentenceModel::open(folder.path()).expect("a model");
    embedder_behaves(&model, ["buses of dublin", "train"]);
}

#[test]
fn a_real_sentence_model_behaves() {
    let Ok(folder) = std::env::var("LAKEWARD_TEST_SENTENCE_MODEL") else {
        println!("skipped: LAKEWARD_TEST_SENTENCE_MODEL names no folder with all-MiniLM-L6-v2");
        return;
    };
    let model = SentenceModel::open(Path::new(&folder)).expect("a model");
    embedder_behaves(&model, ["population of towns by year", "goalkeeper"]);
}
