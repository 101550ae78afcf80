//! Many readers while one writer works: every reader sees one commit, whole.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lakeward_core::error::Error;
use lakeward_core::store::FileLock;
use lakeward_index::LakeIndex;
use lakeward_models::embed::StaticModel;
use lakeward_search::{JoinOptions, QueryTable, SearchOptions, join, text_search};

use super::{Numbers, answers, built, lake_of, open, write};

const READERS: usize = 16;
/// Tables that always change together: all of them are of one edition in any commit.
const TOGETHER: usize = 6;

/// Seconds of the test: 60 where it is asked for, fewer by default.
fn duration() -> Duration {
    let asked = std::env::var("LAKEWARD_SOAK_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(asked.unwrap_or(10))
}

/// The tables that change together, in edition `edition`: it shows in the number of rows and in the values.
fn write_together(lake: &Path, edition: usize) {
    for member in 0..TOGETHER {
        let mut text = "edition_key,member\n".to_string();
        for row in 0..20 + edition {
            text.push_str(&format!("edition {edition} row {row},{member}\n"));
        }
        fs::write(lake.join(format!("together_{member}.csv")), text).expect("a file");
    }
}

#[test]
fn readers_see_whole_commits_while_a_writer_works() {
    const TABLES: usize = 100;
    let lake = lake_of(TABLES);
    write_together(lake.path(), 0);
    let place = tempfile::tempdir().expect("a folder");
    built(lake.path(), place.path()).expect("a build");
    // The readers' question lies outside the lake, so that it does not change under them.
    let outside = place.path().join("question.csv");
    fs::write(&outside, super::table(40, 0)).expect("a file");
    let (done, reads, editions) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let until = Instant::now() + duration();
    let commits = std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (done, reads, editions, folder, outside) = (&done, &reads, &editions, place.path(), &outside);
            scope.spawn(move || {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let index = open(folder).unwrap_or_else(|error| panic!("reader {reader}: {error}"));
                    let edition =
                        check_snapshot(&index, outside).unwrap_or_else(|error| panic!("reader {reader}: {error}"));
                    assert!(edition >= last, "reader {reader} went back from {last} to {edition}");
                    editions.fetch_max(edition, Ordering::Relaxed);
                    last = edition;
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut numbers = Numbers(11);
        let mut commits = 0;
        while Instant::now() < until {
            commits += 1;
            write_together(lake.path(), commits);
            for _ in 0..numbers.below(10) {
                write(lake.path(), numbers.below(TABLES), commits);
            }
            built(lake.path(), place.path()).expect("a build");
        }
        done.store(true, Ordering::Relaxed);
        commits
    });
    let (reads, editions) = (reads.into_inner(), editions.into_inner());
    println!("{reads} snapshots read by {READERS} threads during {commits} commits");
    assert!(reads > READERS as u64 && commits > 3 && editions > 2, "{reads} reads, {commits} commits, {editions}");
}

/// Asks one snapshot; the edition that all tables of the group have in it.
fn check_snapshot(index: &LakeIndex, outside: &Path) -> Result<u64, Error> {
    let embedder = StaticModel::builtin();
    let mut editions = Vec::new();
    for member in 0..TOGETHER {
        let table = index.find(&format!("together_{member}"))?;
        let entry = index.table(table)?;
        let segment = index.segment(table.segment)?;
        let column = segment.tables.columns(table.table)?.start;
        let record = segment.columns.record(column)?;
        assert_eq!(record.rows, entry.profile.rows, "torn table");
        assert_eq!(segment.columns.hashes(record)?.len() as u64, record.distinct, "torn column");
        editions.push(entry.profile.rows - 20);
    }
    assert!(editions.iter().all(|edition| *edition == editions[0]), "a commit seen in part: {editions:?}");
    let query = QueryTable::read(outside, None, embedder)?;
    for answer in join::search(index, &query, &JoinOptions { column: Some(0), ..JoinOptions::new(20) })? {
        assert_eq!(index.table(index.find(&answer.table)?)?.profile.rows, answer.rows);
    }
    let found = text_search::search(index, embedder, "together edition", &SearchOptions::new(TOGETHER))?;
    assert!(found.iter().all(|answer| answer.table.starts_with("together")), "another table before the group's");
    assert_eq!(found.len(), TOGETHER);
    Ok(editions[0])
}

#[test]
fn a_second_writer_is_told_who_writes() {
    let lake = lake_of(3);
    let place = tempfile::tempdir().expect("a folder");
    built(lake.path(), place.path()).expect("a build");
    let lock = FileLock::acquire(place.path()).expect("the lock");
    match built(lake.path(), place.path()) {
        Err(Error::Locked { pid, .. }) => assert_eq!(pid, std::process::id().to_string()),
        other => panic!("{other:?}"),
    }
    assert!(answers(lake.path(), place.path()).is_ok(), "reading goes on");
    drop(lock);
    assert_eq!(built(lake.path(), place.path()).expect("a build").unchanged, 3);
}
