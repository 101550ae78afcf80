//! A server on this machine that does what a test tells it, right or wrong.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What becomes of one request; the connection is closed afterwards.
pub enum Reply {
    /// Status, further header lines, body.
    Says(u16, &'static str, Vec<u8>),
    /// These bytes, as they are.
    Raw(Vec<u8>),
    /// These bytes, and then nothing while the other side waits.
    Hangs(Vec<u8>),
    /// These bytes, and then this again and again with a pause after each.
    Drips(Vec<u8>, Vec<u8>, Duration),
    /// A reply after a while.
    After(Duration, Box<Reply>),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub head: String,
    pub body: Value,
}

impl Asked {
    /// The value of a header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.to_lowercase() == name).then_some(value.trim())
        })
    }
}

#[derive(Default)]
struct Seen {
    asked: Mutex<Vec<Asked>>,
    now: AtomicUsize,
    most: AtomicUsize,
    written: AtomicUsize,
    stopped: AtomicBool,
}

/// The server; it stops when it is dropped.
pub struct Server {
    address: String,
    seen: Arc<Seen>,
}

impl Server {
    /// Answers each request with what `script` says to it, given its number from 0.
    pub fn new(script: impl Fn(usize, &Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (seen, script) = (Arc::new(Seen::default()), Arc::new(script));
        let of_listener = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if of_listener.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (seen, script) = (Arc::clone(&of_listener), Arc::clone(&script));
                thread::spawn(move || {
                    let mut stream = stream;
                    if let Some(asked) = read(&mut stream) {
                        let number = {
                            let mut all = seen.asked.lock().expect("requests");
                            all.push(asked.clone());
                            all.len() - 1
                        };
                        // Whoever asked may have gone.
                        let _ = reply(&mut stream, script(number, &asked), &seen);
                    }
                });
            }
        });
        Self { address, seen }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.seen.asked.lock().expect("requests").clone()
    }

    /// The most requests that waited for [`Reply::After`] at a time.
    pub fn most_at_once(&self) -> usize {
        self.seen.most.load(Ordering::SeqCst)
    }

    /// Bytes that were taken from it.
    pub fn written(&self) -> usize {
        self.seen.written.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.seen.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(&self.address);
    }
}

fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let asked = Asked { head, body: Value::Null };
            let length: usize = asked.header("content-length").map_or(0, |length| length.parse().expect("a length"));
            while bytes.len() < end + 4 + length {
                match stream.read(&mut part) {
                    Ok(count) if count > 0 => bytes.extend_from_slice(&part[..count]),
                    _ => return None,
                }
            }
            let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or(Value::Null);
            return Some(Asked { body, ..asked });
        }
        match stream.read(&mut part) {
            // The first byte of TLS, which is not spoken here.
            Ok(count) if count > 0 && part[0] != 0x16 => bytes.extend_from_slice(&part[..count]),
            _ => return None,
        }
    }
}

fn reply(stream: &mut TcpStream, reply: Reply, seen: &Seen) -> std::io::Result<()> {
    match reply {
        Reply::Says(status, headers, body) => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\
                 {headers}\r\n"
            );
            write(stream, head.as_bytes(), seen)?;
            write(stream, &body, seen)
        }
        Reply::Raw(bytes) => write(stream, &bytes, seen),
        Reply::Hangs(bytes) => {
            write(stream, &bytes, seen)?;
            // Until the other side is tired of it.
            stream.read(&mut [0]).map(|_| ())
        }
        Reply::Drips(head, drop, pause) => {
            write(stream, &head, seen)?;
            loop {
                write(stream, &drop, seen)?;
                thread::sleep(pause);
            }
        }
        Reply::After(pause, after) => {
            let now = seen.now.fetch_add(1, Ordering::SeqCst) + 1;
            seen.most.fetch_max(now, Ordering::SeqCst);
            thread::sleep(pause);
            // Before a byte is written: whoever has its answer may ask again before this thread goes on.
            seen.now.fetch_sub(1, Ordering::SeqCst);
            self::reply(stream, *after, seen)
        }
    }
}

fn write(stream: &mut TcpStream, bytes: &[u8], seen: &Seen) -> std::io::Result<()> {
    for part in bytes.chunks(64 << 10) {
        stream.write_all(part)?;
        seen.written.fetch_add(part.len(), Ordering::SeqCst);
    }
    Ok(())
}

/// An answer as servers give them, with this text.
pub fn says(text: &str) -> Reply {
    body(200, &completion(&json!({"role": "assistant", "content": text}), "stop"))
}

/// The body of an answer with this message.
pub fn completion(message: &Value, finish_reason: &str) -> Value {
    json!({
        "id": "x", "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    })
}

/// A reply with this body.
pub fn body(status: u16, body: &Value) -> Reply {
    Reply::Says(status, "", body.to_string().into_bytes())
}

/// A complaint in the usual shape.
pub fn complains(status: u16, message: &str) -> Reply {
    body(status, &json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}}))
}
