//! A scheduler and two executors on this machine, with faults: the index has the bytes of one that a single process built.
//!
//! Needs the program `lakeward`: `LAKEWARD_PROGRAM`, or `../target/release/lakeward`.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const CLUSTER: &str = env!("CARGO_BIN_EXE_lakeward-cluster");
const SHARDS: u32 = 8;

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Cluster {
    folder: TempDir,
    scheduler: String,
    running: Vec<Running>,
}

fn program() -> PathBuf {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/lakeward");
    let program = std::env::var_os("LAKEWARD_PROGRAM").map_or_else(built, PathBuf::from);
    assert!(program.is_file(), "`{}` is not there: build it first", program.display());
    program.canonicalize().expect("a path")
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port()
}

impl Cluster {
    /// Two executors that run `script` in place of the program, which it finds in `$PROGRAM`, and a folder `$NOTES`.
    fn start(script: &str) -> Cluster {
        let folder = tempfile::tempdir().expect("a folder");
        let lake = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lake");
        for name in ["geo", "health", "sport", "us"] {
            fs::create_dir_all(folder.path().join("lake").join(name)).expect("a folder");
            for file in fs::read_dir(lake.join(name)).expect("a folder").flatten().filter(|file| file.path().is_file())
            {
                fs::copy(file.path(), folder.path().join("lake").join(name).join(file.file_name())).expect("a file");
            }
        }
        fs::write(folder.path().join("lake/broken.parquet"), "PAR1 and nothing else").expect("a file");
        fs::create_dir(folder.path().join("notes")).expect("a folder");
        let wrapper = folder.path().join("wrapper");
        fs::write(&wrapper, format!("#!/bin/sh\n{script}\nexec \"$PROGRAM\" \"$@\"\n")).expect("a file");
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("a program");
        // The time of a file that was just written is not trusted.
        sleep(Duration::from_millis(200));
        let mut cluster = Cluster { scheduler: format!("127.0.0.1:{}", free_port()), folder, running: Vec::new() };
        let scheduler = cluster.scheduler.clone();
        cluster.spawn(&["scheduler", "--bind", &scheduler]);
        let started = Instant::now();
        while TcpStream::connect(&scheduler).is_err() {
            assert!(started.elapsed() < Duration::from_secs(60), "no scheduler");
            sleep(Duration::from_millis(100));
        }
        for _ in 0..2 {
            let (port, grpc) = (free_port().to_string(), free_port().to_string());
            cluster.spawn(&["executor", "--scheduler", &scheduler, "--port", &port, "--grpc-port", &grpc]);
        }
        cluster
    }

    fn spawn(&mut self, arguments: &[&str]) {
        let mut command = Command::new(CLUSTER);
        command.args(arguments).env("LAKEWARD_PROGRAM", self.folder.path().join("wrapper"));
        command.env("PROGRAM", program()).env("NOTES", self.folder.path().join("notes"));
        self.running.push(Running(command.spawn().expect("the program")));
    }

    fn index(&self, more: &[&str]) -> Child {
        let folder = self.folder.path();
        let mut command = Command::new(CLUSTER);
        command.arg("index").arg(folder.join("lake")).args(["--on", &format!("df://{}", self.scheduler)]);
        command.args(["-n", &SHARDS.to_string()]).arg("--index").arg(folder.join("index")).args(more);
        command.args(["--", "--fast"]).env("LAKEWARD_PROGRAM", program());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("the program")
    }

    /// The index is whole and as one process builds it.
    fn check(&self, done: &Output) {
        let output = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        // One file is broken.
        assert_eq!(done.status.code(), Some(4), "{output}");
        let folder = self.folder.path();
        let mut one = Command::new(program());
        one.arg("index").arg(folder.join("lake")).args(["--fast", "--quiet", "--index"]).arg(folder.join("one"));
        assert_eq!(one.status().expect("the program").code(), Some(4));
        let (found, expected) = (content(&folder.join("index")), content(&folder.join("one")));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        let differ: Vec<&PathBuf> =
            found.iter().filter(|(name, bytes)| expected[*name] != **bytes).map(|(name, _)| name).collect();
        assert!(differ.is_empty(), "{differ:?}");
    }

    /// How often each shard was begun.
    fn attempts(&self) -> BTreeMap<String, usize> {
        let mut attempts = BTreeMap::new();
        for note in fs::read_dir(self.folder.path().join("notes")).expect("notes").flatten() {
            let name = note.file_name().to_string_lossy().into_owned();
            *attempts.entry(name.split('.').next().unwrap_or_default().into()).or_default() += 1;
        }
        attempts
    }
}

fn content(index: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::from([("manifest.json".into(), fs::read(index.join("manifest.json")).expect("a file"))]);
    for segment in fs::read_dir(index.join("segments")).expect("segments").flatten() {
        for file in fs::read_dir(segment.path()).expect("a segment").flatten() {
            let name = file.path().strip_prefix(index).expect("a path below").to_path_buf();
            found.insert(name, fs::read(file.path()).expect("a file"));
        }
    }
    found
}

/// `$5` is the number of the shard: `index work LIST --shard K`.
const NOTE: &str = "touch \"$NOTES/$5.$$\"";

#[test]
fn an_executor_that_is_killed_costs_its_shards_alone() {
    let mut cluster = Cluster::start(&format!("{NOTE}\nsleep 1"));
    let job = cluster.index(&[]);
    let started = Instant::now();
    while cluster.attempts().len() < 3 {
        assert!(started.elapsed() < Duration::from_secs(120), "no shard is worked on: {:?}", cluster.attempts());
        sleep(Duration::from_millis(50));
    }
    // With what it is at work on, and the rows that it has.
    drop(cluster.running.pop());
    let done = job.wait_with_output().expect("an end");
    cluster.check(&done);
    let attempts: usize = cluster.attempts().values().sum();
    assert!(attempts > SHARDS as usize, "{:?}", cluster.attempts());
}

#[test]
fn faults_that_pass_are_tried_again() {
    // Shard 1 is done, and its answer lost; shard 2 fails twice; shard 3 is killed.
    let script = format!(
        "{NOTE}\ncase $5.$(ls \"$NOTES\" | grep -c \"^$5\\.\") in\n1.1) \"$PROGRAM\" \"$@\" > /dev/null; exit 3 ;;\n2.1|2.2) exit 3 ;;\n3.1) kill -9 $$ ;;\nesac"
    );
    let cluster = Cluster::start(&script);
    let done = cluster.index(&[]).wait_with_output().expect("an end");
    cluster.check(&done);
    let attempts = cluster.attempts();
    assert_eq!([attempts["1"], attempts["2"], attempts["3"]], [2, 3, 2], "{attempts:?}");
}

#[test]
fn what_cannot_pass_is_named_by_the_commit() {
    let cluster = Cluster::start(&format!("{NOTE}\nif [ $5 = 5 ]; then echo no >&2; exit 2; fi"));
    let done = cluster.index(&[]).wait_with_output().expect("an end");
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(2) && stderr.contains("missing or damaged"), "{stderr}");
    assert!(!cluster.folder.path().join("index/manifest.json").exists());
}

/// Settings for faults of Ballista itself, which strike with this probability.
fn chaos(fault: &str, probability: f64) -> Vec<String> {
    let settings = ["enabled=true", "seed=7", &format!("probability={probability:.1}"), &format!("fault_type={fault}")];
    settings.map(|setting| format!("--set=ballista.testing.chaos_execution.{setting}")).to_vec()
}

#[test]
fn delays_of_the_engine_change_nothing() {
    let cluster = Cluster::start(NOTE);
    let started = Instant::now();
    let settings = chaos("delay:1000", 1.0);
    let job = cluster.index(&settings.iter().map(String::as_str).collect::<Vec<_>>());
    cluster.check(&job.wait_with_output().expect("an end"));
    // Two at a time.
    assert!(started.elapsed() > Duration::from_secs(u64::from(SHARDS) / 2), "there was no delay");
}

#[test]
fn a_job_that_the_engine_gives_up_is_taken_up_by_the_next() {
    let cluster = Cluster::start(NOTE);
    for fault in ["transient", "fatal", "panic"] {
        let settings = chaos(fault, 1.0);
        let job = cluster.index(&settings.iter().map(String::as_str).collect::<Vec<_>>());
        let done = job.wait_with_output().expect("an end");
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(stderr.contains("the job ended early"), "{fault}: {stderr}");
        // Its shards may be there all the same.
        assert!(done.status.code() == Some(4) || stderr.contains("missing or damaged"), "{fault}: {stderr}");
    }
    cluster.check(&cluster.index(&[]).wait_with_output().expect("an end"));
}

#[test]
fn faults_of_the_engine_do_not_end_a_build() {
    for fault in ["transient", "fatal", "panic"] {
        let cluster = Cluster::start(NOTE);
        let settings = chaos(fault, 0.3);
        let job = cluster.index(&settings.iter().map(String::as_str).collect::<Vec<_>>());
        let done = job.wait_with_output().expect("an end");
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(stderr.contains("the job ended early"), "{fault}: {stderr}");
        cluster.check(&done);
    }
}
