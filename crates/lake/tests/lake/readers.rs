//! Every way a lake's files can be written badly, through the public API of the readers.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod any_text;
mod delimited;
mod json;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, ListArray, StringArray, StructArray};
use arrow::datatypes::{DataType, Field, Int32Type, Schema};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use lakeward_core::Error;
use lakeward_lake::reader::{ReadOptions, ReadReport, RepairKind, TableReader, open_path};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::log_files::parquet_bytes;
use crate::reader_behaviour::gzip;

struct Table {
    names: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
    report: ReadReport,
}

impl Table {
    fn row(&self, at: usize) -> Vec<&str> {
        self.rows[at].iter().map(|cell| cell.as_deref().unwrap_or("∅")).collect()
    }

    fn count(&self, kind: RepairKind) -> u64 {
        self.report.count(kind)
    }
}

fn drain(mut reader: Box<dyn TableReader>) -> Table {
    let names = reader.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        assert_eq!(batch.num_columns(), names.len());
        assert!(batch.num_rows() > 0);
        for row in 0..batch.num_rows() {
            let cell = |array: &ArrayRef| array.is_valid(row).then(|| array_value_to_string(array, row).unwrap());
            rows.push(batch.columns().iter().map(cell).collect());
        }
    }
    assert!(reader.next_batch().unwrap().is_none());
    let report = reader.report().clone();
    assert_eq!(report.rows, rows.len() as u64);
    report.repairs.iter().for_each(|repair| assert!(!repair.to_string().is_empty()));
    Table { names, rows, report }
}

fn write(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Table {
    let (_folder, path) = write(name, bytes);
    drain(open_path(&path, &ReadOptions::default()).unwrap())
}

fn refusal(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let (_folder, path) = write(name, bytes);
    refusal_of(&path)
}

fn refusal_of(path: &Path) -> String {
    match open_path(path, &ReadOptions::default()) {
        Err(Error::Unreadable { reason, .. }) => reason,
        Err(other) => format!("other error: {other}"),
        Ok(_) => "readable".into(),
    }
}

fn utf16(text: &str, big: bool, mark: bool) -> Vec<u8> {
    let mark = if mark { "\u{feff}" } else { "" };
    let units = mark.encode_utf16().chain(text.encode_utf16());
    units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

// Dialects

#[test]
fn packed_files_are_unpacked_whatever_their_name() {
    let text = b"a,b\n1,2\n3,4\n";
    for name in ["t.csv.gz", "t.csv"] {
        assert_eq!(read(name, gzip(text)).rows.len(), 2);
    }
    let zstd = zstd::stream::encode_all(&text[..], 3).unwrap();
    assert_eq!(read("t.csv.zst", zstd).rows.len(), 2);
    assert_eq!(read("t.csv.gz", text).rows.len(), 2);
    let twice = [gzip(b"a,b\n1,2\n"), gzip(b"3,4\n")].concat();
    assert_eq!(read("t.csv.gz", twice).rows.len(), 2);
}

#[test]
fn a_truncated_stream_keeps_its_whole_rows() {
    let text: String = (0..200_000).map(|i| format!("{i},{}\n", i * 7919 % 100_003)).collect();
    let packed = gzip(format!("id,n\n{text}").as_bytes());
    let zstd = zstd::stream::encode_all(format!("id,n\n{text}").as_bytes(), 3).unwrap();
    for (name, packed) in [("t.csv.gz", packed), ("t.csv.zst", zstd)] {
        let table = read(name, &packed[..packed.len() / 2]);
        assert!(table.report.partial());
        assert_eq!(table.count(RepairKind::TruncatedStream), 1);
        assert!(table.rows.len() > 10_000, "{}", table.rows.len());
        for (at, row) in table.rows.iter().enumerate() {
            assert_eq!(row[1], Some((at * 7919 % 100_003).to_string()));
        }
    }
    assert!(refusal("t.csv.gz", &gzip(b"a,b\n1,2\n")[..12]).contains("compressed"));
}

// What is no table

#[test]
fn what_is_no_table_is_refused_with_a_reason() {
    assert_eq!(refusal("t.csv", ""), "empty file");
    assert_eq!(refusal("t.csv", "\n\n  \n"), "no text in it");
    assert_eq!(refusal("t.csv", "<!DOCTYPE html>\n<html><body>404, not found</body></html>"), "an HTML page");
    assert_eq!(refusal("t.csv", "<?xml version=\"1.0\"?><Error/>"), "an XML document");
    assert_eq!(refusal("t.csv", "{\"error\": \"no, not found\"}"), "a JSON document");
    assert!(refusal("t.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n").contains("Git LFS"));
    assert!(refusal("t.csv", b"PK\x03\x04rest").contains("spreadsheet"));
    let mut noise = 1_u64;
    let random: Vec<u8> = (0..5_000)
        .map(|_| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (noise >> 56) as u8
        })
        .collect();
    assert_eq!(refusal("t.csv", random), "binary data");
    assert_eq!(
        refusal("notes.txt", "Dear all,\nthis is a letter.\nIt has, as letters do, commas.\n"),
        "text without columns"
    );
    assert_eq!(read("t.txt", "a\tb\n1\t2\n").names, ["a", "b"]);
    assert!(refusal("t.parquet.gz", gzip(b"x")).contains("packed"));
}

#[test]
fn files_that_cannot_be_opened_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    assert!(matches!(open_path(&path, &ReadOptions::default()), Err(Error::Io { .. })));
    fs::create_dir(&path).unwrap();
    assert_eq!(refusal_of(&path), "no table files of a single format in it");
    let secret = folder.path().join("secret.csv");
    fs::write(&secret, "a,b\n1,2\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read it all the same.
        if fs::read(&secret).is_err() {
            assert!(matches!(open_path(&secret, &ReadOptions::default()), Err(Error::Io { .. })));
        }
    }
}

// JSON

fn sample_batch() -> RecordBatch {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None, Some(vec![])]);
    let pair = StructArray::from(vec![(
        Arc::new(Field::new("x", DataType::Int32, true)),
        Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef,
    )]);
    let binary = arrow::array::BinaryArray::from(vec![&b"text"[..], b"\xff\x00", b""]);
    RecordBatch::try_from_iter(vec![
        ("id", Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef),
        ("name", Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])) as ArrayRef),
        ("list", Arc::new(list) as ArrayRef),
        ("pair", Arc::new(pair) as ArrayRef),
        ("bytes", Arc::new(binary) as ArrayRef),
    ])
    .unwrap()
}

fn check_sample(table: &Table) {
    assert_eq!(table.names, ["id", "name", "list", "pair", "bytes"]);
    assert_eq!(table.row(0), ["1", "a", "[1,null]", "{\"x\":1}", "text"]);
    assert_eq!(table.row(1)[..3], ["2", "∅", "∅"]);
    assert_eq!(table.row(1)[4], "ff00");
    assert_eq!(table.count(RepairKind::NestedColumns), 2);
}

#[test]
fn parquet_with_nested_types() {
    let (_folder, path) = write("t.parquet", parquet_bytes(&sample_batch()));
    let reader = open_path(&path, &ReadOptions::default()).unwrap();
    assert!(reader.is_typed());
    check_sample(&drain(reader));
}

#[test]
fn arrow_files_and_streams() {
    let batch = sample_batch();
    let mut file = Vec::new();
    let mut writer = arrow::ipc::writer::FileWriter::try_new(&mut file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    check_sample(&read("t.arrow", &file));
    let mut stream = Vec::new();
    let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    check_sample(&read("t.arrows", &stream));
    check_sample(&read("t.arrows.gz", gzip(&stream)));
    assert!(refusal("t.arrow", &file[..file.len() - 20]).contains("damaged Arrow file"));
    assert!(refusal("t.arrow", "no arrow").contains("no Arrow"));
}

#[test]
fn damaged_parquet() {
    let ids = Int32Array::from_iter_values((0..200_000).map(|i| i * 7919 % 100_003));
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int32, false)]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(ids)]).unwrap();
    let bytes = parquet_bytes(&batch);
    assert_eq!(read("t.parquet", &bytes).rows.len(), 200_000);
    assert!(refusal("t.parquet", &bytes[..bytes.len() / 2]).contains("damaged Parquet footer"));
    assert!(refusal("t.parquet", b"PAR1").contains("damaged Parquet footer"));
    assert_eq!(refusal("t.parquet", b""), "empty file");
    let mut damaged = bytes.clone();
    let middle = bytes.len() / 2;
    damaged[middle - 5_000..middle + 5_000].fill(0xff);
    let (_folder, path) = write("t.parquet", &damaged);
    // Damage may hit values without breaking the encoding; what must not happen is a panic or a silent loss of rows.
    let table = drain(open_path(&path, &ReadOptions::default()).unwrap());
    assert!(table.report.partial() || table.rows.len() == 200_000);
    let mut damaged = bytes.clone();
    damaged[4..200].fill(0xff);
    let table = read("t.parquet", damaged);
    assert!(table.report.partial());
    assert_eq!(table.report.count(RepairKind::DamagedData), 1);
}

// Properties

/// Every table file below the folder of benchmarks.
fn bench_files() -> Vec<lakeward_lake::source::LakeFile> {
    let Some(folder) = std::env::var_os("LAKEWARD_BENCH") else {
        println!("skipped: LAKEWARD_BENCH is not set");
        return Vec::new();
    };
    lakeward_lake::source::list_files(Path::new(&folder)).unwrap().files
}

/// One JSON line a file in `LAKEWARD_DUMP`: what was found, for comparison with other readers.
#[test]
#[ignore = "reads the lakes that LAKEWARD_BENCH names"]
fn dump_what_is_found() {
    let mut out = String::new();
    for file in bench_files() {
        let line = match lakeward_lake::reader::open(&file, &ReadOptions::default()) {
            Ok(reader) => {
                let columns = reader.columns().to_vec();
                let table = drain(reader);
                let repairs: Vec<String> = table.report.repairs.iter().map(ToString::to_string).collect();
                serde_json::json!({
                    "path": file.path, "names": table.names, "headers": columns, "rows": table.rows.len(), "repairs": repairs,
                    "dialect": table.report.dialect, "preamble": table.report.preamble,
                    "head": table.rows.iter().take(3).collect::<Vec<_>>(),
                })
            }
            Err(error) => serde_json::json!({ "path": file.path, "error": error.to_string() }),
        };
        out.push_str(&line.to_string());
        out.push('\n');
    }
    let place = std::env::var_os("LAKEWARD_DUMP").map(PathBuf::from);
    fs::write(place.unwrap_or_else(|| std::env::temp_dir().join("readers.jsonl")), out).unwrap();
}

/// Seconds that this thread has run on a core: other work on the machine does not count.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Megabytes a second on one core, beside the bare `csv` crate and beside only reading the bytes.
#[test]
#[ignore = "reads the lakes that LAKEWARD_BENCH names"]
fn measure_speed() {
    let files = bench_files();
    let megabytes = files.iter().map(|file| file.read_bytes).sum::<u64>() as f64 / 1e6;
    let time = |name: &str, mut read: Box<dyn FnMut(&Path) -> u64>| {
        let best = (0..5).map(|_| {
            let start = cpu_seconds();
            let rows: u64 = files.iter().map(|file| read(&file.path)).sum();
            (cpu_seconds() - start, rows)
        });
        let (seconds, rows) = best.fold((f64::MAX, 0), |a, b| if b.0 < a.0 { b } else { a });
        let each = seconds / files.len() as f64 * 1e6;
        println!("{name}: {:.0} MB/s, {each:.0} µs a file, {rows} rows, {megabytes:.0} MB", megabytes / seconds);
    };
    time("bytes", Box::new(|path| fs::read(path).unwrap().len() as u64));
    time(
        "csv crate",
        Box::new(|path| {
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).unwrap();
            let mut record = csv::ByteRecord::new();
            let mut rows = 0;
            while reader.read_byte_record(&mut record).unwrap_or(false) {
                rows += 1;
            }
            rows
        }),
    );
    time(
        "lakeward open",
        Box::new(|path| open_path(path, &ReadOptions::default()).map_or(0, |reader| reader.columns().len() as u64)),
    );
    time(
        "lakeward",
        Box::new(|path| {
            let Ok(mut reader) = open_path(path, &ReadOptions::default()) else { return 0 };
            while let Some(batch) = reader.next_batch().unwrap() {
                std::hint::black_box(&batch);
            }
            reader.report().rows
        }),
    );
}

// Listing

#[test]
fn listing_sorts_tables_sidecars_and_problems() {
    use lakeward_lake::source::{assign_ids, content_hash, list_files};
    let lake = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = lake.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let table = "a,b\n1,2\n3,4\n";
    for name in [
        "b/x.csv",
        "b/x.tsv",
        "b/x.csv.csv",
        "a.csv.gz",
        "z.PARQUET",
        ".git/h.csv",
        "b/.hidden.csv",
        "folder.csv/part.csv",
    ] {
        put(name, table);
    }
    put("notes.txt", "Dear all,\nno table.\n");
    put("table.txt", "a\tb\n1\t2\n");
    put("README.md", "x");
    put("datapackage.json", "{}");
    put("data.json", "{\"conformsTo\": \"https://project-open-data.cio.gov/v1.1/schema\", \"dataset\": []}");
    put("rows/data.json", "[{\"a\": 1}]");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(lake.path(), lake.path().join("b/loop")).unwrap();
        std::os::unix::fs::symlink("/nowhere", lake.path().join("broken.csv")).unwrap();
    }
    let listing = list_files(lake.path()).unwrap();
    let ids: Vec<String> = assign_ids(&listing.files).iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["a", "b/x.csv", "b/x.csv.csv", "b/x.tsv", "folder.csv/part", "rows/data", "table", "z"]);
    assert_eq!(listing.sidecars.len(), 3, "a README is one");
    assert_eq!(listing.problems.len(), if cfg!(unix) { 2 } else { 0 }, "{:?}", listing.problems);
    let hash = content_hash(&listing.files[1].path).unwrap();
    assert_eq!(hash.to_string(), blake3::hash(table.as_bytes()).to_string());
    assert!(list_files(&lake.path().join("nowhere")).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_escaped() {
    use std::os::unix::ffi::OsStrExt;
    let lake = tempfile::tempdir().unwrap();
    fs::write(lake.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9\n.csv")), "a,b\n1,2\n").unwrap();
    let files = lakeward_lake::source::list_files(lake.path()).unwrap().files;
    assert_eq!(files[0].relative, "caf%E9%0A.csv");
    assert!(lakeward_lake::reader::open(&files[0], &ReadOptions::default()).is_ok());
    let found = lakeward_lake::source::file_path(lake.path(), &files[0].relative).unwrap();
    assert_eq!(found, files[0].path);
    let literal = lake.path().join("100%25.csv");
    fs::write(&literal, "a\n").unwrap();
    assert_eq!(lakeward_lake::source::file_path(lake.path(), "100%25.csv").unwrap(), literal);
    for outside in ["../a.csv", "/etc/passwd", "a/../../b.csv"] {
        assert!(lakeward_lake::source::file_path(lake.path(), outside).is_err(), "{outside}");
    }
}
