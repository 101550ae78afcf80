//! An index survives what may happen to it: a writer killed at any moment, a flipped byte, two writers at once.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lakeward::embed::{Embedder, StaticModel};
use lakeward::error::Error;
use lakeward::index::LakeIndex;
use lakeward::index::build::{self, BuildOptions, BuildStats, Silent};
use lakeward::index::lock::WriteLock;
use lakeward::index::verify::verify;
use lakeward::retrieve::{JoinOptions, QueryTable, SearchOptions, UnionOptions, join, search, union};

/// A deterministic sequence (xorshift64*): the same files and moments in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

const TOPICS: [&str; 6] = ["harbour", "orchard", "glacier", "library", "railway", "museum"];

/// Table number `number` in its `edition`th state: keys that overlap with its neighbours', a town and a figure.
fn table(number: usize, edition: usize) -> String {
    let mut text = format!("{}_id,town,figure_{}\n", TOPICS[number % 6], number % 4);
    for row in 0..60 + number % 7 {
        let key = (number / 3) * 40 + row + edition;
        text.push_str(&format!("K{key:05},Town {},{}.5\n", (key * 7) % 300, key * 13 % 1000 + 2000));
    }
    text
}

fn path(lake: &Path, number: usize) -> PathBuf {
    lake.join(format!("part{}", number % 5)).join(format!("{}_{number:03}.csv", TOPICS[number % 6]))
}

fn write(lake: &Path, number: usize, edition: usize) {
    let path = path(lake, number);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, table(number, edition)).expect("a file");
}

fn lake_of(tables: usize) -> tempfile::TempDir {
    let lake = tempfile::tempdir().expect("a folder");
    (0..tables).for_each(|number| write(lake.path(), number, 0));
    lake
}

fn built(lake: &Path, index: &Path) -> Result<BuildStats, Error> {
    build::build(lake, index, StaticModel::builtin(), &BuildOptions::default(), &Silent)
}

/// What the index answers to a few requests, in order of ids. Only evidence that does not depend on how the tables are spread
/// over segments: tables struck out still count in the statistics behind scores until their segment is written anew.
fn answers(lake: &Path, folder: &Path) -> Result<Vec<String>, Error> {
    const ALL: usize = 1000;
    let embedder = StaticModel::builtin();
    let index = LakeIndex::open(folder, embedder.id())?;
    let mut lines = Vec::new();
    let mut ids = index.tables().map(|table| index.id(table).map(str::to_string)).collect::<Result<Vec<_>, _>>()?;
    ids.sort_unstable();
    for id in &ids {
        let entry = index.entry(index.find(id)?)?;
        lines.push(format!("{id}: {} rows, {:?}", entry.profile.rows, entry.profile.keys));
    }
    for id in ids.iter().step_by(40) {
        let query = QueryTable::resolve(&index, lake, id, embedder)?;
        let mut found: Vec<String> = Vec::new();
        for answer in join::search(&index, &query, &JoinOptions { k: ALL, column: Some(0) })? {
            if answer.shared_values > 0 {
                found.push(format!("{id} join {:.3} {} {}", answer.containment, answer.table, answer.shared_values));
            }
        }
        let best = union::search(&index, lake, &query, &UnionOptions { k: 3, count_rows: false })?;
        found.push(format!("{id} union {}", best.iter().any(|answer| answer.alignment.len() == 3)));
        found.sort_unstable();
        lines.append(&mut found);
    }
    for text in ["glacier towns", "orchard figure"] {
        let found = search::search(&index, embedder, text, &SearchOptions::new(10))?;
        let topic = text.split(' ').next().unwrap_or_default();
        lines.push(format!("{text}: {}", found.first().is_some_and(|answer| answer.table.contains(topic))));
    }
    Ok(lines)
}

/// Starts `lakeward index`, kills it after `after` and says whether it was still running.
fn killed(lake: &Path, index: &Path, after: Duration) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
    command.arg("index").arg(lake).arg("--index").arg(index).arg("--quiet").stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program");
    std::thread::sleep(after);
    let running = child.try_wait().expect("a state").is_none();
    child.kill().expect("a signal");
    child.wait().expect("an end");
    running
}

/// After a kill: the index opens and is whole, or there is none yet.
fn check_sound(index: &Path) {
    match LakeIndex::open(index, StaticModel::builtin().id()) {
        Err(Error::NoIndex { .. }) => {}
        Ok(_) => assert_eq!(verify(index).expect("a verdict").2, [], "damage after a kill"),
        Err(error) => panic!("after a kill: {error}"),
    }
}

fn assert_answers_like_a_new_index(lake: &Path, index: &Path) {
    let fresh = tempfile::tempdir().expect("a folder");
    built(lake, fresh.path()).expect("a fresh build");
    let (found, expected) = (answers(lake, index).expect("answers"), answers(lake, fresh.path()).expect("answers"));
    let different: Vec<_> = found.iter().zip(&expected).filter(|(found, expected)| found != expected).take(5).collect();
    assert!(
        found.len() == expected.len() && different.is_empty(),
        "{} and {}: {different:?}",
        found.len(),
        expected.len()
    );
}

#[test]
fn a_writer_killed_at_any_moment_leaves_a_sound_index() {
    const TABLES: usize = 150;
    const KILLS: u32 = 10;
    const CHANGED: usize = 40;
    let lake = lake_of(TABLES);
    let place = tempfile::tempdir().expect("a folder");
    let index = place.path().join("index");
    let whole_build = time_of_a_build(lake.path(), &place.path().join("timed"));
    let mut killed_alive = 0;
    for kill in 0..KILLS {
        killed_alive += u32::from(killed(lake.path(), &index, whole_build * kill / KILLS));
        check_sound(&index);
    }
    built(lake.path(), &index).expect("a build");
    assert_answers_like_a_new_index(lake.path(), &index);
    let mut numbers = Numbers(3);
    for kill in 0..KILLS {
        for _ in 0..CHANGED {
            write(lake.path(), numbers.below(TABLES), kill as usize + 1);
        }
        killed_alive += u32::from(killed(lake.path(), &index, whole_build * (kill + 2) / (2 * KILLS)));
        check_sound(&index);
    }
    fs::remove_file(path(lake.path(), 17)).expect("a file");
    built(lake.path(), &index).expect("a build");
    assert_eq!(built(lake.path(), &index).expect("a build").unchanged as usize, TABLES - 1);
    assert_answers_like_a_new_index(lake.path(), &index);
    assert!(killed_alive >= KILLS / 2, "only {killed_alive} runs were killed while they worked");
}

/// How long a run of the program on the whole lake takes.
fn time_of_a_build(lake: &Path, index: &Path) -> Duration {
    let started = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
    command.arg("index").arg(lake).arg("--index").arg(index).arg("--quiet").stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().expect("the program").success());
    started.elapsed()
}

#[test]
fn a_flipped_byte_is_noticed_or_harmless() {
    const PLACES: usize = 12;
    let lake = lake_of(30);
    let place = tempfile::tempdir().expect("a folder");
    built(lake.path(), place.path()).expect("a build");
    let expected = answers(lake.path(), place.path()).expect("answers");
    let mut numbers = Numbers(7);
    let mut noticed = 0;
    for file in files(place.path()) {
        let whole = fs::read(&file).expect("a file");
        for _ in 0..if whole.is_empty() { 0 } else { PLACES } {
            let offset = numbers.below(whole.len());
            let mut bytes = whole.clone();
            bytes[offset] ^= 1 << numbers.below(8);
            fs::write(&file, &bytes).expect("a file");
            let outcome = catch_unwind(AssertUnwindSafe(|| answers(lake.path(), place.path())));
            let verdict = catch_unwind(AssertUnwindSafe(|| verify(place.path())));
            fs::write(&file, &whole).expect("a file");
            let name = format!("byte {offset} of {}", file.display());
            match outcome.unwrap_or_else(|_| panic!("panic: {name}")) {
                Ok(found) => assert_eq!(found, expected, "{name}"),
                Err(Error::DamagedIndex { .. } | Error::IndexVersion { .. }) => noticed += 1,
                Err(error) => panic!("{name}: {error}"),
            }
            let verdict = verdict.unwrap_or_else(|_| panic!("panic in verify: {name}"));
            let lock = file.ends_with("write.lock");
            assert!(
                lock || verdict.as_ref().is_err() || verdict.is_ok_and(|(_, _, damage)| !damage.is_empty()),
                "unseen: {name}"
            );
        }
    }
    assert!(noticed > 0);
    assert_eq!(verify(place.path()).expect("a verdict").2, []);
}

/// Every file below `folder`, in order of its path.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort_unstable();
    found
}

#[test]
fn a_second_writer_is_told_who_writes() {
    let lake = lake_of(3);
    let place = tempfile::tempdir().expect("a folder");
    built(lake.path(), place.path()).expect("a build");
    let lock = WriteLock::acquire(place.path()).expect("the lock");
    match built(lake.path(), place.path()) {
        Err(Error::Locked { pid, .. }) => assert_eq!(pid, std::process::id().to_string()),
        other => panic!("{other:?}"),
    }
    assert!(answers(lake.path(), place.path()).is_ok(), "reading goes on");
    drop(lock);
    assert_eq!(built(lake.path(), place.path()).expect("a build").unchanged, 3);
}
