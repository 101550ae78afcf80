//! What files that last must survive, proved once for all that stand on them: a process killed at every step, a full disk, two
//! writers, a newer version, damaged bytes.

#![allow(clippy::print_stdout, reason = "how many steps there are is worth reading")]

mod atomic;
mod blobs;
mod lines;
mod lock;
mod steps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lakeward_core::Error;
use lakeward_core::store::{Bounds, Damage, KeyedRecord, LineRecord, LinesFormat, Links, Purpose};
use serde::{Deserialize, Serialize};
use steps::Fault;

/// Set for a child: what it does and where, `WHAT|FOLDER`.
const CHILD: &str = "LAKEWARD_TEST_STORE";

/// Records of the tests: a name and a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    name: String,
    figure: u32,
}

impl Figure {
    fn new(name: &str, figure: u32) -> Self {
        Self { name: name.into(), figure }
    }
}

impl LineRecord for Figure {
    fn check(&self) -> Result<(), String> {
        if self.name.is_empty() { Err("a figure without a name".into()) } else { Ok(()) }
    }
}

impl KeyedRecord for Figure {
    fn key(&self) -> &str {
        &self.name
    }
}

const fn format(damage: Damage) -> LinesFormat {
    LinesFormat {
        name: "lakeward_figures",
        version: 3,
        purpose: Purpose::Private,
        bounds: Bounds { most_bytes: 1 << 20, links: Links::Refused, damaged: |path, why| Error::damaged(path, why) },
        longest_line: 200,
        most_lines: 1_000,
        damage,
    }
}

static REFUSED: LinesFormat = format(Damage::Refused);
static COUNTED: LinesFormat = format(Damage::Counted);

/// A process that runs the test [`child`] as `what` in `place`.
fn child_that(what: &str, place: &Path) -> Command {
    let mut child = Command::new(std::env::current_exe().expect("a path"));
    child.args(["--exact", "child", "--nocapture"]).env(CHILD, format!("{what}|{}", place.display()));
    child.stdout(Stdio::null()).stderr(Stdio::null());
    child
}

/// The child of the other tests. Does nothing when run by hand.
#[test]
fn child() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let (what, place) = order.split_once('|').expect("an order");
    let place = Path::new(place);
    let done = match what {
        "replace" => atomic::replace(place),
        "claim" => atomic::claim(place),
        "lines" => lines::append_and_replace(place),
        "keyed" => lines::add_and_finish(place),
        "blobs" => blobs::fill(place),
        "lock" => lock::count_up(place),
        "hold" => lock::hold(place),
        other => panic!("{other}"),
    };
    done.unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)));
}

/// Runs the command that `make` makes with `fault` at its first step, its second, and so on, until it ends by itself. `check` is
/// called after each: which step, and how the run ended.
fn at_every_step(
    place: &Path,
    fault: Fault,
    mut make: impl FnMut() -> Command,
    mut check: impl FnMut(usize, steps::Run),
) {
    const MOST: usize = 2_000;
    for at in 1..MOST {
        let Some(ended) = steps::run(&mut make(), place, fault, at, |_| ()) else { return };
        let is_last = ended.steps < at;
        check(at, ended);
        if is_last {
            println!("{fault:?} at each of {} steps", at - 1);
            return;
        }
    }
    panic!("more than {MOST} steps");
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

/// A new folder, called as the system calls it: a descriptor of a file in it leads there.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path");
    (folder, path)
}
