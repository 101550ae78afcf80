//! A running `lakeward serve` with the hostile lake, and a client for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tempfile::TempDir;

use super::hostile_lake;
use crate::place::lakeward;

/// A service that ends with the test.
pub struct Server {
    process: Child,
    /// Folder of its lake.
    pub lake: PathBuf,
    /// Its port.
    pub port: u16,
    /// The path with the code that is good once.
    pub login: String,
    /// The token of the local user; empty with a token file.
    pub token: String,
    log: Arc<Mutex<String>>,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
    _folder: TempDir,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }
}

/// The program over `lake`, `alone` without a language model.
pub fn program(lake: &Path, alone: bool) -> Command {
    let mut command = lakeward(alone.then_some("--no-llm"));
    command.env("LAKEWARD_LAKE", lake);
    command
}

impl Server {
    /// A service for the user of this machine.
    pub fn start() -> Self {
        Self::with(&[], None)
    }

    /// A service for the users of `token_file`.
    pub fn for_users(token_file: &str) -> Self {
        Self::with(&[], Some(token_file))
    }

    /// The same with the language model at `url`.
    pub fn with_model(url: &str, token_file: &str) -> Self {
        Self::with(&["--llm-url", url, "--llm-model", "m"], Some(token_file))
    }

    /// The same, reached as `host` too.
    pub fn at_host(host: &str, token_file: &str) -> Self {
        Self::with(&["--host", host], Some(token_file))
    }

    /// A service of the lake that `make` makes in the folder it is given.
    pub fn of(make: impl FnOnce(&Path), arguments: &[&str]) -> Self {
        Self::over(make, arguments, None)
    }

    fn with(arguments: &[&str], token_file: Option<&str>) -> Self {
        Self::over(hostile_lake::make, arguments, token_file)
    }

    fn over(make: impl FnOnce(&Path), arguments: &[&str], token_file: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let lake = folder.path().join("lake");
        make(&lake);
        let command = program(&lake, arguments.iter().all(|argument| !argument.starts_with("--llm")));
        Self::run(command, folder, arguments, token_file)
    }

    /// The service of the lake and index that the environment of `command` names; what it writes is in `folder`.
    pub fn run(mut command: Command, folder: TempDir, arguments: &[&str], token_file: Option<&str>) -> Self {
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        if let Some(text) = token_file {
            let path = folder.path().join("tokens.toml");
            std::fs::write(&path, text).expect("a file");
            command.arg("--token-file").arg(path);
        }
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
        let mut stderr = BufReader::new(process.stderr.take().expect("stderr")).lines();
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("stdout")).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("an address: {line}"));
        let (port, login) = rest.split_once('/').expect("a path");
        let mut token = String::new();
        if token_file.is_none() {
            let header = stderr.find_map(|line| line.ok()?.strip_prefix("Authorization: Bearer ").map(str::to_string));
            token = header.expect("a token");
        }
        let log = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in stderr.map_while(Result::ok) {
                kept.lock().expect("the log").push_str(&format!("{line}\n"));
            }
        });
        let client = lakeward_http::client(Duration::from_secs(30), None).no_proxy().timeout(Duration::from_secs(120));
        Self {
            process,
            lake: folder.path().join("lake"),
            port: port.parse().expect("a port"),
            login: format!("/{login}"),
            token,
            log,
            client: client.build().expect("a client"),
            runtime: tokio::runtime::Runtime::new().expect("a runtime"),
            _folder: folder,
        }
    }

    /// The origin of its own page.
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A request with these headers alone.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Answer {
        self.runtime.block_on(self.sent(method, path, headers, body.into()))
    }

    async fn sent(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.client.request(method, format!("{}{path}", self.origin())).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(request).await
    }

    /// GET with a token.
    pub fn get_as(&self, token: &str, path: &str) -> Answer {
        self.send("GET", path, &[("authorization", &format!("Bearer {token}"))], "")
    }

    /// GET as the local user.
    pub fn get(&self, path: &str) -> Answer {
        self.get_as(&self.token, path)
    }

    /// POST of JSON with a token.
    pub fn post_as(&self, token: &str, path: &str, body: &Value) -> Answer {
        let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", "application/json")];
        self.send("POST", path, &headers, body.to_string())
    }

    /// POST of JSON as the local user.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_as(&self.token, path, body)
    }

    /// POST of the same JSON `times` times at once.
    pub fn post_at_once(&self, path: &str, body: &Value, times: usize) -> Vec<Answer> {
        self.runtime.block_on(async {
            let mut waiting = tokio::task::JoinSet::new();
            for _ in 0..times {
                let request = self.client.post(format!("{}{path}", self.origin())).bearer_auth(&self.token);
                waiting.spawn(answer(request.header("content-type", "application/json").body(body.to_string())));
            }
            waiting.join_all().await
        })
    }

    /// Sends each request at its time after `started`, whether or not others were answered: method, status and milliseconds of each.
    pub fn open_load(
        &self,
        started: Instant,
        requests: Vec<(Duration, &'static str, String, String)>,
    ) -> Vec<(&'static str, u16, f64)> {
        self.runtime.block_on(async {
            let mut waiting = tokio::task::JoinSet::new();
            for (at, method, path, body) in requests {
                tokio::time::sleep_until((started + at).into()).await;
                let verb = Method::from_bytes(method.as_bytes()).expect("a method");
                let request = self.client.request(verb, format!("{}{path}", self.origin())).bearer_auth(&self.token);
                let request = request.header("content-type", "application/json").body(body);
                waiting.spawn(async move {
                    let response = request.send().await.expect("an answer");
                    let status = response.status().as_u16();
                    response.bytes().await.expect("a body");
                    (method, status, (started + at).elapsed().as_secs_f64() * 1000.0)
                });
            }
            waiting.join_all().await
        })
    }

    /// Logs in as a browser does; its cookie.
    pub fn log_in(&self) -> String {
        let answer = self.send("GET", &self.login, &[], "");
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
        let cookie = answer.header("set-cookie");
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        cookie.split(';').next().expect("a cookie").to_string()
    }

    /// A connection on which nothing was sent.
    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("a connection")
    }

    /// What the service answers to these bytes, until it closes the connection.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream.write_all(bytes).expect("a request");
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("the log").clone()
    }

    /// The same once it has `text`, or what it has after ten seconds: lines come behind their answers.
    pub fn log_with(&self, text: &str) -> String {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let log = self.log();
            if log.contains(text) || Instant::now() > until {
                return log;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Bytes of memory that it has.
    #[cfg(target_os = "linux")]
    pub fn memory_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("memory");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        kill(Pid::from_raw(self.process.id() as i32), Signal::SIGTERM).expect("a signal");
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> ExitStatus {
        self.process.wait().expect("an end")
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.expect("an answer");
    let (status, headers) = (response.status(), response.headers().clone());
    Answer { status, headers, body: response.bytes().await.expect("a body").to_vec() }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
