//! `lakeward tune` on the benchmark of the sample lake: the weights it writes are read by `eval`, by `lakeward.toml`, and by itself.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const PROJECT: &str = crate::REPOSITORY;

fn lakeward(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
    command.current_dir(folder).env("LAKEWARD_INDEX", folder.join("index")).arg("-q").args(arguments);
    command.output().expect("the program")
}

fn document(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn learned_weights_are_written_and_used() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path();
    let sample = format!("{PROJECT}/eval/sample");
    let tune = ["tune", &sample, "--ranker", "join", "--ranker", "to-join", "--out", "first.json", "--json"];
    let report = document(&lakeward(folder, &tune));
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
    assert_eq!(document(&lakeward(folder, &again))["weights"], report["weights"]);
    let first = fs::read(folder.join("first.json")).expect("a file");
    assert_eq!(first, fs::read(folder.join("second.json")).expect("a file"));

    let measured =
        document(&lakeward(folder, &["eval", &sample, "--task", "join", "--weights", "first.json", "--json"]));
    assert_eq!(measured["weights"], report["weights"]);

    fs::write(folder.join("lakeward.toml"), "weights = \"first.json\"\n").expect("a file");
    let config = folder.join("lakeward.toml").to_string_lossy().into_owned();
    let lake = format!("{PROJECT}/lake");
    let join = |config: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
        command.env("LAKEWARD_INDEX", folder.join("index")).env_remove("LAKEWARD_CONFIG");
        if let Some(config) = config {
            command.env("LAKEWARD_CONFIG", config);
        }
        command.args(["-q", "--lake", &lake, "join", "geo/countries", "--column", "iso", "-k", "3", "--json"]);
        document(&command.output().expect("the program"))["answers"].clone()
    };
    assert_ne!(join(Some(&config))[0]["score"], join(None)[0]["score"], "other weights give other scores");
}
