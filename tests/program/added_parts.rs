//! Tables in many files, to which files are added:
//!
//! - an update reads those alone, and comes to the index that a build from nothing makes, byte for byte;
//! - where others have changed, or what is kept is damaged, it reads all of them, and comes to the same;
//! - of a store it asks as often as there are files, and then once for each that is new.
//!
//! The tables are like `lineitem` of TPC-H: 16 columns of keys, figures, flags, dates and comments, in folders of Hive and as Delta.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use lakeward::{Lakeward, Place};
use lakeward_core::monitor::Silent;
use lakeward_index::build::BuildOptions;
use serde_json::json;

use crate::place::{Folder, lakeward};
use crate::store_server::{BUCKET, KEY_ID, StoreServer};
use crate::stores::environment;

/// The columns of rows `number` × `rows` and so on.
fn lineitem(number: usize, rows: usize) -> RecordBatch {
    const MODES: [&str; 7] = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"];
    const INSTRUCTIONS: [&str; 4] = ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"];
    const WORDS: [&str; 12] = [
        "carefully",
        "quick",
        "ironic",
        "requests",
        "sleep",
        "above",
        "the",
        "final",
        "deposits",
        "furiously",
        "even",
        "pinto",
    ];
    let first = number * rows;
    // A number for each row and column, the same in every run.
    let drawn = |column: usize, row: usize, of: usize| {
        let mixed = ((first + row) * 31 + column).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 20) % of
    };
    let whole = |column: usize, of: usize| -> ArrayRef {
        Arc::new((0..rows).map(|row| Some(1 + drawn(column, row, of) as i64)).collect::<Int64Array>())
    };
    let figure = |column: usize, of: usize, by: f64| -> ArrayRef {
        Arc::new((0..rows).map(|row| Some(drawn(column, row, of) as f64 / by)).collect::<Float64Array>())
    };
    let word = |column: usize, words: &[&str]| -> ArrayRef {
        Arc::new((0..rows).map(|row| Some(words[drawn(column, row, words.len())])).collect::<StringArray>())
    };
    let day = |column: usize| -> ArrayRef {
        Arc::new((0..rows).map(|row| Some(8035 + drawn(column, row, 2500) as i32)).collect::<Date32Array>())
    };
    let comment = |row: usize| {
        let words = (0..5).map(|at| WORDS[drawn(50 + at, row, WORDS.len())]).collect::<Vec<_>>();
        Some(words.join(" "))
    };
    let order = |row: usize| Some(((first + row) / 4 * 3) as i64);
    RecordBatch::try_from_iter([
        ("l_orderkey", Arc::new((0..rows).map(order).collect::<Int64Array>()) as ArrayRef),
        ("l_partkey", whole(1, 200_000)),
        ("l_suppkey", whole(2, 10_000)),
        ("l_linenumber", whole(3, 7)),
        ("l_quantity", whole(4, 50)),
        ("l_extendedprice", figure(5, 10_000_000, 100.0)),
        ("l_discount", figure(6, 11, 100.0)),
        ("l_tax", figure(7, 9, 100.0)),
        ("l_returnflag", word(8, &["A", "N", "R"])),
        ("l_linestatus", word(9, &["F", "O"])),
        ("l_shipdate", day(10)),
        ("l_commitdate", day(11)),
        ("l_receiptdate", day(12)),
        ("l_shipinstruct", word(13, &INSTRUCTIONS)),
        ("l_shipmode", word(14, &MODES)),
        ("l_comment", Arc::new((0..rows).map(comment).collect::<StringArray>())),
    ])
    .expect("a batch")
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a writer");
    writer.write(batch).expect("rows");
    writer.close().expect("a file");
    bytes
}

fn csv(batch: &RecordBatch) -> Vec<u8> {
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut text = names.join(",") + "\n";
    for row in lakeward_operate::texts(batch, lakeward_operate::CellForm::Data).expect("cells") {
        writeln!(text, "{}", row.join(",")).expect("text");
    }
    text.into_bytes()
}

/// How a table lies in files.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Text,
    Hive,
    Delta,
}

impl Form {
    /// The path and bytes of a file of `lineitem`.
    fn part(self, number: usize, rows: usize) -> (String, Vec<u8>) {
        let batch = lineitem(number, rows);
        match self {
            Form::Text => (format!("lineitem/part-{number}.csv"), csv(&batch)),
            Form::Hive => (format!("lineitem/part={number}/rows.parquet"), parquet(&batch)),
            // The names that writers choose have no order.
            Form::Delta => (format!("lineitem/{:04}.parquet", number * 7919 % 10_000), parquet(&batch)),
        }
    }

    /// The path and text of a version of the log that adds files of these paths and sizes.
    fn version(self, version: usize, files: &[(String, usize)]) -> Option<(String, String)> {
        if self != Form::Delta {
            return None;
        }
        let mut actions = Vec::new();
        if version == 0 {
            let typed = |name: &str| match name {
                "l_extendedprice" | "l_discount" | "l_tax" => "double",
                name if name.ends_with("date") => "date",
                name if name.ends_with("key") || matches!(name, "l_linenumber" | "l_quantity") => "long",
                _ => "string",
            };
            let schema = lineitem(0, 1).schema();
            let field = |name: &String| json!({"name": name, "type": typed(name), "nullable": true, "metadata": {}});
            let fields: Vec<_> = schema.fields().iter().map(|one| field(one.name())).collect();
            let schema = json!({"type": "struct", "fields": fields}).to_string();
            actions.push(json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}));
            actions.push(json!({"metaData": {"id": "lineitem", "format": {"provider": "parquet", "options": {}},
                "schemaString": schema, "partitionColumns": [], "configuration": {}}}));
        }
        actions.extend(files.iter().map(|(path, bytes)| {
            let name = path.rsplit('/').next();
            json!({"add": {"path": name, "partitionValues": {}, "size": bytes, "modificationTime": 1000 + version,
                "dataChange": true}})
        }));
        let lines: Vec<String> = actions.iter().map(ToString::to_string).collect();
        Some((format!("lineitem/_delta_log/{version:020}.json"), lines.join("\n")))
    }

    /// Gives `put` all files of the numbers, of which a log says that they are its `version`; returns their bytes.
    fn write(self, numbers: std::ops::Range<usize>, rows: usize, version: usize, put: &dyn Fn(&str, Vec<u8>)) -> u64 {
        let mut files = Vec::new();
        for (path, bytes) in numbers.map(|number| self.part(number, rows)) {
            files.push((path.clone(), bytes.len()));
            put(&path, bytes);
        }
        if let Some((path, text)) = self.version(version, &files) {
            put(&path, text.into_bytes());
        }
        files.iter().map(|(_, bytes)| *bytes as u64).sum()
    }
}

/// A lake in a store, with folders of this machine for its indexes.
struct Lake {
    server: StoreServer,
    folder: Folder,
}

impl Lake {
    fn new() -> Self {
        let lake = Self { server: StoreServer::start(), folder: Folder::of(&[]) };
        lake.server.list_by(1000);
        lake
    }

    fn put(&self, path: &str, bytes: Vec<u8>) {
        self.server.put(&format!("{BUCKET}/lake/{path}"), bytes);
    }

    /// Brings its index in the folder of this name up to date.
    fn index(&self, name: &str) -> Cost {
        self.server.asked();
        self.server.sent_bytes();
        let started = Instant::now();
        let mut command: Command = lakeward(["index", "--fast", "-q"]);
        command.env_clear().envs(environment(&self.server, KEY_ID)).current_dir(self.folder.path());
        command.env("LAKEWARD_LAKE", format!("s3://{BUCKET}/lake")).env("LAKEWARD_INDEX", self.folder.at(name));
        let mut child = command.spawn().expect("the program");
        let peak_bytes = peak_bytes(&mut child);
        assert!(child.wait().expect("its end").success());
        let (requests, sent_bytes) = (self.server.asked().len(), self.server.sent_bytes());
        Cost { requests, sent_bytes, peak_bytes, elapsed: started.elapsed() }
    }

    /// Brings its index up to date, and compares it with one from nothing; whether that has asked for all files again.
    #[track_caller]
    fn reads_all_again(&self, what: &str) -> bool {
        let updated = self.index("index");
        let _ = fs::remove_dir_all(self.folder.at("other"));
        let whole = self.index("other");
        assert_same(&self.folder, what);
        let asked = (updated.requests, whole.requests);
        assert!(
            whole.requests >= FILES && (updated.requests <= MOST_FOR_NEW || updated.requests >= FILES),
            "{what}: {asked:?}"
        );
        updated.requests >= FILES
    }
}

/// The files of a table to which others are added.
const FILES: usize = 20;
/// Lists, versions of a log and new files.
const MOST_FOR_NEW: usize = 14;

/// The names and bytes of the files of the only segment of the index in a folder.
fn segment(index: &Path) -> Vec<(String, Vec<u8>)> {
    let folders = fs::read_dir(index.join("segments")).expect("segments");
    let folders: Vec<PathBuf> = folders.map(|entry| entry.expect("a segment").path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    let files = fs::read_dir(&folders[0]).expect("files").map(|entry| entry.expect("a file").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut files: Vec<(String, Vec<u8>)> = files.map(|path| (name(&path), fs::read(&path).expect("bytes"))).collect();
    files.sort();
    files
}

/// That the indexes `index` and `other` have the same bytes.
#[track_caller]
fn assert_same(folder: &Folder, what: &str) {
    let (found, expected) = (segment(&folder.at("index")), segment(&folder.at("other")));
    assert!(!expected.is_empty() && found.len() == expected.len(), "{what}");
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        assert!(found == expected, "{what}: {name} is another");
    }
}

#[test]
fn an_update_after_new_files_reads_them_alone_and_is_a_build_from_nothing() {
    for form in [Form::Hive, Form::Delta] {
        let lake = Lake::new();
        let write = |numbers, version| form.write(numbers, 1000, version, &|path, bytes| lake.put(path, bytes));
        write(0..FILES, 0);
        lake.index("index");
        for (version, numbers) in [20..21, 21..24].into_iter().enumerate() {
            write(numbers, version + 1);
            assert!(!lake.reads_all_again(&format!("{form:?} {version}")), "{form:?} {version}");
        }
        // What is kept may be damaged, or of a newer program: then it is not used, and kept anew.
        for (number, (what, damage)) in DAMAGES.iter().enumerate() {
            for entry in fs::read_dir(lake.folder.at("index/cache/checkpoints")).expect("what is kept") {
                let path = entry.expect("a file").path();
                let mut bytes = fs::read(&path).expect("bytes");
                damage(&mut bytes);
                fs::write(&path, bytes).expect("a file");
            }
            write(24 + number..25 + number, 3 + number);
            assert!(lake.reads_all_again(what), "{form:?} {what}");
        }
        write(24 + DAMAGES.len()..25 + DAMAGES.len(), 3 + DAMAGES.len());
        assert!(!lake.reads_all_again("after damage"), "{form:?}");
    }
}

/// What may have become of a file.
type Damage = (&'static str, fn(&mut Vec<u8>));

const DAMAGES: [Damage; 5] = [
    ("a flipped bit", |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    }),
    ("cut", |bytes| bytes.truncate(bytes.len() / 2)),
    ("emptied", Vec::clear),
    ("noise", |bytes| bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 31 % 251) as u8)),
    // The version is in the sum of its first bytes.
    ("of a newer program", |bytes| {
        let sum = u64::from_le_bytes(bytes[..8].try_into().expect("a sum"));
        bytes[..8].copy_from_slice(&sum.wrapping_add(1).to_le_bytes());
    }),
];

/// On this machine too, where a table is large enough for that to be worth it; its files are told by their times.
#[test]
fn a_table_of_this_machine_is_gone_on_from() {
    const ROWS: usize = 30_000;
    let folder = Folder::of(&[]);
    let put = |path: &str, bytes: Vec<u8>| drop(folder.write(&format!("lake/{path}"), bytes));
    let index = |name: &str| {
        // Files that are as young as the clock is coarse are not trusted.
        thread::sleep(Duration::from_millis(150));
        let place = Place::new(&folder.at("lake"), Some(&folder.at(name))).expect("a place");
        Lakeward::build(place, &BuildOptions::default(), &Silent).expect("an index").1.read_bytes
    };
    let all = Form::Hive.write(0..FILES, ROWS, 0, &put);
    assert_eq!(index("index"), all);
    let added = Form::Hive.write(FILES..FILES + 1, ROWS, 1, &put);
    assert_eq!(index("index"), added);
    index("other");
    assert_same(&folder, "one more");
}

#[test]
fn where_other_files_changed_all_are_read() {
    let lake = Lake::new();
    let text = |number: usize| Form::Text.part(number, 1000);
    Form::Text.write(0..FILES, 1000, 0, &|path, bytes| lake.put(path, bytes));
    lake.index("index");
    lake.put("lineitem/part-3b.csv", text(30).1);
    assert!(lake.reads_all_again("between"));
    // As long as before.
    let (path, mut bytes) = text(5);
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    lake.put(&path, bytes);
    lake.put("lineitem/part-31.csv", text(31).1);
    assert!(lake.reads_all_again("changed"));
    lake.server.remove(&format!("{BUCKET}/lake/lineitem/part-3b.csv"));
    assert!(lake.reads_all_again("removed"));
    lake.put("lineitem/part-32.csv", b"l_orderkey,l_new\n1,2\n3,4\n".to_vec());
    assert!(lake.reads_all_again("another column"));
    // Text whose keys turn out to be written in a way of their own is read again for samples of its keys; the index is the same.
    lake.put("lineitem/part-33.csv", b"l_orderkey,l_new\n5,6\n".to_vec());
    assert!(lake.reads_all_again("fewer columns"));
}

/// What a run of the program took.
struct Cost {
    requests: usize,
    sent_bytes: u64,
    peak_bytes: u64,
    elapsed: Duration,
}

/// The most memory that a process has had, until it ends.
fn peak_bytes(child: &mut Child) -> u64 {
    let mut peak = 0;
    while child.try_wait().expect("a process").is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) << 10);
        thread::sleep(Duration::from_millis(5));
    }
    peak
}

/// `LAKEWARD_TEST_PART_ROWS` sets the rows of a file; 6,000 make a thousand files as large as TPC-H at scale factor 1.
#[test]
fn requests_are_linear_in_files_and_one_for_a_new_one() {
    const MOST_BYTES: u64 = 500 << 20;
    let rows = std::env::var("LAKEWARD_TEST_PART_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(100);
    for form in [Form::Hive, Form::Delta] {
        let mut requests = Vec::new();
        for parts in [100, 1000] {
            let lake = Lake::new();
            let put = |path: &str, bytes: Vec<u8>| lake.put(path, bytes);
            let bytes = form.write(0..parts, rows, 0, &put);
            let first = lake.index("index");
            form.write(parts..parts + 1, rows, 1, &put);
            let added = lake.index("index");
            for (what, cost) in [("first", &first), ("one more", &added)] {
                let Cost { requests, sent_bytes, peak_bytes, elapsed } = cost;
                println!(
                    "{form:?}, {parts} files of {rows} rows, {} kB, {what}: {requests} requests, {} kB, {} MB at most, {} ms",
                    bytes / 1000,
                    sent_bytes / 1000,
                    peak_bytes / 1_000_000,
                    elapsed.as_millis()
                );
                if cfg!(target_os = "linux") {
                    assert!((1..MOST_BYTES).contains(peak_bytes), "{peak_bytes}");
                }
            }
            // Lists, logs and the new file.
            assert!(added.requests <= 8, "{form:?}: {} requests", added.requests);
            let of_all = added.sent_bytes as f64 / first.sent_bytes as f64;
            assert!(parts < 1000 || of_all <= 0.02, "{form:?}: {of_all} of the bytes");
            requests.push(first.requests);
        }
        let a_file = (requests[1] - requests[0]) as f64 / 900.0;
        assert!((1.0..1.01).contains(&a_file) && requests[0] <= 108, "{form:?}: {requests:?}");
    }
}
