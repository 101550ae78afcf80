//! `lakeward tune` on the benchmark of the sample lake: the weights it writes are read by `eval`, by `lakeward.toml`, and by itself.

use std::fs;

use serde_json::Value;

use crate::place::{Folder, Run, lakeward};

const PROJECT: &str = crate::REPOSITORY;

fn document(folder: &Folder, config: Option<&str>, arguments: &[&str]) -> Value {
    let mut command = lakeward(["-q"]);
    command.current_dir(folder.path()).env("LAKEWARD_INDEX", folder.at("index")).args(arguments);
    Run::of(command.envs(config.map(|config| ("LAKEWARD_CONFIG", config)))).succeeded().json()
}

#[test]
fn learned_weights_are_written_and_used() {
    let folder = &Folder::of(&[]);
    let sample = format!("{PROJECT}/eval/sample");
    let tune = ["tune", &sample, "--ranker", "join", "--ranker", "to-join", "--out", "first.json", "--json"];
    let report = document(folder, None, &tune);
    let join = &report["rankers"][0];
    assert_eq!(join["ranker"], "join");
    let shares: f64 =
        join["weights"].as_array().expect("weights").iter().filter_map(|one| one["learned"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 0.01, "{shares}");
    for set in join["sets"].as_array().expect("sets") {
        let (before, held_out) = (set["before"].as_f64(), set["cross_validated"].as_f64());
        // Queries held out may lose a little; a learner that ruins them is broken.
        assert!(held_out.expect("a figure") > before.expect("a figure") - 0.1, "{set}");
    }
    // Nothing is random.
    let again = ["tune", &sample, "--ranker", "join", "--ranker", "to-join", "--out", "second.json", "--json"];
    assert_eq!(document(folder, None, &again)["weights"], report["weights"]);
    let first = fs::read(folder.at("first.json")).expect("a file");
    assert_eq!(first, fs::read(folder.at("second.json")).expect("a file"));

    let measured = document(folder, None, &["eval", &sample, "--task", "join", "--weights", "first.json", "--json"]);
    assert_eq!(measured["weights"], report["weights"]);

    folder.write("lakeward.toml", "weights = \"first.json\"\n");
    let config = folder.text("lakeward.toml");
    let lake = format!("{PROJECT}/lake");
    let join = |config: Option<&str>| {
        let arguments = ["--lake", &lake, "join", "geo/countries", "--column", "iso", "-k", "3", "--json"];
        document(folder, config, &arguments)["answers"].clone()
    };
    assert_ne!(join(Some(&config))[0]["score"], join(None)[0]["score"], "other weights give other scores");
}
