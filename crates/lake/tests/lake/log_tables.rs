//! Tables of Delta: which rows they have, when they change, and what broken and hostile logs do.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StructArray};
use arrow::datatypes::{DataType, Field, Schema};
use lakeward_core::Error;
use lakeward_lake::layout::{Choice, Choices};
use lakeward_lake::location::Location;
use lakeward_lake::metadata::MetadataIndex;
use lakeward_lake::reader::{ReadOptions, RepairKind, open_path};
use lakeward_lake::source::{content_hash, list_files, list_tables};
use serde_json::{Value, json};

use crate::holders::read;
use crate::layouts::write;
use crate::log_files::{
    DeltaTable, WITH_VECTORS, add, column, metadata, numbers, parquet, remove, texts, vector, vector_file,
};

fn names(lake: &Path) -> Vec<String> {
    list_files(lake).unwrap().files.into_iter().map(|file| file.relative).collect()
}

/// Why the table at `path` cannot be read.
fn reason(path: &Path) -> String {
    let opened = open_path(path, &ReadOptions::default());
    let read = opened.and_then(|mut reader| {
        while reader.next_batch()?.is_some() {}
        Ok(())
    });
    match read.unwrap_err() {
        Error::Unreadable { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_delta_table_is_what_its_newest_version_says() {
    let lake = tempfile::tempdir().unwrap();
    let commented =
        json!({"name": "town", "type": "string", "nullable": true, "metadata": {"comment": "Where people live"}});
    let columns = [commented, column("people", "long"), column("year", "integer"), column("land", "string")];
    let mut table = DeltaTable::new(lake.path().join("towns"));
    let mut described = metadata(&columns, &["year", "land"]);
    described["metaData"]["name"] = "Towns\u{202e}\u{7}".into();
    described["metaData"]["description"] = "People by town".into();
    let rows = |towns: &[&str], people: &[i64]| vec![("town", texts(towns)), ("people", numbers(people))];
    let first =
        table.file("year=2020/land=a%20b/1.parquet", rows(&["Aby"], &[3]), json!({"year": "2020", "land": "a b"}));
    let second = table.file("2.parquet", rows(&["Bo", "Ce"], &[4, 5]), json!({"year": "2021", "land": null}));
    // The log has addresses: `%` in a name is written `%25`.
    let mut first = first;
    first["add"]["path"] = "year=2020/land=a%2520b/1.parquet".into();
    table.commit(&[json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}), described, first, second]);
    let third = table.file("3.parquet", rows(&["Bo"], &[6]), json!({"year": "2021", "land": ""}));
    table.commit(&[remove("2.parquet"), third]);

    let listing = list_files(lake.path()).unwrap();
    assert_eq!(names(lake.path()), ["towns"]);
    assert_eq!(listing.problems, []);
    let found = read(&listing.files[0].path);
    assert_eq!(found.names, ["town", "people", "year", "land"]);
    assert_eq!(found.rows, [["Bo", "6", "2021", ""], ["Aby", "3", "2020", "a b"]]);
    let parts = found.report.parts.clone().unwrap();
    assert_eq!((parts.files, parts.reason.as_str()), (2, "the log of a Delta table"));
    assert_eq!(parts.keys, ["year", "land"]);
    assert!(!found.report.partial());
    let types = open_path(&listing.files[0].path, &ReadOptions::default()).unwrap().declared_types().unwrap();
    assert_eq!((types.field(1).data_type(), types.field(2).data_type()), (&DataType::Int64, &DataType::Int32));
    assert!(Location::of(&lake.path().join("towns")).is_table());

    let (mut metadata, _) = MetadataIndex::read(lake.path(), &listing.sidecars);
    metadata.add_described(listing.described);
    let said = metadata.get("towns").unwrap();
    assert_eq!((said.title.as_deref(), said.description.as_deref()), (Some("Towns"), Some("People by town")));
    assert_eq!(said.columns["town"].description.as_deref(), Some("Where people live"));

    // A version that changes nothing is the same table; one that deletes a file is not.
    let path = lake.path().join("towns");
    let before = (content_hash(&path).unwrap(), Location::of(&path).file_stamp().unwrap());
    table.commit(&[json!({"commitInfo": {"operation": "OPTIMIZE"}})]);
    let same = (content_hash(&path).unwrap(), Location::of(&path).file_stamp().unwrap());
    assert_eq!((before.0, before.1.0), (same.0, same.1.0));
    table.commit(&[remove("3.parquet")]);
    assert_ne!(before.0, content_hash(&path).unwrap());
    assert_eq!(read(&path).rows.len(), 1);
    // Settings for layouts do not make files of old versions tables.
    for choice in [Choice::One, Choice::Separate] {
        let listing = list_tables(lake.path(), &Choices::from([("towns".to_string(), choice)])).unwrap();
        assert_eq!(listing.files.iter().map(|file| file.relative.as_str()).collect::<Vec<_>>(), ["towns"]);
    }
}

/// Bytes in Z85, as a log has short vectors.
fn z85(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    let digits = |chunk: &[u8]| {
        let value = u32::from_be_bytes(chunk.try_into().unwrap());
        [4, 3, 2, 1, 0].map(|place| char::from(DIGITS[(value / 85u32.pow(place) % 85) as usize]))
    };
    bytes.chunks(4).flat_map(digits).collect()
}

#[test]
fn deleted_rows_are_not_read() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = DeltaTable::new(lake.path().join("t"));
    let rows = |from: i64| vec![("n", numbers(&(from..from + 10_000).collect::<Vec<_>>()))];
    let mut inline = table.file("a.parquet", rows(0), json!({}));
    let mut bytes = vector(&[0, 9_999]);
    let length = bytes.len();
    bytes.resize(length.next_multiple_of(4), 0);
    inline["add"]["deletionVector"] = json!({"storageType": "i", "pathOrInlineDv": z85(&bytes),
        "sizeInBytes": length, "cardinality": 2});
    let mut filed = table.file("b.parquet", rows(20_000), json!({}));
    let gone: Vec<u64> = (0..9_990).collect();
    filed["add"]["deletionVector"] = vector_file(&table, "b.bin", &gone);
    let mut lying = table.file("c.parquet", rows(40_000), json!({}));
    lying["add"]["deletionVector"] = vector_file(&table, "c.bin", &[1, 2, 3]);
    lying["add"]["deletionVector"]["cardinality"] = 2.into();
    let mut elsewhere = table.file("d.parquet", rows(60_000), json!({}));
    elsewhere["add"]["deletionVector"] = vector_file(&table, "d.bin", &[1]);
    fs::rename(table.folder.join("d.bin"), lake.path().join("d.bin")).unwrap();
    let outside = url::Url::from_file_path(fs::canonicalize(lake.path().join("d.bin")).unwrap()).unwrap();
    elsewhere["add"]["deletionVector"]["pathOrInlineDv"] = outside.to_string().into();
    let protocol: Value = serde_json::from_str(WITH_VECTORS).unwrap();
    table.commit(&[protocol, metadata(&[column("n", "long")], &[]), inline, filed, lying, elsewhere]);

    let found = read(&table.folder);
    assert_eq!(found.rows.len(), 9_998 + 10);
    assert_eq!((found.rows[0][0].as_str(), found.rows[9_998][0].as_str()), ("1", "29990"));
    let lost = found.report.repair(RepairKind::UnreadableParts).unwrap().to_string();
    assert!(lost.starts_with("2 files cannot be read") && lost.contains("3 rows in place of 2"), "{lost}");
    assert!(lost.contains("outside of the table's folder"), "{lost}");
    // Which rows are deleted is part of the content.
    let before = content_hash(&table.folder).unwrap();
    let mut again = table.file("a.parquet", rows(0), json!({}));
    again["add"]["deletionVector"] = vector_file(&table, "a.bin", &[5]);
    table.commit(&[again]);
    assert_ne!(content_hash(&table.folder).unwrap(), before);
}

#[test]
fn columns_are_found_by_the_names_and_numbers_that_a_log_gives_them() {
    let lake = tempfile::tempdir().unwrap();
    let mapped = |name: &str, kind: Value, id: i64| {
        json!({"name": name, "type": kind, "nullable": true, "metadata": {"delta.columnMapping.id": id,
            "delta.columnMapping.physicalName": format!("col-{id}")}})
    };
    let inner = json!({"type": "struct", "fields": [mapped("street", "string".into(), 3)]});
    let mut columns = [
        mapped("name, with spaces", "string".into(), 1),
        mapped("place", inner, 2),
        // Wider than in the older files, and not in them at all.
        mapped("people", "long".into(), 4),
        mapped("mayor", "string".into(), 5),
        mapped("land", "string".into(), 6),
    ];
    for mode in ["name", "id"] {
        if mode == "id" {
            // Then the names that files are said to have are others.
            columns[0]["metadata"]["delta.columnMapping.physicalName"] = "other".into();
            columns[1]["type"]["fields"][0]["metadata"]["delta.columnMapping.physicalName"] = "another".into();
        }
        let mut table = DeltaTable::new(lake.path().join(mode));
        let numbered = |name: &str, kind: DataType, id: u32| {
            let id = [("PARQUET:field_id".to_string(), id.to_string())].into();
            Arc::new(Field::new(name, kind, true).with_metadata(id))
        };
        let street = numbered("col-3", DataType::Utf8, 3);
        let place = StructArray::from(vec![(street, texts(&["Elm"]))]);
        let fields = Schema::new(vec![
            numbered("col-4", DataType::Int32, 4),
            numbered("col-1", DataType::Utf8, 1),
            numbered("col-2", arrow::array::Array::data_type(&place).clone(), 2),
            numbered("people", DataType::Utf8, 9),
        ]);
        let arrays: Vec<ArrayRef> =
            vec![Arc::new(Int32Array::from(vec![7])), texts(&["Aby"]), Arc::new(place), texts(&["not these"])];
        let batch = arrow::record_batch::RecordBatch::try_new(Arc::new(fields), arrays).unwrap();
        let file = fs::File::create(table.folder.join("a.parquet")).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let mut described = metadata(&columns, &["land"]);
        described["metaData"]["configuration"] = json!({"delta.columnMapping.mode": mode});
        let protocol = json!({"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}});
        table.commit(&[protocol, described, add("a.parquet", 1, json!({"col-6": "x"}))]);
        let found = read(&table.folder);
        assert_eq!(found.names, ["name, with spaces", "place", "people", "mayor", "land"], "{mode}");
        assert_eq!(found.rows, [["Aby", r#"{"street":"Elm"}"#, "7", "", "x"]], "{mode}");
    }
}

#[test]
fn a_checkpoint_stands_for_the_log_before_it() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = DeltaTable::created(lake.path().join("t"), &[column("n", "long")], &[]);
    let first = table.file("a.parquet", vec![("n", numbers(&[1]))], json!({}));
    let second = table.file("b.parquet", vec![("n", numbers(&[2]))], json!({}));
    table.commit(std::slice::from_ref(&first));
    table.commit(&[second]);
    let checkpoint = table.checkpoint(1, &[first]);
    for version in 0..2 {
        fs::remove_file(table.log(version)).unwrap();
    }
    assert_eq!(read(&table.folder).rows, [["1"], ["2"]]);
    fs::write(&checkpoint, "PAR1 damaged").unwrap();
    let damaged = list_files(lake.path()).unwrap();
    assert!(damaged.files.is_empty() && damaged.problems[0].1.starts_with("a table of Delta: "), "{damaged:?}");
}

#[test]
fn broken_and_hostile_logs_are_named_and_the_rest_is_listed() {
    let lake = tempfile::tempdir().unwrap();
    let at = |name: &str| lake.path().join(name);
    write(lake.path(), &[("plain.csv", "a,b\n1,2\n"), ("secret.csv", "a\n1\n")]);
    parquet(&at("outside.parquet"), vec![("n", numbers(&[13]))]);
    let columns = [column("n", "long")];
    DeltaTable::new(at("empty"));
    write(&at("json"), &[("_delta_log/00000000000000000000.json", "{\"metaData\": {\"id\": ")]);
    write(&at("binary"), &[("_delta_log/00000000000000000000.json", "\0\0\0\u{1}")]);
    write(&at("no_metadata"), &[("_delta_log/00000000000000000000.json", "{\"commitInfo\": {}}\n")]);
    let mut gap = DeltaTable::created(at("gap"), &columns, &[]);
    gap.version = 2;
    gap.commit(&[json!({"commitInfo": {}})]);
    let mut future = DeltaTable::new(at("future"));
    future.commit(&[json!({"protocol": {"minReaderVersion": 9, "minWriterVersion": 9}}), metadata(&columns, &[])]);
    let mut feature = DeltaTable::new(at("feature"));
    let protocol = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["timeTravelToTheFuture"], "writerFeatures": ["timeTravelToTheFuture"]}});
    feature.commit(&[protocol, metadata(&columns, &[])]);
    let mut schema = DeltaTable::new(at("schema"));
    schema.commit(&[json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}), metadata(&[json!(3)], &[])]);
    let mut line = DeltaTable::created(at("line"), &columns, &[]);
    line.commit(&[json!({"commitInfo": {"text": "x".repeat(65 << 20)}})]);

    let listing = list_files(lake.path()).unwrap();
    let found: Vec<&str> = listing.files.iter().map(|file| file.relative.as_str()).collect();
    assert_eq!(found, ["outside.parquet", "plain.csv", "secret.csv"]);
    let reason_of = |name: &str| {
        let problem = listing.problems.iter().find(|(path, _)| *path == at(name));
        problem.unwrap_or_else(|| panic!("{name}: {:?}", listing.problems)).1.clone()
    };
    for name in ["empty", "json", "binary", "no_metadata", "gap", "future", "feature", "schema", "line"] {
        let reason = reason_of(name);
        assert!(reason.starts_with("a table of Delta: ") && reason.len() < 400 && !reason.contains('\n'), "{reason}");
        assert!(open_path(&at(name), &ReadOptions::default()).is_err());
    }
    assert_eq!(listing.problems.len(), 9);
    assert!(reason_of("feature").contains("timeTravelToTheFuture"), "{}", reason_of("feature"));
    assert!(reason_of("line").contains("longer than 64 MB"), "{}", reason_of("line"));

    // Files that are not there, damaged, or elsewhere are left out; the others are read.
    let mut parts = DeltaTable::created(at("parts"), &columns, &[]);
    let good = parts.file("good.parquet", vec![("n", numbers(&[1, 2]))], json!({}));
    let text = parts.file("text.parquet", vec![("n", texts(&["3", "x"]))], json!({}));
    fs::write(parts.folder.join("damaged.parquet"), "damaged").unwrap();
    let outside = url::Url::from_file_path(at("outside.parquet")).unwrap().to_string();
    let names = ["../outside.parquet", "%2e%2e/outside.parquet", "..%2Foutside.parquet", &outside, "s3://b/x.parquet"];
    let mut actions = vec![good, text, add("missing.parquet", 9, json!({})), add("damaged.parquet", 7, json!({}))];
    actions.extend(names.iter().map(|name| add(name, 9, json!({}))));
    parts.commit(&actions);
    let found = read(&parts.folder);
    assert_eq!(found.rows, [["1"], ["2"]]);
    let lost = found.report.repair(RepairKind::UnreadableParts).unwrap();
    assert_eq!(lost.count, 7, "{lost}");
    assert!(lost.to_string().contains("leads out of the table's folder"), "{lost}");
    assert_eq!(found.report.count(RepairKind::DamagedData), 1);
    assert!(found.report.lost_rows());
    // A table without any file that can be read is none.
    let mut nothing = DeltaTable::created(at("nothing"), &columns, &[]);
    nothing.commit(&[add("missing.parquet", 9, json!({}))]);
    assert!(reason(&at("nothing")).starts_with("none of its files can be read: missing.parquet"));
    // One without files is empty.
    DeltaTable::created(at("new"), &columns, &[]);
    assert_eq!(read(&at("new")).names, ["n"]);
    assert!(read(&at("new")).rows.is_empty());
    // A lake is a folder of tables.
    let error = list_files(&at("new")).unwrap_err().to_string();
    assert!(error.contains("the lake itself is a table of Delta"), "{error}");
}
