//! `lakeward sessions`

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Arguments, SessionsCommand, SessionsWhat};
use super::printer::conversation;
use super::{Status, lake, printer};
use lakeward_agent::session::{Session, SessionState, SessionStore, SessionSummary, transcript};
use lakeward_core::error::{Error, Result};
use lakeward_core::store::{AtomicFile, Purpose};

/// What `sessions --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionList {
    /// The program's version.
    pub lakeward: &'static str,
    /// The folder of their files.
    pub folder: String,
    /// The sessions, the most recently written first; unusable ones last.
    pub sessions: Vec<SessionSummary>,
}

/// Lists sessions, shows one, or exports its transcript.
pub fn run(arguments: &Arguments, command: &SessionsCommand) -> Result<Status> {
    let store = SessionStore::new(&lake::place(arguments, None)?.index);
    match &command.what {
        None => list(arguments, &store),
        Some(SessionsWhat::Show { id }) => show(arguments, &chosen(&store, id.as_deref())?),
        Some(SessionsWhat::Export { id, out }) => export(arguments, &chosen(&store, id.as_deref())?, out.as_deref()),
    }
}

/// The session called `id`, else the most recently written one.
fn chosen(store: &SessionStore, id: Option<&str>) -> Result<Session> {
    match id {
        Some(id) => store.open(id),
        None => match store.latest()? {
            Some(id) => store.open(&id),
            None => Err(Error::Usage(format!("there is no session in `{}` yet", store.folder().display()))),
        },
    }
}

/// Prints the list of sessions.
pub(super) fn list(arguments: &Arguments, store: &SessionStore) -> Result<Status> {
    let sessions = store.list()?;
    let damaged = sessions.iter().any(|session| matches!(session.state, SessionState::Damaged { .. }));
    let status = match (sessions.is_empty(), damaged) {
        (true, _) => Status::NothingFound,
        (false, true) => Status::InPart,
        (false, false) => Status::Done,
    };
    if arguments.json {
        let folder = store.folder().display().to_string();
        printer::json(&SessionList { lakeward: env!("CARGO_PKG_VERSION"), folder, sessions })?;
        return Ok(status);
    }
    conversation::sessions(&sessions);
    conversation::damaged_sessions(&sessions);
    if !arguments.quiet && status != Status::NothingFound {
        printer::narrate("resume one: `lakeward repl --session NAME`; show one: `lakeward sessions show NAME`");
    }
    Ok(status)
}

fn show(arguments: &Arguments, session: &Session) -> Result<Status> {
    if arguments.json {
        printer::json(session)?;
    } else {
        conversation::session(session);
    }
    Ok(Status::Done)
}

fn export(arguments: &Arguments, session: &Session, out: Option<&Path>) -> Result<Status> {
    let text = transcript::markdown(session);
    let Some(path) = out else {
        printer::data(text.as_bytes());
        return Ok(Status::Done);
    };
    write_new(path, &text)?;
    if !arguments.quiet {
        printer::note(&format!("session `{}` written to `{}`", session.id, path.display()));
    }
    Ok(Status::Done)
}

/// Writes `text` to a file that must not exist yet.
pub fn write_new(path: &Path, text: &str) -> Result<()> {
    let file_exists = || Error::Usage(format!("`{}` exists; name a file that does not", path.display()));
    if path.symlink_metadata().is_ok() {
        return Err(file_exists());
    }
    let mut file = AtomicFile::create(path, Purpose::Output)?;
    file.put(text.as_bytes())?;
    file.claim()?.map(|_| ()).ok_or_else(file_exists)
}
