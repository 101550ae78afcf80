//! Flipped bytes and cut files: reported or harmless, never a panic, never another answer.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use lakeward_core::error::Error;
use lakeward_index::verify::verify;

use super::{Numbers, answers, assert_same, built, files, lake_of, write};
use crate::commands::copy;

const DAMAGES: usize = 2000;
const THREADS: usize = 2;

/// An index of several segments with tables struck out.
fn index_of(lake: &Path, index: &Path) {
    built(lake, index).expect("a build");
    for number in [3, 11] {
        write(lake, number, 1);
        built(lake, index).expect("a build");
    }
}

#[test]
fn damage_is_noticed_or_harmless() {
    let lake = lake_of(30);
    let place = tempfile::tempdir().expect("a folder");
    let index = place.path().join("index");
    index_of(lake.path(), &index);
    let expected = answers(lake.path(), &index).expect("answers");
    let counts: Vec<[usize; 2]> = std::thread::scope(|scope| {
        let damaging = |thread: usize| {
            let (lake, index, expected) = (lake.path(), &index, &expected);
            let own = place.path().join(format!("copy {thread}"));
            move || {
                copy(index, &own);
                damage_and_ask(lake, &own, expected, thread)
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(damaging(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let (noticed, harmless) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count[0], sum.1 + count[1]));
    println!("{DAMAGES} damages: {noticed} reported by an answer, {harmless} not touched by the questions asked");
    assert_eq!(noticed + harmless, DAMAGES);
    assert!(noticed > DAMAGES / 4);
}

/// Damages files one at a time and asks; how often it was noticed and how often harmless.
fn damage_and_ask(lake: &Path, index: &Path, expected: &[String], thread: usize) -> [usize; 2] {
    // The lock file holds a process number that nobody trusts.
    let damageable: Vec<PathBuf> = files(index).into_iter().filter(|file| !file.ends_with("write.lock")).collect();
    let mut numbers = Numbers(7 + thread as u64);
    let mut counts = [0, 0];
    for round in 0..DAMAGES / THREADS {
        let file = &damageable[round % damageable.len()];
        let whole = fs::read(file).expect("a file");
        let (what, bytes) = damaged(&whole, &mut numbers);
        let name = format!("{what} of {}", file.display());
        replace(file, &bytes);
        let outcome = catch_unwind(AssertUnwindSafe(|| answers(lake, index)));
        let verdict = catch_unwind(AssertUnwindSafe(|| verify(index)));
        replace(file, &whole);
        match outcome.unwrap_or_else(|_| panic!("panic: {name}")) {
            Ok(found) => {
                assert_same(&found, expected, &name);
                counts[1] += 1;
            }
            Err(Error::DamagedIndex { .. } | Error::IndexVersion { .. }) => counts[0] += 1,
            Err(error) => panic!("{name}: {error}"),
        }
        let verdict = verdict.unwrap_or_else(|_| panic!("panic in verify: {name}"));
        assert!(verdict.is_err() || verdict.is_ok_and(|(_, _, damage)| !damage.is_empty()), "unseen: {name}");
    }
    assert_eq!(verify(index).expect("a verdict").2, []);
    counts
}

/// `whole` with one to three bits flipped, a run of bytes zeroed, or cut short.
pub(super) fn damaged(whole: &[u8], numbers: &mut Numbers) -> (String, Vec<u8>) {
    let mut bytes = whole.to_vec();
    let offset = numbers.below(whole.len());
    match numbers.below(8) {
        0 => {
            bytes.truncate(offset);
            (format!("cut at {offset}"), bytes)
        }
        1 => {
            let end = (offset + 1 + numbers.below(5000)).min(bytes.len());
            bytes[offset..end].iter_mut().for_each(|byte| *byte ^= 0x5a);
            (format!("bytes {offset}..{end}"), bytes)
        }
        _ => {
            bytes[offset] ^= 1 << numbers.below(8);
            (format!("byte {offset}"), bytes)
        }
    }
}

/// As another program would replace a file: a map of the old one stays what it was.
pub(super) fn replace(file: &Path, bytes: &[u8]) {
    let other = file.with_extension("other");
    fs::write(&other, bytes).expect("a file");
    fs::rename(other, file).expect("a file");
}
