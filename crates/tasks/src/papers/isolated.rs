//! PDFs read out of harm's way: in a process of their own, with limits of time, memory and output.
//!
//! A PDF is a program that its reader carries out, and may ask for gigabytes or for ever. The process is this program itself
//! with a command that people do not see ([`serve`]); what it writes is [`PdfText`] as JSON. A user of the library whose
//! program is another one has threads instead ([`PdfReader::Thread`]), which cannot be ended: one that runs out of time goes
//! on until it is done or the program ends, and memory has no limit there.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::pdf::{self, PdfFault, PdfText};
use lakeward_core::guard::guarded;

/// The command that [`serve`] stands behind.
pub const COMMAND: &str = "read-pdf";
/// Larger files are not opened, in bytes.
pub const GREATEST_FILE: u64 = 512 << 20;
/// Memory that the process may address, in bytes.
const MEMORY_BYTES: u64 = 2 << 30;
/// Bytes that the process may answer: [`pdf::MOST_TEXT_BYTES`], written as JSON.
const MOST_ANSWER_BYTES: u64 = 64 << 20;
/// Of what the process complains, so much is kept.
const MOST_COMPLAINT_BYTES: u64 = 4096;

/// Who reads PDFs.
#[derive(Debug, Clone)]
pub enum PdfReader {
    /// A process of this program, which knows [`COMMAND`].
    Process {
        /// The program.
        program: PathBuf,
        /// How long it may take.
        limit: Duration,
    },
    /// A thread of this process.
    Thread {
        /// How long it is waited for.
        limit: Duration,
    },
}

impl PdfReader {
    /// How long a PDF may take.
    pub const TIME_LIMIT: Duration = Duration::from_secs(60);

    /// Processes of the program that runs now; for the command line only.
    pub fn of_this_program() -> Self {
        match std::env::current_exe() {
            Ok(program) => Self::Process { program, limit: Self::TIME_LIMIT },
            Err(_) => Self::Thread { limit: Self::TIME_LIMIT },
        }
    }

    /// Reads the PDF at `path`.
    ///
    /// # Errors
    /// In one clause, why there is no text.
    pub fn read(&self, path: &Path) -> Result<PdfText, String> {
        match self {
            Self::Process { program, limit } => in_process(program, path, *limit),
            Self::Thread { limit } => in_thread(path, *limit),
        }
    }
}

/// What the process answers.
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
        Err(_) => Answer::Failed("a damaged PDF: its reader gave up".into()),
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
        // SAFETY: the call reads the struct it is given, which lives until it returns. A refusal leaves the limits of the
        // parent, who waits no longer than its own.
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
    let answer = child.stdout.take().map(|stdout| collected(stdout, MOST_ANSWER_BYTES));
    let complaint = child.stderr.take().map(|stderr| collected(stderr, MOST_COMPLAINT_BYTES));
    let ended = wait(&mut child, limit);
    let answer = answer.and_then(|collected| collected.recv_timeout(limit).ok()).unwrap_or_default();
    let complaint =
        complaint.and_then(|collected| collected.recv_timeout(Duration::from_secs(1)).ok()).unwrap_or_default();
    match ended {
        Ended::Late => Err(format!("not read within {} s", limit.as_secs())),
        Ended::Done if answer.len() as u64 > MOST_ANSWER_BYTES => Err(PdfFault::TooLong.to_string()),
        Ended::Done => match serde_json::from_slice::<Answer>(&answer) {
            Ok(answer) => answer.outcome(),
            Err(_) => Err("its reader gave no answer".into()),
        },
        Ended::Failed => Err(reason_of(&String::from_utf8_lossy(&complaint))),
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
            // It may have ended this moment; either way it is gone then.
            let _ = child.kill();
            let _ = child.wait();
            return Ended::Late;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Reads to the end in a thread of its own, keeping one byte more than `most`.
fn collected(mut input: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read is looked at; the rest is let go by, so that the process does not wait for a reader.
        let _ = (&mut input).take(most + 1).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut input, &mut std::io::sink());
        let _ = sender.send(bytes);
    });
    receiver
}

/// Why a process died, by what it said last.
fn reason_of(complaint: &str) -> String {
    if complaint.contains("memory allocation") || complaint.contains("out of memory") {
        return format!("it needs more than {} GB of memory", MEMORY_BYTES >> 30);
    }
    if complaint.contains("overflowed its stack") {
        return "a damaged PDF: nested without end".into();
    }
    "a damaged PDF: its reader died".into()
}

fn in_thread(path: &Path, limit: Duration) -> Result<PdfText, String> {
    let (sender, receiver) = mpsc::channel();
    let path = path.to_path_buf();
    let started = thread::Builder::new().name("read-pdf".into()).spawn(move || {
        // Nobody waits any more where it took too long.
        let _ = sender.send(answer(&path));
    });
    started.map_err(|error| format!("no thread could be started to read it: {error}"))?;
    match receiver.recv_timeout(limit) {
        Ok(answer) => answer.outcome(),
        Err(_) => Err(format!("not read within {} s", limit.as_secs())),
    }
}
