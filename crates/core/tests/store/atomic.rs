//! Files that appear whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use lakeward_core::Result;
use lakeward_core::store::{AtomicFile, Purpose, remove_unfinished, sync_folder, write_atomic};

use super::steps::Fault;
use super::{at_every_step, child_that, names, place};

const NAME: &str = "notes.txt";
/// More than one buffer, so that the file is written in several steps.
const LENGTH: usize = 30_000;

fn text(letter: char) -> String {
    letter.to_string().repeat(LENGTH)
}

/// Replaces the file, in pieces.
pub fn replace(place: &Path) -> Result<()> {
    let path = place.join(NAME);
    remove_unfinished(&path);
    let mut file = AtomicFile::create(&path, Purpose::Index)?;
    for piece in text('b').as_bytes().chunks(5_000) {
        file.put(piece)?;
    }
    file.replace().map(|_| ())
}

/// Takes the name if nothing has it.
pub fn claim(place: &Path) -> Result<()> {
    let mut file = AtomicFile::create(&place.join(NAME), Purpose::Output)?;
    file.put(text('b').as_bytes())?;
    file.claim().map(|_| ())
}

fn is_unfinished(name: &str) -> bool {
    name.strip_prefix(".notes-").is_some_and(|random| random.len() == 6)
}

#[test]
fn a_writer_killed_at_any_step_leaves_the_old_file_or_the_new_one() {
    let (_folder, place) = place();
    let path = place.join(NAME);
    fs::write(&path, text('a')).unwrap();
    let mut new = 0;
    at_every_step(
        &place,
        Fault::Kill,
        || child_that("replace", &place),
        |step, run| {
            let found = fs::read_to_string(&path).unwrap();
            assert!(found == text('a') || found == text('b'), "step {step}");
            new += usize::from(found == text('b'));
            assert!(names(&place).iter().all(|name| name == NAME || is_unfinished(name)), "step {step}");
            if run.code == Some(0) {
                assert_eq!((names(&place), found), (vec![NAME.to_string()], text('b')), "step {step}");
            } else {
                fs::write(&path, text('a')).unwrap();
            }
        },
    );
    // Killed between the rename and the flush of the folder, and not killed at all.
    assert!(new == 0 || new >= 2, "{new}");
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let (_folder, place) = place();
    let path = place.join(NAME);
    for what in ["replace", "claim"] {
        let old = (what == "replace").then(|| text('a'));
        let reset = || match &old {
            Some(old) => fs::write(&path, old).unwrap(),
            None => fs::remove_file(&path).unwrap_or_default(),
        };
        reset();
        at_every_step(
            &place,
            Fault::Full,
            || child_that(what, &place),
            |step, run| {
                let found = fs::read_to_string(&path).ok();
                assert_eq!(
                    names(&place).len(),
                    usize::from(found.is_some()),
                    "{what}, step {step}: {:?}",
                    names(&place)
                );
                match run.code {
                    Some(0) => assert_eq!(found, Some(text('b')), "{what}, step {step}"),
                    // A folder that cannot be flushed is told, though the name is there.
                    _ => assert!(found == old || found == Some(text('b')), "{what}, step {step}"),
                }
                reset();
            },
        );
    }
}

#[test]
fn a_name_is_claimed_once() {
    let (_folder, place) = place();
    let path = place.join(NAME);
    let claims: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let path = &path;
                scope.spawn(move || {
                    let mut file = AtomicFile::create(path, Purpose::Private).unwrap();
                    write!(file, "{number}").unwrap();
                    file.claim().unwrap().is_some()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let winner = claims.iter().position(|won| *won).unwrap();
    assert_eq!(claims.iter().filter(|won| **won).count(), 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), winner.to_string());
    assert_eq!(names(&place), [NAME]);
}

#[test]
fn a_dropped_file_leaves_nothing_and_leftovers_are_found_by_their_name() {
    let (_folder, place) = place();
    let path = place.join(NAME);
    let mut file = AtomicFile::create(&path, Purpose::Index).unwrap();
    file.put(b"half").unwrap();
    assert!(is_unfinished(&names(&place)[0]));
    drop(file);
    assert!(names(&place).is_empty());
    for name in [".notes-aB3dE6", ".notes-b-aB3dE6", ".notes-", ".other-aB3dE6", "notes-aB3dE6"] {
        fs::write(place.join(name), "x").unwrap();
    }
    remove_unfinished(&path);
    assert_eq!(names(&place), [".notes-", ".notes-b-aB3dE6", ".other-aB3dE6", "notes-aB3dE6"]);
}

#[test]
fn names_may_be_as_long_as_the_system_takes_them() {
    let (_folder, place) = place();
    for name in ["x".repeat(255), "é".repeat(127), "x".repeat(251) + ".csv"] {
        write_atomic(&place.join(&name), Purpose::Output, b"1").unwrap();
        assert!(names(&place).contains(&name));
    }
}

#[cfg(unix)]
#[test]
fn the_purpose_decides_who_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, place) = place();
    let plain = place.join("plain");
    fs::write(&plain, "1").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for purpose in [Purpose::Index, Purpose::Batch, Purpose::Output, Purpose::Private, Purpose::Cache] {
        let path = place.join(NAME);
        write_atomic(&path, purpose, b"1").unwrap();
        let is_private = matches!(purpose, Purpose::Private | Purpose::Cache);
        assert_eq!(mode(&path), if is_private { 0o600 } else { mode(&plain) }, "{purpose:?}");
    }
}

#[test]
fn what_is_no_file_is_not_replaced_and_what_is_no_folder_is_named() {
    let (_folder, place) = place();
    let path = place.join(NAME);
    fs::create_dir(&path).unwrap();
    for refused in [path.as_path(), Path::new("/dev/null"), &place.join("none").join("x")] {
        let error = write_atomic(refused, Purpose::Output, b"1").unwrap_err();
        assert!(error.to_string().contains(&format!("cannot save `{}`", refused.display())), "{error}");
    }
    assert!(sync_folder(&place).is_ok() && sync_folder(&place.join("none")).is_err() == cfg!(unix));
}
