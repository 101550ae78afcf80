//! The pages and programs of `examples/`. On the pages each `lakeward>` line is typed into a REPL on the sample lake, and what comes back
//! must be what the page shows; `SNAPSHOTS=overwrite` writes the pages anew. So is what the README's searches print. The programs must run.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::{Assert, Data};

use crate::commands::{copy, program, sample};

#[path = "../../examples/conversation.rs"]
mod conversation;
#[path = "../../examples/join.rs"]
mod join;
#[path = "../../examples/search.rs"]
mod search;
#[path = "../../examples/sql.rs"]
mod sql;
#[path = "../../examples/union.rs"]
mod union;

const PROMPT: &str = "lakeward> ";
const FENCE: &str = "```console\n";

/// A page in three parts: before the transcript, its first line and what was typed, after it.
struct Page {
    before: String,
    command: String,
    typed: Vec<String>,
    after: String,
}

fn page(text: &str) -> Page {
    let (before, rest) = text.split_once(FENCE).expect("a transcript");
    let (transcript, after) = rest.split_once("\n```").expect("its end");
    let mut lines = transcript.lines();
    let command = lines.next().expect("the command").to_string();
    let typed = lines.filter_map(|line| line.strip_prefix(PROMPT)).map(str::to_string).collect();
    Page { before: before.to_string(), command, typed, after: after.to_string() }
}

/// What the REPL prints on stdout when `typed` is typed into it, in a folder of its own.
fn printed(command: &str, typed: &[String]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    copy(sample(), folder.path());
    let command = command.strip_prefix("$ ").expect("a command");
    let mut child = program(folder.path())
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process");
    let input: String = typed.iter().map(|line| format!("{line}\n")).collect();
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("typing");
    let output = child.wait_with_output().expect("an end");
    String::from_utf8(output.stdout).expect("text")
}

/// The transcript: after each line typed, what it made the REPL print. What the first lines print does not depend on those
/// that follow.
fn transcript(page: &Page) -> String {
    let mut text = format!("{}\n", page.command);
    let mut before = String::new();
    for count in 1..=page.typed.len() {
        let all = printed(&page.command, &page.typed[..count]);
        let new = all.strip_prefix(before.as_str()).expect("the same beginning");
        text.push_str(&format!("{PROMPT}{}\n", page.typed[count - 1]));
        text.extend(new.lines().map(|line| format!("{}\n", line.trim_end())));
        before = all;
    }
    text.trim_end().to_string()
}

#[test]
fn pages_show_what_the_program_prints() {
    let folder = Path::new(crate::REPOSITORY).join("examples");
    let files = fs::read_dir(folder).expect("examples").map(|entry| entry.expect("an entry").path());
    let pages: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    assert!(pages.len() >= 3, "{pages:?}");
    for path in pages {
        let page = page(&fs::read_to_string(&path).expect("a page"));
        let now = format!("{}{FENCE}{}\n```{}", page.before, transcript(&page), page.after);
        Assert::new().action_env(DEFAULT_ACTION_ENV).eq(now, Data::read_from(&path, None).raw());
    }
}

/// A block of the README with what its searches print; those that it shows in part, with `...`, stay.
fn with_answers(block: &str) -> String {
    const SEARCHES: [&str; 4] = ["search ", "join ", "union ", "columns "];
    let mut text = String::new();
    for (place, part) in block.split("$ ").enumerate() {
        let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
        let is_search = command
            .strip_prefix("lakeward ")
            .is_some_and(|rest| SEARCHES.iter().any(|search| rest.starts_with(search)));
        let is_whole = is_search && !shown.trim().is_empty() && !shown.contains("...") && !shown.contains("error: ");
        if place > 0 {
            text.push_str("$ ");
        }
        match is_whole {
            true => {
                let end = &shown[shown.trim_end().len()..];
                let now: Vec<String> =
                    printed(&format!("$ {command}"), &[]).lines().map(|line| line.trim_end().to_string()).collect();
                text.push_str(&format!("{command}\n{}{end}", now.join("\n").trim_end()));
            }
            false => text.push_str(part),
        }
    }
    text
}

#[test]
fn the_readme_shows_what_searches_print() {
    let path = Path::new(crate::REPOSITORY).join("README.md");
    let text = fs::read_to_string(&path).expect("a page");
    let mut now = String::new();
    for (place, part) in text.split(FENCE).enumerate() {
        match part.split_once("```").filter(|_| place > 0) {
            Some((block, after)) => now.push_str(&format!("{FENCE}{}```{after}", with_answers(block))),
            None => now.push_str(part),
        }
    }
    assert!(now.matches("$ lakeward ").count() > 20);
    Assert::new().action_env(DEFAULT_ACTION_ENV).eq(now, Data::read_from(&path, None).raw());
}

#[test]
fn programs_run() {
    search::main().expect("a search");
    join::main().expect("a join");
    union::main().expect("a union");
    conversation::main().expect("a conversation");
    sql::main().expect("queries");
}
