//! Lakes at addresses: what a web server has is read as a folder is, each byte once, and what fails is told.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lakeward_core::Error;
use lakeward_lake::location::Location;
use lakeward_lake::reader::{ReadOptions, open_hashed, open_path};
use lakeward_lake::source::{LakeListing, content_hash, list_files};
use lakeward_lake::storage::{self, File};
use rusqlite::Connection;

use crate::holders::read;
use crate::layouts::write;
use crate::log_files::{DeltaTable, column, numbers, parquet, texts};
use crate::store_server::{Fault, StoreServer};
use crate::workbook_file::{Cell, xlsx};

/// Puts a folder on the server as its folder `lake`, with the list that names its files.
fn serve(folder: &Path) -> (StoreServer, PathBuf) {
    let server = StoreServer::start();
    server.put_folder("lake", folder);
    server.put("lake/index.txt", listed(folder, folder).join("\n"));
    let address = PathBuf::from(format!("{}/lake", server.url()));
    (server, address)
}

fn listed(root: &Path, folder: &Path) -> Vec<String> {
    let mut names = vec!["# all files".to_string()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => names.extend(listed(root, &path)),
            false => names.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_string()),
        }
    }
    names
}

/// A lake with a table of each kind.
fn lake_of_all_kinds() -> tempfile::TempDir {
    let lake = tempfile::tempdir().unwrap();
    let rows: String = (0..200_000).map(|row| format!("{row},town {row}\n")).collect();
    write(
        lake.path(),
        &[
            ("towns.csv", "town,people\nAby,3\n"),
            ("größe & more/a#b?c%20d.tsv", "a\tb\n1\t2\n"),
            ("notes.txt", "only prose\n"),
            ("rows.txt", "a;b\n1;2\n3;4\n"),
            ("lines.ndjson", "{\"a\": 1}\n{\"a\": 2}\n"),
            ("large.csv", &format!("number,name\n{rows}")),
            ("hive/year=2020/x.csv", "town\nAby\n"),
            ("hive/year=2021/y.csv", "town\nBo\n"),
            ("datapackage.json", r#"{"resources": [{"path": "towns.csv", "title": "Towns"}]}"#),
        ],
    );
    parquet(&lake.path().join("p.parquet"), vec![("n", numbers(&[1, 2])), ("t", texts(&["x", "y"]))]);
    let cells = |words: &[&str]| words.iter().map(|word| Cell::Text((*word).to_string())).collect::<Vec<_>>();
    let sheet = || vec![cells(&["town", "land"]), cells(&["Aby", "S"]), cells(&["Bo", "N"])];
    let book = xlsx(&[("Q1", sheet()), ("Q2", sheet())]);
    fs::write(lake.path().join("book.xlsx"), book).unwrap();
    let database = Connection::open(lake.path().join("d.sqlite")).unwrap();
    database
        .execute_batch("CREATE TABLE a(x); INSERT INTO a VALUES (7); CREATE TABLE b(y); INSERT INTO b VALUES (8);")
        .unwrap();
    let mut delta = DeltaTable::created(lake.path().join("delta"), &[column("n", "long")], &[]);
    let file = delta.file("part 1.parquet", vec![("n", numbers(&[5]))], serde_json::json!({}));
    let mut file = file;
    file["add"]["path"] = "part%201.parquet".into();
    delta.commit(&[file]);
    lake
}

fn contents(listing: &LakeListing) -> BTreeMap<String, (Vec<Vec<String>>, String)> {
    let table = |file: &lakeward_lake::source::LakeFile| {
        let (reader, hash) = open_hashed(file, &ReadOptions::default()).unwrap();
        drop(reader);
        let _ = hash;
        (file.relative.clone(), (read(&file.path).rows, content_hash(&file.path).unwrap().to_string()))
    };
    listing.files.iter().map(table).collect()
}

#[test]
fn a_lake_on_a_server_has_the_tables_that_its_folder_has() {
    let lake = lake_of_all_kinds();
    let (_, address) = serve(lake.path());
    let (here, there) = (list_files(lake.path()).unwrap(), list_files(&address).unwrap());
    assert_eq!(there.problems, []);
    let names = |listing: &LakeListing| listing.files.iter().map(|file| file.relative.clone()).collect::<Vec<_>>();
    assert_eq!(names(&here), names(&there));
    assert!(names(&there).contains(&"größe & more/a#b?c%20d.tsv".to_string()));
    let sizes = |listing: &LakeListing| listing.files.iter().map(|file| file.read_bytes).collect::<Vec<_>>();
    assert_eq!(sizes(&here), sizes(&there));
    assert_eq!(there.sidecars.len(), 1);
    let (here, there) = (contents(&here), contents(&there));
    assert!(here.len() >= 11);
    for (name, table) in &here {
        assert_eq!((&there[name].0, &there[name].1), (&table.0, &table.1), "{name}");
    }
    // Who opens one table has not listed the lake: what is in a folder stands in the list above it.
    for name in ["hive", "delta", "large.csv", "book.xlsx/Q1"] {
        storage::refresh(&address);
        assert_eq!(read(&address.join(name)).rows, here[name].0, "{name}");
    }
    storage::refresh(&address);
    assert!(!storage::exists(&address.join("nowhere")) && !storage::exists(&address.join("hiv")));
    // An address is the lake's, and never what is typed.
    assert!(Location::of(&address.join("towns.csv")).exists());
    assert!(!Location::of(&address.join("towns.csv")).is_table());
}

#[test]
fn every_byte_is_fetched_once() {
    let lake = lake_of_all_kinds();
    let (server, address) = serve(lake.path());
    let listing = list_files(&address).unwrap();
    contents(&listing);
    contents(&listing);
    let asked = server.asked();
    let mut fetched: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for request in asked.iter().filter(|request| request.method == "GET" && !request.path.ends_with("index.txt")) {
        let range = request.range.as_deref().unwrap().strip_prefix("bytes=").unwrap();
        let (from, to) = range.split_once('-').unwrap();
        fetched.entry(request.path.clone()).or_default().push((from.parse().unwrap(), to.parse().unwrap()));
    }
    for (path, ranges) in &mut fetched {
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{path}: {ranges:?}");
    }
    // A small file is one request, a large one few: the first megabyte, then what is left.
    assert!(
        fetched.iter().all(|(path, ranges)| ranges.len() == if path.contains("large") { 2 } else { 1 }),
        "{fetched:?}"
    );
    let (heads, gets) = asked.iter().partition::<Vec<_>, _>(|request| request.method == "HEAD");
    // The list is asked for, looked for, and names each file.
    let files = listed(lake.path(), lake.path()).iter().filter(|name| !name.starts_with('#')).count();
    assert!(heads.len() <= files + 2 && gets.len() <= files + 2, "{} {} {files}", heads.len(), gets.len());
    assert_eq!(storage::requests(&address).sent, asked.len() as u64);
}

#[test]
fn what_passes_is_asked_again() {
    let lake = tempfile::tempdir().unwrap();
    write(lake.path(), &[("towns.csv", "town,people\nAby,3\n")]);
    let whole = [["Aby", "3"]];
    for (fault, times) in [
        (Fault::Status(500, None), 2),
        (Fault::Status(503, None), 1),
        (Fault::Status(429, Some(1)), 1),
        (Fault::Reset, 2),
        (Fault::Cut, 1),
    ] {
        let (server, address) = serve(lake.path());
        list_files(&address).unwrap();
        server.fail("lake/towns.csv", fault, times);
        let started = Instant::now();
        assert_eq!(read(&address.join("towns.csv")).rows, whole, "{fault:?}");
        if fault == Fault::Status(429, Some(1)) {
            assert!(started.elapsed() >= Duration::from_secs(1));
        }
        assert!(storage::failure(&address).is_none());
    }
}

/// Why a table cannot be read.
fn reason(path: &Path) -> String {
    let opened = open_path(path, &ReadOptions::default());
    let read = opened.and_then(|mut reader| {
        while reader.next_batch()?.is_some() {}
        Ok(format!("{:?}", reader.report().repairs))
    });
    match read {
        Ok(repairs) => repairs,
        Err(Error::Io { source, .. }) => source.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_does_not_pass_is_reported() {
    let lake = tempfile::tempdir().unwrap();
    write(lake.path(), &[("towns.csv", "town,people\nAby,3\n"), ("other.csv", "a\n1\n")]);
    for (fault, expected) in [
        (Fault::Status(403, None), "refuses access"),
        (Fault::Status(401, None), "refuses access"),
        (Fault::Status(404, None), "not found"),
        (Fault::Status(500, None), "500"),
        (Fault::WrongEtag, "changed since it was listed"),
        (Fault::Whole, "not"),
        (Fault::Redirect, ""),
    ] {
        let (server, address) = serve(lake.path());
        list_files(&address).unwrap();
        server.fail("lake/towns.csv", fault, 1000);
        let reason = reason(&address.join("towns.csv"));
        assert!(reason.contains(expected), "{fault:?}: {reason}");
        // No address, with what may be in it, and no second line.
        assert!(!reason.contains('\n') && !reason.contains("169.254"), "{reason}");
        assert!(storage::failure(&address.join("towns.csv")).is_some() && storage::failure(&address).is_some());
        assert!(storage::failure(&address.join("other.csv")).is_none());
        assert_eq!(read(&address.join("other.csv")).rows, [["1"]]);
        let asked = server.asked();
        assert!(asked.iter().filter(|asked| asked.path.contains("towns")).count() <= 40, "{}", asked.len());
    }
}

#[test]
fn a_file_that_changes_is_never_a_mixture() {
    let lake = tempfile::tempdir().unwrap();
    let rows = |word: &str| (0..600_000).map(|row| format!("{row},{word}\n")).collect::<String>();
    write(lake.path(), &[("large.csv", &format!("number,name\n{}", rows("one")))]);
    for weak in [false, true] {
        let (server, address) = serve(lake.path());
        if weak {
            server.weaken();
        }
        let before = list_files(&address).unwrap();
        let path = address.join("large.csv");
        let mut reader = open_path(&path, &ReadOptions::default()).unwrap();
        assert!(reader.next_batch().unwrap().is_some());
        // Of the same size.
        server.put("lake/large.csv", format!("number,name\n{}", rows("two")));
        let mut texts = String::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            texts += &format!("{:?}", batch.column(1));
        }
        assert!(!texts.contains("two") && reader.report().lost_rows(), "{:?}", reader.report().repairs);
        assert!(storage::failure(&path).unwrap().to_string().contains("changed"));
        let after = list_files(&address).unwrap();
        assert_eq!(before.files[0].read_bytes, after.files[0].read_bytes);
        assert_ne!(before.files[0].modified_ns, after.files[0].modified_ns);
        assert!(storage::failure(&path).is_none());
        assert!(read(&path).rows.iter().all(|row| row[1] == "two"));
    }
}

#[test]
fn lists_that_lead_elsewhere_and_files_that_are_not_there_are_named() {
    let lake = tempfile::tempdir().unwrap();
    write(lake.path(), &[("towns.csv", "town,people\nAby,3\n")]);
    let (server, address) = serve(lake.path());
    server.put("secret.csv", "a\n1\n");
    server.put("lake/private/p.csv", "a\n1\n");
    server.fail("lake/private", Fault::Status(403, None), 1000);
    let list = "towns.csv\r\n../secret.csv\nhttp://169.254.169.254/x.csv\n/etc/passwd\nmissing.csv\nprivate/p.csv\n\n# a note\na//b.csv";
    server.put("lake/index.txt", list);
    let listing = list_files(&address).unwrap();
    assert_eq!(listing.files.iter().map(|file| file.relative.as_str()).collect::<Vec<_>>(), ["towns.csv"]);
    let problems = format!("{:?}", listing.problems);
    assert!(problems.contains("../secret.csv") && problems.contains("no path below its folder"), "{problems}");
    assert!(
        problems.contains("missing.csv") && problems.contains("`p.csv`: the store refuses access to it"),
        "{problems}"
    );
    // A folder without a list says what is missing.
    server.remove("lake/index.txt");
    let error = list_files(&address).unwrap_err();
    assert!(matches!(&error, Error::Io { source, .. } if source.to_string().contains("`index.txt`")), "{error:?}");
}

#[test]
fn addresses_of_the_link_are_refused() {
    for host in ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]"] {
        let started = Instant::now();
        match list_files(Path::new(&format!("http://{host}/latest/meta-data"))) {
            Err(Error::Io { source, .. }) => {
                assert!(source.to_string().contains("this machine's own network"), "{host}: {source}");
            }
            other => panic!("{other:?}"),
        }
        assert!(started.elapsed() < Duration::from_secs(5), "{host}");
    }
}

#[test]
fn files_are_read_from_any_place() {
    let lake = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..3_000_000u32).flat_map(u32::to_le_bytes).collect();
    fs::write(lake.path().join("numbers.csv"), &bytes).unwrap();
    let (server, address) = serve(lake.path());
    let mut file = File::open(&address.join("numbers.csv")).unwrap();
    for at in [11_999_990, 5_000_000, 5_000_001, 0, 8_000_000, 12_000_000] {
        let mut found = Vec::new();
        file.seek(SeekFrom::Start(at)).unwrap();
        Read::by_ref(&mut file).take(1000).read_to_end(&mut found).unwrap();
        let at = usize::try_from(at).unwrap();
        assert_eq!(found, bytes[at..bytes.len().min(at + 1000)], "{at}");
    }
    assert!(file.seek(SeekFrom::Current(-20_000_000)).is_err());
    let fetched = server.asked().iter().filter(|asked| asked.range.is_some()).count();
    assert!(fetched <= 4, "{fetched}");
    // A second handle goes on where the first is.
    file.seek(SeekFrom::Start(4)).unwrap();
    let mut second = file.try_clone().unwrap();
    let mut word = [0; 4];
    second.read_exact(&mut word).unwrap();
    file.read_exact(&mut word).unwrap();
    assert_eq!(u32::from_le_bytes(word), 2);
}
