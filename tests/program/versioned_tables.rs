//! Tables of Delta and Iceberg, as the program's users meet them: of a table with a log there is one, its rows are those of the newest version,
//! in queries, joins and profiles, and a row that was deleted is never seen again.

use std::fs;

use serde_json::json;

use crate::log_files::{DeltaTable, IcebergTable, WITH_VECTORS, column, metadata, numbers, remove, texts, vector_file};
use crate::place::{Folder, Run, lakeward};

/// A lake of one table with a log, `towns`, and one of text that has the same towns.
struct Lake(Folder);

impl Lake {
    fn new() -> Self {
        let rows = "town,mayor\nAby,Ann\nBo,Bob\nCe,Cid\nDe,Dot\nEd,Eve\n";
        Self(Folder::of(&[("mayors.csv", rows)]))
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = lakeward(arguments);
        Run::of(command.current_dir(self.0.path()).env("LAKEWARD_LAKE", self.0.path()))
    }

    /// Brings the index up to date, and checks all that it says: how many tables were added, changed and left, and the rows of `towns`.
    #[track_caller]
    fn updated(&self, counts: [u64; 3], rows: &[&str]) {
        let updated = self.run(&["index", "--json"]).succeeded().json();
        let found = ["added", "changed", "unchanged"].map(|name| updated[name].as_u64());
        assert_eq!((found, &updated["removed"]), (counts.map(Some), &json!(0)), "{updated}");
        self.has(rows);
        self.run(&["verify"]).succeeded();
    }

    /// That the table is one and has these rows, whoever asks.
    #[track_caller]
    fn has(&self, rows: &[&str]) {
        let listed = self.run(&["tables", "--json"]).json();
        let ids: Vec<&str> =
            listed["tables"].as_array().expect("a list").iter().filter_map(|one| one["table"].as_str()).collect();
        assert_eq!(ids, ["mayors", "towns"]);
        let found = self.run(&["sql", "SELECT town, people FROM towns ORDER BY town", "--format", "csv"]).succeeded();
        assert_eq!(found.stdout.lines().skip(1).collect::<Vec<_>>(), rows, "{}", found.stderr);
        let joined = "SELECT count(*) AS n FROM mayors JOIN towns USING (town)";
        let joined = self.run(&["sql", joined, "--format", "csv"]).succeeded();
        assert_eq!(joined.stdout.trim(), format!("n\n{}", rows.len()));
        let profile = self.run(&["profile", "towns", "--json"]).json();
        assert_eq!(profile["profile"]["rows"], rows.len(), "{profile}");
        let gone: Vec<&str> = ["Aby", "Bo", "Ce", "De", "Ed"]
            .into_iter()
            .filter(|town| rows.iter().all(|row| !row.starts_with(town)))
            .collect();
        assert!(gone.iter().all(|town| !profile.to_string().contains(&format!("\"{town}\""))), "{gone:?}: {profile}");
        let found = self.run(&["join", "mayors", "--column", "town", "--json"]).json();
        assert_eq!(
            (&found["answers"][0]["table"], &found["answers"][0]["shared_values"]),
            (&json!("towns"), &json!(rows.len())),
            "{found}"
        );
    }
}

#[test]
fn a_delta_table_is_its_newest_version() {
    let lake = Lake::new();
    let rows = |towns: &[&str], people: &[i64]| vec![("town", texts(towns)), ("people", numbers(people))];
    let mut table = DeltaTable::new(lake.0.at("towns"));
    let protocol = serde_json::from_str(WITH_VECTORS).expect("JSON");
    table.commit(&[protocol, metadata(&[column("town", "string"), column("people", "long")], &[])]);
    let first = table.file("a.parquet", rows(&["Aby", "Bo"], &[3, 4]), json!({}));
    table.commit(&[first.clone(), table.file("b.parquet", rows(&["Ce"], &[5]), json!({}))]);
    lake.updated([2, 0, 0], &["Aby,3", "Bo,4", "Ce,5"]);
    // A new version has another file in place of the second, which stays where it was.
    table.commit(&[remove("b.parquet"), table.file("c.parquet", rows(&["De", "Ed"], &[6, 7]), json!({}))]);
    let unread = lake.run(&["sql", "SELECT town FROM towns", "--format", "csv"]);
    assert!(!unread.stdout.contains("Ce"), "{}", unread.said());
    lake.updated([0, 1, 1], &["Aby,3", "Bo,4", "De,6", "Ed,7"]);
    // A row is deleted by a vector beside its file, and one more by another.
    let mut before = remove("a.parquet");
    for (name, gone, rows) in
        [("d1.bin", vec![0], &["Bo,4", "De,6", "Ed,7"][..]), ("d2.bin", vec![0, 1], &["De,6", "Ed,7"])]
    {
        let mut fewer = first.clone();
        fewer["add"]["deletionVector"] = vector_file(&table, name, &gone);
        table.commit(&[before, fewer.clone()]);
        before = remove("a.parquet");
        before["remove"]["deletionVector"] = fewer["add"]["deletionVector"].clone();
        lake.updated([0, 1, 1], rows);
    }
    // What changes no row is nothing new: a word of the writer, old files that go.
    table.commit(&[json!({"commitInfo": {"operation": "VACUUM END"}})]);
    fs::remove_file(table.folder.join("b.parquet")).expect("a file");
    lake.updated([0, 0, 2], &["De,6", "Ed,7"]);
    lake.run(&["index", "--rebuild"]).succeeded();
    lake.has(&["De,6", "Ed,7"]);
}

#[test]
fn an_iceberg_table_is_its_newest_snapshot() {
    let lake = Lake::new();
    let mut table = IcebergTable::new(lake.0.at("towns"), 2);
    let rows = |towns: &[&str], people: &[i64]| vec![("town", 1, texts(towns)), ("people", 2, numbers(people))];
    let first = table.file("data/a.parquet", rows(&["Aby", "Bo"], &[3, 4])).at(1);
    let second = table.file("data/b.parquet", rows(&["Ce"], &[5])).at(1);
    let manifest = table.manifest("m1.avro", &[first.clone(), second.clone()]);
    table.commit(&[manifest]);
    lake.updated([2, 0, 0], &["Aby,3", "Bo,4", "Ce,5"]);
    let third = table.file("data/c.parquet", rows(&["De", "Ed"], &[6, 7])).at(2);
    let files = table.manifest("m2.avro", &[first, second.removed(), third]);
    table.commit(std::slice::from_ref(&files));
    let unread = lake.run(&["sql", "SELECT town FROM towns", "--format", "csv"]);
    assert!(!unread.stdout.contains("Ce"), "{}", unread.said());
    lake.updated([0, 1, 1], &["Aby,3", "Bo,4", "De,6", "Ed,7"]);
    let address = |name: &str| format!("s3://warehouse/t/data/{name}.parquet");
    let deletes = table.deletes("data/deletes.parquet", &[(&address("a"), 0), (&address("c"), 1)]).at(3);
    let deletes = table.manifest("m3.avro", &[deletes]);
    table.commit(&[files.clone(), deletes.clone()]);
    lake.updated([0, 1, 1], &["Bo,4", "De,6"]);
    // The same files in a later snapshot are nothing new.
    table.commit(&[files, deletes]);
    fs::remove_file(table.folder.join("data/b.parquet")).expect("a file");
    lake.updated([0, 0, 2], &["Bo,4", "De,6"]);
    lake.run(&["index", "--rebuild"]).succeeded();
    lake.has(&["Bo,4", "De,6"]);
}
