//! Reads PDFs in a separate process with limits on time, memory and output.
//!
//! A PDF is in effect a program and may need gigabytes or never end. The process is this same program with a hidden command
//! ([`serve`]); it writes [`PdfText`] as JSON. A program that uses this as a library uses threads instead
//! ([`PdfReader::Thread`]), which cannot be killed: a thread that runs out of time goes on until it is done or the program ends,
//! and its memory is not limited.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::pdf::{self, PdfFault, PdfText};
use lakeward_core::guard::guarded;

/// The command that runs [`serve`].
pub const COMMAND: &str = "read-pdf";
/// Larger files are not opened, in bytes.
pub const GREATEST_FILE: u64 = 512 << 20;
/// Memory that the process may address, in bytes.
const MEMORY_BYTES: u64 = 2 << 30;
/// Maximum size of the process's answer, in bytes: [`pdf::MAX_TEXT_BYTES`], written as JSON.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// Maximum number of bytes kept of the process's stderr.
const MAX_STDERR_BYTES: u64 = 4096;

/// How PDFs are read.
#[derive(Debug, Clone)]
pub enum PdfReader {
    /// A process of this program, which has [`COMMAND`].
    Process {
        /// The program.
        program: PathBuf,
        /// Time limit.
        limit: Duration,
    },
    /// A thread of this process.
    Thread {
        /// Time limit.
        limit: Duration,
    },
}

impl PdfReader {
    /// Time limit per PDF.
    pub const TIME_LIMIT: Duration = Duration::from_secs(60);

    /// Processes of the running program; for the command line only.
    pub fn of_this_program() -> Self {
        match std::env::current_exe() {
            Ok(program) => Self::Process { program, limit: Self::TIME_LIMIT },
            Err(_) => Self::Thread { limit: Self::TIME_LIMIT },
        }
    }

    /// Reads the PDF at `path`.
    ///
    /// # Errors
    /// One clause that says why there is no text.
    pub fn read(&self, path: &Path) -> Result<PdfText, String> {
        match self {
            Self::Process { program, limit } => in_process(program, path, *limit),
            Self::Thread { limit } => in_thread(path, *limit),
        }
    }
}

/// The process's answer.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Text(PdfText),
    Fault(PdfFault),
    Failed(String),
}

impl Answer {
    fn outcome(self) -> Result<PdfText, String> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Fault(fault) => Err(fault.to_string()),
            Self::Failed(reason) => Err(reason),
        }
    }
}

/// Reads the PDF at `path` under limits that this process sets itself, and writes the answer to `out`. For the process that
/// [`PdfReader::Process`] starts.
///
/// # Errors
/// Those of `out`.
pub fn serve(path: &Path, out: &mut dyn Write) -> std::io::Result<()> {
    limit_this_process();
    serde_json::to_writer(&mut *out, &answer(path))?;
    out.flush()
}

fn answer(path: &Path) -> Answer {
    let bytes = match bounded(path) {
        Ok(bytes) => bytes,
        Err(reason) => return Answer::Failed(reason),
    };
    match guarded(|| pdf::read(bytes)) {
        Ok(Ok(text)) => Answer::Text(text),
        Ok(Err(fault)) => Answer::Fault(fault),
        Err(_) => Answer::Failed("a damaged PDF: the PDF library panicked".into()),
    }
}

fn bounded(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(GREATEST_FILE + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > GREATEST_FILE {
        return Err(format!("larger than {} MB", GREATEST_FILE >> 20));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn limit_this_process() {
    let seconds = 2 * PdfReader::TIME_LIMIT.as_secs();
    for (what, value) in [(libc::RLIMIT_AS, MEMORY_BYTES), (libc::RLIMIT_CPU, seconds), (libc::RLIMIT_CORE, 0)] {
        let limit = libc::rlimit { rlim_cur: value as libc::rlim_t, rlim_max: value as libc::rlim_t };
        // SAFETY: the call reads the struct it is given, which lives until it returns. If it fails, the limits of the
        // parent stay, which waits no longer than its own limit.
        unsafe {
            libc::setrlimit(what, &limit);
        }
    }
}

#[cfg(not(unix))]
fn limit_this_process() {}

fn in_process(program: &Path, path: &Path, limit: Duration) -> Result<PdfText, String> {
    let mut command = Command::new(program);
    command.arg(COMMAND).arg(path).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("no process could be started to read it: {error}"))?;
    let answer = child.stdout.take().map(|stdout| collected(stdout, MAX_ANSWER_BYTES));
    let stderr = child.stderr.take().map(|stderr| collected(stderr, MAX_STDERR_BYTES));
    let ended = wait(&mut child, limit);
    let answer = answer.and_then(|collected| collected.recv_timeout(limit).ok()).unwrap_or_default();
    let stderr = stderr.and_then(|collected| collected.recv_timeout(Duration::from_secs(1)).ok()).unwrap_or_default();
    match ended {
        Ended::Late => Err(format!("not read within {} s", limit.as_secs())),
        Ended::Done if answer.len() as u64 > MAX_ANSWER_BYTES => Err(PdfFault::TooLong.to_string()),
        Ended::Done => match serde_json::from_slice::<Answer>(&answer) {
            Ok(answer) => answer.outcome(),
            Err(_) => Err("the reading process gave no answer".into()),
        },
        Ended::Failed => Err(reason_of(&String::from_utf8_lossy(&stderr))),
    }
}

enum Ended {
    Done,
    Failed,
    Late,
}

fn wait(child: &mut Child, limit: Duration) -> Ended {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ended::Done,
            Ok(Some(_)) | Err(_) => return Ended::Failed,
            Ok(None) => {}
        }
        if started.elapsed() > limit {
            // It may have ended in the meantime; either way it is gone after this.
            let _ = child.kill();
            let _ = child.wait();
            return Ended::Late;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Reads to the end in a separate thread and keeps at most `most` + 1 bytes.
fn collected(mut input: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Uses what could be read and discards the rest, so that the process does not block on a full pipe.
        let _ = (&mut input).take(most + 1).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut input, &mut std::io::sink());
        let _ = sender.send(bytes);
    });
    receiver
}

/// Why a process died, judged by its stderr.
fn reason_of(stderr: &str) -> String {
    if stderr.contains("memory allocation") || stderr.contains("out of memory") {
        return format!("it needs more than {} GB of memory", MEMORY_BYTES >> 30);
    }
    if stderr.contains("overflowed its stack") {
        return "a damaged PDF: nested without end".into();
    }
    "a damaged PDF: the reading process died".into()
}

fn in_thread(path: &Path, limit: Duration) -> Result<PdfText, String> {
    let (sender, receiver) = mpsc::channel();
    let path = path.to_path_buf();
    let started = thread::Builder::new().name("read-pdf".into()).spawn(move || {
        // After the time limit, the receiver is gone.
        let _ = sender.send(answer(&path));
    });
    started.map_err(|error| format!("no thread could be started to read it: {error}"))?;
    match receiver.recv_timeout(limit) {
        Ok(answer) => answer.outcome(),
        Err(_) => Err(format!("not read within {} s", limit.as_secs())),
    }
}
