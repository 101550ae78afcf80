//! The transcripts of `examples/` are what the program prints: each `lakeward>` line is typed into a REPL on the sample lake,
//! and what comes back must be what the page shows. `LAKEWARD_WRITE_EXAMPLES=1` writes the pages anew.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
fn printed(index: &Path, command: &str, typed: &[String]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let own_index = folder.path().join("index");
    copy(index, &own_index);
    let lake = Path::new(crate::REPOSITORY).join("lake");
    let session = command.split("--session ").nth(1).expect("a session");
    let mut child = Command::new(env!("CARGO_BIN_EXE_lakeward"))
        .args(["repl", "--session", session, "--lake"])
        .arg(&lake)
        .arg("--index")
        .arg(&own_index)
        .current_dir(folder.path())
        .env_remove("LAKEWARD_CONFIG")
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

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// The transcript: after each line typed, what it made the REPL print. What the first lines print does not depend on those
/// that follow.
fn transcript(index: &Path, page: &Page) -> String {
    let mut text = format!("{}\n", page.command);
    let mut before = String::new();
    for count in 1..=page.typed.len() {
        let all = printed(index, &page.command, &page.typed[..count]);
        let new = all.strip_prefix(before.as_str()).expect("the same beginning");
        text.push_str(&format!("{PROMPT}{}\n", page.typed[count - 1]));
        text.extend(new.lines().map(|line| format!("{}\n", line.trim_end())));
        before = all;
    }
    text.trim_end().to_string()
}

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(crate::REPOSITORY).join("examples");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(folder).expect("examples").map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("README.md"));
    pages.sort();
    pages
}

#[test]
fn pages_show_what_the_program_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = folder.path().join("index");
    let lake = Path::new(crate::REPOSITORY).join("lake");
    let built = Command::new(env!("CARGO_BIN_EXE_lakeward"))
        .args(["index", "-q"])
        .arg(&lake)
        .arg("--index")
        .arg(&index)
        .status()
        .expect("a process");
    assert!(built.success());
    let pages = pages();
    assert!(pages.len() >= 3, "{pages:?}");
    for path in pages {
        let text = fs::read_to_string(&path).expect("a page");
        let parts = page(&text);
        let now = format!("{}{FENCE}{}\n```{}", parts.before, transcript(&index, &parts), parts.after);
        if std::env::var_os("LAKEWARD_WRITE_EXAMPLES").is_some() {
            fs::write(&path, now).expect("a page written");
        } else {
            assert!(now == text, "{} differs from what is printed now:\n{now}", path.display());
        }
    }
}
