//! The embedders that are on this machine. One on a server is tried with the tests of the program.

use std::path::Path;

use lakeward_models::embed::{BuiltIn, Embedder, EmbedderExt, SentenceModel, StaticModel};

use crate::embedder_behaviour::embedder_behaves;
use crate::tiny_model::write_model;

#[test]
fn the_models_in_the_program_behave() {
    embedder_behaves(StaticModel::builtin(), ["population of towns by year", "goalkeeper"]);
    embedder_behaves(SentenceModel::builtin(), ["population of towns by year", "goalkeeper"]);
    embedder_behaves(BuiltIn::get(), ["population of towns by year", "goalkeeper"]);
}

#[test]
fn the_models_in_the_program_are_named_by_their_weights() {
    let (columns, texts) = (StaticModel::builtin().id(), SentenceModel::builtin().id());
    assert_eq!(BuiltIn::get().id(), format!("{columns}+{texts}"));
    assert!(texts.starts_with("sentence-384-int8@") && texts.len() == "sentence-384-int8@".len() + 8, "{texts}");
    assert_eq!(BuiltIn::get().as_text_encoder().map(Embedder::id), Some(texts));
}

#[test]
fn a_sentence_is_understood_by_what_it_means() {
    let model = SentenceModel::builtin();
    let question = model.embed("do richer countries live longer");
    let cosine = |text: &str| question.iter().zip(model.embed(text)).map(|(a, b)| a * b).sum::<f32>();
    let right = cosine("life expectancy and income per person by nation");
    let wrong = cosine("films with a title that has the word live");
    assert!(right > 0.4 && right > wrong + 0.2, "{right} {wrong}");
}

#[test]
fn a_tiny_sentence_model_behaves() {
    let folder = tempfile::tempdir().expect("a folder");
    write_model(folder.path());
    let model = SentenceModel::open(folder.path()).expect("a model");
    embedder_behaves(&model, ["buses of dublin", "train"]);
}

/// The weights as published, in 32-bit floats: the ones in the program are rounded.
#[test]
fn a_real_sentence_model_behaves_and_the_one_in_the_program_is_nearly_the_same() {
    let Ok(folder) = std::env::var("LAKEWARD_TEST_SENTENCE_MODEL") else {
        println!("skipped: LAKEWARD_TEST_SENTENCE_MODEL names no folder with all-MiniLM-L6-v2");
        return;
    };
    let model = SentenceModel::open(Path::new(&folder)).expect("a model");
    embedder_behaves(&model, ["population of towns by year", "goalkeeper"]);
    for text in ["population of towns by year", "how dangerous is flying?", "Zürich, naïve café (2019)", "x"] {
        let cosine: f32 = model.embed(text).iter().zip(SentenceModel::builtin().embed(text)).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.99, "{text}: {cosine}");
    }
}
