//! Lines of JSON: what was appended stays, what is damaged is refused or counted, and a newer version is left alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lakeward_core::Result;
use lakeward_core::store::{JsonLines, KeyedLines, LinesFormat, remove_unfinished};
use proptest::prelude::*;

use super::steps::Fault;
use super::{COUNTED, Figure, REFUSED, at_every_step, child_that, names, place};

const NAME: &str = "figures.jsonl";
const HEAD: &str = "{\"lakeward_figures\":3}\n";

fn read(path: &Path, format: &'static LinesFormat) -> Result<(JsonLines, Vec<Figure>)> {
    let mut figures = Vec::new();
    let lines = JsonLines::open(path, format, |figure| figures.push(figure))?;
    Ok((lines, figures))
}

/// Appends two records, flushes them, appends one more, and writes the file anew without the first.
pub fn append_and_replace(place: &Path) -> Result<()> {
    let path = place.join(NAME);
    remove_unfinished(&path);
    let (mut lines, old) = read(&path, &COUNTED)?;
    if !lines.is_whole() {
        lines.replace(&old)?;
    }
    lines.append(&[Figure::new("b", 2), Figure::new("c", 3)])?;
    lines.sync()?;
    lines.append(&[Figure::new("d", 4)])?;
    let (_, all) = read(&path, &COUNTED)?;
    lines.replace(&all[1..])
}

/// Adds records by key, forgets one, and leaves the file in order.
pub fn add_and_finish(place: &Path) -> Result<()> {
    let path = place.join(NAME);
    remove_unfinished(&path);
    let mut lines: KeyedLines<Figure> = KeyedLines::open(&path, &REFUSED)?;
    lines.append(vec![Figure::new("z", 1), Figure::new("b", 2)])?;
    lines.append(vec![Figure::new("a", 10)])?;
    lines.sync()?;
    lines.retain(|key| key != "b");
    lines.finish()
}

fn keyed(path: &Path) -> BTreeMap<String, u32> {
    let lines: KeyedLines<Figure> = KeyedLines::open(path, &REFUSED).expect("lines");
    lines.records().map(|figure| (figure.name.clone(), figure.figure)).collect()
}

fn of(known: &[(&str, u32)]) -> BTreeMap<String, u32> {
    known.iter().map(|(name, figure)| (name.to_string(), *figure)).collect()
}

#[test]
fn a_writer_stopped_at_any_step_loses_no_record() {
    let states: [&[(&str, u32)]; 5] = [
        &[("a", 1)],
        &[("a", 1), ("b", 2), ("z", 1)],
        &[("a", 10), ("b", 2), ("z", 1)],
        &[("a", 10), ("z", 1)],
        // Of the first append only one record: its line was written, the next one not.
        &[("a", 1), ("z", 1)],
    ];
    let last = of(states[3]);
    for fault in [Fault::Kill, Fault::Full] {
        let (_folder, place) = place();
        let path = place.join(NAME);
        at_every_step(
            &place,
            fault,
            || {
                fs::write(&path, format!("{HEAD}{{\"name\":\"a\",\"figure\":1}}\n")).unwrap();
                child_that("keyed", &place)
            },
            |step, run| {
                let found = keyed(&path);
                assert!(states.iter().any(|state| of(state) == found), "{fault:?} at step {step}: {found:?}");
                assert!(run.code != Some(0) || found == last, "{fault:?} at step {step}: {found:?}");
                // Whoever comes next goes on.
                add_and_finish(&place).unwrap();
                assert_eq!((keyed(&path), names(&place)), (last.clone(), vec![NAME.to_string()]), "{fault:?}, {step}");
            },
        );
    }
}

#[test]
fn lines_in_the_order_of_events_are_a_beginning_of_what_was_written() {
    let all = [Figure::new("a", 1), Figure::new("b", 2), Figure::new("c", 3), Figure::new("d", 4)];
    for fault in [Fault::Kill, Fault::Full] {
        let (_folder, place) = place();
        let path = place.join(NAME);
        at_every_step(
            &place,
            fault,
            || {
                fs::write(&path, format!("{HEAD}{{\"name\":\"a\",\"figure\":1}}\n")).unwrap();
                child_that("lines", &place)
            },
            |step, run| {
                let (lines, found) = read(&path, &COUNTED).unwrap();
                assert_eq!(lines.unread(), 0, "{fault:?} at step {step}");
                assert!(found == all[1..] || all.starts_with(&found), "{fault:?} at step {step}: {found:?}");
                assert!(run.code != Some(0) || found == all[1..], "{fault:?} at step {step}: {found:?}");
            },
        );
    }
}

#[test]
fn a_file_cut_anywhere_gives_the_records_before_and_goes_on() {
    let (_folder, place) = place();
    let path = place.join(NAME);
    let figures: Vec<Figure> = (0..5).map(|number| Figure::new("ü", number)).collect();
    let (mut lines, _) = read(&path, &COUNTED).unwrap();
    lines.replace(&figures).unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let (mut lines, found) = read(&path, &COUNTED).unwrap();
        let ends = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!((found.len(), lines.unread()), (ends.saturating_sub(1), 0), "{cut}");
        assert_eq!(lines.is_whole(), ends > 0 && whole[cut - 1] == b'\n', "{cut}");
        assert_eq!(read(&path, &REFUSED).is_ok(), cut + 1 >= HEAD.len(), "{cut}");
        if lines.is_whole() {
            continue;
        }
        assert!(lines.append(&[Figure::new("x", 9)]).is_err(), "{cut}");
        lines.replace(&found).unwrap();
        lines.append(&[Figure::new("x", 9)]).unwrap();
        assert_eq!(read(&path, &REFUSED).unwrap().1, [&found[..], &[Figure::new("x", 9)]].concat(), "{cut}");
    }
}

#[test]
fn damage_is_refused_with_its_line_or_counted() {
    let (_folder, place) = place();
    let path = place.join(NAME);
    let good = "{\"name\":\"a\",\"figure\":1}\n";
    let lines = |middle: &str| format!("{HEAD}{good}{middle}\n{good}");
    for (text, reason, unread) in [
        (String::new(), "line 1: the file is empty", Some(0)),
        ("nonsense\n".into(), "line 1: it does not begin with `{\"lakeward_figures\":3}`", None),
        ("{\"lakeward_figures\":\"3\"}\n".into(), "line 1: it does not begin with", None),
        ("{\"lakeward_figures\":2}\n".into(), "line 1: format version 2; this program reads version 3", None),
        (format!("{{\"lakeward_figures\":4}}\n{good}"), "line 1: format version 4; this program reads version 3", None),
        (lines("nonsense"), "line 3: not a record", Some(1)),
        (lines(""), "line 3: not a record", Some(1)),
        (lines("{\"name\":\"\",\"figure\":1}"), "line 3: a figure without a name", Some(1)),
        (lines("{\"name\":\"a\",\"figure\":1,\"more\":1}"), "line 3: not a record", Some(1)),
        (lines(&format!("{{\"name\":\"{}\",\"figure\":1}}", "x".repeat(200))), "line 3: longer than", Some(1)),
        (lines(&"[".repeat(100_000)), "line 3: longer than", Some(1)),
        (format!("{HEAD}{}", good.repeat(1_001)), "line 1002: too many lines", None),
        (format!("{HEAD}{}", "x".repeat(1 << 20)), "at most 1 are allowed", None),
    ] {
        fs::write(&path, &text).unwrap();
        let error = read(&path, &REFUSED).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(NAME), "{error}");
        let counted = read(&path, &COUNTED);
        assert_eq!(counted.ok().map(|(lines, _)| lines.unread()), unread, "{reason}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "what is refused is left as it is");
    }
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_not_read() {
    let (_folder, place) = place();
    let path = place.join(NAME);
    fs::write(place.join("secret"), HEAD).unwrap();
    std::os::unix::fs::symlink(place.join("secret"), &path).unwrap();
    assert!(read(&path, &REFUSED).unwrap_err().to_string().contains("a link to another file"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(read(&path, &COUNTED).unwrap_err().to_string().contains("it is not a file"));
}

proptest! {
    #[test]
    fn whatever_bytes_are_there_reading_ends_and_says_so(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..400),
        flips in proptest::collection::vec((0usize..400, any::<u8>()), 0..4),
        is_text in any::<bool>(),
    ) {
        let (_folder, place) = place();
        let path = place.join(NAME);
        if is_text {
            bytes = format!("{HEAD}{}", "{\"name\":\"abc\",\"figure\":12}\n".repeat(10)).into_bytes();
        }
        for (at, with) in flips {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= with;
            }
        }
        fs::write(&path, &bytes).unwrap();
        if let Ok((lines, found)) = read(&path, &COUNTED) {
            prop_assert_eq!(lines.lines(), found.len() + lines.unread());
            if let Ok((_, strict)) = read(&path, &REFUSED) {
                prop_assert_eq!((strict, lines.unread()), (found, 0));
            }
        }
        prop_assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}
