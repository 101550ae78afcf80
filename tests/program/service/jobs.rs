//! Long work that nobody waits for: events that go on where they were, the answer, cancel.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::server::{Answer, Server};

const SLOW: &str = "SELECT count(*) AS n FROM lake.shops.sales a, lake.shops.sales b, lake.shops.sales c, lake.shops.sales d, lake.shops.sales e, lake.shops.sales f WHERE a.sales + b.sales + e.sales > c.sales + d.sales + f.sales";

fn begin(server: &Server, path: &str, body: &Value) -> (Answer, String) {
    let authorization = format!("Bearer {}", server.token);
    let headers =
        [("authorization", &*authorization), ("content-type", "application/json"), ("prefer", "respond-async, wait=1")];
    let answer = server.send("POST", path, &headers, body.to_string());
    let location = answer.header("location").to_string();
    (answer, location)
}

/// Number, name and data of each event.
fn events(text: &str) -> Vec<(usize, String, Value)> {
    let field = |frame: &str, name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::to_string);
    let frames = text.split("\n\n").filter_map(|frame| {
        let number = field(frame, "id: ")?.parse().expect("a number");
        let data = serde_json::from_str(&field(frame, "data: ")?).expect("JSON");
        Some((number, field(frame, "event: ")?, data))
    });
    frames.collect()
}

fn end_of(server: &Server, job: &str) -> Value {
    let started = Instant::now();
    loop {
        let known = server.get(job).json();
        let last = known["events"].as_array().and_then(|events| events.last()).expect("an event").clone();
        if !matches!(last["state"].as_str(), Some("waiting" | "running")) {
            return last;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{known}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_events_of_a_job_go_on_where_they_were_and_its_answer_is_the_usual_one() {
    let server = Server::start();
    assert_eq!(server.post("/api/v1/sessions", &json!({"name": "talk"})).status, StatusCode::OK);
    let plan = json!({"plan": {"version": 1, "source": {"table": "shops/sales"}, "steps": [{"limit": {"rows": 7}}]}});
    let (begun, job) = begin(&server, "/api/v1/sessions/talk/run", &plan);
    assert_eq!(
        (begun.status, begun.header("preference-applied")),
        (StatusCode::ACCEPTED, "respond-async"),
        "{}",
        begun.text()
    );
    assert!(job.starts_with("/api/v1/jobs/"), "{job}");
    let all = server.get(&format!("{job}/events"));
    assert_eq!(all.header("content-type"), "text/event-stream");
    let all = events(&all.text());
    let names: Vec<&str> = all.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!((names.first(), names.last()), (Some(&"waiting"), Some(&"done")), "{all:?}");
    assert!(all.iter().any(|(_, _, data)| data["what"] == "carrying it out"), "{all:?}");
    assert!(all.iter().enumerate().all(|(place, (number, ..))| *number == place + 1), "{all:?}");
    // Whoever lost the connection after the first one misses none and gets none twice.
    let authorization = format!("Bearer {}", server.token);
    let from = [("authorization", authorization.as_str()), ("last-event-id", "1")];
    assert_eq!(events(&server.send("GET", &format!("{job}/events"), &from, "").text()), all[1..]);
    let from = [("authorization", authorization.as_str()), ("last-event-id", "99")];
    assert_eq!(server.send("GET", &format!("{job}/events"), &from, "").text(), "");
    let answer = server.get(&format!("{job}/answer"));
    assert_eq!(
        (answer.status, answer.json()["outcome"]["rows"].as_u64()),
        (StatusCode::OK, Some(7)),
        "{}",
        answer.text()
    );
    // A failure is one here as it is elsewhere.
    let (_, failed) = begin(&server, "/api/v1/sql", &json!({"query": "SELECT nothing FROM lake.shops.sales"}));
    let last = end_of(&server, &failed);
    assert_eq!((&last["state"], &last["status"]), (&json!("failed"), &json!(400)), "{last}");
    assert_eq!(server.get(&format!("{failed}/answer")).status, StatusCode::BAD_REQUEST);
    for path in ["/api/v1/jobs/0", "/api/v1/jobs/0/events", "/api/v1/jobs/0/answer"] {
        assert_eq!(server.get(path).status, StatusCode::NOT_FOUND);
    }
    // Reading is answered at once whatever is preferred.
    let from = [("authorization", authorization.as_str()), ("prefer", "respond-async")];
    assert_eq!(server.send("GET", "/api/v1/search?q=sales", &from, "").status, StatusCode::OK);
}

#[test]
fn a_job_that_is_cancelled_stops_and_changes_nothing() {
    let server = Server::start();
    let (_, job) = begin(&server, "/api/v1/sql", &json!({"query": SLOW}));
    assert_eq!(server.get(&format!("{job}/answer")).status, StatusCode::ACCEPTED);
    let authorization = format!("Bearer {}", server.token);
    let cancelled = server.send("DELETE", &job, &[("authorization", &authorization)], "");
    assert_eq!(cancelled.status, StatusCode::OK, "{}", cancelled.text());
    let started = Instant::now();
    assert_eq!(end_of(&server, &job)["state"], "cancelled");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    // While all threads are busy others wait in vain, and are cancelled where they wait.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let busy: Vec<String> = (0..threads).map(|_| begin(&server, "/api/v1/sql", &json!({"query": SLOW})).1).collect();
    let made = server.lake.join(".lakeward/sessions");
    let (_, waiting) = begin(&server, "/api/v1/sessions", &json!({"name": "never"}));
    for job in std::iter::once(&waiting).chain(&busy) {
        server.send("DELETE", job, &[("authorization", &authorization)], "");
    }
    for job in &busy {
        assert_eq!(end_of(&server, job)["state"], "cancelled");
    }
    let state = end_of(&server, &waiting)["state"].clone();
    assert_eq!(state == "cancelled", !made.join("never.json").exists(), "{state}");
    assert!(server.get("/metrics").text().contains("lakeward_jobs 0"));
}

#[test]
fn a_job_is_its_users_alone_and_no_page_of_another_site_cancels_it() {
    let server = Server::start();
    let (cookie, own) = (server.log_in(), server.origin());
    let (_, job) = begin(&server, "/api/v1/sql", &json!({"query": SLOW}));
    let from = [("cookie", cookie.as_str()), ("origin", own.as_str())];
    assert_eq!(server.send("DELETE", &job, &from, "").status, StatusCode::FORBIDDEN);
    let from = [("cookie", cookie.as_str()), ("origin", "http://evil.example"), ("x-lakeward", "1")];
    assert_eq!(server.send("DELETE", &job, &from, "").status, StatusCode::FORBIDDEN);
    assert_eq!(server.send("GET", &format!("{job}/events"), &[], "").status, StatusCode::UNAUTHORIZED);
    let from = [("cookie", cookie.as_str()), ("origin", own.as_str()), ("x-lakeward", "1")];
    assert_eq!(server.send("DELETE", &job, &from, "").status, StatusCode::OK);
    assert_eq!(end_of(&server, &job)["state"], "cancelled");
    // Without the headers that only our own page can send, nothing begins.
    let from = [
        ("cookie", cookie.as_str()),
        ("origin", own.as_str()),
        ("prefer", "respond-async"),
        ("content-type", "application/json"),
    ];
    assert_eq!(
        server.send("POST", "/api/v1/sql", &from, json!({"query": SLOW}).to_string()).status,
        StatusCode::FORBIDDEN
    );
}
