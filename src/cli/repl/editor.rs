//! The source of lines: a line editor on a terminal, with completion, hints and history; else plain lines of stdin.

use std::borrow::Cow;
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

use rustyline::completion::{Completer, Pair};
use rustyline::config::{CompletionType, Config};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{DefaultHistory, History};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};

use super::command::{COMMANDS, description, quoted};
use lakeward_core::error::{Error, Result};

const PROMPT: &str = "lakeward> ";
const HISTORY_FILE: &str = ".history";
const HISTORY_LINES: usize = 1000;
/// A longer line of stdin is an error.
const LONGEST_LINE: u64 = 8 << 20;
/// Completions offered at once.
const MOST_COMPLETIONS: usize = 200;

/// The result of reading a line.
pub enum Typed {
    /// A line, or several joined by `\`.
    Line(String),
    /// Ctrl-C: the line is discarded.
    Abandoned,
    /// Ctrl-D, or the end of stdin.
    End,
}

/// Names for completion.
#[derive(Debug, Default)]
pub struct Names {
    /// Ids of the lake's tables, in order.
    pub tables: Vec<String>,
    /// Columns of the working table.
    pub columns: Vec<String>,
    pub sessions: Vec<String>,
}

/// A source of lines.
pub enum Lines {
    /// A person.
    Terminal(Box<Terminal>),
    /// A file or another program.
    Stdin,
}

/// The line editor with its history.
pub struct Terminal {
    editor: Editor<Completion, DefaultHistory>,
    /// `None` if the path is not a regular file.
    history: Option<PathBuf>,
}

impl Lines {
    /// A line editor if stdin and stdout are terminals, with its history in `folder`; else stdin.
    pub fn open(folder: &Path) -> Result<Self> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Ok(Lines::Stdin);
        }
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_space(false)
            .max_history_size(HISTORY_LINES)
            .map_err(failed)?
            .build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(Completion::default()));
        let path = folder.join(HISTORY_FILE);
        // Through a link, the history would be written to another file.
        let is_usable = path.symlink_metadata().map_or(true, |metadata| metadata.is_file());
        if is_usable {
            // The REPL also works without a history.
            let _ = editor.load_history(&path);
        }
        Ok(Lines::Terminal(Box::new(Terminal { editor, history: is_usable.then_some(path) })))
    }

    /// Whether they come from a terminal.
    pub fn are_typed(&self) -> bool {
        matches!(self, Lines::Terminal(_))
    }

    /// The names for completion, on a terminal.
    pub fn names(&mut self) -> Option<&mut Names> {
        match self {
            Lines::Terminal(terminal) => terminal.editor.helper_mut().map(|helper| &mut helper.names),
            Lines::Stdin => None,
        }
    }

    /// The next line.
    ///
    /// # Errors
    /// [`Error::Io`] when stdin cannot be read; [`Error::Usage`] for a line that is too long.
    pub fn next(&mut self) -> Result<Typed> {
        match self {
            Lines::Terminal(terminal) => terminal.next(),
            Lines::Stdin => plain_line(),
        }
    }
}

impl Terminal {
    fn next(&mut self) -> Result<Typed> {
        match self.editor.readline(PROMPT) {
            Ok(line) => {
                if !line.trim().is_empty() && self.editor.add_history_entry(line.as_str()).unwrap_or(false) {
                    self.append_history();
                }
                Ok(Typed::Line(joined(&line)))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Abandoned),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(failed(error)),
        }
    }

    /// Writes the history after each line, so that a killed process loses none; readable by this user only.
    fn append_history(&mut self) {
        if let Some(path) = &self.history {
            // If writing fails, the history stays in memory.
            let _ = self.editor.history_mut().append(path);
        }
    }
}

fn failed(error: ReadlineError) -> Error {
    match error {
        ReadlineError::Io(error) => Error::io("read", Path::new("terminal"), error),
        other => Error::Internal(format!("the terminal failed: {other}")),
    }
}

/// One line of stdin, with the lines that a `\` at its end joins to it.
fn plain_line() -> Result<Typed> {
    let mut text = String::new();
    let mut stdin = std::io::stdin().lock();
    loop {
        let mut bytes = Vec::new();
        let left = LONGEST_LINE.saturating_sub(text.len() as u64);
        let failed = |error| Error::io("read", Path::new("stdin"), error);
        let count = stdin.by_ref().take(left).read_until(b'\n', &mut bytes).map_err(failed)?;
        if count == 0 {
            return Ok(if text.is_empty() && left > 0 { Typed::End } else { Typed::Line(joined(&text)) });
        }
        if count as u64 == left && bytes.last() != Some(&b'\n') {
            stdin.skip_until(b'\n').map_err(failed)?;
            let most = LONGEST_LINE >> 20;
            return Err(Error::usage(format!("a line is longer than {most} MB, which is the limit")));
        }
        text.push_str(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
        if !text.ends_with('\\') {
            return Ok(Typed::Line(joined(&text)));
        }
        text.push('\n');
    }
}

/// Replaces `\` at line ends by plain line breaks.
fn joined(text: &str) -> String {
    text.replace("\\\n", "\n").trim_end_matches('\\').to_string()
}

/// Completion, hints, and the check whether a line is complete.
#[derive(Default)]
struct Completion {
    names: Names,
}

impl Helper for Completion {}

impl Validator for Completion {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(if context.input().ends_with('\\') { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Highlighter for Completion {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\u{1b}[90m{hint}\u{1b}[0m"))
    }
}

impl Hinter for Completion {
    type Hint = Shown;

    fn hint(&self, line: &str, pos: usize, _context: &Context<'_>) -> Option<Shown> {
        if pos < line.len() || !line.starts_with('/') {
            return None;
        }
        hint(line).map(Shown)
    }
}

/// A hint that is displayed but not inserted.
struct Shown(String);

impl rustyline::hint::Hint for Shown {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

/// The arguments and description of the command on `line`, until an argument is typed.
fn hint(line: &str) -> Option<String> {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let command = description(name)?;
    if !rest.is_empty() || !name.starts_with('/') {
        return None;
    }
    let space = if line.ends_with(' ') { "" } else { " " };
    let arguments = if command.arguments.is_empty() { String::new() } else { format!("{}  ", command.arguments) };
    Some(format!("{space}{arguments}{}", command.does))
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = completions(&self.names, line.get(..pos).unwrap_or_default());
        let pair = |text: String| Pair { display: lakeward_core::text::shown(&text, 120), replacement: text };
        Ok((start, found.into_iter().take(MOST_COMPLETIONS).map(pair).collect()))
    }
}

/// Where the word to complete begins in `before`, the text before the cursor, and its completions.
fn completions(names: &Names, before: &str) -> (usize, Vec<String>) {
    let Some((command, rest)) = before.split_once(' ').filter(|_| before.starts_with('/')) else {
        if before.starts_with('/') {
            let commands = COMMANDS.iter().map(|command| command.name.to_string());
            return (0, commands.filter(|name| name.starts_with(before)).collect());
        }
        let start = before.rfind(char::is_whitespace).map_or(0, |place| place + 1);
        let word = &before[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        return (start, matching(names.columns.iter().chain(&names.tables), word, false));
    };
    let start = before.len() - rest.trim_start().len();
    let argument = &before[start..];
    match command {
        "/use" | "/union" | "/accept" | "/reject" => (start, matching(names.tables.iter(), argument, false)),
        "/tables" => (start, matching(names.tables.iter(), argument, false)),
        "/resume" => (start, matching(names.sessions.iter(), argument, false)),
        "/help" => {
            let commands = COMMANDS.iter().map(|command| command.name[1..].to_string());
            (start, commands.filter(|name| name.starts_with(argument.trim_start_matches('/'))).collect())
        }
        "/join" => {
            let word = start + argument.rfind(' ').map_or(0, |place| place + 1);
            let first = word == start;
            let tables = names.tables.iter().filter(|_| first);
            (word, matching(tables.chain(&names.columns), &before[word..], true))
        }
        "/sql" => {
            let word = start + argument.rfind([' ', ',', '(', '"']).map_or(0, |place| place + 1);
            let in_quotes = before[..word].ends_with('"');
            let close = |name: String| if in_quotes { format!("{}\"", name.replace('"', "\"\"")) } else { name };
            let found = matching(names.tables.iter().chain(&names.columns), &before[word..], false);
            (word, found.into_iter().map(close).collect())
        }
        _ => (start, Vec::new()),
    }
}

/// The names that begin with `word`, ignoring case; if none does, those with a path component that does.
fn matching<'a>(names: impl Iterator<Item = &'a String>, word: &str, as_word: bool) -> Vec<String> {
    let word = word.trim_start_matches('"').to_lowercase();
    let starts = |name: &str| name.to_lowercase().starts_with(&word);
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for name in names {
        if starts(name) {
            first.push(name);
        } else if !word.is_empty() && name.split('/').skip(1).any(starts) {
            later.push(name);
        }
    }
    let found = if first.is_empty() { later } else { first };
    // Names from the lake are untrusted: control characters must not reach the terminal.
    let safe = found.into_iter().filter(|name| !name.chars().any(char::is_control));
    safe.map(|name| if as_word { quoted(name) } else { name.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_tables_and_columns_are_completed() {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let names = Names {
            tables: list(&["geo/countries", "geo/my towns", "people", "x/bad\u{1b}name"]),
            columns: list(&["Country Code", "population"]),
            sessions: list(&["2026-11-22-1"]),
        };
        for (before, start, expected) in [
            ("/ac", 0, vec!["/accept"]),
            ("/use ge", 5, vec!["geo/countries", "geo/my towns"]),
            ("/use count", 5, vec!["geo/countries"]),
            ("/use x", 5, vec![]),
            ("/join my", 6, vec!["\"geo/my towns\""]),
            ("/join people cou", 13, vec!["\"Country Code\""]),
            ("/resume 2", 8, vec!["2026-11-22-1"]),
            ("/help qu", 6, vec!["quit"]),
            ("/sql SELECT * FROM \"geo/c", 20, vec!["geo/countries\""]),
            ("average pop", 8, vec!["population"]),
            ("average ", 8, vec![]),
        ] {
            let (at, found) = completions(&names, before);
            assert_eq!((at, found), (start, list(&expected)), "{before}");
        }
    }

    #[test]
    fn hints_show_what_a_command_takes() {
        assert_eq!(hint("/undo").as_deref(), Some(" undo the latest operation"));
        assert!(hint("/join").unwrap().starts_with(" [TABLE] [COLUMN]  find"));
        assert!(hint("/join ").unwrap().starts_with("[TABLE]"));
        assert_eq!(hint("/join a"), None);
        assert_eq!(hint("/nothing"), None);
    }

    #[test]
    fn a_backslash_joins_lines() {
        assert_eq!(joined("a\\\nb"), "a\nb");
        assert_eq!(joined("a\nb"), "a\nb");
        assert_eq!(joined("a\\"), "a");
    }
}
