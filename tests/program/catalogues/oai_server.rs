//! An OAI-PMH server on loopback that answers as a test says, faults included.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What the server sends.
pub struct Reply {
    pub status: &'static str,
    pub headers: String,
    pub body: String,
    /// Bytes of the body after which the connection is closed.
    pub cut: Option<usize>,
}

impl Reply {
    pub fn of(body: impl Into<String>) -> Self {
        Self { status: "200 OK", headers: String::new(), body: body.into(), cut: None }
    }
}

/// A server that runs until the test's process ends.
pub struct OaiServer {
    pub url: String,
    asked: Arc<Mutex<Vec<(String, Instant)>>>,
}

impl OaiServer {
    /// Starts it; `reply` gets the query of a request and how many there were before.
    pub fn start(reply: impl Fn(&str, usize) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/oai", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(query) = query_of(&stream) else { continue };
                let before = log.lock().expect("a log").len();
                log.lock().expect("a log").push((query.clone(), Instant::now()));
                let _ = send(stream, &reply(&query, before));
            }
        });
        Self { url, asked }
    }

    /// The queries so far, with their times.
    pub fn asked(&self) -> Vec<(String, Instant)> {
        self.asked.lock().expect("a log").clone()
    }
}

fn query_of(stream: &TcpStream) -> Option<String> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    for line in lines {
        if line.ok()?.is_empty() {
            break;
        }
    }
    Some(first.split_whitespace().nth(1)?.split_once('?').map_or("", |(_, query)| query).to_string())
}

fn send(mut stream: TcpStream, reply: &Reply) -> std::io::Result<()> {
    let Reply { status, headers, body, cut } = reply;
    write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body.as_bytes()[..cut.unwrap_or(body.len())])
}

/// A parameter of a query.
pub fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
}

pub fn page(inner: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>2024-05-01T10:00:00Z</responseDate>{inner}</OAI-PMH>"
    )
}

/// The answer of `ListRecords` with these records and token.
pub fn list(records: &str, token: &str) -> Reply {
    Reply::of(page(&format!("<ListRecords>{records}<resumptionToken>{token}</resumptionToken></ListRecords>")))
}

pub fn record(number: usize, title: &str) -> String {
    format!(
        "<record><header><identifier>oai:here:{number}</identifier><datestamp>2024-01-01</datestamp></header><metadata>\
         <oai_dc:dc xmlns:oai_dc=\"x\" xmlns:dc=\"y\"><dc:title>{title} {number}</dc:title><dc:identifier>10.5072/here.{number}</dc:identifier>\
         <dc:date>2020-01-02</dc:date></oai_dc:dc></metadata></record>"
    )
}

/// The usual answers to `Identify` and `ListMetadataFormats`.
pub fn introduction(query: &str) -> Option<Reply> {
    introduction_with(query, &["oai_dc", "marc21"])
}

/// These answers of a server with `formats`.
pub fn introduction_with(query: &str, formats: &[&str]) -> Option<Reply> {
    let inner = match parameter(query, "verb")? {
        "Identify" => "<Identify><repositoryName>Here</repositoryName><granularity>YYYY-MM-DD</granularity></Identify>"
            .to_string(),
        "ListMetadataFormats" => {
            let one =
                |format: &&str| format!("<metadataFormat><metadataPrefix>{format}</metadataPrefix></metadataFormat>");
            format!("<ListMetadataFormats>{}</ListMetadataFormats>", formats.iter().map(one).collect::<String>())
        }
        _ => return None,
    };
    Some(Reply::of(page(&inner)))
}

/// Page `number` from 0 of `pages` with `each` records a page.
pub fn nth_page(number: usize, pages: usize, each: usize) -> Reply {
    let records: String = (number * each..(number + 1) * each).map(|number| record(number, "Rain gauge")).collect();
    let token = if number + 1 < pages { format!("page-{}", number + 1) } else { String::new() };
    list(&records, &token)
}

/// The number of the page that a query asks for.
pub fn page_asked(query: &str) -> usize {
    parameter(query, "resumptionToken").and_then(|token| token.rsplit('-').next()?.parse().ok()).unwrap_or(0)
}
