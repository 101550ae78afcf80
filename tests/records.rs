//! Catalogue records: what they say of tables, what they are where they describe none, and that updates keep them.

use std::fs;
use std::path::Path;

use lakeward::embed::StaticModel;
use lakeward::index::LakeIndex;
use lakeward::index::build::{BuildOptions, BuildStats, Silent, build};
use lakeward::retrieve::{QueryTable, SearchAnswer, SearchOptions, search};

const RECORDS: &str = concat!(
    r#"{"id": "t1", "title": "Airports of Niger", "description": "Where planes land", "tags": ["aviation"]}"#,
    "\n",
    r#"{"id": "r-1", "title": "Drinking water quality", "description": "Nitrate in wells", "author": "Water board"}"#,
    "\nnonsense\n",
    r#"{"id": "r-2", "title": "Bus stops"}"#,
    "\n",
);

fn indexed(lake: &Path, options: &BuildOptions) -> BuildStats {
    build(lake, &lake.join(".lakeward"), StaticModel::builtin(), options, &Silent).expect("a build")
}

fn found(lake: &Path, text: &str) -> Vec<SearchAnswer> {
    let index = LakeIndex::open(&lake.join(".lakeward"), lakeward::embed::Embedder::id(StaticModel::builtin()))
        .expect("an index");
    search::search(&index, StaticModel::builtin(), text, &SearchOptions::new(10)).expect("answers")
}

fn with_records(records: &Path) -> BuildOptions {
    BuildOptions { records: Some(records.to_path_buf()), ..BuildOptions::default() }
}

#[test]
fn records_describe_tables_and_stand_for_what_is_elsewhere() {
    let lake = tempfile::tempdir().expect("an index");
    fs::write(lake.path().join("t1.csv"), "code,town\nNIM,Niamey\nAJY,Agadez\n").expect("an index");
    let records = lake.path().join("corpus.jsonl");
    fs::write(&records, RECORDS).expect("an index");
    let stats = indexed(lake.path(), &with_records(&records));
    assert_eq!((stats.tables, stats.records, stats.records_left_out, stats.added), (1, 2, 1, 3));
    assert!(stats.problems.iter().any(|(_, reason)| reason.starts_with("line 3: ")), "{:?}", stats.problems);
    let table = &found(lake.path(), "airports of Niger")[0];
    assert_eq!((table.table.as_str(), table.record, table.rows), ("t1", false, Some(2)));
    let record = &found(lake.path(), "nitrate water board")[0];
    assert_eq!((record.table.as_str(), record.record, record.rows), ("r-1", true, None));
    assert!(record.reason.contains("not in the lake"), "{}", record.reason);
    let index = LakeIndex::open(&lake.path().join(".lakeward"), lakeward::embed::Embedder::id(StaticModel::builtin()))
        .expect("an index");
    assert!(QueryTable::resolve(&index, lake.path(), "r-1", StaticModel::builtin()).is_err());
    // Remembered, and nothing is read again.
    let again = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((again.records, again.added, again.changed, again.unchanged), (2, 0, 0, 3));
    // A record that goes, one that changes, one that comes.
    fs::write(
        &records,
        "{\"id\": \"t1\", \"title\": \"Airfields\"}\n{\"id\": \"r-2\", \"title\": \"Tram stops\"}\n{\"id\": \"r-3\"}\n",
    )
    .expect("an index");
    let after = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((after.tables, after.records, after.added, after.changed, after.removed), (1, 2, 1, 2, 1));
    assert!(found(lake.path(), "nitrate").is_empty());
    assert_eq!(found(lake.path(), "tram stops")[0].table, "r-2");
    assert_eq!(found(lake.path(), "airfields")[0].table, "t1");
    // A table of a record's name takes it over.
    fs::write(lake.path().join("r-2.csv"), "stop,line\nDam,4\nOost,9\n").expect("an index");
    let taken = indexed(lake.path(), &BuildOptions::default());
    assert_eq!((taken.tables, taken.records), (2, 1));
    assert_eq!(found(lake.path(), "tram stops")[0].rows, Some(2));
    let forgotten = indexed(lake.path(), &BuildOptions { rebuild: true, ..BuildOptions::default() });
    assert_eq!(forgotten.records, 0);
}

#[test]
fn a_lake_of_records_alone_is_a_lake() {
    let lake = tempfile::tempdir().expect("an index");
    let elsewhere = tempfile::tempdir().expect("an index");
    let records = elsewhere.path().join("records.jsonl.zst");
    fs::write(&records, zstd::encode_all(RECORDS.as_bytes(), 3).expect("packed")).expect("a file");
    let stats = indexed(lake.path(), &with_records(&records));
    assert_eq!((stats.tables, stats.columns, stats.records), (0, 0, 3));
    assert_eq!(found(lake.path(), "where do planes land")[0].table, "t1");
    fs::remove_file(&records).expect("an index");
    let gone =
        build(lake.path(), &lake.path().join(".lakeward"), StaticModel::builtin(), &BuildOptions::default(), &Silent);
    assert!(gone.unwrap_err().to_string().contains("records.jsonl.zst"));
}
