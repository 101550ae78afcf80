//! `lakeward task` with a model behind a server: its order weighs as much as it is trusted, and nothing where it is no order. And the way there: what `papers extract` finds is in the graph without being named.

use serde_json::{Value, json};

use super::server::{Asked, Reply, Server, complains, says};
use crate::place::{Folder, Run, lakeward};

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

fn run(folder: &Folder, arguments: &[&str], code: i32) -> (String, String) {
    let run = Run::of(lakeward(arguments).env("LAKEWARD_LAKE", folder.at("lake")));
    assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
    (run.stdout, run.stderr)
}

fn lake() -> Folder {
    let record = |(id, title, description): &(&str, &str, &str)| {
        json!({"id": id, "title": title, "description": description}).to_string() + "\n"
    };
    let folder = Folder::of(&[
        ("lake/rain.csv", "day,rain\n2021-01-01,3\n2021-01-02,0\n"),
        ("records.jsonl", &RECORDS.iter().map(record).collect::<String>()),
        ("papers.jsonl", PAPER),
    ]);
    run(&folder, &["index", "--records", &folder.text("records.jsonl")], 0);
    run(&folder, &["papers", "add", &folder.text("papers.jsonl")], 0);
    folder
}

/// Answers of `task` as JSON, and what was said besides.
fn asked(folder: &Folder, more: &[&str]) -> (Value, String) {
    let (out, said) = run(folder, &[&["task", TASK, "--json"], more].concat(), 0);
    (serde_json::from_str(&out).expect("JSON"), said)
}

/// The same with the model at a server, called `name`.
fn asked_as(folder: &Folder, server: &Server, name: &str) -> (Value, String) {
    asked(folder, &["--llm-url", &server.url(), "--llm-model", name])
}

fn datasets(document: &Value) -> Vec<String> {
    let answers = document["answers"].as_array().expect("answers").iter();
    answers.map(|answer| answer["dataset"].as_str().expect("an id").to_string()).collect()
}

/// The candidates that a prompt lists.
fn candidates(asked: &Asked) -> Vec<Value> {
    let user = asked.body["messages"][1]["content"].as_str().unwrap_or_default();
    let listed = user.lines().find_map(|line| line.strip_prefix("candidates: ")).expect("candidates");
    serde_json::from_str(listed).expect("JSON")
}

/// Opaque ids of the candidates in the order of these titles.
fn ids(asked: &Asked, titles: &[String]) -> Vec<String> {
    let listed = candidates(asked);
    let id = |title: &String| listed.iter().find(|card| card["title"] == **title).and_then(|card| card["id"].as_str());
    titles.iter().filter_map(id).map(str::to_string).collect()
}

#[test]
fn what_was_extracted_is_in_the_graph_and_a_model_is_heard_as_far_as_it_is_trusted() {
    let lake = lake();
    let (_, said) = run(&lake, &["graph", "build"], 3);
    assert!(said.contains("papers extract"), "{said}");
    run(&lake, &["papers", "extract"], 0);
    assert!(run(&lake, &["graph", "build", "--no-extractions"], 3).1.contains("no task graph"));
    let (built, _) = run(&lake, &["graph", "build"], 0);
    assert!(built.starts_with("1 paper, 1 task"), "{built}");
    assert!(run(&lake, &["graph", "build", "--anew", "--no-extractions"], 2).1.contains("`--anew`"));

    let (plain, _) = asked(&lake, &[]);
    let order = datasets(&plain);
    assert!(order.len() >= 4 && order[0] == "cat/atlas", "{order:?}");
    assert!(
        plain["order"].is_null() && plain["answers"][0]["description"].as_str().is_some_and(|text| !text.is_empty())
    );
    let shown = run(&lake, &["task", TASK], 0).0;
    assert!(shown.contains("dataset") && !shown.contains("rows") && !shown.contains('?'), "{shown}");
    assert!(!run(&lake, &["task", TASK, "--explain"], 0).0.contains("rows"));

    let answers = plain["answers"].as_array().expect("answers").iter();
    let titles: Vec<String> = answers.map(|answer| answer["title"].as_str().expect("a title").to_string()).collect();
    let agreeing = titles.clone();
    let server = Server::new(move |_, asked| says(&json!({"ranking": ids(asked, &agreeing)}).to_string()));
    let (found, said) = asked_as(&lake, &server, "drill");
    assert_eq!((datasets(&found), said.contains("did not rerank")), (order.clone(), false));
    let model = &found["order"];
    assert!(model["weight"] == 0.1 && model["tokens"] == 36 && model["calls"] == 2, "{model}");
    assert!(model["by"].as_str().is_some_and(|by| by.contains("rerank_datasets@2#")), "{model}");

    let mut turned = titles;
    turned.reverse();
    let server = Server::new(move |_, asked| says(&json!({"ranking": ids(asked, &turned)}).to_string()));
    // Another name of the model, or the answer kept of the first one would be taken.
    let (found, _) = asked_as(&lake, &server, "turned");
    assert_eq!(datasets(&found)[0], order[0], "of a model that was not measured the order weighs little");
    lake.write("lake/lakeward.toml", "[llm]\nranking = 1.0\n");
    let (found, _) = asked_as(&lake, &server, "turned, trusted");
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
        let (found, said) = asked_as(&lake, &server, what);
        assert_eq!(datasets(&found), order, "{what}");
        assert!(said.contains("in computed order") && found["order"]["trouble"].is_string(), "{what}: {said}");
    }
}

#[test]
fn a_search_for_a_task_is_replayed_without_the_model() {
    let lake = lake();
    run(&lake, &["papers", "extract"], 0);
    run(&lake, &["graph", "build"], 0);
    lake.write("lake/lakeward.toml", "[llm]\nranking = 1.0\n");
    let turned = |_: usize, asked: &Asked| {
        let mut listed = candidates(asked);
        listed.sort_by_key(|card| std::cmp::Reverse(card["title"].to_string()));
        says(&json!({"ranking": listed.iter().map(|card| &card["id"]).collect::<Vec<_>>()}).to_string())
    };
    let server = Server::new(turned);
    let (one, two) = (lake.text("one.json"), lake.text("two.json"));
    let (found, _) = asked(&lake, &["--trace", &one, "--llm-url", &server.url(), "--llm-model", "turned"]);
    drop(server);
    let trace: Value = serde_json::from_slice(&std::fs::read(&one).expect("a trace")).expect("JSON");
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
    lake.write("records.jsonl", records.join("\n"));
    run(&lake, &["index", "--records", &lake.text("records.jsonl")], 0);
    run(&lake, &["graph", "build"], 0);
    let parted = run(&lake, &["replay", &two], 4).1;
    assert!(parted.contains("differ at `graph`") && parted.contains("the graph changed"), "{parted}");
    lake.write("two.json", "{\"task_trace\": 9}");
    assert!(run(&lake, &["replay", &two], 2).1.contains("version 9"));
    assert!(run(&lake, &["replay", &one, "--against", &lake.text("records.jsonl")], 2).1.contains("no trace"));
}

#[test]
fn names_are_put_to_a_model_once_it_is_trusted_with_them() {
    let lake = lake();
    let named = |paper: &str, name: &str| {
        json!({"paper": paper, "task": "find lanes", "datasets_not_in_corpus": [name]}).to_string()
    };
    lake.write("named.jsonl", [named("p", "Atlas of Lanes"), named("q", "Signs from a Book")].join("\n"));
    let server = Server::new(|_, asked| {
        let user = asked.body["messages"][1]["content"].as_str().unwrap_or_default();
        let line = |name: &str| user.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let same = line("name: ") == "\"Atlas of Lanes\"" && line("title: ") == "\"LaneAtlas\"";
        let verdict = if same { "same" } else { "different" };
        says(&json!({"verdict": verdict, "reason": "An atlas of lanes it is."}).to_string())
    });
    let (papers, url) = (lake.text("named.jsonl"), server.url());
    let model = ["--papers", &papers, "--llm-url", &url, "--llm-model", "judge"];
    let build = [&["graph", "build", "--anew", "--no-extractions"], &model[..]].concat();
    let (_, said) = run(&lake, &build, 0);
    assert!(said.contains("`lakeward model check`") && server.asked().is_empty(), "{said}");
    lake.write("lake/lakeward.toml", "[llm]\nsame_dataset = 0.0\n");
    let (_, said) = run(&lake, &build, 0);
    assert!(!said.contains("model check") && server.asked().is_empty(), "{said}");
    assert!(!run(&lake, &["graph", "why", "Atlas of Lanes", "cat/atlas"], 1).0.contains("are one dataset"));

    lake.write("lake/lakeward.toml", "[llm]\nsame_dataset = 0.9\n");
    run(&lake, &build, 0);
    assert!(!server.asked().is_empty());
    let (reason, _) = run(&lake, &["graph", "why", "Atlas of Lanes", "cat/atlas"], 0);
    assert!(
        reason.contains("are one dataset") && reason.contains("An atlas of lanes it is.") && reason.contains("judge@"),
        "{reason}"
    );
    run(&lake, &["graph", "why", "Signs from a Book", "cat/atlas"], 1);
}
