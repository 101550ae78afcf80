//! `lakeward task` with a model behind a server: its order weighs as much as it is trusted, and nothing where it is no order. And the way there: what `papers extract` finds is in the graph without being named.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::server::{Asked, Reply, Server, complains, says};

const TASK: &str = "find lanes in images of roads";
const RECORDS: [(&str, &str, &str); 6] = [
    ("cat/atlas", "LaneAtlas", "Images of roads with marked lanes from a camera in a car."),
    ("cat/signs", "SignBook", "Images of road signs in twelve countries."),
    ("cat/paths", "PathFinder", "Aerial images of roads and paths with their lanes."),
    ("cat/flock", "FlockCount", "Images of sheep with their number."),
    ("cat/rain", "RainGauge", "Rain by day and station."),
    ("cat/city", "CityPark", "Videos of parks from drones."),
];
const PAPER: &str = r#"{"id": "lanes", "title": "Lane Detection from One Camera", "year": 2021, "abstract": "We propose a network for lane detection in images of roads.", "sections": [{"heading": "Experiments", "text": "For lane detection we train and evaluate on the LaneAtlas dataset. We reach an accuracy of 91.2 % on LaneAtlas."}]}"#;

/// What a server answers to its question of this number.
type Script = fn(usize, &Asked) -> Reply;

fn run(lake: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
    for name in ["LAKEWARD_LLM_MODEL", "LAKEWARD_LLM_URL", "OPENAI_BASE_URL", "LAKEWARD_CONFIG"] {
        command.env_remove(name);
    }
    let output = command.arg("--lake").arg(lake).args(arguments).output().expect("the program");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

fn lake() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("lake")).expect("a folder");
    fs::write(at("lake/rain.csv"), "day,rain\n2021-01-01,3\n2021-01-02,0\n").expect("a file");
    let record = |(id, title, description): &(&str, &str, &str)| {
        json!({"id": id, "title": title, "description": description}).to_string() + "\n"
    };
    fs::write(at("records.jsonl"), RECORDS.iter().map(record).collect::<String>()).expect("a file");
    fs::write(at("papers.jsonl"), PAPER).expect("a file");
    let text = |name: &str| at(name).to_string_lossy().into_owned();
    run(&at("lake"), &["index", "--records", &text("records.jsonl")], 0);
    run(&at("lake"), &["papers", "add", &text("papers.jsonl")], 0);
    folder
}

/// Answers of `task` as JSON, and what was said besides.
fn asked(lake: &Path, server: Option<&Server>) -> (Value, String) {
    let url = server.map(Server::url).unwrap_or_default();
    let mut arguments = vec!["task", TASK, "--json"];
    if server.is_some() {
        arguments.extend(["--llm-url", &url, "--llm-model", "drill"]);
    }
    let (out, said) = run(lake, &arguments, 0);
    (serde_json::from_str(&out).expect("JSON"), said)
}

fn datasets(document: &Value) -> Vec<String> {
    let answers = document["answers"].as_array().expect("answers").iter();
    answers.map(|answer| answer["dataset"].as_str().expect("an id").to_string()).collect()
}

/// Opaque ids of the candidates in the order of `wanted`, which has their titles.
fn ids(asked: &Asked, wanted: &[String]) -> Vec<String> {
    let user = asked.body["messages"][1]["content"].as_str().unwrap_or_default();
    let told = user.lines().find_map(|line| line.strip_prefix("candidates: ")).expect("candidates");
    let told: Vec<Value> = serde_json::from_str(told).expect("JSON");
    let id = |title: &String| told.iter().find(|card| card["title"] == **title).and_then(|card| card["id"].as_str());
    wanted.iter().filter_map(id).map(str::to_string).collect()
}

#[test]
fn what_was_extracted_is_in_the_graph_and_a_model_is_heard_as_far_as_it_is_trusted() {
    let folder = lake();
    let lake = folder.path().join("lake");
    let (_, said) = run(&lake, &["graph", "build"], 3);
    assert!(said.contains("papers extract"), "{said}");
    run(&lake, &["papers", "extract"], 0);
    assert!(run(&lake, &["graph", "build", "--no-extractions"], 3).1.contains("no task graph"));
    let (built, _) = run(&lake, &["graph", "build"], 0);
    assert!(built.starts_with("1 paper, 1 task"), "{built}");
    assert!(run(&lake, &["graph", "build", "--anew", "--no-extractions"], 2).1.contains("`--anew`"));

    let (plain, _) = asked(&lake, None);
    let order = datasets(&plain);
    assert!(order.len() >= 4 && order[0] == "cat/atlas", "{order:?}");
    assert!(
        plain["order"].is_null() && plain["answers"][0]["description"].as_str().is_some_and(|text| !text.is_empty())
    );
    let shown = run(&lake, &["task", TASK], 0).0;
    assert!(shown.contains("dataset") && !shown.contains("rows") && !shown.contains('?'), "{shown}");
    assert!(!run(&lake, &["task", TASK, "--explain"], 0).0.contains("rows"));

    let titles: Vec<String> = plain["answers"]
        .as_array()
        .expect("answers")
        .iter()
        .map(|answer| answer["title"].as_str().expect("a title").to_string())
        .collect();
    let agreeing = titles.clone();
    let server = Server::new(move |_, asked| says(&json!({"ranking": ids(asked, &agreeing)}).to_string()));
    let (found, said) = asked(&lake, Some(&server));
    assert_eq!((datasets(&found), said.contains("did not rerank")), (order.clone(), false));
    let model = &found["order"];
    assert!(model["weight"] == 0.1 && model["tokens"] == 36 && model["calls"] == 2, "{model}");
    assert!(model["by"].as_str().is_some_and(|by| by.contains("rerank_datasets@2#")), "{model}");

    let mut turned = titles;
    turned.reverse();
    let server = Server::new(move |_, asked| says(&json!({"ranking": ids(asked, &turned)}).to_string()));
    // Another name of the model, or the answer kept of the first one would be taken.
    let (found, _) = run_as(&lake, &server, "turned");
    assert_eq!(datasets(&found)[0], order[0], "of a model that was not measured the order weighs little");
    fs::write(lake.join("lakeward.toml"), "[llm]\nranking = 1.0\n").expect("settings");
    let (found, _) = run_as(&lake, &server, "turned, trusted");
    let reversed: Vec<String> = order.iter().rev().cloned().collect();
    assert_eq!((datasets(&found), found["order"]["weight"].as_f64()), (reversed, Some(1.0)));

    let scripts: [(&str, Script); 4] = [
        ("garbage", |_, _| says("c01, c02")),
        ("foreign", |_, _| says(r#"{"ranking": ["c01", "c77"]}"#)),
        ("twice", |_, _| says(r#"{"ranking": ["c01", "c01"]}"#)),
        ("refuses", |_, _| complains(401, "no such key")),
    ];
    for (what, script) in scripts {
        let server = Server::new(script);
        let (found, said) = run_as(&lake, &server, what);
        assert_eq!(datasets(&found), order, "{what}");
        assert!(said.contains("in computed order") && found["order"]["trouble"].is_string(), "{what}: {said}");
    }
}

fn run_as(lake: &Path, server: &Server, name: &str) -> (Value, String) {
    let (out, said) = run(lake, &["task", TASK, "--json", "--llm-url", &server.url(), "--llm-model", name], 0);
    (serde_json::from_str(&out).expect("JSON"), said)
}

#[test]
fn a_search_for_a_task_is_replayed_without_the_model() {
    let folder = lake();
    let lake = folder.path().join("lake");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    run(&lake, &["papers", "extract"], 0);
    run(&lake, &["graph", "build"], 0);
    fs::write(lake.join("lakeward.toml"), "[llm]\nranking = 1.0\n").expect("settings");
    let turned = |_: usize, asked: &Asked| {
        let user = asked.body["messages"][1]["content"].as_str().unwrap_or_default();
        let told = user.lines().find_map(|line| line.strip_prefix("candidates: ")).expect("candidates");
        let mut told: Vec<Value> = serde_json::from_str(told).expect("JSON");
        told.sort_by_key(|card| std::cmp::Reverse(card["title"].to_string()));
        says(&json!({"ranking": told.iter().map(|card| &card["id"]).collect::<Vec<_>>()}).to_string())
    };
    let server = Server::new(turned);
    let (one, two) = (at("one.json"), at("two.json"));
    let asked = ["task", TASK, "--json", "--trace", &one, "--llm-url", &server.url(), "--llm-model", "turned"];
    let found: Value = serde_json::from_str(&run(&lake, &asked, 0).0).expect("JSON");
    drop(server);
    let trace: Value = serde_json::from_str(&fs::read_to_string(&one).expect("a trace")).expect("JSON");
    let lists: Vec<&Value> =
        trace["provenance"]["lists"].as_array().expect("lists").iter().map(|list| &list["by"]).collect();
    assert_eq!(lists, ["graph", "model", "answer"]);
    assert_eq!(trace["provenance"]["model"]["calls"].as_array().map(Vec::len), Some(2));

    let again: Value = serde_json::from_str(&run(&lake, &["replay", &one, "--json"], 0).0).expect("JSON");
    assert_eq!((&again["same"], &again["datasets"]), (&json!(true), &found["answers"]));
    assert!(run(&lake, &["replay", &one], 0).1.contains("the same answer, byte for byte"));

    run(&lake, &["task", TASK, "--no-llm", "--trace", &two], 0);
    assert!(run(&lake, &["task", TASK, "--trace", &two], 2).1.contains("exists already"));
    let parted = run(&lake, &["replay", &one, "--against", &two], 4).1;
    assert!(parted.contains("differ at `model`") && parted.contains("the language model changed"), "{parted}");
    // Another graph gives another answer, and the first step that it changes is named.
    let records = RECORDS.map(|(id, title, _)| json!({"id": id, "title": title, "description": "Rain."}).to_string());
    fs::write(at("records.jsonl"), records.join("\n")).expect("a file");
    run(&lake, &["index", "--records", &at("records.jsonl")], 0);
    run(&lake, &["graph", "build"], 0);
    let parted = run(&lake, &["replay", &two], 4).1;
    assert!(parted.contains("differ at `graph`") && parted.contains("the graph changed"), "{parted}");
    fs::write(&two, "{\"task_trace\": 9}").expect("a file");
    assert!(run(&lake, &["replay", &two], 2).1.contains("version 9"));
    assert!(run(&lake, &["replay", &one, "--against", &at("records.jsonl")], 2).1.contains("no trace"));
}

#[test]
fn names_are_put_to_a_model_once_it_is_trusted_with_them() {
    let folder = lake();
    let lake = folder.path().join("lake");
    let papers = folder.path().join("named.jsonl");
    let named = |paper: &str, name: &str| {
        json!({"paper": paper, "task": "find lanes", "datasets_not_in_corpus": [name]}).to_string()
    };
    fs::write(&papers, [named("p", "Atlas of Lanes"), named("q", "Signs from a Book")].join("\n")).expect("a file");
    let server = Server::new(|_, asked| {
        let user = asked.body["messages"][1]["content"].as_str().unwrap_or_default();
        let line = |name: &str| user.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let same = line("name: ") == "\"Atlas of Lanes\"" && line("title: ") == "\"LaneAtlas\"";
        let verdict = if same { "same" } else { "different" };
        says(&json!({"verdict": verdict, "reason": "An atlas of lanes it is."}).to_string())
    });
    let papers = papers.to_string_lossy().into_owned();
    let build = [
        "graph",
        "build",
        "--anew",
        "--no-extractions",
        "--papers",
        &papers,
        "--llm-url",
        &server.url(),
        "--llm-model",
        "judge",
    ];
    let (_, said) = run(&lake, &build, 0);
    assert!(said.contains("`lakeward model check`") && server.asked().is_empty(), "{said}");
    fs::write(lake.join("lakeward.toml"), "[llm]\nsame_dataset = 0.0\n").expect("settings");
    let (_, said) = run(&lake, &build, 0);
    assert!(!said.contains("model check") && server.asked().is_empty(), "{said}");
    assert!(!run(&lake, &["graph", "why", "Atlas of Lanes", "cat/atlas"], 1).0.contains("are one dataset"));

    fs::write(lake.join("lakeward.toml"), "[llm]\nsame_dataset = 0.9\n").expect("settings");
    run(&lake, &build, 0);
    assert!(!server.asked().is_empty());
    let (told, _) = run(&lake, &["graph", "why", "Atlas of Lanes", "cat/atlas"], 0);
    assert!(
        told.contains("are one dataset") && told.contains("An atlas of lanes it is.") && told.contains("judge@"),
        "{told}"
    );
    run(&lake, &["graph", "why", "Signs from a Book", "cat/atlas"], 1);
}
