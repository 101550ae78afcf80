//! Commands of the REPL that are typed where the page takes a request: they are carried out where the page can, else the page's own way
//! is told. None is read as a question.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use super::conversation::{Opened, opened, page_with_problem, step_back, to_place};
use super::fault::Fault;
use super::layout::Visitor;
use super::memory;
use crate::service::http::app::LOOK;
use crate::service::http::refusal::Refusal;
use crate::service::percent::percent_encoded;
use lakeward_core::error::nearest_names;

/// What a command comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// The latest operation is taken back, or made again.
    Undo {
        /// Whether it is made again.
        again: bool,
    },
    /// The operation with this number is looked at before it runs; by default the first that can run.
    Run(Option<usize>),
    /// How what is named so, or stands at this place of the latest answer, is cited is shown.
    Cite(String),
    /// What is remembered is shown.
    Memory,
    /// This value is remembered in this respect.
    Remember(String, String),
    /// The page has another way: what to say of it.
    Message(String),
}

/// The commands of the REPL, with what does the same on the page.
const WAYS: [(&str, &str); 22] = [
    ("use", "say from which table to start in your request, or press “Start from this table” on the page of a table"),
    ("tables", "“Search” lists the tables of the lake"),
    ("join", "ask for “tables to join with it”; the map shows what goes together, too"),
    ("union", "ask for “tables to append to it”"),
    ("accept", "press “Accept” below a table of the latest answer"),
    ("reject", "press “Reject” below a table of the latest answer"),
    ("cite", "below each record stands how it is cited; `/cite 1` shows it in every form"),
    ("why", "the reasons stand below each table and operation"),
    ("sql", "previews and results show their SQL; `lakeward sql` runs queries of your own"),
    ("run", "press “Preview operation 1” in the latest answer, then “Run it”"),
    ("plan", "“Change its steps” below the results shows how the working table is made"),
    ("edit", "“Change its steps” below the results changes how the working table is made"),
    ("undo", "press “Take the latest operation back” below the results"),
    ("redo", "press “Make the operation again that was taken back last” below the results"),
    ("save", "a conversation on the page is saved after every turn"),
    ("sessions", "“Ask” lists the conversations"),
    ("resume", "“Ask” lists the conversations: open one to go on with it"),
    ("memory", "what is remembered stands above the latest answer: “×” takes one away, “Add a demand” adds one"),
    ("budget", "the limits are those that the service was started with"),
    ("export", "every result can be downloaded as CSV and as Parquet"),
    ("help", "write what you want in your own words; buttons in the answer do the rest"),
    ("quit", "“Log out” ends your visit"),
];

/// The command that `text` is; none for a request.
pub fn command(text: &str) -> Option<Command> {
    let text = text.trim();
    let (name, rest) = text.strip_prefix('/')?.split_once(char::is_whitespace).unwrap_or((text.get(1..)?, ""));
    // A path is no command.
    if !name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> = rest.split_whitespace().collect();
    Some(match (name.as_str(), words.as_slice()) {
        ("undo", []) => Command::Undo { again: false },
        ("redo", []) => Command::Undo { again: true },
        ("run", []) => Command::Run(None),
        ("run", [number]) if number.parse::<usize>().is_ok() => Command::Run(number.parse().ok()),
        ("cite", [named]) => Command::Cite(named.to_string()),
        ("memory", []) => Command::Memory,
        ("memory", ["set", role, value @ ..]) if !value.is_empty() => {
            Command::Remember(role.to_string(), value.join(" "))
        }
        _ => Command::Message(message(&name)),
    })
}

fn message(name: &str) -> String {
    match WAYS.iter().find(|(known, _)| *known == name) {
        Some((_, way)) => format!("`/{name}` is a command of `lakeward repl`. On this page: {way}"),
        None => {
            let nearest = nearest_names(name, WAYS.iter().map(|(known, _)| *known), 1);
            let meant = nearest.first().and_then(|nearest| WAYS.iter().find(|(known, _)| known == nearest));
            let meant = meant.map(|(known, way)| format!("; if you mean `/{known}`: {way}")).unwrap_or_default();
            format!("`/{name}` is no command{meant}. To ask it as it stands, leave the slash out")
        }
    }
}

/// A command of the REPL that was typed as a request.
pub async fn carried_out(
    visitor: &Visitor,
    id: &str,
    revision: u64,
    command: Command,
    typed: &str,
) -> Result<Response, Fault> {
    let message = match command {
        Command::Undo { again } => return step_back(visitor, id, revision, again, typed).await,
        Command::Memory => return Ok(to_place(id, "#memory")),
        Command::Remember(role, value) => {
            return memory::remember(visitor, id, revision, (role, value), typed).await;
        }
        Command::Run(number) => {
            let Opened { session, .. } = opened(visitor, id.to_string()).await?;
            let latest = session.latest().and_then(|turn| Some((turn.number, turn.recommendation.as_ref()?)));
            let runnable = latest.and_then(|(turn, answer)| {
                let first = || answer.worth_showing().position(|operation| operation.runnable.is_some());
                Some((turn, number.or_else(|| Some(first()? + 1))?))
            });
            match runnable {
                Some((turn, number)) => {
                    return Ok(to_place(id, &format!("/preview?turn={turn}&operation={number}")));
                }
                None => "the latest answer has no operation that can be run".to_string(),
            }
        }
        Command::Cite(named) => {
            let listed = opened(visitor, id.to_string()).await?.session.listed();
            let place = named.parse::<usize>().ok().and_then(|number| listed.get(number.checked_sub(1)?).cloned());
            let cited = visitor.work(LOOK, move |lake, _| {
                let resolution = lake.resolve(place.as_deref().unwrap_or(&named))?;
                Ok(resolution.tables.first().map(|table| table.table.clone()).ok_or(resolution.explanation))
            });
            match cited.await? {
                Ok(table) => {
                    return Ok(Redirect::to(&format!("/table?id={}#cite", percent_encoded(&table))).into_response());
                }
                Err(unknown) => unknown,
            }
        }
        Command::Message(message) => message,
    };
    page_with_problem(visitor, id, Refusal::new(StatusCode::BAD_REQUEST, message, None), typed).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command::COMMANDS;

    #[test]
    fn every_command_of_the_repl_has_a_way_on_the_page() {
        let named: Vec<&str> = COMMANDS.iter().map(|command| &command.name[1..]).collect();
        assert_eq!(WAYS.map(|(name, _)| name).to_vec(), named);
    }

    #[test]
    fn commands_are_told_apart_from_requests() {
        for request in ["sales by city", "/srv/data/sales.csv", "/", "1/2 of it", "/2020"] {
            let found = command(request);
            assert!(found.is_none() || request == "/", "{request}: {found:?}");
        }
        assert_eq!(command(" /undo "), Some(Command::Undo { again: false }));
        assert_eq!(command("/run 2"), Some(Command::Run(Some(2))));
        assert_eq!(command("/cite 10.5/a"), Some(Command::Cite("10.5/a".into())));
        assert_eq!(command("/memory set place New York"), Some(Command::Remember("place".into(), "New York".into())));
        for (line, part) in
            [("/memory clear", "×"), ("/memry", "`/memory`"), ("/help", "own words"), ("/xyzzy", "no command")]
        {
            assert!(matches!(command(line), Some(Command::Message(message)) if message.contains(part)), "{line}");
        }
    }
}
