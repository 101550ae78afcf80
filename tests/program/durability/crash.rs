//! A writer that dies: killed at random moments, and aborted at every step that changes the disk.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use lakeward_core::error::Error;
use lakeward_core::monitor::{Monitor, StopWhen, Total};
use lakeward_index::build::{self, BuildOptions, BuildStep};
use lakeward_index::manifest::{FILE_NAME, Manifest};
use lakeward_index::verify::verify;
use lakeward_models::embed::StaticModel;

use super::{Numbers, assert_answers_like_a_new_index, built, files, lake_of, open, path, program, write};

const TABLES: usize = 150;

/// The last commit as it lies on the disk; nothing before the first.
fn last_commit(index: &Path) -> Option<Vec<u8>> {
    fs::read(index.join(FILE_NAME)).ok()
}

/// After a crash the index opens and every byte of it is what a manifest names: that of `before`, or one committed since.
/// Whether it is still the one before.
fn check_sound(index: &Path, before: Option<&[u8]>, when: &str) -> bool {
    match open(index) {
        Err(Error::NoIndex { .. }) => assert_eq!(before, None, "{when}: the index is gone"),
        Ok(_) => assert_eq!(verify(index).expect("a verdict").2, [], "{when}"),
        Err(error) => panic!("{when}: {error}"),
    }
    last_commit(index).as_deref() == before
}

/// The next run completes, leaves nothing unread and nothing that no manifest names.
fn finish(lake: &Path, index: &Path, committed: bool, when: &str) {
    let stats = built(lake, index).unwrap_or_else(|error| panic!("{when}: {error}"));
    assert_eq!((stats.tables, stats.unread), (files(lake).len() as u64, 0), "{when}");
    if committed {
        // What was committed is all of it: an update is one commit.
        assert_eq!(stats.added + stats.changed + stats.removed + stats.renamed, 0, "{when}");
    }
    let manifest = Manifest::read(index).expect("a manifest");
    let mut named: Vec<_> = vec![index.join(FILE_NAME), index.join("write.lock")];
    for segment in &manifest.segments {
        let folder = Manifest::segment_folder(index, &segment.name);
        named.extend(segment.files.iter().map(|file| folder.join(&file.name)));
    }
    named.sort_unstable();
    assert_eq!(files(index), named, "{when}: orphans");
}

#[test]
fn a_writer_killed_at_any_moment_leaves_the_last_commit() {
    const KILLS: usize = 300;
    let lake = lake_of(TABLES);
    let place = tempfile::tempdir().expect("a folder");
    let index = place.path().join("index");
    let started = Instant::now();
    assert!(program(lake.path(), &place.path().join("timed")).status().expect("the program").success());
    // The span in which the kill falls follows the runs, which take longer on a busy machine: about half are still at work.
    let mut span = started.elapsed();
    let mut numbers = Numbers(3);
    let (mut alive, mut kept) = (0, 0);
    for kill in 0..KILLS {
        let when = format!("kill {kill}");
        // Every tenth time from nothing; else an update of a few tables or of many.
        if kill % 10 == 0 {
            let _ = fs::remove_dir_all(&index);
        } else {
            for _ in 0..[1, 8, 60][kill % 3] {
                write(lake.path(), numbers.below(TABLES), kill + 1);
            }
        }
        let before = last_commit(&index);
        let mut child = program(lake.path(), &index).spawn().expect("the program");
        std::thread::sleep(span.mul_f64(numbers.below(1000) as f64 / 1000.0));
        let working = child.try_wait().expect("a state").is_none();
        span = span.mul_f64(if working { 1.1 } else { 0.9 });
        alive += usize::from(working);
        child.kill().expect("a signal");
        child.wait().expect("an end");
        let same = check_sound(&index, before.as_deref(), &when);
        kept += usize::from(same);
        finish(lake.path(), &index, !same, &when);
        if kill % 50 == 49 {
            assert_answers_like_a_new_index(lake.path(), &index, &when);
        }
    }
    println!("{alive} of {KILLS} runs were killed while they worked, {kept} before their commit");
    assert!(alive >= KILLS / 3 && kept >= KILLS / 10, "{alive} killed at work, {kept} before their commit");
}

#[test]
fn an_interrupted_run_keeps_what_it_read() {
    let lake = lake_of(TABLES);
    let place = tempfile::tempdir().expect("a folder");
    let asked = AtomicU32::new(0);
    let impatient = StopWhen(|| asked.fetch_add(1, Ordering::Relaxed) > 0);
    let options = BuildOptions::default();
    let stats = build::build(lake.path(), place.path(), StaticModel::builtin(), &options, &impatient).expect("a build");
    assert!(stats.tables > 0 && stats.unread > 0 && stats.is_partial(), "{stats:?}");
    assert_eq!(stats.tables + stats.unread, TABLES as u64);
    let rest = built(lake.path(), place.path()).expect("a build");
    assert_eq!((rest.added, rest.unchanged), (stats.unread, stats.tables));
    assert_answers_like_a_new_index(lake.path(), place.path(), "interrupted");
}

/// Set for the child of the next test: `lake|index|step|which time`.
const CRASH: &str = "LAKEWARD_TEST_CRASH";

struct Crasher {
    step: String,
    times_left: AtomicU32,
}

impl Monitor for Crasher {
    fn begin(&self, _name: &str, _total: Total) {}
    fn advance(&self, _amount: u64) {}
    fn is_stopped(&self) -> bool {
        false
    }
    fn note(&self, what: &str) {
        if what == self.step && self.times_left.fetch_sub(1, Ordering::Relaxed) == 1 {
            std::process::abort();
        }
    }
}

/// The child of the next test: an update that aborts itself. Does nothing when run by hand.
#[test]
fn child_that_crashes() {
    let Ok(order) = std::env::var(CRASH) else { return };
    let parts: Vec<&str> = order.split('|').collect();
    let [lake, index, step, time] = parts[..] else { panic!("{order}") };
    let monitor = Crasher { step: step.into(), times_left: AtomicU32::new(time.parse().expect("a number")) };
    let options = BuildOptions::default();
    build::build(Path::new(lake), Path::new(index), StaticModel::builtin(), &options, &monitor).expect("a build");
}

#[test]
fn a_crash_at_every_step_leaves_the_last_commit() {
    let lake = lake_of(TABLES);
    let place = tempfile::tempdir().expect("a folder");
    let mut edition = 0;
    for step in BuildStep::all() {
        // Only a sentence model gives vectors of word pieces and of whole texts.
        let of_texts = ["token-vectors.seg", "meanings.seg"].iter().any(|file| step == BuildStep::Written(file));
        if of_texts || step == BuildStep::TextsRead {
            continue;
        }
        // The fourth update after a build makes four small segments, which are merged: most steps come twice, once in the
        // update and once in the merge.
        for time in 1..=3 {
            let when = format!("{step}, time {time}");
            let index = place.path().join(&when);
            built(lake.path(), &index).expect("a build");
            for number in 0..4 {
                edition += 1;
                write(lake.path(), number * 10, edition);
                if number == 3 {
                    fs::rename(path(lake.path(), 77), path(lake.path(), 77).with_extension("tsv")).expect("a file");
                } else {
                    built(lake.path(), &index).expect("a build");
                }
            }
            let before = last_commit(&index);
            let order = format!("{}|{}|{step}|{time}", lake.path().display(), index.display());
            let mut child = Command::new(std::env::current_exe().expect("a path"));
            child.args(["--exact", "durability::crash::child_that_crashes"]).env(CRASH, order);
            let status = child.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("the child");
            let happens = !matches!((step, time), (BuildStep::OrphansRemoved, 2..) | (_, 3));
            assert_eq!(status.success(), !happens, "{when}");
            let same = check_sound(&index, before.as_deref(), &when);
            let written = !matches!(step, BuildStep::ManifestReplaced | BuildStep::OrphansRemoved);
            assert_eq!(same, happens && time == 1 && written, "{when}");
            finish(lake.path(), &index, !same, &when);
            assert_answers_like_a_new_index(lake.path(), &index, &when);
            fs::rename(path(lake.path(), 77).with_extension("tsv"), path(lake.path(), 77)).expect("a file");
            fs::remove_dir_all(&index).expect("a folder");
        }
    }
}

/// A run that finds nothing to do must not look busy for ever: a second after the last change all stamps are settled.
#[test]
fn the_second_run_after_a_change_does_nothing() {
    let lake = lake_of(20);
    let place = tempfile::tempdir().expect("a folder");
    built(lake.path(), place.path()).expect("a build");
    std::thread::sleep(Duration::from_millis(200));
    built(lake.path(), place.path()).expect("a build");
    let settled = last_commit(place.path());
    let stats = built(lake.path(), place.path()).expect("a build");
    assert!(!stats.did_something() && stats.unchanged == 20, "{stats:?}");
    assert_eq!(last_commit(place.path()), settled);
}
