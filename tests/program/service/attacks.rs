//! Attacks on a service that listens on a person's machine: from a page in their browser, and from whoever reaches the port.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::json;

use super::server::Server;

/// Time within which a client that does not go on is cut off.
const CUT_OFF: Duration = Duration::from_secs(25);

#[test]
fn other_hosts_are_refused_as_dns_rebinding_needs_one() {
    let server = Server::start();
    let port = server.port;
    for host in [
        "evil.example",
        "127.0.0.1.nip.io",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        "localhost",
        "",
        "127.0.0.1:1",
    ] {
        let authorization = format!("Bearer {}", server.token);
        let answer = server.send("GET", "/api/v1/tables", &[("host", host), ("authorization", &authorization)], "");
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host}: {}", answer.text());
        assert!(!answer.text().contains("sales"));
    }
    for host in [format!("localhost:{port}"), format!("LOCALHOST:{port}"), format!("[::1]:{port}")] {
        assert_eq!(server.send("GET", "/healthz", &[("host", &host)], "").status, StatusCode::OK, "{host}");
    }
    let own = format!("127.0.0.1:{port}");
    for request in [
        "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n".to_string(),
        format!("GET /healthz HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
        format!("GET http://evil.example/healthz HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
    ] {
        let answer = server.raw(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 421") || answer.starts_with("HTTP/1.1 400"), "{request}{answer}");
    }
}

#[test]
fn pages_of_other_sites_cannot_ask() {
    let server = Server::start();
    let (cookie, own) = (server.log_in(), server.origin());
    let other_port = format!("http://127.0.0.1:{}", server.port.wrapping_add(1));
    let json = ("content-type", "application/json");
    for origin in ["http://evil.example", "null", "", "file://", &other_port, "http://localhost"] {
        let from = [("cookie", cookie.as_str()), ("origin", origin), ("x-lakeward", "1"), json];
        for (method, path) in
            [("POST", "/api/v1/ask"), ("GET", "/api/v1/tables"), ("POST", "/mcp"), ("OPTIONS", "/api/v1/ask")]
        {
            let answer = server.send(method, path, &from, json!({"text": "sales"}).to_string());
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{origin} {method} {path}: {}", answer.text());
            assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control")));
        }
    }
    // Without `Origin` a cookie alone does not do.
    let answer = server.send("POST", "/api/v1/ask", &[("cookie", &cookie), ("x-lakeward", "1"), json], "{}");
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    // A form of another page could send JSON as text, but not our header.
    let from = [("cookie", cookie.as_str()), ("origin", own.as_str()), ("content-type", "text/plain")];
    assert_eq!(server.send("POST", "/api/v1/ask", &from, "{}").status, StatusCode::FORBIDDEN);
    let from = [("cookie", cookie.as_str()), ("origin", own.as_str()), ("x-lakeward", "1"), json];
    let answer = server.send("POST", "/api/v1/ask", &from, json!({"text": "sales by city"}).to_string());
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
}

#[test]
fn forms_need_their_token() {
    let server = Server::start();
    let (cookie, own) = (server.log_in(), server.origin());
    let from =
        [("cookie", cookie.as_str()), ("origin", own.as_str()), ("content-type", "application/x-www-form-urlencoded")];
    for body in
        ["text=sales", "token=&text=sales", "token=abc&text=sales", &format!("token={}&text=sales", "0".repeat(64))]
    {
        for path in ["/ask", "/logout", "/sessions/x/undo"] {
            let answer = server.send("POST", path, &from, body);
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} {body}: {}", answer.text());
        }
    }
    assert_eq!(server.get("/api/v1/sessions").json()["sessions"], json!([]));
}

#[test]
fn every_answer_has_the_headers_that_protect() {
    let server = Server::start();
    let authorization = format!("Bearer {}", server.token);
    let known = [("authorization", authorization.as_str())];
    for (method, path, headers) in [
        ("GET", "/", &known[..]),
        ("GET", "/healthz", &[]),
        ("GET", "/login", &[]),
        ("GET", "/style.css", &[]),
        ("GET", "/nothing", &known),
        ("GET", "/api/v1/tables", &[]),
        ("GET", "/healthz", &[("host", "evil.example")]),
        ("DELETE", "/api/v1/tables", &known),
        ("GET", "/mcp", &known),
        ("GET", "/api/v1/openapi.json", &known),
    ] {
        let answer = server.send(method, path, headers, "");
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{path}");
    }
}

#[test]
fn no_path_leads_out_of_the_lake() {
    let server = Server::start();
    let own = format!("127.0.0.1:{}", server.port);
    let outside = server.lake.parent().expect("a folder").join("outside.csv");
    std::fs::write(&outside, "secret\nconcealed\n").expect("a file");
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/style.css/../../etc/passwd",
        "//etc/passwd",
        "/style.css%00",
    ] {
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            server.token
        );
        let answer = server.raw(head.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    for name in ["/etc/passwd", "../outside.csv", "shops/sales.csv", outside.to_str().expect("UTF-8"), "..%2Foutside"] {
        let name = name.replace('/', "%2F");
        for path in ["/api/v1/profile?table=", "/api/v1/join?table=", "/api/v1/union?table=", "/table?id="] {
            let answer = server.get(&format!("{path}{name}"));
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}{name}: {}", answer.text());
            assert!(!answer.text().contains("concealed") && !answer.text().contains("root:"));
        }
        let turn = json!({"text": "describe it", "table": outside});
        assert_eq!(server.post("/api/v1/ask", &turn).status, StatusCode::NOT_FOUND);
    }
    for id in ["..%2F..%2Fmanifest", "..", ".lock", "%00", "a%2Fb"] {
        let answer = server.get(&format!("/api/v1/sessions/{id}"));
        assert!(matches!(answer.status.as_u16(), 400 | 404), "{id}: {}", answer.text());
    }
    let session = server.post("/api/v1/sessions", &json!({"name": "plans"}));
    assert_eq!(session.status, StatusCode::OK, "{}", session.text());
    let plan = json!({"plan": {"version": 1, "source": {"file": outside}}});
    for action in ["preview", "run"] {
        let answer = server.post(&format!("/api/v1/sessions/plans/{action}"), &plan);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.text());
    }
    for query in [format!("SELECT * FROM '{}'", outside.display()), "SELECT * FROM lake_profile('/etc/passwd')".into()]
    {
        let answer = server.post("/api/v1/sql", &json!({"query": query}));
        assert!(answer.status.is_client_error() && !answer.text().contains("hidden"), "{}", answer.text());
    }
}

#[test]
fn a_large_body_is_refused() {
    let server = Server::start();
    let large = vec![b' '; 10 << 20];
    let authorization = format!("Authorization: Bearer {}", server.token);
    let mut answered = 0;
    for path in ["/api/v1/ask", "/mcp", "/login"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{authorization}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n",
            server.port
        );
        for framing in ["Content-Length: 10485760\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nA00000\r\n"] {
            let mut stream = server.connect();
            stream.set_read_timeout(Some(CUT_OFF)).expect("a timeout");
            stream.write_all(format!("{head}{framing}").as_bytes()).expect("a head");
            // The service may close before it has read all.
            let _ = stream.write_all(&large);
            let _ = stream.write_all(b"\r\n0\r\n\r\n");
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let answer = String::from_utf8_lossy(&answer);
            assert!(answer.starts_with("HTTP/1.1 413") || answer.is_empty(), "{path} {framing}: {answer}");
            answered += usize::from(!answer.is_empty());
        }
    }
    assert!(answered >= 2, "{answered} of the answers came through");
    assert_eq!(server.send("GET", "/healthz", &[], "").status, StatusCode::OK);
}

#[test]
fn slow_clients_are_cut_off_and_stop_nobody() {
    let server = Server::start();
    let own = format!("127.0.0.1:{}", server.port);
    // Headers that never end, a body that never comes, a client that takes no answer, and a thousand that say nothing.
    let idle: Vec<_> = (0..1_000).map(|_| server.connect()).collect();
    let mut headers = server.connect();
    headers.write_all(format!("GET /healthz HTTP/1.1\r\nHost: {own}\r\n").as_bytes()).expect("a part");
    let mut body = server.connect();
    let head = format!(
        "POST /api/v1/ask HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{",
        server.token
    );
    body.write_all(head.as_bytes()).expect("a part");
    let mut deaf = server.connect();
    let get =
        format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer {}\r\n\r\n", server.token);
    deaf.set_nonblocking(true).expect("a socket");
    for _ in 0..2_000 {
        if deaf.write(get.as_bytes()).is_err() {
            break;
        }
    }
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(server.get("/api/v1/search?q=sales").status, StatusCode::OK);
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    // While a client sends a header from time to time it is still not done in time.
    for stream in [&mut headers, &mut body] {
        stream.set_read_timeout(Some(Duration::from_secs(1))).expect("a timeout");
        let ended = loop {
            assert!(started.elapsed() < 2 * CUT_OFF, "still open");
            let mut part = [0; 512];
            match stream.read(&mut part) {
                Ok(0) => break true,
                Ok(_) => break true,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    let _ = stream.write_all(b"X: y\r\n");
                }
                Err(_) => break true,
            }
        };
        assert!(ended);
    }
    for mut stream in idle.into_iter().take(50) {
        stream.set_read_timeout(Some(CUT_OFF)).expect("a timeout");
        assert!(!matches!(stream.read(&mut [0; 1]), Ok(1..)));
    }
}

#[test]
fn more_work_than_there_are_threads_is_refused_with_a_time_to_wait() {
    let server = Server::start();
    let query = "SELECT count(*) FROM lake.shops.sales a, lake.shops.sales b, lake.shops.sales c, lake.shops.sales d WHERE a.sales + b.sales > c.sales + d.sales";
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let answers = server.post_at_once("/api/v1/sql", &json!({"query": query}), 33 * processors + 60);
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == StatusCode::SERVICE_UNAVAILABLE).collect();
    assert!(!refused.is_empty());
    assert!(refused.iter().all(|answer| answer.header("retry-after") == "2"), "{refused:?}");
    let rest = answers.iter().filter(|answer| answer.status != StatusCode::SERVICE_UNAVAILABLE);
    assert!(rest.clone().count() >= 33 * processors && rest.clone().all(|answer| answer.status == StatusCode::OK));
    assert_eq!(server.get("/api/v1/search?q=sales").status, StatusCode::OK);
}

#[test]
fn a_client_that_stops_reading_is_cut_off() {
    let server = Server::start();
    let own = format!("127.0.0.1:{}", server.port);
    let get =
        format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer {}\r\n\r\n", server.token);
    let mut deaf = server.connect();
    deaf.set_nonblocking(true).expect("a socket");
    let asked = (0..2_000).take_while(|_| deaf.write(get.as_bytes()).is_ok()).count();
    let one = server.get("/api/v1/openapi.json").body.len();
    // Longer than a client may take for a part of an answer.
    std::thread::sleep(Duration::from_secs(40));
    deaf.set_nonblocking(false).expect("a socket");
    deaf.set_read_timeout(Some(CUT_OFF)).expect("a timeout");
    let mut taken = Vec::new();
    let ended = deaf.read_to_end(&mut taken);
    let waits =
        ended.is_err_and(|error| matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut));
    assert!(!waits && taken.len() < asked * one, "{} of {asked} answers", taken.len() / one);
    assert_eq!(server.get("/api/v1/search?q=sales").status, StatusCode::OK);
}
