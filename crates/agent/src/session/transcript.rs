//! A session as Markdown for people: what was asked and understood, which tables were shown and why, what was run.
//!
//! Requests, names and cells are data of others: they are escaped or stand in code, so that no page they are shown on runs or
//! loads anything of theirs.

use std::fmt::Write;

use super::document::{Session, Step, Turn};
use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::request::{Input, Label};
use lakeward_core::text::{counted, shown};

/// Characters shown of a name, of a line of text, and of a line of SQL.
const NAME: usize = 200;
const LINE: usize = 2000;
const SQL_LINE: usize = 4000;
/// Column names listed of a result.
const COLUMNS: usize = 40;

/// The session as Markdown (CommonMark), with a final line feed.
pub fn markdown(session: &Session) -> String {
    let mut page = Page::default();
    page.line(&format!("# Session {}", code(&session.id)));
    page.line("");
    page.line(&format!("- lake: {}", code(&session.lake)));
    page.line(&format!("- begun {}, last written {}", code(&session.created), code(&session.updated)));
    let (turns, steps) = (session.next_turn() - 1, session.steps.len());
    page.line(&format!("- {}, {} run", counted(turns as u64, "request"), counted(steps as u64, "operation")));
    if let Some(working) = session.working() {
        page.line(&format!("- working table: {}", input(&working)));
    }
    in_force(&mut page, session);
    if let Some(first) = session.turns.first().filter(|turn| turn.number > 1) {
        page.line("");
        page.line(&format!("_The first {} requests are not kept any more._", first.number - 1));
    }
    let mut steps = session.steps.iter().peekable();
    let first_kept = session.turns.first().map_or(1, |turn| turn.number);
    while let Some(step) = steps.next_if(|step| step.turn < first_kept) {
        step_part(&mut page, step);
    }
    for turn in &session.turns {
        turn_part(&mut page, session, turn);
        while let Some(step) = steps.next_if(|step| step.turn <= turn.number) {
            step_part(&mut page, step);
        }
    }
    steps.for_each(|step| step_part(&mut page, step));
    page.text
}

/// A table as people name it: `geo/countries`, `result of step 2`.
pub fn input_name(input: &Input) -> Message {
    match input {
        Input::Table(name) | Input::File(name) => name.into(),
        Input::Step(number) => message!("result of step {}", *number),
    }
}

fn in_force(page: &mut Page, session: &Session) {
    if !session.demands.is_empty() {
        page.line("");
        page.line("Wanted:");
        page.line("");
        for demand in &session.demands {
            page.line(&format!("- {} (turn {})", escaped(&demand.line()), demand.turn));
        }
    }
    for (what, choices) in [("Accepted", &session.accepted), ("Rejected", &session.rejected)] {
        if !choices.is_empty() {
            let tables: Vec<String> =
                choices.iter().map(|choice| format!("{} (turn {})", code(&choice.table), choice.turn)).collect();
            page.line("");
            page.line(&format!("{what}: {}", tables.join(", ")));
        }
    }
}

fn turn_part(page: &mut Page, session: &Session, turn: &Turn) {
    page.line("");
    page.line(&format!("## {}. {}", turn.number, code(&turn.at)));
    page.line("");
    for line in turn.text.lines() {
        page.line(&format!("> {}", escaped(line)));
    }
    page.line("");
    page.line(&format!("Understood: {}", escaped(&turn.signals.understood())));
    for gone in &turn.signals.gone {
        page.line("");
        page.line(&format!("No longer wanted: {} (set in turn {})", escaped(&gone.line()), gone.turn));
    }
    if turn.tables.is_empty() && turn.recommendation.is_none() {
        return;
    }
    page.line("");
    let mark = |table: &str| match (session.is_accepted(table), session.is_rejected(table)) {
        (true, _) => " (accepted)",
        (_, true) => " (rejected)",
        _ => "",
    };
    let Some(answer) = &turn.recommendation else {
        for (place, table) in turn.tables.iter().enumerate() {
            page.line(&format!("{}. {}{}", place + 1, code(table), mark(table)));
        }
        return;
    };
    if answer.tables.is_empty() {
        page.line("No table was found.");
    }
    for (place, table) in answer.tables.iter().enumerate() {
        let (name, total) = (code(&table.table), table.utility.total);
        let what = if table.record { "; a record, its data is not in the lake" } else { "" };
        let why = format!("{}{what}", escaped(&table.reason));
        page.line(&format!("{}. {name}{}: {total:.3}, {why}", place + 1, mark(&table.table)));
    }
    if !answer.operations.is_empty() {
        page.line("");
        page.line("Operations proposed:");
        page.line("");
    }
    for (place, operation) in answer.operations.iter().enumerate() {
        let with = operation.table.as_deref().map(|table| format!(" with {}", code(table))).unwrap_or_default();
        let (kind, score) = (operation.kind.name(), operation.score);
        page.line(&format!("{}. {kind}{with}: {score:.3}, {}", place + 1, escaped(&operation.reason)));
        if let Some(question) = &operation.question {
            page.line(&format!("   - {}", escaped(&question.text)));
            for (number, choice) in question.choices.iter().enumerate() {
                page.line(&format!("     - {}: {}", number + 1, escaped(&choice.label)));
            }
        }
    }
    for note in &answer.notes {
        page.line("");
        page.line(&format!("Note: {}", escaped(note)));
    }
}

fn step_part(page: &mut Page, step: &Step) {
    page.line("");
    let undone = if step.undone { ", taken back" } else { "" };
    let kind = step.plan.kind().name();
    page.line(&format!("### Step {}: {kind}{undone}", step.number));
    page.line("");
    page.line(&format!("Of {}:", input(&step.plan.relation.source)));
    page.line("");
    for (place, does) in step.plan.relation.steps.iter().enumerate() {
        page.line(&format!("{}. {}", place + 1, escaped(&does.to_string())));
    }
    if !step.plan.relation.steps.is_empty() {
        page.line("");
    }
    let read: Vec<String> =
        step.inputs.iter().map(|input| format!("{} (content {})", code(&input.name), code(&input.content))).collect();
    if !read.is_empty() {
        page.line(&format!("Read: {}", read.join(", ")));
        page.line("");
    }
    page.fenced(&step.sql);
    page.line("");
    let mut columns: Vec<String> = step.columns.iter().take(COLUMNS).map(|column| code(column)).collect();
    if step.columns.len() > COLUMNS {
        columns.push(format!("and {} more", step.columns.len() - COLUMNS));
    }
    page.line(&format!("{} in columns {}", counted(step.rows, "row"), columns.join(", ")));
}

fn input(input: &Input) -> String {
    match input {
        Input::Step(_) => input_name(input).into(),
        Input::Table(name) | Input::File(name) => code(name),
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// SQL in a block that nothing in it can close.
    fn fenced(&mut self, sql: &str) {
        let fence = "`".repeat(longest_run(sql).max(2) + 1);
        // Writing to a text cannot fail.
        let _ = writeln!(self.text, "{fence}sql");
        for line in sql.lines() {
            let _ = writeln!(self.text, "{}", shown(&line.replace('\t', "    "), SQL_LINE));
        }
        let _ = writeln!(self.text, "{fence}");
    }
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// `text` as code within a line.
fn code(text: &str) -> String {
    let text = shown(text, NAME);
    let text = text.trim();
    if text.is_empty() {
        return "` `".into();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// `text` as text of one line: nothing in it is markup, an HTML tag, an entity or a link.
fn escaped(text: &str) -> String {
    let text = shown(text, LINE);
    let text = text.trim();
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = String::new();
    for (place, c) in text.char_indices() {
        let first = place == 0;
        let marks = "\\`*_[]<>|&~$#@".contains(c);
        // Lists, rules and underlines begin a line; `1.` and `1)` make numbered lists; `://` and `www.` make links.
        let begins = first && "-+=".contains(c);
        let numbers = ".)".contains(c) && !before.is_empty() && before.chars().all(|c| c.is_ascii_digit());
        let links = (c == ':' && text[place..].starts_with("://")) || (c == '.' && before.eq_ignore_ascii_case("www"));
        if marks || begins || numbers && place == before.len() || links {
            out.push('\\');
        }
        if c.is_alphanumeric() {
            before.push(c)
        } else {
            before.clear()
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_no_markup() {
        for (text, expected) in [
            ("<script>alert(1)</script>", "\\<script\\>alert(1)\\</script\\>"),
            ("![x](http://e.org/a.png)", "!\\[x\\](http\\://e.org/a.png)"),
            ("1. one", "1\\. one"),
            ("in 1.5 of 2.", "in 1.5 of 2."),
            ("- a\n# b", "\\- a \\# b"),
            ("see www.example.org", "see www\\.example.org"),
            ("a_b*c*`d`", "a\\_b\\*c\\*\\`d\\`"),
            ("&lt;", "\\&lt;"),
            ("\u{1b}[31mred", "\\[31mred"),
        ] {
            assert_eq!(escaped(text), expected, "{text}");
        }
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(code("x\n# y"), "`x # y`");
        let mut page = Page::default();
        page.fenced("SELECT '```' -- \u{1b}[0m\nFROM x");
        assert_eq!(page.text, "````sql\nSELECT '```' --  [0m\nFROM x\n````\n");
    }
}
