//! What is kept of how answers are used: nothing without consent, and what it says.

use serde_json::Value;

use super::hostile_lake;
use super::server::{Server, program};
use crate::place::Run;

fn report(server: &Server) -> Value {
    Run::of(program(&server.lake, true).args(["usage", "--json"])).succeeded().json()
}

fn links(page: &str) -> Vec<String> {
    let found = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    found.filter(|it| it.starts_with("/table?")).map(|it| it.replace("&amp;", "&")).collect()
}

#[test]
fn nothing_is_kept_without_consent() {
    let server = Server::start();
    let cookie = server.log_in();
    let page = server.send("GET", "/search?q=sales+of+shops", &[("cookie", &cookie)], "").text();
    server.send("GET", &links(&page)[0], &[("cookie", &cookie)], "");
    assert!(!page.contains("are kept") && !server.lake.join(".lakeward/usage.jsonl").exists());
    let run = Run::of(program(&server.lake, true).arg("usage"));
    assert!(run.stderr.contains("record = true"), "{run:?}");
}

#[test]
fn with_consent_clicks_are_counted_and_two_rankings_are_compared() {
    let weights =
        std::fs::read_to_string(format!("{}/crates/search/src/weights.json", crate::REPOSITORY)).expect("weights");
    let make = |folder: &std::path::Path| {
        hostile_lake::make(folder);
        std::fs::write(folder.join("lakeward.toml"), "[usage]\nrecord = true\ncompare = \"other.json\"\n")
            .expect("a file");
        std::fs::write(folder.join("other.json"), weights).expect("a file");
    };
    let server = Server::of(make, &[]);
    let cookie = server.log_in();
    let get = |path: &str| server.send("GET", path, &[("cookie", &cookie)], "");
    let page = get("/search?q=sales+of+shops").text();
    assert!(page.contains("are kept"), "{page}");
    assert_eq!(get(&links(&page)[0]).status, 200);
    let second = get("/search?q=population+of+cities").text();
    assert!(!links(&second).is_empty());
    let found = report(&server);
    assert_eq!((found["shown"].as_u64(), found["clicked"].as_u64()), (Some(2), Some(1)), "{found}");
    assert_eq!((found["click_through_rate"].as_f64(), found["mean_reciprocal_rank"].as_f64()), (Some(0.5), Some(0.5)));
    assert_eq!(found["unanswered"][0]["request"], "population of cities");
    let compared = &found["comparison"];
    let wins = compared["a"].as_u64().zip(compared["b"].as_u64()).map(|(a, b)| a + b);
    assert_eq!((compared["answers"].as_u64(), wins), (Some(1), Some(1)), "{found}");
    let kept = std::fs::read_to_string(server.lake.join(".lakeward/usage.jsonl")).expect("a file");
    assert!(!kept.contains("local") && !kept.contains(cookie.rsplit('=').next().expect("a cookie")), "{kept}");
    Run::of(program(&server.lake, true).args(["usage", "--forget"])).succeeded();
    assert!(!server.lake.join(".lakeward/usage.jsonl").exists());
}
