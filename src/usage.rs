//! How answers of the service are used: the tables that were shown for a request, and which of them were opened,
//! accepted or used. This is kept only where the settings of the lake allow it (`[usage] record = true`), in the
//! folder of the index. It has requests, ids of tables and times, but no name of a user or a session and no cell.
//!
//! Two rankings are compared by interleaving them, by team draft (Radlinski, Kurup and Joachims, CIKM 2008): in each
//! round both add their best answer that is not there yet, in an order drawn by chance. An answer that is opened
//! counts for the ranking that added it.

mod report;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::answers::SearchAnswer;
use crate::{Lakeward, Session};
use lakeward_core::error::{Error, Holds, Result};
use lakeward_core::store::{Bounds, Damage, JsonLines, LineRecord, LinesFormat, Links, Purpose};
use lakeward_core::text::shown;

pub use report::UsageReport;

/// The file in the folder of the index.
const FILE_NAME: &str = "usage.jsonl";
static FORMAT: LinesFormat = LinesFormat {
    name: "lakeward_usage",
    version: 1,
    purpose: Purpose::Private,
    bounds: Bounds {
        most_bytes: 256 << 20,
        links: Links::Refused,
        damaged: |path, reason| Error::damaged_file(Holds::Usage, path, reason),
    },
    longest_line: 64 << 10,
    most_lines: MOST_LINES,
    damage: Damage::Counted,
};
/// Events that are kept: later ones are not.
const MOST_LINES: usize = 500_000;
/// Characters of a request and of an id, and tables of an answer.
const REQUEST: usize = 500;
const ID: usize = 512;
const TABLES: usize = 200;

/// What somebody did with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Did {
    /// They got it.
    Shown,
    /// They looked at a table of it.
    Opened,
    /// They said that a table of it serves.
    Accepted,
    /// They ran an operation that reads a table of it.
    Ran,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageEvent {
    /// Seconds since 1970.
    pub at: u64,
    /// The answer it is about.
    pub answer: String,
    /// What was done.
    pub did: Did,
    /// The request; only where an answer was shown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub request: String,
    /// Ids of the tables that were shown, best first, or that something was done with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// Which of two rankings put each table there, `a` or `b`; empty if there was one ranking.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rankings: String,
    /// Whether nothing in the lake seemed to answer the request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_found: bool,
}

impl LineRecord for UsageEvent {
    fn check(&self) -> std::result::Result<(), String> {
        let fits = |text: &str, most: usize| shown(text, most) == *text;
        let known =
            fits(&self.answer, 64) && fits(&self.request, REQUEST) && self.rankings.chars().all(|it| "ab".contains(it));
        let tables =
            self.tables.len() <= TABLES && self.tables.iter().all(|id| fits(id, ID)) && self.rankings.len() <= TABLES;
        if known && tables { Ok(()) } else { Err("a text is too long, or does not show".into()) }
    }
}

/// The file, if the settings allow it.
pub struct UsageLog {
    path: PathBuf,
    lines: Mutex<Option<JsonLines>>,
}

impl UsageLog {
    /// The file of the lake; `None` unless its settings allow it.
    pub fn of(lake: &Lakeward) -> Option<Self> {
        lake.config().usage.record.then(|| Self { path: path(&lake.place().index), lines: Mutex::default() })
    }

    /// Keeps what happened. Whoever asks need not suffer where it cannot be kept.
    pub fn add(&self, answer: &str, did: Did, tables: impl IntoIterator<Item = String>) {
        self.put(UsageEvent { tables: cut(tables), ..event(answer, did) });
    }

    /// Keeps an answer that was shown.
    pub fn show(
        &self,
        answer: &str,
        request: &str,
        tables: impl IntoIterator<Item = String>,
        nothing_found: bool,
        rankings: String,
    ) {
        let request = shown(request, REQUEST);
        self.put(UsageEvent { request, tables: cut(tables), rankings, nothing_found, ..event(answer, Did::Shown) });
    }

    fn put(&self, event: UsageEvent) {
        let mut kept = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = match &mut *kept {
            Some(lines) => lines,
            None => {
                let Ok(mut opened) = whole(&self.path) else { return };
                if opened.0.lines() == 0 && opened.0.replace(&opened.1).is_err() {
                    return;
                }
                kept.insert(opened.0)
            }
        };
        if lines.lines() < MOST_LINES {
            // The next event begins anew with what is there.
            if lines.append(&[event]).is_err() {
                *kept = None;
            }
        }
    }
}

fn cut(tables: impl IntoIterator<Item = String>) -> Vec<String> {
    tables.into_iter().filter(|id| shown(id, ID) == *id).take(TABLES).collect()
}

fn event(answer: &str, did: Did) -> UsageEvent {
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |it| it.as_secs());
    UsageEvent {
        at,
        answer: shown(answer, 64),
        did,
        request: String::new(),
        tables: Vec::new(),
        rankings: String::new(),
        nothing_found: false,
    }
}

fn path(index: &Path) -> PathBuf {
    index.join(FILE_NAME)
}

/// The file at `path` as one that can be appended to, and its events.
fn whole(path: &Path) -> Result<(JsonLines, Vec<UsageEvent>)> {
    let mut events = Vec::new();
    let mut lines = JsonLines::open(path, &FORMAT, |event: UsageEvent| events.push(event))?;
    if !lines.is_whole() && lines.lines() > 0 {
        lines.replace(&events)?;
    }
    Ok((lines, events))
}

/// What is kept of the lake whose index is in the folder `index`, oldest first, and how many lines cannot be read.
///
/// # Errors
/// [`Error::Io`]; [`Error::DamagedFile`] for a file of another version or too large.
pub fn events(index: &Path) -> Result<(Vec<UsageEvent>, usize)> {
    let mut events = Vec::new();
    let lines = JsonLines::open(&path(index), &FORMAT, |event: UsageEvent| events.push(event))?;
    Ok((events, lines.unread()))
}

/// Removes all that is kept.
///
/// # Errors
/// [`Error::Io`].
pub fn forget(index: &Path) -> Result<()> {
    let path = path(index);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", &path, error)),
        _ => Ok(()),
    }
}

/// The id of the answer that the latest turn of `session` got; it does not tell the session.
pub fn answer_of(session: &Session) -> String {
    let turn = session.turns.last().map_or(0, |turn| turn.number);
    blake3::hash(format!("{}\n{}\n{turn}", session.id, session.created).as_bytes()).to_hex()[..16].to_string()
}

/// Two rankings of the same request as one: the answers, and which ranking put each. `drawn` are random bits.
pub fn interleaved(a: &[SearchAnswer], b: &[SearchAnswer], k: usize, drawn: u64) -> (Vec<SearchAnswer>, String) {
    let (mut taken, mut seen, mut by) = (Vec::new(), HashSet::new(), String::new());
    let mut rankings = [a.iter(), b.iter()];
    for turn in 0..k {
        let first = (drawn >> (turn / 2 % 64)) as usize & 1;
        let own = if turn % 2 == 0 { first } else { 1 - first };
        let next = [own, 1 - own].into_iter().find_map(|which| {
            let found = rankings[which].by_ref().find(|answer| !seen.contains(&answer.table))?;
            Some((which, found))
        });
        let Some((which, found)) = next else { break };
        seen.insert(found.table.clone());
        taken.push(found.clone());
        by.push(if which == 0 { 'a' } else { 'b' });
    }
    (taken, by)
}
