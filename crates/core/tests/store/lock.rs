//! One writer at a time, among threads and processes, and none after its death.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lakeward_core::store::{FileLock, Purpose, write_atomic};
use lakeward_core::{Error, Result};

use super::{child_that, place};

const PATIENCE: Duration = Duration::from_secs(60);
const ROUNDS: u32 = 20;

/// Adds to a counter that only the lock protects.
pub fn count_up(place: &Path) -> Result<()> {
    for _ in 0..ROUNDS {
        let _lock = FileLock::wait(&place.join(".lock"), PATIENCE)?;
        let path = place.join("counter");
        let count: u32 = fs::read_to_string(&path).expect("a counter").parse().expect("a number");
        write_atomic(&path, Purpose::Cache, (count + 1).to_string().as_bytes())?;
    }
    Ok(())
}

/// Holds the lock until it is killed.
pub fn hold(place: &Path) -> Result<()> {
    let _lock = FileLock::acquire(place)?;
    fs::write(place.join("held"), "").expect("a file");
    std::thread::sleep(PATIENCE);
    Ok(())
}

#[test]
fn many_writers_lose_no_update() {
    const WRITERS: u32 = 6;
    let (_folder, place) = place();
    fs::write(place.join("counter"), "0").unwrap();
    let children: Vec<_> = (0..WRITERS).map(|_| child_that("lock", &place).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read_to_string(place.join("counter")).unwrap(), (WRITERS * ROUNDS).to_string());
}

#[test]
fn a_held_lock_names_its_holder_and_ends_with_it() {
    let (_folder, place) = place();
    let mut child = child_that("hold", &place).spawn().unwrap();
    let started = Instant::now();
    while !place.join("held").exists() {
        assert!(started.elapsed() < PATIENCE, "the child does not take the lock");
        std::thread::sleep(Duration::from_millis(5));
    }
    match FileLock::acquire(&place) {
        Err(Error::Locked { pid, path }) => assert_eq!((pid, path), (child.id().to_string(), place.clone())),
        other => panic!("{other:?}"),
    }
    child.kill().unwrap();
    child.wait().unwrap();
    FileLock::acquire(&place).unwrap();
}

#[test]
fn who_waits_gets_it_and_a_strange_holder_is_unknown() {
    let (_folder, place) = place();
    let path = place.join("write.lock");
    let held = FileLock::acquire(&place).unwrap();
    fs::write(&path, "; rm -rf /").unwrap();
    match FileLock::wait(&path, Duration::ZERO) {
        Err(Error::Locked { pid, .. }) => assert_eq!(pid, "unknown"),
        other => panic!("{other:?}"),
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| FileLock::wait(&path, PATIENCE).map(|_| ()));
        std::thread::sleep(Duration::from_millis(30));
        drop(held);
        waiting.join().unwrap().unwrap();
    });
    assert!(matches!(FileLock::acquire(&place.join("none")), Err(Error::Io { action: "create", .. })));
}
