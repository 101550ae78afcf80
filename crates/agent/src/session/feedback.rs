//! What sessions have taught: which tables analysts accepted or used for which requests. Kept only where the settings say so, in
//! one file in the folder of the index, and nowhere else.
//!
//! The first line names format and version, each other one something that happened: request, table, operation, time; no cell and no
//! name of a session. Lines are appended and flushed; one cut short by a crash is dropped. A rejection or an operation taken back
//! takes back what it speaks against. The file is written anew, whole or not at all, when something is forgotten or it has grown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{Session, Step};
use super::state;
use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::request::{Input, Label, topic_words};
use lakeward_core::store::{Bounds, Damage, JsonLines, LineRecord, LinesFormat, Links, Purpose, remove_unfinished};
use lakeward_core::text::{content_words, lower_words, shown};

/// The file in the index folder.
pub const FILE_NAME: &str = "learned.jsonl";
static FORMAT: LinesFormat = LinesFormat {
    name: "lakeward_learned",
    version: 1,
    purpose: Purpose::Private,
    bounds: Bounds {
        most_bytes: 64 << 20,
        links: Links::Refused,
        damaged: |path, reason| Error::damaged_file(Holds::Learned, path, reason),
    },
    longest_line: 64 << 10,
    most_lines: usize::MAX,
    damage: Damage::Counted,
};
/// Uses kept at the most; beyond it the oldest go.
pub const MOST_USES: usize = 5_000;
/// Lines of a file before it is written anew.
const MOST_LINES: usize = 4 * MOST_USES;
/// Characters of a request and of a table's id.
const REQUEST_CHARS: usize = 500;
const TABLE_CHARS: usize = 512;
/// A rejection takes back uses for requests that share so many of both requests' words.
const ALIKE: f64 = 0.5;

/// Taken for a request, without an operation.
const ACCEPT: &str = "accept";
const REJECT: &str = "reject";
const UNDO: &str = "undo";

/// A table that served a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableUse {
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
pub struct RequestFeedback<'a> {
    /// The words that it is about.
    pub words: String,
    /// Each once, in the order of their first use.
    pub tables: Vec<&'a str>,
    /// Of the latest use.
    pub year: Option<i32>,
}

/// `uses` put together by what their requests are about, ascending by their words.
pub fn requests_with_feedback<'a>(uses: impl Iterator<Item = &'a TableUse>) -> Vec<RequestFeedback<'a>> {
    let mut requests: BTreeMap<String, RequestFeedback<'a>> = BTreeMap::new();
    for known in uses {
        let words = content_words(&known.request).to_lowercase();
        let new = || RequestFeedback { words: words.clone(), tables: Vec::new(), year: None };
        let request = requests.entry(words.clone()).or_insert_with(new);
        if !request.tables.contains(&known.table.as_str()) {
            request.tables.push(&known.table);
        }
        request.year = known.at.get(..4).and_then(|year| year.parse().ok()).or(request.year);
    }
    requests.into_values().collect()
}

/// The file.
#[derive(Debug, Clone)]
pub struct FeedbackStore {
    path: PathBuf,
}

/// What a file holds.
#[derive(Debug, Default)]
struct Contents {
    /// What stands, in the order in which it happened last.
    uses: Vec<TableUse>,
}

impl FeedbackStore {
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
    /// [`Error::Io`]; [`Error::DamagedFile`] for a file that is none, is of another version or too large.
    pub fn uses(&self) -> Result<(Vec<TableUse>, usize)> {
        let (lines, contents) = self.read()?;
        Ok((contents.uses, lines.unread()))
    }

    /// Adds what happened between two states of a session; nobody else may write meanwhile.
    pub(super) fn record(&self, before: Option<&Session>, after: &Session) -> Result<()> {
        let events = events(before, after);
        if events.is_empty() {
            return Ok(());
        }
        let (mut lines, mut contents) = self.read()?;
        if !lines.is_whole() || lines.lines() + events.len() > MOST_LINES {
            events.into_iter().for_each(|event| contents.take(event));
            return contents.write(&mut lines);
        }
        lines.append(&events)?;
        lines.sync()
    }

    /// Forgets the uses for which `gone` says so, and every trace of what no longer stood; nobody else may write meanwhile.
    pub(super) fn forget(&self, gone: &dyn Fn(&TableUse) -> bool) -> Result<usize> {
        let (mut lines, mut contents) = self.read()?;
        let before = contents.uses.len();
        contents.uses.retain(|known| !gone(known));
        if lines.lines() > 0 {
            contents.write(&mut lines)?;
        }
        Ok(before - contents.uses.len())
    }

    fn read(&self) -> Result<(JsonLines, Contents)> {
        let mut contents = Contents::default();
        let lines = JsonLines::open(&self.path, &FORMAT, |event| contents.take(event))?;
        Ok((lines, contents))
    }
}

impl LineRecord for TableUse {
    fn check(&self) -> Result<(), String> {
        if *self == self.bounded() { Ok(()) } else { Err("a text is too long, or does not show".into()) }
    }
}

impl Contents {
    /// Writes the file anew with what stands; nobody else may write meanwhile.
    fn write(&self, lines: &mut JsonLines) -> Result<()> {
        remove_unfinished(lines.path());
        lines.replace(&self.uses)
    }

    /// Takes in what happened next.
    fn take(&mut self, event: TableUse) {
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

impl TableUse {
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
fn events(before: Option<&Session>, after: &Session) -> Vec<TableUse> {
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
            events.push(TableUse::new(&now, &request, table, operation));
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
                let operation = step.plan.kind().name();
                tables_of(after, step).into_iter().for_each(|table| happened(step.turn, table, operation));
            }
            (Some(false), true) => {
                tables_of(after, step).into_iter().for_each(|table| happened(step.turn, table, UNDO));
            }
            _ => {}
        }
    }
    events.retain(|event| !event.request.is_empty() && !event.table.is_empty());
    events
}

/// The tables that a step was asked for: those that its plan adds to the one it goes on from; of a join or a union of a table
/// at hand those that were added to it.
fn tables_of<'s>(session: &'s Session, step: &'s Step) -> Vec<&'s str> {
    let earlier = session.steps[..step.number - 1].iter().rev().find(|earlier| step.plan.continues(&earlier.plan));
    let known = match earlier {
        Some(earlier) => earlier.plan.inputs(),
        None if step.plan.kind().combines() => vec![&step.plan.relation.source],
        None => Vec::new(),
    };
    let inputs = step.plan.inputs().into_iter().filter(|input| !known.contains(input));
    inputs.filter_map(Input::table).collect()
}

/// What was asked in a turn: its text, else that of the turn before, where it has words; with its topic, where it does not say that.
fn request_of(session: &Session, turn: usize) -> Option<String> {
    let has_words = |text: &str| text.chars().any(char::is_alphabetic);
    let asked = session.turns.iter().rev().find(|known| known.number <= turn && has_words(&known.text))?;
    let said = words_of(&asked.text);
    let topic = topic_words(&asked.signals.demands).next();
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn event(request: &str, table: &str, operation: &str) -> TableUse {
        TableUse::new("2026-11-22T10:00:00.000Z", request, table, operation)
    }

    fn of(events: &[TableUse]) -> Vec<(String, String)> {
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
    fn what_is_no_use_is_counted_and_leaves_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = FeedbackStore::new(folder.path());
        let line = serde_json::to_string(&event("c d", "t2", ACCEPT)).unwrap();
        let loud = serde_json::to_string(&TableUse { table: "x".repeat(600), ..event("e", "", ACCEPT) }).unwrap();
        let text = format!("{{\"lakeward_learned\":1}}\nnonsense\n{loud}\n{line}\n{line}");
        fs::write(store.path(), text).unwrap();
        let (uses, unread) = store.uses().unwrap();
        assert_eq!((uses.len(), unread), (1, 2));
        assert_eq!(store.forget(&|known| known.table == "t2").unwrap(), 1);
        assert_eq!(fs::read_to_string(store.path()).unwrap(), "{\"lakeward_learned\":1}\n");
    }
}
