//! What a line of the REPL means: a request, a number, or a slash command.

use lakeward_core::error::{Error, Result, nearest_names};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::plan::Edit;
use lakeward_core::text::shown;

/// A parsed line.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Nothing was typed.
    Nothing,
    /// A number alone: the answer to the open question, if there is one.
    Number(usize),
    /// Anything else is a request.
    Request(String),
    Command(Slash),
}

/// A slash command.
#[derive(Debug, Clone, PartialEq)]
pub enum Slash {
    /// Set the working table, or show it.
    Use(Option<Pick>),
    /// List the lake's tables whose ids contain a text.
    Tables(Option<String>),
    /// Find tables to join, given a table, a column, or both.
    Join(Vec<String>),
    /// Find tables to append.
    Union(Option<Pick>),
    /// Accept a table.
    Accept(Pick),
    /// Reject a table.
    Reject(Pick),
    /// Cite a table or record, or all of the list.
    Cite(Option<Pick>),
    /// Explain the latest answer, or a table of it.
    Why(Option<usize>),
    /// Show the SQL of an operation, or run a query.
    Sql(SqlOf),
    /// Run an operation.
    Run(Option<usize>, Option<Keys>),
    /// Show the plan of the working table, or that of an operation.
    Plan(Option<usize>),
    /// Change the plan of the working table and run it.
    Edit(Box<Edit>),
    /// Undo the latest operation.
    Undo,
    /// Make the operation again that was undone last.
    Redo,
    /// Save the session, or continue in a copy of another name.
    Save(Option<String>),
    /// List the sessions.
    Sessions,
    /// Resume another session.
    Resume(String),
    /// Show or change what the next answer depends on.
    Memory(Remember),
    /// Show the limits in force.
    Budget,
    /// Write the transcript or the working table to a file.
    Export(String),
    /// Show the commands, or one.
    Help(Option<String>),
    /// Leave.
    Quit,
}

/// What to do with the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remember {
    Show,
    /// Forget the demands in one role such as `place` or `period`, or the `topic`.
    Forget(String),
    /// Demand this value in a role from now on.
    Set(String, String),
    /// Forget all demands.
    Clear,
}

/// How the keys of a join are compared, if not as proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// After the normalisation of the index.
    Normalised,
    AsWritten,
}

/// How a line names a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// By its number in the latest list.
    Number(usize),
    /// By its name.
    Named(String),
}

/// Which SQL to show or run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlOf {
    /// That of an operation of the latest answer: the one with this number, or the first that can be run.
    Operation(Option<usize>),
    Query(String),
}

/// A command as `/help` describes it.
pub struct Description {
    /// Its name, with the slash.
    pub name: &'static str,
    pub arguments: &'static str,
    pub does: &'static str,
}

const fn command(name: &'static str, arguments: &'static str, does: &'static str) -> Description {
    Description { name, arguments, does }
}

/// All commands, in the order of `/help`.
pub const COMMANDS: [Description; 22] = [
    command(
        "/use",
        "[TABLE|FILE|N]",
        "set the working table: a table of the lake, a file, or table N of the list; alone: show it",
    ),
    command("/tables", "[TEXT]", "list the lake's tables whose ids contain TEXT"),
    command("/join", "[TABLE] [COLUMN]", "find tables that share key values with TABLE, else with the working table"),
    command("/union", "[TABLE]", "find tables whose rows could be appended to TABLE, else to the working table"),
    command("/accept", "N|TABLE", "accept a table: later joins and unions start from it"),
    command("/reject", "N|TABLE", "reject a table: it is not recommended again unless named"),
    command(
        "/cite",
        "[N|ID]",
        "cite a table or record of the list, by number, id or identifier; alone: all of the list",
    ),
    command("/why", "[N]", "explain the latest answer, or the rank of table N of the list"),
    command("/sql", "[N|QUERY]", "show the SQL of operation N, or run one read-only query"),
    command(
        "/run",
        "[N] [normalised|as-written]",
        "show SQL and preview of operation N, then run it; alone: the first that can be run; the word sets how a join \
         compares keys",
    ),
    command(
        "/plan",
        "[N]",
        "show how the working table is made, step by step; with N: what operation N would make of it, with rows and \
         warnings",
    ),
    command(
        "/edit",
        "remove N|back N|EDIT",
        "change the plan of the working table and run it: without step N, without the steps after N, or by EDIT, JSON \
         as `lakeward schema edit` describes",
    ),
    command("/undo", "", "undo the latest operation"),
    command("/redo", "", "make the operation again that was undone last"),
    command("/save", "[NAME]", "save the session; with NAME continue in a copy of that name"),
    command("/sessions", "", "list the sessions"),
    command("/resume", "SESSION", "resume another session"),
    command(
        "/memory",
        "[forget ROLE|set ROLE VALUE|clear]",
        "show the session's memory: working table, demands with their turns, choices, operations; or change the \
         demands: ROLE is place, period, frequency, … as shown, or topic",
    ),
    command("/budget", "", "show the limits of time, memory and models"),
    command("/export", "FILE", "write the transcript (.md) or the working table (.csv, .parquet) to a new file"),
    command("/help", "[COMMAND]", "show the commands, or one of them"),
    command("/quit", "", "leave, like Ctrl-D"),
];

/// The command called `name`, with or without its slash.
pub fn description(name: &str) -> Option<&'static Description> {
    let name = name.trim_start_matches('/');
    COMMANDS.iter().find(|command| &command.name[1..] == name)
}

/// Parses `line`. A line that begins with a space is always a request.
///
/// # Errors
/// [`Error::Usage`] for an unknown command (with the nearest name), or for arguments that it does not take.
pub fn parse(line: &str) -> Result<Line> {
    let text = line.trim();
    if text.is_empty() {
        return Ok(Line::Nothing);
    }
    if line.starts_with(char::is_whitespace) || !text.starts_with('/') {
        return Ok(match text.parse() {
            Ok(number) => Line::Number(number),
            Err(_) => Line::Request(text.to_string()),
        });
    }
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let Some(described) = description(name) else { return Err(unknown(name)) };
    slash(described, rest.trim()).map(Line::Command)
}

fn slash(command: &Description, rest: &str) -> Result<Slash> {
    let some = || (!rest.is_empty()).then(|| unquoted(rest));
    let required = || some().ok_or_else(|| usage(command, message!("it needs an argument")));
    let number = || match rest {
        "" => Ok(None),
        _ => rest.parse().map(Some).map_err(|_| usage(command, message!("it takes a number"))),
    };
    let none =
        |slash: Slash| if rest.is_empty() { Ok(slash) } else { Err(usage(command, message!("it takes no argument"))) };
    Ok(match &command.name[1..] {
        "use" => Slash::Use(some().map(pick)),
        "tables" => Slash::Tables(some()),
        "join" => match words(rest) {
            words if words.len() <= 2 => Slash::Join(words),
            _ => return Err(usage(command, "it takes a table and a column; put names with spaces in quotes")),
        },
        "union" => Slash::Union(some().map(pick)),
        "accept" => Slash::Accept(pick(required()?)),
        "reject" => Slash::Reject(pick(required()?)),
        "cite" => Slash::Cite(some().map(pick)),
        "why" => Slash::Why(number()?),
        "sql" => Slash::Sql(match rest.parse() {
            Ok(number) => SqlOf::Operation(Some(number)),
            Err(_) if rest.is_empty() => SqlOf::Operation(None),
            Err(_) => SqlOf::Query(rest.to_string()),
        }),
        "run" => run_of(command, rest)?,
        "plan" => Slash::Plan(number()?),
        "edit" => Slash::Edit(Box::new(edit_of(command, rest)?)),
        "undo" => none(Slash::Undo)?,
        "redo" => none(Slash::Redo)?,
        "save" => Slash::Save(some()),
        "sessions" => none(Slash::Sessions)?,
        "resume" => Slash::Resume(required()?),
        "memory" => Slash::Memory(remember(command, rest)?),
        "budget" => none(Slash::Budget)?,
        "export" => Slash::Export(required()?),
        "help" => Slash::Help(some()),
        _ => none(Slash::Quit)?,
    })
}

/// The arguments of `/run`: the operation's number, and how to compare keys.
fn run_of(command: &Description, rest: &str) -> Result<Slash> {
    let (mut number, mut keys) = (None, None);
    for word in rest.split_whitespace() {
        match (word, word.parse()) {
            ("normalised" | "normalized", _) => keys = Some(Keys::Normalised),
            ("as-written", _) => keys = Some(Keys::AsWritten),
            (_, Ok(place)) if number.is_none() => number = Some(place),
            _ => return Err(usage(command, "it takes a number and `normalised` or `as-written`")),
        }
    }
    Ok(Slash::Run(number, keys))
}

/// The change of the plan that `/edit` is given.
fn edit_of(command: &Description, rest: &str) -> Result<Edit> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let number = |word: &str| word.parse().map_err(|_| usage(command, "a step is given by its number"));
    match words.as_slice() {
        ["remove", step] => Ok(Edit::Remove { step: number(step)? }),
        ["back", step] => Ok(Edit::BackTo { step: number(step)? }),
        [first, ..] if first.starts_with(['{', '"']) => {
            serde_json::from_str(rest).map_err(|error| usage(command, format!("this is no change of a plan: {error}")))
        }
        _ => Err(usage(command, "it takes `remove` or `back` with the number of a step, or a change as JSON")),
    }
}

/// What to do with the memory.
fn remember(command: &Description, rest: &str) -> Result<Remember> {
    let words = words(rest);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok(Remember::Show),
        ["clear"] => Ok(Remember::Clear),
        ["forget", role] => Ok(Remember::Forget(role.to_lowercase())),
        ["set", role, value @ ..] if !value.is_empty() => Ok(Remember::Set(role.to_lowercase(), value.join(" "))),
        _ => Err(usage(command, "use `forget` with a role, `set` with a role and a value, or `clear`")),
    }
}

fn unknown(name: &str) -> Error {
    // Without the slash, which would make all names similar.
    let names = COMMANDS.iter().map(|command| &command.name[1..]);
    let typed = &name[1..];
    let nearest = if typed.is_empty() { None } else { nearest_names(typed, names, 1).into_iter().next() };
    let name = shown(name, 40);
    Error::usage(match nearest {
        Some(nearest) => message!("there is no command `{}`; did you mean `{}`?", name, format!("/{nearest}")),
        None => message!("there is no command `{}`; `/help` lists them", name),
    })
}

fn usage(command: &Description, what: impl Into<Message>) -> Error {
    let form = format!("{} {}", command.name, command.arguments);
    Error::usage(message!("`{}`: {}", form.trim_end(), what.into()))
}

fn pick(text: String) -> Pick {
    text.parse().map_or(Pick::Named(text), Pick::Number)
}

/// A whole argument without the quotes around it.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner
        .filter(|inner| !inner.replace("\"\"", "").contains('"'))
        .map_or(text.to_string(), |inner| inner.replace("\"\"", "\""))
}

/// The words of an argument list; quotes keep spaces in a word, a doubled quote stands for one.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                word.get_or_insert_default().push('"');
            }
            '"' if quoted || word.is_none() => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A name as one word of an argument list.
pub fn quoted(name: &str) -> String {
    let plain = !name.contains(|c: char| c.is_whitespace() || c == '"') && name.parse::<usize>().is_err();
    if plain && !name.is_empty() { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Slash {
        match parse(line).unwrap() {
            Line::Command(slash) => slash,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn lines_are_requests_numbers_or_commands() {
        assert_eq!(parse("  ").unwrap(), Line::Nothing);
        assert_eq!(parse(" 3 ").unwrap(), Line::Number(3));
        assert_eq!(parse("3 largest towns").unwrap(), Line::Request("3 largest towns".into()));
        assert_eq!(parse(" /use what").unwrap(), Line::Request("/use what".into()));
        assert_eq!(command("/use geo/my \"towns\""), Slash::Use(Some(Pick::Named("geo/my \"towns\"".into()))));
        assert_eq!(command("/use \"2020\""), Slash::Use(Some(Pick::Number(2020))));
        assert_eq!(command("/accept 2"), Slash::Accept(Pick::Number(2)));
        assert_eq!(command("/join \"my \"\"t\"\" x\" iso"), Slash::Join(vec!["my \"t\" x".into(), "iso".into()]));
        assert_eq!(command("/join"), Slash::Join(Vec::new()));
        assert_eq!(command("/sql 2"), Slash::Sql(SqlOf::Operation(Some(2))));
        assert_eq!(command("/sql SELECT 'a  b'"), Slash::Sql(SqlOf::Query("SELECT 'a  b'".into())));
        assert_eq!(command("/memory"), Slash::Memory(Remember::Show));
        assert_eq!(command("/memory forget Place"), Slash::Memory(Remember::Forget("place".into())));
        let set = Remember::Set("place".into(), "Canada outside Quebec".into());
        assert_eq!(command("/memory set place Canada outside Quebec"), Slash::Memory(set));
        assert_eq!(command("/edit remove 2"), Slash::Edit(Box::new(Edit::Remove { step: 2 })));
        assert_eq!(command("/edit {\"set_limit\": 5}"), Slash::Edit(Box::new(Edit::SetLimit(Some(5)))));
        assert_eq!(command("/quit"), Slash::Quit);
        for name in ["a b", "a\"b", "\"", "", "x\"\"y z"] {
            assert_eq!(command(&format!("/join {}", quoted(name))), Slash::Join(vec![name.into()]), "{name}");
        }
    }

    #[test]
    fn every_command_is_parsed_and_mistakes_are_named() {
        for described in &COMMANDS {
            assert!(
                [" 1", "", " back 1"].iter().any(|rest| parse(&format!("{}{rest}", described.name)).is_ok()),
                "{}",
                described.name
            );
        }
        for (line, parts) in [
            ("/acept 1", vec!["`/acept`", "`/accept`"]),
            ("/", vec!["`/help`"]),
            ("/xyzzy", vec!["`/help`"]),
            ("/accept", vec!["`/accept N|TABLE`", "needs"]),
            ("/undo 3", vec!["`/undo`", "no argument"]),
            ("/memory set place", vec!["`forget`", "`set`", "`clear`"]),
            ("/run first", vec!["`/run [N] [normalised|as-written]`", "number"]),
            ("/edit remove it", vec!["`/edit remove N|back N|EDIT`", "number"]),
            ("/edit {\"x\": 1}", vec!["no change of a plan"]),
            ("/join a b c", vec!["`/join [TABLE] [COLUMN]`", "quotes"]),
        ] {
            let error = parse(line).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{line}: {error} lacks {part}");
            }
        }
    }
}
