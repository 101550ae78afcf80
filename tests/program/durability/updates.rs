//! Any sequence of edits of the lake: an updated index answers as a new one.

use std::fs;
use std::path::Path;

use super::{Numbers, assert_answers_like_a_new_index, built, files, lake_of, path, write};

/// One random edit; what it was.
fn edit(lake: &Path, numbers: &mut Numbers, edition: usize) -> String {
    const TABLES: usize = 80;
    let number = numbers.below(TABLES);
    let file = path(lake, number);
    match numbers.below(12) {
        0..=3 => {
            write(lake, number, edition);
            format!("write {number}")
        }
        4..=5 if file.exists() => {
            fs::remove_file(file).expect("a file");
            format!("remove {number}")
        }
        6 if file.exists() => {
            let moved = lake.join("moved").join(format!("{edition}_{number}.csv"));
            fs::create_dir_all(lake.join("moved")).expect("a folder");
            fs::rename(file, moved).expect("a file");
            format!("move {number}")
        }
        7 if file.exists() => {
            // Another format beside it takes the short id from both.
            fs::copy(&file, file.with_extension("tsv")).expect("a copy");
            format!("twin of {number}")
        }
        8 if file.exists() => {
            let same = fs::read(&file).expect("a file");
            fs::write(file, same).expect("a file");
            format!("touch {number}")
        }
        9 => {
            fs::write(file, b"\x00\x01\x02").expect("a file");
            format!("spoil {number}")
        }
        10 => {
            let folder = file.parent().expect("a folder");
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            let package = format!(
                r#"{{"name": "part", "resources": [{{"name": "r", "path": "{name}", "title": "Edition {edition} of the glacier"}}]}}"#
            );
            fs::write(folder.join("datapackage.json"), package).expect("a file");
            format!("describe {number}")
        }
        _ => {
            let mut text = super::table(number, edition);
            // The same size and another content.
            text = text.replace("K0", "Q0");
            fs::write(file, text).expect("a file");
            format!("rewrite {number}")
        }
    }
}

#[test]
fn any_sequence_of_edits_answers_as_a_new_index() {
    let mut merged = 0;
    for seed in 1..=4 {
        let lake = lake_of(60);
        let place = tempfile::tempdir().expect("a folder");
        built(lake.path(), place.path()).expect("a build");
        let mut numbers = Numbers(seed);
        let mut history = Vec::new();
        for round in 0..15 {
            for _ in 0..1 + numbers.below(12) {
                history.push(edit(lake.path(), &mut numbers, 1 + round));
            }
            let stats = built(lake.path(), place.path()).expect("a build");
            merged += stats.merged_segments;
            let when = format!("seed {seed}, round {round}: {history:?}");
            assert!(stats.segments <= 12, "{} segments, {when}", stats.segments);
            let tables = files(lake.path()).iter().filter(|file| file.extension().is_none_or(|e| e != "json")).count();
            assert_eq!(stats.tables as usize + stats.skipped.len(), tables, "{when}");
            assert_answers_like_a_new_index(lake.path(), place.path(), &when);
            history.push("|".into());
        }
    }
    assert!(merged >= 8, "only {merged} segments were merged");
}
