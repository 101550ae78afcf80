//! Files of every format that was ever written are read, or refused by their version; files that a newer program will write are
//! refused by theirs; and damaged ones are told, never a panic, and left as they are.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use lakeward_core::error::{Error, ErrorKind};
use xxhash_rust::xxh3::xxh3_64;

use super::damage::{damaged, replace};
use super::things::{THINGS, Thing, formats, kept, put, put_all, unreadable};
use super::{Numbers, files};

const HEADER_BYTES: usize = 64;

/// Whether an error says what the user can do: which version was found, or that another model has to build it anew.
fn is_refused_by_name(error: &Error, version: u64) -> bool {
    let said = error.to_string();
    // Of an index of questions the index below may be older, too.
    let names_version = said.contains(&format!("version {version}"))
        || matches!(error, Error::IndexVersion { found, expected, .. } if found < expected);
    let names_command = error.hint().is_some_and(|hint| hint.contains("--rebuild"));
    names_version || matches!(error, Error::EmbeddingModel { .. }) && names_command
}

#[test]
fn what_was_ever_written_is_read_or_refused_by_name() {
    for thing in THINGS {
        let kept = kept(thing);
        assert_eq!(kept.last().map(|(version, _)| *version), Some(thing.version.unwrap_or(1)), "{}", thing.name);
        for (version, path) in kept {
            let place = tempfile::tempdir().expect("a folder");
            put_all(place.path());
            put(thing, &path, place.path());
            match (thing.read)(place.path()) {
                Ok(()) => {}
                Err(error) => {
                    let is_older = thing.version.is_some_and(|now| version < now);
                    let is_model = matches!(error, Error::EmbeddingModel { .. });
                    assert!(is_older || is_model, "version {version} of {}: {error}", thing.name);
                    assert!(is_refused_by_name(&error, version), "version {version} of {}: {error}", thing.name);
                }
            }
        }
    }
    let named: Vec<&str> = THINGS.iter().map(|thing| thing.name).collect();
    for entry in fs::read_dir(formats()).expect("a folder").flatten().filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(named.contains(&name.as_str()), "`{name}` is no thing of the list");
    }
}

/// The files of a thing that name versions, that of the thing itself last.
fn own(thing: &Thing, folder: &Path) -> Vec<PathBuf> {
    let at = folder.join(thing.place);
    if at.is_file() {
        return vec![at];
    }
    ["manifest.json", "tables.json"].map(|name| at.join(name)).into_iter().filter(|path| path.is_file()).collect()
}

/// A file of the thing as a newer program would write it: the version is the first number, or stands in the header.
fn newer(path: &Path, version: u64) -> Vec<u8> {
    let bytes = fs::read(path).expect("a file");
    if path.extension().is_some_and(|extension| extension == "seg") {
        return with_header(&bytes, version as u32 + 1);
    }
    let text = String::from_utf8(bytes).expect("text");
    let at = [
        "task_trace\":",
        "version\":",
        "lakeward_learned\":",
        "lakeward_pseudo_queries\":",
        "lakeward_papers\":",
        "lakeward_model_checks\":",
        "lakeward_notes\":",
        "lakeward_usage\":",
    ]
    .iter()
    .find_map(|key| text.find(key).map(|at| at + key.len()))
    .expect("a version");
    let (head, tail) = text.split_at(at);
    let digits = tail.trim_start();
    let rest = digits.strip_prefix(&version.to_string()).expect("the version");
    format!("{head} {}{rest}", version + 1).into_bytes()
}

fn with_header(bytes: &[u8], version: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    let checksum = xxh3_64(&bytes[..16]);
    bytes[16..24].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn what_a_newer_program_writes_is_refused_by_its_version_and_left_as_it_is() {
    let place = tempfile::tempdir().expect("a folder");
    for thing in THINGS {
        let Some(version) = thing.version else { continue };
        put_all(place.path());
        let file = own(thing, place.path()).pop().expect("a file");
        let newer = newer(&file, version);
        fs::write(&file, &newer).expect("a file");
        let error = (thing.read)(place.path()).expect_err(thing.name);
        let said = error.to_string();
        assert!(said.contains(&format!("version {}", version + 1)), "{}: {said}", thing.name);
        assert!(said.contains(&file.file_name().expect("a name").to_string_lossy()[..]), "{}: {said}", thing.name);
        assert!(fs::read(&file).expect("a file") == newer, "{}", thing.name);
    }
}

/// The versions of segments stand in a header that never changes: every older one, and the next.
#[test]
fn a_segment_of_another_version_is_refused_by_it() {
    let place = tempfile::tempdir().expect("a folder");
    put_all(place.path());
    let index = &THINGS[0];
    let mut refused = 0;
    for file in files(&place.path().join("segments")) {
        let whole = fs::read(&file).expect("a file");
        let version = u32::from_le_bytes(whole[8..12].try_into().expect("four bytes"));
        for other in (0..version).chain([version + 1]) {
            // Nothing behind the header is looked at.
            let mut bytes = with_header(&whole[..HEADER_BYTES], other);
            bytes.resize(whole.len(), 0x5a);
            replace(&file, &bytes);
            let error = (index.read)(place.path()).expect_err("another version");
            match error {
                Error::IndexVersion { path, found, expected } => {
                    assert_eq!((path, found, expected), (file.clone(), other, version));
                }
                Error::EmbeddingModel { .. } => {}
                error => panic!("{}: {error}", file.display()),
            }
            refused += 1;
        }
        replace(&file, &whole);
    }
    assert!(refused >= 14, "{refused}");
}

/// Reads a thing whose file was changed: an error has to be of a kind that blames the file, and the file stays as it is.
fn read_damaged(thing: &Thing, folder: &Path, file: &Path, bytes: &[u8], what: &str) -> bool {
    replace(file, bytes);
    let outcome = catch_unwind(AssertUnwindSafe(|| (thing.read)(folder)));
    let outcome = outcome.unwrap_or_else(|_| panic!("panic: {} of {}", what, file.display()));
    assert!(fs::read(file).expect("a file") == bytes, "{what} of {}", file.display());
    match outcome {
        Ok(()) => false,
        Err(error) => {
            assert_ne!(error.kind(), ErrorKind::Internal, "{what} of {}: {error}", file.display());
            true
        }
    }
}

#[test]
fn damaged_files_are_reported_or_harmless() {
    const ROUNDS: usize = 150;
    for (number, thing) in THINGS.iter().enumerate() {
        let place = tempfile::tempdir().expect("a folder");
        put_all(place.path());
        let own = own(thing, place.path());
        let mut numbers = Numbers(17 + number as u64);
        let mut reported = 0;
        for round in 0..ROUNDS {
            let file = &own[round % own.len()];
            let whole = fs::read(file).expect("a file");
            let (what, bytes) = match round % 10 {
                0 => ("emptied".to_string(), Vec::new()),
                // Whatever somebody may have put there.
                1 => ("noise".to_string(), (0..numbers.below(2_000)).map(|_| numbers.below(256) as u8).collect()),
                2 => ("deep".to_string(), "[".repeat(100_000).into_bytes()),
                _ => damaged(&whole, &mut numbers),
            };
            reported += usize::from(read_damaged(thing, place.path(), file, &bytes, &what));
            replace(file, &whole);
        }
        println!("{}: {reported} of {ROUNDS} damages told", thing.name);
        // An answer of a model says nothing of itself, and what is not in a list any more cannot be damaged.
        assert!(reported >= ROUNDS / 10 || thing.name == "answer", "{}: {reported}", thing.name);
    }
}

#[test]
fn everything_can_be_read_at_once() {
    let place = tempfile::tempdir().expect("a folder");
    put_all(place.path());
    let other_model = |said: &String| said.contains("embedding model");
    assert!(unreadable(place.path()).iter().all(other_model), "{:?}", unreadable(place.path()));
}
