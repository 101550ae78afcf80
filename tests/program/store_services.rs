//! Lakes and indexes in the stores that people have: SeaweedFS and moto as S3, Azurite as Azure, each started by a script; and rclone,
//! which ignores conditions.

#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use crate::REPOSITORY;
use crate::fault_proxy::FaultProxy;
use crate::index_stores::number;
use crate::place::{Folder, Run, lakeward};

/// What a test says that cannot run.
const SKIPPED: &str = "skipped: LAKEWARD_TEST_STORES_PYTHON names no Python with the servers of CONTRIBUTING.md";

/// A server that runs, with a lake.
struct Service {
    script: Child,
    folder: Folder,
    start: Start,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Start {
    skipped: Option<String>,
    address: String,
    environment: BTreeMap<String, String>,
}

impl Service {
    /// The server `kind`; says why where there is none.
    fn start(kind: &str) -> Option<Service> {
        let Some(python) = std::env::var_os("LAKEWARD_TEST_STORES_PYTHON") else {
            println!("{SKIPPED}");
            return None;
        };
        let folder = Folder::of(&[
            ("lake/people.csv", "person_id,name,city\np01,Ann Lee,Oslo\np02,Bo Li,Bern\np03,Cy Wu,Rome\n"),
            ("lake/geo/cities & more.csv", "town,inhabitants\nOslo,717710\nBern,134591\nRome,2755309\n"),
            ("lake/sales/year=2020/part-0.csv", "town,amount\nOslo,3\n"),
            ("lake/sales/year=2021/part-0.csv", "town,amount\nOslo,5\nBern,6\n"),
        ]);
        let (lake, data) = (folder.at("lake"), folder.at("data"));
        fs::create_dir(&data).expect("a folder");
        let script = Path::new(REPOSITORY).join("tests/program/store_services.py");
        let mut command = Command::new(python);
        command.arg(script).arg(kind).arg(data).arg(lake);
        // A port that is free for two is taken by one.
        static STARTING: Mutex<()> = Mutex::new(());
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python");
        let mut line = String::new();
        BufReader::new(script.stdout.as_mut().expect("its output")).read_line(&mut line).expect("a line");
        let start: Start = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{kind}: {error}: {line}"));
        let service = Service { script, folder, start };
        match &service.start.skipped {
            Some(reason) => {
                println!("skipped: {reason}");
                None
            }
            None => Some(service),
        }
    }

    /// Writes a file of the lake, and puts it into the store.
    fn put(&mut self, name: &str, text: &str) {
        self.folder.write(&format!("lake/{name}"), text);
        writeln!(self.script.stdin.as_mut().expect("its input"), "{name}").expect("a line");
        let mut done = String::new();
        BufReader::new(self.script.stdout.as_mut().expect("its output")).read_line(&mut done).expect("a line");
        assert_eq!(done, "\n", "{name}");
    }

    fn run(&self, machine: &str, set: &[(&str, &str)], arguments: &[&str]) -> Run {
        let mut command = lakeward(arguments);
        command.current_dir(self.folder.path()).env_clear().envs(&self.start.environment);
        let address = &self.start.address;
        command.env("LAKEWARD_LAKE", format!("{address}/lake")).env("LAKEWARD_INDEX", format!("{address}/index"));
        Run::of(command.env("LAKEWARD_STATE", self.folder.at(machine)).envs(set.iter().copied()))
    }

    fn succeeds(&self, machine: &str, set: &[(&str, &str)], arguments: &[&str]) -> String {
        self.run(machine, set, arguments).succeeded().stdout
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The script ends its server when its input ends.
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}

/// A lake and its index in one store, of several machines; files of it change; writers that race.
fn serves(service: &mut Service) {
    service.succeeds("a", &[], &["index", "--fast"]);
    let found = service.succeeds("b", &[], &["search", "inhabitants of cities"]);
    assert!(found.contains("geo/cities & more"), "{found}");
    let sum =
        service.succeeds("b", &[], &["sql", "SELECT sum(amount) AS s FROM sales WHERE year = 2021", "--format", "csv"]);
    assert_eq!(sum.trim(), "s\n11");
    let joined = |service: &Service| service.succeeds("b", &[], &["join", "people", "--column", "city", "--json"]);
    let found = joined(service);
    assert!(found.contains("\"geo/cities & more\"") && !found.contains("\"rivers\""), "{found}");
    // A new file and a changed one are read, and no other; whoever has asked before sees them.
    service.put("rivers.csv", "mouth,river\nOslo,Akerselva\nRome,Tiber\nBern,none\nKyiv,none\n");
    service.put("sales/year=2021/part-0.csv", "town,amount\nOslo,5\nBern,16\n");
    let updated = service.succeeds("a", &[], &["index", "--fast", "--json"]);
    let updated: Value = serde_json::from_str(&updated).expect("JSON");
    let counts = ["added", "changed", "removed", "unchanged"].map(|name| updated[name].as_u64());
    assert_eq!(counts, [1, 1, 0, 2].map(Some), "{updated}");
    let found = joined(service);
    assert!(found.contains("\"geo/cities & more\"") && found.contains("\"rivers\""), "{found}");
    let sum = service.succeeds("b", &[], &["sql", "SELECT sum(amount) AS s FROM sales", "--format", "csv"]);
    assert_eq!(sum.trim(), "s\n24");
    // Into another index, of a lake on this machine that grows.
    let service: &Service = service;
    let lake = service.folder.at("lake");
    let (lake_text, index) = (lake.to_str().expect("a path"), format!("{}/raced", service.start.address));
    let set = [("LAKEWARD_LAKE", lake_text), ("LAKEWARD_INDEX", index.as_str())];
    let (writers, rounds) = (number("LAKEWARD_TEST_WRITERS", 4), number("LAKEWARD_TEST_ROUNDS", 3));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let lake = &lake;
            scope.spawn(move || {
                for round in 0..rounds {
                    let name = format!("w{writer:02}_{round:02}");
                    let hidden =
                        service.folder.write(&name, format!("town,visits_{name}\nOslo,{round}\nBern,{writer}\n"));
                    fs::rename(hidden, lake.join(format!("{name}.csv"))).expect("a file");
                    service.succeeds(&format!("machine{writer}"), &set, &["index", "--fast"]);
                }
            });
        }
    });
    let listed = service.succeeds("reader", &set, &["tables"]);
    for table in (0..writers).flat_map(|writer| (0..rounds).map(move |round| format!("w{writer:02}_{round:02}"))) {
        assert!(listed.contains(&table), "{table}: {listed}");
    }
    println!("{} tables by {writers} writers in {:.1} s", writers * rounds, started.elapsed().as_secs_f32());
    service.succeeds("reader", &set, &["verify"]);
    service.succeeds("b", &[], &["verify"]);
}

/// The lake of the store in shards, from machines of their own, one shard twice; the index is that of one process.
fn builds_in_shards(service: &Service) {
    let address = &service.start.address;
    let built = |index: &str| -> BTreeMap<String, String> {
        let machine = format!("reader of {index}");
        let index = format!("{address}/{index}");
        service.succeeds(&machine, &[("LAKEWARD_INDEX", &index)], &["verify"]);
        // This fetches the manifest.
        service.succeeds(&machine, &[("LAKEWARD_INDEX", &index)], &["tables"]);
        let state = fs::read_dir(service.folder.at(&machine)).expect("a folder").flatten().next().expect("an index");
        let manifest = fs::read(state.path().join("manifest.json")).expect("a manifest");
        let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
        let segments = manifest["segments"].as_array().expect("segments").iter();
        let files = segments.flat_map(|segment| segment["files"].as_array().expect("files"));
        files.map(|file| (file["name"].to_string(), file["checksum"].to_string())).collect()
    };
    let of = |index: &str| format!("{address}/{index}");
    service.succeeds("one", &[("LAKEWARD_INDEX", &of("one"))], &["index", "--fast"]);
    let shards = of("shards");
    let set = [("LAKEWARD_INDEX", shards.as_str())];
    let list = service.succeeds("planner", &set, &["index", "shards", "-n", "3", "--fast", "--quiet"]);
    let list = list.trim();
    assert!(list.starts_with(&format!("{shards}/lists/")), "{list}");
    std::thread::scope(|scope| {
        for (machine, shard) in [("first", "0"), ("second", "1"), ("third", "2"), ("third again", "1")] {
            scope.spawn(move || service.succeeds(machine, &[], &["index", "work", list, "--shard", shard]));
        }
    });
    assert_eq!(service.succeeds("planner", &[], &["index", "missing", list]), "");
    service.succeeds("committer", &[], &["index", "commit", list]);
    let (one, of_shards) = (built("one"), built("shards"));
    assert!(one.len() > 5 && one == of_shards, "{one:?} {of_shards:?}");
}

#[test]
fn seaweedfs() {
    let Some(mut service) = Service::start("seaweedfs") else { return };
    builds_in_shards(&service);
    serves(&mut service);
    let refused = service.run("c", &[("AWS_SECRET_ACCESS_KEY", "wrong")], &["tables"]);
    assert!(refused.code == 3 && refused.stderr.contains("refuses access"), "{}", refused.stderr);
}

/// Every fifth request to a real server meets a fault: what passes is passed, and nothing is lost.
#[test]
fn seaweedfs_behind_faults() {
    let Some(mut service) = Service::start("seaweedfs") else { return };
    let endpoint = service.start.environment.get_mut("AWS_ENDPOINT_URL").expect("an endpoint");
    let proxy = FaultProxy::before(endpoint, 5);
    *endpoint = proxy.url();
    service.succeeds("a", &[], &["index", "--fast"]);
    for number in 0..6 {
        service.folder.write(&format!("lake/more{number}.csv"), format!("town,visits\nOslo,{number}\nBern,1\n"));
        let lake = service.folder.at("lake");
        let set = [("LAKEWARD_LAKE", lake.to_str().expect("a path"))];
        service.succeeds(["a", "b"][number % 2], &set, &["index", "--fast"]);
    }
    let listed = service.succeeds("c", &[], &["tables"]);
    assert!((0..6).all(|number| listed.contains(&format!("more{number}"))), "{listed}");
    service.succeeds("c", &[], &["verify"]);
    let made = proxy.made();
    println!("faults made: {made:?}");
    assert!(made.iter().all(|count| *count > 0), "{made:?}");
}

#[test]
fn moto() {
    let Some(mut service) = Service::start("moto") else { return };
    serves(&mut service);
}

/// rclone answers that an object was created whether or not it was there: whoever believes it loses commits.
#[test]
fn rclone() {
    let Some(service) = Service::start("rclone") else { return };
    let lake = service.folder.at("lake");
    let here = ("LAKEWARD_LAKE", lake.to_str().expect("a path"));
    let refused = service.run("a", &[here], &["index", "--fast"]);
    assert_eq!(refused.code, 3, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("ignores the condition `If-None-Match"), "{}", refused.stderr);
    // Nothing was left there that others would take for an index.
    let none = service.run("b", &[here], &["verify"]);
    assert!(none.code == 3 && none.stderr.contains("no index"), "{} {}", none.code, none.stderr);
}

#[test]
fn azurite() {
    let Some(mut service) = Service::start("azurite") else { return };
    serves(&mut service);
    let wrong = "d3Jvbmc=";
    let refused = service.run("c", &[("AZURE_STORAGE_ACCOUNT_KEY", wrong)], &["tables"]);
    assert!(refused.code == 3 && refused.stderr.contains("refuses access"), "{}", refused.stderr);
}
