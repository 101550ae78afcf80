//! Servers that are not there, hang, fail, are busy, cut off or send too much.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use lakeward_models::llm::{FailureKind, LanguageModel, Prompts, Unanswered};

use super::server::{Reply, Server, body, completion, says};
use super::{LIMITS, TIME, asked_of, connect, failure, ids, rank};

const GOOD: &str = "{\"ranking\": [\"c02\", \"c01\"]}";

fn head(length: usize) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n").into_bytes()
}

#[test]
fn a_server_that_is_not_there() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let outcome = asked_of(&connect(&format!("http://127.0.0.1:{port}/v1")));
    let Err(Unanswered::Failed(failure)) = outcome.answer else { panic!("an answer") };
    assert_eq!(failure.kind, FailureKind::Unreachable);
    assert!(failure.message.starts_with(&format!("`drill@127.0.0.1:{port}` cannot be reached")), "{}", failure.message);
    assert!(outcome.took < TIME, "it is not there: nothing to wait for");
}

#[test]
fn a_name_that_no_server_has() {
    let outcome = asked_of(&connect("http://no-such-host.invalid/v1"));
    let Err(Unanswered::Failed(failure)) = outcome.answer else { panic!("an answer") };
    // A slow name server may take longer than the question has.
    assert!(matches!(failure.kind, FailureKind::Unreachable | FailureKind::TimedOut), "{failure:?}");
}

#[test]
fn one_that_hangs_ends_with_the_time() {
    let silent = Server::new(|_, _| Reply::Hangs(Vec::new()));
    let in_the_body = Server::new(|_, _| Reply::Hangs([head(500), b"{\"choices\": [".to_vec()].concat()));
    let dripping = Server::new(|_, _| Reply::Drips(head(100_000), b" ".to_vec(), Duration::from_millis(20)));
    let heads = Server::new(|_, _| {
        Reply::Drips(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X-A: 1\r\n".to_vec(), Duration::from_millis(50))
    });
    let complaining =
        Server::new(|_, _| Reply::Hangs(b"HTTP/1.1 401 No\r\nContent-Length: 90\r\n\r\n{\"error\": ".to_vec()));
    for server in [silent, in_the_body, dripping, heads] {
        let (kind, line) = failure(&server);
        assert_eq!(kind, FailureKind::TimedOut, "{line}");
        assert!(line.contains("gave no answer within 2 s"), "{line}");
        assert_eq!(server.asked().len(), 1);
    }
    // Its status has come, which says enough.
    assert_eq!(failure(&complaining).0, FailureKind::Refused);
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    for (wait, least) in
        [("Retry-After: 0\r\n", 0), ("Retry-After: 1\r\n", 1_000), ("", 250), ("Retry-After: soon\r\n", 250)]
    {
        let server = Server::new(move |number, _| match number {
            0 => Reply::Says(429, wait, b"{\"error\": {\"message\": \"slow down\"}}".to_vec()),
            _ => says(GOOD),
        });
        let outcome = asked_of(&connect(&server.url()));
        assert_eq!(outcome.answer, Ok(ids(&["c02", "c01"])), "{wait}");
        assert!(outcome.took >= Duration::from_millis(least), "{wait} {:?}", outcome.took);
        assert_eq!((server.asked().len(), outcome.calls), (2, 1));
    }
}

#[test]
fn a_wait_that_is_too_long_is_not_begun() {
    for wait in ["Retry-After: 3600\r\n", "Retry-After: 1e300\r\n", "Retry-After: inf\r\n"] {
        let server =
            Server::new(move |_, _| Reply::Says(429, wait, b"{\"error\": {\"message\": \"slow down\"}}".to_vec()));
        let started = Instant::now();
        let (kind, line) = failure(&server);
        assert_eq!(kind, FailureKind::Busy);
        assert!(line.contains("answers 429: slow down (it asks to wait"), "{line}");
        assert!(started.elapsed() < Duration::from_secs(1));
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn an_account_without_money_is_not_asked_again() {
    let quota = r#"{"error": {"message": "quota", "type": "insufficient_quota", "code": "insufficient_quota"}}"#;
    let server = Server::new(|_, _| Reply::Says(429, "", quota.into()));
    assert_eq!(failure(&server).0, FailureKind::Refused);
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_failing_server_gets_its_retries_and_no_more() {
    let always = Server::new(|_, _| Reply::Says(500, "", b"<html><h1>Oops</h1>".to_vec()));
    let (kind, line) = failure(&always);
    assert_eq!(kind, FailureKind::ServerError);
    assert!(line.ends_with("answers 500: Internal Server Error"), "{line}");
    assert_eq!(always.asked().len(), 3);
    let once = Server::new(|number, _| if number == 0 { Reply::Says(503, "", Vec::new()) } else { says(GOOD) });
    assert!(asked_of(&connect(&once.url())).answer.is_ok());
}

#[test]
fn one_that_hangs_up_is_asked_again() {
    let once = Server::new(|number, _| if number == 0 { Reply::Raw(Vec::new()) } else { says(GOOD) });
    assert!(asked_of(&connect(&once.url())).answer.is_ok());
    let always = Server::new(|_, _| Reply::Raw(Vec::new()));
    let (kind, line) = failure(&always);
    assert_eq!(kind, FailureKind::Broken);
    assert!(line.contains("returned an invalid HTTP response"), "{line}");
    assert_eq!(always.asked().len(), 3);
}

#[test]
fn an_answer_cut_off_is_none() {
    let whole = completion(&serde_json::json!({"content": GOOD}), "stop").to_string().into_bytes();
    let half = whole[..whole.len() / 2].to_vec();
    let by_length = [head(whole.len()), half.clone()].concat();
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let by_chunks = [chunked.clone(), format!("{:x}\r\n", whole.len()).into_bytes(), half.clone()].concat();
    let chunk = b"data: {\"choices\": [{\"delta\": {\"content\": \"{\"}}]}\n\n";
    let events = [chunked, format!("{:x}\r\n", chunk.len()).into_bytes(), chunk.to_vec(), b"\r\n".to_vec()].concat();
    for bytes in [by_length, by_chunks, events] {
        let server = Server::new(move |_, _| Reply::Raw(bytes.clone()));
        let (kind, line) = failure(&server);
        assert_eq!(kind, FailureKind::Broken);
        assert!(line.contains("truncated"), "{line}");
    }
    let silently = Server::new(move |_, _| Reply::Says(200, "", half.clone()));
    let (kind, line) = failure(&silently);
    assert_eq!(kind, FailureKind::Broken);
    assert!(line.contains("not in the OpenAI protocol"), "{line}");
}

#[test]
fn no_more_than_four_megabytes_are_read() {
    let lengthy = Server::new(|_, _| {
        let text = "x".repeat(10 << 20);
        body(200, &completion(&serde_json::json!({"content": text}), "stop"))
    });
    let endless = Server::new(|_, _| {
        let piece = [b"10000\r\n".to_vec(), vec![b' '; 1 << 16], b"\r\n".to_vec()].concat();
        Reply::Drips(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(), piece, Duration::ZERO)
    });
    for server in [lengthy, endless] {
        let (kind, line) = failure(&server);
        assert_eq!(kind, FailureKind::Broken);
        assert!(line.contains("more than 4 MB"), "{line}");
        // What the system's buffers took comes on top.
        assert!(server.written() < 20 << 20, "{}", server.written());
        assert_eq!(server.asked().len(), 1);
    }
    let complaint = Server::new(|_, _| {
        let head = b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        Reply::Drips(head, [b"10000\r\n".to_vec(), vec![b'x'; 1 << 16], b"\r\n".to_vec()].concat(), Duration::ZERO)
    });
    let (kind, line) = failure(&complaint);
    assert!(kind == FailureKind::Refused && line.len() < 1_000, "{line}");
}

#[test]
fn huge_headers_and_packed_garbage() {
    let headers = Server::new(|_, _| {
        let line = format!("X-Fill: {}\r\n", "x".repeat(60_000));
        Reply::Raw(format!("HTTP/1.1 200 OK\r\n{}\r\n", line.repeat(100)).into_bytes())
    });
    assert_eq!(failure(&headers).0, FailureKind::Broken);
    let many = Server::new(|_, _| {
        Reply::Raw(format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-Fill: 1\r\n".repeat(5_000)).into_bytes())
    });
    assert_eq!(failure(&many).0, FailureKind::Broken);
    let packed = Server::new(|_, _| Reply::Says(200, "Content-Encoding: gzip\r\n", vec![0x1f, 0x8b, 8, 0, 1, 2, 3]));
    let (kind, line) = failure(&packed);
    assert!(kind == FailureKind::Broken && line.contains("OpenAI protocol"), "{line}");
}

#[test]
fn what_is_no_answer_of_this_protocol() {
    for text in ["not json", "{\"choices\": 3}", "<html>Login</html>", "", "[[[[[", "{\"choices\": [{\"message\": 7}]}"]
    {
        let server = Server::new(move |_, _| Reply::Says(200, "", text.into()));
        let (kind, line) = failure(&server);
        assert_eq!(kind, FailureKind::Broken, "{text}");
        assert!(line.contains("OpenAI protocol"), "{line}");
    }
    let deep = Server::new(|_, _| Reply::Says(200, "", "[".repeat(1 << 20).into()));
    assert_eq!(failure(&deep).0, FailureKind::Broken);
    let other = Server::new(|_, _| body(200, &serde_json::json!({"message": {"content": "hello"}, "done": true})));
    assert!(failure(&other).1.contains("without a choice"));
    let error = Server::new(|_, _| body(200, &serde_json::json!({"error": {"message": "model is loading"}})));
    let (kind, line) = failure(&error);
    assert!(kind == FailureKind::Refused && line.ends_with("answers: model is loading"), "{line}");
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Server::new(|_, _| says(GOOD));
    let place: &'static str = Box::leak(format!("Location: {}/chat/completions\r\n", elsewhere.url()).into_boxed_str());
    for status in [301, 302, 303, 307, 308] {
        let server = Server::new(move |_, _| Reply::Says(status, place, Vec::new()));
        let (kind, line) = failure(&server);
        assert_eq!(kind, FailureKind::Refused);
        assert!(line.contains("redirects are not followed"), "{line}");
    }
    assert!(elsewhere.asked().is_empty());
}

#[test]
fn a_question_too_long_is_not_the_servers_fault() {
    let overflow = r#"{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens)","type":"exceed_context_size_error","n_ctx":8192}}"#;
    let openai = r#"{"error":{"message":"This model's maximum context length is 8192 tokens","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;
    for text in [overflow, openai] {
        let server =
            Server::new(move |number, _| if number == 0 { Reply::Says(400, "", text.into()) } else { says(GOOD) });
        let chat = connect(&server.url());
        let model = LanguageModel::new(&chat, Prompts::shipped(), LIMITS, None);
        let Err(Unanswered::Failed(failure)) = rank(&model) else { panic!("an answer") };
        assert_eq!(failure.kind, FailureKind::TooLong);
        assert_eq!(rank(&model), Ok(ids(&["c02", "c01"])), "a shorter question is answered");
        assert_eq!(server.asked().len(), 2, "and the first was sent once");
    }
}

#[test]
fn after_a_failure_of_the_server_a_turn_does_not_ask_again() {
    let server = Server::new(|_, _| Reply::Says(401, "", b"{\"error\": {\"message\": \"no such key\"}}".to_vec()));
    let chat = connect(&server.url());
    let model = LanguageModel::new(&chat, Prompts::shipped(), LIMITS, None);
    let first = rank(&model);
    assert!(first.is_err() && rank(&model) == first);
    assert_eq!((server.asked().len(), model.spent().calls), (1, 1));
}
