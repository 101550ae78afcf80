//! What is sent and told: the key goes to the server that the user named and nowhere else, and nothing of the environment
//! goes anywhere.

use std::process::Command;

use lakeward_models::llm::{FailureKind, LanguageModel, Manners, OpenAiChat, Prompts, Unanswered};

use super::server::{Reply, Server, complains, says};
use super::{KEY, LIMITS, asked_of, at, connect, failure, rank};

/// Set in the process that a test starts: the server that it asks.
const ASK: &str = "LLM_SERVER_TEST_ASK";

#[test]
fn a_server_that_repeats_the_key_does_not_get_it_through() {
    let cut = format!("{} {KEY}", "x".repeat(270));
    let hidden = KEY.replace("very", "ve\u{200b}ry");
    let escaped = r#"{"error": {"message": "key \u0073k-0123456789-very-secret is unknown"}}"#;
    for reply in [
        Box::new(|| complains(401, &format!("Incorrect API key provided: {KEY}")))
            as Box<dyn Fn() -> Reply + Send + Sync>,
        Box::new(move || complains(401, &cut)),
        Box::new(move || complains(500, &hidden)),
        Box::new(|| Reply::Says(403, "", escaped.into())),
        Box::new(|| Reply::Says(302, "Location: http://h/?k=sk-0123456789-very-secret\r\n", Vec::new())),
        Box::new(|| Reply::Says(200, "", format!("{{\"choices\": \"{KEY}\"}}").into_bytes())),
        Box::new(|| says(&format!("{{\"ranking\": [\"{KEY}\"]}}"))),
        Box::new(|| says(&format!("{KEY} {{\"ranking\": [\"c01\"]}}"))),
    ] {
        let server = Server::new(move |_, _| reply());
        let outcome = asked_of(&connect(&server.url()));
        let debug = format!("{:?}", outcome.answer);
        assert!(!debug.contains("sk-0123") && !debug.contains("very-secret"), "{debug}");
        assert_eq!(server.asked()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
}

#[test]
fn without_a_key_none_is_sent() {
    let server = Server::new(|_, _| says("{\"ranking\": [\"c01\"]}"));
    let named = lakeward_models::llm::Server { key: None, ..at(&server.url()) };
    let chat = OpenAiChat::connect(&named, Manners { retries: 0, concurrency: 1 }).expect("a connection");
    assert!(asked_of(&chat).answer.is_ok());
    assert_eq!(server.asked()[0].header("authorization"), None);
}

/// Asks the server that the process before this one names, with the environment that it was given.
#[test]
fn asks_as_it_is_told() {
    let Ok(url) = std::env::var(ASK) else { return };
    let named = lakeward_models::llm::Server { key: None, ..at(&url) };
    match OpenAiChat::connect(&named, Manners { retries: 0, concurrency: 1 }) {
        Ok(chat) => {
            let model = LanguageModel::new(&chat, Prompts::shipped(), LIMITS, None);
            match rank(&model) {
                Err(Unanswered::Failed(failure)) => {
                    println!("{failure}");
                    assert_eq!(failure.kind, FailureKind::Unreachable, "{failure}");
                    assert!(url.starts_with("https:"), "{failure}");
                }
                answer => assert!(answer.is_ok(), "{answer:?}"),
            }
        }
        Err(error) => {
            let line = error.to_string();
            println!("{line}");
            assert!(url.starts_with("https:") && line.contains("connection to"), "{line}");
        }
    }
}

fn asked_by_another_process(url: &str, environment: &[(&str, &str)]) -> String {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command
        .args(["--exact", "llm_server::privacy::asks_as_it_is_told", "--nocapture"])
        .env(ASK, url)
        .envs(environment.iter().copied());
    let done = command.output().expect("a process");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said} {}", String::from_utf8_lossy(&done.stderr));
    said.into_owned()
}

#[test]
fn the_environment_of_other_programs_changes_nothing() {
    let (server, other) = (Server::new(|_, _| says("{\"ranking\": [\"c01\"]}")), Server::new(|_, _| says("{}")));
    let elsewhere = other.url();
    asked_by_another_process(
        &server.url(),
        &[
            ("OPENAI_API_KEY", "sk-of-the-environment"),
            ("OPENAI_ADMIN_KEY", "sk-admin-of-the-environment"),
            ("OPENAI_ORG_ID", "org-of-the-environment"),
            ("OPENAI_PROJECT_ID", "project-of-the-environment"),
            ("OPENAI_BASE_URL", &elsewhere),
            ("HTTP_PROXY", &elsewhere),
            ("http_proxy", &elsewhere),
            ("ALL_PROXY", &elsewhere),
        ],
    );
    assert!(other.asked().is_empty());
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert!(!asked[0].head.contains("environment"), "{}", asked[0].head);
}

#[test]
fn certificates_are_needed_only_where_they_are_used() {
    let none = [("SSL_CERT_FILE", "/nonexistent"), ("SSL_CERT_DIR", "/nonexistent")];
    let server = Server::new(|_, _| says("{\"ranking\": [\"c01\"]}"));
    asked_by_another_process(&server.url(), &none);
    assert_eq!(server.asked().len(), 1);
    let secure = server.url().replace("http:", "https:");
    let said = asked_by_another_process(&secure, &none);
    assert!(said.contains("CA certificates"), "{said}");
    asked_by_another_process(&secure, &[]);
    assert_eq!(server.asked().len(), 1, "no question goes unencrypted");
}

#[test]
fn a_server_that_wants_tls_is_not_asked_without() {
    let plain = Server::new(|_, _| Reply::Raw(vec![0x15, 3, 1, 0, 2, 2, 0x46]));
    assert_eq!(failure(&plain).0, FailureKind::Broken);
}
