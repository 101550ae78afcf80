//! `[llm.parts]`: several roles by several models of two servers, each asked for its part alone and with its own key.

use serde_json::{Value, json};

use super::KEY;
use super::server::{Asked, Reply, Server, says};
use crate::place::{Folder, Run, lakeward};

/// As a sensible model: what is asked for tells which answer.
fn answers(_: usize, asked: &Asked) -> Reply {
    let user = asked.body["messages"][1]["content"].as_str().unwrap_or_default();
    let line = |name: &str| {
        let line = user.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("null");
        serde_json::from_str::<Value>(line).expect("JSON")
    };
    let answer = match asked.body["response_format"]["json_schema"]["name"].as_str() {
        Some("reading") => {
            let topic = json!({"role": "topic", "words": line("request: "), "avoid": false, "from": null, "to": null});
            json!({
                "acts": ["new"], "operation": "Filter", "intention": "Exploration", "plan": null, "missing": [], "unsure": "",
                "wanted": [topic], "answers": [], "count": null, "steps": null,
            })
        }
        Some("ranking") => {
            let cards = line("candidates: ");
            json!({"ranking": cards.as_array().expect("candidates").iter().map(|card| &card["id"]).collect::<Vec<_>>()})
        }
        Some("answer") => {
            let first = &line("tables: ")[0];
            let text = format!("{} serves the request.", first["title"].as_str().expect("a title"));
            json!({"sentences": [{"text": text, "tables": ["t1"], "evidence": [first["evidence"][0]["id"]]}]})
        }
        other => panic!("asked for {other:?}"),
    };
    says(&answer.to_string())
}

fn run(folder: &Folder, settings: &str, keys: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = lakeward(arguments);
    command.env("LAKEWARD_CONFIG", folder.write("settings.toml", settings)).envs(keys.iter().copied());
    Run::of(command.env("LAKEWARD_LAKE", folder.at("lake"))).succeeded()
}

/// Models that a server was asked for, each with the shape of the answer and whether a key came with it.
fn asked(server: &Server) -> Vec<(String, String, Option<String>)> {
    let of = |asked: &Asked| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let shape = text(&asked.body["response_format"]["json_schema"]["name"]);
        (text(&asked.body["model"]), shape, asked.header("authorization").map(str::to_string))
    };
    let mut all: Vec<_> = server.asked().iter().map(of).collect();
    all.dedup();
    all
}

#[test]
fn each_part_is_asked_of_its_own_model_and_server() {
    let folder = Folder::of(&[
        ("lake/rain.csv", "day,rain_mm\n2021-01-01,3\n2021-01-02,0\n"),
        ("lake/rainfall.csv", "month,rainfall_mm\n1,30\n2,12\n"),
        ("lake/snow.csv", "day,snow_cm\n2021-01-01,3\n2021-01-02,0\n"),
    ]);
    let (main, other) = (Server::new(answers), Server::new(answers));
    let settings = |ranker: &str| {
        format!(
            "[llm]\nurl = \"{}\"\nmodel = \"reads\"\nreading = 1.0\nranking = 1.0\njudging = 0.0\n[llm.parts]\nwriter = \"writes\"\n\
             ranker = {ranker}\n",
            main.url()
        )
    };
    let elsewhere = settings(&format!("{{ model = \"orders\", url = \"{}\" }}", other.url()));
    run(&folder, &elsewhere, &[], &["--no-llm", "index"]);
    let found = run(&folder, &elsewhere, &[("LAKEWARD_LLM_KEY", KEY)], &["ask", "rain of each day", "--json"]).json();
    assert!(found["tables"][0]["model_rank"].is_u64() && found["summary"][0]["by_model"] == true, "{found}");
    let bearer = |key: &str| Some(format!("Bearer {key}"));
    let part = |model: &str, shape: &str, key: Option<String>| (model.to_string(), shape.to_string(), key);
    assert_eq!(asked(&main), [part("reads", "reading", bearer(KEY)), part("writes", "answer", bearer(KEY))]);
    assert_eq!(asked(&other), [part("orders", "ranking", None)], "no key of another server");

    // A key of its own goes to it alone.
    let own = "sk-for-the-other-server";
    let keys = [("LAKEWARD_LLM_KEY", KEY), ("LAKEWARD_LLM_RANKER_KEY", own)];
    run(&folder, &elsewhere, &keys, &["ask", "snow of each day", "--json"]);
    assert_eq!(asked(&other).last(), Some(&part("orders", "ranking", bearer(own))));
    assert!(asked(&main).iter().all(|(_, _, key)| *key == bearer(KEY)));

    // Each is told and measured by its own name.
    let shown = run(&folder, &elsewhere, &[], &["model", "show"]).stdout;
    let line = shown.lines().find(|line| line.starts_with("ordering candidates")).expect("a line");
    assert!(line.contains("orders@127.0.0.1") && !line.contains("reads@"), "{shown}");

    // A server that is gone leaves its part undone, and says so.
    let gone = other.url();
    drop(other);
    let settings = settings(&format!("{{ model = \"orders\", url = \"{gone}\" }}"));
    let found = run(&folder, &settings, &[], &["ask", "rain and snow", "--json"]).json();
    assert!(found["tables"][0]["model_rank"].is_null(), "{found}");
    assert!(found["notes"].to_string().contains("ordering"), "{}", found["notes"]);
}
