//! The program killed, or without room on its disk, at any step of every command that writes something that lasts: all durable
//! things can be read afterwards, and the same command goes on where it was stopped.
//!
//! So is what a machine has of an index in a store. `replay` writes nothing. `model check` takes minutes and
//! writes by `KeyedLines`, which `crates/core/tests/store` stops at every step.
//!
//! By default a few steps of each command, spread over all of them; with `LAKEWARD_EVERY_STEP` set, every one.

#![allow(clippy::print_stdout, reason = "how many steps there are is worth reading")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lakeward_index::build::shards::ListFolder;
use lakeward_lake::notes::Notes;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::files;
use super::steps::{self, Fault};
use super::things::{unfinished, unreadable};
use crate::catalogues::oai_server::{OaiServer, introduction, nth_page, page_asked};
use crate::commands::copy;
use crate::store_server::{KEY_ID, StoreServer};
use crate::stores::environment;

/// An index in a store.
const INDEX: &str = "s3://bucket/index";
/// Steps of a command that are tried.
const SAMPLE: usize = 5;
const PAPERS: [(&str, &str); 2] = [
    (
        "floods",
        "For flood forecasting we train and evaluate on the RainBook dataset. RainBook contains readings of three stations.",
    ),
    ("bread", "For price prediction we evaluate on the BreadPrices dataset. BreadPrices contains prices of bread."),
];

/// A lake with an index and all that can lie beside it.
struct Place {
    folder: tempfile::TempDir,
    /// The same path without links, as the system tells it.
    path: PathBuf,
    input: &'static str,
    /// Where the index is, if it is not in the lake.
    server: Option<StoreServer>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path");
        let place = Self { folder, path, input: "", server: None };
        place.write("now/lake/gauges.csv", "station,date,mm\nGhent,2020-01-01,3\nLiege,2020-01-02,7\n");
        place.write("now/lake/prices.csv", "item,euro\nbread,2.5\nmilk,1.1\n");
        place.write("now/lake/lakeward.toml", "[learning]\nrecord = true\n");
        place.write_paper(PAPERS[0]);
        for arguments in
            [&["index"][..], &["papers", "add", "../papers"], &["papers", "extract"], &["graph", "build"], &["augment"]]
        {
            place.succeed(arguments);
        }
        let place = Self { input: "rain in Ghent\n/accept 1\n", ..place };
        place.succeed(&["repl", "--session", "s"]);
        place
    }

    fn now(&self) -> PathBuf {
        self.path.join("now")
    }

    fn index(&self) -> PathBuf {
        self.now().join("lake/.lakeward")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn write_paper(&self, (id, text): (&str, &str)) {
        let paper = format!(
            "{{\"id\":\"{id}\",\"title\":\"On {id}\",\"sections\":[{{\"heading\":\"Data\",\"text\":\"{text}\"}}]}}\n"
        );
        self.write(&format!("now/papers/{id}.jsonl"), &paper);
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let input = self.path.join("input");
        fs::write(&input, self.input).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
        command.current_dir(self.now().join("lake")).args(["--lake", ".", "--quiet"]).args(arguments);
        command.stdin(File::open(input).expect("a file")).stdout(Stdio::null());
        if let Some(server) = &self.server {
            command.envs(environment(server, KEY_ID)).env("LAKEWARD_STATE", self.now().join("state"));
            command.env("LAKEWARD_INDEX", INDEX);
        }
        command
    }

    fn succeed(&self, arguments: &[&str]) {
        self.succeed_when(arguments, "");
    }

    fn succeed_when(&self, arguments: &[&str], when: &str) {
        let run = self.program(arguments).stderr(Stdio::piped()).output().expect("the program");
        assert!(run.status.success(), "{arguments:?}: {} {when}", String::from_utf8_lossy(&run.stderr));
    }

    /// What is not there or cannot be read, no more than was `before`.
    fn assert_nothing_lost(&self, before: &[String], when: &str) {
        let lost: Vec<String> = unreadable(&self.index()).into_iter().filter(|thing| !before.contains(thing)).collect();
        assert_eq!(lost, [] as [String; 0], "{when}");
    }

    /// Stops `arguments` at steps by both faults; `check` looks at what else must hold afterwards.
    fn stopped(&self, arguments: &[&str], is_repeatable: bool, check: impl Fn(&Path, &str)) {
        self.stopped_beside(arguments, is_repeatable, |_| (), check);
    }

    /// The same, while `beside` does something with the process.
    fn stopped_beside(
        &self,
        arguments: &[&str],
        is_repeatable: bool,
        beside: impl Fn(&Running<'_>) + Sync,
        check: impl Fn(&Path, &str),
    ) {
        let before = self.folder.path().join("before");
        copy(&self.now(), &before);
        let missing = unreadable(&self.index());
        let stored: Vec<String> = self.server.iter().flat_map(|server| server.paths("")).collect();
        let said = tempfile::NamedTempFile::new().expect("a file");
        let out = tempfile::NamedTempFile::new().expect("a file");
        let run = |fault, at| {
            fs::remove_dir_all(self.now()).expect("a folder");
            copy(&before, &self.now());
            if let Some(server) = &self.server {
                server.paths("").iter().filter(|path| !stored.contains(path)).for_each(|path| server.remove(path));
            }
            let mut command = self.program(arguments);
            command.stderr(File::create(said.path()).expect("a file"));
            command.stdout(File::create(out.path()).expect("a file"));
            let has_ended = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let begun = |pid| {
                    let (beside, out, has_ended) = (&beside, out.path(), &has_ended);
                    scope.spawn(move || beside(&Running { pid, out, has_ended }));
                };
                let run = steps::run(&mut command, &self.path, fault, at, begun);
                has_ended.store(true, Ordering::Relaxed);
                run
            })
        };
        let Some(whole) = run(Fault::Kill, usize::MAX) else { return };
        assert_eq!(whole.code, Some(0), "{arguments:?}: {}", fs::read_to_string(said.path()).unwrap_or_default());
        let every = if std::env::var_os("LAKEWARD_EVERY_STEP").is_some() { 1 } else { whole.steps.div_ceil(SAMPLE) };
        println!("{arguments:?}: {} steps, every {every}th", whole.steps);
        assert!(whole.steps > 3, "{arguments:?} writes nothing");
        for fault in [Fault::Kill, Fault::Full] {
            for at in (1..=whole.steps).rev().step_by(every) {
                let Some(ended) = run(fault, at) else { return };
                let said = fs::read_to_string(said.path()).expect("text");
                let when = format!("{fault:?} at step {at} of {arguments:?}: {said}");
                match (fault, ended.code) {
                    // Another order of threads has fewer steps.
                    (Fault::Kill, None) | (_, Some(0)) => {}
                    (Fault::Full, Some(3 | 4)) => assert!(said.contains("No space left on device"), "{when}"),
                    (_, code) => panic!("exit code {code:?}, {when}"),
                }
                self.assert_nothing_lost(&missing, &when);
                check(&self.now(), &when);
                if is_repeatable {
                    self.succeed(arguments);
                    self.assert_nothing_lost(&missing, &format!("again after {when}"));
                    assert_eq!(unfinished(&self.index()), [] as [PathBuf; 0], "again after {when}");
                }
            }
        }
    }
}

fn nothing_else(_: &Path, _: &str) {}

/// A process that may be stopped at any moment.
struct Running<'a> {
    pid: u32,
    /// The file of its stdout.
    out: &'a Path,
    has_ended: &'a AtomicBool,
}

impl Running<'_> {
    /// The first line that it prints, if it comes to that.
    fn first_line(&self) -> Option<String> {
        loop {
            let has_ended = self.has_ended.load(Ordering::Relaxed);
            let printed = fs::read_to_string(self.out).expect("text");
            match printed.split_once('\n') {
                Some((line, _)) => return Some(line.to_string()),
                None if has_ended => return None,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Logs in to the service that it is, searches, and asks it to end.
    fn search(&self) {
        let Some(address) = self.first_line() else { return };
        let rest = address.strip_prefix("http://").expect("an address");
        let (host, login) = rest.split_once('/').expect("a path");
        let answer = get(host, &format!("/{login}"), "").unwrap_or_default();
        let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next());
        let _ = get(host, "/search?q=prices+of+bread", cookie.unwrap_or_default());
        if !self.has_ended.load(Ordering::Relaxed) {
            let _ = kill(Pid::from_raw(self.pid as i32), Signal::SIGTERM);
        }
    }
}

fn get(host: &str, path: &str, cookie: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn an_update_of_the_index_is_stopped() {
    let place = Place::new();
    place.write("now/lake/roads.csv", "segment,lanes\nA10,3\nA12,2\n");
    place.stopped(&["index"], true, nothing_else);
}

/// Made anew, as a whole or where it is damaged.
#[test]
fn a_rebuild_and_a_repair_are_stopped() {
    let place = Place::new();
    place.stopped(&["index", "--rebuild"], true, nothing_else);
    let words = files(&place.index().join("segments")).into_iter().find(|path| path.ends_with("words.seg"));
    let words = words.expect("a file of words");
    fs::write(&words, &fs::read(&words).expect("a file")[..100]).expect("a file");
    place.stopped(&["index", "--repair"], true, nothing_else);
    place.succeed(&["index", "--repair"]);
    place.succeed(&["verify"]);
}

#[test]
fn a_shared_build_is_stopped() {
    let place = Place::new();
    place.write("now/lake/roads.csv", "segment,lanes\nA10,3\nA12,2\n");
    let listing = ["index", "shards", "--shards", "1"];
    place.stopped(&listing, true, nothing_else);
    place.succeed(&listing);
    let list = fs::read_dir(place.index().join("lists")).expect("a folder").flatten().next().expect("a list").path();
    let (index, name) = ListFolder::divide(&list).expect("a list");
    let is_whole = |_: &Path, when: &str| ListFolder::of(&index, &name).and_then(|list| list.verify()).expect(when);
    let list = list.to_str().expect("a path");
    let work = ["index", "work", list, "--shard", "0"];
    place.stopped(&work, true, is_whole);
    // A commit is a build whose reading is done, and would take the copied files of the lake for changed ones.
}

#[test]
fn a_harvest_is_stopped() {
    const PAGES: usize = 3;
    let server =
        OaiServer::start(|query, _| introduction(query).unwrap_or_else(|| nth_page(page_asked(query), PAGES, 2)));
    let place = Place::new();
    let harvest = ["harvest", server.url.as_str(), "--into", "../harvested", "--pause", "0"];
    place.stopped(&harvest, false, |now, when| {
        let folder = now.join("harvested");
        let pages = || files(&folder.join("run-0001")).into_iter().filter(|path| !is_hidden(path));
        let is_whole = |page: PathBuf| fs::read_to_string(page).expect("a page").ends_with("</OAI-PMH>");
        assert!(!folder.join("run-0001").is_dir() || pages().all(is_whole), "{when}");
        // It goes on, or, where the list was read to its end, with what has changed since.
        place.succeed_when(&harvest, when);
        assert_eq!(pages().count(), PAGES, "{when}");
        assert_eq!(unfinished(&folder), [] as [PathBuf; 0], "{when}");
    });
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

#[test]
fn an_operation_is_stopped() {
    let place = Place::new();
    place.write("now/lake/prices.csv", "item,euro\nbread,2.5\nbread,3.5\nmilk,1.1\n");
    place.succeed(&["index"]);
    let operation = ["ask", "mean euro for each item", "--table", "prices", "--run", "1", "--session", "means"];
    place.stopped(&operation, true, |now, when| {
        for result in files(&now.join("lake/.lakeward/sessions")) {
            if result.extension().is_some_and(|extension| extension == "parquet") && !is_hidden(&result) {
                assert!(fs::read(result).expect("a file").ends_with(b"PAR1"), "{when}");
            }
        }
    });
}

/// What is kept of how answers are used: the service answers where it cannot be kept.
#[test]
fn a_service_that_keeps_how_answers_are_used_is_stopped() {
    let place = Place::new();
    place.write("now/lake/lakeward.toml", "[usage]\nrecord = true\n");
    place.stopped_beside(
        &["serve", "--listen", "127.0.0.1:0", "--no-llm"],
        false,
        |running| running.search(),
        nothing_else,
    );
}

/// The local folder of an index in a store, and what is in the store.
#[test]
fn an_update_of_an_index_in_a_store_is_stopped() {
    let place = Place { server: Some(StoreServer::start()), ..Place::new() };
    place.succeed(&["index", "--fast"]);
    place.write("now/lake/roads.csv", "segment,lanes\nA10,3\nA12,2\n");
    place.stopped(&["index", "--fast"], true, |_, when| {
        for arguments in [&["tables"][..], &["search", "rain in Ghent"], &["verify"]] {
            place.succeed_when(arguments, when);
        }
    });
}

#[test]
fn a_conversation_that_teaches_is_stopped() {
    let place = Place { input: "prices of bread\n/accept 1\n", ..Place::new() };
    place.stopped(&["repl", "--session", "s"], true, nothing_else);
}

#[test]
fn adding_and_removing_papers_is_stopped() {
    let place = Place::new();
    place.write_paper(PAPERS[1]);
    place.stopped(&["papers", "add", "../papers"], true, nothing_else);
    place.succeed(&["papers", "add", "../papers"]);
    // Removed already where it is stopped late: then there is nothing left to remove.
    place.stopped(&["papers", "remove", "bread"], false, nothing_else);
}

#[test]
fn extraction_and_the_task_graph_are_stopped() {
    let place = Place::new();
    place.write_paper(PAPERS[1]);
    place.succeed(&["papers", "add", "../papers"]);
    place.stopped(&["papers", "extract"], true, nothing_else);
    place.succeed(&["papers", "extract"]);
    place.stopped(&["graph", "build"], true, nothing_else);
    place.succeed(&["graph", "build"]);
    place.stopped(&["graph", "merge", "RainBook", "gauges"], false, nothing_else);
}

#[test]
fn a_note_is_stopped() {
    let place = Place::new();
    place.succeed(&["note", "prices", "--column", "euro", "price in euros"]);
    place.stopped(&["note", "gauges", "--title", "Rain in Flanders"], true, |now, when| {
        let notes = Notes::read(&now.join("lake/.lakeward")).expect(when);
        assert!(notes.of("prices").is_some(), "{when}");
    });
}

#[test]
fn questions_are_stopped() {
    let place = Place::new();
    place.write("now/lake/roads.csv", "segment,lanes\nA10,3\nA12,2\n");
    place.succeed(&["index"]);
    place.stopped(&["augment", "--mode", "concatenated"], true, nothing_else);
}

#[test]
fn files_that_were_asked_for_are_whole_or_not_there() {
    let place = Place::new();
    let out = "../out.txt";
    for arguments in [
        &["sql", "SELECT * FROM gauges", "--format", "csv", "--out", out][..],
        &["sessions", "export", "s", "--out", out],
        &["ask", "prices of bread", "--trace", out],
    ] {
        place.succeed(arguments);
        let whole = fs::read(place.now().join("out.txt")).expect("a file").len();
        fs::remove_file(place.now().join("out.txt")).expect("a file");
        place.stopped(arguments, false, |now, when| {
            if let Ok(bytes) = fs::read(now.join("out.txt")) {
                // Times differ by some digits.
                assert!(bytes.len().abs_diff(whole) < 50 && bytes.len() > 10, "{} bytes, {when}", bytes.len());
            }
        });
        let _ = fs::remove_file(place.now().join("out.txt"));
    }
}
