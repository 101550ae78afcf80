//! Sessions as documents: kept whole or not at all, bounded, resumable, refused with a reason when they are not what was
//! written, and never a way out of their folder.

mod document;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lakeward_agent::recommend::Recommendation;
use lakeward_agent::session::{NewStep, Session, SessionState, SessionStore, StepInput, VERSION, check_name, schema};
use lakeward_core::Error;
use lakeward_core::error::Holds;
use lakeward_core::plan::{Kept, Plan, Step};
use lakeward_core::request::{Demand, Input, Label, demands_schema};
use serde_json::{Value, json};

use crate::place::{Folder, Run, lakeward};

/// An answer of `tables` tables with `columns` columns each and evidence from all three searches; `turn` set a topic.
fn answer(turn: usize, tables: usize, columns: usize) -> Recommendation {
    let names: Vec<String> = (0..columns).map(|column| format!("column_{column:03}")).collect();
    let met = json!({"met": true, "grade": 0.7314159265358979, "evidence": "52 rows for 50 states"});
    let pairs: Vec<Value> = names
        .iter()
        .map(|name| {
            json!({"query_column": name, "column": name, "score": 0.123456789012345, "name": 1.0, "values": 0.5,
                "meaning": 0.25})
        })
        .collect();
    let table = |place: usize| {
        let id = format!("group/table_{turn:04}_{place:04}");
        json!({
            "table": id, "title": "A title", "rows": 100, "columns": columns, "operation": "Join",
            "utility": {"relevance": 0.5, "intention": 0.6666666666666666, "operation": 0.1, "total": 0.4222},
            "fit": {"granularity": met, "richness": met, "compatibility": met, "paper": 1.0, "graded": 0.9},
            "evidence": {
                "search": {"table": id, "title": "A title", "score": 0.1, "cosine": 0.3, "matched": [], "rows": 100,
                    "sampled": false, "columns": names, "reason": "its title matches"},
                "union": {"table": id, "title": "A title", "score": 0.1,
                    "parts": {"alignment": 0.1, "words": 0.2, "content": 0.3}, "alignment": pairs, "unmatched": [],
                    "extra": [], "containment": null, "new_rows": null, "near_copy": false, "sampled": false,
                    "rows": 100, "reason": "3 columns align"},
            },
            "reason": format!("its column_000 holds 93 % of your state names; <b>{place}</b>"),
        })
    };
    let signals = json!({
        "operation": {"label": "Join", "confidence": 0.8123456789, "all": [["Join", 0.8123456789], ["Filter", 0.19]]},
        "intention": {"label": "Integration", "confidence": 0.7, "all": [["Integration", 0.7], ["Prediction", 0.3]]},
        "demands": [
            {"role": "place", "value": "said", "hard": false, "turn": 1, "said": "Ohio"},
            {"role": "topic", "value": "said", "hard": false, "turn": turn, "said": format!("topic of turn {turn}")},
        ],
    });
    let tables: Vec<Value> = (0..tables).map(table).collect();
    let answer = json!({
        "signals": signals,
        "spec": {"granularity": "either", "richness": "many", "compatibility": "required"},
        "tables": tables,
        "operations": [{"kind": "Join", "score": 0.9, "asked": 0.8, "preconditions": [{"met": true, "what": "a key"}],
            "table": "group/table", "sql": "SELECT 1", "reason": "they share state names"}],
    });
    serde_json::from_value(answer).expect("an answer")
}

fn push(session: &mut Session, columns: usize) {
    let turn = session.next_turn();
    session.push_turn(&format!("request {turn}: {}", "word ".repeat(400)), &answer(turn, 10, columns));
}

fn step(input: Input, file: &str) -> NewStep {
    NewStep {
        plan: Plan::of(input).then(Step::Select(vec![Kept { column: "a".into(), name: None }])),
        sql: "SELECT \"a\"\nFROM \"t\" -- ```".into(),
        inputs: vec![StepInput { name: "t".into(), content: "abc".into() }],
        rows: 7,
        columns: vec!["a".into(), "b|c".into()],
        file: file.into(),
    }
}

struct Place {
    folder: Folder,
    store: SessionStore,
}

impl Place {
    fn new() -> Self {
        let folder = Folder::of(&[]);
        let store = SessionStore::new(folder.path());
        Self { folder, store }
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.at(&format!("sessions/{id}.json"))
    }

    fn write(&self, id: &str, bytes: impl AsRef<[u8]>) {
        self.store.make_folder().expect("a folder");
        fs::write(self.file(id), bytes).expect("a file");
    }
}

#[test]
fn a_session_returns_as_it_was_saved() {
    let place = Place::new();
    let mut session = place.store.create(Some("income"), "lake").expect("a session");
    assert_eq!(place.store.open("income").expect("a session"), session);
    push(&mut session, 4);
    session.accept("group/table_0001_0000");
    session.reject("group/table_0001_0001");
    session.use_table(Input::File("/data/mine.csv".into()));
    session.push_step(step(Input::File("/data/mine.csv".into()), "income.steps/1.parquet"));
    place.store.save(&mut session).expect("a save");
    push(&mut session, 4);
    session.undo();
    place.store.save(&mut session).expect("a save");
    let read = place.store.open("income").expect("a session");
    assert_eq!(read, session, "whoever opens it has what the writer has in memory");
    assert_eq!(read.revision, 3);
    let said: Vec<(&str, usize)> = read.demands.iter().map(|demand| (demand.said.as_str(), demand.turn)).collect();
    assert_eq!(said, [("Ohio", 1), ("topic of turn 2", 2)]);
    assert!(read.steps[0].undone && read.is_rejected("group/table_0001_0001"));
    // People and diffs can read it: a field a line, one line a deep value.
    let text = fs::read_to_string(place.file("income")).expect("text");
    assert!(text.contains("\n \"lake\": \"lake\",\n") && text.lines().count() < 100, "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().expect("a file").permissions().mode() & 0o777;
        assert_eq!((mode(&place.file("income")), mode(place.store.folder())), (0o600, 0o700));
    }
}

#[test]
fn names_are_dates_and_numbers_unless_chosen() {
    let place = Place::new();
    let first = place.store.create(None, "lake").expect("a session");
    let second = place.store.create(None, "lake").expect("a session");
    assert!(
        first.id.ends_with("-1") && second.id.ends_with("-2") && first.id.len() == 12,
        "{} {}",
        first.id,
        second.id
    );
    // What cannot be read, or left only results, holds its name all the same.
    let numbered = |number: usize| format!("{}-{number}", second.id.strip_suffix("-2").expect("a number"));
    place.write(&numbered(7), "damaged");
    fs::create_dir(place.store.folder().join(format!("{}.steps", numbered(9)))).expect("a folder");
    assert_eq!(place.store.create(None, "lake").expect("a session").id, numbered(10));
    for name in ["a", "2026-11-22_income.v2", &"x".repeat(64)] {
        check_name(name).expect(name);
    }
    for name in ["", ".hidden", "../x", "a/b", "a b", "é", "-x", "a\0", "a\n", &"x".repeat(65)] {
        assert!(matches!(place.store.create(Some(name), "lake"), Err(Error::Usage(_))), "{name:?}");
        assert!(matches!(place.store.open(name), Err(Error::Usage(_))), "{name:?}");
    }
    let taken = place.store.create(Some(&first.id), "lake").expect_err("taken").to_string();
    assert!(taken.contains("already"), "{taken}");
    let Err(Error::UnknownSession { nearest, .. }) = place.store.open("incom") else { panic!("it is not there") };
    assert!(!nearest.is_empty());
}

#[test]
fn a_second_writer_overwrites_nothing() {
    let place = Place::new();
    let mut ours = place.store.create(Some("s"), "lake").expect("a session");
    let mut theirs = place.store.open("s").expect("a session");
    push(&mut theirs, 3);
    place.store.save(&mut theirs).expect("a save");
    let before = fs::read(place.file("s")).expect("a file");
    push(&mut ours, 3);
    ours.accept("x");
    let error = place.store.save(&mut ours).expect_err("changed");
    assert!(matches!(&error, Error::SessionChanged { id } if id == "s"));
    assert!(error.to_string().contains("another process") && error.hint().expect("a hint").contains("/resume s"));
    assert_eq!(fs::read(place.file("s")).expect("a file"), before);
    assert!(ours.is_accepted("x"), "what was not saved is still in memory");
}

/// Many writers at once: each save either is the next revision or is refused.
#[test]
fn saves_of_many_processes_never_mix() {
    const WRITERS: usize = 6;
    const SAVES: usize = 25;
    let place = Place::new();
    place.store.create(Some("s"), "lake").expect("a session");
    let saved: usize = std::thread::scope(|scope| {
        let writer = |name: usize| {
            let store = place.store.clone();
            move || {
                let mut done = 0;
                while done < SAVES {
                    let mut session = store.open("s").expect("a session");
                    session.accept(&format!("{name}-{done}"));
                    match store.save(&mut session) {
                        Ok(()) => done += 1,
                        Err(Error::SessionChanged { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                done
            }
        };
        let threads: Vec<_> = (0..WRITERS).map(|name| scope.spawn(writer(name))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a writer")).sum()
    });
    let session = place.store.open("s").expect("a session");
    assert_eq!((saved, session.accepted.len(), session.revision), (150, 150, 151));
}

/// Set for the child of the next test: the folder.
const CHILD: &str = "LAKEWARD_TEST_SAVES";

/// The child of the next test: saves until it is killed. Does nothing when run by hand.
#[test]
fn child_that_saves() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let store = SessionStore::new(Path::new(&folder));
    let mut session = store.open("s").expect("a session");
    loop {
        // The choices say how many saves were completed before.
        session.accept(&format!("table-{}", session.revision));
        push(&mut session, 30);
        session.turns.drain(..session.turns.len().saturating_sub(30));
        store.save(&mut session).expect("a save");
    }
}

#[test]
fn a_writer_killed_at_any_moment_leaves_the_last_complete_document() {
    const KILLS: u64 = 40;
    let place = Place::new();
    place.store.create(Some("s"), "lake").expect("a session");
    let mut revision = 0;
    let (mut seed, mut working) = (7_u64, 0);
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().expect("a path"));
        child.args(["--exact", "sessions::child_that_saves"]).env(CHILD, place.folder.path());
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the child");
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // On a busy machine it takes a while until the child saves for the first time.
        let started = Instant::now();
        let saves = || place.store.open("s").is_ok_and(|session| session.revision > revision);
        while !saves() && started.elapsed() < Duration::from_secs(2) {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_micros((seed >> 33) % 20_000));
        assert!(child.try_wait().expect("a state").is_none(), "kill {kill}: the child ended by itself");
        child.kill().expect("a signal");
        child.wait().expect("an end");
        let session = place.store.open("s").unwrap_or_else(|error| panic!("kill {kill}: {error}"));
        assert!(session.revision >= revision, "kill {kill}: a completed save is gone");
        assert_eq!(session.accepted.len() as u64, session.revision - 1, "kill {kill}: not one document");
        working += u64::from(session.revision > revision);
        revision = session.revision;
    }
    assert!(working >= KILLS / 4, "{working} of {KILLS} children saved before they were killed");
    // What they left behind goes with the next save.
    let mut session = place.store.open("s").expect("a session");
    place.store.save(&mut session).expect("a save");
    let names: BTreeSet<String> = fs::read_dir(place.store.folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, BTreeSet::from([".lock".to_string(), "s.json".to_string()]));
}

#[test]
fn what_is_not_a_session_is_refused_and_left_alone() {
    let place = Place::new();
    let mut session = place.store.create(Some("good"), "lake").expect("a session");
    push(&mut session, 4);
    session.push_step(step(Input::Table("t".into()), "good.steps/1.parquet"));
    place.store.save(&mut session).expect("a save");
    let good = fs::read_to_string(place.file("good")).expect("text").replace("\"id\": \"good\"", "\"id\": \"bad\"");
    let changed = |pointer: &str, value: Value| {
        let mut document: Value = serde_json::from_str(&good).expect("JSON");
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        document.to_string()
    };
    let huge = format!("{{\"version\": 1, \"x\": \"{}\"}}", "x".repeat(50 << 20));
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("no JSON", b"hello".to_vec()),
        ("ends too early", Vec::new()),
        ("ends too early", good.as_bytes()[..good.len() / 2].to_vec()),
        ("no JSON", vec![0xff, 0xfe, 0x00]),
        ("no session", b"{}".to_vec()),
        ("it is no", b"[1, 2]".to_vec()),
        ("no session", changed("/turns", json!("many")).into_bytes()),
        ("no session", changed("/turns/0/number", json!(-1)).into_bytes()),
        ("no session", changed("/version", json!("one")).into_bytes()),
        ("no session", changed("/demands/0/said", json!(["a"])).into_bytes()),
        ("it says it is session `other`", changed("/id", json!("other")).into_bytes()),
        ("version 99", changed("/version", json!(99)).into_bytes()),
        ("version 0", changed("/version", json!(0)).into_bytes()),
        ("step 5 stands where step 1 should", changed("/steps/0/number", json!(5)).into_bytes()),
        ("after turn 9", changed("/steps/0/turn", json!(9)).into_bytes()),
        ("outside the folder", changed("/steps/0/file", json!("../../x")).into_bytes()),
        ("outside the folder", changed("/steps/0/file", json!("/etc/passwd")).into_bytes()),
        ("result of step 3", changed("/steps/0/plan/source", json!({"step": 3})).into_bytes()),
        ("result of step 4", changed("/table", json!({"step": 4})).into_bytes()),
        ("numbered", changed("/turns/0/number", json!(0)).into_bytes()),
        ("at most 16 are allowed", huge.into_bytes()),
        ("no session", "[".repeat(100_000).into_bytes()),
    ];
    for (reason, bytes) in cases {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        place.write("bad", &bytes);
        let error = place.store.open("bad").expect_err(reason);
        let text = error.to_string();
        assert!(text.contains(reason) && text.contains("bad.json"), "{reason}: {text} of {start}");
        assert!(error.hint().expect("a hint").contains("unchanged"), "{reason}");
        // A writer that has a session of this name in memory overwrites nothing either.
        let mut other = session.clone();
        other.id = "bad".into();
        assert!(place.store.save(&mut other).is_err(), "{reason}");
        assert!(fs::read(place.file("bad")).expect("a file") == bytes, "{reason}");
        let listed = place.store.list().expect("a list");
        assert_eq!(listed.len(), 2);
        assert_eq!(listed[0].id, "good", "{reason}: {listed:?}");
        fs::remove_file(place.file("bad")).expect("a file");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_never_overwritten() {
    let place = Place::new();
    for bytes in ["hello", "", "{\"version\": 99, \"revision\": 1}", "{\"version\": 1, \"revision\": 7}"] {
        let mut session = Session::new("s", "lake");
        place.write("s", bytes);
        assert!(place.store.save(&mut session).is_err(), "{bytes}");
        assert!(place.store.create(Some("s"), "lake").is_err(), "{bytes}");
        assert_eq!(fs::read_to_string(place.file("s")).expect("a file"), bytes);
    }
    // Nor written when it could not be read again.
    let mut session = place.store.create(Some("t"), "lake").expect("a session");
    push(&mut session, 2);
    let tables = &mut session.turns[0].recommendation.as_mut().expect("an answer").tables;
    tables[0].utility.total = f64::NAN;
    let before = fs::read(place.file("t")).expect("a file");
    assert!(matches!(place.store.save(&mut session), Err(Error::Internal(_))));
    assert_eq!(fs::read(place.file("t")).expect("a file"), before);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut session = place.store.create(Some("s"), "lake").expect("a session");
    let outside = elsewhere.path().join("s.json");
    fs::rename(place.file("s"), &outside).expect("a file");
    symlink(&outside, place.file("s")).expect("a link");
    let before = fs::read(&outside).expect("a file");
    assert!(place.store.open("s").expect_err("a link").to_string().contains("a link"));
    assert!(matches!(place.store.save(&mut session), Err(Error::DamagedFile { holds: Holds::Session, .. })));
    assert_eq!(fs::read(&outside).expect("a file"), before);

    // Results of steps: there, gone, and behind a link.
    let mut session = place.store.create(Some("t"), "lake").expect("a session");
    for number in 1..=3 {
        session.push_step(step(Input::Table("t".into()), &format!("t.steps/{number}.parquet")));
    }
    let steps = place.store.steps_folder(&session);
    fs::create_dir(&steps).expect("a folder");
    fs::write(steps.join("1.parquet"), "x").expect("a file");
    symlink(&outside, steps.join("2.parquet")).expect("a link");
    assert_eq!(place.store.step_path(&session, 1).expect("a path"), steps.join("1.parquet"));
    assert!(matches!(place.store.step_path(&session, 2), Err(Error::DamagedFile { holds: Holds::Session, .. })));
    assert!(matches!(place.store.step_path(&session, 3), Err(Error::Io { .. })));
    for number in [0, 4, usize::MAX] {
        let error = place.store.step_path(&session, number).expect_err("no such step").to_string();
        assert!(error.contains("it has steps 1 to 3"), "{error}");
    }
    session.steps[0].file = "../../x".into();
    assert!(matches!(place.store.step_path(&session, 1), Err(Error::DamagedFile { holds: Holds::Session, .. })));

    // The folder itself.
    let other = tempfile::tempdir().expect("a folder");
    symlink(elsewhere.path(), other.path().join("sessions")).expect("a link");
    let store = SessionStore::new(other.path());
    assert!(matches!(store.create(Some("x"), "lake"), Err(Error::DamagedFile { holds: Holds::Session, .. })));
    assert!(matches!(store.list(), Err(Error::DamagedFile { holds: Holds::Session, .. })));
    assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 1);
}

#[test]
fn an_untouched_session_can_be_taken_back() {
    let place = Place::new();
    let session = place.store.create(None, "lake").expect("a session");
    place.store.discard_untouched(&session).expect("a removal");
    assert_eq!(place.store.list().expect("a list"), []);
    let mut session = place.store.create(None, "lake").expect("a session");
    session.accept("x");
    place.store.save(&mut session).expect("a save");
    place.store.discard_untouched(&session).expect("nothing to do");
    let list = place.store.list().expect("a list");
    assert!(matches!(list[0].state, SessionState::Readable { turns: 0, .. }));
}
