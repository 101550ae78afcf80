//! Changed files of every format that is read, and changed logs of tables.

// Clippy knows test functions only, not what they call.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use lakeward_core::Error;
use lakeward_lake::checkpoint::{self, Checkpoints, ScanOptions};
use lakeward_lake::layout::Choices;
use lakeward_lake::metadata::MetadataIndex;
use lakeward_lake::profile;
use lakeward_lake::reader::{ReadOptions, open_path};
use lakeward_lake::scan::ColumnPart;
use lakeward_lake::scanned_part::ScannedPart;
use lakeward_lake::source::list_tables;
use lakeward_sketch::Writing;
use serde_json::json;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::fuzzing::fuzz;
use crate::log_files::{DeltaTable, IcebergTable, WITH_VECTORS, column, metadata, numbers, texts, vector_file};
use crate::reader_behaviour::{FORMATS, drained, towns};

/// Reads the table at `path` as a query does, with what is checked of every reader.
fn read(path: &Path) -> Result<(), Error> {
    let options = ReadOptions::default();
    drained(open_path(path, &options)?, &options).map(|_| ())
}

/// Lists the lake and reads all of its tables, as `index` does.
fn read_lake(lake: &Path) -> Result<(), Error> {
    let listing = list_tables(lake, &Choices::default())?;
    let (metadata, _) = MetadataIndex::read(lake, &listing.sidecars);
    assert!(metadata.len() <= 1000);
    let problem = listing.problems.first().map(|(path, reason)| Error::unreadable(path, reason));
    listing.files.iter().try_for_each(|file| read(&file.path))?;
    problem.map_or(Ok(()), Err)
}

#[test]
fn changed_files_of_every_format() {
    for (name, written, _) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, written(&towns(30))).unwrap();
        // Text is read whatever it says.
        let is_forgiving = matches!(name, "t.csv" | "t.tsv" | "t.ndjson");
        let title = if is_forgiving { format!("{name} (forgiving)") } else { name.to_string() };
        fuzz(&title, &path, || read(&path));
    }
}

#[test]
fn changed_workbooks_of_the_nineties() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.xls");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lake/data/towns.xls"), &path).unwrap();
    fuzz("t.xls", &path, || read_lake(folder.path()));
}

#[test]
fn changed_logs_of_delta_tables() {
    let lake = tempfile::tempdir().unwrap();
    let columns = [column("town", "string"), column("people", "long"), column("year", "integer")];
    let mut table = DeltaTable::created(lake.path().join("t"), &columns, &["year"]);
    let rows = || vec![("town", texts(&["Aby", "Bo"])), ("people", numbers(&[3, 4]))];
    let first = table.file("a.parquet", rows(), json!({"year": "2020"}));
    let second = table.file("b.parquet", rows(), json!({"year": "2021"}));
    table.commit(&[first]);
    table.commit(&[second]);
    for version in 0..2 {
        let log = lake.path().join(format!("t/_delta_log/{version:020}.json"));
        fuzz(&format!("version {version} of a Delta table"), &log, || read_lake(lake.path()));
    }
}

#[test]
fn changed_checkpoints_of_delta_tables() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = DeltaTable::created(lake.path().join("t"), &[column("n", "long")], &[]);
    let first = table.file("a.parquet", vec![("n", numbers(&[1, 2]))], json!({}));
    let second = table.file("b.parquet", vec![("n", numbers(&[3]))], json!({}));
    table.commit(std::slice::from_ref(&first));
    table.commit(&[second]);
    let checkpoint = table.checkpoint(1, &[first]);
    let last = table.folder.join("_delta_log/_last_checkpoint");
    fs::write(&last, r#"{"version": 1, "size": 3, "sizeInBytes": 9000, "numOfAddFiles": 1}"#).unwrap();
    // The log goes on without its beginning.
    (0..2).for_each(|version| fs::remove_file(table.log(version)).unwrap());
    fuzz("a checkpoint of a Delta table", &checkpoint, || read_lake(lake.path()));
    // It only says where to look first.
    fuzz("`_last_checkpoint` of a Delta table (forgiving)", &last, || read_lake(lake.path()));
}

/// Columns of a giant table from another shard: changed ones do not fit, or do no harm.
#[test]
fn changed_parts_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..400).map(|row| format!("town {row},{}.5,{}\n", row % 97, row % 7)).collect();
    fs::write(folder.path().join("t.csv"), format!("town,rain,kind\n{rows}")).unwrap();
    let file = list_tables(folder.path(), &Choices::default()).unwrap().files.remove(0);
    let known = |_: &str| Writing::default();
    let scan_options = ScanOptions { sample_keys: 100, known: &known };
    let part = |number| {
        let part = ColumnPart { number, of: 2 };
        ScannedPart::read(&file, &ReadOptions::default(), &scan_options, part).unwrap().to_bytes().unwrap()
    };
    let path = folder.path().join("part");
    fs::write(&path, part(0)).unwrap();
    let other = part(1);
    fuzz("columns of a giant table (forgiving)", &path, || {
        let changed = ScannedPart::from_bytes(&fs::read(&path).unwrap());
        let parts = changed.into_iter().chain(ScannedPart::from_bytes(&other)).collect();
        let wrong = || Error::usage("they do not fit");
        let (scan, _) = ScannedPart::join(parts).ok_or_else(wrong)?;
        assert_eq!((scan.names.len(), scan.sketches.len()), (3, 3));
        profile::profile(&scan);
        Ok(())
    });
}

/// What is kept of the sketches of a table in many files: a changed one is not used, and one made so that it seems unchanged does no harm.
#[test]
fn changed_checkpoints_of_sketches() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = DeltaTable::created(lake.path().join("t"), &[column("town", "string")], &[]);
    let part = |table: &mut DeltaTable, number: usize| {
        let towns: Vec<String> =
            (0..200).map(|row| format!("{:x}", xxh3_128(format!("{number} {row}").as_bytes())).repeat(12)).collect();
        let towns: Vec<&str> = towns.iter().map(String::as_str).collect();
        let file = table.file(&format!("{number:02}.parquet"), vec![("town", texts(&towns))], json!({}));
        table.commit(&[file]);
    };
    (0..20).for_each(|number| part(&mut table, number));
    let kept = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(kept.path());
    let known = |_: &str| Writing::default();
    let read = || {
        let scan_options = ScanOptions { sample_keys: 100, known: &known };
        let file = list_tables(lake.path(), &Choices::default()).unwrap().files.remove(0);
        checkpoint::read(&file, &ReadOptions::default(), &scan_options, Some(&checkpoints)).map(|(scan, _)| scan)
    };
    assert_eq!(read().unwrap().unread_bytes, 0);
    part(&mut table, 20);
    let files: Vec<PathBuf> = fs::read_dir(kept.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [path] = &files[..] else { panic!("{files:?}") };
    let good = fs::read(path).unwrap();
    let whole = read().unwrap();
    assert!(whole.unread_bytes > 0, "what is kept is used");
    let rows = whole.report.rows;
    fs::write(path, &good).unwrap();
    let (first, body) = good.split_first_chunk::<8>().unwrap();
    let version = u64::from_le_bytes(*first).wrapping_sub(xxh3_64(body));
    fuzz("a checkpoint of sketches (forgiving)", path, || {
        let scan = read()?;
        assert_eq!(scan.report.rows, rows);
        if scan.unread_bytes > 0 { Ok(()) } else { Err(Error::usage("it is not used")) }
    });
    fuzz("a checkpoint of sketches with a checksum (forgiving)", path, || {
        let changed = fs::read(path).unwrap();
        let body = changed.get(8..).unwrap_or_default();
        let sum = xxh3_64(body).wrapping_add(version).to_le_bytes();
        fs::write(path, [&sum, body].concat()).unwrap();
        read().map(|_| ())
    });
}

#[test]
fn changed_deletion_vectors_of_delta_tables() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = DeltaTable::new(lake.path().join("t"));
    let mut file = table.file("a.parquet", vec![("n", numbers(&(0..5000).collect::<Vec<_>>()))], json!({}));
    let deleted: Vec<u64> = (0..5000).filter(|row| row % 3 == 0 || *row > 4000).collect();
    file["add"]["deletionVector"] = vector_file(&table, "a.bin", &deleted);
    let protocol = serde_json::from_str(WITH_VECTORS).unwrap();
    table.commit(&[protocol, metadata(&[column("n", "long")], &[]), file]);
    fuzz("a deletion vector", &table.folder.join("a.bin"), || read_lake(lake.path()));
}

#[test]
fn changed_position_deletes_of_iceberg_tables() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = IcebergTable::new(lake.path().join("t"), 2);
    let file =
        table.file("data/a.parquet", vec![("town", 1, texts(&["a", "b", "c"])), ("people", 2, numbers(&[1; 3]))]);
    let deletes = table.deletes("data/deletes.parquet", &[("s3://warehouse/t/data/a.parquet", 1)]);
    let manifests = [table.manifest("data.avro", &[file.at(1)]), table.manifest("deletes.avro", &[deletes.at(2)])];
    table.commit(&manifests);
    let again = Cell::new(0);
    let read = || {
        // What was read of a log stays until something changes in its folder.
        again.set(again.get() + 1);
        fs::write(lake.path().join("t/metadata/note.txt"), "-".repeat(again.get())).unwrap();
        for file in list_tables(lake.path(), &Choices::default())?.files {
            let options = ReadOptions::default();
            // A file of deletions that cannot be read makes a file of data that cannot be, which is left out and told.
            if drained(open_path(&file.path, &options)?, &options)?.rows.is_empty() {
                return Err(Error::unreadable(&file.path, "its only file of data is left out"));
            }
        }
        Ok(())
    };
    fuzz("deletes of an Iceberg table", &table.folder.join("data/deletes.parquet"), read);
}

#[test]
fn changed_metadata_of_iceberg_tables() {
    let lake = tempfile::tempdir().unwrap();
    let mut table = IcebergTable::new(lake.path().join("t"), 2);
    let file = table.file("data/a.parquet", vec![("town", 1, texts(&["Aby"])), ("people", 2, numbers(&[3]))]);
    let manifest = table.manifest("first.avro", &[file.in_part("north")]);
    table.commit(&[manifest]);
    let mut files: Vec<PathBuf> =
        fs::read_dir(lake.path().join("t/metadata")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let files: Vec<&PathBuf> = files.iter().filter(|path| path.extension().is_some_and(|end| end != "text")).collect();
    assert!(files.len() >= 3, "{files:?}");
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy();
        fuzz(&format!("{name} of an Iceberg table"), path, || read_lake(lake.path()));
    }
}

/// Descriptions beside a table, which nothing may refuse: what cannot be used is left out.
#[test]
fn changed_descriptions() {
    for (name, text) in [
        (
            "datapackage.json",
            r#"{"name": "towns", "title": "Towns", "licenses": [{"name": "CC0-1.0"}], "keywords": ["a", "b"], "resources": [{"name": "t",
            "path": "t.csv", "title": "Towns of 2020", "schema": {"fields": [{"name": "town", "type": "string", "description": "Its name"},
            {"name": "people", "type": "integer"}], "primaryKey": "town", "foreignKeys": [{"fields": "town", "reference": {"resource": "t",
            "fields": "town"}}]}}]}"#,
        ),
        (
            "t.csv-metadata.json",
            r#"{"@context": "http://www.w3.org/ns/csvw", "url": "t.csv", "dc:title": "Towns", "dialect": {"delimiter": ",", "header": true},
            "tableSchema": {"columns": [{"name": "town", "titles": ["Town", "Name"], "datatype": "string"}, {"name": "people", "datatype":
            {"base": "integer", "minimum": "0"}}]}}"#,
        ),
        (
            "dataset.jsonld",
            r#"{"@context": "https://schema.org", "@type": "Dataset", "name": "Towns", "description": "All towns", "temporalCoverage":
            "2001/2020", "spatialCoverage": {"name": "Norway"}, "variableMeasured": [{"name": "people", "description": "how many"}],
            "distribution": [{"contentUrl": "t.csv", "encodingFormat": "text/csv"}], "creator": [{"name": "Ann"}]}"#,
        ),
        (
            "README.md",
            "# Towns\n\nAll towns of Norway.\n\n| column | meaning |\n|---|---|\n| town | its name |\n\nLicence: CC0\n",
        ),
    ] {
        let lake = tempfile::tempdir().unwrap();
        fs::write(lake.path().join("t.csv"), "town,people\nAby,3\nBo,4\n").unwrap();
        let path = lake.path().join(name);
        fs::write(&path, text).unwrap();
        let read = || {
            let listing = list_tables(lake.path(), &Choices::default())?;
            let (metadata, problems) = MetadataIndex::read(lake.path(), &listing.sidecars);
            let _ = metadata.get("t.csv");
            problems.into_iter().next().map_or(Ok(()), |(path, reason)| Err(Error::unreadable(&path, reason)))
        };
        fuzz(&format!("{name} (forgiving)"), &path, read);
    }
}
