//! The lake over HTTP: users, sessions, endpoints, changes of the index, the end.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::hostile_lake;
use super::scripts::{SKIPPED, run_script};
use super::server::{Server, program};
use crate::llm_server::server as llm_server;
use crate::place::Run;

// SHA-256 of the tokens "ana-token", "bob-token" and "eve-token".
fn token_file() -> String {
    let hash = |token: &str| {
        use sha2::Digest;
        sha2::Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let user = |name: &str, rest: &str| format!("[{name}]\nsha256 = \"{}\"\n{rest}\n", hash(&format!("{name}-token")));
    [
        user("ana", "rights = \"write\""),
        user("bob", "rights = \"write\""),
        user("eve", "rights = \"read\"\nrequests_per_minute = 5"),
    ]
    .concat()
}

#[test]
fn a_code_is_good_once_and_a_cookie_until_the_log_out() {
    let server = Server::of(hostile_lake::make, &["--log-requests"]);
    for wrong in ["", "Bearer ", "Bearer wrong", "Basic YTpi", &server.token] {
        assert_eq!(
            server.send("GET", "/api/v1/tables", &[("authorization", wrong)], "").status,
            StatusCode::UNAUTHORIZED
        );
    }
    assert_eq!(server.send("GET", "/api/v1/tables", &[], "").header("www-authenticate"), "Bearer");
    let to_login = server.send("GET", "/", &[("accept", "text/html")], "");
    assert_eq!((to_login.status, to_login.header("location")), (StatusCode::SEE_OTHER, "/login"));
    let cookie = server.log_in();
    assert_eq!(server.send("GET", &server.login, &[], "").status, StatusCode::FORBIDDEN);
    let page = server.send("GET", "/", &[("cookie", &cookie)], "");
    assert_eq!(page.status, StatusCode::OK);
    let text = page.text();
    let token = text.split("name=\"token\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a token");
    let own = server.origin();
    let from =
        [("cookie", cookie.as_str()), ("origin", own.as_str()), ("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(server.send("POST", "/logout", &from, format!("token={token}")).status, StatusCode::SEE_OTHER);
    assert_eq!(server.send("GET", "/", &[("cookie", &cookie)], "").status, StatusCode::UNAUTHORIZED);
    let secrets =
        [server.login.rsplit('=').next().expect("a code"), &server.token, cookie.rsplit('=').next().expect("a cookie")];
    let log = server.log_with("local GET / 200");
    assert!(log.contains("local GET / 200"), "{log}");
    assert!(secrets.iter().all(|secret| secret.len() == 64 && !log.contains(secret)), "{log}");
}

#[test]
fn users_have_sessions_rights_and_quotas_of_their_own() {
    let server = Server::for_users(&token_file());
    let made = server.post_as("ana-token", "/api/v1/sessions", &json!({"name": "mine"}));
    assert_eq!(made.status, StatusCode::OK, "{}", made.text());
    assert_eq!(server.get_as("ana-token", "/api/v1/sessions/mine").status, StatusCode::OK);
    assert_eq!(server.get_as("bob-token", "/api/v1/sessions/mine").status, StatusCode::NOT_FOUND);
    assert_eq!(server.get_as("bob-token", "/api/v1/sessions").json()["sessions"], json!([]));
    assert_eq!(server.post_as("eve-token", "/api/v1/sessions", &json!({})).status, StatusCode::FORBIDDEN);
    assert_eq!(server.post_as("eve-token", "/api/v1/ask", &json!({"text": "sales by city"})).status, StatusCode::OK);
    let refused =
        (0..5).map(|_| server.get_as("eve-token", "/api/v1/tables")).find(|answer| answer.status != StatusCode::OK);
    let refused = refused.expect("the quota");
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!((1..=60).contains(&refused.header("retry-after").parse::<u64>().expect("seconds")));
    assert_eq!(server.get_as("ana-token", "/api/v1/tables").status, StatusCode::OK);
}

#[test]
fn behind_a_proxy_a_token_is_traded_for_a_cookie_that_needs_https() {
    let server = Server::at_host("data.example.org", &token_file());
    let form = ("content-type", "application/x-www-form-urlencoded");
    let from = [("host", "data.example.org"), ("origin", "https://data.example.org"), form];
    assert_eq!(server.send("POST", "/login", &from, "secret=wrong").status, StatusCode::FORBIDDEN);
    let answer = server.send("POST", "/login", &from, "secret=ana-token");
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    assert!(answer.header("set-cookie").ends_with("; Secure"), "{}", answer.header("set-cookie"));
    let cookie = answer.header("set-cookie").split(';').next().expect("a cookie");
    let page = server.send("GET", "/", &[("host", "data.example.org"), ("cookie", cookie)], "");
    assert!(page.text().contains("Log out ana"), "{}", page.text());
}

#[test]
fn only_this_machine_is_served_without_a_token_file() {
    let server = Server::start();
    let run = Run::of(program(&server.lake, true).args(["serve", "--listen", "0.0.0.0:0"]));
    assert!(run.code == 2 && run.stderr.contains("--token-file"), "{run:?}");
}

#[test]
fn a_conversation_over_http_runs_and_undoes_operations() {
    let server = Server::start();
    let at = |action: &str| format!("/api/v1/sessions/talk/{action}");
    assert_eq!(server.post("/api/v1/sessions", &json!({"name": "talk"})).status, StatusCode::OK);
    let asked =
        server.post(&at("ask"), &json!({"text": "only the rows where the city is Ghent", "table": "shops/sales"}));
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.text());
    let asked = asked.json();
    assert_eq!((asked["session"].as_str(), asked["turn"].as_u64()), (Some("talk"), Some(1)));
    let plan = json!({"plan": {"version": 1, "source": {"table": "shops/sales"}, "steps": [{"limit": {"rows": 7}}]}});
    let preview = server.post(&at("preview"), &plan).json();
    assert_eq!(
        (preview["rows_out"].as_u64(), preview["sample"].as_array().map(Vec::len)),
        (Some(7), Some(7)),
        "{preview}"
    );
    let ran = server.post(&at("run"), &plan);
    assert_eq!(ran.status, StatusCode::OK, "{}", ran.text());
    assert_eq!((ran.json()["step"].as_u64(), ran.json()["outcome"]["rows"].as_u64()), (Some(1), Some(7)));
    let csv = server.get(&at("result?format=csv"));
    assert_eq!(csv.header("content-disposition"), "attachment; filename=\"talk-result-1.csv\"");
    assert_eq!(csv.text().lines().count(), 8);
    assert!(csv.text().starts_with("shop,city,year,sales\n"), "{}", csv.text());
    assert!(server.get(&at("result?step=1&format=parquet")).body.starts_with(b"PAR1"));
    let undone = server.post(&at("undo"), &json!({})).json();
    assert_eq!(undone["steps"][0]["undone"], json!(true));
    assert_eq!(server.post(&at("undo"), &json!({})).status, StatusCode::BAD_REQUEST);
    let redone = server.post(&at("redo"), &json!({})).json();
    assert_eq!(redone["steps"][0]["undone"], json!(false));
    assert_eq!(server.post(&at("redo"), &json!({})).status, StatusCode::BAD_REQUEST);
    assert_eq!(server.get(&at("result?step=9")).status, StatusCode::BAD_REQUEST);
    let chosen = server.post(&at("choose"), &json!({"table": "shops/cities", "accepted": true})).json();
    assert_eq!(chosen["accepted"][0]["table"], json!("shops/cities"));
}

#[test]
fn of_two_writers_none_loses_a_turn() {
    let server = Server::start();
    let made = server.post("/api/v1/sessions", &json!({"name": "shared"})).json();
    let revision = made["revision"].as_u64().expect("a revision");
    let path = "/api/v1/sessions/shared/ask";
    let first = server.post(path, &json!({"text": "sales by city", "revision": revision}));
    assert_eq!(first.status, StatusCode::OK, "{}", first.text());
    let second = server.post(path, &json!({"text": "population of cities", "revision": revision}));
    assert_eq!(second.status, StatusCode::CONFLICT, "{}", second.text());
    let newer = second.json();
    assert_eq!(newer["session"]["turns"].as_array().map(Vec::len), Some(1), "{newer}");
    assert!(newer["session"]["revision"].as_u64() > Some(revision));
    // Without a revision they wait for each other.
    let answers = server.post_at_once(path, &json!({"text": "sales by city"}), 8);
    assert!(answers.iter().all(|answer| answer.status == StatusCode::OK), "{answers:?}");
    let session = server.get("/api/v1/sessions/shared").json();
    assert_eq!(session["turns"].as_array().map(Vec::len), Some(9));
}

#[test]
fn mistakes_are_reported_as_json_with_a_hint_and_without_the_path_of_the_lake() {
    let server = Server::start();
    let unknown = server.get("/api/v1/profile?table=shops%2Fsale");
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert!(unknown.json()["hint"].as_str().expect("a hint").contains("`shops/sales`"));
    let found = server.get("/api/v1/columns?q=city&k=1").json();
    assert_eq!(found["answers"][0]["column"], "city", "{found}");
    let column = server.get("/api/v1/correlate?table=shops%2Fsales&target=citi");
    assert!(column.status.is_client_error(), "{}", column.text());
    assert!(column.json()["hint"].as_str().expect("a hint").contains("`city`"));
    for (path, status) in [
        ("/api/v1/correlate?table=x", 400),
        ("/api/v1/search", 400),
        ("/api/v1/columns?text=x", 400),
        ("/api/v1/search?q=x&k=many", 400),
        ("/api/v1/nothing", 404),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text());
        assert!(answer.json()["error"].is_string(), "{path}");
    }
    for body in [json!({"txt": "x"}), json!([]), json!({"text": 3})] {
        let answer = server.post("/api/v1/ask", &body);
        assert!(answer.status.is_client_error() && answer.json()["error"].is_string(), "{}", answer.text());
    }
    std::fs::remove_file(server.lake.join("shops/cities.csv")).expect("a file");
    let gone = server.get("/api/v1/join?table=shops%2Fcities");
    let lake = server.lake.to_str().expect("UTF-8");
    assert!(gone.status.is_server_error() && !gone.text().contains(lake), "{}", gone.text());
}

#[test]
fn the_openapi_document_describes_what_is_served() {
    let server = Server::start();
    let document = server.get("/api/v1/openapi.json").json();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    check_references(&document, &|name| schemas.contains_key(name));
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let path = path.replace("{id}", "unknown");
        for method in methods.as_object().expect("methods").keys() {
            let authorization = format!("Bearer {}", server.token);
            let answer = server.send(&method.to_uppercase(), &path, &[("authorization", &authorization)], "");
            assert!(!answer.text().contains("nothing at this path"), "{path}");
            assert_ne!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        }
    }
    let search = &document["paths"]["/api/v1/search"]["get"]["parameters"];
    let required = |name: &str| {
        search.as_array().expect("a list").iter().find(|it| it["name"] == name).map(|it| it["required"].clone())
    };
    assert_eq!((required("q"), required("k")), (Some(json!(true)), Some(json!(false))));
    let metrics = server.get("/metrics").text();
    assert!(metrics.contains("lakeward_requests_total{route=\"/api/v1/openapi.json\",status=\"200\"} 1"), "{metrics}");
}

/// Every reference leads to a schema of the document.
fn check_references(value: &Value, is_known: &dyn Fn(&str) -> bool) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| check_references(value, is_known)),
        Value::Object(members) => {
            if let Some(Value::String(to)) = members.get("$ref") {
                let name = to.strip_prefix("#/components/schemas/").unwrap_or_else(|| panic!("{to}"));
                assert!(is_known(name), "{to}");
            }
            members.values().for_each(|value| check_references(value, is_known));
        }
        _ => {}
    }
}

#[test]
fn a_new_index_is_seen_and_changes_no_answer_in_flight() {
    let server = Server::start();
    let slow = json!({"query": "SELECT count(*) AS n FROM lake.shops.sales a, lake.shops.sales b, lake.shops.sales c, lake.shops.sales d WHERE a.sales + b.sales > c.sales + d.sales"});
    let before = server.post("/api/v1/sql", &slow).json()["rows"].clone();
    std::thread::scope(|scope| {
        let answers = scope.spawn(|| server.post_at_once("/api/v1/sql", &slow, 8));
        std::fs::write(server.lake.join("volcanoes.csv"), "volcano,height\nEtna,3357\nTeide,3715\n").expect("a file");
        let built =
            program(&server.lake, true).args(["index", "--quiet"]).arg(&server.lake).status().expect("the program");
        assert!(built.success());
        for answer in answers.join().expect("answers") {
            assert_eq!((answer.status, answer.json()["rows"].clone()), (StatusCode::OK, before.clone()));
        }
    });
    let found = (0..20).find_map(|_| {
        std::thread::sleep(Duration::from_millis(200));
        let list = server.get("/api/v1/tables?containing=volcanoes").json();
        list["tables"].as_array().filter(|tables| !tables.is_empty()).cloned()
    });
    assert_eq!(found.expect("the new table")[0]["rows"], json!(2));
}

#[test]
fn the_end_waits_for_answers_in_flight() {
    let mut server = Server::start();
    let query = "SELECT count(*) AS n FROM lake.shops.sales a, lake.shops.sales b, lake.shops.sales c, lake.shops.sales d WHERE a.sales + b.sales > c.sales + d.sales";
    let answer = std::thread::scope(|scope| {
        let answer = scope.spawn(|| server.post_at_once("/api/v1/sql", &json!({"query": query}), 2));
        std::thread::sleep(Duration::from_millis(40));
        server.terminate();
        answer.join().expect("answers")
    });
    assert!(answer.iter().all(|answer| answer.status == StatusCode::OK), "{answer:?}");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_reported() {
    let server = Server::start();
    let address = format!("127.0.0.1:{}", server.port);
    let run = Run::of(program(&server.lake, true).args(["serve", "--listen", &address]));
    assert!(run.code == 2 && run.stderr.contains("cannot listen on"), "{run:?}");
}

#[test]
fn the_official_client_over_http() {
    let server = Server::start();
    if !run_script("mcp_client.py", &["http", &format!("{}/mcp", server.origin()), &server.token]) {
        println!("{SKIPPED}");
    }
}

#[test]
fn the_official_conformance_suite() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let server = Server::of(hostile_lake::make, &["--host", &hosts[0], "--host", &hosts[1]]);
    if !run_script("conformance.py", &[&server.origin(), &server.token, &port.to_string()]) {
        println!("{SKIPPED}");
    }
}

#[test]
fn a_citation_and_a_map_are_documents_too() {
    let server = Server::of(hostile_lake::make_sample, &[]);
    let cited = server.get("/api/v1/cite?id=geo%2Fcountries");
    assert_eq!(cited.status, StatusCode::OK, "{}", cited.text());
    assert!(cited.json()["citations"][0]["bibtex"].as_str().expect("BibTeX").starts_with('@'), "{}", cited.text());
    let unknown = server.get("/api/v1/cite?id=geo%2Fcountry");
    assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{}", unknown.text());
    let map = server.get("/api/v1/map?about=population+of+countries&k=12").json();
    let (tables, topics) = (map["tables"].as_array().expect("tables"), map["topics"].as_array().expect("topics"));
    assert!((1..=12).contains(&tables.len()) && (1..=4).contains(&topics.len()), "{map}");
    let links = map["links"].as_array().expect("links");
    assert!(!links.is_empty(), "{map}");
    for link in links {
        let ends: Vec<u64> = link["tables"].as_array().expect("two").iter().filter_map(Value::as_u64).collect();
        assert!(ends.len() == 2 && ends[0] < ends[1] && ends[1] < tables.len() as u64, "{link}");
        assert!((0.5..=1.0).contains(&link["strength"].as_f64().expect("a number")), "{link}");
    }
    let joins = server.get("/api/v1/map?about=population+of+countries&k=12&kind=join").json();
    assert!(joins["links"].as_array().expect("links").iter().all(|link| link["kind"] == "join"));
    let around = server.get("/api/v1/map?table=geo%2Fcountries&least=0.1").json();
    assert!(around["tables"].as_array().expect("tables").iter().any(|it| it["table"] == "geo/countries"), "{around}");
    assert_eq!(server.get("/api/v1/map?table=nothing").status, StatusCode::NOT_FOUND);
}

#[test]
fn whoever_has_spent_their_tokens_is_answered_without_the_model() {
    let model = llm_server::Server::new(|_, _| llm_server::says("{}"));
    let users = token_file().replacen("rights", "model_tokens_per_day = 5\nrights", 1);
    let server = Server::with_model(&model.url(), &users);
    let ask = |token: &str| {
        let answer = server.post_as(token, "/api/v1/ask", &json!({"text": "sales of shops by city"}));
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        answer.json()
    };
    let first = ask("ana-token");
    assert!(first["model"]["calls"].as_u64() > Some(0) && first["model_not_asked"].is_null(), "{first}");
    let before = model.asked().len();
    let spent = ask("ana-token");
    assert!(
        spent["model"].is_null() && spent["model_not_asked"].as_str().is_some_and(|why| why.contains("used up")),
        "{spent}"
    );
    assert_eq!(model.asked().len(), before);
    assert!(ask("bob-token")["model"]["calls"].as_u64() > Some(0));
}
