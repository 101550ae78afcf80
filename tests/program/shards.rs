//! A build in shards, as any engine runs it: the bytes of one process, steps that can be made again, and failures that are told.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::REPOSITORY;
use crate::place::{Folder, Run, lakeward};
use crate::store_server::{BUCKET, KEY_ID, StoreServer};
use crate::stores::environment;

mod giant;

/// A lake of a folder, with broken files in it.
struct Place {
    folder: Folder,
    server: Option<StoreServer>,
}

impl Place {
    fn of(folders: &[&str]) -> Place {
        let place = Place { folder: Folder::of(&[]), server: None };
        for folder in folders {
            fs::create_dir_all(place.lake().join(folder)).expect("a folder");
            for file in fs::read_dir(Path::new(REPOSITORY).join("lake").join(folder)).expect("a folder").flatten() {
                let _ = fs::copy(file.path(), place.lake().join(folder).join(file.file_name()));
            }
        }
        place.write("broken.parquet", "PAR1 and nothing else");
        place.write("empty.csv", "");
        place.write("torn.json", "[{\"a\": 1}, {\"a\"");
        // The time of a file that was just written is not trusted.
        std::thread::sleep(Duration::from_millis(200));
        place
    }

    fn in_store(self) -> Place {
        Place { server: Some(StoreServer::start()), ..self }
    }

    fn lake(&self) -> PathBuf {
        self.folder.at("lake")
    }

    fn index(&self, name: &str) -> String {
        match self.server {
            Some(_) => format!("s3://{BUCKET}/{name}"),
            None => self.folder.text(name),
        }
    }

    fn write(&self, name: &str, text: &str) {
        self.folder.write(&format!("lake/{name}"), text);
    }

    fn command(&self, machine: &str, arguments: &[&str]) -> Command {
        let mut command = lakeward(arguments);
        command.current_dir(self.folder.path()).env_clear().env("LAKEWARD_STATE", self.folder.at(machine));
        command.envs(self.server.iter().flat_map(|server| environment(server, KEY_ID)));
        command
    }

    fn run(&self, machine: &str, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(machine, arguments))
    }

    /// The index `name`, built by one process.
    fn build(&self, name: &str, more: &[&str]) -> Value {
        let lake = self.folder.text("lake");
        let arguments = ["index", &lake, "--index", &self.index(name), "--json"];
        self.run("one", &[&arguments, more].concat()).json()
    }

    fn list(&self, name: &str, count: usize, more: &[&str]) -> Value {
        let (lake, count) = (self.folder.text("lake"), count.to_string());
        let arguments = ["index", "shards", &lake, "-n", &count, "--index", &self.index(name), "--json"];
        self.run("planner", &[&arguments, more].concat()).json()
    }

    fn work(&self, list: &str, shard: usize) -> Value {
        let machine = format!("machine {shard}");
        self.run(&machine, &["index", "work", list, "--shard", &shard.to_string(), "--json"]).succeeded().json()
    }

    fn commit(&self, list: &str) -> Value {
        self.run("committer", &["index", "commit", list, "--json"]).json()
    }

    /// The index `name`, built in `count` shards.
    fn build_in_shards(&self, name: &str, count: usize, more: &[&str]) -> Value {
        let listed = self.list(name, count, more);
        let list = listed["list"].as_str().expect("a list");
        // In no order.
        for shard in (0..count).rev() {
            self.work(list, shard);
        }
        self.commit(list)
    }

    /// Every file of the index `name` that its manifests name, and these.
    fn content(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        let root = self.folder.at(name);
        let mut found = BTreeMap::from([("manifest.json".into(), fs::read(root.join("manifest.json")).expect("one"))]);
        for segment in fs::read_dir(root.join("segments")).expect("segments").flatten() {
            for file in fs::read_dir(segment.path()).expect("a segment").flatten() {
                let name = format!("{}/{}", segment.file_name().display(), file.file_name().display());
                found.insert(name, fs::read(file.path()).expect("a file"));
            }
        }
        found
    }

    /// The names of the objects of segments of the index `name`, which have the checksums of their content; without those of the segments.
    fn objects(&self, name: &str) -> Vec<String> {
        let paths = self.server.as_ref().expect("a store").paths(&format!("{BUCKET}/{name}/segments/"));
        let mut names: Vec<String> =
            paths.iter().filter_map(|path| path.rsplit('/').next().map(str::to_string)).collect();
        names.sort();
        names
    }
}

/// What does not depend on when and where.
fn timeless(mut stats: Value) -> Value {
    stats.as_object_mut().expect("an object").remove("elapsed_ms");
    stats
}

#[track_caller]
fn assert_same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let different: Vec<&String> =
        one.iter().filter(|(name, bytes)| other[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(different.is_empty(), "{different:?} differ");
}

#[test]
fn the_bytes_are_those_of_one_process() {
    let place = Place::of(&["geo", "health", "sport", "us"]);
    let one = place.build("one", &["--fast"]);
    for count in [1, 3, 7, 40] {
        let name = format!("shards-{count}");
        let stats = place.build_in_shards(&name, count, &["--fast"]);
        assert_eq!(timeless(stats), timeless(one.clone()), "{count}");
        assert_same(&place.content("one"), &place.content(&name));
    }
    assert!(one["tables"].as_u64().expect("a number") > 20 && one["skipped"].as_array().expect("a list").len() >= 2);
}

#[test]
fn texts_are_read_by_the_shards() {
    let place = Place::of(&["geo"]);
    let one = place.build("one", &[]);
    assert_eq!(timeless(place.build_in_shards("shards", 3, &[])), timeless(one));
    assert_same(&place.content("one"), &place.content("shards"));
    assert!(place.content("one").keys().any(|name| name.ends_with("meanings.seg")));
}

#[test]
fn an_update_is_that_of_one_process() {
    let place = Place::of(&["geo", "sport"]);
    place.build("one", &["--fast"]);
    place.build_in_shards("shards", 4, &["--fast"]);
    let mut files: Vec<PathBuf> =
        fs::read_dir(place.lake().join("geo")).expect("a folder").flatten().map(|file| file.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
    files.sort();
    fs::remove_file(&files[0]).expect("it goes");
    fs::rename(&files[1], place.lake().join("moved.csv")).expect("it moves");
    place.write("geo/rivers.csv", "river,km\nDon,1870\nPo,652\n");
    fs::write(&files[2], "city,mayor\nOslo,Ann\nBern,Bo\n").expect("a file");
    std::thread::sleep(Duration::from_millis(200));
    let listed = place.list("shards", 2, &["--fast"]);
    let sizes = listed["shards"].as_array().expect("shards");
    assert_eq!(sizes.iter().map(|shard| shard["files"].as_u64().expect("a number")).sum::<u64>(), 3, "{listed}");
    let stats = place.build_in_shards("shards", 2, &["--fast"]);
    assert_eq!(timeless(stats), timeless(place.build("one", &["--fast"])));
    assert_same(&place.content("one"), &place.content("shards"));
}

#[test]
fn steps_can_be_made_again() {
    let place = Place::of(&["geo"]);
    let listed = place.list("index", 2, &["--fast"]);
    assert_eq!(listed, place.list("index", 2, &["--fast"]));
    let list = listed["list"].as_str().expect("a list");
    let row = place.work(list, 1);
    assert_eq!(timeless(row.clone()), timeless(place.work(list, 1)));
    // Also while another makes it.
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(|| timeless(place.work(list, 1)))).collect();
        workers.into_iter().for_each(|worker| assert_eq!(worker.join().expect("a row"), timeless(row.clone())));
    });
    // What cannot be read is a row, and no failure.
    let skipped =
        [row, place.work(list, 0)].iter().map(|row| row["skipped"].as_array().expect("a list").len()).sum::<usize>();
    assert!(skipped >= 2, "{skipped}");
    assert_eq!(fs::read_dir(Path::new(list).join("rows")).expect("rows").count(), 2);
    let looked_up_bytes = |folder: &Path| -> u64 {
        let segments = fs::read_dir(folder.join("segments")).expect("segments");
        segments.map(|segment| fs::metadata(segment.expect("one").path().join("join.seg")).expect("a file").len()).sum()
    };
    let of_shards = looked_up_bytes(Path::new(list));
    let stats = place.commit(list);
    let committed = place.content("index");
    let of_index = looked_up_bytes(&place.folder.at("index"));
    assert!(10 * of_shards < of_index, "shards have no inverted lists: {of_shards} bytes of {of_index}");
    // Nothing of it is left to be done.
    let again = place.commit(list);
    assert_eq!((&again["tables"], &again["added"]), (&stats["tables"], &0.into()));
    assert_same(&committed, &place.content("index"));
    assert_eq!(fs::read_dir(Path::new(list).join("segments")).expect("segments").count(), 0, "what is committed goes");
    assert_eq!(place.build("index", &[])["added"], 0);
    assert_same(&committed, &place.content("index"));
}

#[test]
fn what_is_missing_is_named_and_can_be_left_out() {
    let place = Place::of(&["geo", "health"]);
    let listed = place.list("index", 4, &["--fast"]);
    let list = listed["list"].as_str().expect("a list");
    for shard in [0, 2] {
        place.work(list, shard);
    }
    let left = |printed: &[&str]| place.run("planner", &[&["index", "missing", list], printed].concat()).succeeded();
    assert_eq!(left(&[]).stdout, "1\n3\n");
    assert_eq!(left(&["--json"]).json(), serde_json::json!({"missing": [1, 3]}));
    let refused = place.run("committer", &["index", "commit", list]);
    assert!(refused.code == 2 && refused.stderr.contains("2 of 4 shards"), "{} {}", refused.code, refused.stderr);
    assert!(refused.stderr.contains(": 1, 3;") && !place.folder.at("index/manifest.json").exists());
    let part = place.run("committer", &["index", "commit", list, "--in-part", "--json"]);
    let expected =
        listed["shards"][1]["files"].as_u64().expect("a number") + listed["shards"][3]["files"].as_u64().expect("one");
    assert_eq!(part.json()["unread"], expected, "{}", part.stderr);
    // A segment that was damaged is as one that is missing.
    let row = place.work(list, 1);
    place.work(list, 3);
    let segment = row["segments"][0]["name"].as_str().expect("a name");
    let file = Path::new(list).join("segments").join(segment).join("columns.seg");
    let mut bytes = fs::read(&file).expect("a file");
    bytes[100] ^= 1;
    fs::write(&file, bytes).expect("a file");
    let refused = place.run("committer", &["index", "commit", list]);
    assert!(refused.stderr.contains("1 of 4 shards") && refused.stderr.contains(": 1;"), "{}", refused.stderr);
    place.work(list, 1);
    // A row that was damaged names the shard; without it the shard is worked on again.
    let mut rows = fs::read_dir(Path::new(list).join("rows")).expect("rows").flatten().map(|row| row.path());
    let of_second = |row: &PathBuf| row.file_name().is_some_and(|name| name.to_string_lossy().starts_with("00001-"));
    let row = rows.find(of_second).expect("a row");
    fs::write(&row, "{").expect("a file");
    let refused = place.run("committer", &["index", "commit", list]);
    let hint = format!("`lakeward index work {list} --shard 1` again");
    assert!(refused.code == 3 && refused.stderr.contains(&hint), "{} {}", refused.code, refused.stderr);
    fs::remove_file(&row).expect("a file");
    place.work(list, 1);
    assert_eq!(place.commit(list)["unread"], 0);
    assert_eq!(place.build("index", &[])["added"], 0);
}

#[test]
fn a_worker_that_is_killed_leaves_nothing_half() {
    let place = Place::of(&["geo", "health", "us"]);
    let listed = place.list("index", 2, &["--fast"]);
    let list = listed["list"].as_str().expect("a list");
    let started = Instant::now();
    place.work(list, 0);
    let span = started.elapsed();
    let arguments = ["index", "work", list, "--shard", "1"];
    for part in 1..=20 {
        let mut killed = place.command("killed", &arguments);
        let mut killed = killed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
        std::thread::sleep(span.mul_f64(f64::from(part) / 20.0));
        let _ = killed.kill();
        killed.wait().expect("an end");
        let rows = fs::read_dir(Path::new(list).join("rows")).expect("rows").flatten();
        let rows: Vec<_> = rows.filter(|row| row.file_name().to_string_lossy().starts_with("00001-")).collect();
        let committed = place.run("committer", &["index", "commit", list]);
        assert_eq!(committed.code == 2, rows.is_empty(), "{}", committed.stderr);
        if !rows.is_empty() {
            break;
        }
    }
    place.work(list, 1);
    let left = |folder: &Path, begins: &str| {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(begins)).count()
    };
    assert_eq!((left(Path::new(list), "at-work-"), left(&Path::new(list).join("rows"), ".")), (0, 0));
    place.commit(list);
    place.build("one", &["--fast"]);
    assert_same(&place.content("one"), &place.content("index"));
}

#[test]
fn what_has_changed_since_is_left_to_the_next_build() {
    let place = Place::of(&["geo"]);
    place.write("cities.csv", "town,people\nOslo,717710\nBern,134591\n");
    std::thread::sleep(Duration::from_millis(200));
    let listed = place.list("index", 2, &["--fast"]);
    let list = listed["list"].as_str().expect("a list");
    place.work(list, 0);
    place.work(list, 1);
    place.write("cities.csv", "town,people,country\nOslo,717710,Norway\n");
    place.write("new.csv", "a,b\n1,2\n");
    let stats = place.commit(list);
    assert_eq!(stats["unread"], 2, "{stats}");
    std::thread::sleep(Duration::from_millis(200));
    let next = place.build("index", &[]);
    assert_eq!((&next["added"], &next["unread"]), (&2.into(), &0.into()), "{next}");
}

#[test]
fn lists_of_others_are_refused_by_name() {
    let place = Place::of(&["sport"]);
    let listed = place.list("index", 1, &["--fast"]);
    let list = listed["list"].as_str().expect("a list");
    let header = Path::new(list).join("list.json");
    let text = fs::read_to_string(&header).expect("a list");
    fs::write(&header, text.replace("\"lakeward\": \"", "\"lakeward\": \"9.")).expect("a list");
    for arguments in [vec!["index", "work", list, "--shard", "0"], vec!["index", "commit", list]] {
        let refused = place.run("machine", &arguments);
        assert!(refused.code == 2 && refused.stderr.contains("made by Lakeward 9."), "{}", refused.stderr);
        assert!(refused.stderr.contains(env!("CARGO_PKG_VERSION")), "{}", refused.stderr);
    }
    fs::write(&header, text.replace("\"embedder\": \"", "\"embedder\": \"other ")).expect("a list");
    let refused = place.run("machine", &["index", "work", list, "--shard", "0"]);
    assert!(refused.code != 0 && refused.stderr.contains("other "), "{}", refused.stderr);
    fs::write(&header, text.replace("\"format_version\": 2", "\"format_version\": 3")).expect("a list");
    let refused = place.run("machine", &["index", "work", list, "--shard", "0"]);
    assert!(refused.code == 2 && refused.stderr.contains("list.json` has version 3, "), "{}", refused.stderr);
    fs::write(&header, &text[..text.len() / 2]).expect("a list");
    let refused = place.run("machine", &["index", "commit", list]);
    assert!(refused.code == 2 && refused.stderr.contains("the list `"), "{}", refused.stderr);
    fs::write(&header, text).expect("a list");
    let refused = place.run("machine", &["index", "work", list, "--shard", "1"]);
    assert!(refused.code == 2 && refused.stderr.contains("no shard 1"), "{}", refused.stderr);
    for nowhere in ["lists", "index/lists/..", "index/lists/abc", "nowhere"] {
        let refused = place.run("machine", &["index", "work", nowhere, "--shard", "0"]);
        assert_eq!(refused.code, 2, "{nowhere}: {}", refused.stderr);
    }
    // A shard that leads out of the lake.
    let shard = Path::new(list).join("shards/00000.jsonl");
    let tables = fs::read_to_string(&shard).expect("a shard");
    let lake = place.lake().canonicalize().expect("a lake").display().to_string();
    for elsewhere in ["/etc", &format!("{lake}/../index")] {
        fs::write(&shard, tables.replacen(&format!("\"{lake}/"), &format!("\"{elsewhere}/"), 1)).expect("a shard");
        let refused = place.run("machine", &["index", "work", list, "--shard", "0"]);
        assert!(refused.code != 0 && refused.stderr.contains("is not in the lake"), "{elsewhere}: {}", refused.stderr);
    }
    // One whose last line is torn.
    fs::write(&shard, &tables[..tables.len() - 9]).expect("a shard");
    let refused = place.run("machine", &["index", "work", list, "--shard", "0"]);
    assert!(refused.code == 3 && refused.stderr.contains("00000.jsonl"), "{}", refused.stderr);
    fs::write(&shard, tables).expect("a shard");
    // A row that leads elsewhere.
    place.work(list, 0);
    let row = fs::read_dir(Path::new(list).join("rows")).expect("rows").flatten().next().expect("a row").path();
    let text = fs::read(&row).expect("a row");
    fs::write(&row, &text[..text.len() / 2]).expect("a row");
    let refused = place.run("machine", &["index", "commit", list]);
    assert!(refused.code == 3 && refused.stderr.contains("00000-"), "{}", refused.stderr);
    let mut newer: Value = serde_json::from_slice(&text).expect("a row");
    newer["format_version"] = 3.into();
    fs::write(&row, newer.to_string()).expect("a row");
    let refused = place.run("machine", &["index", "commit", list]);
    assert!(
        refused.code == 3 && refused.stderr.contains("it has version 3; this program reads version 2"),
        "{}",
        refused.stderr
    );
    let mut hostile: Value = serde_json::from_slice(&text).expect("a row");
    hostile["segments"][0]["name"] = "../../../elsewhere".into();
    fs::write(&row, hostile.to_string()).expect("a row");
    let refused = place.run("machine", &["index", "commit", list]);
    assert!(refused.code != 0 && refused.stderr.contains("another list"), "{}", refused.stderr);
}

#[test]
fn an_index_in_a_store_has_the_same_bytes() {
    let place = Place::of(&["geo", "sport"]).in_store();
    let one = place.build("one", &["--fast"]);
    let server = place.server.as_ref().expect("a store");
    server.asked();
    let listed = place.list("shards", 3, &["--fast"]);
    let list = listed["list"].as_str().expect("a list");
    assert!(list.starts_with("s3://"), "{list}");
    let asked_by_list = server.asked().len();
    for shard in 0..3 {
        assert_eq!(timeless(place.work(list, shard)), timeless(place.work(list, shard)));
    }
    // Twice.
    let asked_by_work = server.asked().len() / 6;
    let rows = format!("{BUCKET}/shards/lists/");
    assert_eq!(server.paths(&rows).iter().filter(|path| path.contains("/rows/")).count(), 3);
    server.asked();
    assert_eq!(timeless(place.commit(list)), timeless(one));
    let asked = (asked_by_list, asked_by_work, server.asked().len());
    // eval/scale.md counts on them: a shard asks as often however many tables it has, a commit by the number of shards and segments.
    println!("requests of a list of 3 shards, of a shard, of a commit: {asked:?}");
    assert!(asked.0 <= 8 && asked.1 <= 16 && asked.2 <= 80, "{asked:?}");
    assert_eq!(place.objects("one"), place.objects("shards"));
    assert!(place.objects("one").len() > 5);
    assert!(!server.paths(&rows).iter().any(|path| path.contains("/segments/")), "what is committed goes");
    assert_eq!(place.commit(list)["added"], 0);
    assert_eq!(server.paths(&format!("{BUCKET}/shards/manifests/")).len(), 1);
    let lake = place.folder.text("lake");
    let found = place.run("reader", &["tables", "--lake", &lake, "--index", &place.index("shards"), "--json"]).json();
    assert_eq!(
        found["tables"].as_array().expect("tables").len() as u64,
        place.commit(list)["tables"].as_u64().expect("one")
    );
}

/// The loop of the README, as a shell runs it.
#[test]
#[cfg(unix)]
fn a_shell_loop_is_an_engine() {
    let readme = fs::read_to_string(Path::new(REPOSITORY).join("README.md")).expect("the page");
    let block =
        readme.split("```sh\n").find(|block| block.starts_with("list=$(lakeward index shards")).expect("the loop");
    let script = block.split("```").next().expect("a block");
    let place = Place::of(&["geo"]);
    let bin = Path::new(env!("CARGO_BIN_EXE_lakeward")).parent().expect("a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let mut shell = Command::new("sh");
    shell.args(["-ec", script]).current_dir(place.folder.path()).env("PATH", path);
    let run = Run::of(&mut shell);
    assert_eq!(run.code, 4, "some files are broken: {}", run.said());
    let tables = place.run("machine", &["tables", "--lake", "lake", "--json"]).json();
    assert!(tables["tables"].as_array().expect("tables").len() > 3, "{tables}");
}

/// What it is given, the program beside `lakeward` or on PATH is given, with where `lakeward` is.
#[test]
#[cfg(unix)]
fn a_cluster_is_another_program() {
    use std::os::unix::fs::PermissionsExt;
    let folder =
        Folder::of(&[("bin/lakeward-cluster", "#!/bin/sh\nprintf '%s|' \"$@\" \"$LAKEWARD_PROGRAM\"\nexit 7\n")]);
    let script = folder.at("bin/lakeward-cluster");
    let run = |arguments: &[&str]| {
        let mut command = lakeward(arguments);
        Run::of(command.current_dir(folder.path()).env("PATH", folder.at("bin")).env_remove("LAKEWARD_PROGRAM"))
    };
    // It cannot be run, and then it can.
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).expect("a file");
    let refused = run(&["cluster", "scheduler"]);
    assert!(refused.code == 2 && refused.stderr.contains("`lakeward-cluster` cannot be run"), "{}", refused.stderr);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a program");
    let program = env!("CARGO_BIN_EXE_lakeward");
    let handed = |arguments: &[&str], expected: &str| {
        let run = run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (7, format!("{expected}{program}|").as_str()), "{}", run.stderr);
    };
    handed(&["cluster", "executor", "--shards", "2", "--help"], "executor|--shards|2|--help|");
    handed(&["index", "lake", "--on", "df://a:1", "-n", "9"], "index|lake|--on|df://a:1|-n|9|--|");
    let more = ["--index", "s3://b/i", "--fast", "--json", "-q", "--sample-rows", "5", "--records", "r.json"];
    handed(
        &[&["--lake", "lake", "index", "--on", "df://a:1", "-n", "9"], &more[..]].concat(),
        "index|lake|--on|df://a:1|-n|9|--index|s3://b/i|--json|--quiet|--|--fast|--sample-rows|5|--records|r.json|",
    );
    for odd in [&["--on", "df://a:1"][..], &["-n", "9"], &["--on", "df://a:1", "-n", "9", "--watch"]] {
        assert_eq!(run(&[&["index", "lake"], odd].concat()).code, 2, "{odd:?}");
    }
    fs::remove_file(&script).expect("it goes");
    let refused = run(&["index", "lake", "--on", "df://a:1", "-n", "9"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("neither beside this program nor on PATH"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("cargo build --release"), "{}", refused.stderr);
}
