//! Tables of Iceberg, written file by file: which rows they have, and what broken and hostile metadata does.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array};
use lakeward_lake::metadata::MetadataIndex;
use lakeward_lake::reader::RepairKind;
use lakeward_lake::source::{content_hash, list_files};
use serde_json::{Value, json};

use crate::holders::read;
use crate::layouts::write;
use crate::log_files::{IcebergTable, numbers, parquet, texts};

#[test]
fn an_iceberg_table_is_what_its_newest_snapshot_says() {
    let lake = tempfile::tempdir().unwrap();
    for version in [1, 2] {
        let mut table = IcebergTable::new(lake.path().join(format!("v{version}")), version);
        let a = table.file("data/a.parquet", vec![("town", 1, texts(&["Aby", "Bo"])), ("people", 2, numbers(&[3, 4]))]);
        // A column that was renamed, one of a narrower type, one that is gone.
        let narrow: ArrayRef = Arc::new(Int32Array::from(vec![5]));
        let b = table
            .file("data/b.parquet", vec![("city", 1, texts(&["Ce"])), ("people", 2, narrow), ("x", 9, numbers(&[0]))]);
        let gone = table.file("data/gone.parquet", vec![("town", 1, texts(&["no"])), ("people", 2, numbers(&[0]))]);
        let first = table.manifest("first.avro", &[a.in_part("north"), gone.in_part("north").removed()]);
        let second = table.manifest("second.avro", &[b.in_part("south")]);
        table.commit(&[first, second]);
        let path = lake.path().join(format!("v{version}"));
        let found = read(&path);
        assert_eq!(found.names, ["town", "people", "mayor", "side"]);
        assert_eq!(found.rows, [["Aby", "3", "", "north"], ["Bo", "4", "", "north"], ["Ce", "5", "", "south"]]);
        let parts = found.report.parts.unwrap();
        assert_eq!((parts.files, parts.keys), (2, vec!["side".to_string()]));
        assert_eq!(parts.reason, "the metadata of an Iceberg table");
    }
    let listing = list_files(lake.path()).unwrap();
    assert_eq!(listing.files.iter().map(|file| file.relative.as_str()).collect::<Vec<_>>(), ["v1", "v2"]);
    assert_eq!(listing.problems, []);
    let (mut metadata, _) = MetadataIndex::read(lake.path(), &listing.sidecars);
    metadata.add_described(listing.described);
    let said = metadata.get("v2").unwrap();
    assert_eq!(said.description.as_deref(), Some("People by town"));
    assert_eq!(said.columns["people"].description.as_deref(), Some("At the last census"));
}

#[test]
fn an_iceberg_table_needs_no_partitions() {
    let lake = tempfile::tempdir().unwrap();
    for version in [1, 2] {
        let mut table = IcebergTable::new(lake.path().join(format!("v{version}")), version);
        table.is_parted = false;
        let a = table.file("data/a.parquet", vec![("town", 1, texts(&["Aby", "Bo"])), ("side", 4, texts(&["x", "y"]))]);
        let b = table.file("data/b.parquet", vec![("town", 1, texts(&["Ce"]))]);
        let manifest = table.manifest("m.avro", &[a, b]);
        table.commit(&[manifest]);
        let found = read(&table.folder);
        assert_eq!(found.names, ["town", "people", "mayor", "side"]);
        assert_eq!(found.rows, [["Aby", "", "", "x"], ["Bo", "", "", "y"], ["Ce", "", "", ""]]);
        assert_eq!(found.report.parts.unwrap().keys, Vec::<String>::new());
    }
}

#[test]
fn deletions_of_iceberg_are_applied_or_told() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = IcebergTable::new(lake.path().join("t"), 2);
    let rows = |towns: &[&str]| vec![("town", 1, texts(towns)), ("people", 2, numbers(&vec![1; towns.len()]))];
    let old = table.file("data/old.parquet", rows(&["a", "b", "c"]));
    let new = table.file("data/new.parquet", rows(&["d", "e"]));
    // The new file came after the deletions, which do not concern it.
    let address = |name: &str| format!("s3://warehouse/t/data/{name}.parquet");
    let deleted = table.deletes("data/deletes.parquet", &[(&address("old"), 1), (&address("new"), 0)]);
    let by_value = table.file("data/values.parquet", vec![("town", 1, texts(&["c"]))]).by_value();
    let manifests = [
        table.manifest("old.avro", &[old.at(1)]),
        table.manifest("deletes.avro", &[deleted.at(2), by_value.at(2)]),
        table.manifest("new.avro", &[new.at(3)]),
    ];
    table.commit(&manifests);
    let path = lake.path().join("t");
    let found = read(&path);
    assert_eq!(found.rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["a", "c", "d", "e"]);
    let sentence = found.report.repair(RepairKind::DeletesByValue).unwrap().to_string();
    assert_eq!(sentence, "1 file deletes rows by their values, which is not applied");
    // Without the file of deletions nobody knows which rows of the old file are there.
    let before = content_hash(&path).unwrap();
    fs::remove_file(path.join("data/deletes.parquet")).unwrap();
    assert_eq!(content_hash(&path).unwrap(), before);
    table.commit(&manifests);
    let found = read(&path);
    assert_eq!(found.rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["d", "e"]);
    assert!(found.report.lost_rows());
}

#[test]
fn broken_and_hostile_metadata_of_iceberg_is_named() {
    let lake = tempfile::tempdir().unwrap();
    let at = |name: &str| lake.path().join(name);
    parquet(&at("outside.parquet"), vec![("town", texts(&["secret"]))]);
    let broken = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut table = IcebergTable::new(at(name), 2);
        let file = table.file("data/a.parquet", vec![("town", 1, texts(&["a"])), ("people", 2, numbers(&[1]))]);
        let manifest = table.manifest("m.avro", &[file]);
        table.commit_changed(&[manifest], change);
    };
    let mut deep = json!("long");
    for _ in 0..100 {
        deep = json!({"type": "list", "element-id": 7, "element": deep, "element-required": false});
    }
    broken("future", &|metadata| metadata["format-version"] = 3.into());
    broken("lost", &|metadata| metadata["current-snapshot-id"] = 77.into());
    broken("outside", &|metadata| metadata["snapshots"][0]["manifest-list"] = "/etc/passwd".into());
    broken("parent", &|metadata| metadata["snapshots"][0]["manifest-list"] = "s3://warehouse/t/../x.avro".into());
    broken("itself", &|metadata| metadata["snapshots"][0]["manifest-list"] = "s3://warehouse/t/metadata/m.avro".into());
    broken("missing", &|metadata| metadata["snapshots"][0]["manifest-list"] = "s3://warehouse/t/none.avro".into());
    broken("deep", &|metadata| metadata["schemas"][0]["fields"][0]["type"] = deep.clone());
    broken("type", &|metadata| metadata["schemas"][0]["fields"][0]["type"] = "decimal(99, 3)".into());
    broken("twice", &|metadata| metadata["schemas"][0]["fields"][1]["name"] = " town".into());
    broken("list", &|metadata| *metadata = json!([metadata]));
    write(&at("json"), &[("metadata/v1.metadata.json", "{\"format-version\": 2,")]);
    let mut table = IcebergTable::new(at("manifest"), 2);
    let file = table.file("data/a.parquet", vec![("town", 1, texts(&["a"]))]);
    let manifest = table.manifest("m.avro", &[file]);
    table.commit(&[manifest]);
    fs::write(at("manifest/metadata/m.avro"), "Obj\u{1}damaged").unwrap();
    let listing = list_files(lake.path()).unwrap();
    assert_eq!(listing.files.iter().map(|file| file.relative.as_str()).collect::<Vec<_>>(), ["outside.parquet"]);
    let names = [
        "future", "lost", "outside", "parent", "itself", "missing", "deep", "type", "twice", "list", "json", "manifest",
    ];
    for name in names {
        let problem = listing.problems.iter().find(|(path, _)| *path == at(name));
        let (_, reason) = problem.unwrap_or_else(|| panic!("{name}: {:?}", listing.problems));
        assert!(reason.starts_with("a table of Iceberg: ") && !reason.contains('\n'), "{reason}");
    }
    assert_eq!(listing.problems.len(), names.len());

    let mut table = IcebergTable::new(at("parts"), 2);
    let good = table.file("data/a.parquet", vec![("town", 1, texts(&["a"])), ("people", 2, numbers(&[1]))]);
    let elsewhere = good.clone().named("s3://warehouse/t/../outside.parquet");
    let absolute = good.clone().named("/etc/passwd");
    let orc = good.clone().named("s3://warehouse/t/data/b.orc").of_format("ORC");
    let missing = good.clone().named("s3://warehouse/t/data/c.parquet");
    let manifest = table.manifest("m.avro", &[good, elsewhere, absolute, orc, missing]);
    table.commit(&[manifest]);
    let found = read(&at("parts"));
    assert_eq!(found.rows.len(), 1);
    let lost = found.report.repair(RepairKind::UnreadableParts).unwrap();
    assert_eq!(lost.count, 4, "{lost}");
}
