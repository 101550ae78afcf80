//! Random changes of files that something reads: no panic, no error of the program itself, no minute and no gigabytes, whatever is in a file.
//!
//! A case is a list of edits of a file that is in order, made by proptest, which reduces it to the fewest edits that fail. It knows nothing of the code
//! that it reaches, so the seeds have to. `LAKEWARD_FUZZ_SECONDS` is the time for each target, 1 by default and then the same cases
//! in every run; `LAKEWARD_FUZZ_SEED` chooses others.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lakeward_core::error::{Error, ErrorKind};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Cases between two looks at the clock.
const CASES: u32 = 32;
/// A case that takes longer is a fault; one that takes much longer ends the process, as nothing else would.
const LONGEST: Duration = Duration::from_secs(20);
const HOPELESS: Duration = Duration::from_secs(90);
/// Memory of the process beyond which the case at work is at fault.
const MOST_MEMORY_KB: u64 = 3 << 20;

/// One change, at a part of the file's length.
#[derive(Debug, Clone)]
enum Edit {
    Flip(f64, u8),
    Set(f64, u8),
    Insert(f64, Vec<u8>),
    Remove(f64, usize),
    Repeat(f64, usize, usize),
    Move(f64, f64, usize),
    /// A number of four or eight bytes in its place.
    Word(f64, u64, bool),
    /// The next digits replaced by others.
    Number(f64, &'static str),
    Cut(f64),
}

const NUMBERS: [&str; 9] =
    ["0", "-1", "1", "255", "4294967295", "9223372036854775807", "-9223372036854775808", "1e400", "0.1e-400"];
const WORDS: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff];
const TOKENS: [&str; 16] = [
    "\"", "{", "}", "[", "]", "[[[[[[[[", ",", "\n", "\r", "\0", "null", "<", "&lt;", "\u{feff}", "\u{0301}", "../../x",
];

fn edit() -> impl Strategy<Value = Edit> {
    let at = || 0.0..1.0f64;
    let length = || prop_oneof![1usize..8, 1usize..600];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, mask)| Edit::Flip(at, mask | 1)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        (at(), vec(any::<u8>(), 1..6)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        (at(), 0..TOKENS.len()).prop_map(|(at, token)| Edit::Insert(at, TOKENS[token].as_bytes().to_vec())),
        (at(), length()).prop_map(|(at, length)| Edit::Remove(at, length)),
        (at(), length(), 1usize..40).prop_map(|(at, length, times)| Edit::Repeat(at, length, times)),
        (at(), at(), length()).prop_map(|(from, to, length)| Edit::Move(from, to, length)),
        (at(), 0..WORDS.len(), any::<bool>()).prop_map(|(at, word, long)| Edit::Word(at, WORDS[word], long)),
        (at(), 0..NUMBERS.len()).prop_map(|(at, number)| Edit::Number(at, NUMBERS[number])),
        at().prop_map(Edit::Cut),
    ]
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        let place = |at: f64| (at * length as f64) as usize;
        let end = |start: usize, count: usize| (start + count).min(length);
        match self {
            Edit::Flip(at, mask) => bytes.iter_mut().skip(place(*at)).take(1).for_each(|byte| *byte ^= mask),
            Edit::Set(at, value) => bytes.iter_mut().skip(place(*at)).take(1).for_each(|byte| *byte = *value),
            Edit::Insert(at, inserted) => _ = bytes.splice(place(*at)..place(*at), inserted.iter().copied()).count(),
            Edit::Remove(at, count) => _ = bytes.drain(place(*at)..end(place(*at), *count)).count(),
            Edit::Repeat(at, count, times) => {
                let piece = bytes[place(*at)..end(place(*at), *count)].repeat(*times);
                bytes.splice(place(*at)..place(*at), piece);
            }
            Edit::Move(from, to, count) => {
                let piece = bytes[place(*from)..end(place(*from), *count)].to_vec();
                let to = place(*to);
                bytes.splice(to..end(to, piece.len()), piece);
            }
            Edit::Word(at, word, long) => {
                let word = word.to_le_bytes();
                let word = if *long { &word[..] } else { &word[..4] };
                bytes.iter_mut().skip(place(*at)).zip(word).for_each(|(byte, new)| *byte = *new);
            }
            Edit::Number(at, number) => {
                let start = (place(*at)..length).find(|at| bytes[*at].is_ascii_digit());
                if let Some(start) = start {
                    let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    bytes.splice(start..start + digits, number.bytes());
                }
            }
            Edit::Cut(at) => bytes.truncate(place(*at)),
        }
    }
}

fn number_set(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Memory that the process has had at the most, in KB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Changes the file at `path`, and calls `read` each time, which says what came of it. The file is as it was afterwards.
///
/// # Panics
/// Where a case is at fault, with the fewest edits that are; the changed file is then at `path`.
pub fn fuzz(name: &str, path: &Path, read: impl Fn() -> Result<(), Error>) {
    let seconds = number_set("LAKEWARD_FUZZ_SECONDS").unwrap_or(1);
    let good = fs::read(path).unwrap();
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number_set("LAKEWARD_FUZZ_SEED").unwrap_or(1).to_le_bytes());
    let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let (started, over) = (Instant::now(), AtomicBool::new(false));
    let (mut cases, refused) = (0u64, Cell::new(0u64));
    let case_started = Mutex::new(Instant::now());
    std::thread::scope(|scope| {
        let (over, case_started) = (&over, &case_started);
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
                if case_started.lock().unwrap().elapsed() > HOPELESS {
                    let kept = std::env::temp_dir().join("lakeward-fuzz-endless");
                    let _ = fs::copy(path, &kept);
                    eprintln!("{name}: no end after {HOPELESS:?}; the file is kept as {}", kept.display());
                    std::process::abort();
                }
            }
        });
        let mut outcome = Ok(());
        while outcome.is_ok() && started.elapsed() < Duration::from_secs(seconds) {
            seed[8..16].copy_from_slice(&cases.to_le_bytes());
            // A runner runs its cases once.
            let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
            outcome = TestRunner::new_with_rng(config.clone(), random).run(&vec(edit(), 1..6), |edits| {
                let mut bytes = good.clone();
                edits.iter().for_each(|edit| edit.apply(&mut bytes));
                fs::write(path, &bytes).unwrap();
                let begun = Instant::now();
                *case_started.lock().unwrap() = begun;
                let result = read();
                *case_started.lock().unwrap() = Instant::now() + HOPELESS;
                let failed = |what: String| Err(TestCaseError::fail(what));
                match result {
                    _ if begun.elapsed() > LONGEST => return failed(format!("it took {:?}", begun.elapsed())),
                    _ if peak_memory() > MOST_MEMORY_KB => return failed(format!("{} KB of memory", peak_memory())),
                    Err(error) if error.kind() == ErrorKind::Internal => return failed(format!("internal: {error}")),
                    Err(_) => refused.set(refused.get() + 1),
                    Ok(()) => {}
                }
                Ok(())
            });
            cases += u64::from(CASES);
        }
        over.store(true, Ordering::Relaxed);
        if let Err(failure) = outcome {
            panic!("{name}: {failure}");
        }
    });
    fs::write(path, &good).unwrap();
    let refused = refused.get();
    println!("{name}: {cases} files in {:.1} s, {refused} refused", started.elapsed().as_secs_f32());
    // Else the file is not looked at.
    assert!(refused > 0 || name.contains("forgiving"), "{name}: nothing was refused");
}
