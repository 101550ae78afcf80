//! A proxy before a server of files that makes some requests fail, each kind of fault by turns: before the server is asked, after it has done
//! what was asked, or in the middle of its answer.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What is made of a request.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The server is not asked: it is busy, in one way or another.
    Busy(&'static str),
    /// The server is not asked, and the connection ends.
    Refused,
    /// The server has done it, and the connection ends before it says so.
    Lost,
    /// Half of the answer.
    Cut,
}

const FAULTS: [Fault; 5] = [
    Fault::Busy("500 Internal Server Error"),
    Fault::Busy("429 Too Many Requests"),
    Fault::Refused,
    Fault::Lost,
    Fault::Cut,
];

/// The proxy; it ends with the process.
#[derive(Clone)]
pub struct FaultProxy {
    address: SocketAddr,
    server: String,
    /// Requests from one fault to the next.
    every: usize,
    asked: Arc<AtomicUsize>,
    made: Arc<[AtomicUsize; FAULTS.len()]>,
}

impl FaultProxy {
    /// A proxy before the server at `url` that makes each request fail whose number is a multiple of `every`.
    pub fn before(url: &str, every: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = url.trim_start_matches("http://").trim_end_matches('/').to_string();
        let address = listener.local_addr().expect("an address");
        let proxy = Self { address, server, every, asked: Arc::default(), made: Arc::default() };
        let serving = proxy.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let proxy = serving.clone();
                // A connection that breaks is the client's to open anew.
                thread::spawn(move || {
                    let _ = proxy.serve(&client);
                });
            }
        });
        proxy
    }

    /// `http://127.0.0.1:…`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How often each fault was made.
    pub fn made(&self) -> Vec<usize> {
        self.made.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }

    fn serve(&self, client: &TcpStream) -> std::io::Result<()> {
        let mut requests = BufReader::new(client.try_clone()?);
        while let Some(request) = message(&mut requests, false)? {
            let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            let kind = (number / self.every) % FAULTS.len();
            let fault = number.is_multiple_of(self.every).then_some(FAULTS[kind]);
            if fault.is_some() {
                self.made[kind].fetch_add(1, Ordering::Relaxed);
            }
            match fault {
                Some(Fault::Refused) => return Ok(()),
                Some(Fault::Busy(status)) => {
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
                    (&mut &*client).write_all(answer.as_bytes())?;
                    continue;
                }
                _ => {}
            }
            let mut server = TcpStream::connect(&self.server)?;
            server.write_all(&request)?;
            let is_head = request.starts_with(b"HEAD ");
            let answer = message(&mut BufReader::new(server), is_head)?.unwrap_or_default();
            match fault {
                Some(Fault::Lost) => return Ok(()),
                Some(Fault::Cut) => return (&mut &*client).write_all(&answer[..answer.len() / 2]),
                _ => (&mut &*client).write_all(&answer)?,
            }
        }
        Ok(())
    }
}

/// The next request or answer as it was sent; `None` at the end. One without a body tells the length that it would have.
fn message(input: &mut impl BufRead, is_bodyless: bool) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let start = bytes.len();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&bytes[start..]).trim().to_lowercase();
        match line.split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().unwrap_or(0),
            Some(("transfer-encoding", value)) => is_chunked = value.contains("chunked"),
            _ if line.is_empty() => break,
            _ => {}
        }
    }
    if is_bodyless {
        return Ok(Some(bytes));
    }
    if !is_chunked {
        let start = bytes.len();
        bytes.resize(start + length, 0);
        input.read_exact(&mut bytes[start..])?;
        return Ok(Some(bytes));
    }
    loop {
        let start = bytes.len();
        input.read_until(b'\n', &mut bytes)?;
        let size = String::from_utf8_lossy(&bytes[start..]).trim().to_string();
        let size = usize::from_str_radix(&size, 16).unwrap_or(0);
        let start = bytes.len();
        bytes.resize(start + size + 2, 0);
        input.read_exact(&mut bytes[start..])?;
        if size == 0 {
            return Ok(Some(bytes));
        }
    }
}
