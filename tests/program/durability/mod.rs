//! What lasts survives what may happen to it: writers killed at any moment and between any two steps, flipped and missing
//! bytes, full disks and forbidden folders, two writers at once, readers during a write, and any sequence of edits of the
//! lake; files of older and newer versions are read or refused by name.

mod crash;
mod damage;
mod faults;
mod formats;
mod readers;
#[path = "../../../crates/core/tests/store/steps.rs"]
mod steps;
mod stopped;
pub mod things;
mod updates;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lakeward_core::error::Error;
use lakeward_core::monitor::Silent;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions, BuildStats};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_search::{JoinOptions, QueryTable, SearchOptions, UnionOptions, join, text_search, union};

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

fn open(index: &Path) -> Result<LakeIndex, Error> {
    LakeIndex::open(index, StaticModel::builtin().id())
}

/// What the index answers to a few requests, in order of ids. Only evidence that does not depend on how the tables are spread
/// over segments: tables struck out still count in the statistics behind scores until their segment is written anew.
fn answers(lake: &Path, folder: &Path) -> Result<Vec<String>, Error> {
    const ALL: usize = 1000;
    let embedder = StaticModel::builtin();
    let index = open(folder)?;
    let mut lines = Vec::new();
    let mut ids = index.tables().map(|table| index.id(table).map(str::to_string)).collect::<Result<Vec<_>, _>>()?;
    ids.sort_unstable();
    for id in &ids {
        let entry = index.table(index.find(id)?)?;
        lines.push(format!("{id}: {} {} rows, {:?}", entry.content, entry.profile.rows, entry.profile.keys));
    }
    for id in ids.iter().step_by(40) {
        let query = QueryTable::resolve(&index, lake, id, embedder)?;
        let mut found: Vec<String> = Vec::new();
        for answer in join::search(&index, &query, &JoinOptions { column: Some(0), ..JoinOptions::new(ALL) })? {
            if answer.shared_values > 0 {
                found.push(format!("{id} join {:.3} {} {}", answer.containment, answer.table, answer.shared_values));
            }
        }
        let best = union::search(&index, lake, &query, &UnionOptions::new(3))?;
        found.push(format!("{id} union {}", best.iter().any(|answer| answer.alignment.len() == 3)));
        found.sort_unstable();
        lines.append(&mut found);
    }
    for text in ["glacier towns", "orchard figure"] {
        let found = text_search::search(&index, embedder, text, &SearchOptions::new(ALL))?;
        let topic = text.split(' ').next().unwrap_or_default();
        let mut named: Vec<&str> =
            found.iter().map(|answer| answer.table.as_str()).filter(|id| id.contains(topic)).collect();
        named.sort_unstable();
        lines.push(format!("{text}: {named:?}"));
    }
    Ok(lines)
}

fn assert_same(found: &[String], expected: &[String], when: &str) {
    let different: Vec<_> = found.iter().zip(expected).filter(|(found, expected)| found != expected).take(5).collect();
    let counts = (found.len(), expected.len());
    assert!(counts.0 == counts.1 && different.is_empty(), "{when}: {counts:?}: {different:?}");
}

fn assert_answers_like_a_new_index(lake: &Path, index: &Path, when: &str) {
    let fresh = tempfile::tempdir().expect("a folder");
    built(lake, fresh.path()).expect("a fresh build");
    let found = answers(lake, index).expect("answers");
    assert_same(&found, &answers(lake, fresh.path()).expect("answers"), when);
}

/// Every file below `folder`, in order of its path.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort_unstable();
    found
}

/// `lakeward index` on `lake`, silent.
fn program(lake: &Path, index: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lakeward"));
    command
        .args(["index", "--fast", "--quiet"])
        .arg(lake)
        .arg("--index")
        .arg(index)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
