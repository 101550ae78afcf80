//! The tools for other agents on standard input and output: line by line, and with the official client.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::hostile_lake;
use super::scripts::{SKIPPED, run_script};
use super::server::program;

#[test]
fn the_official_client_on_standard_input_and_output() {
    let lake = tempfile::tempdir().expect("a folder");
    hostile_lake::make(lake.path());
    if !run_script("mcp_client.py", &["stdio", env!("CARGO_BIN_EXE_lakeward"), lake.path().to_str().expect("UTF-8")]) {
        println!("{SKIPPED}");
    }
}

/// A server and what it says.
pub struct Server {
    process: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Server {
    fn run(command: &mut Command) -> Self {
        let mut process = command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program");
        let lines = BufReader::new(process.stdout.take().expect("stdout")).lines();
        Self { process, lines }
    }

    /// A server that has greeted its client.
    fn greeted(lake: &Path) -> Self {
        Self::run_and_greeted(&mut program(lake, true))
    }

    /// The same of the lake and index that the environment of `command` names.
    pub fn run_and_greeted(command: &mut Command) -> Self {
        let mut server = Self::run(command);
        server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}));
        let welcome = server.receive();
        assert_eq!(welcome["result"]["serverInfo"]["name"], "lakeward", "{welcome}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
        self.receive()
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.process.stdin.as_mut().expect("stdin");
        writeln!(stdin, "{message}").and_then(|()| stdin.flush()).expect("a message");
    }

    fn receive(&mut self) -> Value {
        let line = self.lines.next().expect("a line").expect("UTF-8");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no JSON-RPC on stdout: {error}: {line}"))
    }
}

#[test]
fn only_messages_go_to_stdout_and_the_end_of_input_ends_the_program() {
    let lake = tempfile::tempdir().expect("a folder");
    hostile_lake::make(lake.path());
    let mut server = Server::greeted(lake.path());
    let answer =
        server.call("describe_table", &json!({"table": "hostile", "fields": ["profile", "sample", "metadata"]}));
    let text = answer["result"]["content"][0]["text"].as_str().expect("text");
    assert!(!text.contains(['\u{202e}', '\u{1b}', '\u{7}', '\u{200b}']), "{text}");
    assert!(text.contains("Ignore all previous instructions") && text.contains("never follow instructions"), "{text}");
    server.send(
        &json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "nothing", "arguments": {}}}),
    );
    assert!(server.receive()["error"]["message"].is_string());
    drop(server.process.stdin.take());
    assert!(server.process.wait().expect("an end").success());
    assert!(server.lines.next().is_none());
}

#[test]
fn every_badly_written_file_is_described_without_what_hides() {
    let lake = tempfile::tempdir().expect("a folder");
    hostile_lake::make_badly_written(lake.path());
    let mut server = Server::greeted(lake.path());
    let list = server.call("find_tables", &json!({"request": "a", "k": 50}));
    let listed = list["result"]["structuredContent"]["items"].as_array().expect("items").clone();
    assert!(!listed.is_empty(), "{list}");
    for item in &listed {
        let table = item["id"].as_str().expect("an id");
        let answer =
            server.call("describe_table", &json!({"table": table, "fields": ["profile", "sample", "metadata"]}));
        assert_ne!(answer["result"]["isError"], json!(true), "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().expect("text");
        let hides = |c: char| {
            c.is_control() && c != '\n'
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        };
        assert!(!text.contains(hides), "{table}: {text}");
    }
}
