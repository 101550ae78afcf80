//! What the operating system may refuse: no room, no permission, files that vanish.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use lakeward_core::monitor::{Monitor, Total};
use lakeward_index::build::{self, BuildOptions};
use lakeward_index::verify::verify;
use lakeward_models::embed::StaticModel;

use super::{answers, assert_answers_like_a_new_index, assert_same, built, files, lake_of, path, write};

/// Runs `lakeward index` in a shell that first runs `before`.
fn run_after(before: &str, lake: &Path, index: &Path) -> Output {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{before}\nexec \"$@\"")).arg("sh").arg(env!("CARGO_BIN_EXE_lakeward"));
    shell.args(["index", "--fast"]).arg(lake).arg("--index").arg(index).output().expect("a shell")
}

/// No room on the disk, as a limit on the size of files: writing fails at another place for each limit.
#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    let lake = lake_of(60);
    let place = tempfile::tempdir().expect("a folder");
    built(lake.path(), place.path()).expect("a build");
    (0..60).for_each(|number| write(lake.path(), number, 1));
    let held: Vec<(_, Vec<u8>)> =
        files(place.path()).into_iter().map(|file| (file.clone(), fs::read(file).expect("a file"))).collect();
    let mut failures = 0;
    for blocks in [0, 1, 2, 8, 20, 60, 120, 200, 300, 400, 600, 1000, 2000, 4000] {
        let copy = tempfile::tempdir().expect("a folder");
        for (file, bytes) in &held {
            let target = copy.path().join(file.strip_prefix(place.path()).expect("below"));
            fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
            fs::write(target, bytes).expect("a file");
        }
        // An ignored signal makes the system return an error in its place.
        let run = run_after(&format!("trap '' XFSZ; ulimit -f {blocks}"), lake.path(), copy.path());
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        if run.status.success() {
            continue;
        }
        failures += 1;
        assert_eq!(run.status.code(), Some(3), "{blocks} blocks: {said}");
        assert!(said.contains("cannot ") && said.contains("File too large"), "{blocks} blocks: {said}");
        assert_eq!(verify(copy.path()).expect("a verdict").2, [], "{blocks} blocks");
        for (file, bytes) in held.iter().filter(|(file, _)| !file.ends_with("write.lock")) {
            let copied = copy.path().join(file.strip_prefix(place.path()).expect("below"));
            assert!(fs::read(copied).expect("a file") == *bytes, "{blocks} blocks: {}", file.display());
        }
        built(lake.path(), copy.path()).expect("a build");
        assert_answers_like_a_new_index(lake.path(), copy.path(), &format!("after a disk of {blocks} blocks"));
    }
    assert!(failures >= 6, "only {failures} limits were too small");
}

/// What an ordinary user may do; the super user passes every permission, so that the tests run the program as nobody then.
fn as_ordinary_user() -> Option<&'static str> {
    let id = Command::new("id").arg("-u").output().ok()?;
    if String::from_utf8_lossy(&id.stdout).trim() != "0" {
        return Some("");
    }
    let program = env!("CARGO_BIN_EXE_lakeward");
    let mut nobody = Command::new("setpriv");
    nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups", program, "--version"]);
    let runs = nobody.output().is_ok_and(|output| output.status.success());
    runs.then_some("set -- setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"")
}

#[test]
fn what_is_forbidden_is_named() {
    let Some(user) = as_ordinary_user() else {
        println!("skipped: no ordinary user can run the program here");
        return;
    };
    let lake = lake_of(10);
    let place = tempfile::tempdir().expect("a folder");
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
    allow(lake.path(), 0o755);
    allow(place.path(), 0o755);
    let index = place.path().join("index");
    fs::create_dir(&index).expect("a folder");

    // An index folder that cannot be written, before there is an index and after.
    allow(&index, 0o555);
    let run = run_after(user, lake.path(), &index);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(said.contains("Permission denied") && said.contains("--index DIR"), "{said}");
    allow(&index, 0o777);
    assert!(run_after(user, lake.path(), &index).status.success());
    let before = answers(lake.path(), &index).expect("answers");
    write(lake.path(), 3, 9);
    allow(&index.join("segments"), 0o555);
    let run = run_after(user, lake.path(), &index);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(said.contains("Permission denied"), "{said}");
    allow(&index.join("segments"), 0o777);
    write(lake.path(), 3, 0);
    assert_same(&answers(lake.path(), &index).expect("answers"), &before, "after a refused update");

    // A table that may not be read is named and skipped, and read as soon as it may.
    let locked = path(lake.path(), 7);
    allow(&locked, 0o000);
    write(lake.path(), 3, 4);
    let run = run_after(user, lake.path(), &index);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(4), "{said}");
    assert!(said.contains("railway_007") || said.contains("_007.csv"), "{said}");
    assert!(said.contains("Permission denied"), "{said}");
    allow(&locked, 0o644);
    let run = run_after(user, lake.path(), &index);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_answers_like_a_new_index(lake.path(), &index, "after a locked table");

    // An index that may only be read answers.
    for file in files(&index) {
        allow(&file, 0o444);
    }
    assert!(answers(lake.path(), &index).is_ok());
}

#[test]
fn a_file_that_vanishes_during_the_run_is_named() {
    let lake = lake_of(20);
    let place = tempfile::tempdir().expect("a folder");
    struct Remover(std::path::PathBuf);
    impl Monitor for Remover {
        fn begin(&self, _name: &str, total: Total) {
            if matches!(total, Total::Files { .. }) {
                fs::remove_file(&self.0).expect("a file");
            }
        }
        fn advance(&self, _amount: u64) {}
        fn is_stopped(&self) -> bool {
            false
        }
    }
    let gone = path(lake.path(), 5);
    let monitor = Remover(gone.clone());
    let options = BuildOptions::default();
    let stats = build::build(lake.path(), place.path(), StaticModel::builtin(), &options, &monitor).expect("a build");
    assert_eq!((stats.tables, stats.skipped.len()), (19, 1));
    assert!(stats.is_partial() && stats.skipped[0].reason.contains("No such file"), "{:?}", stats.skipped);
    let stats = built(lake.path(), place.path()).expect("a build");
    assert!(stats.skipped.is_empty() && !stats.is_partial());
    write(lake.path(), 5, 0);
    assert_eq!(built(lake.path(), place.path()).expect("a build").added, 1);
}
