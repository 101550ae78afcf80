//! The folder of sessions: one JSON file a session, replaced as a whole or not at all.
//!
//! A save writes a temporary file beside the old one, flushes it, renames it and flushes the folder, under a lock and only
//! when the file on the disk is the one that was opened. What cannot be read is never overwritten, and no name or path in a
//! document leads out of the folder: files of a lake may come from anybody.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::Local;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{Session, VERSION};
use super::feedback::{FeedbackStore, TableUse};
use super::{check, compress, layout, older, state};
use lakeward_core::error::{Error, Holds, Result, nearest_names};
use lakeward_core::store::{AtomicFile, Bounds, FileLock, Links, Purpose, remove_unfinished, version_of};
use lakeward_core::text::shown;

/// The folder of sessions in the index folder.
const FOLDER: &str = "sessions";
const EXTENSION: &str = "json";
const LOCK_FILE: &str = ".lock";
/// No session is larger, in bytes; a larger file is not read, and not written.
pub const GREATEST_FILE: u64 = 16 << 20;
const BOUNDS: Bounds = Bounds { most_bytes: GREATEST_FILE, links: Links::Refused, damaged: damaged_session };
/// Characters of a name.
const GREATEST_NAME: usize = 64;
/// A save takes milliseconds; whoever holds the lock longer hangs.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// Names with another start are chosen by people.
const DATE: &str = "%Y-%m-%d";

/// A folder of sessions.
#[derive(Debug, Clone)]
pub struct SessionStore {
    folder: PathBuf,
    /// Where what sessions teach is kept, if anywhere.
    learned: Option<FeedbackStore>,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummary {
    /// Its name.
    pub id: String,
    /// What is in it, or why it cannot be used.
    #[serde(flatten)]
    pub state: SessionState,
}

/// What a list says of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SessionState {
    /// It can be resumed.
    Readable {
        /// When it began, RFC 3339.
        created: String,
        /// When it was last written, RFC 3339.
        updated: String,
        /// Requests so far.
        turns: usize,
        /// Operations carried out.
        steps: usize,
        /// The first request that is kept, in short.
        first_request: Option<String>,
    },
    /// It cannot, and is left as it is.
    Damaged {
        /// Its file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

impl SessionStore {
    /// The sessions of the index in `index_folder`, which need not exist yet.
    pub fn new(index_folder: &Path) -> Self {
        Self { folder: index_folder.join(FOLDER), learned: None }
    }

    /// The same, keeping in `learned` what sessions teach; without one nothing is kept.
    pub fn teaching(self, learned: Option<FeedbackStore>) -> Self {
        Self { learned, ..self }
    }

    /// The folder of the sessions' files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder, for this user alone.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DamagedFile`] where something else stands in its place.
    pub fn make_folder(&self) -> Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        if let Some(parent) = self.folder.parent() {
            builder.create(parent).map_err(|error| Error::io("create", parent, error))?;
        }
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        self.check_folder()?;
        builder.create(&self.folder).map_err(|error| Error::io("create", &self.folder, error))
    }

    /// Begins a session called `name`, or by the date and a number (`2026-11-22-1`), about `lake`; it is on the disk when this
    /// returns, so that the name is taken.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that is taken or not one; [`Error::Io`].
    pub fn create(&self, name: Option<&str>, lake: &str) -> Result<Session> {
        name.map_or(Ok(()), check_name)?;
        self.make_folder()?;
        let _lock = self.lock()?;
        let id = match name {
            Some(name) => name.to_string(),
            None => self.next_id()?,
        };
        let mut session = Session::new(id, lake);
        session.revision = 1;
        self.write(&session, true)?;
        Ok(session)
    }

    /// Today's date with the number after the greatest that a file or folder has.
    fn next_id(&self) -> Result<String> {
        let today = Local::now().format(DATE).to_string();
        let number = |name: &str| name.strip_prefix(&today)?.strip_prefix('-')?.parse::<u32>().ok();
        let names = self.names()?;
        let greatest = names.iter().filter_map(|name| number(name.split('.').next().unwrap_or_default())).max();
        Ok(format!("{today}-{}", greatest.unwrap_or(0).saturating_add(1)))
    }

    /// The session `id`.
    ///
    /// # Errors
    /// [`Error::UnknownSession`] with the nearest names; [`Error::DamagedFile`], [`Error::SessionVersion`] and
    /// [`Error::Io`] naming the file.
    pub fn open(&self, id: &str) -> Result<Session> {
        check_name(id)?;
        let Some(bytes) = self.read(id)? else {
            return Err(Error::UnknownSession { id: id.to_string(), nearest: self.nearest(id)? });
        };
        parse(&bytes, id, &self.path(id))
    }

    /// Writes the session: all of it or nothing. Old turns are compressed, and `session` is what a reader of the file has.
    ///
    /// # Errors
    /// [`Error::SessionChanged`] when the file on the disk is not the one that was opened or last saved;
    /// [`Error::DamagedFile`] and [`Error::SessionVersion`] when it cannot be read; [`Error::Usage`] when the session
    /// has grown too large; [`Error::Io`]. Nothing is overwritten then.
    pub fn save(&self, session: &mut Session) -> Result<()> {
        check_name(&session.id)?;
        self.make_folder()?;
        let _lock = self.lock()?;
        let path = self.path(&session.id);
        let found = self.read(&session.id)?;
        // All of it: a document that is damaged further down is not overwritten either.
        let stored = found.as_ref().map(|bytes| parse(bytes, &session.id, &path)).transpose()?;
        if stored.as_ref().is_some_and(|stored| stored.revision != session.revision) {
            return Err(Error::SessionChanged { id: session.id.clone() });
        }
        let mut next = session.clone();
        compress::compress(&mut next);
        next.revision = session.revision.saturating_add(1);
        next.updated = state::now();
        *session = self.write(&next, found.is_none())?;
        match &self.learned {
            Some(learned) => learned.record(stored.as_ref(), session),
            None => Ok(()),
        }
    }

    /// Forgets what sessions have taught, where `gone` says so; how much that was.
    ///
    /// # Errors
    /// Those of [`FeedbackStore::uses`].
    pub fn forget_learned(&self, learned: &FeedbackStore, gone: &dyn Fn(&TableUse) -> bool) -> Result<usize> {
        self.make_folder()?;
        let _lock = self.lock()?;
        learned.forget(gone)
    }

    /// Writes the document under the lock; returns it as it reads, since a number may read as its neighbour: whoever goes on with the one
    /// in memory has to answer like whoever opens the file.
    fn write(&self, session: &Session, new: bool) -> Result<Session> {
        let path = self.path(&session.id);
        let text = layout::text(session)?;
        if text.len() as u64 > GREATEST_FILE {
            return Err(Error::usage(format!(
                "session `{}` has grown to {} MB, more than a session may have; begin another one",
                session.id,
                text.len() >> 20
            )));
        }
        // What could not be read again is never written: a figure that is no number, say.
        let read = parse(&text, &session.id, &path).map_err(|error| Error::Internal(error.to_string()))?;
        remove_unfinished(&path);
        let mut file = AtomicFile::create(&path, Purpose::Private)?;
        file.put(&text)?;
        if !new {
            file.replace()?;
        } else if file.claim()?.is_none() {
            return Err(Error::usage(format!("there is a session `{}` already", session.id)));
        }
        Ok(read)
    }

    /// Removes a session in which nothing happened since `create`; leaves any other.
    ///
    /// # Errors
    /// [`Error::Io`] and those of [`SessionStore::open`].
    pub fn discard_untouched(&self, session: &Session) -> Result<()> {
        let _lock = self.lock()?;
        let stored = self.open(&session.id)?;
        if !stored.is_untouched() || stored.revision != session.revision {
            return Ok(());
        }
        let path = self.path(&session.id);
        fs::remove_file(&path).map_err(|error| Error::io("remove", &path, error))
    }

    /// All sessions, the one written last first; files that cannot be used after them, by name.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder cannot be listed.
    pub fn list(&self) -> Result<Vec<SessionSummary>> {
        let mut found: Vec<(String, SessionSummary)> = Vec::new();
        for name in self.names()? {
            let Some(id) = name.strip_suffix(EXTENSION).and_then(|id| id.strip_suffix('.')) else { continue };
            if id.starts_with('.') {
                continue;
            }
            let (updated, state) = match self.open(id) {
                Ok(session) => (session.updated.clone(), summary(&session)),
                Err(error) => {
                    let file = self.folder.join(&name);
                    (String::new(), SessionState::Damaged { file, reason: reason_of(&error) })
                }
            };
            found.push((updated, SessionSummary { id: id.to_string(), state }));
        }
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
        Ok(found.into_iter().map(|(_, summary)| summary).collect())
    }

    /// The session written last, of those that can be resumed.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder cannot be listed.
    pub fn latest(&self) -> Result<Option<String>> {
        let readable = |session: &SessionSummary| matches!(session.state, SessionState::Readable { .. });
        Ok(self.list()?.into_iter().find(readable).map(|session| session.id))
    }

    /// The folder for the results of a session's steps, which need not exist yet. A step's `file` is its path below
    /// [`SessionStore::folder`]: `NAME.steps/1.parquet`.
    pub fn steps_folder(&self, session: &Session) -> PathBuf {
        self.folder.join(format!("{}.steps", session.id))
    }

    /// Where the next step is to write its result: the path, and what [`super::Step::file`] says of it. Makes the folder.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DamagedFile`] where something else stands in the folder's place.
    pub fn new_step(&self, session: &Session) -> Result<(PathBuf, String)> {
        check_name(&session.id)?;
        self.make_folder()?;
        let folder = self.steps_folder(session);
        match fs::create_dir(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("create", &folder, error)),
        }
        // Not followed: a link would have results written elsewhere.
        if !folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(damaged_session(&folder, "it is not a folder".into()));
        }
        let name = format!("{}.parquet", session.steps.len() + 1);
        let file = format!("{}.steps/{name}", session.id);
        Ok((folder.join(name), file))
    }

    /// The file that holds the result of step `number`.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is no such step; [`Error::DamagedFile`] when its file is outside the folder of
    /// sessions; [`Error::Io`] when it is gone.
    pub fn step_path(&self, session: &Session, number: usize) -> Result<PathBuf> {
        let Some(step) = session.step(number) else {
            let have = match session.steps.len() {
                0 => "no operation was run in it".to_string(),
                count => format!("it has steps 1 to {count}"),
            };
            return Err(Error::usage(format!("session `{}` has no step {number}: {have}", session.id)));
        };
        let outside = || {
            let reason = format!("the file of step {number}, `{}`, is outside the folder of sessions", step.file);
            damaged_session(&self.path(&session.id), reason)
        };
        if !check::is_below(&step.file) {
            return Err(outside());
        }
        let path = self.folder.join(&step.file);
        let real = path.canonicalize().map_err(|error| Error::io("read", &path, error))?;
        let folder = self.folder.canonicalize().map_err(|error| Error::io("read", &self.folder, error))?;
        if real.starts_with(&folder) && real.is_file() { Ok(path) } else { Err(outside()) }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.{EXTENSION}"))
    }

    /// The folder must not be a link that somebody put there to have files written elsewhere.
    fn check_folder(&self) -> Result<()> {
        match self.folder.symlink_metadata() {
            Ok(metadata) if !metadata.is_dir() => Err(damaged_session(&self.folder, "it is not a folder".into())),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::io("read", &self.folder, error)),
        }
    }

    /// The bytes of session `id`, where it exists.
    fn read(&self, id: &str) -> Result<Option<Vec<u8>>> {
        self.check_folder()?;
        BOUNDS.read(&self.path(id))
    }

    /// The names of all files in the folder, in order; those that are not text are shown as well as they can be.
    fn names(&self) -> Result<BTreeSet<String>> {
        self.check_folder()?;
        let failed = |error| Error::io("list", &self.folder, error);
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            outcome => outcome.map_err(failed)?,
        };
        entries.map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())).collect()
    }

    /// Names of sessions to propose instead of `id`.
    fn nearest(&self, id: &str) -> Result<Vec<String>> {
        let list = self.list()?;
        let ids: Vec<&str> = list.iter().map(|session| session.id.as_str()).collect();
        let nearest = nearest_names(id, ids.iter().copied(), 5);
        Ok(if nearest.is_empty() { ids.into_iter().take(3).map(str::to_string).collect() } else { nearest })
    }

    /// Waits until no other process writes a session.
    fn lock(&self) -> Result<FileLock> {
        FileLock::wait(&self.folder.join(LOCK_FILE), LOCK_PATIENCE).map_err(|error| match error {
            Error::Locked { pid, path } => {
                Error::usage(format!("another process (pid {pid}) keeps writing sessions in `{}`", path.display()))
            }
            other => other,
        })
    }
}

/// Whether `name` can be a session's: letters, digits, `-`, `_`, `.`, at most 64 of them, not beginning with a dot.
///
/// # Errors
/// [`Error::Usage`] saying what is wrong.
pub fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let wrong = if name.is_empty() {
        "is empty"
    } else if name.len() > GREATEST_NAME {
        "is too long"
    } else if name.starts_with(['.', '-']) {
        "begins with a dot or a dash"
    } else if !name.chars().all(plain) {
        "has other characters"
    } else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "`{}` cannot be a session's name: it {wrong}; a name has at most {GREATEST_NAME} letters, digits, `-`, `_` and `.`",
        shown(name, 80)
    )))
}

/// The session that `bytes` hold.
fn parse(bytes: &[u8], id: &str, path: &Path) -> Result<Session> {
    let session: Session = match version(bytes, path)? {
        VERSION => serde_json::from_slice(bytes),
        _ => serde_json::from_slice(bytes).and_then(|document| serde_json::from_value(older::upgraded(document))),
    }
    .map_err(|error| damaged(path, &error))?;
    if session.id != id {
        let reason = format!("it says it is session `{}`", shown(&session.id, 80));
        return Err(damaged_session(path, reason));
    }
    check::fault(&session).map_or(Ok(session), |reason| Err(damaged_session(path, reason)))
}

/// The version, which is looked at first: a document of another may have fields of other shapes.
fn version(bytes: &[u8], path: &Path) -> Result<u32> {
    let found = version_of(bytes, "version").map_err(|error| damaged(path, &error))?;
    let version = found.ok_or_else(|| damaged_session(path, "it is no session (it names no version)".into()))?;
    let known = u32::try_from(version).ok().filter(|version| (older::OLDEST..=VERSION).contains(version));
    known.ok_or_else(|| Error::SessionVersion { path: path.to_path_buf(), found: version, expected: VERSION })
}

fn damaged_session(path: &Path, reason: String) -> Error {
    Error::damaged_file(Holds::Session, path, reason)
}

fn damaged(path: &Path, error: &serde_json::Error) -> Error {
    let reason = match error.classify() {
        serde_json::error::Category::Eof => format!("it ends too early ({error})"),
        serde_json::error::Category::Data => format!("it is no session ({error})"),
        _ => format!("it is no JSON ({error})"),
    };
    damaged_session(path, shown(&reason, 400))
}

/// Why a file cannot be used, without its name.
fn reason_of(error: &Error) -> String {
    match error {
        Error::DamagedFile { reason, .. } => reason.clone(),
        Error::SessionVersion { found, expected, .. } => {
            format!("it has version {found}; this program reads version {expected}")
        }
        Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

fn summary(session: &Session) -> SessionState {
    const REQUEST: usize = 120;
    SessionState::Readable {
        created: session.created.clone(),
        updated: session.updated.clone(),
        turns: session.next_turn() - 1,
        steps: session.steps.len(),
        first_request: session.turns.first().map(|turn| shown(&turn.text, REQUEST)),
    }
}
