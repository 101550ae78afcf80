//! An index in a store, as the program's users meet it:
//!
//! - what one machine commits, every other finds, by few requests; sessions and notes stay where they were made;
//! - writers race, and nothing of theirs is lost or torn; one that is killed leaves the last commit intact;
//! - a failure whose outcome is open is settled; a store that ignores conditions is refused by name;
//! - what is superseded goes after a day, and nothing else does.

mod first_search;

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::place::{Folder, Run, lakeward};
use crate::store_server::{BUCKET, Fault, KEY_ID, StoreServer};
use crate::stores::{environment, google_environment};

const INDEX: &str = "s3://bucket/index";
const PEOPLE: &str = "person_id,name,city\np01,Ann Lee,Oslo\np02,Bo Li,Bern\np03,Cy Wu,Rome\np04,Di Ek,Kyiv\n";
const CITIES: &str =
    "town,country,inhabitants\nOslo,Norway,717710\nBern,Switzerland,134591\nRome,Italy,2755309\nKyiv,Ukraine,2952301\n";

/// A lake on this machine and a store for its index.
struct Place {
    server: StoreServer,
    folder: Folder,
}

impl Place {
    fn new() -> Place {
        let folder = Folder::of(&[("lake/people.csv", PEOPLE), ("lake/cities.csv", CITIES)]);
        Place { server: StoreServer::start(), folder }
    }

    fn lake(&self) -> PathBuf {
        self.folder.at("lake")
    }

    fn write(&self, name: &str, text: &str) {
        self.folder.write(&format!("lake/{name}"), text);
    }

    /// The program on the machine `machine`: each has a folder of its own for what it fetches.
    fn command(&self, machine: &str, arguments: &[&str]) -> Command {
        let mut command = lakeward(arguments);
        command.current_dir(self.folder.path()).env_clear().envs(environment(&self.server, KEY_ID));
        command.env("LAKEWARD_LAKE", self.lake()).env("LAKEWARD_INDEX", INDEX);
        command.env("LAKEWARD_STATE", self.folder.at(machine));
        command
    }

    fn run(&self, machine: &str, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(machine, arguments))
    }

    fn index(&self, machine: &str) {
        self.run(machine, &["index", "--fast"]).succeeded();
    }

    fn tables(&self, machine: &str) -> Vec<String> {
        let listed = self.run(machine, &["tables", "--json"]).json();
        let tables = listed["tables"].as_array().expect("a list");
        tables.iter().filter_map(|table| table["table"].as_str().map(str::to_string)).collect()
    }

    /// Numbers of manifests, heads and files of segments in the store.
    fn stored(&self) -> [usize; 3] {
        ["manifests", "heads", "segments"].map(|folder| self.server.paths(&format!("{BUCKET}/index/{folder}/")).len())
    }

    /// What was asked since the last call: how many lists, and how many other requests.
    fn asked(&self) -> (usize, usize) {
        let asked = self.server.asked();
        let lists = asked.iter().filter(|asked| asked.path.contains("list-type")).count();
        (lists, asked.len() - lists)
    }
}

#[test]
fn what_one_machine_commits_others_find() {
    let place = Place::new();
    let none = place.run("b", &["verify"]);
    assert!(none.code == 3 && none.stderr.contains(INDEX), "{} {}", none.code, none.stderr);
    // The time of a file that was just written is not trusted.
    std::thread::sleep(Duration::from_millis(200));
    place.index("a");
    assert_eq!(place.stored(), [1, 1, 8]);
    place.asked();
    let found = place.run("b", &["search", "inhabitants of cities", "--json"]).json();
    assert_eq!(found["answers"][0]["table"], "cities", "{found}");
    let (lists, others) = place.asked();
    // A manifest, heads, and one request for each of the files that a search reads: each is small.
    assert!(lists == 1 && others <= 2 + 6, "{lists} {others}");
    place.run("b", &["search", "inhabitants of cities"]);
    assert_eq!(place.asked(), (1, 0), "what was fetched is kept");
    let joined = place.run("b", &["join", "people", "--column", "city"]);
    assert!(joined.code == 0 && joined.stdout.contains("cities"), "{}{}", joined.stdout, joined.stderr);
    let sum = place.run("b", &["sql", "SELECT sum(inhabitants) AS s FROM cities", "--format", "csv"]);
    assert_eq!(sum.stdout.trim(), "s\n6559911", "{}", sum.stderr);
    place.run("b", &["ask", "which cities are large", "--session", "mine"]).succeeded();
    let sessions = |machine: &str| place.run(machine, &["sessions", "--json"]).stdout.contains("mine");
    assert!(sessions("b") && !sessions("a"), "sessions stay where they were made");

    // Nothing has changed: nothing is written.
    place.index("b");
    assert_eq!(place.stored(), [1, 1, 8]);
    place.write("rivers.csv", "river,km\nDon,1870\nPo,652\n");
    place.index("b");
    assert_eq!(place.stored(), [2, 2, 16]);
    assert_eq!(place.tables("a"), ["cities", "people", "rivers"]);
    let verified = place.run("a", &["verify", "--json"]);
    assert!(verified.code == 0 && verified.stdout.contains("\"files\":17"), "{}{}", verified.stdout, verified.stderr);
    let rebuilt = place.run("a", &["index", "--fast", "--rebuild"]);
    assert_eq!((rebuilt.code, place.tables("b").len()), (0, 3), "{}", rebuilt.stderr);
}

#[test]
fn damage_is_named_and_mended() {
    let place = Place::new();
    place.index("a");
    // What is damaged on a machine is fetched again.
    place.tables("b");
    let local = |machine: &str| {
        let state = fs::read_dir(place.folder.at(machine)).expect("a folder").flatten().next();
        state.expect("an index").path()
    };
    let segment = fs::read_dir(local("b").join("segments")).expect("a folder").flatten().next().expect("a segment");
    fs::write(segment.path().join("catalog.seg"), vec![7; 100]).expect("a file");
    fs::remove_file(segment.path().join("words.seg")).expect("a file");
    assert_eq!(place.tables("b"), ["cities", "people"]);
    // So it is where what the machine has noted of the store is damaged, or of another program.
    let noted = local("b").join("store.json");
    let text = fs::read_to_string(&noted).expect("a file");
    let (deep, half, another) = ("[".repeat(100_000), &text[..text.len() / 2], text.replace("00001", "00009"));
    for other in ["", "{", deep.as_str(), half, "{\"format_version\": 2}", another.as_str()] {
        fs::write(&noted, other).expect("a file");
        assert_eq!(place.tables("b"), ["cities", "people"], "{other:.99}");
        assert_eq!(fs::read_to_string(&noted).expect("a file"), text, "{other:.99}");
    }
    // What is damaged in the store is told, wherever there is an intact copy.
    let files = place.server.paths("bucket/index/segments/");
    place.server.damage(files.iter().find(|path| path.ends_with("words.seg")).expect("a file of words"));
    let verified = place.run("a", &["verify"]);
    assert!(verified.code == 3 && verified.stdout.contains("words.seg"), "{}{}", verified.stdout, verified.stderr);
    let searched = place.run("c", &["search", "inhabitants of cities"]);
    assert!(searched.code == 3 && searched.stderr.contains("words.seg"), "{}", searched.stderr);
    place.run("a", &["index", "--fast", "--repair"]).succeeded();
    place.run("a", &["verify"]).succeeded();
    place.run("c", &["search", "inhabitants of cities"]).succeeded();
    // A manifest that is damaged stops all but a rebuild.
    let newest = place.server.paths("bucket/index/manifests/").pop().expect("a manifest");
    place.server.damage(&newest);
    assert_eq!(place.run("d", &["tables"]).code, 3);
    assert_eq!(place.run("a", &["index", "--fast"]).code, 3);
    let rebuilt = place.run("a", &["index", "--fast", "--rebuild"]);
    assert_eq!((rebuilt.code, place.tables("d").len()), (0, 2), "{}", rebuilt.stderr);
}

/// A manifest of a newer program is refused by its version, by readers and by writers, and stays.
#[test]
fn a_manifest_of_a_newer_program_is_refused_and_left() {
    let place = Place::new();
    place.index("a");
    place.tables("b");
    let newest = "bucket/index/manifests/00000000000000000002.json";
    place.server.put(newest, "{\"format_version\": 99, \"segments\": {}}");
    place.write("rivers.csv", "river,km\nDon,1870\nPo,652\n");
    for (machine, arguments) in
        [("a", &["index", "--fast"][..]), ("b", &["tables"]), ("c", &["tables"]), ("c", &["verify"])]
    {
        let refused = place.run(machine, arguments);
        assert!(refused.code == 3 && refused.stderr.contains("version 99"), "{arguments:?}: {}", refused.said());
    }
    assert_eq!(place.server.paths("bucket/index/manifests/").last().map(String::as_str), Some(newest));
    // Without it all is as before.
    place.server.remove(newest);
    place.index("a");
    assert_eq!(place.tables("b"), ["cities", "people", "rivers"]);
}

/// Each writer adds a table, and indexes; every other that looks at the lake meanwhile may be the one that reads it.
fn race(place: &Place, writers: usize, rounds: usize) {
    std::thread::scope(|scope| {
        for writer in 0..writers {
            scope.spawn(move || {
                for round in 0..rounds {
                    let name = format!("w{writer:02}_{round:02}");
                    // Files appear whole, as those of careful writers do.
                    let hidden =
                        place.folder.write(&name, format!("town,visits_{name}\nOslo,{round}\nBern,{writer}\n"));
                    fs::rename(hidden, place.lake().join(format!("{name}.csv"))).expect("a file");
                    place.index(&format!("machine{writer}"));
                }
            });
        }
    });
}

/// What a variable of the environment says, for a longer run than usual.
pub fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

#[test]
fn writers_that_race_lose_nothing() {
    let place = Place::new();
    let (writers, rounds) = (number("LAKEWARD_TEST_WRITERS", 6), number("LAKEWARD_TEST_ROUNDS", 5));
    let started = Instant::now();
    race(&place, writers, rounds);
    let commits = place.server.paths("bucket/index/manifests/").len();
    println!("{commits} commits by {writers} writers in {:.1} s", started.elapsed().as_secs_f32());
    let tables = place.tables("reader");
    assert_eq!(tables.len(), 2 + writers * rounds, "{tables:?}");
    let mut once = tables.clone();
    once.dedup();
    assert_eq!(once, tables, "no table twice");
    place.run("reader", &["verify"]).succeeded();
    // Every commit is whole: numbers without gaps, each manifest with all that it names.
    let manifests = place.server.paths("bucket/index/manifests/");
    for (number, path) in manifests.iter().enumerate() {
        assert_eq!(*path, format!("bucket/index/manifests/{:020}.json", number + 1));
    }
    assert_eq!(place.run("reader", &["search", "visits of towns"]).code, 0);
}

/// Of more than 256 tables the texts are read after the first commit: a second one adds a file to a segment, here of two writers.
#[test]
fn texts_come_with_a_later_commit() {
    let place = Place::new();
    for number in 0..260 {
        place.write(&format!("t{number:03}.csv"), &format!("town,visits\nOslo,{number}\nBern,1\n"));
    }
    std::thread::scope(|scope| {
        for machine in ["a", "b"] {
            let place = &place;
            scope.spawn(move || place.run(machine, &["index"]).succeeded());
        }
    });
    assert!(place.stored()[0] >= 2);
    assert_eq!((place.tables("c").len(), place.run("c", &["verify"]).code), (262, 0));
    let found = place.run("c", &["search", "how many people live in towns"]);
    assert!(found.code == 0 && !found.stderr.contains("not read yet"), "{}", found.stderr);
}

#[test]
fn a_killed_writer_leaves_the_last_commit_intact() {
    let place = Place::new();
    place.server.wait(Duration::from_millis(5));
    let started = Instant::now();
    place.index("a");
    // A run that finds a new table takes as long, on a machine that others use longer.
    let whole = started.elapsed();
    let (mut known, mut killed) = (place.tables("b"), 0);
    let (rounds, moments) = (number("LAKEWARD_TEST_KILLED", 25), RandomState::new());
    for round in 0..rounds {
        place.write(&format!("t{round:03}.csv"), &format!("town,visits\nOslo,{round}\nBern,{round}\n"));
        let mut writer = place.command("a", &["index", "--fast"]);
        let mut writer = writer.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
        let moment = whole.mul_f64((moments.hash_one(round) % 1500) as f64 / 1000.0);
        std::thread::sleep(moment);
        let _ = writer.kill();
        killed += usize::from(!writer.wait().expect("it ends").success());
        let verified = place.run("b", &["verify"]);
        assert_eq!(verified.code, 0, "round {round}, {moment:?}: {}{}", verified.stdout, verified.stderr);
        let tables = place.tables("b");
        assert!(known.iter().all(|table| tables.contains(table)), "round {round}, {moment:?}: {known:?} {tables:?}");
        known = tables;
    }
    println!("{killed} of {rounds} writers killed, of runs of {} ms; {} commits", whole.as_millis(), place.stored()[0]);
    place.index("a");
    assert_eq!(place.tables("b").len(), 2 + rounds);
    assert_eq!(place.run("b", &["verify"]).code, 0);
}

#[test]
fn open_outcomes_are_settled_and_passing_faults_are_passed() {
    let place = Place::new();
    // The commit is made, and the answer is lost.
    place.server.fail("bucket/index/manifests/0", Fault::Lost, 1);
    place.index("a");
    assert_eq!(place.stored()[0], 1);
    // A file that was written, and one that was not; then one by whose error the store hides that it was written.
    place.write("rivers.csv", "river,km\nDon,1870\nPo,652\n");
    place.server.fail("bucket/index/segments/", Fault::Lost, 2);
    place.server.fail("bucket/index/heads/", Fault::Status(429, Some(1)), 1);
    place.server.fail("bucket/index/manifests/0", Fault::Status(500, None), 1);
    place.index("a");
    assert_eq!(place.stored()[0], 2);
    // Readers go on, too.
    place.server.fail("bucket/index/heads/", Fault::Reset, 1);
    place.server.fail("bucket/index/segments/", Fault::Cut, 3);
    place.server.fail("bucket/index/manifests/0", Fault::Status(503, None), 1);
    assert_eq!(place.tables("b"), ["cities", "people", "rivers"]);
    assert_eq!(place.run("b", &["verify"]).code, 0);
    // A store that takes no commit is told; the last one stays.
    place.write("lakes.csv", "lake,km2\nBaikal,31722\n");
    place.server.fail("bucket/index/manifests/0", Fault::Status(403, None), 1000);
    let refused = place.run("a", &["index", "--fast"]);
    assert!(refused.code == 3 && refused.stderr.contains("refuses access"), "{}", refused.stderr);
    let place = Place { server: place.server.clone(), folder: place.folder };
    assert_eq!(place.stored()[0], 2);
}

#[test]
fn a_store_that_ignores_conditions_is_refused() {
    let place = Place::new();
    place.server.lie();
    let refused = place.run("a", &["index", "--fast"]);
    assert_eq!(refused.code, 3, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("ignores the condition `If-None-Match"), "{}", refused.stderr);
    assert_eq!(place.stored(), [0, 0, 0]);
    let web = place.server.url();
    let refused = Run::of(place.command("a", &["index", "--fast"]).env("LAKEWARD_INDEX", format!("{web}/index")));
    assert!(refused.code == 2 && refused.stderr.contains("only read"), "{}", refused.stderr);
}

/// Google's storage, which has conditions of its own: no server of others that keeps to them can be had.
#[test]
fn an_index_in_googles_storage() {
    let place = Place::new();
    place.server.be_google();
    let run = |machine: &str, arguments: &[&str]| {
        let mut command = place.command(machine, arguments);
        command.env("LAKEWARD_INDEX", "gs://bucket/index").envs([google_environment(&place.server)]);
        Run::of(&mut command)
    };
    std::thread::scope(|scope| {
        for machine in ["a", "b", "c"] {
            let (run, place) = (&run, &place);
            scope.spawn(move || {
                place.write(&format!("{machine}.csv"), &format!("town,visits\nOslo,1\nBern,{machine}\n"));
                run(machine, &["index", "--fast"]).succeeded();
            });
        }
    });
    run("a", &["index", "--fast"]).succeeded();
    assert!(!place.server.paths("bucket/index/manifests/").is_empty());
    run("d", &["verify"]).succeeded();
    let found = run("d", &["search", "inhabitants of cities"]);
    assert!(found.stdout.contains("cities"), "{}", found.said());
    place.server.lie();
    let refused = run("e", &["index", "--fast", "--rebuild"]);
    assert!(refused.code == 3 && refused.stderr.contains("ignores the condition"), "{}", refused.stderr);
}

#[test]
fn what_is_superseded_goes_after_a_day() {
    let place = Place::new();
    place.index("a");
    for number in 0..3 {
        place.write(&format!("t{number}.csv"), &format!("town,visits\nOslo,{number}\nBern,1\n"));
        place.index("a");
    }
    // The last one has merged four segments.
    let before = place.stored();
    assert!(before[0] == 5 && before[2] == 5 * 8, "{before:?}");
    // Another writer has sent a file, and not committed yet.
    place.server.pass_days(2);
    place.server.put("bucket/index/segments/000009-0-of-another/0123456789abcdef-words.seg", "x");
    place.write("late.csv", "town,visits\nOslo,1\nBern,1\n");
    place.index("a");
    // The manifest before the newest was superseded just now, and stays with all that it names.
    let [manifests, heads, files] = place.stored();
    assert_eq!([manifests, heads, files], [2, 2, 2 * 8 + 1], "what was merged is gone, what is new is not");
    assert_eq!((place.tables("b").len(), place.run("b", &["verify"]).code), (6, 0));
    place.server.pass_days(2);
    place.write("later.csv", "town,visits\nOslo,1\nBern,2\n");
    place.index("b");
    assert_eq!(place.stored(), [2, 2, 3 * 8], "the file of who never committed is gone");
    assert_eq!((place.tables("a").len(), place.run("a", &["verify"]).code), (7, 0));
}
