//! The REPL as people and programs meet it: in a pseudo-terminal with completion, hints, Ctrl-C and pasted lines, and fed
//! through a pipe; what one process leaves another goes on with alike.

#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lakeward_agent::session::SessionStore;
use lakeward_core::request::Input;
use rexpect::session::{Options, PtySession, spawn_with_options};
use serde_json::Value;

use crate::commands::{copy, sample};
use crate::place::{Run, lakeward};

/// A busy machine is given this long for a line.
const PATIENCE_MS: u64 = 60_000;
const PROMPT: &str = "lakeward> ";
const REQUEST: &str = "population of countries by year";

/// An index folder with the sample lake's index and no sessions.
fn place() -> tempfile::TempDir {
    let own = tempfile::tempdir().expect("a folder");
    copy(&sample().join("index"), own.path());
    own
}

fn program(index: &Path, arguments: &[&str]) -> Command {
    let mut command = lakeward(arguments);
    command.env("LAKEWARD_LAKE", sample().join("lake")).env("LAKEWARD_INDEX", index);
    command.current_dir(index).env("TERM", "xterm").env_remove("NO_COLOR");
    command
}

fn terminal(index: &Path, arguments: &[&str]) -> PtySession {
    let options = Options::new().timeout_ms(Some(PATIENCE_MS)).strip_ansi_escape_codes(true);
    let mut command = program(index, arguments);
    command.stdin(std::process::Stdio::inherit());
    let mut session = spawn_with_options(command, options).expect("a terminal");
    session.exp_string(PROMPT).expect("a prompt");
    session
}

/// Types a line and waits for each of `parts` in turn, then for the next prompt.
fn type_line(terminal: &mut PtySession, line: &str, parts: &[&str]) {
    terminal.send_line(line).expect("a line");
    terminal.flush().expect("a line");
    expect(terminal, line, parts);
}

fn expect(terminal: &mut PtySession, line: &str, parts: &[&str]) {
    for part in parts.iter().chain(&[PROMPT]) {
        terminal.exp_string(part).unwrap_or_else(|error| panic!("after `{line}`, waiting for `{part}`: {error}"));
    }
}

fn piped(index: &Path, arguments: &[&str], lines: &[&str]) -> Run {
    let mut command = program(index, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("a writer");
    Run::ended(output)
}

#[test]
fn a_conversation_in_a_terminal() {
    let place = place();
    let mut terminal = terminal(place.path(), &["repl", "--session", "talk"]);
    type_line(&mut terminal, REQUEST, &["Summarization (", "population/gapminder/", "next:", "/why 1"]);
    type_line(&mut terminal, "/why 1", &["utility", "relevance", "granularity"]);
    type_line(&mut terminal, "/why", &["operation:", "intention:"]);
    // Completion: a command, then a table.
    terminal.send("/acc\t").expect("keys");
    terminal.flush().expect("keys");
    terminal.exp_string("/accept").expect("a completed command");
    terminal.send("\u{15}/use geo/countr\t").expect("keys");
    terminal.flush().expect("keys");
    terminal.exp_string("geo/countries").expect("a completed table");
    type_line(&mut terminal, "", &["working table: geo/countries", "currencycode"]);
    // A hint says what a command takes.
    terminal.send("/join").expect("keys");
    terminal.flush().expect("keys");
    terminal.exp_string("[TABLE] [COLUMN]").expect("a hint");
    // Ctrl-C throws a line away and leaves nothing else.
    terminal.send_control('c').expect("keys");
    terminal.exp_string(PROMPT).expect("a prompt");
    terminal.send_control('c').expect("keys");
    terminal.exp_string(PROMPT).expect("a prompt");
    type_line(&mut terminal, "/accept population/gapminder/countries2007", &["accepted: population/gapminder/"]);
    type_line(&mut terminal, "add life expectancy from a table of countries", &["next:", "1 Join ("]);
    type_line(&mut terminal, "/run 1", &["operation 1: Join", "LEFT JOIN", "without a partner", "step 1: Join of"]);
    type_line(&mut terminal, "/use", &["working table: result of step 1"]);
    type_line(&mut terminal, "/export result.csv", &["252 rows", "written to result.csv"]);
    type_line(&mut terminal, "/sql SELECT count(*) AS n FROM session.step_1", &["252"]);
    type_line(&mut terminal, "/undo", &["undone", "working table: geo/countries"]);
    // Several lines: by a backslash, and pasted.
    type_line(&mut terminal, "unemployment \\\nby state", &["next:"]);
    type_line(&mut terminal, "\u{1b}[200~median income\nof counties\u{1b}[201~", &["next:"]);
    type_line(&mut terminal, "/nonsense", &["there is no command `/nonsense`"]);
    type_line(&mut terminal, "/acept 1", &["did you mean `/accept`"]);
    type_line(
        &mut terminal,
        "/memory",
        &["working table: geo/countries", "accepted: population/gapminder/countries2007"],
    );
    terminal.send_line("/quit").expect("a line");
    terminal.exp_string("lakeward repl --session talk").expect("how to go on");
    terminal.exp_eof().expect("an end");

    let store = SessionStore::new(place.path());
    let session = store.open("talk").expect("a session");
    let texts: Vec<&str> = session.turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!(texts.len(), 4);
    assert_eq!((texts[0], texts[2], texts[3]), (REQUEST, "unemployment \nby state", "median income\nof counties"));
    assert!(session.steps[0].undone && session.working() == Some(Input::Table("geo/countries".into())));
    assert_eq!(fs::read_to_string(place.path().join("result.csv")).expect("a file").lines().count(), 253);
    use std::os::unix::fs::PermissionsExt;
    let history = store.folder().join(".history");
    assert_eq!(history.metadata().expect("a history").permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&history).expect("a history").contains(REQUEST));
}

#[test]
fn ctrl_c_ends_a_turn_and_ctrl_d_the_conversation() {
    let place = place();
    // A turn reads the working table again, and this one takes a while.
    let big = place.path().join("big.csv");
    let mut text = String::from("id,a,b,c\n");
    for row in 0..3_000_000_u64 {
        let value = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        text.push_str(&format!("{row},x{value},{},{}\n", value % 977, value % 13));
    }
    fs::write(&big, text).expect("a file");
    let store = SessionStore::new(place.path());
    let mut session = store.create(Some("slow"), "lake").expect("a session");
    session.use_table(Input::File(big.to_string_lossy().into_owned()));
    store.save(&mut session).expect("a save");
    let mut terminal = terminal(place.path(), &["repl", "--session", "slow"]);
    terminal.send_line("which tables go with mine").expect("a line");
    std::thread::sleep(Duration::from_millis(300));
    terminal.send_control('c').expect("keys");
    expect(&mut terminal, "Ctrl-C", &["interrupted"]);
    type_line(&mut terminal, "/use geo/countries", &["working table: geo/countries", "currencycode"]);
    type_line(&mut terminal, REQUEST, &["next:"]);
    terminal.send_control('d').expect("keys");
    terminal.exp_string("lakeward repl --session slow").expect("how to go on");
    terminal.exp_eof().expect("an end");
    let session = store.open("slow").expect("a session");
    assert_eq!(session.turns.len(), 1, "the interrupted turn left nothing");
    assert_eq!(session.turns[0].text, REQUEST);
}

#[test]
fn another_process_goes_on_with_the_identical_next_answer() {
    let place = place();
    let lines = [
        "life expectancy of countries",
        "/accept 1",
        "/reject 2",
        "/use geo/countries",
        "join it with population figures since 2000",
        "/run",
        "now only Europe",
    ];
    let json = |run: &Run| -> Vec<Value> {
        let all = run.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        all.filter(|document| document.get("signals").is_some()).collect()
    };
    let one = piped(place.path(), &["repl", "--json", "--session", "one"], &lines);
    let answers = json(&one);
    assert_eq!(answers.len(), 3, "{}{}", one.stdout, one.stderr);
    // The same with a process a line.
    let mut apart = Vec::new();
    for line in lines {
        let run = piped(place.path(), &["repl", "--json", "--session", "two"], &[line]);
        assert!(run.code <= 1, "{line}: {}", run.stderr);
        apart.extend(json(&run));
    }
    for (together, apart) in answers.iter().zip(&apart) {
        let text = |answer: &Value| answer.to_string().replace("two.steps", "one.steps");
        assert_eq!(text(together), text(apart));
    }
    assert_eq!(apart.len(), 3);
    let store = SessionStore::new(place.path());
    let (one, two) = (store.open("one").expect("a session"), store.open("two").expect("a session"));
    assert_eq!((one.accepted, one.rejected, one.demands), (two.accepted, two.rejected, two.demands));
    assert_eq!(one.steps[0].inputs, two.steps[0].inputs);
    let answer = answers[2]["tables"].to_string();
    assert!(!answer.contains(&rejected(&store, "one")), "a rejected table came back");
}

/// How an answer would name the table that a session rejected first.
fn rejected(store: &SessionStore, id: &str) -> String {
    format!("\"table\":\"{}\"", store.open(id).expect("a session").rejected[0].table)
}

#[test]
fn two_processes_with_one_session_overwrite_nothing() {
    let place = place();
    let mut terminal = terminal(place.path(), &["repl", "--session", "shared"]);
    type_line(&mut terminal, "/accept geo/countries", &["accepted: geo/countries"]);
    let other = piped(place.path(), &["repl", "--session", "shared"], &["/accept transport/us_airports"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
    let refused = ["another process has written session `shared`", "`/resume shared`"];
    type_line(&mut terminal, "/reject geo/countries", &refused);
    // What was not written can be kept under another name, and the session as it is now gone on with.
    type_line(&mut terminal, "/save mine", &["session mine saved"]);
    type_line(&mut terminal, "/resume shared", &["session shared resumed"]);
    type_line(&mut terminal, "/memory", &["accepted: geo/countries", "accepted: transport/us_airports"]);
    terminal.send_line("/quit").expect("a line");
    terminal.exp_eof().expect("an end");
    let store = SessionStore::new(place.path());
    let (shared, mine) = (store.open("shared").expect("a session"), store.open("mine").expect("a session"));
    assert!(shared.is_accepted("geo/countries") && shared.is_accepted("transport/us_airports"));
    assert!(mine.is_rejected("geo/countries") && !mine.is_accepted("transport/us_airports"));
}

#[test]
fn copies_exports_and_hostile_lines() {
    let place = place();
    let long = format!("income {}", "x ".repeat(500_000));
    let run = piped(
        place.path(),
        &["repl", "--session", "first"],
        &[
            "earthquakes in 2018",
            "/save second",
            "/accept 1",
            "/export talk.md",
            "/export talk.md",
            "/export talk.xyz",
            "\u{1b}[31m'; DROP TABLE x; -- $(rm -rf /)",
            &long,
            "/sql DROP TABLE geo.countries",
            "/save ../x",
            "/memory",
        ],
    );
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(!run.stdout.contains('\u{1b}'), "{}", run.stdout);
    for part in ["exists", "`.csv` or `.parquet`", "cannot be a session's name"] {
        assert!(run.stderr.contains(part), "{} lacks {part}", run.stderr);
    }
    let store = SessionStore::new(place.path());
    let (first, second) = (store.open("first").expect("a session"), store.open("second").expect("a session"));
    assert_eq!((first.turns.len(), first.accepted.len()), (1, 0));
    assert_eq!((second.turns.len(), second.accepted.len()), (3, 1));
    assert!(fs::read_to_string(place.path().join("talk.md")).expect("a file").contains("earthquakes in 2018"));
    // What cannot be resumed is told, and left alone.
    fs::write(store.folder().join("broken.json"), "{").expect("a file");
    let run = piped(place.path(), &["repl", "--session", "broken"], &[REQUEST]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert_eq!(fs::read_to_string(store.folder().join("broken.json")).expect("a file"), "{");
}

#[test]
fn what_was_proposed_is_carried_out_in_words() {
    let place = place();
    let lines = [
        "/use population/gapminder/countries2007",
        "average life expectancy per continent",
        "ok, run it",
        "sort it descending",
        "yes please",
        "now just the top 2",
        "do it",
        "go ahead",
        "/memory",
    ];
    let run = piped(place.path(), &["--json", "repl", "--session", "words"], &lines);
    let documents: Vec<Value> = run.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    // A step has the SQL that ran; an answer says whether its first operation is to be carried out.
    let steps: Vec<&Value> = documents.iter().filter(|document| document["inputs"].is_array()).collect();
    let rows: Vec<u64> = steps.iter().filter_map(|step| step["rows"].as_u64()).collect();
    assert_eq!(rows, [5, 5, 2], "{}", run.stdout);
    let wanted = documents.iter().filter(|document| document["carry_out"] == true).count();
    assert_eq!(wanted, 3);
    let notes = documents.iter().filter_map(|document| document["notes"][0].as_str());
    assert!(notes.clone().any(|note| note.starts_with("nothing is left to be carried out")), "{}", run.stdout);
    let sql = steps[2]["sql"].as_str().unwrap_or_default();
    assert!(sql.contains("LIMIT 2") && sql.contains("countries2007"), "{sql}");
}

#[test]
fn after_the_memory_is_cleared_a_request_is_answered_as_in_a_new_session() {
    let place = place();
    let answers = |session: &str, lines: &[&str]| -> Vec<Value> {
        let run = piped(place.path(), &["--json", "repl", "--session", session], lines);
        let documents = run.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        documents.filter(|document| document["operations"].is_array()).collect()
    };
    let request = "by continent, highest first";
    let before = ["glaciers in Norway", "/accept 1", "/use population/gapminder/countries2007", "only Asia"];
    let cleared = answers("cleared", &[&before[..], &["/memory clear", request]].concat());
    let new = answers("new", &["/use population/gapminder/countries2007", request]);
    let (cleared, new) = (cleared.last().expect("an answer"), new.last().expect("an answer"));
    for part in ["tables", "operations", "notes"] {
        assert_eq!(cleared[part], new[part], "{part}");
    }
    for part in ["acts", "operation", "intention"] {
        assert_eq!(cleared["signals"][part], new["signals"][part], "{part}");
    }
    let kept = answers("kept", &[&before[..], &[request]].concat());
    assert_ne!(kept.last().expect("an answer")["operations"], new["operations"], "it would go on from Asia");
    let session = SessionStore::new(place.path()).open("cleared").expect("a session");
    assert_eq!((session.turns.len(), session.accepted.len()), (3, 0), "the transcript stays");
}
