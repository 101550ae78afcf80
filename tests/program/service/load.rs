//! Many who ask at once, whether or not the answers before have come: 40 searches and 5 asks a second, with an update of the index in the middle.
//!
//! A short form runs with the tests, on the sample lake; `LAKEWARD_LOAD_SECONDS=300` and `LAKEWARD_BENCH` measure, on the tables of LakeBench.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use super::hostile_lake;
use super::server::{Server, program};

/// Requests a second.
const SEARCHES: u32 = 40;
const ASKS: u32 = 5;
/// Requests that everybody asks; each time with a number of its own.
const WORDS: [&str; 8] = [
    "population of countries",
    "airports with passengers",
    "energy use by state",
    "prices of houses",
    "films and their actors",
    "temperature by month",
    "results of elections",
    "schools in cities",
];

fn quantile(latencies: &mut [f64], share: f64) -> f64 {
    latencies.sort_by(f64::total_cmp);
    latencies
        .get(((latencies.len() as f64 * share) as usize).min(latencies.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0.0)
}

#[test]
fn an_open_load_is_carried_while_the_index_is_updated() {
    let seconds = std::env::var("LAKEWARD_LOAD_SECONDS").ok().and_then(|it| it.parse().ok());
    let bench = std::env::var_os("LAKEWARD_BENCH").map(|it| PathBuf::from(it).join("lakebench-webtable/lake"));
    let bench = bench.filter(|lake| seconds.is_some() && lake.is_dir());
    let make = |folder: &Path| match &bench {
        Some(lake) => hostile_lake::make_copy(lake, folder),
        None => hostile_lake::make_sample(folder),
    };
    let server = Server::of(make, &[]);
    let seconds = seconds.unwrap_or(4_u32);
    let ask = |place: u32| json!({"text": format!("{} {}", WORDS[place as usize % WORDS.len()], 1990 + place % 40)});
    for place in 0..WORDS.len() as u32 {
        server.get(&format!("/api/v1/search?q={}", WORDS[place as usize].replace(' ', "+")));
        server.post("/api/v1/ask", &ask(place));
    }
    let before = server.memory_bytes();
    let (mut searches, mut asks, mut updated) = (Vec::new(), Vec::new(), None);
    let started = Instant::now();
    std::thread::scope(|scope| {
        let update = scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(u64::from(seconds) / 2));
            std::fs::write(server.lake.join("volcanoes.csv"), "volcano,height\nEtna,3357\nTeide,3715\n")
                .expect("a file");
            let begun = Instant::now();
            let built =
                program(&server.lake, true).args(["index", "--quiet"]).arg(&server.lake).status().expect("the program");
            assert!(built.success());
            begun.elapsed()
        });
        let requests = (0..seconds * (SEARCHES + ASKS)).map(|number| {
            let at = Duration::from_secs_f64(f64::from(number) / f64::from(SEARCHES + ASKS));
            match number % ((SEARCHES + ASKS) / ASKS) {
                0 => (at, "POST", "/api/v1/ask".to_string(), ask(number).to_string()),
                _ => (
                    at,
                    "GET",
                    format!(
                        "/api/v1/search?q={}+{}",
                        WORDS[number as usize % WORDS.len()].replace(' ', "+"),
                        1990 + number % 40
                    ),
                    String::new(),
                ),
            }
        });
        for (method, status, latency) in server.open_load(started, requests.collect()) {
            assert_eq!(status, 200, "{method}");
            if method == "POST" { asks.push(latency) } else { searches.push(latency) }
        }
        updated = Some(update.join().expect("an update"));
    });
    let after = server.memory_bytes();
    let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| quantile(&mut searches, share));
    let of_asks = [0.5, 0.95, 0.99].map(|share| quantile(&mut asks, share));
    println!(
        "{} searches: p50 {p50:.1}, p95 {p95:.1}, p99 {p99:.1} ms; {} asks: {of_asks:.1?} ms; memory {} → {} MB; update {:.1?}",
        searches.len(),
        asks.len(),
        before >> 20,
        after >> 20,
        updated.expect("an update")
    );
    // Figures are for quiet machines; here all is answered, and nothing grows with the number of requests.
    assert!(p95 < 5_000.0 && after < before + (256 << 20), "{before} {after}");
    let volcanoes = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(200));
        server.get("/api/v1/tables?containing=volcanoes").json()["tables"].as_array().is_some_and(|it| !it.is_empty())
    });
    assert!(volcanoes);
}
