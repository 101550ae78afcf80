//! The program killed, or without room on its disk, at any step of every command that writes something that lasts: all durable
//! things can be read afterwards, and the same command goes on where it was stopped.
//!
//! So is what a machine has of an index in a store.
//!
//! By default a few steps of each command, spread over all of them; with `LAKEWARD_EVERY_STEP` set, every one.

#![allow(clippy::print_stdout, reason = "how many steps there are is worth reading")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lakeward_lake::notes::Notes;

use super::steps::{self, Fault};
use super::things::{unfinished, unreadable};
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

    /// Stops `arguments` at steps by both faults; `check` looks at what else must hold afterwards.
    fn stopped(&self, arguments: &[&str], is_repeatable: bool, check: impl Fn(&Path, &str)) {
        let before = self.folder.path().join("before");
        copy(&self.now(), &before);
        let missing = unreadable(&self.index());
        let stored: Vec<String> = self.server.iter().flat_map(|server| server.paths("")).collect();
        let said = tempfile::NamedTempFile::new().expect("a file");
        let run = |fault, at| {
            fs::remove_dir_all(self.now()).expect("a folder");
            copy(&before, &self.now());
            if let Some(server) = &self.server {
                server.paths("").iter().filter(|path| !stored.contains(path)).for_each(|path| server.remove(path));
            }
            let mut command = self.program(arguments);
            command.stderr(File::create(said.path()).expect("a file"));
            steps::run(&mut command, &self.path, fault, at)
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
                assert_eq!(unreadable(&self.index()), missing, "{when}");
                check(&self.now(), &when);
                if is_repeatable {
                    self.succeed(arguments);
                    assert_eq!(unreadable(&self.index()), missing, "again after {when}");
                    assert_eq!(unfinished(&self.index()), [] as [PathBuf; 0], "again after {when}");
                }
            }
        }
    }
}

fn nothing_else(_: &Path, _: &str) {}

#[test]
fn an_update_of_the_index_is_stopped() {
    let place = Place::new();
    place.write("now/lake/roads.csv", "segment,lanes\nA10,3\nA12,2\n");
    place.stopped(&["index"], true, nothing_else);
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
