//! A server of files that answers as S3 and Google's storage do, and as a plain web server, and that fails as it is told. It is strict: a request that S3
//! would refuse is refused.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The key id that requests to the bucket must be signed for.
pub const KEY_ID: &str = "test-key";
/// The bucket; other paths are those of a web server.
pub const BUCKET: &str = "bucket";
/// Keys of one page of a list, unless that is set.
const PAGE: usize = 3;

/// What a request is answered with in place of the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// This status, and this many seconds to wait.
    Status(u16, Option<u64>),
    /// The connection is closed before there is an answer.
    Reset,
    /// Half of the body.
    Cut,
    /// Another ETag than before.
    WrongEtag,
    /// The whole file, whatever part was asked for.
    Whole,
    /// To go elsewhere.
    Redirect,
    /// It is done, and the connection is closed before that is told.
    Lost,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    /// With the query.
    pub path: String,
    pub range: Option<String>,
}

#[derive(Default)]
struct State {
    /// By path without the first slash.
    files: BTreeMap<String, Stored>,
    /// Parts of files that are not complete, by path and number.
    parts: BTreeMap<(String, usize), Vec<u8>>,
    /// By the beginning of a path: the fault, and how often it is made.
    faults: Vec<(String, Fault, usize)>,
    asked: Vec<Asked>,
    weak: bool,
    lies: bool,
    is_google: bool,
    versions: u64,
    days: u64,
    wait: Duration,
    page: Option<usize>,
    sent_bytes: u64,
}

struct Stored {
    bytes: Vec<u8>,
    version: u64,
    /// Days after the first when it was written.
    day: u64,
}

/// The server; it ends with the process.
#[derive(Clone)]
pub struct StoreServer {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl StoreServer {
    pub fn start() -> StoreServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = StoreServer { address: listener.local_addr().unwrap(), state: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = serving.clone();
                thread::spawn(move || server.serve(&stream));
            }
        });
        server
    }

    /// `http://127.0.0.1:…`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.state.lock().unwrap().put(path, bytes.into());
    }

    /// The paths that begin so.
    pub fn paths(&self, start: &str) -> Vec<String> {
        self.state.lock().unwrap().files.keys().filter(|path| path.starts_with(start)).cloned().collect()
    }

    /// Flips a bit in the middle of a file.
    pub fn damage(&self, path: &str) {
        let mut state = self.state.lock().unwrap();
        let bytes = &mut state.files.get_mut(path).unwrap().bytes;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    }

    /// What is written from now on is written so many days later.
    pub fn pass_days(&self, days: u64) {
        self.state.lock().unwrap().days += days;
    }

    /// Answers so much later from now on.
    pub fn wait(&self, wait: Duration) {
        self.state.lock().unwrap().wait = wait;
    }

    /// Gives so many keys a page of a list from now on.
    pub fn list_by(&self, keys: usize) {
        self.state.lock().unwrap().page = Some(keys);
    }

    /// Ignores conditions of writing from now on.
    pub fn lie(&self) {
        self.state.lock().unwrap().lies = true;
    }

    /// Bytes of files that were sent since the last call.
    pub fn sent_bytes(&self) -> u64 {
        std::mem::take(&mut self.state.lock().unwrap().sent_bytes)
    }

    pub fn remove(&self, path: &str) {
        self.state.lock().unwrap().files.remove(path);
    }

    /// Puts all files below a folder, under `prefix`.
    pub fn put_folder(&self, prefix: &str, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}/{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() { self.put_folder(&name, &path) } else { self.put(&name, std::fs::read(path).unwrap()) }
        }
    }

    /// Makes `fault` the answer to the next `times` requests for paths that begin so.
    pub fn fail(&self, path: &str, fault: Fault, times: usize) {
        self.state.lock().unwrap().faults.push((path.to_string(), fault, times));
    }

    /// Is Google's storage from now on: requests to the bucket are not signed, and have conditions of their own.
    pub fn be_google(&self) {
        self.state.lock().unwrap().is_google = true;
    }

    /// Gives weak ETags from now on.
    pub fn weaken(&self) {
        self.state.lock().unwrap().weak = true;
    }

    /// What was asked since the last call.
    pub fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.state.lock().unwrap().asked)
    }

    fn serve(&self, stream: &TcpStream) {
        let mut input = BufReader::new(stream.try_clone().unwrap());
        while let Some(request) = Request::read(&mut input) {
            let wait = self.state.lock().unwrap().wait;
            thread::sleep(wait);
            let Some(answer) = self.answer(&request) else { return };
            if (&mut &*stream).write_all(&answer.bytes).is_err() || answer.closes {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> Option<Answer> {
        let mut state = self.state.lock().unwrap();
        let path = request.path.trim_start_matches('/').to_string();
        let range = request.header("range").map(str::to_string);
        let asked = Asked { method: request.method.clone(), path: request.target.clone(), range };
        state.asked.push(asked);
        let prefix = request.query("prefix").unwrap_or_default();
        let named = if request.query.is_empty() { path.clone() } else { format!("{path}/{prefix}") };
        let fault = state.faults.iter_mut().find(|(start, _, left)| *left > 0 && named.starts_with(start.as_str()));
        let fault = fault.map(|(_, fault, left)| {
            *left -= 1;
            *fault
        });
        match fault {
            Some(Fault::Reset) => return None,
            Some(Fault::Status(status, wait)) => {
                let wait = wait.map(|wait| format!("Retry-After: {wait}\r\n")).unwrap_or_default();
                return Some(Answer::new(status, &wait, request.is_head(), b"<Error><Code>Told</Code></Error>"));
            }
            Some(Fault::Redirect) => {
                let to = "Location: http://169.254.169.254/latest/meta-data\r\n";
                return Some(Answer::new(302, to, request.is_head(), b""));
            }
            _ => {}
        }
        if !state.is_google && (path == BUCKET || path.starts_with(&format!("{BUCKET}/"))) {
            let signed = request.header("authorization").unwrap_or_default();
            if !signed.starts_with("AWS4-HMAC-SHA256 ") || !signed.contains(&format!("Credential={KEY_ID}/")) {
                return Some(Answer::new(403, "", request.is_head(), b"<Error><Code>AccessDenied</Code></Error>"));
            }
        }
        if path == BUCKET && request.method == "GET" && request.query("list-type").as_deref() == Some("2") {
            return Some(Answer::new(200, "", false, state.list(request).as_bytes()));
        }
        if let Some(answer) = state.change(&path, request) {
            return if fault == Some(Fault::Lost) { None } else { Some(answer) };
        }
        let state = &mut *state;
        let Some(Stored { bytes, version, .. }) = state.files.get(&path) else {
            return Some(Answer::new(404, "", request.is_head(), b"<Error><Code>NoSuchKey</Code></Error>"));
        };
        let mark = if fault == Some(Fault::WrongEtag) { "x" } else { "" };
        let etag = format!("{}\"{mark}v{version}\"", if state.weak { "W/" } else { "" });
        // A weak ETag never matches here.
        if request.header("if-match").is_some_and(|expected_etag| expected_etag != etag || state.weak)
            && fault.is_none()
        {
            return Some(Answer::new(412, "", request.is_head(), b"<Error><Code>PreconditionFailed</Code></Error>"));
        }
        let time = "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n";
        let head = format!("ETag: {etag}\r\n{time}Accept-Ranges: bytes\r\n");
        if request.is_head() {
            return Some(Answer::of_length(200, &head, bytes.len(), &[]));
        }
        if request.method != "GET" {
            return Some(Answer::new(405, "", false, b""));
        }
        let (status, head, body) = match request.header("range").filter(|_| fault != Some(Fault::Whole)) {
            None => (200, head, &bytes[..]),
            Some(range) => {
                let bounds = range.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
                let bounds =
                    bounds.and_then(|(from, to)| Some((from.parse::<usize>().ok()?, to.parse::<usize>().ok()?)));
                let Some((from, to)) = bounds.filter(|(from, to)| from <= to && *to < bytes.len()) else {
                    return Some(Answer::new(416, "", false, b""));
                };
                let head = format!("{head}Content-Range: bytes {from}-{to}/{}\r\n", bytes.len());
                (206, head, &bytes[from..=to])
            }
        };
        let sent = if fault == Some(Fault::Cut) { &body[..body.len() / 2] } else { body };
        state.sent_bytes += sent.len() as u64;
        let answer = Answer::of_length(status, &head, body.len(), sent);
        Some(Answer { closes: sent.len() < body.len(), ..answer })
    }
}

impl State {
    fn put(&mut self, path: &str, bytes: Vec<u8>) {
        self.versions += 1;
        let stored = Stored { bytes, version: self.versions, day: self.days };
        self.files.insert(path.to_string(), stored);
    }

    /// Writes or removes files; `None` if the request does neither.
    fn change(&mut self, path: &str, request: &Request) -> Option<Answer> {
        match request.method.as_str() {
            // A file in parts: each waits under a name of its own until the last request.
            "POST" if request.query("uploads").is_some() => {
                let document = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
                Some(Answer::new(200, "", false, document.as_bytes()))
            }
            "PUT" if request.query("partNumber").is_some() => {
                let number: usize = request.query("partNumber")?.parse().ok()?;
                self.parts.insert((path.to_string(), number), request.body.clone());
                Some(Answer::new(200, &format!("ETag: \"p{number}\"\r\n"), false, b""))
            }
            "POST" if request.query("uploadId").is_some() => {
                let of_path = |(part, _): &(String, usize), _: &mut Vec<u8>| part == path;
                let bytes: Vec<u8> = self.parts.extract_if(.., of_path).flat_map(|(_, bytes)| bytes).collect();
                self.put(path, bytes);
                let document = format!(
                    "<CompleteMultipartUploadResult><ETag>v{}</ETag></CompleteMultipartUploadResult>",
                    self.versions
                );
                Some(Answer::new(200, "", false, document.as_bytes()))
            }
            "PUT" => {
                let condition = if self.is_google { "x-goog-if-generation-match" } else { "if-none-match" };
                let is_new = request.header(condition).is_some_and(|value| matches!(value, "*" | "0"));
                if is_new && self.files.contains_key(path) && !self.lies {
                    return Some(Answer::new(412, "", false, b"<Error><Code>PreconditionFailed</Code></Error>"));
                }
                self.put(path, request.body.clone());
                Some(Answer::new(200, &format!("ETag: \"v{}\"\r\n", self.versions), false, b""))
            }
            "DELETE" if self.is_google => {
                let status = if self.files.remove(path).is_some() { 204 } else { 404 };
                Some(Answer::new(status, "", false, b""))
            }
            "POST" if path == BUCKET && request.query("delete").is_some() => {
                let body = String::from_utf8(request.body.clone()).unwrap();
                let keys = body.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
                let removed = keys.map(|key| {
                    self.files.remove(&format!("{BUCKET}/{key}"));
                    format!("<Deleted><Key>{key}</Key></Deleted>")
                });
                let removed = removed.collect::<String>();
                Some(Answer::new(200, "", false, format!("<DeleteResult>{removed}</DeleteResult>").as_bytes()))
            }
            _ => None,
        }
    }

    /// A page of the list of a bucket.
    fn list(&self, request: &Request) -> String {
        let prefix = request.query("prefix").unwrap_or_default();
        let delimiter = request.query("delimiter");
        let after = request.query("continuation-token").or_else(|| request.query("start-after")).unwrap_or_default();
        let start = format!("{BUCKET}/");
        let mut items: Vec<String> = Vec::new();
        let mut last = String::new();
        let mut more = false;
        for (path, Stored { bytes, version, day }) in &self.files {
            let Some(key) = path.strip_prefix(&start).filter(|key| key.starts_with(&prefix)) else { continue };
            let folder = delimiter.as_ref().and_then(|_| key[prefix.len()..].split_once('/'));
            let name = folder.map_or(key.to_string(), |(folder, _)| format!("{prefix}{folder}/"));
            if name <= after || name == last {
                continue;
            }
            if items.len() == self.page.unwrap_or(PAGE) {
                more = true;
                break;
            }
            last = name.clone();
            let name = name.replace('&', "&amp;").replace('<', "&lt;");
            items.push(match folder {
                Some(_) => format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>"),
                None => format!(
                    "<Contents><Key>{name}</Key><Size>{}</Size><ETag>&quot;v{version}&quot;</ETag>\
                     <LastModified>2015-10-{}T07:28:00.000Z</LastModified></Contents>",
                    bytes.len(),
                    21 + day
                ),
            });
        }
        let next = if more { format!("<NextContinuationToken>{last}</NextContinuationToken>") } else { String::new() };
        format!(
            "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>{more}</IsTruncated>{next}{}</ListBucketResult>",
            items.concat()
        )
    }
}

struct Answer {
    bytes: Vec<u8>,
    closes: bool,
}

impl Answer {
    fn new(status: u16, headers: &str, is_head: bool, body: &[u8]) -> Answer {
        Answer::of_length(status, headers, body.len(), if is_head { &[] } else { body })
    }

    fn of_length(status: u16, headers: &str, length: usize, body: &[u8]) -> Answer {
        let mut head = format!("HTTP/1.1 {status} Told\r\nContent-Length: {length}\r\n");
        write!(head, "{headers}\r\n").unwrap();
        Answer { bytes: [head.as_bytes(), body].concat(), closes: false }
    }
}

struct Request {
    method: String,
    target: String,
    path: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn read(input: &mut impl BufRead) -> Option<Request> {
        let mut line = String::new();
        input.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_string(), words.next()?.to_string());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            input.read_line(&mut line).ok().filter(|count| *count > 0)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_string())),
                None => break,
            }
        }
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (unescaped(name), unescaped(value))
        };
        let (path, query) = (unescaped(path), pairs.map(pair).collect());
        let mut request = Request { method, path, target: target.clone(), query, headers, body: Vec::new() };
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let count = input.take(length).read_to_end(&mut request.body).ok()?;
        (count as u64 == length).then_some(request)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn query(&self, name: &str) -> Option<String> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn is_head(&self) -> bool {
        self.method == "HEAD"
    }
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => (bytes.push(byte), rest = &after[2..]).1,
            None => (bytes.push(*first), rest = after).1,
        }
    }
    String::from_utf8(bytes).unwrap()
}
