//! Simulated users over a catalogue of records: as a benchmark that `lakeward eval` reads, and in person with the agent.

use std::fs;

use serde_json::{Value, json};

use crate::place::{Folder, Run, lakeward};

const PLACES: [&str; 4] = ["Norway", "Italy", "Peru", "Kenya"];
const SUBJECTS: [&str; 4] = ["Drinking water", "Electricity prices", "Hospital beds", "Crop yields"];

fn records() -> String {
    let record = |number: usize| {
        let (place, subject) = (PLACES[number % 4], SUBJECTS[number / 4 % 4]);
        let record = json!({
            "id": format!("rec{number:03}"),
            "title": format!("{subject} in {place}, series {}", number / 16),
            "geography": {"members": [place]},
            "description": format!(
                "Inspectors of the board visited {number} sites by boat, took samples at dawn and weighed them dried"
            ),
            "subjects": [subject],
            "frequency": (if (number / 5).is_multiple_of(2) { "Annual" } else { "Monthly" }),
            "start": format!("{}-01-01", 1980 + number % 23),
            "end": format!("{}-01-01", 2005 + number % 17),
        });
        record.to_string()
    };
    (0..64).map(record).collect::<Vec<_>>().join("\n")
}

fn run(here: &Folder, arguments: &[&str]) -> Run {
    Run::of(lakeward(arguments).current_dir(here.path()).env("LAKEWARD_LAKE", here.at("lake")))
}

#[test]
fn dialogues_are_a_benchmark_and_are_had_in_person() {
    let here = &Folder::of(&[("bench/corpus.jsonl", &records())]);
    fs::create_dir(here.at("lake")).expect("a folder");
    run(here, &["index", "lake", "--records", "bench/corpus.jsonl"]).succeeded();
    // To stdout: JSON lines, the same for the same seed.
    let out = run(here, &["simulate", "--dialogues", "7", "--seed", "3"]).succeeded().stdout;
    assert_eq!(out.lines().count(), 7);
    assert_eq!(run(here, &["simulate", "--dialogues", "7", "--seed", "3"]).stdout, out);
    let first: Value = serde_json::from_str(out.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["task"], "dialogue");
    // As a benchmark.
    let arguments = ["simulate", "--dialogues", "24", "--later-turn", "0.5", "--out", "bench/queries.jsonl"];
    run(here, &arguments).succeeded();
    assert_eq!(fs::read_to_string(here.at("bench/qrels.txt")).expect("a file").lines().count(), 24);
    let again = run(here, &arguments);
    assert!(again.code == 2 && again.stderr.contains("exists"), "{again:?}");
    let systems = ["--system", "lakeward", "--system", "bm25", "--system", "bm25-last-turn"];
    let report = run(here, &[&["eval", "bench", "--json"], &systems[..]].concat()).succeeded().json();
    let group = |system: usize, name: &str| -> Value {
        let groups = report["systems"][system]["groups"].as_array().cloned().unwrap_or_default();
        groups.into_iter().find(|group| group["group"] == name).unwrap_or_default()
    };
    let (lakeward, all_turns, last_turn) = (group(0, ""), group(1, ""), group(2, ""));
    assert_eq!((lakeward["queries"].as_u64(), all_turns["queries"].as_u64()), (Some(24), Some(24)));
    let recall = |group: &Value| group["raw"]["at"]["5"]["recall"].as_f64().expect("a share");
    assert!(recall(&all_turns) >= recall(&last_turn), "{all_turns} {last_turn}");
    assert!(lakeward["dialogue_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    let later = group(0, "correction: later-turn")["queries"].as_u64().unwrap_or_default();
    let never = group(0, "correction: none")["queries"].as_u64().unwrap_or_default();
    assert!(later > 0 && never > 0 && later + never <= 24, "{later} {never}");
    // In person.
    let report = run(here, &["simulate", "--dialogues", "12", "--run", "--turns", "6", "--json"]).succeeded().json();
    let all = &report["groups"][0];
    assert_eq!((&all["group"], &all["dialogues"], &report["records"]), (&json!("all"), &json!(12), &json!(64)));
    assert!(all["turns"].as_f64().is_some_and(|turns| (1.0..=6.0).contains(&turns)), "{all}");
    assert!(all["accepted"].as_f64().is_some_and(|share| share > 0.3), "{all}");
    let out = run(here, &["simulate", "--dialogues", "4", "--run", "--phrases", "hasty"]).succeeded().stdout;
    assert!(["correction: ", "phrases: hasty", "AT@3"].iter().all(|part| out.contains(part)), "{out}");
    for wrong in
        [&["simulate", "--same-turn", "2"][..], &["simulate", "--phrases", "loud"], &["simulate", "--turns", "3"]]
    {
        assert_eq!(run(here, wrong).code, 2, "{wrong:?}");
    }
}
