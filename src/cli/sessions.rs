//! `lakeward sessions`

use std::path::Path;

use super::args::{Arguments, SessionsCommand, SessionsWhat};
use super::printer::conversation;
use super::{Status, lake, printer};
use lakeward::documents::SessionList;
use lakeward::functions;
use lakeward_agent::execution;
use lakeward_agent::session::{Session, SessionState, SessionStore, transcript};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::Plan;
use lakeward_core::store::{AtomicFile, Purpose};
use lakeward_core::text::shown;
use lakeward_operate::{LakeContext, Limits, own_functions, plan_inputs, plan_script, plan_sql};

/// Characters of a line of comment.
const COMMENT: usize = 600;

/// Lists sessions, shows one, or exports its transcript.
pub fn run(arguments: &Arguments, command: &SessionsCommand) -> Result<Status> {
    let store = SessionStore::new(&lake::place(arguments, None)?.index);
    match &command.what {
        None => list(arguments, &store),
        Some(SessionsWhat::Show { id }) => show(arguments, &chosen(&store, id.as_deref())?),
        Some(SessionsWhat::Export { id, out, sql, python }) => {
            let session = chosen(&store, id.as_deref())?;
            let is_table = *sql || *python;
            let text = if is_table { again(arguments, &session, *python)? } else { transcript::markdown(&session) };
            export(arguments, &session, &text, out.as_deref())
        }
    }
}

/// The session called `id`, else the most recently written one.
fn chosen(store: &SessionStore, id: Option<&str>) -> Result<Session> {
    match id {
        Some(id) => store.open(id),
        None => match store.latest()? {
            Some(id) => store.open(&id),
            None => Err(Error::usage(format!("there is no session in `{}` yet", store.folder().display()))),
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
        printer::json(&SessionList::new(store, sessions))?;
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

/// What makes the working table of a session again: its query behind what it reads, or a script.
fn again(arguments: &Arguments, session: &Session, python: bool) -> Result<String> {
    let plan = session.plan().ok_or_else(|| Error::usage(format!("session `{}` has no working table", session.id)))?;
    let lakeward = lake::open(arguments)?;
    let context = functions::context(&lakeward, Limits::default())?;
    execution::connect(&context, &lakeward.sessions(), session)?;
    let title = format!("The working table of session {}: {}", session.id, plan.relation.source);
    plan_text(&context, &plan, &lakeward.place().lake, title, python)
}

/// What makes the result of a plan again, below `title` and the steps: its query behind what it reads, or a script in Python.
pub(super) fn plan_text(
    context: &LakeContext,
    plan: &Plan,
    lake: &Path,
    title: String,
    python: bool,
) -> Result<String> {
    let mut heading = vec![title];
    heading.extend(plan.relation.steps.iter().enumerate().map(|(place, step)| format!("{}. {step}", place + 1)));
    let shown_lines = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| shown(line, COMMENT)).collect() };
    if python {
        return plan_script(context, plan, lake, &shown_lines(&heading));
    }
    let sql = plan_sql(context, plan)?;
    for table in plan_inputs(context, plan)? {
        let path = table.path.strip_prefix(lake).unwrap_or(&table.path).display();
        heading.push(format!("{} is {path}, content {}", table.sql, table.content));
    }
    let own = own_functions(&sql)?.join(", ");
    if !own.is_empty() {
        heading.push(format!(
            "{own}: of Lakeward, other engines lack it; `lakeward sql -- \"$(cat FILE)\"` runs this query, `--python` defines it"
        ));
    }
    let comments: String = shown_lines(&heading).iter().map(|line| format!("-- {line}\n")).collect();
    Ok(format!("{comments}{sql};\n"))
}

fn export(arguments: &Arguments, session: &Session, text: &str, out: Option<&Path>) -> Result<Status> {
    let Some(path) = out else {
        printer::data(text.as_bytes());
        return Ok(Status::Done);
    };
    write_new(path, text)?;
    if !arguments.quiet {
        printer::note(&format!("session `{}` written to `{}`", session.id, path.display()));
    }
    Ok(Status::Done)
}

/// Writes `text` to a file that must not exist yet.
pub fn write_new(path: &Path, text: &str) -> Result<()> {
    let file_exists = || Error::usage(format!("`{}` exists; name a file that does not", path.display()));
    if path.symlink_metadata().is_ok() {
        return Err(file_exists());
    }
    let mut file = AtomicFile::create(path, Purpose::Output)?;
    file.put(text.as_bytes())?;
    file.claim()?.map(|_| ()).ok_or_else(file_exists)
}
