//! What sessions have taught: which tables analysts accepted or used for which requests. Kept only where the settings say so, in
//! one file in the folder of the index, and nowhere else.
//!
//! The first line names format and version, each other one something that happened: request, table, operation, time; no cell and no
//! name of a session. Lines are appended and flushed; one cut short by a crash is dropped. A rejection or an operation taken back
//! takes back what it speaks against. The file is written anew, whole or not at all, when something is forgotten or it has grown.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{Session, Step};
use super::state;
use lakeward_core::error::{Error, Result};
use lakeward_core::request::{Input, Label, Operation};
use lakeward_core::text::{lower_words, shown};
use lakeward_index::manifest::sync_folder;
use lakeward_reading::signals::content_words;

/// The file in the index folder.
pub const FILE_NAME: &str = "learned.jsonl";
/// Its format version.
pub const VERSION: u64 = 1;
/// Uses kept at the most; beyond it the oldest go.
pub const MOST_USES: usize = 5_000;
/// Lines of a file before it is written anew.
const MOST_LINES: usize = 4 * MOST_USES;
/// Bytes of a file that is read.
const MOST_BYTES: u64 = 64 << 20;
/// Characters of a request and of a table's id.
const REQUEST_CHARS: usize = 500;
const TABLE_CHARS: usize = 512;
/// A rejection takes back uses for requests that share so many of both requests' words.
const ALIKE: f64 = 0.5;
const SCRATCH_PREFIX: &str = ".learned-";

/// Taken for a request, without an operation.
const ACCEPT: &str = "accept";
const REJECT: &str = "reject";
const UNDO: &str = "undo";

/// A table that served a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnedUse {
    /// When, RFC 3339.
    pub at: String,
    /// The request as typed, cut; with the topic of its session where it does not name that itself.
    pub request: String,
    /// The table's id.
    pub table: String,
    /// `accept`, or the operation that was carried out with it.
    pub operation: String,
}

/// The requests that are about the same, with all tables that served them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedRequest<'a> {
    /// The words that it is about.
    pub words: String,
    /// Each once, in the order of their first use.
    pub tables: Vec<&'a str>,
    /// Of the latest use.
    pub year: Option<i32>,
}

/// `uses` put together by what their requests are about, ascending by their words.
pub fn learned_requests<'a>(uses: impl Iterator<Item = &'a LearnedUse>) -> Vec<LearnedRequest<'a>> {
    let mut requests: BTreeMap<String, LearnedRequest<'a>> = BTreeMap::new();
    for known in uses {
        let words = content_words(&known.request).to_lowercase();
        let new = || LearnedRequest { words: words.clone(), tables: Vec::new(), year: None };
        let request = requests.entry(words.clone()).or_insert_with(new);
        if !request.tables.contains(&known.table.as_str()) {
            request.tables.push(&known.table);
        }
        request.year = known.at.get(..4).and_then(|year| year.parse().ok()).or(request.year);
    }
    requests.into_values().collect()
}

#[derive(Serialize, Deserialize)]
struct Head {
    lakeward_learned: u64,
}

/// The file.
#[derive(Debug, Clone)]
pub struct LearnedStore {
    path: PathBuf,
}

/// What a file holds.
#[derive(Debug, Default)]
struct Contents {
    /// What stands, in the order in which it happened last.
    uses: Vec<LearnedUse>,
    lines: usize,
    /// Lines that cannot be read.
    unread: usize,
    /// Whether there is a file that lines can be appended to.
    whole: bool,
}

impl LearnedStore {
    /// What was learned of the lake whose index is in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join(FILE_NAME) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What stands, oldest first, and how many lines of the file cannot be read.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DamagedSession`] for a file that is none, is of another version or too large.
    pub fn uses(&self) -> Result<(Vec<LearnedUse>, usize)> {
        let contents = self.read()?;
        Ok((contents.uses, contents.unread))
    }

    /// Adds what happened between two states of a session; nobody else may write meanwhile.
    pub(super) fn record(&self, before: Option<&Session>, after: &Session) -> Result<()> {
        let events = events(before, after);
        if events.is_empty() {
            return Ok(());
        }
        let mut contents = self.read()?;
        let lines = contents.lines + events.len();
        if !contents.whole || lines > MOST_LINES {
            events.into_iter().for_each(|event| contents.take(event));
            return self.write(&contents.uses);
        }
        let mut bytes = Vec::new();
        for event in &events {
            serde_json::to_writer(&mut bytes, event).map_err(internal)?;
            bytes.push(b'\n');
        }
        let failed = |error| Error::io("write", &self.path, error);
        let mut file = OpenOptions::new().append(true).open(&self.path).map_err(failed)?;
        file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(failed)
    }

    /// Forgets the uses for which `gone` says so, and every trace of what no longer stood; nobody else may write meanwhile.
    pub(super) fn forget(&self, gone: &dyn Fn(&LearnedUse) -> bool) -> Result<usize> {
        let mut contents = self.read()?;
        let before = contents.uses.len();
        contents.uses.retain(|known| !gone(known));
        if contents.lines > 0 || contents.unread > 0 {
            self.write(&contents.uses)?;
        }
        Ok(before - contents.uses.len())
    }

    fn read(&self) -> Result<Contents> {
        let failed = |error| Error::io("read", &self.path, error);
        let metadata = match self.path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Contents::default()),
            outcome => outcome.map_err(failed)?,
        };
        // Not followed: a link could lead anywhere, and a pipe would never end.
        if !metadata.is_file() {
            return Err(self.damaged("it is not a file"));
        }
        let mut bytes = Vec::new();
        File::open(&self.path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(failed)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(self.damaged(&format!("it is larger than {} MB", MOST_BYTES >> 20)));
        }
        let ended = bytes.last() == Some(&b'\n');
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        // Behind the last end of a line is nothing, or what a killed writer left.
        lines.pop();
        let Some((head, lines)) = lines.split_first() else { return Ok(Contents::default()) };
        match serde_json::from_slice::<Head>(head) {
            Ok(Head { lakeward_learned: VERSION }) => {}
            Ok(Head { lakeward_learned }) => {
                let what = format!("it has version {lakeward_learned}; this program reads version {VERSION}");
                return Err(self.damaged(&what));
            }
            Err(_) => return Err(self.damaged("it does not begin with `{\"lakeward_learned\":1}`")),
        }
        let mut contents = Contents { whole: ended, ..Contents::default() };
        for line in lines {
            contents.lines += 1;
            match serde_json::from_slice::<LearnedUse>(line) {
                Ok(event) if event == event.bounded() => contents.take(event),
                _ => contents.unread += 1,
            }
        }
        Ok(contents)
    }

    fn write(&self, uses: &[LearnedUse]) -> Result<()> {
        let failed = |error| Error::io("write", &self.path, error);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        let mut bytes = serde_json::to_vec(&Head { lakeward_learned: VERSION }).map_err(internal)?;
        bytes.push(b'\n');
        for known in &uses[uses.len().saturating_sub(MOST_USES)..] {
            serde_json::to_writer(&mut bytes, known).map_err(internal)?;
            bytes.push(b'\n');
        }
        // Readable by the user alone.
        let mut file = tempfile::Builder::new().prefix(SCRATCH_PREFIX).tempfile_in(folder).map_err(failed)?;
        file.write_all(&bytes).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        sync_folder(folder)
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::damaged_session(&self.path, reason)
    }
}

impl Contents {
    /// Takes in what happened next.
    fn take(&mut self, event: LearnedUse) {
        match event.operation.as_str() {
            REJECT => {
                let words = words_of(&event.request);
                self.uses.retain(|known| known.table != event.table || !alike(&words, &words_of(&known.request)));
            }
            UNDO => self.uses.retain(|known| !known.is_of(&event) || known.operation == ACCEPT),
            _ => {
                self.uses.retain(|known| !known.is_of(&event) || known.operation != event.operation);
                self.uses.push(event);
                if self.uses.len() > MOST_USES {
                    self.uses.remove(0);
                }
            }
        }
    }
}

impl LearnedUse {
    fn new(at: &str, request: &str, table: &str, operation: &str) -> Self {
        let event =
            Self { at: at.into(), request: request.into(), table: table.into(), operation: operation.to_lowercase() };
        event.bounded()
    }

    /// The same within the bounds of a line, without what does not show.
    fn bounded(&self) -> Self {
        let table = if self.table.chars().nth(TABLE_CHARS).is_some() { "" } else { &self.table };
        Self {
            at: shown(&self.at, 40),
            request: shown(&self.request, REQUEST_CHARS),
            table: table.to_string(),
            operation: shown(&self.operation, 20),
        }
    }

    fn is_of(&self, other: &Self) -> bool {
        self.table == other.table && self.request == other.request
    }
}

/// What happened between two states of a session.
fn events(before: Option<&Session>, after: &Session) -> Vec<LearnedUse> {
    let empty = Session::new("", "");
    let before = before.unwrap_or(&empty);
    // More than one turn at once is a copy of another session: what happened there is known.
    if after.next_turn() > before.next_turn() + 1 {
        return Vec::new();
    }
    let now = state::now();
    let mut events = Vec::new();
    let mut happened = |turn: usize, table: &str, operation: &str| {
        if let Some(request) = request_of(after, turn) {
            events.push(LearnedUse::new(&now, &request, table, operation));
        }
    };
    let (accepted, rejected) = (after.accepted.iter(), after.rejected.iter());
    accepted
        .filter(|choice| !before.accepted.contains(choice))
        .for_each(|choice| happened(choice.turn, &choice.table, ACCEPT));
    rejected
        .filter(|choice| !before.rejected.contains(choice))
        .for_each(|choice| happened(choice.turn, &choice.table, REJECT));
    for (place, step) in after.steps.iter().enumerate() {
        let was_undone = before.steps.get(place).map(|step| step.undone);
        match (was_undone, step.undone) {
            (None | Some(true), false) => {
                let operation = step.operation.kind().name();
                tables_of(step).into_iter().for_each(|table| happened(step.turn, table, operation));
            }
            (Some(false), true) => {
                tables_of(step).into_iter().for_each(|table| happened(step.turn, table, UNDO));
            }
            _ => {}
        }
    }
    events.retain(|event| !event.request.is_empty() && !event.table.is_empty());
    events
}

/// The tables that a step was asked for: of a join or a union those that were added to the table at hand.
fn tables_of(step: &Step) -> Vec<&str> {
    let skipped = usize::from(matches!(step.operation, Operation::Join(_) | Operation::Union(_)));
    let inputs = step.operation.inputs().into_iter().skip(skipped);
    inputs.filter_map(|input| if let Input::Table(id) = input { Some(id.as_str()) } else { None }).collect()
}

/// What was asked in a turn: its text, else that of the turn before, where it has words; with its topic, where it does not say that.
fn request_of(session: &Session, turn: usize) -> Option<String> {
    let has_words = |text: &str| text.chars().any(char::is_alphabetic);
    let asked = session.turns.iter().rev().find(|known| known.number <= turn && has_words(&known.text))?;
    let said = words_of(&asked.text);
    let topic = asked.signals.constraints.topic.as_deref();
    match topic.filter(|topic| words_of(topic).is_disjoint(&said)) {
        Some(topic) => Some(format!("{topic}: {}", asked.text)),
        None => Some(asked.text.clone()),
    }
}

fn words_of(text: &str) -> BTreeSet<String> {
    lower_words(text).collect()
}

fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let common = a.intersection(b).count() as f64;
    common >= ALIKE * (a.len() + b.len()) as f64 - ALIKE * common
}

fn internal(error: serde_json::Error) -> Error {
    Error::Internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(request: &str, table: &str, operation: &str) -> LearnedUse {
        LearnedUse::new("2026-11-22T10:00:00.000Z", request, table, operation)
    }

    fn of(events: &[LearnedUse]) -> Vec<(String, String)> {
        let mut contents = Contents::default();
        events.iter().for_each(|event| contents.take(event.clone()));
        contents.uses.into_iter().map(|known| (known.request, known.table)).collect()
    }

    #[test]
    fn rejections_and_undone_steps_take_back() {
        let taken = [event("rain in spain", "rain", ACCEPT), event("rain in spain", "sun", "Join")];
        assert_eq!(of(&taken).len(), 2);
        let rejected = [&taken[..], &[event("Rain in Spain, please", "rain", REJECT)]].concat();
        assert_eq!(of(&rejected), [("rain in spain".to_string(), "sun".to_string())]);
        let elsewhere = [&taken[..], &[event("prices of bread", "rain", REJECT)]].concat();
        assert_eq!(of(&elsewhere).len(), 2);
        let undone =
            [&taken[..], &[event("rain in spain", "sun", UNDO), event("rain in spain", "rain", UNDO)]].concat();
        assert_eq!(of(&undone), [("rain in spain".to_string(), "rain".to_string())]);
    }

    #[test]
    fn a_line_cut_short_is_dropped_and_the_next_one_stands() {
        let folder = tempfile::tempdir().unwrap();
        let store = LearnedStore::new(folder.path());
        store.write(&[event("a b", "t1", ACCEPT), event("c d", "t2", ACCEPT)]).unwrap();
        let whole = fs::read(store.path()).unwrap();
        let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        for cut in last..whole.len() {
            fs::write(store.path(), &whole[..cut]).unwrap();
            assert_eq!(store.uses().unwrap().0.len(), 1, "{cut}");
        }
        fs::write(store.path(), b"{\"lakeward_learned\":2}\n").unwrap();
        assert!(store.uses().unwrap_err().to_string().contains("version 2"));
        let bad = [b"{\"lakeward_learned\":1}\nnonsense\n".to_vec(), whole[last..].to_vec()].concat();
        fs::write(store.path(), bad).unwrap();
        let (uses, unread) = store.uses().unwrap();
        assert_eq!((uses.len(), unread), (1, 1));
        assert_eq!(store.forget(&|known| known.table == "t2").unwrap(), 1);
        assert_eq!(fs::read_to_string(store.path()).unwrap(), "{\"lakeward_learned\":1}\n");
    }
}
